"""Identification beside figaroh's, in one process: `python benchmarks/figaroh_comparison.py [ARM.urdf LOG]`.

figaroh (`pip install figaroh`) is not a dependency: without it the program says so and ends well. Both get the same log
of the same arm, in one motion, and are judged by another: its first part and its last by default, of a simulated Panda
with friction, noise on torques and quantised encoders; or of a measured log. From figaroh come its regressor with
friction and offset, its elimination of empty columns and its double QR decomposition, in their plainest use; the
low-pass and the derivatives before them are armdyn's. figaroh's users may set up more (weights, filters, bounds of its
optimiser): this is no measure of the best that it can do.
`ARMDYN_BENCHMARK=small` takes fewer samples.
"""

from __future__ import annotations

import dataclasses
import os
import sys
import time
import warnings
from types import SimpleNamespace

import numpy as np

import armdyn
from armdyn.identification.logs.log import Log
from armdyn.identification.motion.differentiate import lowpass

SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"
BAND = 5.0  # Hz, of the low-pass through which both are judged
KEPT = 10  # samples of which figaroh takes one, after its low-pass


def simulated() -> tuple[armdyn.Arm, Log]:
    """A Panda whose links are 10 % heavier than described, with friction."""
    arm = armdyn.arms.panda()
    plain = {"friction": armdyn.Friction(0.6, 0.8), "limits": armdyn.Limits(), "drive": armdyn.Drive()}
    joints = [dataclasses.replace(j, **plain) for j in arm.joints]
    robot = arm.with_joints(joints).with_theta(1.1 * arm.theta)
    rng = np.random.default_rng(0)
    t = np.arange(0, 10.0 if SMALL else 40.0, 0.002)[:, None]
    q, qd, qdd = np.zeros((3, len(t), 7))
    for k in range(1, 6):
        w, (a, b) = 2 * np.pi * 0.1 * k, rng.normal(size=(2, 7)) * 0.5 / np.sqrt(k)
        q += a * np.sin(w * t) - b * np.cos(w * t)
        qd += w * (a * np.cos(w * t) + b * np.sin(w * t))
        qdd += w * w * (-a * np.sin(w * t) + b * np.cos(w * t))
    tau = armdyn.joint_torque(robot, q, qd, qdd) + 0.3 * rng.normal(size=q.shape)
    return arm, Log(t[:, 0], np.round(q / 1e-5) * 1e-5, tau, name="simulated")


def figaroh_fit(arm: armdyn.Arm, log: Log, other: Log) -> tuple[np.ndarray, np.ndarray, int]:
    """figaroh's torques for the other log, the measured ones, and its number of parameters."""
    from figaroh.tools.qrdecomposition import QRDecomposer
    from figaroh.tools.regressor import RegressorBuilder, RegressorConfig, build_regressor_reduced, get_index_eliminate

    from armdyn.model.pinocchio_bridge import to_pinocchio

    model = to_pinocchio(arm)
    robot = SimpleNamespace(model=model, data=model.createData())
    config = {"act_idxv": list(range(arm.n))}
    builder = RegressorBuilder(robot, RegressorConfig(has_friction=True, has_joint_offset=True))

    def rows(part: Log) -> tuple[np.ndarray, np.ndarray]:
        motion = [armdyn.differentiate(s.q, s.dt, cutoff=2 * BAND) for s in part.stretches]
        q, qd, qdd = (np.vstack([getattr(m, name) for m in motion])[::KEPT] for name in ("q", "qd", "qdd"))
        tau = np.vstack([lowpass(s.tau, s.dt, 2 * BAND) for s in part.stretches])[::KEPT]
        return builder.build_basic_regressor(q, qd, qdd, config), tau.T.ravel()

    W, tau = rows(log)
    names = {f"p{k}": 0.0 for k in range(W.shape[1])}
    empty, kept = get_index_eliminate(W, names)
    decomposer = QRDecomposer()
    _, _, _, phi = decomposer.double_decomposition(tau, build_regressor_reduced(W, empty), kept)
    W, tau = rows(other)
    columns = build_regressor_reduced(W, empty)[:, decomposer.get_base_indices()]
    shape = (arm.n, -1)
    return (columns @ phi).reshape(shape).T, tau.reshape(shape).T, len(phi)


def error(model: np.ndarray, tau: np.ndarray, dt: float) -> float:
    """Relative, both sides through one low-pass, the ends left out."""
    cut = slice(int(0.5 / dt), -int(0.5 / dt))
    a, b = (lowpass(x, dt, BAND)[cut] for x in (model, tau))
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


def main() -> None:
    """Print one row a program."""
    try:
        import figaroh  # noqa: F401
    except ImportError as problem:
        print(f"skipped: figaroh is not installed ({problem}); pip install figaroh")
        return
    warnings.simplefilter("ignore")
    if len(sys.argv) == 3:
        arm = armdyn.load(sys.argv[1])
        log = armdyn.read_log(sys.argv[2], arm)
    else:
        arm, log = simulated()
    split = log.t[0] + 0.6 * log.duration
    first, rest = log.part(log.t[0], split), log.part(split, log.t[-1])
    print(f"{arm.name}: first 60 % of {log.name} fitted, the rest predicted, both sides below {BAND:g} Hz")
    print(f"{'':10}{'error':>8}{'time [s]':>10}{'parameters':>12}  links")
    start = time.perf_counter()
    model, tau, count = figaroh_fit(arm, first, rest)
    took = time.perf_counter() - start
    print(f"{'figaroh':10}{error(model, tau, KEPT * log.dt):8.2%}{took:10.2f}{count:12}  base parameters only")
    armdyn.identify(arm, first)  # kernels are compiled once
    start = time.perf_counter()
    fit = armdyn.identify(arm, first)
    took = time.perf_counter() - start
    t, model = fit.predict(rest)
    tau = np.stack([np.interp(t, rest.t, column) for column in rest.tau.T], axis=1)
    grid = np.arange(t[0], t[-1], log.dt)
    sides = [np.stack([np.interp(grid, t, column) for column in x.T], axis=1) for x in (model, tau)]
    count = fit.base.count + sum(map(len, fit.structure))
    print(f"{'armdyn':10}{error(*sides, log.dt):8.2%}{took:10.2f}{count:12}  physically consistent bodies")


if __name__ == "__main__":
    main()
