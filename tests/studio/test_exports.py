"""Files that the page hands out."""

import io
import zipfile

import numpy as np
import pytest

from armdyn import ArmdynError, load
from armdyn.studio.exports import c_file, csv_file, urdf_file
from armdyn.studio.motion import from_log


def test_the_urdf_is_the_arm(arm, tmp_path):
    file = urdf_file(arm)
    (tmp_path / file.name).write_bytes(file.data)
    np.testing.assert_allclose(load(tmp_path / file.name).theta, arm.theta, atol=1e-12)


def test_the_c_code_comes_with_its_self_test(arm):
    file = c_file(arm)
    names = zipfile.ZipFile(io.BytesIO(file.data)).namelist()
    assert sorted(name.rsplit(".", 1)[1] for name in names) == ["c", "c", "h"]
    assert any("selftest" in name for name in names)


def test_the_csv_is_what_plays(arm, log):
    file = csv_file(from_log(log, arm))
    assert file.name == "swing.csv"
    assert file.data.startswith(b"t,q1,q2,qd1,qd2,qdd1,qdd2,tau1,tau2\n")
    with pytest.raises(ArmdynError, match="nothing plays yet"):
        csv_file(None)
