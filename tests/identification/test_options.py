"""Options of `identify`: parts and single keywords mean the same."""

from __future__ import annotations

import dataclasses
import inspect
import re

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError, DataError
from armdyn.identification.options import (
    CorrectionOptions,
    IdentificationKeywords,
    ModelOptions,
    SmoothingOptions,
    merge_options,
)

PARTS = (ModelOptions(), SmoothingOptions(), CorrectionOptions())


def test_keywords_are_the_fields_of_the_options():
    names = [field.name for part in PARTS for field in dataclasses.fields(part)]
    assert names == list(IdentificationKeywords.__annotations__)
    shown = inspect.signature(armdyn.identify).parameters
    defaults = {field.name: getattr(part, field.name) for part in PARTS for field in dataclasses.fields(part)}
    assert {name: shown[name].default for name in names} == defaults


def test_a_keyword_replaces_a_field():
    model, smoothing, corrections = merge_options(dict(friction="simple", band=4.0, delay=0.01), PARTS)
    assert (model.friction, smoothing.band, corrections.delay) == ("simple", 4.0, 0.01)
    assert (model.terms, smoothing.method) == ("full", "auto")


def test_parts_and_keywords_give_the_same_fit():
    arm, t = armdyn.arms.planar2(), np.arange(2400) / 200
    q = np.stack([np.sin(2 * t) + 0.3 * np.sin(5 * t), np.cos(3 * t)], axis=1)
    qd = np.gradient(q, t, axis=0)
    log = armdyn.Log(t, q, armdyn.joint_torque(arm, q, qd, np.gradient(qd, t, axis=0)))
    one = armdyn.identify(arm, log, model=ModelOptions(friction="simple"), smoothing=SmoothingOptions(cutoff=8.0))
    other = armdyn.identify(arm, log, friction="simple", cutoff=8.0)
    np.testing.assert_array_equal(one.theta, other.theta)
    assert one.filters == other.filters


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        (ModelOptions, "terms", "half"),
        (ModelOptions, "friction", "none"),
        (ModelOptions, "prior", -1.0),
        (SmoothingOptions, "band", 0.0),
        (SmoothingOptions, "cutoff", np.inf),
        (SmoothingOptions, "method", "fft"),
        (SmoothingOptions, "form", "power"),
    ],
)
def test_values_that_cannot_be_are_named(part, field, value):
    with raises(ArmdynError, where="identify", expected=re.compile(f"^{field} "), got=repr(value)):
        part(**{field: value})


def test_forms_without_accelerations_need_all_dynamics():
    with raises(ArmdynError, expected="form one of torque", got="'energy'"):
        merge_options(dict(terms="gravity", form="energy"), PARTS)


def test_an_unknown_keyword_is_named():
    with pytest.raises(TypeError, match="unknown argument 'bandwidth'"):
        armdyn.identify(armdyn.arms.planar2(), [], bandwidth=5.0)  # type: ignore[call-arg]


def test_a_band_beyond_half_the_rate_of_the_samples_is_rejected():
    arm, t = armdyn.arms.planar2(), np.arange(1000) / 50
    log = armdyn.Log(t, np.stack([np.sin(2 * t), np.cos(3 * t)], axis=1), np.zeros((1000, 2)))
    with raises(DataError, expected="band below 25 Hz, half the rate of the samples", got="500.0"):
        armdyn.identify(arm, log, band=500.0)
