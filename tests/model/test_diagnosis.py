"""Each finding is raised by the flaw it names, and a well-described arm has none."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

import armdyn
from armdyn import Arm, Drive, Friction, Joint, Limits, Link, diagnose
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.transform import transform


def sound() -> Arm:
    """Three joints about which everything is known and nothing is suspect."""
    joints, links = [], []
    for i in range(3):
        joints.append(
            Joint(
                f"j{i}",
                before=transform(None, [0.4, 0, 0.1]),
                limits=Limits(-2, 2, 3, 50),
                friction=Friction(1 + i, 0.5),
                drive=Drive(1e-4, 100),
            )
        )
        links.append(Link(f"l{i}", Inertia.from_com(4 - i, [0.2, 0.01, 0], np.diag([0.01, 0.05, 0.052]) / (1 + i))))
    return Arm(joints, links)


def changed(i: int, *, theta=None, **joint) -> Arm:
    """The sound arm with joint `i` or the parameters of link `i` changed."""
    arm = sound()
    joints = list(arm.joints)
    joints[i] = dataclasses.replace(joints[i], **joint)
    rows = arm.theta.reshape(-1, 10).copy()
    if theta is not None:
        rows[i] = theta
    return arm.with_joints(joints).with_theta(rows.ravel())


def only(arm: Arm):
    (finding,) = diagnose(arm)
    return finding


def test_a_sound_arm_has_no_findings():
    assert diagnose(sound()) == []


TENSOR = np.diag([0.02, 0.03, 0.04])


@pytest.mark.parametrize(
    ("theta", "topic", "text"),
    [
        (np.full(10, np.nan), "missing", "no inertia"),
        (Inertia.from_com(3, [0.2, 0, 0], np.diag([1, 1, 3]) * 1e-2).theta, "impossible", "triangle"),
        (-Inertia.from_com(3, [0.2, 0, 0], TENSOR).theta, "impossible", "negative"),
        (Inertia.from_com(3, [0.2, 0, 0], 0.1 * np.eye(3)).theta, "invented", "sphere or cube"),
        (Inertia.from_com(3, [0.2, 0, 0]).theta, "invented", "point mass"),
        (Inertia.from_com(3, [0, 0, 0], TENSOR).theta, "invented", "origin"),
        (Inertia.from_com(0, [0, 0, 0], TENSOR).theta, "invented", "without mass"),
        (Inertia.from_com(1500, [0.2, 0, 0], 100 * TENSOR).theta, "units", "grams"),
        (Inertia.from_com(3, [200, 0, 0], TENSOR * 2).theta, "units", "centre of mass.*millimetres"),
        (Inertia.from_com(3, [0.2, 0, 0], 1e6 * TENSOR).theta, "units", "kg mm²"),
    ],
)
def test_suspect_bodies(theta, topic, text):
    finding = only(changed(1, theta=theta))
    assert (finding.topic, finding.where) == (topic, "link 'l1'")
    assert re.search(text, finding.text)


@pytest.mark.parametrize(
    ("change", "topic", "text"),
    [
        ({"limits": Limits(-2, 2, 3)}, "limits", "no effort limit"),
        ({"limits": Limits(-2, 2, effort=1)}, "limits", "no velocity limit"),
        ({"limits": Limits(-2, 2, 3, 0)}, "limits", "effort limit 0"),
        ({"limits": Limits(-2, 2, 0, 50)}, "limits", "velocity limit 0"),
        ({"limits": Limits(0, 0, 3, 50)}, "limits", "no range"),
        ({"limits": Limits(velocity=3, effort=50)}, "limits", "no position limit"),
        ({"limits": Limits(-170, 170, 3, 50)}, "units", "in degrees"),
        ({"limits": Limits(-2, 2, 180, 50)}, "units", "in degrees"),
        ({"drive": Drive()}, "missing", "no rotor inertia"),
        ({"friction": Friction()}, "missing", "no friction"),
    ],
)
def test_suspect_joints(change, topic, text):
    finding = only(changed(1, **change))
    assert (finding.topic, finding.where) == (topic, "joint 'j1'")
    assert text in finding.text
    assert str(finding) == f"joint 'j1': {finding.text}"


def test_copied_tensors_are_found_behind_different_centres_of_mass():
    arm = changed(1, theta=Inertia.from_com(2.2, [0.3, 0.2, -0.1], np.diag([0.01, 0.05, 0.052])).theta)
    finding = only(arm)
    assert (finding.topic, finding.where) == ("invented", "links 'l0', 'l1'")
    assert "copied" in finding.text


def test_millimetres_and_equal_friction():
    arm = sound()
    longer = [dataclasses.replace(j, before=transform(None, [400, 0, 100])) for j in arm.joints]
    assert "millimetres" in only(arm.with_joints(longer)).text
    equal = [dataclasses.replace(j, friction=Friction(10, 1)) for j in arm.joints]
    assert only(arm.with_joints(equal)).where == "friction"
    assert "mm/s²" in only(arm.with_gravity([0, 0, -9810])).text


def test_what_concerns_every_joint_is_said_once():
    arm = sound()
    finding = only(arm.with_joints(dataclasses.replace(j, drive=Drive()) for j in arm.joints))
    assert finding.where == "all joints"


@pytest.mark.parametrize("name", ["panda", "puma560", "ur10", "scara", "stanford"])
def test_no_units_are_suspected_of_library_arms(name):
    assert not [f for f in diagnose(getattr(armdyn.arms, name)()) if f.topic in ("units", "impossible")]
