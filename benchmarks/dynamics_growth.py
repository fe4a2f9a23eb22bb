"""How the cost of the dynamics grows with the number of joints, for every formulation, in one process.

    python benchmarks/dynamics_growth.py [--full] [--plot growth.svg]

For general chains of n revolute joints: operations per sample, time to trace and compile, time per sample in batches,
and the exponent k of a fit `cost ~ n^k` through the larger half of the sizes. `--full` goes to 60 joints (minutes).
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

os.environ["ARMDYN_CACHE_DIR"] = tempfile.mkdtemp(prefix="armdyn-growth-")  # so that compiling is measured

import armdyn
from armdyn.errors import ArmdynWarning
from armdyn.trace.graphs.graph import count_operations, graph_of
from armdyn.trace.symbols import ca

SMALL, FULL = (2, 4, 6, 8), (2, 4, 7, 10, 14, 20, 30, 45, 60)
SAMPLES = 2048
PATIENCE = 60.0  # seconds of tracing and compiling after which larger sizes are left out


@armdyn.traced(q="n", qd="n", qdd="n", theta="10*n", gravity="3", returns={"tau": "n"})
def closed_form(arm, q, qd, qdd, *, theta, gravity):
    """Eindhoven (1987), (13)-(19): H, h_ijk and G from link Jacobians and their derivatives."""
    H = armdyn.mass_matrix_jacobians(arm, q, theta=theta)
    h = armdyn.coriolis_coefficients(arm, q, theta=theta)
    G = armdyn.gravity_torque_jacobians(arm, q, theta=theta, gravity=gravity)
    return ca.mtimes(H, qdd) + ca.vertcat(*(ca.bilin(h_i, qd, qd) for h_i in h)) + G


class Formulation(NamedTuple):
    name: str
    function: Callable[..., Any]
    inputs: int  # how many of q, qd, qdd or tau
    options: Mapping[str, Any] = MappingProxyType({})


FORMULATIONS = [
    Formulation("torques: Newton-Euler, link axes", armdyn.inverse_dynamics, 3),
    Formulation("torques: Newton-Euler, base axes", armdyn.inverse_dynamics_base, 3),
    Formulation("torques: Lagrange, recursive", armdyn.lagrange, 2),
    Formulation("torques: Lagrange, closed form", closed_form, 3),
    Formulation("mass matrix: composite bodies", armdyn.mass_matrix, 1),
    Formulation("Coriolis matrix: composite bodies", armdyn.coriolis_matrix, 2),
    Formulation("accelerations: composite bodies", armdyn.forward_dynamics, 3, {"method": "composite"}),
    Formulation("accelerations: articulated bodies", armdyn.forward_dynamics, 3, {"method": "articulated"}),
]


class Cost(NamedTuple):
    n: int
    operations: int
    build: float  # s
    sample: float  # s
    native: bool


def chain(n: int) -> armdyn.Arm:
    """A chain without right angles, so that no constant folds away."""
    rng = np.random.default_rng(n)
    rows = [
        {"kind": "R", "a": 0.3, "alpha": 0.7 * (-1) ** i, "d": 0.1, "theta": 0.0, "mass": 1.0}
        | {"com": rng.uniform(-0.1, 0.1, 3), "inertia": np.diag(rng.uniform(0.05, 0.06, 3))}
        for i in range(n)
    ]
    return armdyn.Arm.from_dh(rows, convention="modified", name=f"chain of {n}")


def measured(formulation: Formulation, n: int) -> Cost:
    arm = chain(n)
    inputs = list(0.1 * np.random.default_rng(0).normal(size=(formulation.inputs, SAMPLES, n)))

    def run() -> Any:
        return formulation.function(arm, *inputs, **formulation.options, threads=1)

    begin = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ArmdynWarning)
        run()
    build = time.perf_counter() - begin
    times = []
    while len(times) < 3 or (sum(times) < 0.2 and len(times) < 20):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return Cost(n, operations(formulation, arm), build, min(times) / SAMPLES, not caught)


def operations(formulation: Formulation, arm: armdyn.Arm) -> int:
    """Multiplications and additions of one sample, inertial parameters being data."""
    declared = formulation.function.traced
    options = {**declared.options, **formulation.options}
    program = declared.program(arm, declared.variant(dict.fromkeys(declared.required), options))
    counts = count_operations(graph_of(program))
    return counts.multiplications + counts.additions


def exponent(costs: list[Cost], what: str) -> float:
    """k of `cost ~ n^k` through the larger half of the sizes that ran natively."""
    kept = [c for c in costs if what != "sample" or c.native]
    kept = kept[len(kept) // 2 - (len(kept) == 2) :] if len(kept) > 1 else []
    if len(kept) < 2:
        return float("nan")
    return float(np.polyfit(np.log([c.n for c in kept]), np.log([getattr(c, what) for c in kept]), 1)[0])


def grown(formulation: Formulation, sizes: tuple[int, ...]) -> list[Cost]:
    costs: list[Cost] = []
    for n in sizes:
        if costs and costs[-1].build > PATIENCE / 4:  # the next size takes several times as long
            break
        costs.append(measured(formulation, n))
        cost = costs[-1]
        where = "" if cost.native else "  on the virtual machine"
        print(
            f"{formulation.name:36} n = {n:2}: {cost.operations:8} operations, built in {cost.build:6.2f} s, "
            f"{cost.sample * 1e9:10.0f} ns per sample{where}",
            flush=True,
        )
    return costs


def plot(results: dict[str, list[Cost]], path: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for name, costs in results.items():
        axes.loglog([c.n for c in costs], [c.operations for c in costs], "o-", label=name)
    axes.set(xlabel="joints n", ylabel="multiplications and additions per sample")
    axes.grid(which="both", alpha=0.3)
    axes.legend(fontsize=8)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="up to 60 joints")
    parser.add_argument("--plot", metavar="FILE", help="draw operations over n")
    arguments = parser.parse_args()
    sizes = FULL if arguments.full else SMALL
    results = {f.name: grown(f, sizes) for f in FORMULATIONS}
    print(f"\n{'growth ~ n^k':36} {'operations':>11} {'time':>6} {'at n':>5}")
    for name, costs in results.items():
        ks = f"{exponent(costs, 'operations'):11.2f} {exponent(costs, 'sample'):6.2f}"
        print(f"{name:36} {ks} {costs[-1].n:5}")
    if arguments.plot:
        plot(results, arguments.plot)


if __name__ == "__main__":
    main()
