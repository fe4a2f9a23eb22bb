"""The reverse-mode derivative of a program: a program again, from the same text."""

from __future__ import annotations

from typing import Any

from armdyn.trace.program import Port, Program, flatten, unflatten
from armdyn.trace.symbols import ca


def seed_name(name: str) -> str:
    """How the sensitivity to an input or output is called."""
    return f"bar_{name}"


def adjoint(program: Program, wanted: tuple[int, ...], seeds: tuple[int, ...]) -> Program:
    """A program of the inputs and of the sensitivities to the outputs `seeds`; gives those to the inputs `wanted`.

    With y = f(x) it computes bar_x = (dy/dx)' bar_y (reverse mode: about the price of a few f). Where f has a kink (dry
    friction at rest) it takes CasADi's choice: sign has derivative zero.

    References
    ----------
    Griewank and Walther (2008), section 3.2.
    """
    seed_ports = tuple(_bar(program.outputs[k]) for k in seeds)

    def formula(*symbols: Any) -> list[Any]:
        values = [flatten(symbol, port) for symbol, port in zip(symbols, (*program.inputs, *seed_ports), strict=True)]
        x, bar_y = values[: len(program.inputs)], values[len(program.inputs) :]
        y = program.function.call(x)
        columns, weights = ca.vertcat(*(y[k] for k in seeds)), ca.vertcat(*bar_y)
        sizes = [0, *(program.inputs[k].size for k in wanted)]
        bars = ca.jtimes(columns, ca.vertcat(*(x[k] for k in wanted)), weights, True)
        ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
        return [unflatten(bars[ends[i] : ends[i + 1]], program.inputs[k].shape) for i, k in enumerate(wanted)]

    outputs = tuple(_bar(program.inputs[k]) for k in wanted)
    return Program(f"{program.name}_adjoint", (*program.inputs, *seed_ports), outputs, formula)


def _bar(port: Port) -> Port:
    return Port(seed_name(port.name), port.shape)
