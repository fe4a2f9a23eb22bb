"""Regulators about a trajectory when the load changes in mid-motion: the question that Eindhoven (1987) leaves open.

Nominal torques and gains K(t) are computed for the empty arm; half-way the arm picks up a load that moves with it.
Friction is a quarter more than the model's, drives lag by 5 ms.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armdyn.control.design.designs import adaptive_designs
from armdyn.control.laws.lqr import TrajectoryLQR
from armdyn.control.laws.pd import GravityPD
from armdyn.control.protocol import Law
from armdyn.control.theory.gains import pd_gains
from armdyn.errors import ignore_warnings
from armdyn.model.arm import Arm
from armdyn.simulation.compare import Sway, with_mismatch
from armdyn.simulation.plant.payload import PickUp
from armdyn.simulation.plant.plant import Plant
from armdyn.simulation.result import SimulationResult
from armdyn.simulation.simulate import simulate
from armdyn.trajectory.protocol import JointMotion
from reproductions.case import rms

MOTOR_LAG_S, FRICTION_FACTOR, DURATION_S = 0.005, 1.25, 8.0
STRAY_DISTANCE = 0.5  # a law fails if a joint strays by more than this [rad or m]
STEP_S = 1e-3  # of the integrator [s]
REGULATOR, FIXED = "LQR(t)", "nominal torques, LQR of one pose"
ALONE, PLAIN = "LQR of one pose alone", "PD + gravity"
ADAPTIVE = "Slotine-Li"


class OnePose(TrajectoryLQR):
    """A regulator that knows one pose only: gains and torques are those of holding it."""

    def nominal(self, motion: JointMotion) -> NDArray:
        """Torques that hold the pose."""
        pose = np.broadcast_to(np.asarray(self.hold, float), motion.q.shape)
        return super().nominal(JointMotion(pose, 0 * pose, 0 * pose))


def regulators(arm: Arm, reference: Sway, bandwidth: float, rate: float) -> dict[str, Law]:
    """The report's law, and laws that lack parts of it."""
    kp, kd, _ = pd_gains(arm, reference(DURATION_S / 2).q, bandwidth)
    weights = np.concatenate([np.ones(arm.n), np.full(arm.n, 2 * np.pi * bandwidth)]), kp
    pose = np.zeros(arm.n)
    return {
        REGULATOR: TrajectoryLQR(arm, *weights, rate),
        FIXED: TrajectoryLQR(arm, *weights, rate, "discrete", hold=pose),
        ALONE: OnePose(arm, *weights, rate, "discrete", hold=pose),
        PLAIN: GravityPD(arm, kp, kd),
    }


def learner(arm: Arm, reference: Sway, bandwidth: float) -> Law:
    """A law that learns the load, which the report does not consider."""
    return adaptive_designs(arm, reference(np.linspace(0, DURATION_S, 400)), bandwidth)[ADAPTIVE]


def seize(arm: Arm, law: Law, reference: Sway, rate: float, load: float) -> SimulationResult:
    """A run in which the arm picks up a load [kg] half-way."""
    changes = (PickUp(DURATION_S / 2, load, at_rest=False),) if load else ()
    plant = Plant(with_mismatch(arm, 0.0, FRICTION_FACTOR), motor_lag=MOTOR_LAG_S, changes=changes)
    with ignore_warnings():  # runs that diverge count as failures
        return simulate(plant, law, reference, rate=rate, substeps=max(round(1 / (rate * STEP_S)), 1), check=False)


def judge(result: SimulationResult) -> tuple[float, bool]:
    """RMS error after the load was picked up, and whether all joints stayed near."""
    stable = result.complete and bool(np.abs(result.error).max() < STRAY_DISTANCE)
    return rms(result.error[result.t > DURATION_S / 2]), stable


def failing_load(arm: Arm, law: Law, reference: Sway, rate: float, largest: float) -> float:
    """The least load [kg] at which the law fails, to 5 %; infinite if that is beyond `largest`."""

    def stays(load: float) -> bool:
        return judge(seize(arm, law, reference, rate, load))[1]

    low, high = 0.0, largest
    if not stays(0.0):
        return 0.0
    if stays(largest):
        return np.inf
    while high - low > 0.05 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if stays(middle) else (low, middle)
    return high
