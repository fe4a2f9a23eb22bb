"""The library of arms: that each is complete and plausible, and that its numbers are those of its source."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import arms
from armdyn.spatial.rotation import rotation_z

ALL = {name: getattr(arms, name) for name in arms.__all__}
VARIANTS = {
    **ALL,
    "puma560:standard": lambda: arms.puma560("standard"),
    "puma3:standard": lambda: arms.puma3("standard"),
}


def middle(arm):
    """A configuration in the middle of the limits, off the straight position where there are none."""
    limits = [joint.limits for joint in arm.coordinate_joints]
    return 0.1 + np.array([(x.lower + x.upper) / 2 if np.isfinite(x.upper - x.lower) else 0.5 for x in limits])


def states(arm, seed, count=20):
    """Random states inside the limits (within a turn where there are none)."""
    rng = np.random.default_rng(seed)
    lower = np.maximum([j.limits.lower for j in arm.coordinate_joints], -np.pi)
    upper = np.minimum([j.limits.upper for j in arm.coordinate_joints], np.pi)
    return rng.uniform(lower, upper, (count, arm.n))


@pytest.mark.parametrize("name", VARIANTS)
def test_every_arm_is_complete_possible_and_tells_its_source(name):
    arm = VARIANTS[name]()
    assert arm.name == name.replace(":", "_")
    assert arm.is_physical, str(arm.is_physical)
    assert arm.notes[0].startswith("Source: ")
    M = armdyn.mass_matrix(arm, middle(arm))
    np.testing.assert_allclose(M, M.T, rtol=0, atol=1e-12 * M.max())
    assert np.linalg.eigvalsh(M).min() > 0


@pytest.mark.parametrize("name", ALL)
def test_every_arm_is_documented(name):
    assert "References" in inspect.getdoc(ALL[name]) or "no particular machine" in ALL[name]().notes[0]


@pytest.mark.parametrize("name", VARIANTS)
def test_every_arm_can_hold_itself_up(name):
    """Static torques stay within the effort limits: a unit slip in a mass or a length would show here."""
    arm = VARIANTS[name]()
    effort = np.array([joint.limits.effort for joint in arm.coordinate_joints])
    assert (np.abs(armdyn.gravity_torque(arm, states(arm, 0, 50))) <= effort).all()


@pytest.mark.parametrize(
    ("fixture", "build"),
    [
        ("planar2R", arms.planar2),
        ("puma560_mdh_akb", arms.puma560),
        ("puma560_sdh", lambda: arms.puma560("standard")),
    ],
)
def test_torques_and_poses_are_the_golden_ones(golden, fixture, build):
    # The PUMA's links 1 to 3 differ from the fixture's in parameters that no torque contains.
    arm = build()
    for case in golden(fixture)["cases"]:
        tau = armdyn.inverse_dynamics(arm, case["q"], case["qd"], case["qdd"])
        np.testing.assert_allclose(tau, case["tau"], rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(armdyn.forward_kinematics(arm, case["q"]), case["T_tip"], rtol=0, atol=1e-12)


def test_lu_meng2_has_the_torques_of_its_example(golden):
    for case in golden("two_links_with_a_bar")["cases"]:
        m2, m3, m3_px, _, Izz = case["theta"]
        arm = arms.lu_meng2(case["l1"], case["l2"], 1.0, m2, m3, m3_px / m3, Izz)
        arm = arm.with_gravity((0, -case["g"], 0))
        tau = armdyn.inverse_dynamics(arm, case["q"], case["qd"], case["qdd"])
        np.testing.assert_allclose(tau, case["tau"], rtol=1e-11, atol=1e-12)


def puma3_base_values():
    """The base parameters of the arm by the grouping relations of Kapadia's appendix A."""
    arm = arms.puma3()
    L = 0.4318
    first, second, third = (
        {"m": i.mass, "x": i.first[0], "y": i.first[1], "z": i.first[2], "I": i.tensor}
        for i in (link.inertia for link in arm.links)
    )
    I1, I2, I3 = first["I"], second["I"], third["I"]
    return {
        "Izz1": I1[2, 2] + I2[1, 1] + I3[1, 1] + L**2 * third["m"],
        "mx2": second["x"] + L * third["m"],
        "my2": second["y"],
        "Izz2": I2[2, 2] + L**2 * third["m"],
        "Ixx2": I2[0, 0] - I2[1, 1] - L**2 * third["m"],
        "Ixy2": I2[0, 1],
        "Ixz2": I2[0, 2] - L * third["z"],
        "Iyz2": I2[1, 2],
        "mx3": third["x"],
        "my3": third["y"],
        "Izz3": I3[2, 2],
        "Ixx3": I3[0, 0] - I3[1, 1],
        "Ixy3": I3[0, 1],
        "Ixz3": I3[0, 2],
        "Iyz3": I3[1, 2],
    }


