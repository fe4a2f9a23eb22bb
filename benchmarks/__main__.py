"""A summary of armdyn's speed against its peers, all in one run: `python -m benchmarks [--write docs/performance.md]`.

Peers that are not installed are left out. Every figure is the best of several runs, ours and each peer's one after the
other: run it on a quiet machine. `ARMDYN_BENCHMARK=small` makes it quick.
"""

from __future__ import annotations

import argparse
import functools
import importlib.metadata
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import armdyn

SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"
LARGE, MEDIUM = (200, 50) if SMALL else (10_000, 100)
ROUNDS = 2 if SMALL else 15
INPUTS = {"inverse_dynamics": 3, "mass_matrix": 1, "coriolis_matrix": 2, "forward_dynamics": 3, "regressor": 3}
INPUTS |= {"linearize": 3, "jacobian": 1, "forward_kinematics": 1}
Call = Callable[[], Any]


def best(calls: dict[str, Call], count: int) -> dict[str, float]:
    """The shortest time of each call [ns], from blocks of `count` in a row that take turns."""
    found = dict.fromkeys(calls, np.inf)
    for call in calls.values():
        call()
    for _ in range(ROUNDS):
        for name, call in calls.items():
            begin = time.perf_counter()
            for _ in range(count):
                call()
            found[name] = min(found[name], (time.perf_counter() - begin) / count * 1e9)
    return found


# -- peers: one call with one sample ---------------------------------------------------------------------------


def pinocchio_calls(arm: Any, q: Any, v: Any, a: Any) -> dict[str, Call]:
    import pinocchio as pin

    from armdyn.model.pinocchio_bridge import to_pinocchio

    model = to_pinocchio(arm)
    data = model.createData()

    def derivatives() -> None:
        pin.computeRNEADerivatives(model, data, q, v, a)
        pin.computeABADerivatives(model, data, q, v, a)

    return {
        "inverse_dynamics": lambda: pin.rnea(model, data, q, v, a),
        "mass_matrix": lambda: pin.crba(model, data, q),
        "coriolis_matrix": lambda: pin.computeCoriolisMatrix(model, data, q, v),
        "forward_dynamics": lambda: pin.aba(model, data, q, v, a),
        "regressor": lambda: pin.computeJointTorqueRegressor(model, data, q, v, a),
        "linearize": derivatives,
        "jacobian": lambda: pin.computeJointJacobian(model, data, q, model.njoints - 1),
        "forward_kinematics": lambda: pin.forwardKinematics(model, data, q),
    }


def pinocchio_batch_calls(arm: Any, q: Any, v: Any, a: Any) -> dict[str, Call]:
    """Its own batch functions on one thread, for `LARGE` samples."""
    import pinocchio as pin

    from armdyn.model.pinocchio_bridge import to_pinocchio

    model = to_pinocchio(arm)
    pool = pin.ModelPool(model, 1)
    states = [np.asfortranarray(x.T) for x in np.random.default_rng(1).uniform(-1, 1, (3, LARGE, arm.n))]
    return {
        "inverse_dynamics": lambda: pin.rneaInParallel(1, pool, *states),
        "forward_dynamics": lambda: pin.abaInParallel(1, pool, *states),
    }


def mujoco_calls(arm: Any, q: Any, v: Any, a: Any) -> dict[str, Call]:
    import mujoco

    with tempfile.TemporaryDirectory() as folder:
        arm.save(f"{folder}/arm.urdf")
        model = mujoco.MjModel.from_xml_path(f"{folder}/arm.urdf")
    data, full = mujoco.MjData(model), np.empty((arm.n, arm.n))
    data.qpos[:], data.qvel[:], data.qacc[:] = q, v, a

    def mass() -> None:
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fullM(model, data, full)

    return {
        "inverse_dynamics": lambda: mujoco.mj_inverse(model, data),
        "mass_matrix": mass,
        "forward_dynamics": lambda: mujoco.mj_forward(model, data),
        "forward_kinematics": lambda: mujoco.mj_kinematics(model, data),
    }


def toolbox_calls(arm: Any, q: Any, v: Any, a: Any) -> dict[str, Call]:
    import roboticstoolbox

    robot = roboticstoolbox.models.DH.Panda()
    return {
        "inverse_dynamics": lambda: robot.rne(q, v, a),
        "mass_matrix": lambda: robot.inertia(q),
        "coriolis_matrix": lambda: robot.coriolis(q, v),
        "forward_dynamics": lambda: robot.accel(q, v, a),
        "jacobian": lambda: robot.jacob0(q),
        "forward_kinematics": lambda: robot.fkine(q),
    }


def adam_calls(arm: Any, q: Any, v: Any, a: Any) -> dict[str, Call]:
    from adam.numpy import KinDynComputations

    with tempfile.TemporaryDirectory() as folder:
        arm.save(f"{folder}/arm.urdf")
        robot = KinDynComputations(f"{folder}/arm.urdf", list(arm.joint_names))
    base, tip, still = np.eye(4), arm.tip_name, np.zeros(6)
    return {
        "mass_matrix": lambda: robot.mass_matrix(base, q),  # with six rows of the base, as all its matrices
        "forward_dynamics": lambda: robot.aba(base, q, still, v, a),
        "jacobian": lambda: robot.jacobian(tip, base, q),
        "forward_kinematics": lambda: robot.forward_kinematics(tip, base, q),
    }


PEERS = {
    "Pinocchio, one call": (pinocchio_calls, 2000, 1),
    "its batch": (pinocchio_batch_calls, 1, LARGE),
    "MuJoCo, one call": (mujoco_calls, 500, 1),
    "robotics-toolbox, one call": (toolbox_calls, 10, 1),
    "adam, one call": (adam_calls, 5, 1),
}
PACKAGES = ("numpy", "casadi", "llvmlite", "pin", "mujoco", "roboticstoolbox-python", "adam-robotics")


