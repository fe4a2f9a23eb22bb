"""Export traced functions as C99: dependency-free, reentrant, with a self-test and operation counts."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, overload

from armdyn.errors import ArmdynError
from armdyn.files import fill_template, write_whole
from armdyn.frozen import PartOf
from armdyn.presentation import present
from armdyn.progress import ProgressCallback, reporting, silent
from armdyn.trace.docstring import documentation
from armdyn.trace.graphs.graph import Counts, Graph, count_operations, graph_of
from armdyn.trace.graphs.simplify import simplify
from armdyn.trace.numeric import as_names, declaration, reject_unknown
from armdyn.trace.printers.c_print import FunctionPrinter, arguments, c_names, comment, identifier, sign_function
from armdyn.trace.printers.c_selftest import MIN_ALLOWED_ERROR, Check, Vectors, selftest, vectors
from armdyn.trace.printers.cpp_header import cpp_header
from armdyn.trace.program import Port, Program
from armdyn.trace.traced import Subject, Traced

# A simplified graph that is further than this from the reference is not used. Neither is that of the plainest
# description: nearly parallel axes have common normals far away, whose lengths lose digits.
MAX_SIMPLIFICATION_ERROR = 1e-11


@dataclass(frozen=True)
class CCode:
    """The files of an export and the operations of each function."""

    source: Path
    header: Path
    selftest: Path
    counts: Mapping[str, Counts]  # by the function's name in Python
    cpp: Path | None = None  # the C++ header, where it was asked for
    programs: tuple[Program, ...] = field(default=(), repr=False, compare=False)  # what was printed

    @property
    def total(self) -> Counts:
        """Operations of all functions together."""
        return Counts(*(sum(column) for column in zip(*self.counts.values(), strict=True)))

    multiplications = PartOf[int](
        "total.multiplications", "Multiplications, squares included, of all functions together."
    )
    additions = PartOf[int]("total.additions", "Additions, subtractions and doublings of all functions together.")

    def __str__(self) -> str:
        return "\n".join(f"{name}: {counts}" for name, counts in self.counts.items())


@dataclass(frozen=True, eq=False)
class Exported(Check):
    """One function on its way to C."""

    traced: Traced
    program: Program


@overload
def c_code(
    functions: Callable[..., Any] | Sequence[Callable[..., Any]],
    arm: Subject,
    directory: str | os.PathLike[str],
    *,
    prefix: str | None = ...,
    dtype: str = ...,
    inputs: Iterable[str] = ...,
    options: Mapping[str, Any] | None = ...,
    search: bool = ...,
    cpp: bool = ...,
    progress: ProgressCallback | bool | None = ...,
) -> CCode: ...


@overload
def c_code(
    functions: Any,
    arm: str | os.PathLike[str],
    *,
    rate: float,
    prefix: str | None = ...,
    dtype: str = ...,
    inputs: Iterable[str] = ...,
    search: bool = ...,
) -> Any: ...


def c_code(
    functions: Any,
    arm: Any,
    directory: str | os.PathLike[str] | None = None,
    *,
    prefix: str | None = None,
    dtype: str = "double",
    inputs: Iterable[str] = (),
    options: Mapping[str, Any] | None = None,
    search: bool | None = None,
    cpp: bool = False,
    rate: float | None = None,
    progress: ProgressCallback | bool | None = None,
) -> Any:
    """Write traced functions of an arm as C99, with all constants folded in; or a control law.

    The code has no dependency but `math.h`, allocates nothing, keeps no state, and computes what the
    Python functions compute, from as few operations as the simplifier finds. A program that checks it
    against values from Python is written beside it.

    Parameters
    ----------
    functions : traced function or sequence of them
        Such as `armdyn.inverse_dynamics`; each becomes the C function `<prefix>_<name>`.
    arm : Arm
        What the functions are about.
    directory : path
        Folder for `<prefix>.c`, `<prefix>.h` and `<prefix>_selftest.c`; made if it does not exist.
    prefix : str, optional
        Start of every symbol and file name; the arm's name if left out.
    dtype : {"double", "float"}
        The floating-point type of the code.
    inputs : sequence of str
        Optional inputs that the C functions take (`"wrench"`), and data of the arm that stay arguments
        instead of being folded in (`"theta"`).
    options : dict, optional
        Values of the functions' options.
    search : bool, optional
        Whether to look for forms with fewer operations (default for functions, not for laws); without it, products and
        sums in common are shared alone, which is quicker and for functions made of matrix products no worse.
    cpp : bool
        Whether to write `<prefix>.hpp` too, a C++17 header with `std::array` and, where it is installed, Eigen.
    rate : float, optional
        Rate of a law: `c_code(law, directory, rate=1000)` is `law_code(law, directory, 1000)`, with its options.
    progress : callable or bool, optional
        True: show a bar with the time left. A function is called with (done, total, text) before every function.

    Returns
    -------
    CCode
        Fields `source`, `header`, `selftest` (paths) and `counts` (operations by function).
    """
    if rate is not None:
        shared = {"prefix": prefix, "dtype": dtype, "inputs": inputs, "search": bool(search)}
        return present(functions, "code", directory=arm if directory is None else directory, rate=rate, **shared)
    if directory is None:
        raise ArmdynError(where="c_code", expected="functions, an arm and a folder, or a law, a folder and its rate=")
    chosen = _traced_functions(functions)
    prefix = _prefix(prefix, arm)
    symbols = {f"{prefix}_{identifier(traced.name)}": traced for traced in chosen}
    whole = (Path(directory), prefix, dtype, as_names(inputs), options or {}, search is not False, cpp)
    with reporting(progress, "c_code") as tell:
        return write_code(symbols, arm, *whole, tell)


def write_code(
    functions: Mapping[str, Traced],
    arm: Subject,
    directory: Path,
    stem: str,
    dtype: str,
    inputs: tuple[str, ...],
    options: Mapping[str, Any],
    search: bool,
    cpp: bool = False,
    tell: ProgressCallback = silent,
) -> CCode:
    """Write functions by their names in C into files that begin with `stem`."""
    if dtype not in MIN_ALLOWED_ERROR:
        raise ArmdynError(where="c_code", expected="dtype 'double' or 'float'", got=f"{dtype!r}")
    _prefix(stem, arm)
    _reject_unknown(list(functions.values()), inputs, options)
    exported: list[Exported] = []
    for symbol, traced in functions.items():
        tell(len(exported), len(functions), f"writing {symbol}")
        exported.append(_export(traced, arm, symbol, dtype, inputs, options, search))
    texts = {
        f"{stem}.h": _header(stem, arm, dtype, exported),
        f"{stem}.c": _source(stem, dtype, exported),
        f"{stem}_selftest.c": selftest(stem, dtype, exported),
    }
    header, source, test = (_write(directory, name, text) for name, text in texts.items())
    wrapper = _write(directory, f"{stem}.hpp", cpp_header(stem, dtype, exported)) if cpp else None
    counts = {e.traced.name: count_operations(e.graph) for e in exported}
    return CCode(source, header, test, counts, wrapper, tuple(e.program for e in exported))


# -- what is asked for ---------------------------------------------------------------------------------------


def _traced_functions(functions: Any) -> list[Traced]:
    listed = [functions] if callable(functions) or isinstance(functions, str) else list(functions)
    chosen = [declaration(function, "c_code") for function in listed]
    names = [traced.name for traced in chosen]
    if not names:
        raise ArmdynError(where="c_code", expected="at least one traced function", got="none")
    if doubles := sorted({name for name in names if names.count(name) > 1}):
        cause = f"{', '.join(doubles)} is asked for more than once"
        raise ArmdynError(cause, where="c_code", remedy="export it in another file", names=doubles)
    return chosen


def _prefix(prefix: str | None, subject: Subject) -> str:
    if prefix is None:
        return identifier(str(getattr(subject, "name", "armdyn")))
    if not isinstance(prefix, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", prefix):
        expected = "a prefix of letters, digits and underscores that starts with a letter"
        raise ArmdynError(where="c_code", expected=expected, got=f"{prefix!r:.80}")
    return prefix


def _reject_unknown(chosen: list[Traced], inputs: tuple[str, ...], options: Mapping[str, Any]) -> None:
    """Every name must mean something to at least one of the functions."""
    listed = ", ".join(traced.name for traced in chosen)
    required = {name for traced in chosen for name in traced.required}
    choice = sorted({name for traced in chosen for name in (*traced.optional, *traced.bound)})
    reject_unknown("c_code", listed, "input", sorted(set(inputs) - required), choice)
    known = sorted({name for traced in chosen for name in traced.options})
    reject_unknown("c_code", listed, "option", sorted(options), known)


def _export(
    traced: Traced,
    subject: Subject,
    name: str,
    dtype: str,
    inputs: tuple[str, ...],
    options: Mapping[str, Any],
    search: bool,
) -> Exported:
    """Trace, simplify, and make sure that nothing got lost on the way."""
    try:
        program = traced.chosen_program(subject, inputs, inputs, options)
    except KeyError as missing:
        cause = f"{traced.name} is not a function of {subject!r}, which has no {missing}"
        raise ArmdynError(cause, where="c_code", names=(subject,)) from None
    known = vectors(program, dtype)
    graph = _redescribed(traced, subject, inputs, options, known, search) or _check(program, known, search)
    least = MIN_ALLOWED_ERROR[dtype]
    tolerances = [max(least, 20 * error) if error < 1 else least for error in known.errors(graph, dtype)]
    return Exported(name, graph, c_names(graph.inputs, graph.outputs), known, tolerances, traced, program)


def _redescribed(
    traced: Traced, subject: Any, inputs: tuple[str, ...], options: Mapping[str, Any], known: Vectors, search: bool
) -> Graph | None:
    """The graph of the subject's plainest description, if the function has the same result for it; None otherwise."""
    plainest = getattr(subject, "plainest", None)
    foreign = set(inputs) & set(traced.bound) or any(callable(value) for value in options.values())
    if not traced.redescribable or plainest is None or foreign:
        return None
    other, shifts = plainest(traced.bound)
    if other is subject:
        return None
    program = traced.chosen_program(other, inputs, inputs, options)

    def formula(*symbols: Any) -> Any:
        ports = zip(symbols, program.inputs, strict=True)
        return program.formula(*(x + shifts[p.name] if p.name in shifts else x for x, p in ports))

    moved = Program(program.name, program.inputs, program.outputs, formula)
    graph = _check(moved, vectors(moved, "double"), search)
    return graph if max(known.errors(graph, "double")) <= MAX_SIMPLIFICATION_ERROR else None


