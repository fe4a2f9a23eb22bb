"""Friction of joints whose torques are small beside those of others."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import armdyn
from armdyn.identification.fit.light_joints import light_joints


@pytest.fixture(scope="module")
def arm():
    """A SCARA whose lift carries 60 kg, beside which the torque of its last joint is as nothing."""
    plain = armdyn.arms.scara()
    values = ((2.0, 3.0), (1.5, 2.0), (120.0, 25.0), (0.1, 0.3))
    joints = [
        dataclasses.replace(j, friction=armdyn.Friction(viscous=viscous, coulomb=coulomb))
        for j, (viscous, coulomb) in zip(plain.joints, values, strict=True)
    ]
    return dataclasses.replace(plain, joints=tuple(joints)).with_payload(60.0)


def test_light_joints_keep_their_friction(arm, make_log):
    log = make_log(arm, noise=0.01, amplitude=0.3)
    fit = armdyn.identify(arm, log, force=True)
    friction = fit.arm.joints[3].friction
    assert friction.viscous == pytest.approx(0.1, rel=0.1)
    assert friction.coulomb == pytest.approx(0.3, rel=0.1)


def test_which_joints_are_light():
    assert light_joints(np.array([100.0, 30.0, 1.0]), 0.05).tolist() == [2]
    assert light_joints(np.array([100.0, 30.0, 10.0]), 0.05).tolist() == []