# -- tables --------------------------------------------------------------------------------------------------


def own_times(arm: Any, name: str) -> dict[str, float]:
    """ns per sample: a large batch into `out`, a fresh one, a hundred samples, and one call."""
    function, count = getattr(armdyn, name), INPUTS[name]
    args = list(np.random.default_rng(1).uniform(-1, 1, (count, LARGE, arm.n)))
    few, one = [x[:MEDIUM].copy() for x in args], [x[0].copy() for x in args]
    out, few_out = function(arm, *args), function(arm, *few)
    batch = functools.partial(function, arm, *args)
    large = best({"out": functools.partial(batch, out=out), "fresh": batch}, 1)
    small = best({"few": functools.partial(function, arm, *few, out=few_out)}, 5 if SMALL else 100)
    single = best({"call": lambda: function(arm, *one)}, 20 if SMALL else 2000)
    return {
        f"{LARGE:,} with out=": large["out"] / LARGE,
        f"{LARGE:,} fresh": large["fresh"] / LARGE,
        f"{MEDIUM} with out=": small["few"] / MEDIUM,
        "one call": single["call"],
    }


def peer_times(arm: Any) -> dict[str, dict[str, float]]:
    """ns per sample of every peer that is installed, by its name and the function's."""
    states = [np.ascontiguousarray(x) for x in np.random.default_rng(2).uniform(-1, 1, (3, arm.n))]
    found = {}
    for name, (make, count, samples) in PEERS.items():
        try:
            calls = make(arm, *states)
        except ImportError:
            continue
        times = best(calls, max(1, count // 50) if SMALL else count)
        found[name] = {function: t / samples for function, t in times.items()}
    return found


def duration(ns: float) -> str:
    """Nanoseconds, or a larger unit, to two or three digits."""
    for unit, size in (("ms", 1e6), ("us", 1e3)):
        if ns >= 10 * size:
            return f"{ns / size:.0f} {unit}"
    return f"{ns:,.0f}" if ns >= 10 else f"{ns:.1f}"


def speed_table(arm: Any) -> list[list[str]]:
    """A row per function: ours, the peers', and how often a batch is faster than the quickest peer."""
    peers = peer_times(arm)
    rows = []
    for name in INPUTS:
        own = own_times(arm, name)
        other = [peers[peer].get(name) for peer in peers]
        found = [t for t in other if t is not None]
        batch, call = (min(found) / own[key] for key in (f"{LARGE:,} with out=", "one call")) if found else (0, 0)
        ratio = f"{batch:.0f}x, {call:.1f}x" if found else "-"
        rows.append([name, *map(duration, own.values()), *("-" if t is None else duration(t) for t in other), ratio])
    return [["function", *own, *peers, "batch and call against the quickest peer"], *rows]


FIRST = "import armdyn, numpy as np; arm = armdyn.arms.panda(); armdyn.inverse_dynamics(arm, *np.zeros((3, 7)))"
STARTS = {
    "`armdyn --version`": ["-m", "armdyn", "--version"],
    "Python alone": ["-c", "pass"],
    "`import armdyn`": ["-c", "import armdyn"],
    "first torque, kernels on disk": ["-c", FIRST],
    "`armdyn torque puma560`": ["-m", "armdyn", "torque", "puma560", "--q", "0,0,0,0,0,0"],
}


def start_table() -> list[list[str]]:
    """Seconds of the processor that a process takes, with bytecode and kernels on disk."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"ARMDYN_CACHE_DIR": folder, "OPENBLAS_NUM_THREADS": "1"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)

        def seconds(arguments: list[str]) -> float:
            begin = os.times()
            done = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(f"{arguments}: {done.stderr}")
            end = os.times()
            return end.children_user + end.children_system - begin.children_user - begin.children_system

        runs = [{name: seconds(arguments) for name, arguments in STARTS.items()} for _ in range(2 if SMALL else 10)]
    return [["a new process", "s of the processor"], *([name, f"{min(r[name] for r in runs):.2f}"] for name in STARTS)]


def machine() -> str:
    """What was measured on."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.processor() or platform.machine()
    from armdyn.trace.llvm.processor import target

    versions = []
    for package in PACKAGES:
        try:
            versions.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    load = ""
    if hasattr(os, "getloadavg"):
        busy = os.getloadavg()[0] > (os.cpu_count() or 1)
        load = f", load {os.getloadavg()[0]:.0f}" + ": busy, times and ratios are rough" * busy
    return (
        f"{model} ({target().cpu}, {target().host.width} lanes), {os.cpu_count()} cores{load}, {platform.system()}, "
        f"Python {platform.python_version()}, {', '.join(versions)}; one thread"
    )


def markdown(table: list[list[str]]) -> str:
    """A table as Markdown."""
    head, *rows = (f"| {' | '.join(row)} |" for row in table)
    return "\n".join([head, "|" + "---|" * len(table[0]), *rows])


MARK = "<!-- printed by python -m benchmarks --write docs/performance.md -->"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path, help="put the tables into this page, below its mark")
    options = parser.parse_args()
    arm = armdyn.arms.panda()
    text = "\n\n".join(
        [
            f"Measured on {machine()}.",
            f"{arm.name}, {arm.n} joints, ns per sample unless another unit is given:",
            markdown(speed_table(arm)),
            markdown(start_table()),
        ]
    )
    print(text)
    if options.write:
        page = options.write.read_text()
        options.write.write_text(page[: page.index(MARK)] + f"{MARK}\n\n{text}\n")


if __name__ == "__main__":
    main()
