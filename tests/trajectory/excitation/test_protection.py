"""Exciting motions spare the robot: by default, judged by others, and say what nobody checked."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Inertia
from armdyn.errors import ArmdynError, LimitError
from armdyn.model.joint import Friction
from armdyn.shapes.bodies import bodies_of
from armdyn.shapes.obstacles import mounting_plane
from armdyn.trajectory.excitation.clearance import Clearance
from armdyn.trajectory.excitation.guarantees import omissions
from armdyn.trajectory.excitation.options import ProtectionOptions
from armdyn.trajectory.excitation.protection import protect
from armdyn.trajectory.fourier import FourierSeries
from armdyn.trajectory.motion_limits import MotionLimits

SHARED = Path(__file__).parents[4] / "shared" / "models"
ARMS = {
    "ur10": SHARED / "ur" / "ur10_robot.urdf",
    "panda": None,
    "iiwa14": None,
    "puma560": None,
    "lwr4": SHARED / "kuka_lwr4" / "kuka_lwr4_centroepiaggio.urdf",
}
RATE = 10_000


def described(name):
    path = ARMS[name]
    return armdyn.load(path) if path is not None and path.exists() else getattr(armdyn.arms, name)()


def judged(arm, q, qd, qdd):
    """Pinocchio's link poses (N, n + 1, 4, 4), the base first, and torques (N, n) of the whole model."""
    pin = pytest.importorskip("pinocchio")
    model = armdyn.to_pinocchio(arm)
    data = model.createData()
    poses, tau = np.empty((len(q), arm.n + 1, 4, 4)), np.empty_like(q)
    poses[:, 0] = arm.base_pose
    for k, state in enumerate(zip(q, qd, qdd, strict=True)):
        tau[k] = pin.rnea(model, data, *state)
        pin.forwardKinematics(model, data, state[0])
        for i in range(arm.n):
            poses[k, i + 1] = data.oMi[i + 1].homogeneous
    poses[:, 1:] = poses[:, 1:] @ np.array([joint.after for joint in arm.joints])
    return poses, tau + armdyn.friction_torque(arm, q, qd) + armdyn.drive_torque(arm, q, qd, qdd)


def placed(one, poses):
    """Centre, rotation and half axis of a capsule at every moment."""
    T = poses[:, one.link]
    a, b = (T[:, :3, :3] @ end + T[:, :3, 3] for end in (one.a, one.b))
    z = b - a if np.linalg.norm(one.b - one.a) > 1e-9 else T[:, :3, 2]
    z = z / np.linalg.norm(z, axis=1, keepdims=True)
    x = np.cross(z, T[:, :3, 0])
    flat = np.linalg.norm(x, axis=1) < 0.1
    x[flat] = np.cross(z[flat], T[flat, :3, 1])
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return np.stack([x, np.cross(z, x), z], axis=-1), (a + b) / 2


def least_gap(one, two, poses):
    """Least distance of two capsules by coal: each millisecond, and where that is small at every sample."""
    coal = pytest.importorskip("coal")
    shapes = [coal.Capsule(c.radius, float(np.linalg.norm(c.b - c.a))) for c in (one, two)]
    places = [placed(c, poses) for c in (one, two)]
    request, result = coal.DistanceRequest(), coal.DistanceResult()

    def gap(k):
        result.clear()
        frames = [coal.Transform3s(R[k], p[k]) for R, p in places]
        return coal.distance(shapes[0], frames[0], shapes[1], frames[1], request, result)

    coarse = np.array([gap(k) for k in range(0, len(poses), 10)])
    # Half a millisecond at 8 m/s, which no pair of links reaches, are 4 mm.
    near = [k for c in np.flatnonzero(coarse < 0.004) for k in range(max(0, 10 * c - 5), min(len(poses), 10 * c + 6))]
    return min([coarse.min(), *(gap(k) for k in near)])


