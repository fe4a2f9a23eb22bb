"""Options of a function in a few parts, and the fields of these parts as single keywords of the function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, TypeVar, cast

Call = TypeVar("Call", bound=Callable[..., Any])
Parts = TypeVar("Parts", bound=tuple[Any, ...])


def with_keywords(kinds: Any, *parts: Any) -> Callable[[Call], Call]:
    """Show the keywords of a `TypedDict` in a function's signature, with the defaults of its options."""
    defaults = {field.name: getattr(part, field.name) for part in parts for field in fields(part)}

    def decorate(function: Call) -> Call:
        signature, kind = inspect.signature(function), inspect.Parameter.KEYWORD_ONLY
        parameters = [one for one in signature.parameters.values() if one.name != "keywords"]
        for name, hint in kinds.__annotations__.items():
            parameters.append(inspect.Parameter(name, kind, default=defaults.get(name, ()), annotation=hint))
        function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return function

    return decorate


def merge_keywords(function: str, kinds: Any, keywords: dict[str, Any], parts: Parts) -> Parts:
    """Options of a function with the values that keywords give to their fields."""
    rest, merged = dict(keywords), []
    for part in parts:
        names = [field.name for field in fields(part) if field.name in rest]
        merged.append(replace(part, **{name: rest.pop(name) for name in names}) if names else part)
    if rest:
        known = ", ".join(kinds.__annotations__)
        raise TypeError(f"{function}: unknown argument '{next(iter(rest))}'; expected {known}")
    return cast(Parts, tuple(merged))
