"""Order and signs of columns, found without any known inertia."""

from __future__ import annotations

import dataclasses
import json
from itertools import pairwise

import numpy as np
import pytest

import armdyn
from armdyn.identification import Finding
from armdyn.identification.logs.corrections import ColumnOrder, LogCorrection
from armdyn.identification.logs.log import Log, LogFormat
from armdyn.report.options import remedy


def bare(arm):
    """Nothing but geometry."""
    joints = [dataclasses.replace(j, friction=armdyn.Friction(), drive=armdyn.Drive()) for j in arm.joints]
    return arm.with_theta(np.full(10 * arm.n, np.nan)).with_joints(joints)


def rejections(arm, log: Log) -> list[Finding]:
    return [f for f in armdyn.check_log(arm, log).findings if f.level == "reject"]


def doubts(arm, log: Log) -> list[Finding]:
    return [f for f in armdyn.check_log(arm, log).findings if f.level != "note"]


def exchanged(x: np.ndarray, i: int, j: int) -> np.ndarray:
    order = np.arange(x.shape[1])
    order[[i, j]] = j, i
    return x[:, order]


@pytest.fixture(scope="module")
def log(puma, make_log):
    return make_log(puma)


@pytest.mark.parametrize("column", ["tau", "q"])
@pytest.mark.parametrize(
    "pairs",
    [
        pytest.param([(0, 1), (1, 2), (4, 5)], id="few"),
        pytest.param([(3, 4), (1, 5), (0, 5), (2, 3)], id="others", marks=pytest.mark.slow),
    ],
)
def test_exchanged_columns(puma, log, column, pairs):
    arm = bare(puma)
    assert rejections(arm, log) == []
    for i, j in pairs:
        (f,) = doubts(arm, dataclasses.replace(log, **{column: exchanged(getattr(log, column), i, j)}))
        order = tuple(exchanged(np.arange(6)[None], i, j)[0])
        # Of the wrist little but friction shows: there either column may be the wrong one.
        orders = {"tau": f.correction.order.torques, "q": f.correction.order.positions}
        assert (f.kind, f.joints) == ("exchange", (i, j))
        assert order in ((orders[column],) if i < 3 else orders.values())


def test_both_exchanged(puma, log):
    for i, j in ((0, 1), (1, 2), (2, 3)):
        spoiled = dataclasses.replace(log, q=exchanged(log.q, i, j), tau=exchanged(log.tau, i, j), qd=None)
        (f,) = rejections(bare(puma), spoiled)
        order = tuple(exchanged(np.arange(6)[None], i, j)[0])
        assert f.correction == LogCorrection(ColumnOrder(order, order))


def test_the_remedy_of_exchanged_joints_names_all_their_columns(puma, log):
    """Velocities too, where the log has some."""
    moving = dataclasses.replace(log, qd=np.gradient(log.q, log.t, axis=0))
    exchanged_all = {name: exchanged(getattr(moving, name), 1, 2) for name in ("q", "qd", "tau")}
    for spoiled, roles in (
        (dataclasses.replace(moving, **exchanged_all), ("q", "qd", "tau")),
        (dataclasses.replace(moving, **exchanged_all | {"qd": None}), ("q", "tau")),
    ):
        (found,) = (f for f in armdyn.check_log(bare(puma), spoiled).findings if f.level == "reject")
        assert found.correction == LogCorrection(ColumnOrder((0, 2, 1, 3, 4, 5), (0, 2, 1, 3, 4, 5)))
        assert armdyn.check_log(bare(puma), spoiled.corrected(found.correction)).ok
        named = " ".join(f"--columns {role}=NAME,.." for role in roles)
        assert remedy(puma, found, spoiled) == f"{named} with the log's columns in the order 1, 3, 2, 4, 5, 6"


