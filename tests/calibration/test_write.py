"""What follows a calibration: files with base and tool, UR's parameters, C, identification, laws, simulation."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.calibration.conftest import make_truth, measure, random_positions
from tests.raising import raises

import armdyn
from armdyn.calibration.kinematics import calibrated_kinematics, command_steps
from armdyn.calibration.poses import Poses
from armdyn.errors import ArmdynError
from armdyn.model.arm import Arm
from armdyn.spatial.transform import inverse


@pytest.fixture(scope="module")
def calibration(arm: Arm, poses: Poses) -> armdyn.Calibration:
    return armdyn.calibrate(arm, poses)


@pytest.mark.parametrize("suffix", [".urdf", ".toml"])
def test_base_and_tool_are_written_and_read(calibration: armdyn.Calibration, tmp_path: Path, suffix: str) -> None:
    """The first marker where the instrument sees it, gravity as it is there, and the deflection."""
    path = tmp_path / f"placed{suffix}"
    calibration.save(path, placed=True)
    again, q = armdyn.load(path), calibration.poses.q
    placed = calibration.placed_arm
    np.testing.assert_allclose(
        armdyn.forward_kinematics(again, q), armdyn.forward_kinematics(placed, q), rtol=0, atol=1e-9
    )
    tips = calibrated_kinematics(again, q)
    np.testing.assert_allclose(tips[:, :3, 3], calibration.points(q)[:, 0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(again.gravity, calibration.base_pose[:3, :3] @ calibration.nominal.gravity, atol=1e-12)


def test_frames_are_placed_too_and_noise_keeps_nominal_ones(arm: Arm) -> None:
    rng = np.random.default_rng(8)
    truth = make_truth(arm, rng, markers=0)
    calibration = armdyn.calibrate(arm, measure(truth, random_positions(arm, 30, rng), 0.02, rng))
    assert calibration.verdict == "noise-limited"
    q = calibration.poses.q
    placed = armdyn.forward_kinematics(calibration.placed_arm, q)
    base, tool = calibration.written.base, calibration.written_tool
    np.testing.assert_allclose(placed, base @ armdyn.forward_kinematics(arm, q) @ tool, atol=1e-12)
    error = np.linalg.norm(placed[:, :3, 3] - np.asarray(calibration.poses.poses)[:, :3, 3], axis=1)
    assert error.mean() < 0.05  # noise of 0.02 m a coordinate


def test_placed_files_are_new_ones(calibration: armdyn.Calibration, tmp_path: Path) -> None:
    with raises(
        ArmdynError, cause="base and tool are not part of a file that is kept", remedy="write a new one, without onto="
    ):
        calibration.save(tmp_path / "a.urdf", onto=tmp_path / "b.urdf", placed=True)


def test_dh_tables_say_what_they_cannot_hold(calibration: armdyn.Calibration, tmp_path: Path) -> None:
    with raises(ArmdynError, cause=re.compile("a DH table cannot hold axes that are nearly parallel; expected")):
        calibration.save(tmp_path / "arm.csv")


# -- UR's kinematics parameters ------------------------------------------------------------------------------


def calibrated(arm: Arm) -> armdyn.Calibration:
    rng = np.random.default_rng(4)
    truth = make_truth(arm, rng)
    found = armdyn.calibrate(arm, measure(truth, random_positions(arm, 30, rng), 5e-5, rng))
    assert found.verdict == "calibrated"
    return found


def test_ur_kinematics_go_into_the_xacro(shared: Path, tmp_path: Path) -> None:
    pytest.importorskip("xacrodoc")
    folder = shared / "models" / "xacro"
    if not (folder / "ur_description").is_dir():
        pytest.skip("no ur_description beside the repository")
    arguments: dict[str, Any] = {
        "base": "base_link", "tip": "tool0", "args": {"name": "ur", "ur_type": "ur5e"}, "packages": [folder],
    }  # fmt: skip
    path = folder / "ur_description" / "urdf" / "ur.urdf.xacro"
    found = calibrated(armdyn.load(path, **arguments))
    found.save(tmp_path / "kinematics.yaml")
    arguments["packages"].append(tmp_path)  # which the xacro may read then
    arguments["args"]["kinematics_params"] = str(tmp_path / "kinematics.yaml")
    again, q = armdyn.load(path, **arguments), found.poses.q
    expected = armdyn.forward_kinematics(found.arm, q)
    np.testing.assert_allclose(armdyn.forward_kinematics(again, q), expected, rtol=0, atol=1e-9)
    assert np.abs(expected - armdyn.forward_kinematics(found.nominal, q)).max() > 1e-3


def test_other_arms_have_no_ur_kinematics(calibration: armdyn.Calibration, tmp_path: Path) -> None:
    with raises(
        ArmdynError,
        cause=re.compile(
            "only arms of ur_description have kinematics parameters in YAML, and 'puma.*' has other joints"
        ),
        remedy="write .urdf or .toml",
    ):
        calibration.save(tmp_path / "kinematics.yaml")


# -- commands ------------------------------------------------------------------------------------------------


def test_c_computes_the_command(calibration: armdyn.Calibration, tmp_path: Path) -> None:
    compiler = shutil.which("gcc") or shutil.which("clang") or shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler, and none is installed")
    code = calibration.c_code(tmp_path, prefix="arm")
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, str(code.source), "-lm", "-o", str(tmp_path / "arm.so")], check=True)
    function = ctypes.CDLL(str(tmp_path / "arm.so")).arm_command_steps
    for q in calibration.poses.q[:10]:
        target = np.ascontiguousarray(calibration.pose(q))
        at_base = inverse(calibration.base_pose) @ target @ inverse(calibration.tool_pose)
        start = armdyn.inverse_kinematics(calibration.nominal, at_base, q).q
        out, left = np.empty(6), np.empty(2)
        pointers = (ctypes.c_void_p(x.ctypes.data) for x in (start, target, out, left))
        function(*pointers)
        steps = command_steps(calibration.fitted_arm, start, target, steps=5)
        np.testing.assert_allclose(out, steps.q, rtol=0, atol=1e-9)
        np.testing.assert_allclose(out, calibration.command(target, q), rtol=0, atol=1e-9)
        np.testing.assert_allclose(calibration.pose(out), target, rtol=0, atol=1e-9)
        assert left.max() < 1e-9


def test_commands_start_at_the_closed_form(calibration: armdyn.Calibration) -> None:
    """The nominal arm has closed forms, the calibrated one has none: its axes miss each other."""
    q = calibration.poses.q[:4]
    at_base = inverse(calibration.base_pose) @ calibration.pose(q)
    for at, pose, reading in zip(q, at_base, calibration.command(calibration.pose(q), q), strict=True):
        solution = armdyn.inverse_kinematics(calibration.nominal, pose)
        assert solution.method == "elbow arm with a spherical wrist"
        assert np.nanmin(np.abs(solution.all_solutions - reading).max(axis=1)) < 0.05
        np.testing.assert_allclose(reading, at, atol=1e-6)


# -- the calibrated arm goes on ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def planar() -> Arm:
    """Two links whose frames were calibrated."""
    arm, rng = armdyn.arms.planar2(), np.random.default_rng(2)
    found = armdyn.calibrate(arm, measure(make_truth(arm, rng, scale=3.0), rng.uniform(-2, 2, (30, 2)), 1e-5, rng))
    assert found.verdict == "calibrated"
    assert found.arm.deflection.any()
    return found.arm


def swing(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    t = np.asarray(t)[..., None]
    w = np.array([2.0, 3.0])
    return 0.5 * np.sin(w * t), 0.5 * w * np.cos(w * t), -0.5 * w**2 * np.sin(w * t)


def test_identification_takes_the_calibrated_arm(planar: Arm) -> None:
    t = np.arange(0, 20, 0.005)
    q, qd, qdd = swing(t)
    rng = np.random.default_rng(0)
    tau = armdyn.inverse_dynamics(planar, q, qd, qdd) + 0.05 * rng.normal(size=q.shape)
    fit = armdyn.identify(planar.with_theta(np.full(20, np.nan)), armdyn.Log(t, q, tau))
    assert fit.validate(armdyn.Log(t, q, tau)).rel_error < 0.02
    np.testing.assert_array_equal(fit.arm.deflection, planar.deflection)
    np.testing.assert_array_equal(fit.arm.joints[1].before, planar.joints[1].before)


class Swing:
    n, duration = 2, 2.0
    __call__ = staticmethod(swing)


def test_laws_and_simulation_take_the_calibrated_arm(planar: Arm) -> None:
    law = armdyn.ComputedTorque.from_bandwidth(planar, 5.0)
    run = armdyn.simulate(planar, law, Swing(), q0=swing(0.0)[0], qd0=swing(0.0)[1])
    # The law's model is the plant's: what is left is the sampling of the loop.
    assert run.metrics.rms_tip_error < 1e-3


def test_offsets_alone_need_no_model(calibration: armdyn.Calibration, tmp_path: Path) -> None:
    calibration.save_offsets(tmp_path / "zeros.yaml")
    lines = (tmp_path / "zeros.yaml").read_text().splitlines()
    assert [float(line.split(": ")[1]) for line in lines[1:]] == pytest.approx(list(calibration.offsets), rel=1e-8)
