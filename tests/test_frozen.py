"""What cannot be written into cannot be written into after copy, deepcopy and pickle either."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ModelError

pytestmark = pytest.mark.smoke

WAYS: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "old pickle": lambda x: pickle.loads(pickle.dumps(x, protocol=2)),
}


def arrays(value: Any, where: str) -> Iterator[tuple[str, np.ndarray]]:
    """All arrays in the fields of frozen dataclasses, and where they are."""
    if isinstance(value, np.ndarray):
        yield where, value
    elif isinstance(value, tuple | list):
        for k, item in enumerate(value):
            yield from arrays(item, f"{where}[{k}]")
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from arrays(getattr(value, field.name), f"{where}.{field.name}")


THINGS: dict[str, Callable[[], Any]] = {
    "arm": armdyn.arms.puma560,
    "base parameters": lambda: armdyn.base_parameters(armdyn.arms.planar2()),
    "law": lambda: armdyn.PD(armdyn.arms.planar2(), 100.0, 20.0),
    "guarded law": lambda: armdyn.Guarded(armdyn.PD(armdyn.arms.panda(), 100.0, 20.0)),
    "adaptive law": lambda: armdyn.SlotineLi(
        armdyn.adapt(armdyn.base_parameters(armdyn.arms.planar2())), 5.0, 2.0, 1.0
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", THINGS)
def test_a_copy_is_as_frozen_as_the_original(name, way):
    thing = THINGS[name]()
    originals, copies = dict(arrays(thing, name)), dict(arrays(WAYS[way](thing), name))
    frozen = [where for where, array in originals.items() if not array.flags.writeable]
    assert frozen
    assert originals.keys() == copies.keys()
    assert [where for where in frozen if copies[where].flags.writeable] == []
    for where, array in originals.items():
        np.testing.assert_array_equal(copies[where], array)


@pytest.mark.parametrize("way", WAYS)
def test_a_copied_arm_computes_the_same_and_has_the_same_fingerprint(way):
    arm = armdyn.arms.puma560()
    q = np.random.default_rng(0).normal(size=(5, 6))
    expected = armdyn.inverse_dynamics(arm, q, q, q)
    other = WAYS[way](arm)
    assert other.fingerprint == arm.fingerprint
    np.testing.assert_array_equal(armdyn.inverse_dynamics(other, q, q, q), expected)
    for array in (other.gravity, other.theta, other.links[2].inertia.theta, other.joints[0].before):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1.0


def test_what_was_cached_is_not_carried_along():
    arm = armdyn.arms.puma560()
    assert len(arm.segments) == 6
    assert "segments" in vars(arm)
    assert "segments" not in vars(copy.deepcopy(arm))


def test_an_arm_whose_numbers_were_changed_on_the_way_is_rejected():
    arm = armdyn.arms.planar2()
    data = pickle.dumps(arm)
    at = data.find(arm.gravity.tobytes())
    damaged = data[:at] + np.array([0.0, 0.0, -1.62]).tobytes() + data[at + 24 :]
    with raises(ModelError, cause="a copy has other numbers than its fingerprint says"):
        pickle.loads(damaged)
