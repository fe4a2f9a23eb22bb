"""Soft joints that friction holds: said before the run, and true in it."""

import dataclasses
import warnings

import numpy as np
import pytest

import armdyn
from armdyn import control
from armdyn.control.design.stiction import dry_friction, stiction

LIBRARY = (
    "cylindrical", "iiwa14", "lu_meng2", "lu_meng4", "lwr4", "panda", "planar2", "puma3", "puma560", "sarcos", "scara",
    "stanford", "ur10", "ur5", "ur5e", "vukobratovic3",
)  # fmt: skip


def test_the_wrist_of_an_xarm_is_named_and_does_stand_still():
    arm = armdyn.arms.xarm7()
    motion = armdyn.Sway.within(arm, 4.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        law = control.design.designs.chosen_designs(arm, motion, 2.0, 1000.0, ["PD + gravity"])["PD + gravity"]
    text = next(str(w.message) for w in caught if "friction can hold" in str(w.message))
    held = [name for name in arm.joint_names if f"'{name}'" in text]
    run = armdyn.simulate(arm, law, motion, 2.0, 1000.0, quiet=True)
    amplitude = np.ptp(run.q_ref, axis=0) / 2
    beyond = [name for name, e, a in zip(arm.joint_names, np.abs(run.error).max(0), amplitude, strict=True) if e > a]
    assert held == beyond == ["joint5", "joint6", "joint7"]


@pytest.mark.parametrize("name", LIBRARY)
def test_no_other_library_arm_is_that_soft(name):
    arm = getattr(armdyn.arms, name)()
    motion = armdyn.Sway.within(arm, 4.0)
    q = np.asarray(motion(np.linspace(0.0, 4.0, 200))[0])
    kp = np.diagonal(armdyn.augmented_mass_matrix(arm, q).mean(0)) * (4 * np.pi) ** 2
    assert stiction(arm, q, {"PD": kp}) is None


def test_the_bound_is_that_of_a_pendulum():
    """Error at rest: dry friction over stiffness, whichever of Coulomb, breakaway and asymmetry is the largest."""
    arm = armdyn.arms.planar2()
    frictions = armdyn.Friction(coulomb=2.0, static=3.0), armdyn.Friction(coulomb=1.0, asymmetry=-0.5)
    joints = [dataclasses.replace(joint, friction=f) for joint, f in zip(arm.joints, frictions, strict=True)]
    arm = arm.with_joints(joints)
    np.testing.assert_array_equal(dry_friction(arm), [3.0, 1.5])
    q = np.array([[-0.5, -0.5], [0.5, 0.5]])
    assert stiction(arm, q, {"PD": np.array([6.1, 3.1])}) is None
    assert "('joint2' 0.52 rad)" in stiction(arm, q, {"PD": np.array([6.1, 2.9])})
    coupled = arm.with_coupling("1+2")
    np.testing.assert_array_equal(dry_friction(coupled), [4.5, 1.5])
