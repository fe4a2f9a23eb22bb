"""Contact and end stops: energy, closed forms, MuJoCo as a judge, batches, and what is rejected."""

import dataclasses
import re

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from tests.raising import raises

from armdyn import Arm, Inertia, Joint, Link, Plant, forward_kinematics, link_poses, simulate
from armdyn.control.laws.pd import PD
from armdyn.errors import ModelError
from armdyn.shapes.obstacles import Box, HalfSpace, Sphere
from armdyn.simulation.plant.contact import Contact, EndStops, surface_force, wrench_at_tip
from armdyn.spatial.rotation import from_axis_angle
from armdyn.spatial.transform import transform

FLOOR = HalfSpace(np.array([0.0, 0.0, 1.0]), 0.0)
UP, SIDE = np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0])
NO_GRAVITY = (0.0, 0.0, 0.0)


def blocks(axes, masses, gravity=NO_GRAVITY):
    """Blocks that slide on each other along axes."""
    joints = tuple(Joint(f"slide{i}", "prismatic", np.array(axis)) for i, axis in enumerate(axes))
    links = tuple(Link(f"block{i}", Inertia.from_com(m, (0, 0, 0), 0.01 * np.eye(3))) for i, m in enumerate(masses))
    return Arm(joints, links, gravity=np.array(gravity), name="slider")


def slider(gravity=NO_GRAVITY):
    """A block of 2 kg that moves along the base's z."""
    return blocks([UP], [2.0], gravity)


def free(arm):
    return PD(arm, 0.0, 0.0)


def run(arm, q0, qd0, duration, contact=None, rate=4000, **options):
    plant = Plant(arm, friction=False, drive=False, contact=contact, **options)
    return simulate(plant, free(arm), np.zeros(arm.n), duration, rate, q0=q0, qd0=qd0, check=False)


def test_without_damping_an_impact_gives_all_energy_back():
    """In through the spring and out again: half a period of the mass on it, and the velocity turned about."""
    arm = slider()
    result = run(arm, [0.05], [-1.0], 0.2, Contact([FLOOR], stiffness=2e4, damping=0.0))
    assert result.qd[-1, 0] == pytest.approx(1.0, rel=1e-6)
    touching = result.states["contact"][:, 0, 2] > 0
    assert touching.sum() / 4000 == pytest.approx(np.pi * np.sqrt(2.0 / 2e4), abs=2 / 4000)
    assert -result.q.min() == pytest.approx(np.sqrt(2.0 / 2e4), rel=1e-4)  # m v² = k d²


def test_what_an_impact_loses_is_what_damping_took():
    """Energy before less energy after is the work of the damping part, here by SciPy on the formula of the page."""
    arm, k, c = slider(), 1e4, 0.5
    result = run(arm, [0.02], [-0.8], 0.15, Contact([FLOOR], k, c))

    def rates(t, y):
        depth, into = max(-y[0], 0.0), -y[1]
        spring = k * depth
        force = spring * max(1 + c * into, 0.0)
        return [y[1], force / 2.0, (force - spring) * into]

    found = solve_ivp(rates, (0, 0.15), [0.02, -0.8, 0.0], "DOP853", rtol=1e-11, atol=1e-13, max_step=1e-3)
    assert result.qd[-1, 0] == pytest.approx(found.y[1, -1], rel=1e-6)
    assert 0.8**2 - result.qd[-1, 0] ** 2 == pytest.approx(found.y[2, -1], rel=1e-5)  # m = 2
    assert result.qd[-1, 0] == pytest.approx(0.8 * (1 - 2 * c * 0.8 / 3), rel=0.1)


BLOCK = Box(np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, -0.5], [0, 0, 0, 1]]), np.ones(3))


@pytest.mark.parametrize("surface", [FLOOR, BLOCK, Sphere(np.array([0.0, 0, -0.5]), 0.5)])
def test_a_weight_rests_where_the_spring_bears_it(surface):
    arm = slider(gravity=(0, 0, -9.81))
    law = PD(arm, 0.0, 100.0)
    plant = Plant(arm, friction=False, contact=Contact([surface], 1e4))
    result = simulate(plant, law, [0.0], 1.5, 1000, q0=[0.01], qd0=[0.0], check=False)
    assert result.q[-1, 0] == pytest.approx(-2.0 * 9.81 / 1e4, rel=1e-4)
    assert result.states["contact"][-1, 0] == pytest.approx([0, 0, 2.0 * 9.81], rel=1e-4)


