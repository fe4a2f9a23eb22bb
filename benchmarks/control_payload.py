"""Regulators about a trajectory when the load changes in mid-motion. Run: python benchmarks/control_payload.py

The question that Eindhoven (1987) leaves open: nominal torques and gains K(t) are computed for the empty arm; half-way
the arm seizes a load that moves with it. Friction is a quarter more than the model's, drives lag by 5 ms.
A law fails if a joint strays by more than 0.5 rad (or m).
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

import armdyn
from armdyn.control.gains import pd_gains
from armdyn.control.protocol import Law
from armdyn.simulation.compare import Sway, with_mismatch
from armdyn.trajectory.protocol import JointMotion

LAG, FRICTION, DURATION, STRAY = 0.005, 1.25, 8.0, 0.5
RATES = (60.0, 250.0, 1000.0)


class OnePose(armdyn.TrajectoryLQR):
    """A regulator that knows one pose only: gains and torques are those of holding it."""

    def nominal(self, motion: JointMotion) -> NDArray:
        pose = np.broadcast_to(np.asarray(self.hold, float), motion.q.shape)
        return super().nominal(JointMotion(pose, 0 * pose, 0 * pose))


def laws(arm: armdyn.Arm, reference: Sway, bandwidth: float, rate: float) -> dict[str, Law]:
    q = reference(DURATION / 2).q
    kp, kd, _ = pd_gains(arm, q, bandwidth)
    weights = np.concatenate([np.ones(arm.n), np.full(arm.n, 2 * np.pi * bandwidth)]), kp
    pose = np.zeros(arm.n)
    return {
        "LQR(t)": armdyn.TrajectoryLQR(arm, *weights, rate),
        "nominal torques, LQR of one pose": armdyn.TrajectoryLQR(arm, *weights, rate, "discrete", hold=pose),
        "LQR of one pose alone": OnePose(arm, *weights, rate, "discrete", hold=pose),
        "PD + gravity": armdyn.GravityPD(arm, kp, kd),
    }


def run(arm: armdyn.Arm, law: Law, reference: Sway, rate: float, load: float) -> tuple[float, bool]:
    """RMS error after the load was seized, and whether all joints stayed near."""
    changes = (armdyn.PickUp(DURATION / 2, load, at_rest=False),) if load else ()
    plant = armdyn.Plant(with_mismatch(arm, 0.0, FRICTION), motor_lag=LAG, changes=changes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = armdyn.simulate(plant, law, reference, rate=rate, substeps=max(round(1000 / rate), 1), check=False)
    stable = result.complete and bool(np.abs(result.error).max() < STRAY)
    return float(np.sqrt((result.error[result.t > DURATION / 2] ** 2).mean())), stable


def limit(arm: armdyn.Arm, law: Law, reference: Sway, rate: float, largest: float) -> float:
    """The least load at which the law fails, to 5 %; infinite if that is beyond `largest`."""
    low, high = 0.0, largest
    if not run(arm, law, reference, rate, 0.0)[1]:
        return 0.0
    if run(arm, law, reference, rate, largest)[1]:
        return np.inf
    while high - low > 0.05 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if run(arm, law, reference, rate, middle)[1] else (low, middle)
    return high


def table(arm: armdyn.Arm, bandwidth: float, loads: list[float], beyond: float) -> None:
    reference = Sway.within(arm, DURATION)
    print(f"\n{arm.name}: RMS error [mrad or mm] after the load, {bandwidth:g} Hz of bandwidth")
    print(f"| rate | law | {' | '.join(f'{load:g} kg' for load in loads)} | fails at |")
    print("|---" * (3 + len(loads)) + "|")
    for rate in RATES:
        for name, law in laws(arm, reference, bandwidth, rate).items():
            found = [run(arm, law, reference, rate, load) for load in loads]
            cells = [f"{1e3 * rms:.2f}" if stable else "fails" for rms, stable in found]
            at = limit(arm, law, reference, rate, beyond)
            where = f"{at:.1f} kg" if np.isfinite(at) else f"> {beyond:g} kg"
            print(f"| {rate:g} Hz | {name} | {' | '.join(cells)} | {where} |", flush=True)


def main() -> None:
    table(armdyn.arms.planar2(), 2.0, [0.0, 1.0, 2.5, 5.0], 200.0)
    table(armdyn.arms.puma560(), 2.0, [0.0, 1.0, 2.5], 100.0)


if __name__ == "__main__":
    main()
