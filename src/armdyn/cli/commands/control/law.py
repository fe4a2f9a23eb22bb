"""`armdyn law ARM LAW`, short for `armdyn codegen ARM --law LAW`: a control law as C99, designed from a bandwidth."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from armdyn.cli.long_work import working
from armdyn.cli.options import BANDWIDTH_HZ, RATE_HZ
from armdyn.cli.resolve import law_lines, resolve
from armdyn.cli.show import print_json

if TYPE_CHECKING:
    from armdyn.control.protocol import Law
    from armdyn.model.arm import Arm
    from armdyn.trace.printers.c_code import CCode

LIST = "list"


def law(
    arm: str, law: str | None = None, out: Path = Path(), prefix: str | None = None, bandwidth: float = BANDWIDTH_HZ,
    rate: float = RATE_HZ, float: bool = False, inputs: list[str] | None = None, fmu: Path | None = None,
    base: str | None = None, tip: str | None = None, json: bool = False,
) -> None:  # fmt: skip
    """Write a control law for an arm as C99: state struct, init, step, self-test. Short for `codegen ARM --law LAW`."""
    from armdyn.control.design.purposes import plain_name
    from armdyn.control.export import law_code
    from armdyn.files import require_folder
    from armdyn.trace.printers.c_print import identifier

    if LIST in (arm, law):
        print_laws(json)
        return
    if law is None:
        raise typer.BadParameter("expected the name of a law behind the arm; 'armdyn law list' shows all")
    subject = resolve(arm, base, tip)
    name, chosen = designed_law(subject, law, bandwidth, rate)
    if fmu is not None:
        from armdyn.control.fmu import law_fmu

        with working("writing C"):
            written = law_fmu(chosen, fmu, rate)
        print_written([written], json)
        return
    require_folder(out)
    prefix = identifier(f"{subject.name}_{plain_name(name)}").lower() if prefix is None else prefix
    with working("writing C"):
        code = law_code(chosen, out, rate, prefix=prefix, dtype="float" if float else "double", inputs=inputs or ())
    print_written([*code.sources, code.header, code.update.header, code.selftest], json, code.update)
    if not json:
        print_selftest([*code.sources, code.selftest])


def print_laws(json: bool) -> None:
    """Print names of laws, and a line on each."""
    lines = law_lines()
    width = max(map(len, lines))
    print_json(lines) if json else print("\n".join(f"{name:{width}}  {line}" for name, line in lines.items()))


def designed_law(arm: Arm, name: str, bandwidth: float, rate: float) -> tuple[str, Law]:
    """A law with its full name, designed for a bandwidth about a motion within the arm's limits.

    Warns of what the law assumes and the arm does not keep.
    """
    from armdyn.control.design.assumptions import failed_assumptions
    from armdyn.simulation.mismatch_study import swaying_designs

    with working("designing controllers"):
        ((full_name, law),) = swaying_designs(arm, bandwidth, rate, [name]).items()
    for sentence in failed_assumptions(law, rate):
        typer.echo(f"armdyn: warning: {sentence}", err=True)
    return full_name, law


def print_selftest(sources: Sequence[Path]) -> None:
    """The command that compiles generated code with its self-test, which stands last, and runs it."""
    import os
    import shlex

    program = sources[-1].with_suffix("")
    called = str(program) if program.is_absolute() else os.path.join(".", program)
    build = shlex.join(["cc", "-std=c99", "-O2", *map(str, sources), "-lm", "-o", str(program)])
    print(f"try:  {build} && {shlex.quote(called)}")


def print_written(files: Sequence[Path], json: bool, code: CCode | None = None) -> None:
    """Say which files were written, and how many operations generated code has."""
    names = list(map(str, files))
    if json:
        counts = {} if code is None else {name: counts._asdict() for name, counts in code.counts.items()}
        print_json({"files": names} if code is None else {"files": names, "operations": counts})
        return
    if code is not None:
        print(code)
    print("wrote " + ", ".join(names))
