"""Measured logs read and checked as a user would; skipped where they are absent (`test_stand_in_logs.py` never is)."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn

LOGS = {
    "panda": ("models/panda/panda_arm.urdf", "data/panda_gaz2019/panda_traj1.npz"),
    "lwr4": ("models/kuka_lwr4/kuka_lwr4.urdf", "data/kuka_lwr4/measurements_1.npz"),
    "ur10": ("models/ur/ur10_robot.urdf", "data/ur10_unisa/ur10_exciting_trajectory.npz"),
}


OTHERS = [
    ("models/kuka_iiwa/iiwa14_pybullet.urdf", "panda"),
    ("models/panda/panda_arm.urdf", "lwr4"),
    ("models/ur/ur5_robot.urdf", "ur10"),
    ("models/ur/ur3_robot.urdf", "ur10"),
]


@pytest.fixture(scope="module")
def measured(shared):
    """The arm and the log of every robot."""
    arms = {name: armdyn.load(shared / model) for name, (model, _) in LOGS.items()}
    return {name: (arm, armdyn.read_log(shared / LOGS[name][1], arm)) for name, arm in arms.items()}


def test_nothing_speaks_against_good_logs(measured):
    for name, (arm, log) in measured.items():
        check = armdyn.check_log(arm, log)
        assert [f.text for f in check.findings if f.level != "note"] == [], name
        assert np.all(check.joints.condition < 10), name


@pytest.mark.parametrize(("model", "name"), OTHERS)
@pytest.mark.by_day(1)
def test_but_against_another_arms(shared, model, name):
    arm = armdyn.load(shared / model)
    check = armdyn.check_log(arm, armdyn.read_log(shared / LOGS[name][1], arm))
    kinds = ("other_arm", "exchange", "sign", "gravity", "gain", "zero")
    assert any(f.kind in kinds for f in check.findings)


@pytest.mark.parametrize("lengths", [(5.0,), pytest.param((2.5, 10.0), marks=pytest.mark.slow)], ids=["5", "others"])
@pytest.mark.slow
def test_nor_against_short_pieces_of_them(measured, lengths):
    """They say too little to tell signs or columns from one another."""
    for arm, log in measured.values():
        for seconds in lengths:
            for start in np.arange(log.t[0], log.t[-1] - seconds, seconds):
                check = armdyn.check_log(arm, log.part(start, start + seconds))
                assert check.ok, str(check)


def kr300() -> armdyn.Arm:
    """Geometry of a KUKA KR 300 R2500, nothing else.

    The lengths are those usually given for this arm and were not checked against a data sheet of the very arm whose
    log this is. That the fit explains the log is the only evidence for them.
    """
    half = np.pi / 2
    rows = [
        {"kind": "R", "a": 0.35, "alpha": half, "d": -0.675, "theta": 0},
        {"kind": "R", "a": 1.15, "alpha": 0, "d": 0, "theta": 0},
        {"kind": "R", "a": -0.041, "alpha": half, "d": 0, "theta": -half},
        {"kind": "R", "a": 0, "alpha": -half, "d": -1.0, "theta": 0},
        {"kind": "R", "a": 0, "alpha": half, "d": 0, "theta": 0},
        {"kind": "R", "a": 0, "alpha": np.pi, "d": -0.24, "theta": 0},
    ]
    # The first axis points down, as KUKA counts it.
    down = np.diag([1.0, -1.0, -1.0, 1.0])
    return armdyn.Arm.from_dh(rows, convention="standard", name="kr300", base_pose=down)


@pytest.mark.filterwarnings("ignore::armdyn.errors.ArmdynWarning")  # usable with care
@pytest.mark.slow
def test_kr300_from_motor_torques(shared):
    """An industrial arm with a hydraulic balancer: its maker's model is 20 % off, plain fits 15 to 18 %."""
    arm = kr300()
    ratios = [256.857, 267.429, 252.333, 221, 239.619, 154.323]
    offset = np.radians([0, -90, 90, 0, 0, 0])
    log = armdyn.read_log(shared / "data/kr300/kr300_A.npz", arm, drive_gain=ratios, offset=offset)
    assert any("unit deg by its name" in note for note in log.notes)
    fit = armdyn.identify(arm, log)
    assert fit.arm.is_physical
    assert fit.rel_error < 0.15
