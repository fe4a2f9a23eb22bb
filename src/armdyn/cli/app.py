"""The `armdyn` program: its commands, its global options and how it reports errors.

Exit codes: 0 good, 1 failed with a reason, 2 wrong usage, 130 interrupted.
"""

from __future__ import annotations

import inspect
import re
import sys
import warnings
from typing import Annotated, Any

import typer

from armdyn.cli.commands.control.codegen import codegen
from armdyn.cli.commands.control.compare import compare
from armdyn.cli.commands.control.law import law
from armdyn.cli.commands.control.simulate import simulate
from armdyn.cli.commands.description.arms import arms
from armdyn.cli.commands.description.cache import cache
from armdyn.cli.commands.description.convert import convert
from armdyn.cli.commands.description.doctor import doctor
from armdyn.cli.commands.description.info import info
from armdyn.cli.commands.identification.drive_gains import drive_gains
from armdyn.cli.commands.identification.excite import excite
from armdyn.cli.commands.identification.identify import identify
from armdyn.cli.commands.identification.payload import payload
from armdyn.cli.commands.identification.validate import validate
from armdyn.cli.commands.quantities.base import base
from armdyn.cli.commands.quantities.fk import fk
from armdyn.cli.commands.quantities.ik import ik
from armdyn.cli.commands.quantities.linearize import linearize
from armdyn.cli.commands.quantities.regressor import regressor
from armdyn.cli.commands.quantities.torque import torque
from armdyn.cli.commands.studies.reproduce import reproduce
from armdyn.cli.commands.studies.studio import studio
from armdyn.cli.commands.studies.study import study
from armdyn.cli.demo.command import demo
from armdyn.cli.examples import SHORT, epilog
from armdyn.cli.resolve import take_xacro_options
from armdyn.errors import ArmdynError, ArmdynWarning

app = typer.Typer(
    name="armdyn",
    help="Robot arms: from their description and logged motion to their model, controller and C code.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS = (
    *(demo, info, arms, fk, ik, torque, linearize, regressor, base, excite, simulate, identify, validate, payload),
    *(drive_gains, compare, law, study, codegen, convert, reproduce, studio, cache, doctor),
)
for command in COMMANDS:
    name = command.__name__.replace("_", "-")
    app.command(name, short_help=SHORT[name], epilog=epilog(name))(command)

DEBUG = "--debug"
# What messages say in Python -> what it is called on the command line.
PYTHON = (
    (r"columns=\{'(\w+)': \[\.\.\.\]\}", r"--columns \1=NAME,NAME,.."),
    (r"\b(tip|base)=(?!\w)", r"--\1"),
    (r", or branches='lump' to [^;]*", ""),
    (r"identify them, or give them with with_theta", "'armdyn identify' finds them from a log"),
    (r"give (base_pose|tool_pose)= to Arm.from_dh", r"write a .toml to keep it"),
    (r"give args=\{'name': 'value'\}, or ", "give "),
    (r"give packages=\['folder'\], or ", "give "),
)
INTERRUPTED = 130


def main() -> None:
    """Run the program; errors raised on purpose become one sentence on stderr."""
    arguments = [argument for argument in sys.argv[1:] if argument != DEBUG]
    debug = len(arguments) < len(sys.argv) - 1
    arguments = take_xacro_options(arguments)
    warnings.showwarning = _warn  # type: ignore[assignment]
    try:
        app(args=arguments)
    except (ArmdynError, OSError) as error:
        if debug:
            raise
        sys.exit(_complaint(error, arguments))
    except SystemExit as end:
        # Commands that notice Ctrl-C themselves say what they keep; the others are typer's to end.
        if end.code == INTERRUPTED and isinstance(getattr(end.__context__, "__cause__", None), KeyboardInterrupt):
            print("armdyn: interrupted", file=sys.stderr)
        raise


def _complaint(error: Exception, arguments: list[str]) -> int:
    """Say in one sentence what went wrong; the exit code."""
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        text = f"{where}{error.strerror}"
    else:
        text = _in_options(" ".join(str(error).split()), arguments)
    print(f"armdyn: {text}", file=sys.stderr)
    return 1


def _in_options(text: str, arguments: list[str]) -> str:
    """Settings by the names that they have on the command line: `max_velocity` is `--max-velocity` there."""
    named = {command.__name__.replace("_", "-"): command for command in COMMANDS}
    called = next((named[word] for word in arguments if word in named), None)
    for name in inspect.signature(called).parameters if called else ():
        if "_" in name and "column" not in text:  # others are words of the language
            text = re.sub(rf"(?<![\w./-]){name}(?![\w(/]|\.\w)", "--" + name.replace("_", "-"), text)
    for python, option in PYTHON:
        text = re.sub(python, option, text)
    return text


def _warn(message: Warning | str, category: type[Warning], *place: Any) -> None:
    """Show a warning of ours without the line of code that gave it."""
    if issubclass(category, ArmdynWarning):
        print(f"armdyn: warning: {_in_options(str(message), sys.argv[1:])}", file=sys.stderr)
    else:
        _show_warning(message, category, *place)


_show_warning = warnings.showwarning


def _version(asked: bool) -> None:
    if asked:
        from armdyn import __version__

        print(f"armdyn {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option(DEBUG, help="Show the traceback of an error (anywhere on the line).")] = False,
    xacro_arg: Annotated[
        list[str] | None, typer.Option(metavar="NAME:=VALUE", help="An argument of a .xacro (anywhere on the line).")
    ] = None,
    package_path: Annotated[
        list[str] | None,
        typer.Option(metavar="FOLDER", help="Where a .xacro finds ROS packages (anywhere on the line)."),
    ] = None,
) -> None:
    """Global options, which `main` reads wherever they stand: it alone sees the whole line."""