@pytest.mark.parametrize("column", ["tau", "q"])
def test_reversed_signs(puma, log, column):
    """Links that others share, or friction that brakes, tell: it needs no description."""
    for j in range(6):
        x = getattr(log, column) * np.where(np.arange(6) == j, -1, 1)
        (f,) = doubts(bare(puma), dataclasses.replace(log, **{column: x}))
        assert (f.kind, f.joints) == ("sign", (j,))
    (f,) = rejections(bare(puma), dataclasses.replace(log, tau=-log.tau))
    assert (f.kind, f.joints) == ("sign", tuple(range(6)))
    assert "of all joints" in f.text


def signs(arm, log: Log) -> list[tuple[int, ...]]:
    """Joints whose sign is said to be reversed."""
    return [f.joints for f in armdyn.check_log(arm, log).findings if f.kind == "sign"]


def test_friction_that_falls_with_speed_is_no_reversed_sign(puma, log):
    """Currents may have a part that does no work: a reversed sign would turn the jump at standstill as well."""
    qd = np.gradient(log.q, log.t, axis=0)
    slow = dataclasses.replace(log, tau=log.tau - 4.0 * qd * (np.arange(6) >= 4))
    findings = armdyn.check_log(bare(puma), slow).findings
    assert not any(f.level == "reject" for f in findings)
    warned = {f.joints: f.text for f in findings if f.kind == "friction"}
    assert set(warned) == {(4,), (5,)}
    # Both numbers, by which a reader can judge.
    assert all("brakes slow motion (+" in text and "drives usual motion (-" in text for text in warned.values())


def test_joints_that_are_held_are_no_witnesses_of_signs(puma, make_log):
    """A held joint gives way against the torque that its controller exerts, as if friction drove it."""
    moved = make_log(puma, motion=3)
    held = np.arange(6) > 1
    q = np.where(held, 0.3, moved.q)
    qd = np.gradient(q, moved.t, axis=0)
    tau = armdyn.joint_torque(puma, q, qd, np.gradient(qd, moved.t, axis=0))
    tau += 0.3 * np.random.default_rng(1).normal(size=tau.shape)
    # The compliance of a position loop: motion along the torque of the others, so that v tau < 0 of the drive.
    sway = np.where(held, -2e-4 * (tau - tau.mean(axis=0)), 0.0)
    assert signs(bare(puma), dataclasses.replace(moved, q=q + sway, tau=tau)) == []


@pytest.mark.parametrize("reversed_joints", [(0, 1, 2, 4, 5), (1, 2), (0, 3, 4)])
def test_sets_of_joints_with_reversed_torques(puma, log, reversed_joints):
    side = np.where(np.isin(np.arange(6), reversed_joints), -1.0, 1.0)
    assert signs(bare(puma), dataclasses.replace(log, tau=log.tau * side)) == [reversed_joints]


def test_slow_cobot_with_odd_currents(shared):
    """Real logs whose wrist currents jump with the right sign and fall with speed."""
    data = json.loads((shared / "data" / "shelectric" / "shelectric.json").read_text())
    arm = armdyn.Arm.from_dh(data["rows"], convention=data["convention"], gravity=data["gravity"])
    for k in (1, 2, 3):
        z = np.load(shared / "data" / "shelectric" / f"shelectric_{k}.npz")
        real = Log(z["t"], z["q"].astype(float), z["tau"].astype(float), name=f"shelectric {k}")
        assert rejections(arm, real) == []


def turned(log: Log, j: int) -> Log:
    """The log of an arm whose description has the axis of one joint the other way round."""
    side = np.where(np.arange(log.n) == j, -1, 1)
    return dataclasses.replace(log, q=log.q * side, tau=log.tau * side)


