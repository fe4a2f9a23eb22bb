"""The option whose value an error of the library rejects: errors name parameters, and quote values."""

from __future__ import annotations

import re

from armdyn.errors import ArmdynError

PLACE = re.compile(r"[A-Za-z_]*(: \w+)?")  # a function or a parameter: files and parts of them stay where they are
SEPARATORS = re.compile(r"[\s,=\[\]()'\"]+")


def name_option(error: ArmdynError, arguments: list[str]) -> None:
    """Put the option, as it was typed, in the place of the function or parameter that rejects its value."""
    about_file = error.path is not None and error.path in str(error)
    if about_file or "--" in str(error) or not PLACE.fullmatch(error.where):
        return
    typed = typed_options(arguments)
    option = _rejected_option(error, typed)
    parameter = option.strip("-").replace("-", "_")
    if option and not ("_" in parameter and parameter in error.expected):  # which becomes the option itself
        entry = error.where.split(": ")[-1]
        error.where = entry if entry in _values(typed[option]) else ""
        error.at(option)


def _rejected_option(error: ArmdynError, typed: dict[str, str]) -> str:
    """Return the option that the error's place names, else the only one with the value that it quotes; or nothing."""
    named = f"--{error.where.split(': ')[-1].replace('_', '-')}"
    if named in typed:
        return named
    got = _values(error.got)
    quoted = {*error.names, *re.findall(r"'([^']*)'", error.cause), *(x for x in got if isinstance(x, str))}
    words = set(re.findall(r"[a-z]+", str(error)))
    matches = []
    for option, value in typed.items():
        numbers = [x for x in _values(value) if isinstance(x, float)]
        names = {x for x in _values(value) if isinstance(x, str)}
        is_concerned = words & {*option.strip("-").split("-"), *names}
        if names & quoted or (numbers and numbers == got and is_concerned):
            matches.append(option)
    return matches[0] if len(matches) == 1 else ""


def typed_options(arguments: list[str]) -> dict[str, str]:
    """Return the long options of a command line and what stands behind each."""
    typed: dict[str, str] = {}
    option = ""
    for word in arguments:
        if re.match(r"-[a-z]|--[a-z]", word):
            option, _, value = word.partition("=")
            typed[option] = f"{typed.get(option, '')} {value}"
        elif option:
            typed[option] += f" {word}"
    return {name: value.strip() for name, value in typed.items() if name.startswith("--")}


def _values(text: str) -> list[float | str]:
    """Return the numbers and words of a text."""
    return [_value(word) for word in SEPARATORS.split(text) if word]


def _value(word: str) -> float | str:
    try:
        return float(word)
    except ValueError:
        return word
