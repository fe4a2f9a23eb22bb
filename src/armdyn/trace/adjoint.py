"""The reverse-mode derivative of a program: a program again, from the same text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from armdyn.trace.program import Port, Program, flatten, unflatten
from armdyn.trace.symbols import ca


def adjoint(program: Program, wanted: tuple[int, ...], seeds: tuple[int, ...]) -> Program:
    """A program of the inputs and of the sensitivities to the outputs `seeds`; gives those to the inputs `wanted`.

    With y = f(x) it computes bar_x = (dy/dx)' bar_y (reverse mode: about the price of a few f), each named after
    what it is the sensitivity to. Where f has a kink (dry friction at rest) it takes CasADi's choice: sign has
    derivative zero.

    References
    ----------
    Griewank and Walther (2008), section 3.2.
    """
    seed_ports, outputs = _bars(program.outputs, seeds), _bars(program.inputs, wanted)

    def formula(*symbols: Any) -> list[Any]:
        values = [flatten(symbol, port) for symbol, port in zip(symbols, (*program.inputs, *seed_ports), strict=True)]
        x, bar_y = values[: len(program.inputs)], values[len(program.inputs) :]
        y = program.function.call(x)
        columns, weights = ca.vertcat(*(y[k] for k in seeds)), ca.vertcat(*bar_y)
        bars = ca.jtimes(columns, ca.vertcat(*(x[k] for k in wanted)), weights, True)
        ends = [0, *accumulate(port.size for port in outputs)]
        return [unflatten(bar, port.shape) for bar, port in zip(ca.vertsplit(bars, ends), outputs, strict=True)]

    return Program(f"{program.name}_adjoint", (*program.inputs, *seed_ports), outputs, formula)


def _bars(ports: Sequence[Port], chosen: tuple[int, ...]) -> tuple[Port, ...]:
    """Ports of the sensitivities to some of the ports."""
    return tuple(Port(f"bar_{ports[k].name}", ports[k].shape) for k in chosen)