def test_puma3_has_the_grouped_base_parameters():
    base, expected = armdyn.base_parameters(arms.puma3()), puma3_base_values()
    assert set(base.labels) == set(expected)
    np.testing.assert_allclose(base.theta, [expected[name] for name in base.labels], rtol=1e-9, atol=1e-12)


def test_puma3_is_the_same_arm_in_both_frames():
    """Both have the same joint angles and limits; lengths differ by 1 mm at most, so torques agree to 1 %."""
    one, other = arms.puma3(), arms.puma3("standard")
    q, qd, qdd = (states(one, seed) for seed in (1, 2, 3))
    tau, tau_other = (armdyn.inverse_dynamics(arm, q, qd, qdd) for arm in (one, other))
    assert np.abs(tau - tau_other).max() < 0.01 * np.abs(tau).max()
    assert [j.limits for j in one.joints] == [j.limits for j in other.joints]


def test_puma3_moves_like_the_puma560_with_its_wrist_locked():
    arm, whole = arms.puma3(), arms.puma560()
    q, qd, qdd = (states(arm, seed) for seed in (4, 5, 6))
    # theta' = theta + (pi, -pi, pi): the frames of appendix A against Armstrong's
    pad = np.zeros_like(q)
    tau = armdyn.inverse_dynamics(
        whole, np.hstack([q - [np.pi, -np.pi, np.pi], pad]), np.hstack([qd, pad]), np.hstack([qdd, pad])
    )
    np.testing.assert_allclose(armdyn.inverse_dynamics(arm, q, qd, qdd), tau[:, :3], rtol=0, atol=1e-11)


def test_the_two_pumas_agree_in_pose_and_limits():
    modified, standard = arms.puma560(), arms.puma560("standard")
    shift = np.array([np.pi, -np.pi, np.pi, 0, 0, np.pi])
    q = states(modified, 7)
    one, other = armdyn.forward_kinematics(modified, q), armdyn.forward_kinematics(standard, q + shift)
    np.testing.assert_allclose(one[:, :3, :3], other[:, :3, :3], rtol=0, atol=1e-12)
    # Published lengths differ by 1.3 mm (d4) and 0.05 mm (d3).
    assert np.abs(one[:, :3, 3] + [0, 0, 0.67183] - other[:, :3, 3]).max() < 2e-3
    # Joints 1 and 6 are taken symmetric in both, which turns base and tool by half a turn.
    for i in (1, 2, 3, 4):
        for end in ("lower", "upper"):
            turns = (
                getattr(standard.joints[i].limits, end) - getattr(modified.joints[i].limits, end) - shift[i]
            ) / np.pi
            np.testing.assert_allclose(turns, 2 * np.round(turns / 2), rtol=0, atol=1e-12)


def test_puma_friction_is_on_the_link_side():
    joint = arms.puma560("standard").joints[0]
    ratio, friction = 62.6111, joint.friction
    assert friction.viscous == pytest.approx(1.48e-3 * ratio**2)
    # Coulomb torque for v > 0 and v < 0, motor side 0.395 and -0.435 N m
    assert friction.coulomb + friction.asymmetry == pytest.approx(0.395 * ratio)
    assert -friction.coulomb + friction.asymmetry == pytest.approx(-0.435 * ratio)
    assert joint.drive.reflected_inertia == pytest.approx(200e-6 * ratio**2)


def test_puma_moments_moved_between_links_2_and_3_change_no_torque():
    """Also on a moving base, since both links turn alike across the parallel axes 2 and 3."""
    arm = arms.puma560()
    theta = arm.theta.reshape(6, 10).copy()
    theta[1, [4, 6]] += 0.004
    theta[2, [4, 6]] -= 0.004
    q, qd, qdd = (states(arm, seed) for seed in (8, 9, 10))
    base = tuple(np.random.default_rng(11).normal(size=(3, 3)))
    expected = armdyn.inverse_dynamics(arm.with_theta(theta.ravel()), q, qd, qdd, base_motion=base)
    np.testing.assert_allclose(armdyn.inverse_dynamics(arm, q, qd, qdd, base_motion=base), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("build", [arms.puma560, arms.puma3])
def test_unknown_conventions_are_rejected(build):
    with raises(armdyn.ArmdynError, expected="one of modified, standard"):
        build("craig")


def test_lu_meng4_carries_its_load_at_the_tip():
    arm = arms.lu_meng4()
    loaded = arm.with_payload(0.5)
    assert loaded.links[-1].inertia.mass == 1.0
    np.testing.assert_allclose(loaded.links[-1].inertia.com, arm.links[-1].inertia.com, rtol=0, atol=1e-15)


def test_vukobratovic3_starts_where_the_source_says():
    T = armdyn.forward_kinematics(arms.vukobratovic3(), [np.pi, -np.pi / 2, -np.pi / 2])
    np.testing.assert_allclose(T[:3, 3], [1, 0, 0], rtol=0, atol=1e-12)


def test_ur_arms_turn_as_fast_and_pull_as_hard_as_the_maker_says():
    """UR5 and UR10 user manuals (CB3, version 3.13) and the article on joint torques."""
    for name, velocity, effort in (
        ("ur5", [180] * 6, [150, 150, 150, 28, 28, 28]),
        ("ur10", [120, 120, 180, 180, 180, 180], [330, 330, 150, 56, 56, 56]),
    ):
        limits = [joint.limits for joint in ALL[name]().joints]
        np.testing.assert_allclose(np.rad2deg([x.velocity for x in limits]), velocity, rtol=1e-12)
        assert [x.effort for x in limits] == effort


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("stanford", "Stanford RRPRRR (SDH)"),
        ("panda", "Panda 7dof (MDH)"),
    ],
)
def test_geometry_is_that_of_the_golden_tables(golden, golden_arm, name, title):
    robot = next(entry for entry in golden("base_parameter_counts")["arms"] if entry["arm"] == title)
    same_poses(ALL[name](), golden_arm(robot))


