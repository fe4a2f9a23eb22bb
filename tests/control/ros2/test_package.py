"""Generated ROS 2 packages compile against stand-ins of the interfaces and compute what Python computes."""

from __future__ import annotations

import shutil
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.control.design.designs import chosen_designs
from armdyn.control.ros2.package import ros2_package
from armdyn.errors import ArmdynError
from armdyn.simulation.compare import Sway

HERE = Path(__file__).parent
EIGEN = next((p for p in (Path("/usr/include/eigen3"), Path("/usr/local/include/eigen3")) if p.is_dir()), None)
RATE = 500
needs_compiler = pytest.mark.skipif(
    EIGEN is None or shutil.which("g++") is None, reason="needs g++ and Eigen (libeigen3-dev)"
)


def build(package, folder: Path) -> Path:
    """Compile the package's sources with the program that runs them; the list of sources is CMakeLists's."""
    listed = (package.folder / "CMakeLists.txt").read_text().split("SHARED", 1)[1].split(")", 1)[0].split()
    program = folder / "run.cpp"
    program.write_text((HERE / "run_package.cpp").read_text().replace("PACKAGE", package.name))
    include = [f"-I{path}" for path in (
        package.folder / "include", package.folder / "include" / package.name, HERE / "stand_in", EIGEN)]  # fmt: skip
    objects = []
    for source in [*(package.folder / name for name in listed), program]:
        language = ["gcc", "-std=c99"] if source.suffix == ".c" else ["g++", "-std=c++17"]
        objects.append(folder / (source.stem + ".o"))
        subprocess.run([*language, "-O1", "-Wall", "-Werror", *include, "-c", source, "-o", objects[-1]], check=True)
    subprocess.run(["g++", *objects, "-lm", "-o", folder / "run"], check=True)
    return folder / "run"


def friction_arm() -> armdyn.Arm:
    """A PUMA with rotors, springs and curved friction, so that every part counts."""
    arm = armdyn.arms.puma560()
    friction = armdyn.Friction(viscous=0.4, coulomb=1.5, offset=0.3, static=2.0, stribeck=0.1)
    joints = [replace(joint, friction=friction) for joint in arm.joints]
    joints[1] = replace(joints[1], drive=replace(joints[1].drive, stiffness=3.0, rest=0.2, damping=0.001))
    return replace(arm, joints=tuple(joints))


@needs_compiler
@pytest.mark.parametrize("law", [None, "Slotine-Li"])
def test_solver_and_controller_compute_what_python_computes(tmp_path, law):
    arm = armdyn.arms.puma560() if law else friction_arm()
    rng = np.random.default_rng(3)
    sway = Sway.within(arm, 10.0)(np.linspace(0.0, 10.0, 200))
    chosen = chosen_designs(arm, sway, 3.0, RATE, [law])[law] if law else None
    package = ros2_package(arm, tmp_path / "package", chosen, rate=RATE)
    program = build(package, tmp_path)
    n, samples = arm.n, 8
    motion = rng.uniform(-1, 1, (samples, 3, n))
    text = " ".join(f"{x:.17g}" for x in motion.ravel())
    answer = subprocess.run(
        [program, str(n), str(samples), str(RATE)], input=text, capture_output=True, text=True, check=True
    )
    names, *rows = answer.stdout.splitlines()
    kinds = ("position", "velocity", "effort")
    assert names.split() == [f"{joint}/{kind}" for kind in kinds for joint in arm.coordinate_names]
    assert "expected 6 finite positions" in answer.stderr  # the point with a joint too many
    rows = [np.array(row.split(), float) for row in rows]
    expected_law = armdyn.Guarded(chosen or armdyn.GravityPD(arm, 0.0, 0.0), fallback="gravity")
    state, rest = expected_law.init(), np.zeros(n)
    for k, (q, qd, qdd) in enumerate(motion):
        mass, coriolis, gravity, friction, torques, tau = rows[6 * k : 6 * k + 6]
        scale = np.abs(armdyn.joint_torque(arm, q, qd, qdd)).max()
        np.testing.assert_allclose(mass.reshape(n, n), armdyn.augmented_mass_matrix(arm, q), atol=1e-12 * scale)
        expected = armdyn.coriolis_matrix(arm, q, qd) @ qd
        np.testing.assert_allclose(coriolis, expected, atol=1e-11 * scale)
        np.testing.assert_allclose(friction + torques, armdyn.joint_torque(arm, q, qd, qdd), atol=1e-11 * scale)
        np.testing.assert_allclose(
            gravity, armdyn.joint_torque(arm, q, rest, rest) - armdyn.friction_torque(arm, q, rest), atol=1e-11 * scale
        )
        pose = motion[0, 0] if k < samples // 2 else np.full(n, 0.1)
        reference = armdyn.Reference(pose, rest, rest)
        answer_tau, state = expected_law.step(arm, expected_law.params, state, q, qd, reference, 1 / RATE)
        np.testing.assert_allclose(tau, answer_tau, atol=1e-9 * scale)
    np.testing.assert_array_equal(rows[-1], 0.0)  # deactivated


@needs_compiler
def test_another_rate_is_refused(tmp_path):
    package = ros2_package(armdyn.arms.planar2(), tmp_path / "package", rate=RATE)
    answer = subprocess.run([build(package, tmp_path), "2", "0", "400"], capture_output=True, text=True, check=False)
    assert answer.returncode == 3
    assert "400 Hz; the law was exported for 500 Hz" in answer.stderr


def test_files_name_each_other(tmp_path):
    package = ros2_package(armdyn.arms.planar2(), tmp_path / "package", name="my_arm")
    assert ET.parse(package.folder / "package.xml").findtext("name") == "my_arm"
    for file in ("solver_plugin.xml", "controller_plugin.xml"):
        (plugin,) = ET.parse(package.folder / file).getroot()
        assert plugin.get("type").startswith("my_arm::")
    assert all(path.is_file() for path in package.files)
    assert not any(
        "@" in path.read_text() for path in package.files if path.suffix in {".cpp", ".hpp", ".txt", ".yaml"}
    )


def test_a_package_is_written_anew_but_no_other_folder_is_touched(tmp_path):
    arm = armdyn.arms.planar2()
    first = ros2_package(arm, tmp_path / "package")
    assert ros2_package(arm, tmp_path / "package").files == first.files
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").write_text("text")
    with raises(
        ArmdynError, cause=f"'{other}' holds other files", remedy="choose a new or empty folder", names=(str(other),)
    ):
        ros2_package(arm, other)


@pytest.mark.parametrize("name", ["My-Arm", "3arm", "", "a__b", "rm -rf"])
def test_names_that_ros_rejects(tmp_path, name):
    with raises(ArmdynError, cause=f"'{name}' is no name of a package", names=(name,)):
        ros2_package(armdyn.arms.planar2(), tmp_path / "package", name=name)
    assert not (tmp_path / "package").exists()


def test_a_law_with_gain_tables_is_refused(tmp_path):
    arm = armdyn.arms.planar2()
    law = armdyn.TrajectoryLQR(arm, [0.02] * 2 + [0.5] * 2, [50.0] * 2, rate=250.0)
    with raises(
        ArmdynError,
        cause=("TrajectoryLQR needs K, tau_ff beside every reference point, which JointTrajectoryPoint cannot carry"),
        names=("K", "tau_ff"),
    ):
        ros2_package(arm, tmp_path / "package", law)
