"""A fit in parts: fields of the parts are properties, and can be replaced by their names."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import armdyn
from armdyn.identification.fit.result import FitMetrics, FitProvenance, ModelPair, ModelSelection, ParameterConditioning

PARTS = {
    "metrics": FitMetrics,
    "provenance": FitProvenance,
    "selection": ModelSelection,
    "conditioning": ParameterConditioning,
    "models": ModelPair,
}
MAX_FIELDS = 12


@pytest.fixture(scope="module")
def fit():
    arm = armdyn.arms.planar2()
    t = np.arange(2000) / 200
    q = np.stack([np.sin(2 * t) + 0.3 * np.sin(5 * t), np.cos(3 * t)], axis=1)
    qd = np.gradient(q, t, axis=0)
    return armdyn.identify(arm, armdyn.Log(t, q, armdyn.joint_torque(arm, q, qd, np.gradient(qd, t, axis=0))))


@pytest.mark.parametrize("part", PARTS)
def test_fields_of_parts_are_properties(fit, part):
    assert isinstance(getattr(fit, part), PARTS[part])
    for field in dataclasses.fields(PARTS[part]):
        assert getattr(fit, field.name) is getattr(getattr(fit, part), field.name)


def test_parts_are_small():
    for kind in (armdyn.Fit, *PARTS.values()):
        assert len(dataclasses.fields(kind)) <= MAX_FIELDS


def test_fields_are_replaced_wherever_they_are(fit):
    other = fit.with_fields(held_out=0.5, notes=("new",), source=fit.arm)
    assert (other.held_out, other.notes, other.source) == (0.5, ("new",), fit.arm)
    assert other.metrics.training is fit.training
    assert fit.held_out != 0.5
    with pytest.raises(TypeError, match="no_such_field"):
        fit.with_fields(no_such_field=1)