def _check(program: Program, known: Vectors, search: bool) -> Graph:
    """The simplified graph, or the plain one where simplifying costs too much accuracy."""
    graph = graph_of(program)
    simple = simplify(graph, search=search)
    plain, simplified = max(known.errors(graph, "double")), max(known.errors(simple, "double"))
    return simple if simplified <= max(MAX_SIMPLIFICATION_ERROR, 10 * plain) else graph


# -- the texts -----------------------------------------------------------------------------------------------


def _signature(function: Exported, dtype: str) -> str:
    line = f"void {function.name}({arguments(function.graph, function.names, dtype)})"
    if len(line) <= 100:
        return line
    return line.replace("(", "(\n    ", 1).replace(", ", ",\n    ")


def _header(prefix: str, subject: Subject, dtype: str, functions: list[Exported]) -> str:
    about = comment([f"Function{'' if len(functions) == 1 else 's'} of {subject!r}, generated by armdyn."])[1]
    sizes = sorted(_sizes(subject, functions).items())
    defined = "".join(f"#define {prefix.upper()}_{identifier(name).upper()} {size}\n\n" for name, size in sizes)
    declared = ["\n".join([*_description(function), f"{_signature(function, dtype)};\n"]) for function in functions]
    values = {"guard": f"{prefix.upper()}_H_", "sizes": defined, "functions": "\n".join(declared)}
    return fill_template(Path(__file__).with_name("exported.h"), about=about, **values)


