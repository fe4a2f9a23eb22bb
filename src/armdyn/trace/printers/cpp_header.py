"""A C++17 header around exported C: arrays by value, and Eigen where it is installed."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from armdyn.files import fill_template
from armdyn.trace.printers.c_print import identifier

if TYPE_CHECKING:
    from armdyn.trace.printers.c_code import Exported
    from armdyn.trace.program import Port

_TEXT = partial(fill_template, Path(__file__).with_name("exported.hpp"))


def cpp_header(prefix: str, dtype: str, functions: list[Exported]) -> str:
    """The text of `<prefix>.hpp`: one function per exported one, in the namespace `<prefix>`."""
    arrays = "\n".join(_wrapper(function, dtype, _array) for function in functions)
    matrices = "\n".join(_wrapper(function, dtype, _matrix, "_eigen") for function in functions)
    return _TEXT("", prefix=prefix, guard=f"{prefix.upper()}_HPP_", arrays=arrays, matrices=matrices)


def _wrapper(function: Exported, dtype: str, kind, suffix: str = "") -> str:  # type: ignore[no-untyped-def]
    """An inline function that returns the output, or a struct of them."""
    name = identifier(function.traced.name) + suffix
    inputs = [(n, p) for n, p in zip(function.names.inputs, function.graph.inputs, strict=True) if p.size]
    outputs = [(n, p) for n, p in zip(function.names.outputs, function.graph.outputs, strict=True) if p.size]
    takes = ", ".join(f"const {kind(p, dtype)}& {n}" if p.shape else f"{dtype} {n}" for n, p in inputs)
    passed = [f"{n}.data()" if p.shape else n for n, p in inputs]
    if len(outputs) == 1:
        passed, result, struct = [*passed, "result.data()"], kind(outputs[0][1], dtype), ""
    else:
        passed, result = [*passed, *(f"result.{n}.data()" for n, _ in outputs)], f"{name}_result"
        members = "\n".join(f"    {kind(p, dtype)} {n};" for n, p in outputs)
        struct = _TEXT("struct", result=result, members=members) + "\n"
    values = {"takes": takes, "function": function.name, "passed": ", ".join(passed)}
    return struct + _TEXT("function", result=result, name=name, **values)


def _array(port: Port, dtype: str) -> str:
    return f"std::array<{dtype}, {port.size}>"


def _matrix(port: Port, dtype: str) -> str:
    """A fixed-size Eigen matrix in C's order; a column is both orders at once."""
    rows = port.shape[0] if port.shape else 1
    columns = port.size // rows
    order = "" if columns == 1 else ", Eigen::RowMajor"
    return f"Eigen::Matrix<{dtype}, {rows}, {columns}{order}>"
