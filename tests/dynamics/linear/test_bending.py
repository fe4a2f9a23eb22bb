"""The rule of thumb for bending of links against beams of finite elements."""

from __future__ import annotations

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Arm, Inertia, Joint, Link
from armdyn.errors import ArmdynError
from armdyn.spatial.transform import transform


def beam(lengths, masses, stiffness, tip_mass=0.0, elements=20):
    """Lowest frequency [Hz] of uniform beams in a row, clamped at the beginning, with a point mass at the end."""
    count = elements * len(lengths)
    K, M = np.zeros((2, 2 * count + 2, 2 * count + 2))
    for e in range(count):
        k = e // elements
        h, m, EI = lengths[k] / elements, masses[k] / elements, stiffness[k]
        stiff = [[12, 6 * h, -12, 6 * h], [6 * h, 4 * h**2, -6 * h, 2 * h**2],
                 [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h**2, -6 * h, 4 * h**2]]  # fmt: skip
        heavy = [[156, 22 * h, 54, -13 * h], [22 * h, 4 * h**2, 13 * h, -3 * h**2],
                 [54, 13 * h, 156, -22 * h], [-13 * h, -3 * h**2, -22 * h, 4 * h**2]]  # fmt: skip
        at = slice(2 * e, 2 * e + 4)
        K[at, at] += EI / h**3 * np.array(stiff)
        M[at, at] += m / 420 * np.array(heavy)
    M[-2, -2] += tip_mass
    values = np.linalg.eigvals(np.linalg.solve(M[2:, 2:], K[2:, 2:]))
    return float(np.sqrt(values.real.min()) / (2 * np.pi))


def rods(lengths, masses, tip_mass=0.0):
    """A stretched arm of uniform rods along x, turning about z, with a point mass at the tip."""
    joints, links = [], []
    for i, (length, mass) in enumerate(zip(lengths, masses, strict=True)):
        before = transform(translation=[lengths[i - 1] if i else 0.0, 0, 0])
        joints.append(Joint(f"j{i}", "revolute", (0, 0, 1), before))
        moment = mass * length**2 / 12
        links.append(Link(f"l{i}", Inertia.from_com(mass, [length / 2, 0, 0], np.diag([0.0, moment, moment]))))
    arm = Arm(tuple(joints), tuple(links), tool_pose=transform(translation=[lengths[-1], 0, 0]), name="rods")
    return arm.with_payload(tip_mass) if tip_mass else arm


@pytest.mark.parametrize("tip", [0.0, 0.5, 5.0])
def test_one_link_is_a_clamped_beam(tip):
    found = armdyn.link_bending(rods([0.8], [2.0]), [0.0], 500.0)
    exact = 1.8751**2 / (2 * np.pi) * np.sqrt(500.0 / (2.0 * 0.8**3))
    assert found.frequency == pytest.approx(exact, rel=0.01)
    assert beam([0.8], [2.0], [500.0]) == pytest.approx(exact, rel=1e-3)
    # A payload is part of the last link here, which is a rod: its weight is spread over the rod.
    if tip:
        two = armdyn.link_bending(rods([0.8, 1e-3], [2.0, 1e-6], tip), [0.0, 0.0], [500.0, np.inf])
        assert two.frequency == pytest.approx(beam([0.8], [2.0], [500.0], tip), rel=0.02)


@pytest.mark.parametrize("masses", [(3.0, 2.0), (2.0, 4.0), (5.0, 1.0)])
@pytest.mark.parametrize("stiffness", [(800.0, 800.0), (2000.0, 300.0), (400.0, 3000.0)])
@pytest.mark.parametrize("lengths", [(0.5, 0.4), (0.7, 0.3)])
def test_two_links_are_within_ten_per_cent_of_a_beam(masses, stiffness, lengths):
    found = armdyn.link_bending(rods(lengths, masses), [0.0, 0.0], stiffness)
    exact = beam(lengths, masses, stiffness)
    assert found.frequency == pytest.approx(exact, rel=0.1)
    assert found.frequency < 1.01 * exact  # Dunkerley's rule errs to the safe side
    assert found.matters(0.5 * exact)
    assert not found.matters(0.2 * exact)


def test_sag_is_that_of_a_cantilever():
    found = armdyn.link_bending(rods([0.8, 1e-3], [2.0, 1e-9], 3.0), [0.0, 0.0], [500.0, np.inf])
    exact = 9.81 * (3.0 * 0.8**3 / 3 + 2.0 * 0.8**3 / 8) / 500.0
    assert found.sag == pytest.approx(exact, rel=0.01)


def test_rigid_links_never_bend_and_bad_numbers_are_rejected():
    arm = rods([0.5, 0.4], [3.0, 2.0])
    rigid = armdyn.link_bending(arm, [0.0, 0.0], np.inf)
    assert rigid.frequency == np.inf
    assert not rigid.matters(1e6)
    with raises(ArmdynError, where="link_bending: stiffness", expected="numbers > 0", got="[1.0, -1.0]"):
        armdyn.link_bending(arm, [0.0, 0.0], [1.0, -1.0])
    with raises(ArmdynError, cause="the inertia of arm 'rods' is unknown"):
        armdyn.link_bending(arm.with_theta(np.full(20, np.nan)), [0.0, 0.0], 1.0)
