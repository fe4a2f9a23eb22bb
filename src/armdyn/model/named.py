"""An arm from one word: the name of a library arm, or the path of a file."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from armdyn.errors import ReadError
from armdyn.model import library
from armdyn.model.arm import Arm
from armdyn.model.io import load


def named_arm(
    word: str,
    base: str | None = None,
    tip: str | None = None,
    folder: Path = Path(),
    args: Mapping[str, object] | None = None,
    packages: Sequence[str] = (),
) -> Arm:
    """The arm that a name or a path stands for; a library name wins over a folder of the same name.

    Parameters
    ----------
    word : str
        A name, which may carry a DH convention as in `puma560:standard`, or a path.
    base, tip : str, optional
        First and last link of the chain in a file.
    folder : Path
        Folder in which relative paths begin.
    args, packages : optional
        Arguments and packages of a xacro; see `load`.
    """
    known = library_names()
    if word in known:
        if base or tip:
            cause = f"base= and tip= choose a chain of a file, and '{word}' is a library arm"
            raise ReadError(cause, remedy="save it to a file first", names=(word,))
        name, _, convention = word.partition(":")
        build = getattr(library, name)
        return build(convention) if convention else build()
    path = folder / word
    if path.suffix or path.exists():
        return load(path, base=base, tip=tip, args=args, packages=packages)
    cause = f"unknown arm '{word}'{close_to(word, known)}"
    raise ReadError(cause, expected=f"a file or one of: {', '.join(known)}", names=(word,))


def library_names() -> tuple[str, ...]:
    """Names of all library arms; those with a second parameter set carry its convention."""
    names = []
    for name in library.__all__:
        names.append(name)
        if "convention" in inspect.signature(getattr(library, name)).parameters:
            names.append(f"{name}:standard")
    return tuple(names)


def close_to(word: str, known: tuple[str, ...]) -> str:
    """A hint at the names that were probably meant, or nothing."""
    near = get_close_matches(word.lower(), known, n=1)
    near += [
        name for name in known if name not in near and name.partition(":")[0] == name and name.startswith(word.lower())
    ]
    return f" (did you mean {' or '.join(map(repr, near))}?)" if word and near else ""
