"""Native kernels against Pinocchio, measured in one process: `python benchmarks/kernels.py [--peers]`.

Every figure is the best of several runs, and the table shows ratios, because machines are noisy.
`ARMDYN_BENCHMARK=small` makes it quick (continuous integration only checks that it runs).
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
import pinocchio as pin
from rich.console import Console
from rich.table import Table

import armdyn
from armdyn.model.pinocchio_bridge import to_pinocchio

SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"
BATCHES = (100, 1000) if SMALL else (100, 10_000, 1_000_000)
LOOP = 50 if SMALL else 2000  # samples of a Python loop over a peer

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


def per_call(function: Callable[[], Any], count: int = 20 if SMALL else 2000) -> float:
    """The time of one call, from many in a row [s]."""

    def many() -> None:
        for _ in range(count):
            function()

    return best(many) / count


class Job:
    """One function of armdyn, what Pinocchio calls the same, and random states of the Panda."""

    def __init__(self, name: str, inputs: int, peer: Callable[..., Any], batch_peer: Callable[..., Any] | None = None):
        self.name, self.inputs, self.peer, self.batch_peer = name, inputs, peer, batch_peer
        self.function = getattr(armdyn, name)


def derivatives(model: Any, data: Any, q: Any, v: Any, a: Any) -> None:
    pin.computeRNEADerivatives(model, data, q, v, a)
    pin.computeABADerivatives(model, data, q, v, a)


def jobs(model: Any, data: Any) -> list[Job]:
    return [
        Job("inverse_dynamics", 3, lambda q, v, a: pin.rnea(model, data, q, v, a), pin.rneaInParallel),
        Job("mass_matrix", 1, lambda q, v, a: pin.crba(model, data, q)),
        Job("coriolis_matrix", 2, lambda q, v, a: pin.computeCoriolisMatrix(model, data, q, v)),
        Job("forward_dynamics", 3, lambda q, v, a: pin.aba(model, data, q, v, a), pin.abaInParallel),
        Job("regressor", 3, lambda q, v, a: pin.computeJointTorqueRegressor(model, data, q, v, a)),
        Job("linearize", 3, lambda q, v, a: derivatives(model, data, q, v, a)),
        Job("jacobian", 1, lambda q, v, a: pin.computeJointJacobian(model, data, q, model.njoints - 1)),
        Job("forward_kinematics", 1, lambda q, v, a: pin.forwardKinematics(model, data, q)),
    ]


def peer_loop(job: Job, states: np.ndarray) -> float:
    """Seconds a sample of a Python loop over the peer."""
    rows = [tuple(np.ascontiguousarray(x[k]) for x in states) for k in range(LOOP)]

    def loop() -> None:
        for row in rows:
            job.peer(*row)

    return best(loop) / LOOP


def peer_batch(job: Job, model: Any) -> str:
    """Nanoseconds a sample of the peer's own batch function on one thread, where it has one."""
    if job.batch_peer is None:
        return "-"
    count = BATCHES[1]
    states = [np.asfortranarray(x.T) for x in np.random.default_rng(1).uniform(-1, 1, (3, count, model.nv))]
    pool = pin.ModelPool(model, 1)
    return f"{best(lambda: job.batch_peer(1, pool, *states)) / count * 1e9:.0f}"


def batches(arm: Any, model: Any, data: Any) -> None:
    """Batches: ratio to the peer's loop, with `out=`, fresh, and on two threads."""
    table = Table(title=f"Batches, {arm.name}: times faster than a Python loop over Pinocchio (ns per sample)")
    table.add_column("function")
    table.add_column("Pinocchio loop", justify="right")
    table.add_column("its batch", justify="right")
    for count in BATCHES:
        for kind in ("out=", "fresh", "2 threads"):
            table.add_column(f"{count:,} {kind}", justify="right")
    for job in jobs(model, data):
        states = np.random.default_rng(0).uniform(-1, 1, (3, max(LOOP, 100), arm.n))
        loop = peer_loop(job, states)
        row = [job.name, f"{loop * 1e9:.0f}", peer_batch(job, model)]
        for count in BATCHES:
            args = list(np.random.default_rng(1).uniform(-1, 1, (job.inputs, count, arm.n)))
            if count * 8 * 500 > 3e9 and job.name in ("regressor", "linearize"):
                row += ["-"] * 3  # results of several gigabytes
                continue
            call = functools.partial(job.function, arm, *args)
            out = call()
            times = [
                best(functools.partial(call, **options)) for options in ({"out": out}, {}, {"out": out, "threads": 2})
            ]
            row += [f"{loop / (t / count):.1f}x ({t / count * 1e9:.0f})" for t in times]
        table.add_row(*row)
    console.print(table)


