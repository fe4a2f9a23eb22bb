"""Tables of text in the forms that loggers and spreadsheets give them."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ReadError

HEAD = "t,q1,q2,tau1,tau2"


@pytest.fixture(scope="module")
def data():
    t = np.arange(100) / 100
    q = np.stack([np.sin(t) + 0.5, np.cos(2 * t)], axis=1)
    return np.column_stack([t, q, 3 * q + 1])


@pytest.fixture(scope="module")
def arm():
    return armdyn.arms.planar2()


def body(data, mark=",") -> str:
    stream = io.StringIO()
    np.savetxt(stream, data, delimiter=mark, fmt="%.9f")
    return stream.getvalue()


def read(tmp_path, arm, text: str, encoding="utf-8", **options):
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode(encoding))
    return armdyn.read_log(path, arm, **options)


FORMS = {
    "semicolons": lambda rows: (HEAD + "\n" + rows).replace(",", ";"),
    "tabs": lambda rows: (HEAD + "\n" + rows).replace(",", "\t"),
    "spaces": lambda rows: (HEAD + "\n" + rows).replace(",", "  "),
    "decimal commas": lambda rows: HEAD.replace(",", ";") + "\n" + rows.replace(",", ";").replace(".", ","),
    "byte order mark": lambda rows: "\ufeff" + HEAD + "\n" + rows,
    "line ends of Windows": lambda rows: (HEAD + "\n" + rows).replace("\n", "\r\n"),
    "quoted names": lambda rows: '"t","q1","q2","tau1","tau2"\n' + rows,
    "comments first": lambda rows: "# rate: 100\n# robot, serial 5\n\n" + HEAD + "\n" + rows,
    "names in a comment": lambda rows: "# made by a logger\n# " + HEAD + "\n" + rows,
    "comma at the end": lambda rows: HEAD + ",\n" + rows.replace("\n", ",\n"),
    "decimal commas in quotes": lambda rows: HEAD + "\n" + re.sub(r"([^,\n]+)", r'"\1"', rows).replace(".", ","),
    "units below the names": lambda rows: HEAD + "\ns,rad,rad,N m,[Nm]\n" + rows,
    "column of words": lambda rows: HEAD + ",mode\n" + rows.replace("\n", ",AUTO\n"),
    "blank lines": lambda rows: HEAD + "\n" + rows.replace("\n", "\n\n"),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms(tmp_path, arm, data, form):
    log = read(tmp_path, arm, FORMS[form](body(data)))
    np.testing.assert_allclose(log.q, data[:, 1:3], atol=1e-8)
    np.testing.assert_allclose(log.tau, data[:, 3:], atol=1e-8)


def test_latin_letters(tmp_path, arm, data):
    text = HEAD + ",größe\n" + body(data).replace("\n", ",1\n")
    np.testing.assert_allclose(read(tmp_path, arm, text, "latin-1").q, data[:, 1:3], atol=1e-8)


def test_two_bytes_a_letter(tmp_path, arm, data):
    np.testing.assert_allclose(read(tmp_path, arm, HEAD + "\n" + body(data), "utf-16").q, data[:, 1:3], atol=1e-8)


def test_units_below_the_names_count(tmp_path, arm, data):
    turned = data * [1e3, 180 / np.pi, 180 / np.pi, 1, 1]
    log = read(tmp_path, arm, HEAD + "\nms,deg,°,Nm,Nm\n" + body(turned))
    np.testing.assert_allclose(log.q, data[:, 1:3], atol=1e-8)
    assert log.dt == pytest.approx(0.01)


def test_times_of_day(tmp_path, arm, data):
    rows = "".join(f"10:59:{59 + row[0]:09.6f},{','.join(map(str, row[1:]))}\n" for row in data)
    rows = rows.replace("10:59:60", "11:00:00")
    np.testing.assert_allclose(np.diff(read(tmp_path, arm, HEAD + "\n" + rows).t), 0.01, atol=1e-6)


def test_dates(tmp_path, arm, data):
    rows = "".join(f"2024-05-01T10:00:{row[0]:09.6f}Z,{','.join(map(str, row[1:]))}\n" for row in data)
    np.testing.assert_allclose(np.diff(read(tmp_path, arm, HEAD + "\n" + rows).t), 0.01, atol=1e-6)


def test_recorder_switched_off(tmp_path, arm, data):
    log = read(tmp_path, arm, HEAD + "\n" + body(data)[:-25])
    assert len(log) == 99
    assert "the last line is cut off: dropped" in log.notes


@pytest.mark.parametrize(
    ("spoil", "parts"),
    [
        (lambda rows: "", {"cause": "the file is empty"}),
        (lambda rows: HEAD + "\n", {"cause": re.compile("^no rows of numbers")}),
        (lambda rows: rows.replace(",", ",1,"), {"cause": re.compile("^9 columns have no names")}),
        (
            lambda rows: HEAD.replace("q2", "q1") + "\n" + rows,
            {"cause": "several columns are named q1", "names": ("q1",)},
        ),
        (lambda rows: HEAD + "\n1,2\n" + rows, {"line": 2, "expected": "5 values", "got": "2"}),
        (
            lambda rows: HEAD + "\n" + rows.replace("0.050000000", "n/a"),
            {"line": 7, "expected": "a number", "got": "'n/a'"},
        ),
        (lambda rows: HEAD + "\n" + "2024-05-01T99:00:00,1,2,3,4\n" * 60, {"expected": "a number or a date"}),
        (lambda rows: HEAD + "\n" + rows + "\0", {"cause": re.compile("zero bytes")}),
    ],
)
def test_rejected(tmp_path, arm, data, spoil, parts):
    with raises(ReadError, where=re.compile(r"a\.csv"), **parts):
        read(tmp_path, arm, spoil(body(data)))


def test_words_in_a_column_that_was_asked_for(tmp_path, arm, data):
    text = HEAD + ",mode\n" + body(data).replace("\n", ",AUTO\n")
    with raises(ReadError, line=2, expected="a number", got="'AUTO'"):
        read(tmp_path, arm, text, columns={"tau": ["tau1", "mode"]})
