"""Generated C as an FMU (FMI 2.0, co-simulation), for Simulink, Modelica tools and others that take them.

The file holds the C as sources, and a shared library for Linux where a C compiler is at hand. The headers of the
standard in `fmi2/` are the Modelica Association's, under the licence that they state.
"""

from __future__ import annotations

import io
import os
import platform
import shutil
import subprocess
import tempfile
import uuid
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

from armdyn import __version__
from armdyn.errors import ArmdynError
from armdyn.files import fill_template, write_whole
from armdyn.trace.printers.c_print import identifier, number

HEADERS = ("fmi2Functions.h", "fmi2FunctionTypes.h", "fmi2TypesPlatform.h")


class Variable(NamedTuple):
    """A number that a master reads or writes; its place in the list is its place in the FMU's array of values."""

    name: str
    about: str
    causality: str  # "input", "output" or "parameter"
    start: float = 0.0


@dataclass(frozen=True)
class Slave:
    """Parts that the C behind an FMU needs: `m->value` are the variables, `m->state` is of the C type `state`.

    `begin` sets the state from the parameters, `step` computes one period, `after` sets outputs after the last.
    """

    about: str
    identity: str  # decides the file's GUID
    period: float  # [s]
    variables: Sequence[Variable]
    header: str
    state: str
    begin: str
    step: str
    after: str = ""
    helpers: str = ""  # functions that these call

    def place(self, name: str) -> int:
        """Return where the variables of a name, `name[1]` and on, or `name` alone, begin."""
        names = [variable.name.partition("[")[0] for variable in self.variables]
        return names.index(name)


def vector(name: str, size: int, about: str, causality: str, start: Sequence[float] | None = None) -> list[Variable]:
    """The variables `name[1]` to `name[size]`."""
    return [Variable(f"{name}[{i + 1}]", about, causality, start[i] if start is not None else 0.0) for i in range(size)]


def write_fmu(path: str | os.PathLike[str], slave: Slave, write_sources: Callable[[Path], None]) -> Path:
    """Write an FMU, whole or not at all; `write_sources` puts the generated C into a folder."""
    path = Path(path)
    if path.suffix.lower() != ".fmu":
        raise ArmdynError(where="FMU", expected="a file that ends in .fmu", got=f"'{path}'")
    model = identifier(path.stem)
    token = f"{{{uuid.uuid5(uuid.NAMESPACE_OID, slave.identity + __version__)}}}"
    with tempfile.TemporaryDirectory() as folder:
        sources = Path(folder) / "sources"
        sources.mkdir()
        write_sources(sources)
        for name in HEADERS:
            shutil.copy(Path(__file__).parent / "fmi2" / name, sources / name)
        (sources / "fmu.c").write_text(_wrapper(slave, token))
        description = _description(model, token, slave, sorted(p.name for p in sources.glob("*.c")))
        _build(sources, Path(folder) / "binaries" / "linux64" / f"{model}.so")
        return write_whole(path, _pack(Path(folder), description))


def _description(model: str, token: str, slave: Slave, files: list[str]) -> bytes:
    """The `modelDescription.xml` of an FMU."""
    text = partial(fill_template, Path(__file__).parent / "fmi2" / "description.xml")
    variables, outputs = [], []
    for reference, variable in enumerate(slave.variables):
        name, about, causality, start = variable
        values = {"reference": reference, "variability": "fixed" if causality == "parameter" else "discrete"}
        values["about"] = f' description="{_escape(about)}"' if about else ""
        values["start"] = "" if causality == "output" else f' start="{float(start)!r}"'
        variables.append(text("variable", name=name, causality=causality, **values))
        if causality == "output":
            outputs.append(text("output", index=reference + 1))
    lists = {"files": [text("file", name=name) for name in files], "variables": variables, "outputs": outputs}
    parts = {name: "\n".join(lines) for name, lines in lists.items()}
    head = {"model": model, "guid": token, "about": _escape(slave.about), "tool": f"armdyn {__version__}"}
    return text("description", **head, period=repr(slave.period), **parts).encode()


def _escape(text: str) -> str:
    return escape(text, {'"': "&quot;"})


def _wrapper(slave: Slave, token: str) -> str:
    """The C between FMI's functions and the generated ones."""
    first = ", ".join(number(float(variable.start), "double") for variable in slave.variables)
    return fill_template(
        Path(__file__).parent / "fmi2" / "wrapper.c",
        about=slave.about.replace("*/", "* /"), header=slave.header, state=slave.state, first=first, guid=token,
        count=len(slave.variables), period=repr(slave.period), helpers=slave.helpers, begin=slave.begin,
        step=slave.step, after=f"    {slave.after}\n" if slave.after else "",
    )  # fmt: skip


def _build(sources: Path, library: Path) -> None:
    """Compile the shared library where this is Linux on x86-64 with a C compiler; else the FMU holds sources alone."""
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None or platform.system() != "Linux" or platform.machine() != "x86_64":
        return
    library.parent.mkdir(parents=True)
    files = [str(file) for file in sources.glob("*.c")]
    command = [compiler, "-std=c99", "-O2", "-shared", "-fPIC", "-o", str(library), *files, "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise ArmdynError(f"{compiler} failed ({done.stderr.strip()[:200]})", where="FMU")


def _pack(folder: Path, description: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", description)
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(folder).as_posix())
    return stream.getvalue()
