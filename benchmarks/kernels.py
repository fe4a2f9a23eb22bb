"""Native kernels by themselves: `python benchmarks/kernels.py`.

What `python -m benchmarks` does not show: a million samples, two threads, bound calls, the first torque on an empty
cache, and the distance to the processor's peak. Every figure is the best of several runs; `ARMDYN_BENCHMARK=small`
makes it quick.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import armdyn

SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"
BATCHES = (100, 1000) if SMALL else (100, 10_000, 1_000_000)
INPUTS = {"inverse_dynamics": 3, "mass_matrix": 1, "coriolis_matrix": 2, "forward_dynamics": 3, "regressor": 3}
INPUTS |= {"linearize": 3, "jacobian": 1, "forward_kinematics": 1}
MAX_BYTES = 3e9  # of a result

console = Console(width=150)


def best(function: Callable[[], Any], seconds: float = 0.01 if SMALL else 0.4, most: int = 30) -> float:
    """The shortest of several runs [s]."""
    function()
    runs, start = [], time.perf_counter()
    while not runs or (time.perf_counter() - start < seconds and len(runs) < most):
        begin = time.perf_counter()
        function()
        runs.append(time.perf_counter() - begin)
    return min(runs)


def per_call(function: Callable[[], Any], count: int = 20 if SMALL else 2000) -> str:
    """The time of one call, from many in a row [ns]."""

    def many() -> None:
        for _ in range(count):
            function()

    return f"{best(many) / count * 1e9:.0f}"


def batches(arm: Any) -> None:
    """Nanoseconds per sample with `out=`, fresh, and on two threads."""
    table = Table("function", title=f"Batches, {arm.name}: ns per sample")
    for count in BATCHES:
        for kind in ("out=", "fresh", "2 threads"):
            table.add_column(f"{count:,} {kind}", justify="right")
    for name, inputs in INPUTS.items():
        row = [name]
        one = getattr(armdyn, name)(arm, *np.zeros((inputs, arm.n)))
        size = sum(x.nbytes for x in (one if isinstance(one, tuple) else (one,)))
        for count in BATCHES:
            if count * size > MAX_BYTES:
                row += ["-"] * 3
                continue
            args = np.random.default_rng(1).uniform(-1, 1, (inputs, count, arm.n))
            call = functools.partial(getattr(armdyn, name), arm, *args)
            out = call()
            ways = ({"out": out}, {}, {"out": out, "threads": 2})
            row += [f"{best(functools.partial(call, **way)) / count * 1e9:.0f}" for way in ways]
        table.add_row(*row)
    console.print(table)


def singles(arm: Any) -> None:
    """One sample from Python: the bound call, with `out=`, and the public function."""
    table = Table("function", "kernel(...)", "kernel(..., out=)", "public function", title=f"One call, {arm.name}: ns")
    for name, inputs in INPUTS.items():
        function, args = getattr(armdyn, name), tuple(np.random.default_rng(2).uniform(-1, 1, (inputs, arm.n)))
        bound, out = armdyn.kernel(function, arm), function(arm, *args)
        calls = [
            lambda bound=bound, args=args: bound(*args),
            lambda bound=bound, args=args, out=out: bound(*args, out=out),
            lambda function=function, args=args: function(arm, *args),
        ]
        table.add_row(name, *map(per_call, calls))
    console.print(table)


START = """
import time
import numpy
begin = time.perf_counter()
import armdyn
arm = armdyn.arms.panda()
armdyn.inverse_dynamics(arm, *numpy.zeros((3, 7)))
print(time.perf_counter() - begin)
"""


def starts() -> None:
    """A new process to its first torque, on an empty cache and on a full one, NumPy's import excluded."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"ARMDYN_CACHE_DIR": folder}

        def run() -> float:
            done = subprocess.run([sys.executable, "-c", START], env=environment, capture_output=True, text=True)
            return float(done.stdout)

        cold = run()
        warm = min(run() for _ in range(2 if SMALL else 5))
    console.print(f"Start to first torque beyond importing NumPy: cold {cold:.2f} s, warm {warm:.2f} s")


def peak(arm: Any) -> None:
    """Distance to the machine's peak: operations a second of the kernel against multiply-adds in a loop."""
    from armdyn.trace.graphs.graph import Graph, graph_of
    from armdyn.trace.llvm.compile import compile_graph
    from armdyn.trace.llvm.native import LoadedKernel
    from armdyn.trace.program import Port

    chains, length = 10, 100
    graph = Graph("peak", (Port("x", (chains,)),), (Port("y", (chains,)),))
    values = [graph.add("input", value=(0, k)) for k in range(chains)]
    for step in range(length):
        c, d = graph.constant(0.999 + 1e-6 * step), graph.constant(1e-3)
        values = [graph.add("add", graph.add("mul", v, c), d) for v in values]
    graph.results = [values]
    x = np.ones((512, chains))
    loaded = LoadedKernel(compile_graph(graph, frozenset()))
    gufunc = loaded.gufunc
    out = gufunc(x)
    top = 2 * chains * length * len(x) / best(lambda: gufunc(x, out=(out,)))
    declaration = armdyn.inverse_dynamics.traced
    nodes = graph_of(declaration.make_program(arm, declaration.plain_variant, fold=True)).nodes
    operations = sum(node.op in ("add", "sub", "mul") for node in nodes)
    states = np.random.default_rng(3).uniform(-1, 1, (3, 1000, arm.n))
    tau = armdyn.inverse_dynamics(arm, *states)
    reached = operations * 1000 / best(lambda: armdyn.inverse_dynamics(arm, *states, out=tau))
    console.print(
        f"Peak of independent multiply-adds: {top / 1e9:.1f} GFLOP/s; inverse dynamics does {operations} operations "
        f"(and {arm.n} sine-cosine pairs) a sample at {reached / 1e9:.1f} GFLOP/s, {100 * reached / top:.0f} % of it"
    )


def main() -> None:
    arm = armdyn.arms.panda()
    console.print(f"one thread unless said; {os.cpu_count()} cores; NumPy {np.__version__}")
    batches(arm)
    singles(arm)
    starts()
    peak(arm)


if __name__ == "__main__":
    main()
