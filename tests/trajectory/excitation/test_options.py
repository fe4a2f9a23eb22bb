"""Options of `excite`, in parts and as single keywords."""

from __future__ import annotations

import dataclasses
import inspect

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError
from armdyn.shapes.obstacles import Sphere
from armdyn.trajectory.excitation.options import (
    ExcitationKeywords,
    ObjectiveOptions,
    ProtectionOptions,
    SearchOptions,
    SeriesOptions,
    TorqueCheck,
    merge_options,
)

PARTS = (SeriesOptions(), ObjectiveOptions(), ProtectionOptions(), SearchOptions())
CUBE = [[0.5, 0.5, 0.5], [1.0, 1.0, 1.0]]


def test_parts_and_keywords_design_the_same_motion():
    arm = armdyn.arms.puma3()
    limits = {"max_acceleration": 8.0, "max_velocity": 2.0, "position": (-2 * np.ones(3), 2 * np.ones(3))}
    parts = armdyn.excite(
        arm, 6.0, **limits, series=SeriesOptions(harmonics=3), search=SearchOptions(steps=3),
        protection=ProtectionOptions(floor_check=False, self_collision=False, torque_check=TorqueCheck.OFF),
    )  # fmt: skip
    single = armdyn.excite(
        arm, 6.0, **limits, harmonics=3, steps=3, floor=False, self_collision=False, max_torque=False
    )
    np.testing.assert_array_equal(parts.trajectory.coefficients, single.trajectory.coefficients)
    assert parts.unchecked == single.unchecked


def test_a_keyword_overrules_the_field_of_a_part():
    parts = (SeriesOptions(harmonics=3, at_rest=False), *PARTS[1:])
    series, _, _, search = merge_options({"harmonics": 7, "seed": 3}, parts)
    assert series == SeriesOptions(7, None, False)
    assert search == SearchOptions(seed=3)


def test_keywords_with_more_meanings_become_fields_with_one():
    of = ProtectionOptions.of
    assert of().torque_check is TorqueCheck.IF_KNOWN
    assert (of(max_torque=True).torque_check, of(max_torque=True).max_torque) == (TorqueCheck.REQUIRED, None)
    assert of(max_torque=False).torque_check is TorqueCheck.OFF
    assert of(max_torque=[1.0, 2.0]).max_torque == [1.0, 2.0]
    assert not of(floor=False).floor_check
    assert of(floor=0.2).floor == 0.2
    ball = Sphere(np.zeros(3), 0.1, "ball")
    assert [one.name for one in of(obstacles=[ball], boxes=[CUBE]).obstacles] == ["ball", "box"]
    (both,) = merge_options({"boxes": [CUBE]}, (ProtectionOptions(obstacles=[ball]),))
    assert len(both.obstacles) == 2


def test_every_keyword_is_a_field_or_more_of_one():
    names = {field.name for part in PARTS for field in dataclasses.fields(part)}
    assert set(ExcitationKeywords.__annotations__) == names - {"torque_check", "floor_check"} | {"boxes"}
    shown = inspect.signature(armdyn.excite).parameters
    assert set(ExcitationKeywords.__annotations__) < set(shown)
    assert shown["harmonics"].default == SeriesOptions().harmonics


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (lambda: SeriesOptions(harmonics=2.5), {"expected": "harmonics as a whole number", "got": "2.5"}),
        (lambda: SeriesOptions(frequency=0.0), {"expected": "frequency > 0", "got": "0"}),
        (
            lambda: ObjectiveOptions(criterion="beauty"),
            {"names": ("beauty",), "expected": "one of condition, log-det, min-singular, kalman"},
        ),
        (lambda: ProtectionOptions(margin=1.0), {"expected": "margin from 0 to below 1", "got": "1.0"}),
        (lambda: SearchOptions(starts=0), {"expected": "starts > 0", "got": "0"}),
        (lambda: SearchOptions(seed=-1), {"expected": "seed >= 0", "got": "-1"}),
        (lambda: SearchOptions(time_budget=True), {"expected": "time_budget as a number", "got": "True"}),
    ],
)
def test_bad_values_are_one_sentence(make, parts):
    with raises(ArmdynError, **parts):
        make()


def test_unknown_keywords_are_named():
    with pytest.raises(TypeError, match="unknown argument 'harmonic'; expected harmonics, frequency"):
        armdyn.excite(armdyn.arms.puma3(), 6.0, max_acceleration=8.0, harmonic=3)
