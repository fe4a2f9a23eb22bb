"""Gravity from poses held still: found, averaged, fitted, written as C (Kapadia, section 7.3)."""

from __future__ import annotations

import ctypes
import dataclasses
import re
import shutil
import subprocess
import warnings
from itertools import pairwise

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynWarning, DataError, ReadError
from armdyn.identification.logs.log import Log
from armdyn.identification.poses import held_poses


def pose_log(arm, count=60, seed=0, noise=1.0, stiction=0.5, hold=1.0, move=1.5, rate=100.0, span=1.2) -> Log:
    """Random poses with smooth moves between; while it rests, stiction of any size up to `stiction` holds the arm."""
    rng = np.random.default_rng(seed)
    targets = rng.uniform(-span, span, (count + 1, arm.n))
    s = np.arange(0, 1, 1 / (move * rate))[:, None]
    blend = 10 * s**3 - 15 * s**4 + 6 * s**5
    rest = int(hold * rate)
    q = np.concatenate([x for a, b in pairwise(targets) for x in (a + (b - a) * blend, [b] * rest)])
    t = np.arange(len(q)) / rate
    qd = np.gradient(q, t, axis=0)
    tau = armdyn.joint_torque(arm, q, qd, np.gradient(qd, t, axis=0))
    for k in range(count):
        tau[(k + 1) * (len(s) + rest) - rest : (k + 1) * (len(s) + rest)] += stiction * rng.uniform(-1, 1, arm.n)
    return Log(t, q + 2e-5 * rng.normal(size=q.shape), tau + noise * rng.normal(size=q.shape), name="poses")


@pytest.fixture(scope="module")
def sarcos():
    return armdyn.arms.sarcos()


@pytest.fixture(scope="module")
def fit(sarcos):
    """Of an arm about whose links nothing is known beforehand."""
    return armdyn.identify(sarcos.with_theta(np.full(70, np.nan)), pose_log(sarcos), terms="gravity")


def test_poses_are_found_and_averaged(sarcos):
    log = pose_log(sarcos, count=20, noise=0.5, stiction=0.0)
    poses = held_poses([log, log])
    assert poses is not None
    assert len(poses.t) == 40
    assert np.all(np.diff(poses.t) > 0)
    at_rest = log.q[249::250]
    np.testing.assert_allclose(poses.q[:20], at_rest, atol=1e-4)
    # Means of about 60 samples of noise 0.5.
    np.testing.assert_allclose(poses.tau[:20], armdyn.gravity_torque(sarcos, at_rest), atol=5 * 0.5 / np.sqrt(60))


def test_a_written_arm_has_the_error_that_identify_gave(sarcos, tmp_path):
    logs = [pose_log(sarcos, seed=seed) for seed in (0, 1)]
    fit = armdyn.identify(sarcos, logs[0], terms="gravity", validation=logs[1])
    fit.save(tmp_path / "arm.toml")
    read = armdyn.load(tmp_path / "arm.toml")
    assert [armdyn.validate(read, log).rel_error for log in logs] == [fit.rel_error, fit.other.rel_error]


def test_slow_motion_is_no_pose(sarcos):
    t = np.arange(0, 100, 0.02)
    q = np.sin(0.1 * np.outer(t, np.arange(1, 8)))
    assert held_poses([Log(t, q + 1e-5 * np.random.default_rng(0).normal(size=q.shape), q)]) is None


def test_all_14_parameters_of_the_sarcos_arm(sarcos, fit):
    base = armdyn.base_parameters(sarcos, terms="gravity")
    assert fit.base.count == base.count == 14
    z = (fit.base.theta[:14] - base.theta) / fit.base.std[:14]
    np.testing.assert_allclose(np.sqrt(np.diag(fit.base.covariance)), fit.base.std)
    assert np.all(np.abs(z) < 4.5)
    assert np.sqrt(np.mean(z**2)) < 2
    assert fit.arm.is_physical
    assert fit.undetermined == ()


