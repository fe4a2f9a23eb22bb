"""Identification of trees, joints that follow others and springs between links, on logs of known mechanisms."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Arm, Drive, Friction, Joint, Link, Spring
from armdyn.errors import ArmdynError, ArmdynWarning
from armdyn.identification.fit.passive import passive_torque
from armdyn.identification.logs.corrections import LogCorrection, of_joints
from armdyn.identification.motion.differentiate import SmoothedMotion
from armdyn.report.options import correction_words
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.transform import transform

Y = (0.0, 1.0, 0.0)


def at(x: float, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    return transform(None, [x, y, z])


def body(mass: float, x: float) -> Inertia:
    return Inertia.from_com(mass, (x, 0.01, 0.02), mass * np.diag([0.005, 0.02, 0.02]))


def palletizer() -> Arm:
    """A waist, a shoulder with a balancer, an elbow behind crank and coupler; friction at the passive joints too."""
    past_shoulder = (("crank", 1.0), ("shoulder", -1.0))
    rough, smooth = Friction(viscous=4.0, coulomb=6.0), Friction(viscous=1.0, coulomb=3.0)
    joints = (
        Joint("waist", axis=(0, 0, 1), friction=rough),
        Joint("shoulder", axis=Y, before=at(0.2, 0, 0.5), friction=rough, drive=Drive(rotor_inertia=0.5)),
        Joint("crank", axis=Y, before=at(0.2, 0, 0.5), parent="column", friction=rough),
        Joint("elbow", axis=Y, before=at(0.8), parent="beam", follows=past_shoulder, friction=smooth),
        Joint("coupler", axis=Y, before=at(-0.2), parent="crank link", follows=(("shoulder", 1.0), ("crank", -1.0))),
    )
    bodies = {"column": (30, 0.1), "beam": (20, 0.4), "crank link": (5, -0.1), "forearm": (15, 0.3), "rod": (4, 0.4)}
    links = tuple(Link(name, body(*numbers)) for name, numbers in bodies.items())
    spring = Spring("balancer", ("column", "beam"), ((0.25, 0.0, 0.62), (0.1, 0.0, 0.0)), 3e4, 0.05)
    return Arm(joints, links, name="palletizer", tip_link="forearm", tool_pose=at(0.7), springs=(spring,))


def two_arms() -> Arm:
    joints = [Joint("torso", axis=(0, 0, 1), friction=Friction(1.0, 2.0))]
    for side, y in (("left", 0.2), ("right", -0.2)):
        joints += [
            Joint(f"{side} shoulder", axis=Y, before=at(0.1, y, 0.4), parent="trunk", friction=Friction(0.5, 1.0)),
            Joint(f"{side} elbow", axis=Y, before=at(0.3), friction=Friction(0.3, 0.5)),
        ]
    links = [Link("trunk", body(8, 0.05))]
    for side in ("left", "right"):
        links += [Link(f"{side} upper", body(2, 0.12)), Link(f"{side} fore", body(1.5, 0.12))]
    return Arm(tuple(joints), tuple(links), name="two arms", tool_pose=at(0.25))


def gripper() -> Arm:
    """A wrist and two fingers, of which one follows the other, with friction of both."""
    joints = (
        Joint("wrist", axis=Y, friction=Friction(0.05, 0.1)),
        Joint("finger", "prismatic", axis=(1, 0, 0), before=at(0.1), friction=Friction(3.0, 1.0)),
        Joint(
            "other", "prismatic", axis=(-1, 0, 0), before=at(0.1), parent="palm", follows=(("finger", 1.0),),
            friction=Friction(2.0, 0.5),
        ),
    )  # fmt: skip
    links = (Link("palm", body(1.0, 0.05)), Link("left", body(0.2, 0.02)), Link("right", body(0.2, -0.02)))
    return Arm(joints, links, name="gripper", tip_link="palm")


MAKERS = {"palletizer": palletizer, "two arms": two_arms, "gripper": gripper}


def log_of(arm: Arm, seed: int, noise: float = 0.01, seconds: float = 20.0):
    """A motion of sums of sines at 200 Hz, torques with noise of a share of their deviation."""
    rng = np.random.default_rng(seed)
    t = np.arange(0, seconds, 0.005)
    slides = np.array([joint.kind == "prismatic" for joint in arm.coordinate_joints])
    size = np.where(slides, 0.02, 0.5)
    w = 2 * np.pi * rng.uniform(0.1, 0.7, (4, arm.n))
    phase = rng.uniform(0, 6, (4, arm.n))
    angle = t[:, None, None] * w + phase
    q = size * np.sin(angle).sum(1) / 2
    qd, qdd = size * (w * np.cos(angle)).sum(1) / 2, -size * (w**2 * np.sin(angle)).sum(1) / 2
    tau = armdyn.joint_torque(arm, q, qd, qdd, width=0.003)
    return armdyn.Log(t, q, tau + noise * tau.std(0) * rng.normal(size=tau.shape)), (q, qd, qdd, tau)


def unknown(arm: Arm) -> Arm:
    """The mechanism without inertia, friction and stiffness."""
    joints = [dataclasses.replace(j, friction=Friction(), drive=Drive()) for j in arm.joints]
    springs = tuple(dataclasses.replace(s, stiffness=1.0) for s in arm.springs)
    return dataclasses.replace(arm.with_joints(joints), springs=springs).with_theta(np.full(10 * arm.n_joints, np.nan))


def without_others(arm: Arm) -> Arm:
    """The arm with springs and with friction of joints that follow others alone."""
    joints = [j if j.follows else dataclasses.replace(j, friction=Friction(), drive=Drive()) for j in arm.joints]
    return dataclasses.replace(arm.with_joints(joints), springs=())


@pytest.mark.parametrize("name", MAKERS)
def test_mechanisms_are_identified(name):
    arm = MAKERS[name]()
    log, _ = log_of(arm, 0)
    other, (q, qd, qdd, tau) = log_of(arm, 1)
    fit = armdyn.identify(unknown(arm), log)
    assert fit.rel_error < 0.02
    assert fit.validate(other).rel_error < 0.03  # noise of 1 % and what it does to derivatives
    assert fit.arm.is_physical
    model = armdyn.joint_torque(fit.arm, q, qd, qdd, width=0.003)
    assert np.linalg.norm(model - tau) < 0.03 * np.linalg.norm(tau)


def test_the_balancer_and_passive_friction_are_found():
    arm = palletizer()
    log, (q, qd, qdd, _) = log_of(arm, 0)
    fit = armdyn.identify(unknown(arm), log)
    found = fit.arm.springs[0]
    assert found.stiffness == pytest.approx(3e4, rel=0.1)
    assert found.rest_length == pytest.approx(0.05, rel=0.2)
    elbow = fit.arm.joints[3].friction
    # The coupler turns as the elbow does, against it: their friction cannot be told apart.
    coupler = fit.arm.joints[4].friction
    assert elbow.viscous + coupler.viscous == pytest.approx(1.0, rel=0.3)
    assert elbow.coulomb + coupler.coulomb == pytest.approx(3.0, rel=0.3)
    motion = SmoothedMotion(q, qd, qdd, 10.0)
    passive = passive_torque(arm, motion, 0.003)
    assert np.linalg.norm(passive_torque(fit.arm, motion, 0.003) - passive) < 0.1 * np.linalg.norm(passive)


def test_a_spring_that_weights_nearly_hide_is_found():
    """Its torque differs from that of weights by less than 1 %, and yet it decides about new motion."""
    arm = palletizer()
    points = ((0.25, 0.0, 0.62), (0.19, 0.0, 0.0))
    arm = dataclasses.replace(arm, springs=(dataclasses.replace(arm.springs[0], points=points, rest_length=0.07),))
    fit = armdyn.identify(unknown(arm), log_of(arm, 0)[0])
    assert fit.arm.springs[0].stiffness == pytest.approx(3e4, rel=0.2)
    assert fit.validate(log_of(arm, 1)[0]).rel_error < 0.03


def test_dry_friction_that_builds_up_at_a_passive_joint_is_found():
    """Rods and cables give way before they slide: friction of the elbow lags its direction."""
    arm = palletizer()
    rough = [Friction(1.0, 40.0, bristles=((0.01, 40.0),)) if j.name == "elbow" else j.friction for j in arm.joints]
    arm = arm.with_joints([dataclasses.replace(j, friction=f) for j, f in zip(arm.joints, rough, strict=True)])
    log, (q, qd, qdd, _) = log_of(arm, 0)
    motion = SmoothedMotion(q, qd, qdd, 10.0)
    passive = without_others(arm)
    lag = passive_torque(passive, motion, 0.003) - armdyn.friction_torque(passive, q, qd, width=0.003)
    log = armdyn.Log(log.t, log.q, log.tau + lag)
    fit = armdyn.identify(unknown(arm), log)
    fitted, truth = passive_torque(fit.arm, motion, 0.003), passive_torque(arm, motion, 0.003)
    assert np.linalg.norm(fitted - truth) < 0.1 * np.linalg.norm(truth)
    assert sum(torque for joint in fit.arm.joints[3:] for _, torque in joint.friction.bristles) > 20


def test_the_mechanism_explains_more_than_its_chain():
    arm = palletizer()
    log, _ = log_of(arm, 0)
    other, _ = log_of(arm, 1)
    chain = Arm(
        (*arm.joints[:2], dataclasses.replace(arm.joints[3], follows=())),
        (*arm.links[:2], arm.links[3]),
        name="chain",
    )
    C = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 1.0]])  # shafts from joints: the crank turns with both

    def of_chain(log):
        back = np.linalg.inv(C)
        return armdyn.Log(log.t, log.q @ back.T, log.tau @ C)

    whole = armdyn.identify(unknown(arm), log).validate(other).rel_error
    with pytest.warns(ArmdynWarning, match="arm 'chain' is usable with care"):
        fit = armdyn.identify(unknown(chain).with_coupling(C), of_chain(log))
    alone = fit.validate(of_chain(other)).rel_error
    assert whole < 0.6 * alone


def test_logs_name_coordinates(tmp_path):
    arm = gripper()
    log, _ = log_of(arm, 0)
    columns = [log.t, *log.q.T, *log.tau.T]
    names = ["t", "q_wrist", "q_finger", "tau_wrist", "tau_finger"]
    path = tmp_path / "log.csv"
    np.savetxt(path, np.column_stack(columns), delimiter=",", header=",".join(names), comments="")
    read = armdyn.read_log(path, arm)
    np.testing.assert_allclose(read.q, log.q, atol=1e-12)


def test_logs_name_motors(tmp_path):
    """Columns of motors are those of the drives' shafts; those of joints are preferred to them."""
    arm = armdyn.arms.planar2().with_coupling("1+2")
    rng = np.random.default_rng(0)
    t, q, tau = np.arange(100) * 0.01, rng.normal(size=(100, 2)), rng.normal(size=(100, 2))
    shafts, torques = q @ arm.coupling.T, tau @ np.linalg.inv(arm.coupling)
    names = ["t", "motor1_position", "motor2_position", "motor_torque[0]", "motor_torque[1]"]
    path = tmp_path / "log.csv"
    np.savetxt(path, np.column_stack([t, shafts, torques]), delimiter=",", header=",".join(names), comments="")
    read = armdyn.read_log(path, arm)
    np.testing.assert_allclose(read.q, q, atol=1e-12)
    np.testing.assert_allclose(read.tau, tau, atol=1e-12)
    assert any("named after motors" in note for note in read.notes)
    names += ["q1", "q2"]
    np.savetxt(path, np.column_stack([t, shafts, torques, q]), delimiter=",", header=",".join(names), comments="")
    read = armdyn.read_log(path, arm)
    np.testing.assert_allclose(read.q, q, atol=1e-12)
    np.testing.assert_allclose(read.tau, tau, atol=1e-12)


