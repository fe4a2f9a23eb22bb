"""Collision detection: false alarms on records without contact, and delays on a simulated Panda.

    python benchmarks/control_collision.py FOLDER

FOLDER holds `models` and `data` with the records of a Panda and an LWR4 named below. Each arm is identified from one
part of its records; residuals are those of another part, which the fit has not seen.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import armdyn
from armdyn.control.laws.momentum_observer import detection_delay, external_torque
from armdyn.identification.motion.differentiate import differentiate

BANDWIDTHS = (5.0, 10.0, 20.0)
CONTACT = 20.0  # N m
VELOCITY_CUTOFF = 30.0  # Hz: stamps of the Panda jitter by a sample


def panda(folder: Path) -> tuple[armdyn.Fit, armdyn.Log]:
    """Fitted to the first 60 % of its record."""
    arm = armdyn.load(folder / "models/panda/panda_arm.urdf")
    log = armdyn.read_log(folder / "data/panda_gaz2019/panda_traj1.npz", arm)
    split = log.t[0] + 0.6 * log.duration
    return armdyn.identify(arm, log.part(log.t[0], split)), log.part(split, log.t[-1])


def lwr4(folder: Path) -> tuple[armdyn.Fit, armdyn.Log]:
    """Fitted to its first record."""
    arm = armdyn.load(folder / "models/kuka_lwr4/kuka_lwr4.urdf")
    logs = [armdyn.read_log(folder / f"data/kuka_lwr4/measurements_{i}.npz", arm) for i in (1, 2)]
    return armdyn.identify(arm, logs[0]), logs[1]


def residual(fit: armdyn.Fit, log: armdyn.Log, bandwidth: float) -> NDArray:
    """The observer's residual along the even stretches of a record, the first half second of each left out."""
    rows = []
    for part in log.stretches:
        q, qd = differentiate(part.q, part.dt, cutoff=VELOCITY_CUTOFF)[:2]
        rows.append(external_torque(fit.arm, part.t, q, qd, part.tau, bandwidth)[int(0.5 / part.dt) :])
    return np.concatenate(rows)


def main(folder: Path) -> None:
    """Print the table."""
    print("| arm | bandwidth | largest residual, joints 1-4 [N m] | alarms a minute at 20 N m | delay at 1 kHz [ms] |")
    print("|---|---|---|---|---|")
    for name, make in (("Panda", panda), ("LWR4", lwr4)):
        fit, log = make(folder)
        for bandwidth in BANDWIDTHS:
            seen = np.abs(residual(fit, log, bandwidth))[:, :4]
            forced = 1.25 * seen.max(0)
            alarms = np.diff((seen > 0.999 * CONTACT).any(1).astype(int)).clip(0).sum() / (log.duration / 60)
            delay = 1e3 * detection_delay(forced, CONTACT, bandwidth)
            numbers = " ".join(f"{x:.1f}" for x in seen.max(0))
            print(
                f"| {name} | {bandwidth:g} Hz | {numbers} | {alarms:.1f} | {' '.join(f'{x:.0f}' for x in delay)} |",
                flush=True,
            )


if __name__ == "__main__":
    shared = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "shared"
    main(shared) if shared.is_dir() else print("the measured logs are absent; give their folder")
