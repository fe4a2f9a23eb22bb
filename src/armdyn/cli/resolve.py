"""The ARM argument of every command: the name of a library arm, or the path of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from armdyn.model.arm import Arm

ArmName = Annotated[
    str,
    typer.Argument(
        metavar="ARM",
        help="A file (.urdf, .toml, .csv) or the name of a library arm (see 'armdyn arms').",
    ),
]
Base = Annotated[str | None, typer.Option(help="First link of the chain, for a URDF that holds more than one.")]
Tip = Annotated[str | None, typer.Option(help="Last link of the chain.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts (SI units, radians).")]


def resolve(arm: str, base: str | None = None, tip: str | None = None) -> Arm:
    """The arm that a name or a path stands for; a library name wins over a folder of the same name.

    A name may carry a DH convention: `puma560:standard`.
    """
    from armdyn import arms
    from armdyn.errors import ReadError
    from armdyn.model.io import load

    known = library()
    if arm in known:
        if base or tip:
            raise ReadError(f"library arm '{arm}' is one chain; --base and --tip are for files")
        name, _, convention = arm.partition(":")
        build = getattr(arms, name)
        return build(convention) if convention else build()
    path = Path(arm)
    if path.suffix or path.exists():
        return load(path, base=base, tip=tip)
    raise ReadError(f"unknown arm '{arm}'{_hint(arm, known)}; expected a file or one of: {', '.join(known)}")


def library() -> tuple[str, ...]:
    """Names of all library arms; those with a second parameter set carry its convention."""
    import inspect

    from armdyn import arms

    names = []
    for name in arms.__all__:
        names.append(name)
        if "convention" in inspect.signature(getattr(arms, name)).parameters:
            names.append(f"{name}:standard")
    return tuple(names)


def _hint(arm: str, known: tuple[str, ...]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(arm.lower(), known, n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""
