"""The ARM argument of every command: the name of a library arm, or the path of a file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from armdyn.errors import ArmdynError

if TYPE_CHECKING:
    from armdyn.model.arm import Arm


def complete_arm(incomplete: str) -> list[str]:
    """Names of library arms for the shell, and files that begin alike; where no name fits, it goes on with files."""
    from armdyn.cli.logs import DESCRIPTIONS

    names = [name for name in library() if name.startswith(incomplete)]
    files = [name for name in sorted(os.listdir()) if name.lower().endswith(DESCRIPTIONS)]
    return names and names + [name for name in files if name.startswith(incomplete)]


def law_lines() -> dict[str, str]:
    """Return the purpose of each control law, by name."""
    from armdyn.control.design.purposes import law_purposes

    return law_purposes()


def law_names(incomplete: str) -> list[str]:
    """Names of control laws for the shell, as commands take them."""
    from armdyn.control.design.purposes import plain_name

    return [name for name in map(plain_name, law_lines()) if name.startswith(incomplete)]


XACRO: dict[str, list[str]] = {"--xacro-arg": [], "--package-path": []}  # given on this line


def take_xacro_options(arguments: list[str]) -> list[str]:
    """The arguments without `--xacro-arg` and `--package-path`, which are kept for `resolve`."""
    rest, waiting = [], iter(arguments)
    for values in XACRO.values():
        values.clear()
    for word in waiting:
        name, equals, value = word.partition("=")
        if name not in XACRO:
            rest.append(word)
        elif value := value if equals else next(waiting, ""):
            XACRO[name].append(value)
        else:
            raise SystemExit(f"armdyn: {name}: expected a value after it")
    return rest


def resolve(arm: str, base: str | None = None, tip: str | None = None) -> Arm:
    """The arm that the argument stands for; see `named_arm`."""
    from armdyn.model.named import named_arm

    args = {}
    for word in XACRO["--xacro-arg"]:
        name, colon, value = word.partition(":=")
        if not (colon and name):
            raise ArmdynError(where="--xacro-arg", expected="name:=value", got=f"'{word}'")
        args[name] = value
    return named_arm(arm, base, tip, args=args, packages=XACRO["--package-path"])


def library() -> tuple[str, ...]:
    """Names of all library arms."""
    from armdyn.model.named import library_names

    return library_names()
