"""Control laws as C99: a struct for the state, `init`, `step`, and self-tests."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn import __version__
from armdyn.control.laws.model import FRICTION_SHAPE, MODEL_SHAPES
from armdyn.control.protocol import Law, nested_laws
from armdyn.control.settings import one_number
from armdyn.control.step import MOTION, StepSubject, step_function
from armdyn.errors import ArmdynError, expect
from armdyn.files import fill_template, write_whole
from armdyn.trace import virtual
from armdyn.trace.numeric import as_names, declaration
from armdyn.trace.printers.c_code import CCode, write_code
from armdyn.trace.printers.c_print import comment, identifier, number
from armdyn.trace.printers.c_selftest import c_array
from armdyn.trace.program import Program

# Samples of the self-test, and errors it allows as fractions of the largest torque: round-off, grown over the samples.
SAMPLES, SEED = 20, 2
ALLOWED_ERROR_RATIO = {"double": 1e-9, "float": 1e-3}


@dataclass(frozen=True)
class LawCode:
    """The files of an exported law: `update` is the formula alone, `source` and `header` the controller."""

    source: Path
    header: Path
    selftest: Path
    update: CCode

    @property
    def sources(self) -> tuple[Path, Path]:
        """Files that must be compiled."""
        return self.source, self.update.source


def law_code(
    law: Law,
    directory: str | os.PathLike[str],
    rate: float,
    *,
    prefix: str | None = None,
    dtype: str = "double",
    inputs: Iterable[str] = (),
    search: bool = False,
) -> LawCode:
    """Write a control law as C99 that computes what its `step` computes in Python.

    `<prefix>_init(&state)` starts it, `<prefix>_step(&state, q, qd, q_ref, qd_ref, qdd_ref, tau)` is one sample. No
    allocation, no global state, no dependency but `math.h`; the formula itself is `<prefix>_update`.

    Parameters
    ----------
    law : Law
        Not one of a batch.
    directory : path
        Folder for the files; made if it does not exist.
    rate : float
        Rate at which `step` will be called [Hz].
    prefix : str, optional
        Start of symbols and file names; default from the arm's name and the law's.
    dtype : {"double", "float"}
    inputs : sequence of str
        Parameters that stay arguments of `step` (`"kp"`) instead of being folded in, after the reference.
    search : bool
        Search for the fewest operations, as `c_code` does, which takes up to a minute.

    Returns
    -------
    LawCode

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> law = armdyn.ComputedTorque.from_bandwidth(arm, 3.0)
    >>> code = armdyn.law_code(law, "c", rate=1000.0)
    >>> code.source.name, code.header.name
    ('planar2_computedtorque.c', 'planar2_computedtorque.h')
    """
    expect(isinstance(law, Law), "law_code", "a control law", law, ArmdynError)
    rate = one_number(rate, "law_code", "a rate > 0 in Hz")
    prefix = identifier(f"{law.arm.name}_{type(law).__name__}").lower() if prefix is None else prefix
    names = as_names(inputs)
    for name, value in law.params.items():
        if value.shape != law.core_shape(name):
            cause = f"{name} is a batch of shape {value.shape}"
            raise ArmdynError(cause, where="law_code", remedy="export one law of it at a time")
    subject = StepSubject(law, 1 / rate)
    functions = {f"{prefix}_update": declaration(step_function(subject), "law_code")}
    update = write_code(functions, subject, Path(directory), f"{prefix}_update", dtype, names, {}, search)
    files = _Files(subject, prefix, dtype, tuple(name for name in subject.bound if name in names))
    selftest_text = files.selftest(update.programs[0])
    texts = {f"{prefix}.h": files.header(), f"{prefix}.c": files.source(), f"{prefix}_selftest.c": selftest_text}
    header, source, selftest = (write_whole(Path(directory) / name, text) for name, text in texts.items())
    update.selftest.unlink()  # the law's own runs the formula too, and one program a folder compiles as *.c
    return LawCode(source, header, selftest, replace(update, selftest=selftest, programs=()))


class _Files:
    """The texts about the struct."""

    def __init__(self, subject: StepSubject, prefix: str, dtype: str, inputs: tuple[str, ...]) -> None:
        self.subject, self.prefix, self.dtype, self.inputs = subject, prefix, dtype, inputs

    @property
    def _arguments(self) -> list[str]:
        return [*MOTION, *self.subject.channels, *self.inputs]

    def _declaration(self, name: str) -> str:
        shape = self.subject.shapes[name]
        size = int(np.prod(shape))
        return f"const {self.dtype} {identifier(name)}[{size}]" if shape else f"{self.dtype} {identifier(name)}"

    def _identity(self) -> list[str]:
        """Return the lines that identify the controller: the laws, their settings, the rate, the arm."""
        lines, hidden = [], {*MODEL_SHAPES, *FRICTION_SHAPE, *self.inputs}
        for law in nested_laws(self.subject.law):
            shapes = getattr(law, "own_shapes", law.shapes)
            settings: dict[str, Any] = {name: law.params[name] for name in shapes if name not in hidden}
            options: list[str] = [f.name for f in fields(law) if f.init] if is_dataclass(law) else []
            settings |= {
                name: value for name in options if isinstance(value := getattr(law, name), str | bool | int | float)
            }
            lines.append(f"law: {type(law).__name__}")
            lines += [f"  {name} = {_brief(value)}" for name, value in settings.items()]
        lines += [f"arguments of step besides the motion: {', '.join(self.inputs)}"] if self.inputs else []
        return [*lines, f"rate: {1 / self.subject.period:g} Hz", f"arm: {law.arm.name}, {law.arm.fingerprint}"]

    @property
    def _init(self) -> str:
        return f"void {self.prefix}_init({self.prefix}_state *state)"

    @property
    def _step(self) -> str:
        words = [f"{self.prefix}_state *state", *map(self._declaration, self._arguments)]
        words.append(f"{self.dtype} tau[{self.subject.law.arm.n}]")
        return f"void {self.prefix}_step(\n    " + ",\n    ".join(words) + ")"

    def _fill(self, file: str, **values: object) -> str:
        """One of the texts beside this file, about this law."""
        return fill_template(
            Path(__file__).with_name(file), prefix=self.prefix, init=self._init, step=self._step, **values
        )

    def header(self) -> str:
        """State, init, step."""
        text = inspect.cleandoc(type(self.subject.law).__doc__ or "")
        summary = text.partition("\nParameters\n")[0].strip().splitlines()  # what follows is about Python
        words = ", ".join(["&state", *map(identifier, self._arguments), "tau"])
        use = [
            "Use:", f"  {self.prefix}_state state;", f"  {self.prefix}_init(&state);",
            f"  {self.prefix}_step({words});  each {self.subject.period:g} s",
        ]  # fmt: skip
        title = f"{self.subject!r}, generated by armdyn {__version__}."
        about = comment([title, "", *self._identity(), "", *summary, "", *use])
        members = [f"    {self.dtype} {identifier(name)}[{x.size}];" for name, x in self.subject.state.items()]
        return self._fill(
            "law.h", about="\n".join(about), guard=f"{self.prefix.upper()}_H_", period=f"{self.subject.period:g}",
            members="\n".join(members or ["    int unused; /* this law has no state */"]),
        )  # fmt: skip

    def source(self) -> str:
        """The state is updated in place: the formula writes its outputs last."""
        start = [
            f"    state->{identifier(name)}[{i}] = {number(float(value), self.dtype)};"
            for name, x in self.subject.state.items()
            for i, value in enumerate(x.flat)
        ]
        members = [f"state->{identifier(name)}" for name in self.subject.state]
        words = [*members, *map(identifier, self._arguments), "tau", *members]
        update = f"    {self.prefix}_update(\n        {', '.join(words)});"
        if not members:
            start, update = ["    state->unused = 0;"], f"    (void)state;\n{update}"
        return self._fill("law.c", start="\n".join(start), update=update)

    def selftest(self, program: Program) -> str:
        """A program in C that runs the controller for some samples and compares with Python."""
        inputs, expected = _sequence(self.subject, program)
        allowed = ALLOWED_ERROR_RATIO[self.dtype] * max(float(np.abs(expected).max()), 1e-300)
        rows = [line for k in self._arguments for line in c_array(f"{identifier(k)}_rows", self.dtype, inputs[k])]
        rows += c_array("expected_rows", "double", expected)
        words = [f"{identifier(k)}_rows[k]" + ("" if self.subject.shapes[k] else "[0]") for k in self._arguments]
        return self._fill(
            "law_selftest.c", dtype=self.dtype, n=self.subject.law.arm.n, samples=SAMPLES,
            rows="\n".join(rows), arguments=", ".join(words), allowed_text=f"{allowed:g}", allowed=repr(allowed),
        )  # fmt: skip


def _brief(value: Any) -> str:
    """A setting in one line: a number, a vector, or the diagonal of a diagonal matrix, with six digits."""
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        return str(value)
    if array.ndim == 2 and array.shape[0] == array.shape[1] and np.array_equal(array, np.diag(np.diagonal(array))):
        return f"diag({_brief(np.diagonal(array))})"
    if array.size and (array == array.flat[0]).all():
        return f"{array.flat[0]:.6g}"
    return " ".join(f"{x:.6g}" for x in array.ravel())


def _sequence(subject: StepSubject, program: Program) -> tuple[dict[str, NDArray], NDArray]:
    """Random inputs of some samples and the torques that the law's formula makes of them, by CasADi."""
    rng, shapes = np.random.default_rng(SEED), subject.shapes
    inputs = {
        name: rng.uniform(-0.5, 0.5, (SAMPLES, *shapes[name])).astype(np.float32).astype(float)
        for name in (*MOTION, *subject.channels)
    }
    inputs |= {name: np.repeat(subject.trace_data(name)[None], SAMPLES, 0) for name in subject.bound}
    state, tau = subject.state, np.empty((SAMPLES, subject.law.arm.n))
    for k in range(SAMPLES):
        sample = {**state, **{name: rows[k] for name, rows in inputs.items()}}
        arrays = [np.asarray(sample[port.name], float) for port in program.inputs]
        tau[k], *after = virtual.evaluate(program, arrays)
        state = dict(zip(state, after, strict=True))
    return inputs, tau