def same_poses(arm, expected):
    q = states(arm, 15)
    np.testing.assert_allclose(armdyn.link_poses(arm, q), armdyn.link_poses(expected, q), rtol=0, atol=1e-12)


# -- against documents and files of others, where they are at hand ----------------------------------------------


def test_numbers_are_those_of_the_documents(reference, golden_arm):
    """Geometry of four tables, gravity torques of Kapadia's Sarcos, and his analytic values of the PUMA."""
    titles = {
        "sarcos": "Sarcos GRLA 7dof (SDH, tilted gravity)",
        "lu_meng4": "Lu-Meng 4dof PUMA",
        "scara": "SCARA RRPR (MDH)",
    }
    robots = {entry["arm"]: entry for entry in reference("base_parameter_counts")["arms"]}
    for name, title in titles.items():
        same_poses(ALL[name](), golden_arm(robots[title]))
    sarcos, arm = reference("sarcos_gravity"), arms.sarcos()
    order = [0, 1, 2, 3, 4, 7, 5, 8, 9, 6]  # the file's p10 order to ours
    theirs = np.concatenate([np.array(link["p10"])[order] for link in sarcos["robot"]["links"]])
    for case in sarcos["cases"]:
        for data in ({}, {"theta": theirs, "gravity": sarcos["robot"]["gravity"]}):
            np.testing.assert_allclose(armdyn.gravity_torque(arm, case["q"], **data), case["G"], rtol=1e-11, atol=1e-11)
    puma, ours = reference("puma3_base_parameters"), puma3_base_values()
    values = [ours[name.replace("J", "I")] for name in puma["order"]]
    np.testing.assert_allclose(values, puma["analytic_rigid"], rtol=0, atol=1e-13)
    reflected = [joint.drive.reflected_inertia for joint in arms.puma3().joints]
    np.testing.assert_allclose(reflected, puma["motor_inertia"], rtol=1e-12)


def panda_is_the_makers(shared):
    """URDF frames and inertias; the file's angles are rounded to 11 digits."""
    arm, urdf = arms.panda(), armdyn.load(shared / "models" / "panda" / "panda_arm.urdf")
    q = states(arm, 12)
    np.testing.assert_allclose(armdyn.link_poses(arm, q), armdyn.link_poses(urdf, q), rtol=0, atol=1e-10)
    np.testing.assert_allclose(
        armdyn.forward_kinematics(arm, q), armdyn.forward_kinematics(urdf, q), rtol=0, atol=1e-10
    )
    # The file's flange, merged into link 7, weighs 1e-10 kg.
    np.testing.assert_allclose(arm.theta, urdf.theta, rtol=0, atol=1e-9)
    assert arm.joint_names == urdf.joint_names
    assert arm.link_names == urdf.link_names


def ur_arms_reach_where_the_ros_description_does(shared, name, height):
    arm = ALL[name]()
    urdf = armdyn.load(shared / "models" / "ur" / f"{name}_robot.urdf", base="base_link", tip="tool0")
    q = states(arm, 13)
    half_turn = np.eye(4)
    half_turn[:3, :3] = rotation_z(np.pi)
    # The UR5 of the table stands 0.3 mm higher than that of the description.
    expected = half_turn @ armdyn.forward_kinematics(urdf, q)
    expected[:, 2, 3] += height
    np.testing.assert_allclose(armdyn.forward_kinematics(arm, q), expected, rtol=0, atol=1e-9)


