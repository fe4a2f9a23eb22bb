"""How commands show themselves: a usage line and names of values that are not Python's."""

from __future__ import annotations

import re
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperOption

from armdyn.cli.options import words
from armdyn.cli.rejected import typed_options

# Type in Python -> what help calls a value of it.
VALUES = {"str": "TEXT", "Path": "FILE", "path": "FILE", "int": "N", "float": "NUMBER"}


# Options by their earlier names, which each command still takes: one name has one meaning in all commands.
RENAMED = {command: options["renamed"] for command, options in words().items() if "renamed" in options}


class PlainCommand(TyperCommand):
    """A command whose help names values by what they are: `ARM LOG...`, `FILE`, `NUMBER`, and choices as `a|b`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for parameter in self.params:
            if isinstance(parameter, TyperOption) and parameter.metavar is None and not parameter.is_flag:
                parameter.metavar = _value_name(parameter)
            elif isinstance(parameter, TyperArgument):
                parameter.display_type_rich = lambda ctx: ""  # type: ignore[method-assign]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments; errors speak of the value, not of the library that rejects it."""
        try:
            return super().parse_args(ctx, [_current_option(self.name or "", word) for word in args])
        except typer.BadParameter as error:
            error.message = _plain(error, args)
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line."""
        arguments = [p for p in self.get_params(ctx) if isinstance(p, TyperArgument) and not p.hidden]
        return ["[OPTIONS]", *(_usage(argument) for argument in arguments)]


def _plain(error: typer.BadParameter, args: list[str]) -> str:
    """Return what an option expected, and the value that it got."""
    text = error.message.replace("Value error, ", "")
    wanted, option = re.match("Input should be ([^,]*)", text), error.param
    if wanted is None or not isinstance(option, TyperOption):
        return text
    typed = next((value for name, value in typed_options(args).items() if name in option.opts), "")
    return f"expected {wanted[1]}" + (f", got '{' '.join(typed.split()[: option.nargs])}'" if typed else "")


def _current_option(command: str, word: str) -> str:
    """Return an option by its current name, with a warning where it has changed."""
    option, equals, value = word.partition("=")
    current = RENAMED.get(command, {}).get(option)
    if current is None:
        return word
    typer.echo(f"armdyn: warning: {option} of {command} is now {current}", err=True)
    return current + equals + value


def _value_name(option: TyperOption) -> str | None:
    described = option.type_descriptor
    if described.is_choice:
        return "|".join(str(getattr(choice, "value", choice)) for choice in described.choices or ())
    if described.is_tuple:
        return " ".join(["NUMBER"] * option.nargs)
    return VALUES.get(option.bare_type().removeprefix("list[").removesuffix("]"))


def _usage(argument: TyperArgument) -> str:
    name = (argument.metavar or argument.name).removesuffix("...").strip("[]")
    name = f"{name}..." if argument.nargs != 1 else name
    return name if argument.required else f"[{name}]"