def test_a_joint_that_turns_the_other_way(puma, log):
    """The remedy is the sign of its gear: of the user's own where there is one."""
    for j in (1, 2):
        (found,) = (f for f in armdyn.check_log(bare(puma), turned(log, j)).findings if f.level != "note")
        assert (found.kind, found.joints) == ("sign", (j,))
        assert found.text.endswith("is the axis described the other way round?")
        assert found.correction == LogCorrection(gear_ratio=[-1 if k == j else 1 for k in range(6)])
    geared = dataclasses.replace(turned(log, 1), format=LogFormat(gear_ratio=(100, 100, 80, 50, 50, 50)))
    (found,) = (f for f in armdyn.check_log(bare(puma), geared).findings if f.level == "reject")
    assert remedy(puma, found, geared) == "--gear-ratio 100,-100,80,50,50,50"


def test_of_two_parallel_joints_the_description_tells_which_turns_the_other_way(two, make_log):
    """Without inertias one is the mirror image of the other."""
    log = make_log(two, noise=0.05)
    for j in range(2):
        (found,) = (f for f in armdyn.check_log(two, turned(log, j)).findings if f.level != "note")
        assert found.correction == LogCorrection(gear_ratio=((-1, 1), (1, -1))[j])


def test_another_order_altogether(puma, log):
    for order in ([5, 4, 3, 2, 1, 0], [1, 2, 0, 3, 4, 5]):
        (f,) = rejections(bare(puma), dataclasses.replace(log, tau=log.tau[:, order]))
        assert f.correction == LogCorrection(ColumnOrder(torques=np.argsort(order)))


def test_mounted_otherwise(puma, log):
    wall = dataclasses.replace(bare(puma), gravity=np.array([0.0, 9.81, 0.0]))
    down = LogCorrection(gravity=(0.0, 0.0, -9.81))
    (f,) = rejections(wall, log)
    assert (f.kind, f.correction) == ("gravity", down)
    # Upside down, negative bodies explain gravity, and only the inertia tells.
    hung = dataclasses.replace(bare(puma), gravity=-np.asarray(puma.gravity))
    (f,) = rejections(hung, log)
    assert (f.kind, f.correction) == ("gravity", down)


@pytest.mark.parametrize("name", ["stanford", "panda", "scara"])
@pytest.mark.by_day(1)
def test_good_logs_of_other_arms(name, make_log):
    """Neither sliding joints nor light wrists nor much friction raise a suspicion."""
    plain = getattr(armdyn.arms, name)()
    for friction in (armdyn.Friction(), armdyn.Friction(2.0, 3.0, 0.2), armdyn.Friction(20.0, 40.0)):
        arm = plain.with_joints(
            [dataclasses.replace(j, friction=friction, limits=armdyn.Limits()) for j in plain.joints]
        )
        log = make_log(arm, duration=10.0, noise=0.5, amplitude=0.4)
        assert rejections(bare(arm), log) == []


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
    assert rejections(bare(puma), Log(np.arange(len(q)) / 100, q, tau)) == []


def test_too_few_samples_tell_nothing(puma, make_log):
    """Parameters enough to explain anything: nothing is said."""
    log = make_log(puma, duration=1.0, rate=60.0)
    spoiled = dataclasses.replace(log, tau=exchanged(log.tau, 1, 2))
    assert not any(f.kind == "exchange" for f in rejections(bare(puma), spoiled))


@pytest.mark.parametrize(
    "pairs",
    [
        pytest.param([(1, 2), (0, 3)], id="few"),
        pytest.param([(0, 1), (2, 3), (3, 4), (4, 5), (1, 5)], id="others", marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_pairs_of_a_measured_log(shared, pairs):
    """On real logs exchanges are found."""
    arm = armdyn.load(shared / "models/ur/ur10_robot.urdf")
    log = armdyn.read_log(shared / "data/ur10_unisa/ur10_exciting_trajectory.npz", arm)
    for i, j in pairs:
        for column in ("tau", "q"):
            spoiled = dataclasses.replace(log, qd=None, **{column: exchanged(getattr(log, column), i, j)})
            assert any(f.kind == "exchange" for f in rejections(bare(arm), spoiled))
