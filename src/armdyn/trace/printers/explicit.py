"""A formula written out: every output a sum of products of inputs, sines, cosines and other functions.

For small arms, to be read: `latex` and `sympy_form` print it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.errors import ArmdynError
from armdyn.precision import SOLUTION_ERROR
from armdyn.trace.graphs.angles import compose, merge, one_square, split, square_free
from armdyn.trace.graphs.graph import graph_of
from armdyn.trace.graphs.sums import Network, Sum, add, common, multiply, network_of, substitute, without
from armdyn.trace.numeric import as_names, declaration, reject_unknown
from armdyn.trace.program import Port, Program
from armdyn.trace.symbols import ca
from armdyn.trace.traced import Subject, Traced

# A text with more terms than this, or one that needs more on the way, is of no use to a reader.
MAX_TERMS = 600
MAX_TERMS_ON_THE_WAY = 3000
# Terms of an entry up to which shorter ways of writing it are sought: the search takes long for long ones.
MAX_TERMS_TO_SHORTEN = 40


@dataclass(frozen=True, eq=False)
class Explicit:
    """The outputs of a formula as sums over the literals of a network that has no sums of its own."""

    network: Network
    outputs: tuple[Port, ...]
    entries: list[list[Sum]]  # of every output, in C order
    names: Mapping[tuple[int, int], tuple[str, int | None]]  # name and number of each input entry


def explicit(
    what: str,
    function: Callable[..., Any],
    subject: Subject,
    symbols: Iterable[str] = (),
    inputs: Iterable[str] = (),
    options: Mapping[str, Any] | None = None,
) -> Explicit:
    """A traced function of a subject, written out; data named in `symbols` stay symbols where not zero."""
    traced = declaration(function, what, "mass_matrix")
    symbolic, present = as_names(symbols), as_names(inputs)
    reject_unknown(what, traced.name, "symbol", symbolic, traced.bound)
    reject_unknown(what, traced.name, "input", present, traced.optional)
    reject_unknown(what, traced.name, "option", options or {}, traced.options)
    program = _program(traced, subject, symbolic, present, dict(options or {}))
    names = {(k, i): _entry_name(subject, port, i) for k, port in enumerate(program.inputs) for i in range(port.size)}
    try:
        network, sums = _write_out(network_of(graph_of(program)))
    except _TooLargeError as error:
        cause = f"{traced.name} of {subject!r} has more than {error} terms, too many to read"
        remedy = "take a smaller arm, or c_code for code"
        raise ArmdynError(cause, where=what, remedy=remedy, names=(subject,)) from None
    columns = iter(sums)
    entries = [[next(columns) for _ in range(port.size)] for port in program.outputs]
    return Explicit(network, program.outputs, entries, names)


class _TooLargeError(Exception):
    """More terms than anybody would read."""


def _program(
    traced: Traced, subject: Subject, symbols: tuple[str, ...], inputs: tuple[str, ...], options: dict[str, Any]
) -> Program:
    """The function with all data folded in but the symbols, whose zeros are zeros."""
    program = traced.chosen_program(subject, inputs, symbols, options)
    masks = {port.name: _mask(subject, port) for port in program.inputs if port.name in symbols}

    def formula(*values: Any) -> Any:
        ports = zip(program.inputs, values, strict=True)
        return program.formula(*(masks[p.name] * x if p.name in masks else x for p, x in ports))

    return Program(program.name, program.inputs, program.outputs, formula)


def _mask(subject: Subject, port: Port) -> Any:
    """One where the subject's data are not zero; everywhere if they are not known, or all are zero, as errors are."""
    try:
        known = np.asarray(subject.trace_data(port.name)) != 0
    except ArmdynError:
        known = np.zeros(port.shape, bool)
    return ca.DM(known if known.any() else ~known)


def _entry_name(subject: Subject, port: Port, index: int) -> tuple[str, int | None]:
    """The subject's own name of an entry (`Ixx`, 2), or the port's name and a number counted from one."""
    names = getattr(subject, "trace_names", lambda name: None)(port.name)
    if names is not None:
        letters = names[index].rstrip("0123456789")
        return letters, int(names[index][len(letters) :]) if len(letters) < len(names[index]) else None
    return port.name, index + 1 if port.shape else None


# -- writing out ---------------------------------------------------------------------------------------------


def _write_out(network: Network) -> tuple[Network, list[Sum]]:
    """The outputs with all sums multiplied out, in a network of inputs and calls only."""
    plain = Network(network.source)
    meaning: dict[int, Sum] = {}

    def watch(result: Sum) -> None:
        if len(result) > MAX_TERMS_ON_THE_WAY:
            raise _TooLargeError(MAX_TERMS_ON_THE_WAY)

    def multiply_out(total: Sum) -> Sum:
        return substitute(total, meaning.__getitem__, watch)

    for k in network.order():
        if k in network.sums:
            meaning[k] = square_free(plain, multiply_out(network.sums[k]))
        elif k in network.calls:
            op, args = network.calls[k]
            meaning[k] = plain.call(op, [merge_turns(plain, multiply_out(arg)) for arg in args])
        elif network.number(k) is not None:
            meaning[k] = plain.fixed(network.number(k) or 0.0)
        else:
            meaning[k] = {(plain.literal(*network.literals[k]),): 1.0}
    outputs = [merge_turns(plain, multiply_out(total)) for total in network.outputs]
    if sum(map(len, outputs)) <= 2 * MAX_TERMS:  # shortening does not save more than half
        outputs = [_shortest(plain, total) if len(total) <= MAX_TERMS_TO_SHORTEN else total for total in outputs]
    if sum(map(len, outputs)) > MAX_TERMS:
        raise _TooLargeError(MAX_TERMS)
    return plain, outputs


def _shortest(network: Network, total: Sum) -> Sum:
    """The angles to write a sum in, and the squares of their sines and cosines, that take the fewest terms."""
    best = min(total, *(merge_turns(network, way) for way in _squares(network, total)), key=len)
    while True:
        others = [split(network, best, by) for by in compose(network, best)]
        ways = [merge_turns(network, way) for other in others for way in _squares(network, other)]
        shorter = min(ways, key=len, default=best)
        if len(shorter) >= len(best):
            return best
        best = shorter


def _squares(network: Network, total: Sum) -> tuple[Sum, Sum]:
    """A sum without squares of sines, and without squares of cosines."""
    return one_square(network, total, "sin"), one_square(network, total, "cos")


def merge_turns(network: Network, total: Sum) -> Sum:
    """A sum with squares and products of sines and cosines merged by the addition theorems."""
    total = square_free(network, total)
    while (merged := _merge_one(network, total)) is not None:
        total = merged
    return total


def _merge_one(network: Network, total: Sum) -> Sum | None:
    cubes = sorted(cube for cube in total if sum(k in network.turns for k in cube) >= 2)
    for i, first in enumerate(cubes):
        for second in cubes[:i]:
            x, y = total[first], total[second]
            if abs(abs(x) - abs(y)) > SOLUTION_ERROR * abs(x) or len(first) != len(second):
                continue
            rest = common(first, second)
            parts = without(first, rest), without(second, rest)
            turn = merge(network.turns, *parts, 1 if x * y > 0 else -1) if len(parts[0]) == 2 else None
            if turn is not None:
                literal = network.call(turn.turn.function, [dict(turn.turn.angle)])
                left = {cube: c for cube, c in total.items() if cube not in (first, second)}
                return add(left, multiply({rest: x * turn.factor}, literal))
    return None
