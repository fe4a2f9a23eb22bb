"""Names of other toolboxes and earlier names of armdyn: the tables of `names.toml`, and what answers by them.

A public name that changes stands in the table `renamed`, with its owner (`armdyn`, a class or a function). The old one
works for one release, with a `DeprecationWarning` that gives the new one: packages and objects of `HintedAttributes`
look it up by themselves, functions with `@renamed_keywords`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, TypeVar

MIN_LETTERS, MAX_HINTS, QUOTE = 3, 2, "'"  # of a beginning by which names are found; how many of them are told

Call = TypeVar("Call", bound=Callable[..., Any])


@cache
def tables() -> dict[str, Any]:
    """`toolboxes` and `simulators`, rows of names with ours last, `on_an_arm` and `guessed`; read when asked for."""
    import tomllib  # 10 ms, which imports need not wait for
    from pathlib import Path

    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def current_name(owners: Iterable[str], name: str, stacklevel: int = 3) -> str | None:
    """Return the name that replaces an earlier one of some owner, with a warning; None if there is none."""
    if name.startswith("_"):
        return None
    renamed = tables()["renamed"]
    for owner in owners:
        if (key := f"{owner}.{name}") in renamed:
            import warnings

            message = f"{key} is now called {renamed[key]}; the old name will be removed"
            warnings.warn(message, DeprecationWarning, stacklevel=stacklevel)
            return str(renamed[key])
    return None


def renamed_keywords(function: Call) -> Call:
    """Let a function, or a method, take keywords by earlier names, which stand in the table with it as their owner."""
    name, known = function.__qualname__, function.__code__.co_varnames

    @wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        if any(word not in known for word in keywords):
            keywords = {
                word if word in known else current_name([name], word) or word: keywords[word] for word in keywords
            }
        return function(*args, **keywords)

    return call  # type: ignore[return-value]


class UnknownName(AttributeError):
    """A name that does not exist; the message says what it is called here, or what is spelt alike."""

    def __init__(self, owner: str, name: str, known: Callable[[], Iterable[str]]) -> None:
        super().__init__(owner, name)
        self.owner, self.missing, self.known = owner, name, known

    def __str__(self) -> str:
        """The text is made when somebody reads it: most of these errors answer `hasattr`."""
        return f"{self.owner} has no attribute '{self.missing}'{self._hint()}"

    def _hint(self) -> str:
        name, ours, on_an_arm = self.missing, alias_of(self.missing), tables()["on_an_arm"]
        if guessed := tables()["guessed"].get(f"{self.owner.split()[-1].strip(QUOTE)}.{name}"):
            return f"; write {guessed}"
        if name in on_an_arm:
            return f"; write {on_an_arm[name]}"
        if self.owner == "an arm" and (ours or name in public_functions()):
            return f"; write {' or '.join(_call(one) for one in ours or [name])}"
        if ours:
            return f"; here it is called {' or '.join(ours)}"
        from difflib import get_close_matches  # 2 ms

        known = list(self.known())
        longer = [one for one in known if one.startswith(name) and len(name) >= MIN_LETTERS][:MAX_HINTS]
        near = list(dict.fromkeys((*get_close_matches(name, known, n=2, cutoff=0.75), *longer)))[:MAX_HINTS]
        return f"; did you mean {' or '.join(near)}?" if near else ""

    def __reduce__(self) -> tuple[type[AttributeError], tuple[str]]:
        return AttributeError, (str(self),)


class _HintedClass(type):
    """Classes whose missing methods are answered, such as `Arm.from_urdf`."""

    if not TYPE_CHECKING:  # type checkers must not believe that every name exists

        def __getattr__(cls, name: str) -> Any:
            raise UnknownName(f"class '{cls.__name__}'", name, lambda: dir(cls))


class HintedAttributes(metaclass=_HintedClass):
    """Objects whose missing names are answered with what to write."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if (current := current_name((kind.__name__ for kind in type(self).__mro__), name)) is not None:
                return getattr(self, current)
            called = type(self).__name__.lower()
            raise UnknownName(f"{'an' if called[0] in 'aeiou' else 'a'} {called}", name, lambda: dir(self))


def alias_of(name: str) -> list[str]:
    """Return what a name of another toolbox is called here; empty if it is not known."""
    for *others, ours in (*tables()["toolboxes"], *tables()["simulators"]):
        if name in " ".join(others).replace(".", " ").split():
            return ours.split()
    return []


def public_functions() -> list[str]:
    """The functions that armdyn lists: they take an arm, and are not its methods."""
    return [name for name in getattr(sys.modules.get("armdyn"), "__all__", ()) if name.islower()]


def _call(name: str) -> str:
    owner, _, method = name.rpartition(".")
    return f"arm.{method}(...)" if owner == "Arm" and method.startswith("with") else f"armdyn.{name}(arm, ...)"
