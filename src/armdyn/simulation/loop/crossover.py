"""How fast a law is, whatever its gains are called: the frequency up to which its torques answer errors.

A loop is cut where the torque of one joint enters the arm, the others stay closed. What comes back of a torque d that
is added there is t d, of the cut loop's L = -t / (1 + t); at its crossover |L| = 1. All laws have one, and a higher
one buys smaller errors with more noise in the torques and less room for delays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armdyn.control.protocol import Law
from armdyn.dynamics.drive import augmented_mass_matrix
from armdyn.simulation.loop.desired import scatter
from armdyn.simulation.loop.schedule import Schedule
from armdyn.simulation.loop.stability import Period
from armdyn.simulation.sensors import Sensors

# Instants of the reference at which loops are cut, and frequencies that are tried, from so many hertz on.
INSTANTS, FREQUENCIES, MIN_HZ = 3, 80, 0.1
# Errors [rad or m, /s] of which a law's answer is looked at: that of a sliding mode depends on their size.
ERROR_SIZE = 1e-3


def crossover(schedule: Schedule, law: Law, sensors: Sensors | None = None) -> NDArray:
    """Crossover frequency (n,) of every joint's torque loop [Hz]; NaN where there is none, or joints are elastic.

    References
    ----------
    Franklin, Powell and Workman (1998), Digital control of dynamic systems, 7.4; loops cut one at a time.
    """
    n, period = schedule.plant.arm.n, schedule.clock.period
    if schedule.plant.kind.elastic or schedule.plant.servo or schedule.clock.samples < 2:
        return np.full(n, np.nan)
    loop = Period(schedule, law, sensors)
    states = loop.feedback()
    samples = np.unique((scatter(INSTANTS) * schedule.clock.samples).astype(int))
    slopes = loop.change(samples, np.eye(loop.size(states)), states, ERROR_SIZE)
    A = np.concatenate([slopes[name] for name in states], axis=-1).swapaxes(-1, -2)
    C = slopes["tau"].swapaxes(-1, -2)
    # A torque held for a period moves joints by h^2/2 M^-1 and h M^-1; the model without friction is near enough.
    q = schedule.motion.q[samples * schedule.clock.substeps]
    moved = np.linalg.inv(augmented_mass_matrix(schedule.plant.arm, q)) * period
    zero = np.zeros((len(samples), n, n))
    parts = {"q": moved * period / 2, "qd": moved}
    B = np.concatenate([parts.get(name, zero[:, :1].repeat(loop.size([name]), 1)) for name in states], axis=1)
    f = np.geomspace(MIN_HZ, 0.5 / period, FREQUENCIES)
    z = np.exp(2j * np.pi * f * period)[:, None, None, None]
    back = np.einsum("fpii->fpi", C @ np.linalg.solve(z * np.eye(A.shape[-1]) - A, B[None].astype(complex)))
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.abs(back / (1 + back))
    return np.median([[_last_crossing(f, gain[:, p, j]) for j in range(n)] for p in range(len(samples))], axis=0)


def _last_crossing(f: NDArray, gain: NDArray) -> float:
    """Return where a gain falls below 1 for the last time, between two frequencies by their logarithms."""
    above = np.flatnonzero(gain >= 1)
    if not len(above):
        return np.nan
    k = int(above[-1])
    if k == len(f) - 1:
        return float(f[-1])
    x, y = np.log(f[k : k + 2]), np.log(np.maximum(gain[k : k + 2], 1e-300))
    return float(np.exp(x[0] + (x[1] - x[0]) * y[0] / (y[0] - y[1])))
