"""Laws compensate all that their arm has, friction once."""

import dataclasses

import numpy as np
import pytest
from scipy.linalg import expm
from tests.raising import raises

import armdyn
from armdyn import (
    ComputedTorque,
    DisturbanceObserver,
    FeedforwardPD,
    Friction,
    FrictionFeedforward,
    Reference,
    simulate,
)
from armdyn.control.laws.model import FRICTION_WIDTH
from armdyn.errors import ArmdynError, ShapeError

RICH = Friction(
    viscous=1.5, coulomb=3.0, offset=0.4, static=4.0, stribeck=0.2, asymmetry=0.3, viscous_asymmetry=0.2, load=0.1,
    harmonics=((2.0, 0.3, -0.2),),
)  # fmt: skip


def rubbing(arm, friction):
    return arm.with_joints([dataclasses.replace(joint, friction=friction) for joint in arm.joints])


@pytest.mark.parametrize("make", [lambda a: ComputedTorque(a, 0.0, 0.0), lambda a: FeedforwardPD(a, 0.0, 0.0)])
def test_on_the_reference_a_law_gives_the_torques_of_the_whole_arm(planar, make):
    """`joint_torque` is another text of the same physics; load-dependent friction is solved for exactly."""
    arm = rubbing(planar, RICH)
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 50, 2))
    law = make(arm)
    tau = law.step(arm, law.params, {}, q, qd, Reference(q, qd, qdd), 1e-3)[0]
    assert np.allclose(tau, armdyn.joint_torque(arm, q, qd, qdd, width=FRICTION_WIDTH), rtol=1e-12, atol=1e-12)


def test_viscous_friction_acts_at_the_measured_velocity_and_dry_friction_at_the_desired_one(planar):
    arm = rubbing(planar, Friction(viscous=2.0, coulomb=3.0))
    q, qd, qd_ref = np.array([0.3, -0.2]), np.array([0.5, -0.7]), np.array([-0.4, 0.9])
    ref = Reference(q, qd_ref, 0 * q)
    full, rigid = (ComputedTorque(arm, 0.0, 0.0, model)(0.0, q, qd, ref) for model in ("full", "rigid"))
    assert np.allclose(full - rigid, 2.0 * qd + 3.0 * np.tanh(qd_ref / FRICTION_WIDTH), atol=1e-12)


def test_errors_obey_the_designed_equation_with_identified_friction(planar, swing):
    """e'' + 14 e' + 100 e = 0; sampling at 4 kHz is what is left (ECE470, section 3.2, B as `Friction.viscous`)."""
    arm = rubbing(planar, Friction(viscous=5.0))
    run = simulate(arm, ComputedTorque(arm, 100.0, 14.0), swing([0.4, -0.3], [1.0, 0.7], 1.0), 0.8, 4000,
                   q0=[0.45, -0.25], check=False)  # fmt: skip
    A = np.array([[0, 1], [-100.0, -14.0]])
    decay = np.array([(expm(A * t) @ [1, 0])[0] for t in run.t[::40]])
    designed = decay[:, None] * run.error[0] + _velocity_part(A, run.t[::40], run)
    assert np.abs(run.error[::40] - designed).max() < 5e-3 * np.abs(run.error[0]).max()


def _velocity_part(A, t, run):
    return np.array([(expm(A * x) @ [0, 1])[0] for x in t])[:, None] * (run.qd_ref - run.qd)[0]


def test_friction_is_made_up_for_once(planar):
    arm = rubbing(planar, RICH)
    q, qd, q_ref, qd_ref, qdd_ref = np.random.default_rng(2).normal(size=(5, 2))
    ref = Reference(q_ref, qd_ref, qdd_ref)
    law = ComputedTorque(arm, 5.0, 2.0)
    wrapped = FrictionFeedforward(DisturbanceObserver(law, 3.0))
    assert wrapped.law.law.model == "rigid"
    assert not wrapped.compensates_friction
    rigid = dataclasses.replace(law, model="rigid")
    tau = FrictionFeedforward(law)(0.0, q, qd, ref)
    expected = rigid(0.0, q, qd, ref) + armdyn.friction_torque(arm, q_ref, qd_ref, width=0.01)
    assert np.allclose(tau, expected, rtol=1e-13)
    with raises(ShapeError, cause="TrajectoryLQR compensates friction already"):
        FrictionFeedforward(armdyn.TrajectoryLQR(arm, [0.1] * 4, [10.0] * 2, 1000.0))


def test_the_observer_knows_the_friction_that_its_law_makes_up_for(planar, swing):
    """Viscous friction of the model's own size: nothing is left to observe but its change in a period."""
    arm, reference = rubbing(planar, Friction(viscous=5.0)), swing([0.4, -0.3], [1.0, 0.7], 1.0)
    law = DisturbanceObserver(ComputedTorque.from_bandwidth(arm, 2.0), 10.0)
    run = simulate(arm, law, reference, rate=2000, check=False)
    assert np.abs(run.states["disturbance"]).max() < 0.005 * np.abs(5.0 * run.qd).max()


@pytest.mark.parametrize("terms", [(), ("viscous",), ("coulomb",), ("viscous", "coulomb", "asymmetry", "offset")])
def test_adaptive_laws_know_the_friction_that_is_not_unknown(planar, terms):
    """With the true values as estimates, torques on the reference are those of the whole arm, whatever is adapted."""
    arm = rubbing(planar, dataclasses.replace(RICH, load=0.0))
    unknowns = armdyn.adapt(armdyn.unknown_mass(arm, (0, 0, 0)), terms, width=FRICTION_WIDTH)
    q, qd, qdd = np.random.default_rng(3).normal(size=(3, 2))
    for law in (armdyn.SlotineLi(unknowns, 5.0, 9.0, 1.0), armdyn.Craig(unknowns, 9.0, 5.0, 1.0, 1.0),
                armdyn.ModifiedSlotineLi(unknowns, 5.0, 1.0)):  # fmt: skip
        tau = law.step(arm, law.params, law.init(), q, qd, Reference(q, qd, qdd), 1e-3)[0]
        assert np.allclose(tau, armdyn.joint_torque(arm, q, qd, qdd, width=FRICTION_WIDTH), rtol=1e-11, atol=1e-11)


def test_models_are_full_or_rigid(planar):
    with raises(ShapeError, where="ComputedTorque", names=("half",), expected="one of full, rigid"):
        ComputedTorque(planar, 1.0, 1.0, "half")
    with raises(ArmdynError, where="adapt", names=("half",), expected="one of full, rigid"):
        armdyn.adapt(planar, ("viscous",), model="half")
    arm = rubbing(planar, RICH)
    assert not armdyn.adapt(arm, ("viscous",), model="rigid").knows_friction
