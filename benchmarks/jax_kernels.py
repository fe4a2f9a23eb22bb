"""Traced functions under JAX against armdyn's own batch and against adam: `python benchmarks/jax_kernels.py`.

Panda, float64, one thread; every figure is the best of several interleaved runs of one process.
`ARMDYN_BENCHMARK=small` makes it quick. Without adam-robotics its column stays empty; without JAX nothing is measured.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")  # one thread, as armdyn's own batch
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # adam's matrices would use all cores

import numpy as np
from rich.console import Console
from rich.table import Table

import armdyn

SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"
BATCH = 500 if SMALL else 10_000
ROUNDS = 3 if SMALL else 15
# Name, inputs, part of the batch: results of more than 32 MB are fresh memory at every call, whose pages cost more than
# the kernel.
FUNCTIONS = (
    ("inverse_dynamics", 3, 1),
    ("forward_dynamics", 3, 1),
    ("mass_matrix", 1, 1),
    ("regressor", 3, 1),
    ("regressor", 3, 2),
)


def best(calls: dict[str, Callable[[], Any]], samples: int) -> dict[str, float]:
    """The shortest run of each, in turn so that noise hits all alike [us per sample]."""
    for call in calls.values():
        call()
    found = dict.fromkeys(calls, np.inf)
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            found[name] = min(found[name], 1e6 * (time.perf_counter() - start) / samples)
    return found


def adam_calls(arm: armdyn.Arm, jax: Any) -> dict[str, Callable[..., Any]]:
    """adam's mass matrix and inverse dynamics of the same arm, compiled; none where it is not installed."""
    try:
        from adam.jax import KinDynComputations
    except ImportError:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "arm.urdf"
        arm.save(file)
        model = KinDynComputations(
            str(file), list(arm.joint_names), gravity=jax.numpy.array([*arm.gravity, 0.0, 0.0, 0.0])
        )
    model.rbdalgos.math.factory._device = None  # adam 0.5.0 names a device that jit of JAX 0.10 rejects
    base, still = jax.numpy.eye(4), jax.numpy.zeros(6)

    def mass(q: Any) -> Any:
        return model.mass_matrix(base, q)[6:, 6:]

    def torque(q: Any, qd: Any, qdd: Any) -> Any:
        whole = jax.numpy.concatenate([still, qdd])
        return (model.mass_matrix(base, q) @ whole + model.bias_force(base, q, still, qd))[6:]

    return {"mass_matrix": jax.jit(jax.vmap(mass)), "inverse_dynamics": jax.jit(jax.vmap(torque))}


def main() -> None:
    console = Console(width=120)
    try:
        import jax
    except ImportError:
        console.print("JAX is not installed: nothing to measure")
        return
    jax.config.update("jax_enable_x64", True)
    arm = armdyn.arms.panda()
    states = np.random.default_rng(0).normal(size=(3, BATCH, arm.n))
    on_device = [jax.numpy.asarray(x) for x in states]
    peers = adam_calls(arm, jax)
    table = Table("function", "armdyn", "to_jax", "ratio", "gradient", "adam", "adam / to_jax")
    for name, count, part in FUNCTIONS:
        samples = BATCH // part
        function = getattr(armdyn, name)
        ours = armdyn.to_jax(function, arm)
        compiled = jax.jit(ours)
        gradient = jax.jit(jax.grad(lambda *x, ours=ours: ours(*x).sum(), argnums=tuple(range(count))))
        given, passed = states[:count, :samples], [x[:samples] for x in on_device[:count]]
        calls: dict[str, Callable[[], Any]] = {
            "armdyn": lambda f=function, x=given: f(arm, *x),
            "to_jax": lambda f=compiled, x=passed: jax.block_until_ready(f(*x)),
            "gradient": lambda f=gradient, x=passed: jax.block_until_ready(f(*x)),
        }
        if name in peers:
            calls["adam"] = lambda f=peers[name], x=passed: jax.block_until_ready(f(*x))
            assert np.allclose(peers[name](*passed), compiled(*passed), rtol=1e-9, atol=1e-9), name
        us = best(calls, samples)
        adam = us.get("adam")
        table.add_row(
            name if part == 1 else f"{name} ({samples})",
            *(f"{us[k]:.3f}" for k in ("armdyn", "to_jax")),
            f"{us['to_jax'] / us['armdyn']:.2f}",
            f"{us['gradient']:.2f}",
            f"{adam:.2f}" if adam else "-",
            f"{adam / us['to_jax']:.0f}" if adam else "-",
        )
    console.print(f"Panda, batch of {BATCH}, one core, float64, jax {jax.__version__}, microseconds per sample")
    console.print(table)


if __name__ == "__main__":
    main()
