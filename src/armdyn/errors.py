"""Every error and warning that armdyn raises on purpose.

All errors are `ValueError`s with one sentence: what, where, expected, got, hint.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any


class ArmdynError(ValueError):
    """Base of all errors raised on purpose."""


class ShapeError(ArmdynError):
    """An array has the wrong shape, type or contents for where it was passed."""


class ModelError(ArmdynError):
    """The description of an arm is impossible or contradicts itself."""


class ReadError(ArmdynError):
    """A file cannot be read as what it claims to be.

    `path`, `line`, `expected`, `got` and `remedy` tell where, what and what helps, as far as these are known; without
    a sentence, the message is made of them.
    """

    def __init__(
        self, message: str = "", *, path: Any = None, line: int | None = None, expected: str = "", got: str = "",
        remedy: str = "",
    ) -> None:  # fmt: skip
        place = ", line ".join(str(part) for part in (path, line) if part is not None)
        parts = [f"expected {expected}" if expected else "", f"got {got}" if got else ""]
        sentence = "; ".join(filter(None, (", ".join(filter(None, parts)), remedy)))
        super().__init__(message or ": ".join(filter(None, (place, sentence))))
        self.path, self.line, self.expected, self.got, self.remedy = path, line, expected, got, remedy


class MissingInertiaError(ArmdynError):
    """Dynamics was asked of an arm some of whose inertial parameters are unknown."""


class RankError(ArmdynError):
    """Error of numbers that do not tell how many parameters are independent."""


class PathError(ArmdynError):
    """A path cannot be followed; `t` [s] and `pose` (4, 4) tell where, `reason` why in a word."""

    def __init__(self, message: str, t: float = 0.0, pose: Any = None, reason: str = "") -> None:
        super().__init__(message)
        self.t, self.pose, self.reason = t, pose, reason


class ConstraintError(ArmdynError):
    """A constraint cannot be kept: `reason` is "conflicting", "redundant", "singular" or "start".

    `conditions` are those concerned, counted from 0.
    """

    def __init__(self, message: str, reason: str = "start", conditions: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.reason, self.conditions = reason, conditions


class SimulationError(ArmdynError):
    """A run cannot go on; `result` holds what was computed until then."""

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result


class DataError(ArmdynError):
    """Measured data cannot support what was asked of them; `findings` about them are as `Fit.findings` are."""

    def __init__(self, message: str, findings: Iterable[Any] = ()) -> None:
        super().__init__(message)
        self.findings = tuple(findings)


class LimitError(ArmdynError):
    """Limits of joints are missing, contradict each other, or leave no room for what was asked."""


def install_command(extra: str) -> str:
    """Return the command that brings an optional dependency, and where to run it.

    By name it would bring whatever somebody publishes under that name: armdyn is installed from its source.
    """
    return f"pip install '.[{extra}]' inside the folder of armdyn's source"


class MissingExtraError(ArmdynError, ImportError):
    """An optional dependency is needed and not installed; `extra` is the name under which pip brings it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what}; install it with {install_command(extra)}")
        self.extra = extra

    def __reduce__(self) -> tuple[Any, ...]:
        return _missing_extra, (str(self), self.extra)


def import_extra(module: str, what: str, extra: str) -> Any:
    """An optional module, or the error that says `what` needs it and how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingExtraError(what, extra) from None


def _missing_extra(text: str, extra: str) -> MissingExtraError:
    """An error as it was pickled."""
    error = MissingExtraError("", extra)
    error.args = (text,)
    return error


class ArmdynWarning(UserWarning):
    """Something works, but not as well as the user would expect."""


@contextmanager
def ignore_warnings() -> Iterator[None]:
    """Let nothing inside warn of what the caller expects or tells otherwise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ArmdynWarning)
        yield


def check_choice(
    where: str, what: str, value: object, known: Iterable[str], error: type[ArmdynError] = ArmdynError
) -> None:
    """Raise unless `value` is one of the known words."""
    words = list(known)
    if not isinstance(value, str) or value not in words:
        raise error(f"{where}: unknown {what} {quote(value)}; expected one of {', '.join(words)}")


def quote(value: object) -> str:
    """Bad input as a message quotes it: on one line, and not too long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."