def check_at_10_khz(arm, found):
    """An independent judge: Pinocchio's kinematics and torques, floor and pairs written here, coal's distances."""
    t = np.linspace(0.0, found.trajectory.duration, round(RATE * found.trajectory.duration) + 1)
    q, qd, qdd = found.trajectory(t)
    limits = [joint.limits for joint in arm.joints]
    assert ((q >= [x.lower for x in limits]) & (q <= [x.upper for x in limits])).all()
    assert (np.abs(qd) <= [x.velocity for x in limits]).all()
    assert (np.abs(qdd) <= 8.0 + 1e-9).all()
    poses, tau = judged(arm, q, qd, qdd)
    assert (np.abs(tau) <= [x.effort if x.effort > 0 else np.inf for x in limits]).all()
    bodies = bodies_of(arm)
    capsules = bodies.capsules
    *normal, offset = arm.mounting_plane
    for one in capsules:
        for end in (one.a, one.b) if one.link >= 2 else ():
            T = poses[:, one.link]
            assert ((T[:, :3, :3] @ end + T[:, :3, 3]) @ normal - one.radius).min() >= offset
    left_out = found.protection.clearance.left_out
    with_body = sorted({0, *bodies.link.tolist()})
    pairs = [
        (one, two)
        for one in capsules
        for two in capsules
        if with_body.index(two.link) - with_body.index(one.link) >= 2 and (one.name, two.name) not in left_out
    ]
    assert pairs
    assert all(least_gap(one, two, poses) > 0 for one, two in pairs)


@pytest.mark.parametrize("name", ["panda"])
def test_default_motions_pass_an_independent_check(name):
    arm = getattr(armdyn.arms, name)()
    found = armdyn.excite(arm, 10.0, max_acceleration=8.0, steps=200)
    check_at_10_khz(arm, found)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["puma560", "ur10", "iiwa14", "lwr4"])
def test_more_default_motions_pass_an_independent_check(name):
    arm = described(name)
    found = armdyn.excite(arm, 10.0, max_acceleration=8.0, time_budget=40)
    check_at_10_khz(arm, found)


def test_a_free_motion_goes_through_the_floor_and_says_so():
    arm = armdyn.arms.ur10()
    options = {"floor": False, "self_collision": False, "max_torque": False, "margin": 0.0}
    found = armdyn.excite(arm, 10.0, max_acceleration=8.0, time_budget=4, **options)
    assert found.constraints == ()
    said = "; ".join(found.unchecked)
    for what in ("torques (switched off)", "the floor (switched off)", "collisions of links with each other (switched"):
        assert what in said
    assert re.fullmatch(r"lowest point \d+ mm above the floor|lowest point [\d.]+ m below the origin.*", found.lowest)
    np.testing.assert_allclose(found.limits.velocity, [joint.limits.velocity for joint in arm.joints])


def resting(arm, margin=0.05, **options):
    """Guarantees of an arm that stands still in the middle of its ranges."""
    limits = MotionLimits.of(arm, acceleration=8.0, velocity=2.0)
    still = FourierSeries(np.column_stack([limits.center, np.zeros((arm.n, 2))]), 0.5, 2.0)
    return protect(arm, ProtectionOptions.of(margin=margin, **options)).guarantees(still, limits)


def unchecked(arm, **options):
    return omissions(resting(arm, **options))


def test_what_is_not_checked_is_said():
    said = unchecked(armdyn.arms.sarcos())
    assert any("nothing says where this arm is mounted" in line for line in said)
    blind = armdyn.arms.panda().with_theta(np.full(70, np.nan))
    assert "torques (the arm's inertia is unknown)" in unchecked(blind)
    kept = [str(one) for one in resting(armdyn.arms.panda(), margin=0.1)]
    assert "torques of the present model 10% below the arm's limits" in kept
    planar = resting(armdyn.arms.planar2(), floor=-3.0)
    # It moves in a vertical plane.
    assert any(re.match(r"link2 at least \d+ mm off the wall", str(one)) for one in planar)
    assert any("all links are neighbours" in line for line in omissions(planar))
    assert any("no obstacles specified" in line for line in omissions(planar))


def test_torques_by_a_model_that_looks_invented_are_said_to_be_so():
    """Limits of torque that a placeholder vouches for are worth little."""
    arm = armdyn.arms.ur10()
    balls = [replace(link, inertia=Inertia.from_com(3.0, (0, 0, 0), 0.01 * np.eye(3))) for link in arm.links]
    bare = [replace(joint, friction=Friction()) for joint in arm.joints]
    said = "; ".join(unchecked(replace(arm, links=tuple(balls), joints=tuple(bare))))
    assert "the inertia that torques were computed with (" in said
    assert "a placeholder?" in said
    assert "torques of friction (the model has none)" in said
    rough = [replace(joint, friction=Friction(viscous=5.0 + i)) for i, joint in enumerate(arm.joints)]
    assert "friction" not in "; ".join(unchecked(arm.with_joints(rough)))