def _sizes(subject: Subject, functions: list[Exported]) -> dict[str, int]:
    """The sizes that the functions' shapes mention."""
    ports = [(f.traced, port) for f in functions for port in (*f.graph.inputs, *f.graph.outputs)]
    shapes = " ".join(t.shapes.get(port.name, "") + " " + t.returns.get(port.name, "") for t, port in ports)
    return {k: v for k, v in subject.trace_sizes.items() if k in re.findall(r"[^\W\d]\w*", shapes)}


def _description(function: Exported) -> list[str]:
    """The comment above a declaration: what it computes, its arguments, what it costs."""
    documented = documentation(function.traced.doc)
    lines = [*(documented.summary or [f"{function.traced.name}."]), ""]
    for title, ports, names in (
        ("Inputs:", function.graph.inputs, function.names.inputs),
        ("Outputs:", function.graph.outputs, function.names.outputs),
    ):
        lines.append(title)
        texts = [documented.entries.get(port.name, "no description given.") for port in ports]
        for text, group in groupby(zip(texts, ports, names, strict=True), key=lambda entry: entry[0]):
            listed = ", ".join(f"{name} {_size(port)}" for _, port, name in group)
            lines += textwrap.wrap(f"{listed}: {text}", 96, initial_indent="  ", subsequent_indent="      ")
    return comment([*lines, "", f"Operations: {count_operations(function.graph)}."])


def _size(port: Port) -> str:
    return f"({' x '.join(map(str, port.shape))})" if port.shape else "(a number)"


def _source(prefix: str, dtype: str, functions: list[Exported]) -> str:
    lines = comment([f"Generated by armdyn; see {prefix}.h."])
    lines += [f'#include "{prefix}.h"', "", "#include <math.h>", ""]
    if any(node.op == "sign" for function in functions for node in function.graph.nodes):
        lines += [*sign_function(f"{prefix}_sign", dtype), ""]
    for function in functions:
        body = FunctionPrinter(function.graph, function.names, dtype, f"{prefix}_sign").body()
        lines += [_signature(function, dtype), "{", *(f"    {line}" for line in body), "}", ""]
    return "\n".join(lines[:-1]) + "\n"


def _write(directory: Path, name: str, text: str) -> Path:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        return write_whole(directory / name, text)
    except OSError as error:
        raise ArmdynError(f"cannot write {directory / name} ({error.strerror or error})", where="c_code") from None
