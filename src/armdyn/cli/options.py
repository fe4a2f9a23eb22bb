"""Signatures of commands: parameters of functions, dataclasses spread into options, with words of `options.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache, wraps
from inspect import Parameter, signature
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, Any, get_type_hints

import typer

Command = Callable[..., None]
BANDWIDTH_HZ, RATE_HZ = 3.0, 1000.0  # of commands that design laws, by default


def spread_options(name: str, function: Command) -> Command:
    """Give a command the fields of its parameters that are dataclasses as options in their place, and all their words.

    Fields that the table names in `left_out` of their parameter keep their defaults.
    """
    explained = words()["common"] | words().get(name, {})
    left_out = explained.get("left_out", {})
    inner = signature(function, eval_str=True).parameters
    groups = {
        key: [option for option in _fields(one.annotation) if option.name not in left_out.get(key, ())]
        for key, one in inner.items()
        if is_dataclass(one.annotation)
    }

    @wraps(function)
    def run(**values: Any) -> None:
        collected = {}
        for key, options in groups.items():
            chosen = {option.name: values.pop(option.name) for option in options}
            collected[key] = _collect(inner[key].annotation, chosen)
        function(**collected, **values)

    outer = [option for key, one in inner.items() for option in groups.get(key, [one])]
    named = [_explain(option, explained[option.name]) if option.name in explained else option for option in outer]
    run.__signature__ = signature(function).replace(parameters=named)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in named}
    return run


@cache
def words() -> dict[str, dict[str, Any]]:
    """Return the table of arguments and options by command: help, or a table with it and more for typer."""
    return tomllib.loads(Path(__file__).with_name("options.toml").read_text(encoding="utf-8"))


def _fields(kind: Any) -> Iterator[Parameter]:
    """Yield the fields of a dataclass, and of those inside it, as parameters."""
    hints = get_type_hints(kind)
    for field in fields(kind):
        hint = hints[field.name]
        if is_dataclass(hint):
            yield from _fields(hint)
        else:
            yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=hint)


def _explain(option: Parameter, entry: str | dict[str, Any]) -> Parameter:
    """Return a parameter as the argument or option that its entry in `options.toml` describes."""
    about: dict[str, Any] = {"help": entry} if isinstance(entry, str) else dict(entry)
    if complete := about.pop("complete", None):
        about["autocompletion"] = lambda incomplete: resolve_name(complete)(incomplete)
    usual = [f"--{option.name.replace('_', '-')}"] if option.default is False else []  # and no `--no-...`
    names = about.pop("names", usual)
    argument = about.pop("argument", None)
    info = typer.Option(*names, **about) if argument is None else typer.Argument(metavar=argument, **about)
    return option.replace(kind=Parameter.KEYWORD_ONLY, annotation=Annotated[option.annotation, info])


def _collect(kind: Any, values: dict[str, Any]) -> Any:
    """Make a dataclass, and those inside it, of the values of its options."""
    hints = get_type_hints(kind)
    inner = {name: _collect(hint, values) for name, hint in hints.items() if is_dataclass(hint)}
    return kind(**inner, **{name: values[name] for name in hints if name in values})