def test_bad_shapes_that_always_overlap_are_named_and_left_out():
    arm = armdyn.arms.panda()
    fat = Clearance(bodies_of(arm, 0.6), (mounting_plane(arm),))
    assert ("panda_link2", "panda_link6") in fat.left_out
    assert ("panda_link2", "floor") in fat.left_out
    assert "(their shapes touch in nearly all poses)" in "".join(unchecked(arm, radius=0.6))


def test_a_floor_that_no_pose_keeps_is_an_error_with_the_pose():
    with raises(LimitError, cause=re.compile(r"q = .* misses the clearance between panda_link\d and the floor by")):
        armdyn.excite(armdyn.arms.panda(), 8.0, max_acceleration=8.0, floor=2.0, time_budget=5)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"floor": "low"}, {"where": "floor", "expected": "a height in metres", "got": "'low'"}),
        ({"floor": np.nan}, {"where": "floor", "expected": "a height in metres"}),
        ({"margin": 1.0}, {"expected": "margin from 0 to below 1"}),
        ({"obstacles": 3}, {"where": "obstacles", "expected": "a file, or boxes, half-spaces and spheres"}),
        ({"obstacles": "absent.toml"}, {"where": "absent.toml", "cause": "no such file"}),
        (
            {"max_torque": True},
            {
                "cause": (
                    "torque limits: none, or zero, for joint 1 'joint1', joint 2 'joint2', joint 3 "
                    "'joint3', joint 4 'joint4', joint 5 'joint5', joint 6 'joint6', joint 7 "
                    "'joint7'"
                )
            },
        ),
    ],
)
def test_bad_settings_are_rejected(options, parts):
    arm = armdyn.arms.panda() if "max_torque" not in options else armdyn.arms.sarcos()
    with raises(ArmdynError, **parts):
        armdyn.excite(arm, 8.0, max_acceleration=8.0, max_velocity=2.0, time_budget=5, **options)


def test_the_bound_between_samples_holds_and_is_tight():
    arm = armdyn.arms.panda()
    clearance = Clearance(bodies_of(arm), (mounting_plane(arm),))
    limits = MotionLimits.of(arm, acceleration=8.0)
    rng = np.random.default_rng(3)
    for _ in range(5):
        coefficients = 0.2 * rng.normal(size=(7, 7))
        coefficients[:, 0] = limits.center
        motion = FourierSeries(coefficients, 0.2, 5.0)
        bound = clearance.least(motion, limits)
        fine = clearance.slack((motion(np.linspace(0, 5, 50_001)).q,) * 3).min()
        assert bound <= fine
        # It falls short by what a link moves in a millisecond; where nothing is near the bound need not be finer.
        assert fine - bound < 0.004 or bound > 0


@pytest.mark.slow
@pytest.mark.usefixtures("shared")
def test_the_shapes_of_a_urdf_themselves_keep_apart():
    pin, coal = pytest.importorskip("pinocchio"), pytest.importorskip("coal")
    path = str(ARMS["lwr4"])
    arm = armdyn.load(path)
    found = armdyn.excite(arm, 10.0, max_acceleration=8.0, time_budget=40)
    model = pin.buildModelFromUrdf(path)
    data, shapes = model.createData(), pin.buildGeomFromUrdf(model, path, pin.GeometryType.COLLISION)
    placed = shapes.createData()
    objects = list(shapes.geometryObjects)
    pairs = [
        (a, b)
        for a, one in enumerate(objects)
        for b, two in enumerate(objects)
        if two.parentJoint - one.parentJoint >= 2
    ]
    assert found.protection.clearance.left_out == (("lwr_5_link", "lwr_7_link"),)
    for q in found.trajectory(np.linspace(0, 10, 2001)).q:
        pin.updateGeometryPlacements(model, data, shapes, placed, q)
        for a, b in pairs:
            if {objects[a].parentJoint, objects[b].parentJoint} == {5, 7}:
                continue
            hit = coal.collide(
                objects[a].geometry, placed.oMg[a], objects[b].geometry, placed.oMg[b], coal.CollisionRequest(),
                coal.CollisionResult(),
            )  # fmt: skip
            assert not hit
