"""Options that commands take in groups: frozen dataclasses, whose fields are options of the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from typing import Any, get_type_hints

Command = Callable[..., None]
BANDWIDTH_HZ, RATE_HZ = 3.0, 1000.0  # of commands that design laws, by default


def spread_options(**but: str) -> Callable[[Command], Command]:
    """Give a command the fields of its parameters that are dataclasses as options in their place.

    `but` names fields, separated by blanks, that are left out of a parameter and keep their defaults.
    """

    def decorate(command: Command) -> Command:
        inner = signature(command, eval_str=True).parameters
        groups = {
            name: list(_options(one.annotation, but.get(name, "").split()))
            for name, one in inner.items()
            if is_dataclass(one.annotation)
        }

        @wraps(command)
        def run(**values: Any) -> None:
            collected = {}
            for name, options in groups.items():
                chosen = {option.name: values.pop(option.name) for option in options}
                collected[name] = _collect(inner[name].annotation, chosen)
            command(**collected, **values)

        outer = [option for name, one in inner.items() for option in groups.get(name, [one])]
        named = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in outer]
        run.__signature__ = signature(command).replace(parameters=named)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in named}
        return run

    return decorate


def _options(kind: Any, left_out: list[str]) -> Iterator[Parameter]:
    """Yield the fields of a dataclass, and of those inside it, as parameters."""
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        hint = hints[field.name]
        if is_dataclass(hint):
            yield from _options(hint, left_out)
        elif field.name not in left_out:
            yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=hint)


def _collect(kind: Any, values: dict[str, Any]) -> Any:
    """Make a dataclass, and those inside it, of the values of its options."""
    hints = get_type_hints(kind)
    inner = {name: _collect(hint, values) for name, hint in hints.items() if is_dataclass(hint)}
    return kind(**inner, **{name: values[name] for name in hints if name in values})
