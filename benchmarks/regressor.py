"""Regressors and base parameters, measured in one process: `python benchmarks/regressor.py [samples]`.

Times are the best of several runs on one thread; ratios are what matters, for the machine may be busy.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import pinocchio as pin

import armdyn
from armdyn.cli.resolve import library, resolve
from armdyn.model.pinocchio_bridge import to_pinocchio
from armdyn.trace.graphs.graph import count_operations, graph_of


def best(run: Callable[[], object], repeat: int = 9) -> float:
    run()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def panda(samples: int) -> None:
    """Batches of regressors against Pinocchio's, called in a loop."""
    arm = armdyn.arms.panda()
    model = to_pinocchio(arm)
    data = model.createData()
    state = np.random.default_rng(0).uniform(-1, 1, (3, samples, arm.n))
    loop = min(samples, 2000)

    def peer() -> None:
        for q, qd, qdd in zip(*state[:, :loop], strict=True):
            pin.computeJointTorqueRegressor(model, data, q, qd, qdd)

    Y = np.empty((samples, arm.n, 10 * arm.n))
    armdyn.regressor(arm, *state[:, :3], out=Y[:3])
    for k in range(3):
        found = pin.computeJointTorqueRegressor(model, data, *state[:, k])
        assert np.abs(found - Y[k]).max() < 1e-10
    per_peer = best(peer) / loop
    base = armdyn.base_parameters(arm)
    tau = armdyn.inverse_dynamics(arm, *state)
    copy, four = np.empty_like(Y), (*state, state[0])
    rows = {
        "Pinocchio, loop": per_peer,
        "regressor, into out=": best(lambda: armdyn.regressor(arm, *state, out=Y, threads=1)) / samples,
        "regressor, fresh result": best(lambda: armdyn.regressor(arm, *state, threads=1)) / samples,
        "memory alone: copy of Y": best(lambda: np.copyto(copy, Y)) / samples,
        "base regressor": best(lambda: base.regressor(*state, threads=1)) / samples,
        "adaptive regressor, out=": best(lambda: armdyn.adaptive_regressor(arm, *four, out=Y, threads=1)) / samples,
        "Y'Y and Y'tau, blockwise": best(lambda: armdyn.normal_equations(arm, (*state, tau))) / samples,
    }
    print(f"Panda, {samples} samples, one thread")
    for name, seconds in rows.items():
        print(f"  {name:26s} {1e9 * seconds:8.0f} ns per sample {per_peer / seconds:8.1f} x")


def operations() -> None:
    """Operations of PUMA 560 code with its geometry folded in, for links of full inertia."""
    arm = armdyn.arms.puma560()
    full = arm.with_theta(arm.theta + np.tile([0.1] * 10, arm.n))
    base = armdyn.base_parameters(full)
    print("PUMA 560, multiplications and additions (SymPyBotics: base regressor 693 and 483)")
    for name, function, subject in (
        ("regressor", armdyn.regressor, full),
        ("base regressor", armdyn.base_regressor, base),
        ("inverse dynamics, base parameters", armdyn.inverse_dynamics, base.arm),
    ):
        program = function.traced.make_program(subject, function.traced.plain_variant, fold=True)
        print(f"  {name:34s} {count_operations(graph_of(program))}")


def libraries() -> None:
    """Base parameters of every chain of the library, kernels warm."""
    print("base parameters of library arms [ms]: numeric, rules, formulas")
    for name in library():
        arm = resolve(name)
        if arm.G is not None:  # a tree, or joints that follow others
            continue
        base = armdyn.base_parameters(arm)
        numeric = best(lambda arm=arm: armdyn.base_parameters(arm), 3)
        rules = best(lambda arm=arm: armdyn.base_parameters(arm, method="rules"), 3)
        formulas = best(lambda arm=arm: armdyn.base_parameters(arm).formulas, 3)
        print(f"  {name:18s} {base.count:3d} {1e3 * numeric:7.1f} {1e3 * rules:7.1f} {1e3 * formulas:7.1f}")


if __name__ == "__main__":
    panda(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
    operations()
    libraries()
