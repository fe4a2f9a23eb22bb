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
    """The arm that a name or a path stands for.

    A name may carry a DH convention: `puma560:standard`.
    """
    from armdyn.errors import ReadError

    path = Path(arm)
    if path.suffix or path.exists():
        from armdyn.model.io import load

        return load(path, base=base, tip=tip)
    if base or tip:
        raise ReadError(f"library arm '{arm}' is one chain; --base and --tip are for files")
    known = library()
    if arm not in known:
        raise ReadError(f"unknown arm '{arm}'{_hint(arm, list(known))}; expected a file or one of: {', '.join(known)}")
    name, _, convention = arm.partition(":")
    from armdyn import arms

    build = getattr(arms, name)
    return build(convention) if convention else build()


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


def _hint(arm: str, known: list[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(arm.lower(), known, n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""
