"""Kapadia (1995), simulated: the PUMA's first three joints move, are measured, and give equations for estimators."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.control.laws.pd import PD, FeedforwardPD
from armdyn.control.protocol import Law
from armdyn.control.theory.gains import pd_gains
from armdyn.dynamics.base.parameters import BaseParameters, base_parameters
from armdyn.identification.estimators.data import Data
from armdyn.identification.motion.differentiate import differentiate
from armdyn.lowpass import lowpass
from armdyn.model.arm import Arm
from armdyn.model.joint import Drive, Friction
from armdyn.model.library.puma3 import puma3
from armdyn.simulation.result import SimulationResult
from armdyn.simulation.sensors import Sensors
from armdyn.simulation.simulate import simulate
from armdyn.trajectory.fourier import FourierSeries
from reproductions.kapadia_tables import ALL, ELIMINATION

RATE_HZ, BANDWIDTH_HZ = 1000.0, 4.0  # of the controller
SAMPLES_PER_ROW = 5  # samples of the controller a row of the log
FREQUENCY_HZ, HARMONICS, HARMONIC_SPEED = 0.15, 4, 0.15  # of the identification motions; rad/s of a harmonic
CUTOFF_HZ, ROWS_PER_EQUATION = 8.0, 10  # low-pass [Hz] of the equations; one row in so many counts
ROWS_TRIMMED = 60  # rows at both ends that filters spoil
# Encoder step [rad], torque noise [N m] and ripple (part of the torque, twelve waves per turn).
GEARED = Sensors(resolution=1e-4, tau_noise=1.0, ripple=0.03)
DIRECT = Sensors(resolution=1e-4, tau_noise=1.0)


def geared_puma() -> Arm:
    """The PUMA with the Coulomb friction that Table 7.3 finds; inertias are Armstrong's."""
    arm, found = puma3(), ELIMINATION[-3:]
    joints = [
        dataclasses.replace(joint, friction=Friction(coulomb=c)) for joint, c in zip(arm.joints, found, strict=True)
    ]
    return arm.with_joints(joints)


def direct() -> Arm:
    """The same links without gears: neither friction nor rotors."""
    arm = puma3()
    return arm.with_joints([dataclasses.replace(j, friction=Friction(), drive=Drive()) for j in arm.joints])


def motions(count: int, seed: int, fresh: bool = False) -> list[FourierSeries]:
    """Identification motions, or `fresh` ones: Fourier series about the middle of the joints' ranges."""
    rng, arm = np.random.default_rng([seed, fresh]), puma3()
    lower, upper = (np.array(x) for x in arm.position_limits)
    found = []
    for _ in range(count):
        # Velocities up to about 0.6 rad/s; positions stay within 0.7 rad of the middle.
        speeds = rng.uniform(-HARMONIC_SPEED, HARMONIC_SPEED, (arm.n, 2 * HARMONICS))
        found.append(FourierSeries(np.column_stack([(lower + upper) / 2, speeds]), FREQUENCY_HZ, 1 / FREQUENCY_HZ))
    return found


def law(name: str) -> Law:
    """PD control, alone or with the torques of the standard model fed forward."""
    arm = puma3()
    kp, kd, _ = pd_gains(arm, np.array([0.0, np.pi / 2, -np.pi / 2]), BANDWIDTH_HZ)
    return PD(arm, kp, kd) if name == "PD" else FeedforwardPD(arm, kp, kd, model="rigid")


def track(reference: Any, name: str = "PD", arm: Arm | None = None) -> SimulationResult:
    """The arm along a motion."""
    moved = geared_puma() if arm is None else arm
    return simulate(moved, law(name), reference, rate=RATE_HZ, every=SAMPLES_PER_ROW, check=False)


class Recorded(NamedTuple):
    """A run as instruments show it, and the equations tau = Y x that follow, one row in `ROWS_PER_EQUATION`."""

    t: NDArray  # (N,)
    tau: NDArray  # (N, 3) as measured
    Y: NDArray  # (N, 3, 19) regressor from measured positions, filtered
    data: Data  # all 19 columns, filtered like the torques


class Setting(NamedTuple):
    """An arm, its base parameters and its instruments."""

    arm: Arm
    base: BaseParameters
    sensors: Sensors

    @classmethod
    def of(cls, arm: Arm, sensors: Sensors) -> Setting:
        """With motors and Coulomb friction among the parameters."""
        return cls(arm, base_parameters(arm, joint_terms=("rotor", "coulomb")), sensors)

    @property
    def truth(self) -> NDArray:
        """P1 ... P18 (18,) of the arm."""
        return self.base.theta[self.columns(ALL)]

    def columns(self, names: tuple[str, ...]) -> list[int]:
        """Positions of parameters."""
        return [self.base.labels.index(name) for name in names]

    def record(self, run: SimulationResult, seed: int) -> Recorded:
        """Measure a run; velocities and accelerations come from the positions."""
        log = self.sensors.record(run, seed=seed)
        dt = float(np.median(np.diff(log.t)))
        motion = differentiate(log.q, dt, method="butterworth", cutoff=2 * CUTOFF_HZ)
        Y = lowpass(self.base.regressor(motion.q, motion.qd, motion.qdd), dt, CUTOFF_HZ)
        part = slice(ROWS_TRIMMED, -ROWS_TRIMMED, ROWS_PER_EQUATION)
        return Recorded(log.t, log.tau, Y, Data(Y[part], lowpass(log.tau, dt, CUTOFF_HZ)[part]))


def join_records(records: list[Recorded], columns: list[int]) -> Data:
    """The equations of several records with chosen columns."""
    Y = np.concatenate([record.data.Y for record in records])[..., columns]
    return Data(Y, np.concatenate([record.data.tau for record in records]))


def filtered_noise(records: list[Recorded], rng: np.random.Generator) -> NDArray:
    """White torque noise of unit size along the records, filtered and thinned like their torques: (N, n)."""
    part = slice(ROWS_TRIMMED, -ROWS_TRIMMED, ROWS_PER_EQUATION)
    return np.concatenate(
        [lowpass(rng.normal(size=each.tau.shape), each.t[1] - each.t[0], CUTOFF_HZ)[part] for each in records]
    )
