"""Seconds of the processor to trace and compile a kernel: `python benchmarks/compile_times.py`.

Two tables: the main functions for general chains of 1 to 60 joints, and every traced function for the Panda. A kernel
is compiled once and then found on disk; what has too many operations runs on CasADi's virtual machine instead.
`ARMDYN_BENCHMARK=small` measures small chains and the main functions only.
"""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import armdyn
from armdyn import Arm, Inertia, Joint, Link
from armdyn.errors import ModelError
from armdyn.exports import public_names
from armdyn.trace.backend import native_works
from armdyn.trace.compiled import MAX_NATIVE_INSTRUCTIONS
from armdyn.trace.graphs.graph import graph_of
from armdyn.trace.llvm.compile import compile_graph
from armdyn.trace.traced import Traced

SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"
SIZES = (1, 2) if SMALL else (1, 2, 4, 7, 10, 15, 20, 30, 45, 60)
MAIN = ("inverse_dynamics", "mass_matrix", "forward_dynamics", "coriolis_matrix", "regressor", "linearize")


def chain(n: int) -> Arm:
    """An arm of n turning joints without any right angle."""
    rng = np.random.default_rng(n)

    def frame() -> Any:
        T = np.eye(4)
        Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        T[:3, :3], T[:3, 3] = Q * np.linalg.det(Q), rng.uniform(-0.5, 0.5, 3)
        return T

    joints = [Joint(f"joint{i + 1}", "revolute", rng.normal(size=3), frame(), frame()) for i in range(n)]
    body = Inertia.from_com(1.0, [0.1, 0.05, 0.2], np.diag([0.02, 0.03, 0.04]))
    return Arm(joints, [Link(f"link{i + 1}", body) for i in range(n)], name=f"chain{n}")


def seconds(arm: Any, name: str) -> tuple[float, int]:
    """Processor time of tracing and compiling, not a number beyond what is compiled, and the number of operations."""
    traced = getattr(armdyn, name).traced
    begin = time.process_time()
    program = traced.make_program(arm, traced.plain_variant)
    count = program.function.n_instructions()
    if count > MAX_NATIVE_INSTRUCTIONS:
        return float("nan"), count
    compile_graph(graph_of(program), frozenset(k for k, p in enumerate(program.inputs) if p.name in traced.bound))
    return time.process_time() - begin, count


def rows() -> Iterator[list[str]]:
    """The first table; of sizes beyond the first that is too large, tracing alone would take minutes."""
    left = set(MAIN)
    for n in SIZES:
        arm, row = chain(n), [str(n)]
        for name in MAIN:
            took, count = seconds(arm, name) if name in left else (float("nan"), 0)
            row.append(f"{took:.2f}" if np.isfinite(took) else f"virtual ({count:,})" if count else "virtual")
            left -= set() if np.isfinite(took) else {name}
        yield row


def main() -> None:
    native_works()
    seconds(chain(1), "inverse_dynamics")  # what is loaded once
    print(f"| joints | {' | '.join(MAIN)} |\n|{'---|' * (len(MAIN) + 1)}")
    for row in rows():
        print(f"| {' | '.join(row)} |", flush=True)
    panda = armdyn.arms.panda()
    base = armdyn.base_parameters(panda)
    functions = {name: getattr(getattr(armdyn, name), "traced", None) for name in public_names(armdyn)}
    names = MAIN if SMALL else sorted(name for name, traced in functions.items() if isinstance(traced, Traced))
    print("\n| function, panda | operations | s |\n|---|---|---|")
    for name in names:
        of_base = "base" in inspect.signature(functions[name].formula).parameters
        try:
            took, count = seconds(base if of_base else panda, name)
        except ModelError:  # of arms of another kind
            continue
        print(f"| {name} | {count:,} | {took:.2f} |", flush=True)


if __name__ == "__main__":
    main()