def iiwa14_has_the_frames_of_the_common_urdf(shared):
    arm, urdf = arms.iiwa14(), armdyn.load(shared / "models" / "kuka_iiwa" / "iiwa14_pybullet.urdf")
    q = states(arm, 14)
    np.testing.assert_allclose(armdyn.link_poses(arm, q), armdyn.link_poses(urdf, q), rtol=0, atol=1e-10)
    np.testing.assert_allclose(arm.theta, urdf.theta, rtol=0, atol=1e-12)


LIMITS = {
    "panda": ("panda/panda_with_hand.urdf", "panda_link7", True, True),
    "lwr4": ("kuka_lwr4/kuka_lwr4.urdf", None, True, True),
    "iiwa14": ("kuka_iiwa/lbr_iiwa_14_r820_rtbdata.urdf", None, True, False),
    # Velocities and torques of these files are the makers' of 2013, and were corrected later.
    "ur5": ("ur/ur5_robot.urdf", "tool0", False, False),
    "ur10": ("ur/ur10_robot.urdf", "tool0", False, False),
}


def limits_are_those_of_public_descriptions(shared, name):
    file, tip, velocity, effort = LIMITS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", armdyn.ArmdynWarning)  # of the inertias in the files
        theirs = [joint.limits for joint in armdyn.load(shared / "models" / file, tip=tip).joints]
    ours = [joint.limits for joint in ALL[name]().joints]
    for ask, known in (("lower", True), ("upper", True), ("velocity", velocity), ("effort", effort)):
        one, two = ([getattr(limits, ask) for limits in side] for side in (ours, theirs))
        if known:
            np.testing.assert_allclose(one, two, rtol=0, atol=5e-4)  # a file rounds to four digits


def test_arms_are_those_of_public_urdfs(shared):
    panda_is_the_makers(shared)
    iiwa14_has_the_frames_of_the_common_urdf(shared)
    ur_arms_reach_where_the_ros_description_does(shared, "ur10", 0.0)
    ur_arms_reach_where_the_ros_description_does(shared, "ur5", 0.0003)
    for name in LIMITS:
        limits_are_those_of_public_descriptions(shared, name)


def test_ur5e_is_the_makers_ros_description(shared):
    """Its frames, masses and inertias; the file's angles are rounded to nine digits."""
    pytest.importorskip("xacrodoc", reason="reads xacro")
    folder = shared / "models" / "xacro"
    urdf = armdyn.load(
        folder / "ur_description" / "urdf" / "ur.urdf.xacro", base="base_link", tip="tool0",
        args={"name": "ur", "ur_type": "ur5e"}, packages=[folder],
    )  # fmt: skip
    assert sum(link.inertia.mass for link in urdf.links) == pytest.approx(20.0, abs=4)
    arm = arms.ur5e()
    q, qd, qdd = (states(arm, seed) for seed in (13, 14, 15))
    half_turn = np.eye(4)
    half_turn[:3, :3] = rotation_z(np.pi)
    expected = half_turn @ armdyn.forward_kinematics(urdf, q)
    np.testing.assert_allclose(armdyn.forward_kinematics(arm, q), expected, rtol=0, atol=1e-8)
    tau = [armdyn.inverse_dynamics(model, q, qd, qdd) for model in (arm, urdf)]
    np.testing.assert_allclose(*tau, rtol=0, atol=1e-6 * np.abs(tau[0]).max())
    for ask in ("lower", "upper", "velocity", "effort"):
        one, two = ([getattr(joint.limits, ask) for joint in model.joints] for model in (arm, urdf))
        np.testing.assert_allclose(one, two, rtol=1e-9)


def test_xarm7_is_the_menageries(shared):
    """Frames, bodies and limits of the file, which stands 0.12 m up and rounds quaternions to six digits."""
    pytest.importorskip("mujoco", reason="reads MJCF")
    file = armdyn.load(shared / "models" / "mjcf" / "ufactory_xarm7" / "xarm7_nohand.xml")
    arm = arms.xarm7()
    q, qd, qdd = (states(arm, seed) for seed in (13, 14, 15))
    poses = [armdyn.forward_kinematics(model, q) for model in (arm, file)]
    np.testing.assert_allclose(poses[0][:, :3, :3], poses[1][:, :3, :3], rtol=0, atol=1e-9)
    rise = poses[1][:, :3, 3] - poses[0][:, :3, 3]
    np.testing.assert_allclose(rise, np.broadcast_to(rise[0], rise.shape), rtol=0, atol=1e-9)
    np.testing.assert_allclose(arm.theta, file.theta, rtol=0, atol=2e-5)
    for ask in ("lower", "upper", "effort"):
        one, two = ([getattr(joint.limits, ask) for joint in model.joints] for model in (arm, file))
        np.testing.assert_allclose(one, two, rtol=1e-5)
    plain = [armdyn.inverse_dynamics(model, q, qd, qdd) for model in (arm, file)]
    np.testing.assert_allclose(*plain, rtol=0, atol=1e-4 * np.abs(plain[0]).max())
