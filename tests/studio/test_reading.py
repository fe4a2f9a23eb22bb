"""What a person says about the columns of a log."""

from types import SimpleNamespace

import numpy as np
import pytest
from tests.raising import raises

from armdyn import ArmdynError
from armdyn.studio.page import kept_upload
from armdyn.studio.reading import Reading, columns_of, uploaded_log


@pytest.fixture
def upload(tmp_path):
    """`upload(name, text)`: a file as the browser sends it."""
    return lambda name, text: kept_upload(SimpleNamespace(name=name, content=text.encode()), tmp_path)


def test_uploads_are_named_as_the_person_knows_them(arm, log_csv, upload, tmp_path):
    path = upload("../../etc/run 7.CSV", log_csv)
    assert path.resolve().is_relative_to(tmp_path.resolve())
    log = uploaded_log(Reading(), path, arm)
    assert log.name == "run 7.CSV"
    assert log.path is None
    with raises(ArmdynError, cause="broken.csv: no rows of numbers below the names of the columns") as error:
        uploaded_log(Reading(), upload("broken.csv", "t,q1,q2\n1,2\n"), arm)
    assert str(tmp_path) not in str(error.value)


@pytest.mark.parametrize("name", ["", "..", "/", "a/../..", "C:\\logs\\run.csv", "x" * 300 + ".csv"])
def test_no_name_leads_out_of_the_folder(name, upload, tmp_path):
    assert upload(name, "t").resolve().is_relative_to(tmp_path.resolve())


def foreign(log):
    """The log with names nobody can guess, in degrees and amperes of the motors."""
    rows = np.column_stack([log.t, np.degrees(log.q) * 50 - 100, log.tau / 50 / 0.2])
    return "\n".join(["stamp;A1;A2;M1;M2", *(";".join(map(repr, row)) for row in rows.tolist())])


def test_units_gears_and_columns_are_as_said(arm, log, upload):
    path = upload("foreign.csv", foreign(log))
    with raises(
        ArmdynError,
        cause=(
            "foreign.csv: no columns of joint positions and torques for the 2 joints; expected names "
            "like q1 .. q2, tau1 .. tau2, or columns={'q': [...], 'tau': [...]}, got stamp, A1, A2, "
            "M1, M2"
        ),
    ):
        uploaded_log(Reading(), path, arm)
    assert columns_of(path, arm) == ("stamp", "A1", "A2", "M1", "M2")
    columns = {"t": "stamp", "q": "A1, A2", "tau": "M1,M2", "qd": " "}
    read = uploaded_log(Reading("degrees", "50", "0.2, 0.2", "2", columns=columns), path, arm)
    np.testing.assert_allclose(read.q, log.q, atol=1e-12)
    np.testing.assert_allclose(read.tau, log.tau, atol=1e-12)


def test_numbers_must_be_some(arm, log_csv, upload):
    with raises(ArmdynError, cause="gear ratio: expected numbers with commas between, got 'many'"):
        uploaded_log(Reading(gear_ratio="many"), upload("a.csv", log_csv), arm)


def test_a_file_that_is_no_table_has_no_columns(arm, upload):
    assert columns_of(upload("nothing.csv", ""), arm) == ()