@pytest.mark.parametrize("torques", [False, True])
def test_positions_of_joints_in_the_place_of_motors_are_named(torques):
    """The elbow's encoder instead of the crank's motor, with torques of the motors or as if at the elbow."""
    arm = palletizer()
    log, _ = log_of(arm, 0)
    R = arm.G[[0, 1, 3]]  # waist, shoulder, elbow
    mixed = armdyn.Log(log.t, log.q @ R.T, log.tau @ np.linalg.inv(R) if torques else log.tau)
    check = armdyn.check_log(unknown(arm), mixed)
    finding = next(f for f in check.findings if f.kind == "mechanism")
    assert (finding.level, finding.joints, bool(finding.correction.maps.torques)) == ("reject", (2,), torques)
    corrected = mixed.corrected(finding.correction)
    np.testing.assert_allclose(corrected.q, log.q, atol=1e-12)
    np.testing.assert_allclose(corrected.tau, log.tau, atol=1e-9)
    joints = "waist,shoulder,elbow"
    words = ["--positions-of", joints, *(["--torques-of", joints] if torques else [])]
    assert correction_words(arm, finding.correction) == words
    assert armdyn.check_log(unknown(arm), log).ok


def test_zeros_and_offsets_of_following_joints_are_kept_apart():
    """A follower's offset belongs to the mechanism; the option of a zero says what is left."""
    offset = dataclasses.replace(palletizer().joints[3], offset=0.2)
    arm = dataclasses.replace(palletizer(), joints=(*palletizer().joints[:3], offset, palletizer().joints[4]))
    joints = ("waist", "shoulder", "elbow")
    correction = of_joints(arm, joints).then(LogCorrection(zero=(0.0, 0.1, 0.0)))
    words = correction_words(arm, correction)
    assert words == ["--positions-of", ",".join(joints), "--zero", "shoulder=0.1"]
    q = np.random.default_rng(0).normal(size=(100, 3))
    measured = (q + np.array([0.0, 0.1, 0.0])) @ arm.G[[0, 1, 3]].T + arm.b[[0, 1, 3]]
    log = armdyn.Log(np.arange(100) * 0.01, measured, q)
    np.testing.assert_allclose(log.corrected(correction).q, q, atol=1e-12)
    with raises(ArmdynError, cause="arm 'palletizer' has no joint 'knee'"):
        of_joints(arm, ("waist", "shoulder", "knee"))
    with raises(
        ArmdynError, cause="positions of waist, waist, elbow do not determine the coordinates of arm 'palletizer'"
    ):
        of_joints(arm, ("waist", "waist", "elbow"))


def test_the_report_of_a_mechanism_is_written(tmp_path):
    arm = gripper()
    fit = armdyn.identify(unknown(arm), log_of(arm, 0)[0])
    fit.report(tmp_path / "fit.html")
    page = (tmp_path / "fit.html").read_text()
    assert "finger" in page
    fit.arm.save(tmp_path / "arm.toml")
    assert armdyn.load(tmp_path / "arm.toml").fingerprint == fit.arm.fingerprint
