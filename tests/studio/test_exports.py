"""Files that the page hands out."""

import io
import zipfile

import numpy as np
import pytest
from tests.raising import raises

from armdyn import ArmdynError, arms, law_code, load
from armdyn.simulation.mismatch_study import swaying_designs
from armdyn.studio.exports import LawDesign, arm_file, c_file, csv_file, law_c_file, law_fmu_file, plant_file
from armdyn.studio.motion import from_log


@pytest.mark.parametrize("suffix", [".urdf", ".xml", ".toml"])
def test_the_file_is_the_arm(tmp_path, suffix):
    arm = arms.xarm7()
    file = arm_file(arm, suffix)
    (tmp_path / file.name).write_bytes(file.data)
    np.testing.assert_allclose(load(tmp_path / file.name).theta, arm.theta, atol=1e-12)


def test_a_file_keeps_what_its_source_holds(tmp_path):
    (tmp_path / "arm.xml").write_text(
        '<mujoco><worldbody><body name="one"><joint name="j" axis="0 1 0" damping="0.1"/>'
        '<inertial pos="0 0 0.2" mass="2" diaginertia="0.1 0.1 0.01"/><geom type="sphere" size="0.05"/>'
        '<site name="camera" pos="0 0 0.3"/></body></worldbody></mujoco>'
    )
    arm = load(tmp_path / "arm.xml")
    heavier = arm.with_theta(2 * arm.theta)
    assert b'name="camera"' in arm_file(heavier, ".xml").data
    assert b"camera" not in arm_file(heavier, ".toml").data


def names(file):
    return sorted(zipfile.ZipFile(io.BytesIO(file.data)).namelist())


def test_a_law_is_what_the_command_writes(arm, tmp_path):
    file = law_c_file(arm, LawDesign("computed torque", 3.0, 500.0))
    assert file.name == "planar2_computed_torque_c.zip"
    law = swaying_designs(arm, 3.0, 500.0, ["computed-torque"])["computed torque"]
    code = law_code(law, tmp_path, 500.0, prefix="planar2_computed_torque")
    assert {path.name for path in tmp_path.iterdir()} == set(names(file))
    source = zipfile.ZipFile(io.BytesIO(file.data)).read(code.source.name)
    assert source == code.source.read_bytes()


def test_the_arm_and_a_law_are_fmus(arm):
    pytest.importorskip("fmpy", reason="building an FMU is tested where its reader is")
    for file in (plant_file(arm), law_fmu_file(arm, LawDesign("PD", 3.0, 1000.0))):
        assert file.name.endswith(".fmu")
        assert "modelDescription.xml" in names(file)


def test_the_c_code_comes_with_its_self_test(arm):
    file = c_file(arm)
    assert [name.rsplit(".", 1)[1] for name in names(file)] == ["c", "h", "c"]
    assert any("selftest" in name for name in names(file))


def test_the_csv_is_what_is_loaded(arm, log):
    file = csv_file(from_log(log, arm))
    assert file.name == "swing.csv"
    assert file.data.startswith(b"t,q1,q2,qd1,qd2,qdd1,qdd2,tau1,tau2\n")
    with raises(ArmdynError, cause="no motion is loaded yet"):
        csv_file(None)