def test_table_of_torque_errors(sarcos, fit):
    """Below 5 % of each joint's torque; the deviations are those of stiction (uniform) and averaged noise."""
    assert np.all(fit.rel_error_joints < 0.05)
    expected = np.hypot(0.5 / np.sqrt(3), 1.0 / np.sqrt(60))
    np.testing.assert_allclose(fit.training.rmse, expected, rtol=0.25)
    q = np.random.default_rng(5).uniform(-1.2, 1.2, (300, 7))
    truth, model = armdyn.gravity_torque(sarcos, q), armdyn.gravity_torque(fit.arm, q)
    assert np.all(np.linalg.norm(model - truth, axis=0) < 0.05 * np.linalg.norm(truth, axis=0))


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_identified_gravity_as_c(fit, tmp_path):
    code = armdyn.c_code(armdyn.gravity_torque, fit.arm, tmp_path, prefix="grav")
    library = tmp_path / "grav.so"
    subprocess.run(
        ["cc", "-std=c99", "-O2", "-fPIC", "-shared", str(code.source), "-lm", "-o", str(library)], check=True
    )
    compiled = ctypes.CDLL(str(library)).grav_gravity_torque
    for q in np.random.default_rng(6).uniform(-3, 3, (50, 7)):
        tau = np.empty(7)
        compiled(ctypes.c_void_p(q.ctypes.data), ctypes.c_void_p(tau.ctypes.data))
        np.testing.assert_allclose(tau, armdyn.gravity_torque(fit.arm, q), rtol=1e-12, atol=1e-10)


def test_a_description_is_corrected_and_its_friction_kept(sarcos):
    joints = [dataclasses.replace(j, friction=armdyn.Friction(viscous=1.0, coulomb=2.0)) for j in sarcos.joints]
    described = sarcos.with_joints(joints).with_theta(1.2 * sarcos.theta)
    fit = armdyn.identify(described, pose_log(sarcos), terms="gravity", validation=pose_log(sarcos, seed=4))
    assert fit.rel_error < 0.05 * fit.rel_error_source
    assert fit.other.rel_error < 0.01
    assert fit.arm.joints[2].friction.coulomb == 2.0
    assert np.isinf(fit.friction.std[:2]).all()
    assert "poses held still" in fit.notes[0]


def test_poses_that_leave_joints_alone(sarcos):
    log = pose_log(sarcos, stiction=0.0)
    q = log.q * np.isin(np.arange(7), (1, 3))
    tau = armdyn.gravity_torque(sarcos, q) + 0.1 * np.random.default_rng(0).normal(size=q.shape)
    with pytest.warns(ArmdynWarning) as given:
        fit = armdyn.identify(sarcos, Log(log.t, q, tau), terms="gravity")
    assert any("do not determine" in str(w.message) for w in given)
    assert fit.undetermined
    # The description fills in what the poses do not show.
    assert fit.rel_error < 0.01
    model, truth = (armdyn.gravity_torque(arm, log.q[::100]) for arm in (fit.arm, sarcos))
    assert np.linalg.norm(model - truth) < 0.02 * np.linalg.norm(truth)


@pytest.mark.slow
def test_another_arms_poses(sarcos):
    strange = armdyn.arms.iiwa14()
    log = pose_log(strange, noise=0.1, stiction=0.0)
    with pytest.raises((DataError, ArmdynWarning)):
        armdyn.identify(sarcos, log, terms="gravity")


@pytest.mark.filterwarnings("ignore::armdyn.errors.ArmdynWarning")  # the verdict too
def test_fast_motion_is_not_for_gravity_alone(two, make_log):
    with pytest.warns(ArmdynWarning, match="too fast for gravity alone"):
        armdyn.identify(two, make_log(two, noise=0.02), terms="gravity")


# -- tables of poses ----------------------------------------------------------------------------------------------


def pose_table(arm, path, count=60, times=None, noise=0.05):
    """One row per pose: positions and torques, perhaps with times."""
    rng = np.random.default_rng(5)
    q = rng.uniform(-1.5, 1.5, (count, arm.n))
    tau = armdyn.gravity_torque(arm, q) + noise * rng.normal(size=q.shape)
    names = [f"{what}{k + 1}" for what in ("q", "tau") for k in range(arm.n)]
    columns = [q, tau] if times is None else [times(count)[:, None], q, tau]
    head = names if times is None else ["t", *names]
    np.savetxt(path, np.concatenate(columns, axis=1), delimiter=",", header=",".join(head), comments="", fmt="%.9g")
    return path


