"""The frozen arm: what it is made of, other arms made from it, fingerprints."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.raising import raises

import armdyn
from armdyn import Arm, Inertia, Joint, Link
from armdyn.errors import MissingInertiaError, ModelError
from armdyn.model.joint import Limits
from armdyn.spatial.rotation import from_axis_angle, from_rpy
from armdyn.spatial.transform import transform

TOOL = transform(from_rpy((0.1, -0.4, 0.9)), (0.02, 0.0, 0.1))


def two_links(**options):
    ball = Inertia.from_com(2.0, (0.1, 0, 0.05), 0.01 * np.eye(3))
    joints = (
        Joint("shoulder", before=transform(translation=(0, 0, 0.3))),
        Joint("slide", "prismatic", (0, 1, 0), after=transform(from_rpy((0.2, 0.3, 0.4)), (0.1, 0.2, 0.3))),
    )
    return Arm(joints, (Link("upper", ball), Link("lower", ball)), **{"name": "two", "tool_pose": TOOL} | options)


def test_what_it_is_made_of():
    arm = two_links()
    assert (arm.n, arm.joint_names, arm.link_names) == (2, ("shoulder", "slide"), ("upper", "lower"))
    assert repr(arm) == "<Arm 'two': 2 joints RP, base -> tip>"
    np.testing.assert_array_equal(arm.gravity, (0, 0, -9.81))
    assert arm.theta.shape == (20,)
    assert arm.is_physical


def test_it_is_frozen():
    arm = two_links()
    with pytest.raises(dataclasses.FrozenInstanceError):
        arm.name = "other"
    for array in (arm.theta, arm.gravity, arm.base_pose, *arm.position_limits):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


def test_changing_an_input_array_does_not_change_the_arm():
    gravity, theta = np.array([0.0, 0.0, -1.0]), np.arange(20.0)
    arm = two_links(gravity=gravity).with_theta(theta)
    gravity[2] = theta[0] = 5.0
    assert arm.gravity[2] == -1.0
    assert arm.theta[0] == 0.0


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=20, max_size=20))
def test_any_finite_theta_goes_in_and_comes_out(theta):
    arm = two_links().with_theta(theta)
    np.testing.assert_array_equal(arm.theta, theta)
    assert isinstance(bool(arm.is_physical), bool)


def test_what_is_not_physical_is_named():
    theta = np.array(two_links().theta)
    theta[10] = 0.0  # first moments stay: legal, and not physical
    verdict = two_links().with_theta(theta).is_physical
    assert not verdict
    assert dict(verdict.problems) == {"lower": "first moments without mass"}
    assert str(verdict) == "link 'lower': first moments without mass"


def test_unknown_parameters_stop_dynamics_and_name_themselves():
    theta = np.array(two_links().theta)
    theta[10:] = np.nan
    theta[4] = np.nan
    arm = two_links().with_theta(theta)
    assert not arm.is_physical
    with raises(
        MissingInertiaError,
        cause=("dynamics needs every inertial parameter, but link 'upper' lacks Ixx; link 'lower' lacks all ten"),
        names=("upper", "lower"),
    ) as caught:
        arm.trace_data("theta")
    assert (caught.value.where, caught.value.names) == (f"arm '{arm.name}'", ("upper", "lower"))


def test_payload_at_the_tip_or_on_the_last_link():
    arm = two_links()
    tensor = np.diag([0.02, 0.03, 0.04])
    at_tip = arm.with_payload(1.5, (0.1, 0.2, 0.3), tensor)
    load = Inertia.from_com(1.5, (0.1, 0.2, 0.3), tensor)
    np.testing.assert_array_equal(at_tip.theta[:10], arm.theta[:10])
    np.testing.assert_allclose(at_tip.theta[10:], arm.theta[10:] + load.moved(TOOL).theta, rtol=1e-15)
    on_link = arm.with_payload(1.5, (0.1, 0.2, 0.3), tensor, frame="link")
    assert at_tip.notes[-1].startswith("Payload: 1.5 kg with its centre at 0.1 0.2 0.3 m in the tip frame")
    np.testing.assert_allclose(on_link.theta[10:], arm.theta[10:] + load.theta, rtol=1e-15)
    assert at_tip.is_physical
    # its centre lies where it was put
    change = Inertia(at_tip.theta[10:] - arm.theta[10:])
    np.testing.assert_allclose(change.com, (TOOL @ [0.1, 0.2, 0.3, 1])[:3], rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (
            lambda arm: arm.with_payload(-1.0),
            {"where": "with_payload", "cause": "the payload is not physically consistent: mass is negative (-1 kg)"},
        ),
        (
            lambda arm: arm.with_payload(np.nan),
            {
                "cause": (
                    "the payload is not physically consistent: unknown parameters: m, mx, my, mz, "
                    "Ixx, Ixy, Iyy, Ixz, Iyz, Izz"
                )
            },
        ),
        (lambda arm: arm.with_payload(1.0, (0, 0)), {"expected": "a centre of mass of shape (3,)"}),
        (
            lambda arm: arm.with_payload(1.0, (0, 0, 0), np.diag([1, 1, 3])),
            {
                "cause": (
                    "the payload is not physically consistent: moments break the triangle "
                    "inequality (1 + 1 < 3 kg m²); swapped axes?"
                )
            },
        ),
        (
            lambda arm: arm.with_payload(1.0, frame="base"),
            {"cause": "arm 'two' has no frame 'base'", "remedy": "frames: tip, upper, lower", "names": ("base",)},
        ),
        (lambda arm: arm.with_theta(np.zeros(10)), {"expected": "20 numbers for arm 'two'", "got": "shape (10,)"}),
        (lambda arm: arm.with_theta("none"), {"where": "with_theta", "expected": "20 numbers for arm 'two'"}),
        (
            lambda arm: arm.with_theta(np.r_[np.zeros(10), np.full(10, np.inf)]),
            {"where": "with_theta: link 'lower'", "expected": "finite numbers (NaN where unknown)"},
        ),
        (lambda arm: arm.with_gravity((0, 0)), {"where": "with_gravity", "expected": "3 finite numbers"}),
        (lambda arm: arm.with_gravity((0, 0, np.nan)), {"where": "with_gravity", "expected": "3 finite numbers"}),
        (lambda arm: arm.with_tool(np.eye(3)), {"where": "with_tool", "expected": "a 4x4 rigid transform"}),
        (lambda arm: arm.with_joints(arm.joints[:1]), {"expected": "one link per joint", "got": "2 for 1 joints"}),
        (lambda arm: Arm((), ()), {"cause": "the chain has no moving joint"}),
        (
            lambda arm: Arm(arm.joints[:1] * 2, arm.links),
            {"cause": "arm 'arm': joint names must differ, got shoulder more than once"},
        ),
        (
            lambda arm: Arm(arm.joints, arm.links[:1] * 2),
            {"cause": "arm 'arm': link names must differ, got upper more than once"},
        ),
        (
            lambda arm: Arm((1, 2), arm.links),
            {"where": "arm 'arm': joints", "expected": "a sequence of Joint", "got": "(1, 2)"},
        ),
        (
            lambda arm: Arm(arm.joints, "ab"),
            {"where": "arm 'arm': links", "expected": "a sequence of Link", "got": "'ab'"},
        ),
        (lambda arm: Arm(arm.joints, 5), {"where": "arm 'arm': links", "expected": "a sequence of Link", "got": "5"}),
        (lambda arm: two_links(notes="one note"), {"where": "arm 'two': notes", "expected": "a sequence of str"}),
        (lambda arm: two_links(name=""), {"expected": "text as name", "got": "''"}),
        (lambda arm: two_links(tip_name=3), {"expected": "text as tip_name", "got": "3"}),
        (
            lambda arm: two_links(base_pose=2 * np.eye(4)),
            {"where": "arm 'two': base_pose", "expected": "last row 0 0 0 1"},
        ),
        (lambda arm: Link("", Inertia.zero()), {"expected": "a name"}),
        (lambda arm: Link("a", np.zeros(10)), {"where": "link 'a'", "expected": "an Inertia"}),
    ],
)
def test_bad_input_is_rejected(call, parts):
    with raises(ModelError, **parts):
        call(two_links())


def test_geometry_fingerprint_sees_geometry_alone():
    arm = two_links()
    same = [arm.with_theta(np.zeros(20)), arm.with_gravity((0, 0, 0)), arm.with_payload(1.0), two_links(name="x")]
    assert {other.geometry_fingerprint for other in same} == {arm.geometry_fingerprint}
    moved = dataclasses.replace(arm.joints[0], before=transform(translation=(0, 0, 0.3 + 1e-15)))
    others = [
        arm.with_tool(np.eye(4)),
        two_links(base_pose=TOOL),
        arm.with_joints((moved, arm.joints[1])),
        arm.with_joints((dataclasses.replace(arm.joints[0], kind="prismatic"), arm.joints[1])),
    ]
    prints = {other.geometry_fingerprint for other in others}
    assert len(prints) == len(others)
    assert arm.geometry_fingerprint not in prints


def test_fingerprint_sees_everything_but_notes():
    arm = two_links()
    limited = dataclasses.replace(arm.joints[0], limits=Limits(-1, 1))
    others = [
        arm.with_theta(np.zeros(20)),
        arm.with_gravity((0, 0, 0)),
        arm.with_joints((limited, arm.joints[1])),
        two_links(name="x"),
        arm.with_tool(np.eye(4)),
    ]
    prints = {other.fingerprint for other in others}
    assert len(prints) == len(others)
    assert arm.fingerprint not in prints
    assert two_links(notes=("a note",)).fingerprint == arm.fingerprint


def test_fingerprints_are_stable():
    # They key kernels on disk: on every machine the same, changed only together with the digest's version.
    plain = Arm((Joint("j"),), (Link("l"),))
    assert plain.geometry_fingerprint[:16] == "c1a2581d59213b2b"
    zero, minus = (two_links(base_pose=transform(translation=(x, 0, 0))) for x in (0.0, -0.0))
    assert zero.geometry_fingerprint == minus.geometry_fingerprint


axes = st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda v: np.linalg.norm(v) > 1e-3)
axes |= st.just((0.0, 1e-9, 1.0))  # a unit vector in floating point, but not z
axes |= st.sampled_from([tuple(s * row) for row in np.eye(3) for s in (1.0, -1.0)])


@given(axes, st.floats(-3, 3), st.sampled_from(["revolute", "prismatic"]))
def test_segments_are_the_joint_with_its_axis_turned_to_z(axis, q, kind):
    joint = Joint("j", kind, axis, TOOL, transform(from_rpy((1.0, 0.2, 0.3)), (0.3, 0.1, 0.2)))
    arm = Arm((joint,), (Link("l"),), base_pose=transform(from_rpy((0.3, 0, 0)), (0, 0, 1)))
    segment = arm.segments[0]

    def motion(about):
        if kind == "revolute":
            return transform(from_axis_angle(about, q))
        return transform(translation=q * np.asarray(about))

    expected = arm.base_pose @ joint.before @ motion(joint.axis) @ joint.after
    before, after = transform(segment.R_before, segment.p_before), transform(segment.R_after, segment.p_after)
    np.testing.assert_allclose(before @ motion((0.0, 0.0, 1.0)) @ after, expected, rtol=0, atol=1e-14)


def test_right_angles_are_exact_in_segments():
    arm = Arm.from_dh([{"kind": "R", "alpha": np.pi / 2, "theta": -np.pi, "a": 0.4}])
    (segment,) = arm.segments
    assert set(np.unique(segment.R_after)) == {-1.0, 0.0, 1.0}
    np.testing.assert_array_equal(segment.p_after, (-0.4, 0.0, 0.0))


def test_masses_and_centres_of_links() -> None:
    arm = armdyn.arms.ur5()
    assert arm.links[1].mass == arm.links[1].inertia.mass
    np.testing.assert_array_equal(arm.links[1].com, arm.links[1].inertia.com)
    assert arm.mass == pytest.approx(sum(link.mass for link in arm.links))