def singles(arm: Any, model: Any, data: Any) -> None:
    """One sample from Python: the bound call, with `out=`, and the public function."""
    table = Table(title=f"One call, {arm.name}: times faster than Pinocchio's (ns)")
    for name in ("function", "Pinocchio", "kernel(...)", "kernel(..., out=)", "public function"):
        table.add_column(name, justify="right" if name != "function" else "left")
    states = [np.ascontiguousarray(x) for x in np.random.default_rng(2).uniform(-1, 1, (3, arm.n))]
    for job in jobs(model, data):
        args = states[: job.inputs]
        bound = armdyn.kernel(job.function, arm)
        out = job.function(arm, *args)
        peer = per_call(lambda j=job: j.peer(*states))
        times = [
            per_call(lambda b=bound, a=args: b(*a)),
            per_call(lambda b=bound, a=args, o=out: b(*a, out=o)),
            per_call(lambda j=job, a=args: j.function(arm, *a)),
        ]
        table.add_row(job.name, f"{peer * 1e9:.0f}", *(f"{peer / t:.1f}x ({t * 1e9:.0f})" for t in times))
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
    from armdyn.trace.llvm.native import Loaded
    from armdyn.trace.program import Port

    chains, length = 10, 100
    graph = Graph("peak", (Port("x", (chains,)),), (Port("y", (chains,)),))
    values = [graph.add("input", value=(0, k)) for k in range(chains)]
    for step in range(length):
        c, d = graph.constant(0.999 + 1e-6 * step), graph.constant(1e-3)
        values = [graph.add("add", graph.add("mul", v, c), d) for v in values]
    graph.results = [values]
    x = np.ones((512, chains))
    loaded = Loaded(compile_graph(graph, frozenset()))
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


def peers(arm: Any) -> None:
    """Other libraries, where they are installed."""
    states = [np.ascontiguousarray(x) for x in np.random.default_rng(4).uniform(-1, 1, (3, arm.n))]
    count = 10 if SMALL else 300
    ours = per_call(lambda: armdyn.inverse_dynamics(arm, *states))
    batch = np.random.default_rng(5).uniform(-1, 1, (3, 10_000, arm.n))
    out = armdyn.inverse_dynamics(arm, *batch)
    each = best(lambda: armdyn.inverse_dynamics(arm, *batch, out=out)) / 10_000
    for name, call in (("mujoco", _mujoco), ("roboticstoolbox", _toolbox)):
        try:
            peer = per_call(call(arm, states), count)
        except ImportError:
            console.print(f"{name}: not installed")
            continue
        console.print(
            f"{name} inverse dynamics: {peer * 1e6:.1f} us per call; "
            f"one call {peer / ours:.1f}x, batch {peer / each:.0f}x"
        )


def _mujoco(arm: Any, states: list[np.ndarray]) -> Callable[[], Any]:
    import mujoco

    with tempfile.TemporaryDirectory() as folder:
        arm.save(f"{folder}/arm.urdf")
        model = mujoco.MjModel.from_xml_path(f"{folder}/arm.urdf")
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qacc[:] = states
    return lambda: mujoco.mj_inverse(model, data)


def _toolbox(arm: Any, states: list[np.ndarray]) -> Callable[[], Any]:
    import roboticstoolbox

    robot = roboticstoolbox.models.DH.Panda()
    return lambda: robot.rne(*states)


def main() -> None:
    arm = armdyn.arms.panda()
    model = to_pinocchio(arm)
    data = model.createData()
    console.print(
        f"one thread unless said; {os.cpu_count()} cores; Pinocchio {pin.__version__}, NumPy {np.__version__}"
    )
    batches(arm, model, data)
    singles(arm, model, data)
    starts()
    peak(arm)
    if "--peers" in sys.argv[1:]:
        peers(arm)


if __name__ == "__main__":
    main()
