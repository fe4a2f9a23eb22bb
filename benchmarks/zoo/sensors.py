"""What a logger makes of a motion and its torques."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from zoo.motion import Motion
from zoo.plant import RATE, Plant

RATES = (30.0, 50.0, 100.0, 125.0, 200.0, 250.0, 500.0, 1000.0, 5000.0)
MOST = 60_000  # samples of a log


class Table(NamedTuple):
    """A log as it is written down."""

    t: NDArray
    q: NDArray
    tau: NDArray
    qd: NDArray | None


class Logger(NamedTuple):
    """How an arm is measured."""

    rate: float  # [Hz]
    noise: float  # of torques, as a share of their size
    digits: float  # step of torques, as a share of their size; 0: none
    corner: float  # of the drives' low-pass on torques [Hz]; 0: none
    late: float  # by which torques come after positions [s]
    drift: NDArray  # (n,) of torques within a minute
    step: float  # of encoders [rad or m]
    velocity: str  # "none", "good" or "noisy"
    jitter: float  # of stamps, as a share of the period
    lost: float  # share of the samples
    repeated: float

    def record(self, plant: Plant, motion: Motion, start: float, duration: float, rng: np.random.Generator) -> Table:
        """A log of the motion, `start` seconds after the arm was switched on."""
        from scipy.signal import butter, sosfilt

        fine = np.arange(-0.5, duration + 0.1, 1 / RATE)
        tau = plant.torque(*motion(np.maximum(fine, 0.0)), start + np.maximum(fine, 0.0))
        if self.corner:
            low = butter(1, self.corner, fs=RATE, output="sos")
            tau = sosfilt(low, tau - tau[0], axis=0) + tau[0]
        true = np.arange(0, duration, 1 / self.rate)
        true = true[np.r_[True, rng.random(len(true) - 1) >= self.lost]]
        true = true + self.jitter / self.rate * rng.uniform(-0.45, 0.45, len(true))
        q, v, _ = motion(np.maximum(true, 0.0))
        tau = np.stack([np.interp(true - self.late, fine, column) for column in tau.T], axis=1)
        shape, sizes = tau.shape, plant.sizes
        tau = tau + self.noise * sizes * rng.normal(size=shape) + self.drift * ((start + true) / 60.0)[:, None]
        tau = np.round(tau / (self.digits * sizes)) * (self.digits * sizes) if self.digits else tau
        q = np.round((q + 0.3 * self.step * rng.normal(size=shape)) / self.step) * self.step
        qd = None
        if self.velocity != "none":
            share = 0.003 if self.velocity == "good" else 0.04
            qd = v + share * np.maximum(np.abs(v).max(axis=0), 1e-3) * rng.normal(size=shape)
        again = np.r_[False, rng.random(len(true) - 1) < self.repeated]
        k = np.maximum.accumulate(np.where(again, 0, np.arange(len(true))))
        return Table(true, q[k], tau[k], None if qd is None else qd[k])


def make_logger(n: int, sizes: NDArray, sensor: bool, longest: float, rng: np.random.Generator) -> Logger:
    rate = float(rng.choice([r for r in RATES if r * longest <= MOST]))
    return Logger(
        rate=rate,
        noise=float(np.exp(rng.uniform(np.log(0.003), np.log(0.05)))),
        digits=(rng.random() < 0.4) * rng.uniform(0.005, 0.03),
        corner=(rng.random() < 0.3) * min(rng.uniform(8, 60), 0.4 * RATE),
        late=(rng.random() < 0.5) * rng.uniform(0, 0.04),
        drift=(rng.random() < 0.3) * sizes * rng.uniform(-0.04, 0.04, n),
        step=2 * np.pi / 2.0 ** rng.integers(14, 21),
        velocity=str(rng.choice(["none", "good", "noisy"], p=[0.4, 0.4, 0.2])),
        jitter=(rng.random() < 0.2) * rng.uniform(0.1, 0.6),
        lost=(rng.random() < 0.2) * rng.uniform(0.01, 0.05),
        repeated=(rng.random() < 0.15) * rng.uniform(0.05, 0.3),
    )  # fmt: skip