def test_a_surface_never_pulls():
    """Out of the ground faster than 1 / damping: no force at all, where the damper alone would hold the block back."""
    result = run(slider(), [-0.01], [3.0], 0.01, Contact([FLOOR], 1e4, damping=1.0))
    assert (result.states["contact"][..., 2] >= 0).all()
    assert np.allclose(result.qd, 3.0, rtol=1e-12)


def test_the_moment_at_the_tip_is_lever_times_force(random_arm):
    """Of a point beyond the wrist; of points before it the wrist feels nothing."""
    arm, rng = random_arm("RRR", seed=3), np.random.default_rng(0)
    q, place, force = rng.normal(size=(3, 3))
    T, links = forward_kinematics(arm, q), link_poses(arm, q)
    for link, pose in ((None, T), (2, links[2])):
        found = np.array(ca.evalf(wrench_at_tip(arm, ca.SX(q), [(link, ca.SX(place), ca.SX(force))]))).ravel()
        lever = pose[:3, :3] @ place + pose[:3, 3] - T[:3, 3]
        assert np.allclose(found, [*force, *np.cross(lever, force)], rtol=1e-12)
    assert not np.array(ca.evalf(wrench_at_tip(arm, ca.SX(q), [(1, ca.SX(place), ca.SX(force))]))).any()


def test_friction_brakes_a_sliding_block_as_coulomb_says():
    """A force of 20 N down, coefficient 0.3, 2 kg from 1 m/s: 3 m/s², until it creeps."""
    arm = blocks([UP, SIDE], [1.0, 2.0])
    plant = Plant(arm, friction=False, drive=False, contact=Contact([FLOOR], 1e4, 1.0, friction=0.3, slip=1e-3))
    push = lambda t, q, qd, ref: [-20.0 - 200 * qd[0], 0.0]  # noqa: E731
    result = simulate(plant, push, [0.0, 0.0], 0.2, 2000, q0=[-20.0 / 1e4, 0.0], qd0=[0.0, 1.0])
    assert result.qd[-1, 1] == pytest.approx(1.0 - 3.0 * 0.2, abs=2e-3)


def force(obstacle, p, v, stiffness=1e4, damping=0.5, friction=0.3, slip=0.01):
    """On a point at p that moves with v."""
    contact = Contact([obstacle], stiffness, damping, friction, slip)
    (kind,), (row,) = contact.kinds, contact.rows
    return np.array(ca.evalf(surface_force(kind, ca.SX(row), ca.SX(p), ca.SX(v)))).ravel()


def test_friction_acts_along_the_surface():
    """The formula of the page for a point that slides and presses at once."""
    v, pressed = np.array([0.3, -0.4, -0.2]), 1e4 * 1e-3 * (1 + 0.5 * 0.2)
    sliding = 0.3 * pressed * v[:2] / np.sqrt(0.25 + 1e-4)
    assert np.allclose(force(FLOOR, [0.0, 0.0, -1e-3], v), [*-sliding, pressed], rtol=1e-12)


def test_a_turned_box_pushes_along_its_own_axes():
    """Out of the nearest wall, one with an edge turned by 30 degrees about z and 20 about x."""
    R = from_axis_angle([0, 0, 1], np.pi / 6) @ from_axis_angle([1, 0, 0], np.pi / 9)
    centre, size = np.array([0.1, -0.2, 0.3]), np.array([0.4, 0.6, 0.8])
    box = Box(transform(R, centre), size)
    for axis, sign in ((0, 1), (1, -1), (2, 1)):
        local = np.array([0.02, 0.03, 0.04])
        local[axis] = sign * (size[axis] / 2 - 1e-3)
        assert np.allclose(force(box, centre + R @ local, np.zeros(3)), sign * 10.0 * R[:, axis], rtol=1e-9, atol=1e-9)
        assert not force(box, centre + R @ (3 * local), np.zeros(3)).any()


def test_end_stops_hold_a_joint_and_give_energy_back():
    arm = slider()
    joint = dataclasses.replace(arm.joints[0], limits=dataclasses.replace(arm.joints[0].limits, lower=-0.1, upper=0.1))
    arm = arm.with_joints([joint])
    for direction in (1.0, -1.0):
        result = run(arm, [0.0], [direction], 0.3, stops=EndStops(2e4, 0.0))
        assert result.qd[-1, 0] == pytest.approx(-direction, rel=1e-6)
        assert np.abs(result.q).max() == pytest.approx(0.1 + np.sqrt(2.0 / 2e4), rel=1e-4)
    with raises(ModelError, where="Plant: stops", cause="arm 'slider' has no position limits"):
        Plant(slider(), stops=True)


