"""Control laws as FMUs (FMI 2.0, co-simulation), for Simulink, Modelica tools and others that take them.

The file holds the law's C as sources, and a shared library for Linux where a C compiler is at hand. The headers of the
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
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from armdyn import __version__
from armdyn.control.export import law_code
from armdyn.control.protocol import Law
from armdyn.control.step import MOTION, StepSubject
from armdyn.errors import ArmdynError
from armdyn.files import write_whole
from armdyn.trace.printers.c_print import identifier

HEADERS = ("fmi2Functions.h", "fmi2FunctionTypes.h", "fmi2TypesPlatform.h")
UNITS = {"q": "rad or m", "qd": "rad/s or m/s", "q_ref": "rad or m", "qd_ref": "rad/s or m/s", "tau": "N m or N"}


class Variable(NamedTuple):
    """A number that a master reads or writes: its name, and where it lies in the FMU's array of values."""

    name: str
    reference: int
    about: str
    is_output: bool


def law_fmu(law: Law, path: str | os.PathLike[str], rate: float, *, search: bool = False) -> Path:
    """Write a control law as an FMU for co-simulation, whole or not at all.

    Inputs are `q[i]`, `qd[i]`, `q_ref[i]`, `qd_ref[i]`, `qdd_ref[i]` and what else the law's reference carries; outputs
    are `tau[i]`. Every communication step must be a whole number of periods of the law. A generic master sees torques
    one communication step late.

    Parameters
    ----------
    law : Law
        Not one of a batch.
    path : path
        Ends in `.fmu`.
    rate : float
        At which the law runs inside [Hz].
    search : bool
        Search for the fewest operations; see `law_code`.
    """
    path = Path(path)
    if path.suffix.lower() != ".fmu":
        raise ArmdynError(f"law_fmu: expected a file that ends in .fmu, got '{path}'")
    model = identifier(path.stem)
    subject = StepSubject(law, 1 / float(rate))
    variables = _variables(subject)
    with tempfile.TemporaryDirectory() as folder:
        sources = Path(folder) / "sources"
        sources.mkdir()
        code = law_code(law, sources, rate, prefix="law", search=search)
        code.selftest.unlink()
        for name in HEADERS:
            shutil.copy(Path(__file__).parent / "fmi2" / name, sources / name)
        token = f"{{{uuid.uuid5(uuid.NAMESPACE_OID, law.arm.fingerprint + repr(law) + __version__)}}}"
        (sources / "fmu.c").write_text(_wrapper(subject, variables, token))
        description = _description(model, token, law, rate, variables, sorted(p.name for p in sources.glob("*.c")))
        _build(sources, Path(folder) / "binaries" / "linux64" / f"{model}.so")
        return write_whole(path, _packed(Path(folder), description))


def _variables(subject: StepSubject) -> list[Variable]:
    """Inputs in the order of the law's step, then the torques."""
    found: list[Variable] = []
    sizes = {name: int(np.prod(subject.shapes[name])) for name in (*MOTION, *subject.channels)}
    for name, size in (*sizes.items(), ("tau", subject.law.arm.n)):
        for i in range(size):
            about = f"{UNITS.get(name, '')}".strip()
            found.append(Variable(f"{name}[{i + 1}]", len(found), about, name == "tau"))
    return found


def _description(model: str, token: str, law: Law, rate: float, variables: list[Variable], files: list[str]) -> bytes:
    root = Element(
        "fmiModelDescription",
        fmiVersion="2.0",
        modelName=model,
        guid=token,
        description=f"{type(law).__name__} for {law.arm.name} at {rate:g} Hz",
        generationTool=f"armdyn {__version__}",
        variableNamingConvention="structured",
    )
    slave = SubElement(
        root,
        "CoSimulation",
        modelIdentifier=model,
        canHandleVariableCommunicationStepSize="true",
        canGetAndSetFMUstate="true",
    )
    listed = SubElement(slave, "SourceFiles")
    for name in files:
        SubElement(listed, "File", name=name)
    SubElement(root, "DefaultExperiment", stepSize=repr(1 / rate))
    numbers = SubElement(root, "ModelVariables")
    for variable in variables:
        scalar = SubElement(
            numbers,
            "ScalarVariable",
            name=variable.name,
            valueReference=str(variable.reference),
            causality="output" if variable.is_output else "input",
            variability="discrete",
        )
        if variable.about:
            scalar.set("description", variable.about)
        SubElement(scalar, "Real", {} if variable.is_output else {"start": "0"})
    structure = SubElement(root, "ModelStructure")
    for part in ("Outputs", "InitialUnknowns"):
        unknowns = SubElement(structure, part)
        for variable in variables:
            if variable.is_output:
                SubElement(unknowns, "Unknown", index=str(variable.reference + 1))
    indent(root)
    return b'<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root)


def _wrapper(subject: StepSubject, variables: list[Variable], token: str) -> str:
    """The C between FMI's functions and the law's."""
    starts: dict[str, int] = {}
    for variable in variables:
        starts.setdefault(variable.name.partition("[")[0], variable.reference)
    passed = [
        f"m->value + {starts[name]}" if subject.shapes[name] else f"m->value[{starts[name]}]"
        for name in (*MOTION, *subject.channels)
    ]
    text = (Path(__file__).parent / "fmi2" / "wrapper.c").read_text()
    for key, value in {
        "@GUID@": token,
        "@COUNT@": str(len(variables)),
        "@PERIOD@": repr(subject.period),
        "@ARGUMENTS@": ", ".join([*passed, f"m->value + {starts['tau']}"]),
    }.items():
        text = text.replace(key, value)
    return text


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
        raise ArmdynError(f"law_fmu: {compiler} failed ({done.stderr.strip()[:200]})")


def _packed(folder: Path, description: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", description)
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(folder).as_posix())
    return stream.getvalue()
