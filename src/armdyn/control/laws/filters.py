"""Filters of sampled signals, solved exactly over a period: stable and finite at any rate."""

from __future__ import annotations

from itertools import count
from math import factorial
from typing import NamedTuple

import numpy as np

from armdyn.control.formula import Arm, Array, Scalar, Symbol, ca, traced
from armdyn.model.quantities import Number, Vec

# Terms of the series of a step's displacement: 1 / k! is round-off where both poles times the period are within 1.
SERIES_TERMS = next(k for k in count(1) if np.finfo(float).eps * factorial(k) > 1)
# Least positive number that divides.
TINY = np.finfo(float).tiny


@traced(returns={"after": "n"})
def low_pass(arm: Arm, before: Vec, value: Vec, cutoff: Vec, dt: Number) -> Array:
    """Output of y' = 2 pi cutoff (value - y) after a period: value + exp(-2 pi cutoff dt) (y - value).

    Parameters
    ----------
    before
        Output y at the beginning of the period.
    value
        Mean of the input over the period.
    cutoff
        [Hz]; infinite passes the input on.
    dt
        Period [s].
    """
    return value + ca.exp(-2 * np.pi * cutoff * dt) * (before - value)


class SpringStep(NamedTuple):
    """Result of `spring_step`."""

    x: Scalar
    v: Scalar


@traced()
def spring_step(
    arm: Arm, x: Number, v: Number, force: Number, mass: Number, damping: Number, stiffness: Number, dt: Number
) -> SpringStep:
    """Position and velocity of mass x'' + damping x' + stiffness x = force after a period under a constant force.

    The matrix exponential in closed form, to round-off for any pair of poles: with the impulse response s of
    s'' + 2 a s' + b s = 0, s(0) = 0, s'(0) = 1, its derivative and its integral S,

        x(dt) = x + (s + 2 a S) v + S f,    v(dt) = (1 - b S) v + s f,    f = force / mass - 2 a v - b x

    Parameters
    ----------
    x, v
        Position and velocity at the beginning of the period.
    force
        Mean over the period.
    mass, damping, stiffness
        Numbers > 0, >= 0, >= 0.
    dt
        Period [s].
    """
    # In units of the period: poles -a +- sqrt(a² - b).
    a, b = damping / mass * dt / 2, stiffness / mass * dt**2
    s, S = _impulse_response(a, b)
    f = (force / mass) * dt - 2 * a * v - b * (x / dt)
    return SpringStep(x + dt * ((s + 2 * a * S) * v + S * f), v + s * f - b * S * v)


def _impulse_response(a: Symbol, b: Symbol) -> tuple[Symbol, Symbol]:
    """s(1) of s'' + 2 a s' + b s = 0, s(0) = 0, s'(0) = 1, and its integral from 0 to 1."""
    real, root = a * a >= b, ca.sqrt(ca.fabs(a * a - b))
    fast = ca.if_else(real, a + root, 1)
    slow = ca.if_else(real, b / ca.fmax(fast, TINY), 0)  # no difference of two large numbers
    # Two lags after each other, or a decaying wave.
    lag = ca.exp(-slow) * mean_decay(ca.if_else(real, 2 * root, 0))
    decay = ca.exp(-a)
    wave = decay * ca.if_else(root > 0, ca.sin(root) / ca.fmax(root, TINY), 1)
    s = ca.if_else(real, lag, wave)
    after_lags = (mean_decay(slow) - lag) / ca.fmax(fast, TINY)
    after_wave = (1 - decay * ca.cos(root) - a * wave) / ca.fmax(b, TINY)
    # Both cancel where the poles are near zero: there the series, c[k + 2] by s'' = -2 a s' - b s.
    near = ca.logic_and(a < 0.5, b < 0.25)
    c, integral = [0 * a, 0 * a + 1], 0 * a + 0.5
    for k in range(SERIES_TERMS):
        c.append(-(2 * a * (k + 1) * c[-1] + b * c[-2]) / ((k + 2) * (k + 1)))
        integral = integral + c[-1] / (k + 3)
    return s, ca.if_else(near, integral, ca.if_else(real, after_lags, after_wave))


def mean_decay(x: Symbol) -> Symbol:
    """Mean of exp(-t) over 0 < t < x, (1 - exp(-x)) / x."""
    return ca.if_else(x > 0, -ca.expm1(-x) / ca.fmax(x, TINY), 1)
