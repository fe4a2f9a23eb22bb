"""Gains of a control law times factors, also of laws inside laws."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import ArrayLike

from armdyn.control.laws.wrapped import Wrapped
from armdyn.control.protocol import Law, nested_laws
from armdyn.study.table import StudyError


def gain_names(law: Law) -> tuple[str, ...]:
    """Names of the gains of a law and of the laws inside it."""
    return tuple(name for each in nested_laws(law) for name in _own_gains(each))


def _own_gains(law: Law) -> list[str]:
    fields = {field.name for field in dataclasses.fields(law)}  # type: ignore[arg-type]
    return [name for name in law.shapes if name in fields]


def scale_gain(law: Law, name: str, factor: ArrayLike) -> Law:
    """The law with one gain times a factor, or times one factor per rollout, (lanes,)."""
    if name in _own_gains(law):
        core = len(law.core_shape(name))
        factors = np.asarray(factor, float)
        value = np.asarray(getattr(law, name)) * factors.reshape(*factors.shape, *(1,) * core)
        return dataclasses.replace(law, **{name: value})  # type: ignore[type-var]
    if isinstance(law, Wrapped):
        return dataclasses.replace(law, law=scale_gain(law.law, name, factor))  # type: ignore[type-var]
    cause = f"no gain '{name}' in {type(law).__name__}; it has {', '.join(gain_names(law)) or 'none'}"
    raise StudyError(cause, names=(name,))