@pytest.mark.parametrize(
    ("times", "told"),
    [(None, "no column of times"), (np.arange, ""), (lambda n: 5.0 * np.arange(n), "")],
    ids=["without times", "whole seconds", "five seconds each"],
)
def test_a_table_of_poses_gives_gravity(tmp_path, times, told):
    arm = armdyn.arms.puma560()
    path = pose_table(arm, tmp_path / "poses.csv", times=times)
    log = armdyn.read_log(path, arm)
    assert log.still
    assert len(log) == 60
    assert told in log.notes[0]
    fit = armdyn.identify(arm.with_theta(np.full(60, np.nan)), path, terms="gravity")
    q = np.random.default_rng(6).uniform(-1, 1, (50, arm.n))
    expected = armdyn.gravity_torque(arm, q)
    # Noise of 0.05 N m in 60 poses; the largest torques are some 40 N m.
    np.testing.assert_allclose(armdyn.gravity_torque(fit.arm, q), expected, atol=0.2)
    assert "60 poses held still" in fit.notes[0]
    assert "<html" in armdyn.report(fit, tmp_path / "report.html").read_text()


def test_a_table_of_poses_has_no_motion(tmp_path):
    arm = armdyn.arms.puma560()
    path = pose_table(arm, tmp_path / "poses.csv")
    with raises(DataError, expected="a motion", remedy="use terms='gravity'"):
        armdyn.identify(arm, path)
    with raises(DataError, got="a table of 60 poses, which tells of gravity alone"):
        armdyn.check_log(arm, armdyn.read_log(path, arm))
    with raises(ReadError, expected="at least 4 samples", got="3"):
        armdyn.read_log(pose_table(arm, tmp_path / "few.csv", count=3), arm)


def test_a_motion_without_times_is_no_table_of_poses(tmp_path):
    arm = armdyn.arms.planar2()
    t = np.arange(0, 5, 0.01)
    rows = np.column_stack([np.sin(t), np.cos(2 * t), t, t])
    np.savetxt(tmp_path / "log.csv", rows, delimiter=",", header="q1,q2,tau1,tau2", comments="")
    with raises(
        ReadError,
        cause="no column of times",
        expected=re.compile(r"t or time \[s\], columns=\{'t': \[...\]\}, or rate"),
    ):
        armdyn.read_log(tmp_path / "log.csv", arm)


@pytest.mark.parametrize("both", [True, False])
def test_poses_approached_from_one_side_are_said(both):
    arm = armdyn.arms.puma560()
    rng = np.random.default_rng(1)
    poses = rng.uniform(-1.0, 1.0, (40, 6))
    if not both:  # come into each from below
        poses = np.stack([poses - 0.2, poses], axis=1).reshape(-1, 6)
    log = held(arm, poses, rest=1.0 if both else (0.0, 1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ArmdynWarning)
        fit = armdyn.identify(arm, log, terms="gravity")
    one_sided = [finding for finding in fit.findings if "one side" in finding.text]
    assert bool(one_sided) is not both
    assert (fit.verdict.level == "good") is both


def held(arm, poses, rest, rate=100.0) -> Log:
    """Smooth moves between poses, with rests of some seconds, in turn."""
    s = np.arange(0, 1, 1 / (1.5 * rate))[:, None]
    blend = 10 * s**3 - 15 * s**4 + 6 * s**5
    rests = np.resize(rest, len(poses) - 1)
    parts = [
        x
        for (a, b), seconds in zip(pairwise(poses), np.roll(rests, -1), strict=True)
        for x in (a + (b - a) * blend, np.tile(b, (int(seconds * rate), 1)))
    ]
    q = np.concatenate(parts)
    tau = armdyn.gravity_torque(arm, q)
    return Log(np.arange(len(q)) / rate, q, tau + 0.01 * np.random.default_rng(0).normal(size=q.shape))
