"""The `armdyn` program: its commands, its global options and how it reports errors.

Exit codes: 0 good, 1 failed with a reason, 2 wrong usage, 3 done but not as asked, 130 interrupted.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
import tomllib
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from armdyn.cli import INTERRUPTED
from armdyn.cli.durations import begin_command
from armdyn.cli.interrupts import leave, watching
from armdyn.cli.options import spread_options
from armdyn.cli.parser import PlainCommand
from armdyn.cli.rejected import name_option
from armdyn.cli.resolve import take_xacro_options
from armdyn.errors import ArmdynError, ArmdynWarning

# Name of a command -> its module below this folder, a line on what it is for, and examples; in the order of the help.
ABOUT = tomllib.loads(Path(__file__).with_name("commands.toml").read_text(encoding="utf-8"))
PLACES = {name: f"armdyn.cli.{about['module']}" for name, about in ABOUT.items()}
NAMES = tuple(ABOUT)

DEBUG, JSON = "--debug", "--json"
GOT = ", got "


def _column_options(roles: str) -> str:
    """Options for what is a dict in Python: `'q': ['a', 'b']` is `--columns q=a,b`."""
    options = []
    for role, names in re.findall(r"'(\w+)': \[(.*?)\]", roles):
        placeholder = "NAME" if role == "t" else "NAME,NAME,.."
        listed = names.replace(", ", ",").replace("'", "").replace("...", placeholder)
        options.append(f"--columns {role}={listed}")
    return " ".join(options)


def command(name: str) -> Callable[..., None]:
    """The function of a command, as the command line calls it."""
    return spread_options(name, getattr(importlib.import_module(PLACES[name]), name.replace("-", "_")))


class CommandGroups(TyperGroup):
    """The program whose help lists commands by what they are for."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a section for every group of commands."""
        width = max(map(len, NAMES))
        for group in dict.fromkeys(about["group"] for about in ABOUT.values()):
            rows = [(f"{name:{width}}", about["short"]) for name, about in ABOUT.items() if about["group"] == group]
            with formatter.section(group):
                formatter.write_dl(rows)


def program(names: Sequence[str] = NAMES) -> typer.Typer:
    """The program with some of its commands."""
    application = typer.Typer(
        name="armdyn",
        cls=CommandGroups,
        help="Identify robot arms from their description and logged motion, design controllers, and write C code.",
        epilog="\b\nExit codes: 0 success; 1 failure, with the reason on stderr (with --json on stdout too);"
        "\n2 wrong usage; 3 finished, but a check failed (identify --strict, excite); 130 interrupted.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    application.callback()(spread_options("armdyn", options))
    for name in names:
        # Without \b the parser would fill the examples into one paragraph.
        epilog = "\n".join(("\b", "Examples:", *(f"  {line}" for line in ABOUT[name]["examples"])))
        application.command(name, cls=PlainCommand, short_help=ABOUT[name]["short"], epilog=epilog)(command(name))
    return application


def __getattr__(name: str) -> Any:
    """`app`, the program with all commands, and `COMMANDS`, their functions, are made when asked for."""
    if name not in ("app", "COMMANDS"):
        raise AttributeError(name)
    globals()[name] = program() if name == "app" else tuple(map(command, NAMES))
    return globals()[name]


def main() -> None:
    """Run the program; errors raised on purpose become one sentence on stderr."""
    arguments = [argument for argument in sys.argv[1:] if argument != DEBUG]
    debug = len(arguments) < len(sys.argv) - 1
    arguments = take_xacro_options(arguments)
    warnings.showwarning = _warn  # type: ignore[assignment]
    # Typer's parser would look through all installed packages for extensions of its parser.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    durations = begin_command(arguments)
    try:
        with watching():
            program(arguments[:1] if arguments[:1] and arguments[0] in PLACES else NAMES)(
                args=arguments, prog_name="armdyn"
            )
    except (ArmdynError, OSError) as error:
        if debug:
            raise
        sys.exit(_complaint(error, arguments))
    except SystemExit as end:
        if end.code in (0, 3):
            durations.save()
        # Commands that notice Ctrl-C themselves say what they keep; the others are typer's to end.
        if end.code == INTERRUPTED and isinstance(getattr(end.__context__, "__cause__", None), KeyboardInterrupt):
            print("armdyn: interrupted", file=sys.stderr)
        if end.code == INTERRUPTED:
            leave()
        if (usage := getattr(end.__context__, "format_message", None)) and end.__context__ is not None:
            _print_json_error(end.__context__, usage(), arguments)
        raise


def _complaint(error: Exception, arguments: list[str]) -> int:
    """Say in one sentence what went wrong; the exit code."""
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        text = f"{where}{error.strerror}"
    else:
        if isinstance(error, ArmdynError):
            name_option(error, arguments)
        text = _in_options(" ".join(str(error).split()), arguments)
    _print_json_error(error, text, arguments)
    print(f"armdyn: {text}", file=sys.stderr)
    return 1


def _print_json_error(error: BaseException, text: str, arguments: list[str]) -> None:
    """Print an error for programs, where JSON was asked for: its kind, its sentence and their parts, findings."""
    if JSON not in arguments:
        return
    from armdyn.cli.show import print_json

    findings = [
        {"kind": finding.kind.value, "joints": list(finding.joints)} for finding in getattr(error, "findings", ())
    ]
    about: dict[str, Any] = {"kind": type(error).__name__, "message": text}
    for name in ("path", "line", "where", "cause", "expected", "got", "remedy", "names"):
        if value := getattr(error, name, None):
            about[name] = value
    print_json({"error": about | ({"findings": findings} if findings else {})})


def _in_options(text: str, arguments: list[str]) -> str:
    """Settings by the names that they have on the command line: `max_velocity` is `--max-velocity` there."""
    called = next((command(word) for word in arguments if word in PLACES), None)
    text, got, listed = text.partition(GOT)  # behind it stands what a file says
    for name in inspect.signature(called).parameters if called else ():
        if "_" in name:  # others are words of the language
            text = re.sub(rf"(?<![\w./-]){name}(?![\w(/]|\.\w)", "--" + name.replace("_", "-"), text)
    text = re.sub(r"columns=\{(.*?\])\}", lambda match: _column_options(match[1]), text)
    phrases = tomllib.loads(Path(__file__).with_name("phrases.toml").read_text(encoding="utf-8"))
    for python, option in phrases["phrases"]:
        text = re.sub(python, option, text)
    return text + got + listed


def _warn(message: Warning | str, category: type[Warning], *place: Any) -> None:
    """Show a warning of ours without the line of code that gave it, and once."""
    if not issubclass(category, ArmdynWarning):
        _show_warning(message, category, *place)
    elif str(message) not in _warned:
        _warned.add(str(message))
        print(f"armdyn: warning: {_in_options(str(message), sys.argv[1:])}", file=sys.stderr)


_warned: set[str] = set()
_show_warning = warnings.showwarning


def _version(asked: bool) -> None:
    if asked:
        from armdyn import __version__

        print(f"armdyn {__version__}")
        raise typer.Exit


def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: bool = False,
    xacro_arg: list[str] | None = None,
    package_path: list[str] | None = None,
) -> None:
    """Global options, which `main` reads wherever they stand: it alone sees the whole line."""
