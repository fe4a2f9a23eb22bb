"""Print the options of all commands into options.md, from the commands themselves.

python docs/options.py
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from typer.models import ArgumentInfo

PAGE = Path(__file__).with_name("options.md")
HEAD = """# All options

The options of every command, as `armdyn COMMAND --help` prints them; [the command line](command-line.md) says what all
commands share. This page is written by `python docs/options.py`.

"""
VALUES = {"FLOAT": "NUMBER", "INT": "NUMBER", "PATH": "FILE", "TUPLE": "NUMBERS"}
Commands = dict[str, tuple[str, dict[str, tuple[str, str]]]]
OFTEN = 4  # commands that share an option from which on it is explained once, at the top


def page() -> str:
    """The whole page."""
    commands = _commands()
    shared = _shared(commands)
    tables = [_table("Options that many commands have", shared.values())]
    for name, (about, options) in commands.items():
        own = [option for option in options.values() if option not in shared.values()]
        also = [f"`{option[0]}`" for option in options.values() if option in shared.values()]
        tables.append(_table(f"`armdyn {name}`", own, about, ", ".join(also)))
    return HEAD + "\n".join(tables)


def _commands() -> Commands:
    """Of every command: what it does, and its options as (how it is written, what it means) by name."""
    from armdyn.cli.app import COMMANDS

    return {
        command.__name__.replace("_", "-"): (str(inspect.getdoc(command)).split("\n")[0], dict(_options(command)))
        for command in COMMANDS
    }


def _options(command: Callable[..., None]) -> Iterator[tuple[str, tuple[str, str]]]:
    """How options and arguments of a command are written, and their help with the default."""
    hints = get_type_hints(command, include_extras=True)
    for name, parameter in inspect.signature(command).parameters.items():
        kind, info = get_args(hints[name])[:2]
        text = str(info.help or "")
        if isinstance(info, ArgumentInfo):
            yield name, (str(info.metavar or name.upper()), text)
            continue
        flag = bool in (kind, *get_args(kind))
        usual = f"--{name.replace('_', '-')}"
        # Typer takes the first name for a default, as inside `Annotated` there is none.
        written = [word for word in (info.default, *(info.param_decls or ())) if str(word).startswith("-")]
        names = ", ".join(written or ([f"{usual}/--no-{usual[2:]}"] if flag else [usual]))
        words = [getattr(type_, "__name__", "").upper() for type_ in (kind, *get_args(kind))]
        choices = [
            choice for type_ in (kind, *get_args(kind)) if get_origin(type_) is Literal for choice in get_args(type_)
        ]
        usual_value = "|".join(choices) or next((VALUES[word] for word in words if word in VALUES), "TEXT")
        value = "" if flag else " " + (info.metavar or usual_value)
        default = parameter.default
        unsaid = default is inspect.Parameter.empty or default is None or isinstance(default, bool)
        yield name, (names + value, text if unsaid else f"{text} Default {default}.")


def _shared(commands: Commands) -> dict[str, tuple[str, str]]:
    """Options that mean the same in several commands."""
    seen: dict[tuple[str, tuple[str, str]], int] = {}
    for _, options in commands.values():
        for key, option in options.items():
            seen[key, option] = seen.get((key, option), 0) + 1
    return {key: option for (key, option), count in seen.items() if count >= OFTEN}


def _table(title: str, options: Any, about: str = "", also: str = "") -> str:
    rows = [f"| `{_cell(name)}` | {_cell(text)} |" for name, text in options]
    table = ["| option | |", "|---|---|", *rows, ""] if rows else []
    others = [f"Also {also}.", ""] if also else []
    return "\n".join([f"## {title}", "", *([about, ""] if about else []), *table, *others])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page())
