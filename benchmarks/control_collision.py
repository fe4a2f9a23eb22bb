"""Collision detection: false alarms on records without contact, and delays on a simulated Panda.

    python benchmarks/control_collision.py FOLDER

FOLDER holds `models` and `data` with the records of a Panda and an LWR4 named below. Each arm is identified from one
part of its records, whose residuals also give the thresholds; alarms are counted in another part, which neither has
seen. Velocities are the robots' own, as the observer would have them; positions differentiated with their jittering
stamps would triple the Panda's residuals. Delays are those of a torque of 20 N m on one joint, by the formula and in a
simulation of the identified arm at 1 kHz, the later of both signs. `ARMDYN_BENCHMARK=small` tries one bandwidth and one
joint of the Panda.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import armdyn
from armdyn.control.laws.momentum import MomentumObserver, detection_delay, external_torque, noise_threshold
from armdyn.control.laws.wrapped import Wrapped

SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"
BANDWIDTHS = (20.0,) if SMALL else (5.0, 10.0, 20.0)
CONTACT = 20.0  # N m
MARGIN = 1.5  # of thresholds over the largest residual of the fit's own record
WATCHED = 1 if SMALL else 4  # joints
START, AT = 0.5, 0.3  # s: what an observer takes to settle, and when the simulated contact begins


def panda(folder: Path) -> tuple[armdyn.Fit, armdyn.Log, armdyn.Log]:
    """Fitted to the first 60 % of its record, that part, and the rest."""
    arm = armdyn.load(folder / "models/panda/panda_arm.urdf")
    log = armdyn.read_log(folder / "data/panda_gaz2019/panda_traj1.npz", arm)
    split = log.t[0] + 0.6 * log.duration
    own = log.part(log.t[0], split)
    return armdyn.identify(arm, own), own, log.part(split, log.t[-1])


def lwr4(folder: Path) -> tuple[armdyn.Fit, armdyn.Log, armdyn.Log]:
    """Fitted to its first record, that record, and the second."""
    arm = armdyn.load(folder / "models/kuka_lwr4/kuka_lwr4.urdf")
    logs = [armdyn.read_log(folder / f"data/kuka_lwr4/measurements_{i}.npz", arm) for i in (1, 2)]
    return armdyn.identify(arm, logs[0]), *logs


def residual(fit: armdyn.Fit, log: armdyn.Log, bandwidth: float) -> NDArray:
    """The observer's residual along the even stretches of a record, the first half second of each left out."""
    rows = []
    for part in log.stretches:
        q, qd, tau = (
            np.column_stack([np.interp(part.t, log.t, column) for column in x.T]) for x in (log.q, log.qd, log.tau)
        )
        rows.append(external_torque(fit.arm, part.t, q, qd, tau, bandwidth)[int(START / part.dt) :])
    return np.concatenate(rows)


class Hit(Wrapped):
    """A torque from outside on one joint from a time on, which the law inside is not told of."""

    def __init__(self, law: MomentumObserver, torque: NDArray) -> None:
        object.__setattr__(self, "law", law)
        object.__setattr__(self, "torque", torque)

    def channels(self, t: NDArray, motion: Any) -> dict[str, NDArray]:
        """The torque at every sample."""
        return {**super().channels(t, motion), "hit": np.where(np.asarray(t)[:, None] >= AT, self.torque, 0.0)}

    def step(self, arm: Any, params: Any, state: Any, q: Any, qd: Any, ref: Any, dt: Any) -> Any:
        """The law's torques and the blow."""
        tau, after = self.inner(params, state, q, qd, ref, dt)
        return tau + ref.channels["hit"], after


def simulated_delay(arm: armdyn.Arm, threshold: NDArray, bandwidth: float, joint: int) -> float:
    """Time [s] after which a simulated arm in motion notices a torque on a joint."""
    rigid = {"bristle_stiffness": 0.0, "bristle_damping": 0.0}  # presliding is not simulated
    arm = arm.with_joints([replace(x, friction=replace(x.friction, **rigid)) for x in arm.joints])
    law = MomentumObserver(armdyn.ComputedTorque.from_bandwidth(arm, 2.0), threshold, bandwidth, "none")
    delays = []
    for sign in (1, -1):
        hit = Hit(law, sign * CONTACT * np.eye(arm.n)[joint])
        run = armdyn.simulate(arm, hit, armdyn.Sway.within(arm, 0.5), 0.4, 1000, check=False)
        delays.append(run.t[np.argmax(run.states["detected"][:, 0] > 0)] - 1e-3 - AT)
    return max(delays)


def alarms(seen: NDArray, threshold: NDArray) -> int:
    """How often a residual rises above its threshold."""
    over = (seen > threshold).any(1).astype(int)
    return int(over[0] + np.diff(over).clip(0).sum())


def main(folder: Path) -> None:
    """Print the table."""
    print("| arm | bandwidth | thresholds [N m] | largest residual elsewhere | false alarms | delay [ms] | simulated |")
    print("|---|---|---|---|---|---|---|")
    for name, make in (("Panda", panda), ("LWR4", lwr4))[: 1 if SMALL else 2]:
        fit, own, other = make(folder)
        for bandwidth in BANDWIDTHS:
            threshold = noise_threshold(residual(fit, own, bandwidth), MARGIN)
            seen = np.abs(residual(fit, other, bandwidth))
            delay = 1e3 * detection_delay(threshold[:WATCHED], CONTACT, bandwidth)
            tried = [1e3 * simulated_delay(fit.arm, threshold, bandwidth, j) for j in range(WATCHED)]
            cells = [
                " ".join(f"{x:.1f}" for x in threshold[:WATCHED]), " ".join(f"{x:.1f}" for x in seen.max(0)[:WATCHED]),
                f"{alarms(seen, threshold)} in {other.duration:.0f} s", " ".join(f"{x:.0f}" for x in delay),
                " ".join(f"{x:.0f}" for x in tried),
            ]  # fmt: skip
            print(f"| {name} | {bandwidth:g} Hz | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    shared = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "shared"
    main(shared) if shared.is_dir() else print("the measured logs are absent; give their folder")
