"""Every error and warning that armdyn raises on purpose.

All errors are `ValueError`s with one sentence, which is made of their parts: where, cause, expected, got, remedy.
"""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar

if TYPE_CHECKING:
    from pathlib import Path

P = ParamSpec("P")
R = TypeVar("R")

MAX_LISTED = 12  # names or lines of a kind in one message


class ArmdynError(ValueError):
    """Base of all errors raised on purpose: one sentence, and its parts for programs.

    `where` is the function, file or part concerned; `path` and `line` are those of a file. `cause`, or `expected` and
    `got`, tell what is wrong, `remedy` tells what helps, and `names` are the joints, links, columns or words concerned.
    Parts that do not apply are empty, or None (`path`, `line`).
    """

    def __init__(
        self, cause: str = "", *, where: object = "", path: object = None, line: int | None = None,
        expected: object = "", got: object = "", remedy: str = "", names: Iterable[object] = (),
    ) -> None:  # fmt: skip
        self.path, self.line = None if path is None else str(path), line
        self.where = str(where) or ", line ".join(str(part) for part in (path, line) if part is not None)
        self.cause, self.expected, self.got, self.remedy = cause, str(expected), str(got), remedy
        self.names = tuple(str(name) for name in names)
        super().__init__(self._sentence())

    def _sentence(self) -> str:
        """Make the sentence from its parts: place, cause or expectation, remedy."""
        wanted = filter(None, (self.expected and f"expected {self.expected}", self.got and f"got {self.got}"))
        text = "; ".join(filter(None, (self.cause, ", ".join(wanted), self.remedy)))
        return ": ".join(filter(None, (self.where, text)))

    def at(self, where: str, remedy: str = "") -> Self:
        """Name a place before that of the error, unless it begins so already, and add a remedy."""
        if not str(self).startswith(where):
            self.where = ": ".join(filter(None, (where, self.where)))
        self.remedy = "; ".join(filter(None, (self.remedy, remedy)))
        self.args = (self._sentence(),)
        return self


class ShapeError(ArmdynError):
    """An array has the wrong shape, type or contents for where it was passed."""


class ModelError(ArmdynError):
    """The description of an arm is impossible or contradicts itself."""


class ReadError(ArmdynError):
    """A file cannot be read as what it claims to be; `path` and `line` tell where, as far as these are known."""


class MissingInertiaError(ArmdynError):
    """Dynamics was asked of an arm some of whose inertial parameters are unknown."""


class RankError(ArmdynError):
    """Error of numbers that do not tell how many parameters are independent."""


class PathError(ArmdynError):
    """A path cannot be followed; `t` [s] and `pose` (4, 4) tell where, `reason` why in a word."""

    def __init__(self, cause: str = "", t: float = 0.0, pose: Any = None, reason: str = "", **parts: Any) -> None:
        super().__init__(cause, **parts)
        self.t, self.pose, self.reason = t, pose, reason


class ConstraintError(ArmdynError):
    """A constraint cannot be kept: `reason` is "conflicting", "redundant", "singular" or "start".

    `conditions` are those concerned, counted from 0.
    """

    def __init__(self, cause: str = "", reason: str = "start", conditions: tuple[int, ...] = (), **parts: Any) -> None:
        super().__init__(cause, **parts)
        self.reason, self.conditions = reason, conditions


class SimulationError(ArmdynError):
    """A run cannot go on; `result` holds what was computed until then."""

    def __init__(self, cause: str = "", result: Any = None, **parts: Any) -> None:
        super().__init__(cause, **parts)
        self.result = result


class DataError(ArmdynError):
    """Measured data cannot support what was asked of them; `findings` about them are as `Fit.findings` are."""

    def __init__(self, cause: str = "", findings: Iterable[Any] = (), **parts: Any) -> None:
        super().__init__(cause, **parts)
        self.findings = tuple(findings)


class LimitError(ArmdynError):
    """Limits of joints are missing, contradict each other, or leave no room for what was asked."""


def reads_file(read: Callable[P, R]) -> Callable[P, R]:
    """Let the errors of a function carry the path that is its first argument, where they carry none."""

    @wraps(read)
    def with_path(*args: P.args, **options: P.kwargs) -> R:
        try:
            return read(*args, **options)
        except ArmdynError as error:
            paths = (value for value in (*args, *options.values()) if isinstance(value, str | os.PathLike))
            error.path = error.path or next(map(str, paths), None)
            raise

    return with_path


def install_command(extra: str) -> str:
    """Return the command that brings an optional dependency; it names the folder or wheel that armdyn came from.

    By name it would bring whatever somebody publishes under that name: armdyn is installed from its source.
    """
    source = _installation_source()
    if source is None:
        return f"pip install '.[{extra}]' inside the folder of armdyn's source"
    return f"pip install '{source}[{extra}]'"


def _installation_source() -> Path | None:
    """Return the folder or wheel that armdyn was installed from, as pip records it (PEP 610), if it is still there."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from pathlib import Path
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        record = json.loads(distribution("armdyn").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        return None
    url = urlsplit(record.get("url", ""))
    source = Path(url2pathname(url.path))
    installable = source.is_file() or (source / "pyproject.toml").is_file()
    return source if url.scheme == "file" and installable else None


class MissingExtraError(ArmdynError, ImportError):
    """An optional dependency is needed and not installed; `extra` is the name under which pip brings it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(what, remedy=f"install it with {install_command(extra)}")
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
        unknown = f"unknown {what} {quote(value)}"
        raise error(unknown, where=where, expected=f"one of {', '.join(words)}", names=(value,))


def expect(
    fits: object, where: object, expected: str, value: object = ..., error: type[ArmdynError] = ShapeError, *,
    got: object = "", remedy: str = "",
) -> None:  # fmt: skip
    """Raise unless something fits: `expected`, not `value`, or not what `got` says of it."""
    if not fits:
        raise error(where=where, expected=expected, got=got if value is ... else quote(value), remedy=remedy)


def quote(value: object) -> str:
    """Bad input as a message quotes it: on one line, and not too long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."