def test_both_end_stops_take_the_same_energy():
    """Motion turned about is motion turned about; an impact comes back with about v (1 - 2 damping v / 3)."""
    arm = slider()
    joint = dataclasses.replace(arm.joints[0], limits=dataclasses.replace(arm.joints[0].limits, lower=-0.1, upper=0.1))
    arm = arm.with_joints([joint])
    up, down = (run(arm, [0.0], [sign], 0.3, stops=EndStops(2e4, 0.3)) for sign in (1.0, -1.0))
    assert np.allclose(up.q, -down.q, rtol=0, atol=1e-12)
    assert up.qd[-1, 0] == pytest.approx(-(1 - 2 * 0.3 / 3), rel=0.1)


def test_all_loops_agree_and_batches_are_their_runs(planar):
    """Compiled, Python, adaptive and batched: two joints, a wall beside the tip, an elbow that touches too."""
    wall = HalfSpace(np.array([-1.0, 0.0, 0.0]), -0.65)
    contact = Contact([wall], 5e3, 0.5, 0.2, points={"tip": (None, (0, 0, 0)), "elbow": (0, (0, 0, 0))})
    plant, law = Plant(planar, friction=False, contact=contact), PD(planar, [150.0, 60.0], [30.0, 8.0])
    how = {"reference": [0.0, 0.0], "duration": 0.4, "rate": 1000, "qd0": [0, 0], "check": False, "substeps": 8}
    starts = np.array([[0.9, 0.4], [0.7, 0.9]])
    batch = simulate(plant, law, q0=starts, **how)
    single = simulate(plant, law, q0=starts[1], **how)
    assert single.states["contact"].shape == (401, 2, 3)
    assert single.states["contact"][:, 0, 0].min() < -1.0  # it was reached
    assert np.abs(batch.q[1] - single.q).max() < 1e-13
    assert np.abs(simulate(plant, law, q0=starts[1], native=False, **how).q - single.q).max() < 1e-11
    exact = simulate(plant, law, q0=starts[1], tolerance=1e-9, **{**how, "substeps": None})
    assert np.abs(exact.q - single.q).max() < 1e-5


def test_mujoco_agrees_about_a_bouncing_block():
    """MuJoCo's joint limit as the floor, its spring and damper linear: depth and rebound to some per cent."""
    mujoco = pytest.importorskip("mujoco")
    k, b, m = 1e4, 20.0, 2.0
    text = f"""<mujoco><option timestep="1e-5" gravity="0 0 0" integrator="RK4"/><worldbody><body>
    <joint name="z" type="slide" axis="0 0 1" limited="true" range="0 1" solreflimit="-{k / m} -{b / m}"
    solimplimit="0.9999 0.9999 0.001"/><geom size="0.05" mass="{m}" contype="0" conaffinity="0"/></body>
    </worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[0], data.qvel[0], depth = 0.01, -0.5, 0.0
    for _ in range(12_000):
        mujoco.mj_step(model, data)
        depth = min(depth, data.qpos[0])
    # A linear damper b gives the loss of ours at b v = 3/2 of its mean force; here both lose a few per cent.
    result = run(slider(), [0.01], [-0.5], 0.12, Contact([FLOOR], k, damping=0.5))
    assert result.q.min() == pytest.approx(depth, rel=0.1)
    assert result.qd[-1, 0] == pytest.approx(data.qvel[0], rel=0.1)


def test_contacts_that_make_no_sense_are_rejected(planar):
    with raises(ModelError, where="Contact: stiffness", expected="a number > 0", got="-1.0"):
        Contact([FLOOR], -1.0)
    with raises(ModelError, expected="half-spaces, boxes or spheres", got="[]"):
        Contact([])
    with raises(ModelError, where="Contact: point 'hand'", expected="a link from 0 to 1, a name or None", got="7"):
        Plant(planar, contact=Contact([FLOOR], points={"hand": (7, (0, 0, 0))}))
    with raises(
        ModelError,
        cause=re.compile("too fast for steps of 1 ms"),
        remedy=re.compile("make them shorter, .* times or more, with substeps="),
        names=("joint2",),
    ):
        simulate(Plant(planar, contact=Contact([FLOOR], 1e8)), free(planar), [0.5, 0.5], 0.1, 1000, substeps=1)
    with raises(ModelError, names=("contact",)):
        simulate(Plant(planar, engine="mujoco", contact=Contact([FLOOR])), free(planar), [0.5, 0.5], 0.1)
