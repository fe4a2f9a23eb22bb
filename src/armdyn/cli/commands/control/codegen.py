"""`armdyn codegen ARM FUNCTION...`: traced functions, or a control law, of an arm as C99 with a self-test."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from armdyn.cli.commands.control.law import print_selftest, print_written
from armdyn.cli.long_work import progress_bar, working
from armdyn.cli.options import BANDWIDTH_HZ, RATE_HZ
from armdyn.cli.resolve import resolve
from armdyn.cli.show import print_json

if TYPE_CHECKING:
    from armdyn.model.arm import Arm


def codegen(
    arm: str, functions: list[str] | None = None, law: str | None = None, out: Path = Path(), prefix: str | None = None,
    float: bool = False, inputs: list[str] | None = None, cpp: bool = False, fmu: Path | None = None,
    ros2: Path | None = None, bandwidth: float = BANDWIDTH_HZ, rate: float = RATE_HZ, base: str | None = None,
    tip: str | None = None, json: bool = False,
) -> None:  # fmt: skip
    """Write functions, or a control law, of an arm as C99 code without dependencies, or the arm as an FMU."""
    from armdyn.cli.commands.control.law import law as write_law
    from armdyn.files import require_folder
    from armdyn.trace.printers.c_code import c_code

    other = next((f"--{name}" for name, x in {"law": law, "fmu": fmu, "ros2": ros2}.items() if x is not None), None)
    if functions and other:
        raise typer.BadParameter(
            f"functions ({', '.join(functions)}) and {other} cannot be written by one command; give one of them"
        )
    if not functions and not other:
        raise typer.BadParameter(
            "expected names of functions ('list' shows all), --law LAW, --ros2 FOLDER, "
            "or --fmu FILE alone for the arm as a plant"
        )
    if ros2 is not None:
        write_ros2_package(resolve(arm, base, tip), ros2, law, bandwidth, rate, json)
        return
    if law is not None:
        write_law(arm, law, out, prefix, bandwidth, rate, float, inputs, fmu, base, tip, json)
        return
    if fmu is not None:
        from armdyn.simulation.plant_fmu import plant_fmu

        with working("writing C"):
            written = plant_fmu(resolve(arm, base, tip), fmu, rate)
        print_written([written], json)
        return
    if functions == ["list"]:
        print_functions(json)
        return
    chosen = [function(name) for name in functions or ()]
    dtype = "float" if float else "double"
    require_folder(out)
    subject = resolve(arm, base, tip)
    with progress_bar() as tell:
        code = c_code(chosen, subject, out, prefix=prefix, dtype=dtype, inputs=inputs or (), cpp=cpp, progress=tell)
    print_written([code.source, code.header, code.selftest, *([code.cpp] if code.cpp else [])], json, code)
    if not json:
        print_selftest([code.source, code.selftest])


def write_ros2_package(arm: Arm, folder: Path, law: str | None, bandwidth: float, rate: float, json: bool) -> None:
    """Write a ROS 2 package and print where."""
    from armdyn.cli.commands.control.law import designed_law
    from armdyn.control.ros2.package import is_package_name, ros2_package

    chosen = None if law is None else designed_law(arm, law, bandwidth, rate)[1]
    name = folder.resolve().name
    with progress_bar() as tell:
        package = ros2_package(
            arm, folder, chosen, rate=rate, name=name if is_package_name(name) else None, progress=tell
        )
    print_written(package.files, json)
    if not json:
        if package.name != name:
            print(f"The package is named {package.name}, as '{name}' cannot be the name of a ROS 2 package.")
        print(f"Copy {package.folder} into the src folder of a ROS 2 workspace, then run there:")
        print(f"  colcon build --packages-select {package.name}")


def function(name: str) -> Callable[..., Any]:
    """The traced function of a name, or an error that lists near ones."""
    from difflib import get_close_matches

    from armdyn.errors import ArmdynError

    known = exportable()
    if name not in known:
        near = get_close_matches(name, known, n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "'armdyn codegen ARM list' shows all"
        raise ArmdynError(f"no function '{name}' to export", where="codegen", remedy=hint, names=(name,))
    return known[name]


def print_functions(json: bool) -> None:
    """Print names of functions and a line on each, by what they are for."""
    import tomllib

    groups = tomllib.loads(Path(__file__).parents[2].joinpath("functions.toml").read_text("utf-8"))
    if json:
        print_json([name for lines in groups.values() for name in lines])
        return
    width = max(len(name) for lines in groups.values() for name in lines)
    blocks = ([f"{group}:", *(f"  {name:{width}}  {line}" for name, line in x.items())] for group, x in groups.items())
    print("\n\n".join(map("\n".join, blocks)))


def function_names(incomplete: str) -> list[str]:
    """Names of functions for the shell."""
    return [name for name in exportable() if name.startswith(incomplete)]


def exportable() -> dict[str, Callable[..., Any]]:
    """All public functions that can become C."""
    import armdyn
    from armdyn.exports import Package, public_names

    public = {name: getattr(armdyn, name) for name in sorted(public_names(cast(Package, sys.modules["armdyn"])))}
    return {name: value for name, value in public.items() if callable(value) and hasattr(value, "traced")}
