"""Order and signs of columns, told without any known inertia."""

from __future__ import annotations

import dataclasses
from itertools import combinations, pairwise

import numpy as np
import pytest

import armdyn
from armdyn.identification.logs.log import Log


def bare(arm):
    """Nothing but geometry."""
    joints = [dataclasses.replace(j, friction=armdyn.Friction(), drive=armdyn.Drive()) for j in arm.joints]
    return arm.with_theta(np.full(10 * arm.n, np.nan)).with_joints(joints)


def refusals(arm, log: Log) -> list[str]:
    return [f.text for f in armdyn.check_log(arm, log).findings if f.level == "refuse"]


def exchanged(x: np.ndarray, i: int, j: int) -> np.ndarray:
    order = np.arange(x.shape[1])
    order[[i, j]] = j, i
    return x[:, order]


@pytest.fixture(scope="module")
def log(puma, make_log):
    return make_log(puma)


PAIRS = [(0, 1), (1, 2), (3, 4), (4, 5), (1, 5)]


@pytest.mark.parametrize("column", ["tau", "q"])
def test_exchanged_columns(puma, log, column):
    arm = bare(puma)
    assert refusals(arm, log) == []
    for i, j in PAIRS:
        (said,) = refusals(arm, dataclasses.replace(log, **{column: exchanged(getattr(log, column), i, j)}))
        what = "torques" if column == "tau" else "positions"
        what = what if i < 3 else "torques or positions"  # of the wrist little but friction is felt
        assert said.startswith(f"{what} of joints {i + 1}, {j + 1} leave up to "), said
        assert said.endswith(f"in the order {j + 1}, {i + 1}: columns shuffled?"), said


@pytest.mark.parametrize("column", ["tau", "q"])
def test_reversed_signs(puma, log, column):
    """Friction brakes; it needs no description."""
    for j in range(6):
        x = getattr(log, column) * np.where(np.arange(6) == j, -1, 1)
        (said,) = refusals(bare(puma), dataclasses.replace(log, **{column: x}))
        assert f"torque of joint {j + 1} 'joint{j + 1}'" in said
        assert said.endswith("sign of its torque or position reversed, or another arm?")
    assert len(refusals(bare(puma), dataclasses.replace(log, tau=-log.tau))) == 6


def test_another_order_altogether(puma, log):
    (said,) = refusals(bare(puma), dataclasses.replace(log, tau=log.tau[:, ::-1]))
    assert "torques of joints 1, 2, 3, 4, 5, 6" in said
    assert "in the order 6, 5, 4, 3, 2, 1: columns shuffled?" in said
    (said,) = refusals(bare(puma), dataclasses.replace(log, tau=log.tau[:, [1, 2, 0, 3, 4, 5]]))
    assert "torques of joints 1, 2, 3 leave" in said


@pytest.mark.parametrize("name", ["stanford", "panda", "scara"])
def test_good_logs_of_other_arms(name, make_log):
    """Neither sliding joints nor light wrists nor much friction raise a suspicion."""
    plain = getattr(armdyn.arms, name)()
    for friction in (armdyn.Friction(), armdyn.Friction(2.0, 3.0, 0.2), armdyn.Friction(20.0, 40.0)):
        arm = plain.with_joints(
            [dataclasses.replace(j, friction=friction, limits=armdyn.Limits()) for j in plain.joints]
        )
        log = make_log(arm, duration=10.0, noise=0.5, amplitude=0.4)
        assert refusals(bare(arm), log) == []


def test_poses_held_still_are_not_judged_by_stiction(puma):
    rng = np.random.default_rng(0)
    s = np.linspace(0, 1, 80)[:, None]
    poses = rng.uniform(-1, 1, (15, 6))
    moves = [a + (b - a) * (10 * s**3 - 15 * s**4 + 6 * s**5) for a, b in pairwise(poses)]
    q = np.concatenate([np.concatenate([move, np.tile(move[-1], (80, 1))]) for move in moves])
    qd = np.gradient(q, 0.01, axis=0)
    tau = armdyn.joint_torque(puma, q, qd, np.gradient(qd, 0.01, axis=0))
    held = np.repeat(rng.uniform(-5, 5, (14, 6)), 160, axis=0)  # what dry friction holds in each pose
    tau = np.where(np.abs(qd) < 1e-9, tau + held, tau) + 0.3 * rng.normal(size=q.shape)
    assert refusals(bare(puma), Log(np.arange(len(q)) / 100, q, tau)) == []


def test_too_few_samples_tell_nothing(puma, make_log):
    """Parameters enough to explain anything: nothing is said."""
    log = make_log(puma, duration=1.0, rate=60.0)
    spoiled = dataclasses.replace(log, tau=exchanged(log.tau, 1, 2))
    assert not any("shuffled" in said for said in refusals(bare(puma), spoiled))


def test_all_pairs_of_measured_logs(shared):
    """On real logs every exchange of torques that matters is found (the wrist of the LWR4 is mostly noise)."""
    arm = armdyn.load(shared / "models/ur/ur10_robot.urdf")
    log = armdyn.read_log(shared / "data/ur10_unisa/ur10_exciting_trajectory.npz", arm)
    for i, j in combinations(range(6), 2):
        for column in ("tau", "q"):
            spoiled = dataclasses.replace(log, qd=None, **{column: exchanged(getattr(log, column), i, j)})
            assert any("shuffled" in said for said in refusals(bare(arm), spoiled))
