"""The ARM argument of every command: the name of a library arm, or the path of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from armdyn.model.arm import Arm


def complete_arm(incomplete: str) -> list[str]:
    """Names of library arms for the shell; where none fits, it goes on with files."""
    return [name for name in library() if name.startswith(incomplete)]


ArmName = Annotated[
    str,
    typer.Argument(
        metavar="ARM",
        help="A file (.urdf, .toml, .csv) or the name of a library arm (see 'armdyn arms').",
        autocompletion=complete_arm,
    ),
]
Base = Annotated[str | None, typer.Option(help="First link of the chain, for a URDF that holds more than one.")]
Tip = Annotated[str | None, typer.Option(help="Last link of the chain.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts (SI units, radians).")]


def resolve(arm: str, base: str | None = None, tip: str | None = None) -> Arm:
    """The arm that the argument stands for; see `named_arm`."""
    from armdyn.model.named import named_arm

    return named_arm(arm, base, tip)


def library() -> tuple[str, ...]:
    """Names of all library arms."""
    from armdyn.model.named import library_names

    return library_names()
