"""Identification of measured arms, with the figures to meet; skipped where the logs are absent.

`test_stand_in_logs.py` goes the same way everywhere.
"""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.identification.logs.log import Log
from armdyn.identification.motion.track import smooth_stretch


def error_at_5_hz(fit, log: Log) -> float:
    """Relative torque error of `predict`, both sides through one low-pass at 5 Hz, half a second cut off."""
    from scipy.signal import butter, filtfilt

    t, model = fit.predict(log)
    grid = np.arange(t[0], t[-1], 5e-3)
    b, a = butter(4, 5.0 * 2 * 5e-3)
    sides = [
        filtfilt(b, a, np.stack([np.interp(grid, x, c) for c in y.T], 1), axis=0)[100:-100]
        for x, y in ((log.t, log.tau), (t, model))
    ]
    return float(np.linalg.norm(sides[0] - sides[1]) / np.linalg.norm(sides[0]))


@pytest.mark.slow
def test_panda_predicts_the_rest_of_its_log(shared):
    arm = armdyn.load(shared / "models/panda/panda_arm.urdf")
    log = armdyn.read_log(shared / "data/panda_gaz2019/panda_traj1.npz", arm)
    assert any("repeat the measurement" in note for note in log.notes)
    split = log.t[0] + 0.6 * log.duration
    fit = armdyn.identify(arm, log.part(log.t[0], split))
    assert fit.base.count == 43
    assert len(fit.base.theta) == 43 + 21
    assert error_at_5_hz(fit, log.part(split, log.t[-1])) <= 0.0095
    assert fit.arm.is_physical


@pytest.mark.slow
def test_ur10_from_a_bag_predicts_the_rest(shared):
    pytest.importorskip("rosbags", reason="bags need the extra 'logs'")
    arm = armdyn.load(shared / "models/ur/ur10_robot.urdf")
    log = armdyn.read_log(shared / "data/ur10_unisa/ur10_exciting_trajectory.db3", arm)
    same = armdyn.read_log(shared / "data/ur10_unisa/ur10_exciting_trajectory.npz", arm)
    assert np.abs(log.tau - same.tau).max() < 1e-9
    split = log.t[0] + 0.6 * log.duration
    fit = armdyn.identify(arm, log.part(log.t[0], split))
    assert error_at_5_hz(fit, log.part(split, log.t[-1])) <= 0.065
    assert any("load" in terms for terms in fit.structure)  # harmonic drives


@pytest.fixture(scope="module")
def lwr(shared):
    """The arm, its two logs, and what is identified from the first."""
    arm = armdyn.load(shared / "models/kuka_lwr4/kuka_lwr4.urdf")
    logs = [armdyn.read_log(shared / f"data/kuka_lwr4/measurements_{i}.npz", arm) for i in (1, 2)]
    return arm, logs, armdyn.identify(arm, logs[0])


@pytest.mark.slow
def test_lwr_predicts_its_second_run(lwr):
    _, logs, fit = lwr
    assert error_at_5_hz(fit, logs[1]) <= 0.026
    assert fit.validate(logs[1]).rel_error < 0.026


@pytest.mark.slow
def test_lwr_needs_its_description(lwr):
    arm, logs, fit = lwr
    # Slow motion determines little: the description must be believed, or plain least squares errs by 22 % at twice the
    # speed. Among beliefs that predict the second run alike, the torques there must not depend on which is taken.
    believing = armdyn.identify(arm, logs[0], prior=100.0)
    assert error_at_5_hz(believing, logs[1]) <= 0.026
    motion = smooth_stretch(logs[0].stretches[0], fit.filters)
    quick = (motion.q, 2 * motion.qd, 4 * motion.qdd)
    tau, other = (armdyn.joint_torque(one.arm, *quick) for one in (fit, believing))
    assert np.linalg.norm(tau - other) < 0.03 * np.linalg.norm(other)


def test_emps_has_the_published_parameters(shared):
    # Janot, Gautier, Brunot (2019); force is 35.1507 N a volt.
    rows = [{"kind": "P", "a": 0, "alpha": 0, "d": 0, "theta": 0}]
    arm = armdyn.Arm.from_dh(rows, convention="standard", gravity=[0, -9.81, 0])
    names = {"q": ["qm_m"], "tau": ["vir_V"]}
    log = armdyn.read_log(shared / "data/emps/emps_train.csv", arm, columns=names, drive_gain=35.1507)
    fit = armdyn.identify(arm, log)
    assert fit.base.theta[0] == pytest.approx(95.1089, rel=0.01)
    assert fit.friction.viscous[0] == pytest.approx(203.5034, rel=0.02)
    assert fit.friction.coulomb[0] == pytest.approx(20.3935, rel=0.03)
    assert fit.friction.offset[0] == pytest.approx(-3.1648, rel=0.05)
