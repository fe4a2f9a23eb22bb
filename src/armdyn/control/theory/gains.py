"""Gains from what is wanted of a loop, and gain matrices checked."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.formula import Arm, Law
from armdyn.control.settings import as_numbers
from armdyn.errors import ShapeError, expect, quote
from armdyn.precision import NEGLIGIBLE
from armdyn.trajectory.protocol import SAMPLES_PER_PERIOD


class SecondOrderGains(NamedTuple):
    """Gains of a double integrator: e'' + kd e' + kp e = 0, or with ki of e''' + kd e'' + kp e' + ki e = 0."""

    kp: NDArray
    kd: NDArray
    ki: NDArray


def gains_from_bandwidth(bandwidth: ArrayLike, damping: ArrayLike = 1.0) -> SecondOrderGains:
    """Gains kp = w², kd = 2 damping w for w = 2 pi bandwidth.

    Parameters
    ----------
    bandwidth : array_like
        Natural frequency of the error [Hz], one number or one per joint.
    damping : array_like
        Damping ratio; 1 is the fastest without overshoot.
    """
    w, z = 2 * np.pi * _positive(bandwidth, "bandwidth"), _positive(damping, "damping")
    return SecondOrderGains(w**2, 2 * z * w, np.zeros_like(w))


def gains_from_poles(poles: ArrayLike) -> SecondOrderGains:
    """Gains that give every joint's error the desired poles.

    Parameters
    ----------
    poles : array_like, shape (..., 2) or (..., 3)
        Complex ones in conjugate pairs, all in the left half-plane [1/s]; three of them ask for an integral gain.
    """
    try:
        wanted = np.asarray(poles, complex)
    except (TypeError, ValueError):
        raise ShapeError(where="gains_from_poles", expected="complex numbers", got=quote(poles)) from None
    if wanted.ndim == 0 or wanted.shape[-1] not in (2, 3):
        raise ShapeError(where="gains_from_poles", expected="two or three poles per joint", got=f"shape {wanted.shape}")
    fits = (wanted.real < 0).all()
    expect(fits, "gains_from_poles", "poles with negative real parts", remedy="others are not stable")
    rows = np.array([np.poly(row) for row in wanted.reshape(-1, wanted.shape[-1])])
    if np.abs(rows.imag).max() > NEGLIGIBLE * np.abs(rows).max():
        raise ShapeError(where="gains_from_poles", expected="complex poles in conjugate pairs")
    flat = rows.real.reshape(*wanted.shape[:-1], -1)
    ki = flat[..., 3] if wanted.shape[-1] == 3 else np.zeros(wanted.shape[:-1])
    return SecondOrderGains(flat[..., 2], flat[..., 1], ki)


def pd_gains(arm: Arm, q: ArrayLike, bandwidth: ArrayLike, damping: ArrayLike = 1.0) -> SecondOrderGains:
    """Gains of a PD law: those of a double integrator times the inertia of each joint, rotors included.

    Parameters
    ----------
    arm : Arm
    q : array_like, shape (..., n)
        Position at which the inertia is taken [rad or m].
    bandwidth, damping : array_like
        As in `gains_from_bandwidth`.
    """
    from armdyn.dynamics.drive import augmented_mass_matrix

    inertia = np.diagonal(augmented_mass_matrix(arm, q), axis1=-2, axis2=-1)
    gains = gains_from_bandwidth(bandwidth, damping)
    expect(gains.kp.shape[-1:] in ((), (1,), (arm.n,)), "pd_gains", f"one bandwidth or {arm.n}", bandwidth)
    return SecondOrderGains(*(inertia * gain for gain in gains))


def bryson(largest: ArrayLike) -> NDArray:
    """Bryson's rule: the diagonal weight that makes every quantity cost 1 at its largest acceptable value.

    Parameters
    ----------
    largest : array_like, shape (m,)
        Largest acceptable values, > 0.
    """
    values = _positive(largest, "largest values")
    expect(values.ndim == 1, "bryson", "a row of largest values", got=f"shape {values.shape}")
    return np.diag(1 / values**2)


def slow_sampling(bandwidth: float, rate: float) -> str | None:
    """One sentence if a rate [Hz] is too low for a bandwidth [Hz], else None."""
    # With fewer samples a period a sampled law differs visibly from its design.
    wanted = SAMPLES_PER_PERIOD * bandwidth
    if rate >= wanted:
        return None
    return f"a rate of {rate:g} Hz is low for a bandwidth of {bandwidth:g} Hz; expected at least {wanted:g} Hz"


def gain_matrix(law: Law, name: str) -> None:
    """Make a gain of a frozen law a read-only positive definite matrix; numbers stand for diagonals."""
    where, n = f"{type(law).__name__}: {name}", law.core_shape(name)[0]
    array = as_numbers(getattr(law, name), where)
    if array.shape in ((), (n,)):
        array = np.diag(np.broadcast_to(array, n))
    expect(array.shape[-2:] == (n, n), where, f"one number, {n} numbers or matrices ({n}, {n})", array.shape)
    expect(np.isfinite(array).all(), where, "finite numbers", getattr(law, name))
    lowest = np.linalg.eigvalsh((array + array.swapaxes(-1, -2)) / 2).min()
    expect(lowest > 0, where, "a positive definite gain", got=f"one with the eigenvalue {lowest:g}")
    law._set(**{name: array})


def commute(A: NDArray, B: NDArray) -> bool:
    """Whether A B = B A up to round-off."""
    AB, BA = A @ B, B @ A
    return bool(np.abs(AB - BA).max() <= NEGLIGIBLE * np.abs(AB).max())


def _positive(value: ArrayLike, what: str) -> NDArray:
    array = as_numbers(value, "gains", f"{what} > 0")
    expect(np.isfinite(array).all() and (array > 0).all(), "gains", f"{what} > 0", value)
    return array
