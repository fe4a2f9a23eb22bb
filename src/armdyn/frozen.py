"""Frozen data stays frozen: through copy, deepcopy and pickle, and so in other processes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, wraps
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

Subject = TypeVar("Subject")
Result = TypeVar("Result")
Value = TypeVar("Value")


class PartOf(property, Generic[Value]):
    """A property that a part of an object answers: `rms = PartOf[float]("errors.rms", "Error of replays [rad]")`."""

    def __init__(self, path: str, doc: str) -> None:
        super().__init__(attrgetter(path))
        self.__doc__ = doc

    if TYPE_CHECKING:

        def __get__(self, instance: Any, owner: type | None = None) -> Value: ...  # type: ignore[override]


def compute_once(function: Callable[[Subject], Result]) -> Callable[[Subject], Result]:
    """A function of a frozen object that remembers its result as long as the object lives: that never changes."""
    known: WeakKeyDictionary[Subject, Result] = WeakKeyDictionary()

    @wraps(function)
    def remember(subject: Subject) -> Result:
        if subject not in known:
            known[subject] = function(subject)
        return known[subject]

    return remember


class Frozen:
    """Base of frozen dataclasses whose arrays are read-only.

    NumPy's copies and pickles of a read-only array can be written into; a copy of a frozen object has read-only arrays
    again, and computes anew what the original had cached.
    """

    def _set(self, **values: Any) -> None:
        """Fields and what is derived from them, while the object is being built; arrays become read-only."""
        for name, value in values.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        return {k: x for k, x in self.__dict__.items() if not isinstance(getattr(type(self), k, None), cached_property)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
        self.__dict__.update(state)
