"""Y'WY and Y'W tau of a whole log, a block of samples at a time: Y itself is never stored.

For logs larger than memory the samples may come from a generator. Squaring the regressor squares its
condition number: scale columns or use base parameters where that matters.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import blocks
from armdyn.dynamics.base.parameters import BaseParameters, base_regressor
from armdyn.dynamics.regressors.regressor import regressor
from armdyn.errors import ShapeError
from armdyn.model.arm import Arm
from armdyn.spatial import inertia as inertial


class NormalEquations(NamedTuple):
    """Sums over samples with which least squares is `A theta = b`."""

    A: NDArray  # Y'W Y (p, p)
    b: NDArray  # Y'W tau (p,)
    c: float  # tau'W tau
    samples: int

    def __add__(self, other: Any) -> NormalEquations:
        """The sums of two logs."""
        return NormalEquations(self.A + other.A, self.b + other.b, self.c + other.c, self.samples + other.samples)


def normal_equations(
    subject: Arm | BaseParameters,
    samples: tuple[ArrayLike, ...] | Iterable[tuple[ArrayLike, ...]],
    weights: ArrayLike | None = None,
) -> NormalEquations:
    """Accumulate the normal equations of `tau = Y theta`.

    Parameters
    ----------
    subject : Arm or BaseParameters
        Whose parameters theta are.
    samples : tuple of four array_like, or iterable of such tuples
        q, qd, qdd, tau, each (N, n); from an iterable one part of the log after the other.
    weights : array_like, shape (n,), optional
        Weight of each joint's squared residual, such as 1 / variance of its torque.

    Returns
    -------
    NormalEquations
        A = sum of Y'W Y, b = sum of Y'W tau, c = sum of tau'W tau.
    """
    arm = subject.source if isinstance(subject, BaseParameters) else subject
    joint_weights = np.ones(arm.n) if weights is None else _check(weights, arm.n)
    columns = (
        list(subject.columns) if isinstance(subject, BaseParameters) else list(range(inertial.SIZE * arm.n_joints))
    )
    # Joint i does not feel the links before it: its columns begin with those of link i, those of a coordinate with
    # the first link that it moves.
    moved = np.arange(arm.n) if arm.G is None else (arm.G != 0).argmax(axis=0)
    starts = np.searchsorted(columns, inertial.SIZE * moved)
    total = NormalEquations(np.zeros((len(columns),) * 2), np.zeros(len(columns)), 0.0, 0)
    for part in [samples] if isinstance(samples, tuple) else samples:
        q, qd, qdd, tau = _equal_arrays(part, arm.n)
        for k in blocks(len(q), arm.n * len(columns)):
            Y = _regressor(subject, (q[k], qd[k], qdd[k]))
            total = _add(total, Y, tau[k], joint_weights, starts)
    return total


def _regressor(subject: Arm | BaseParameters, state: tuple[NDArray, ...]) -> NDArray:
    return base_regressor(subject, *state) if isinstance(subject, BaseParameters) else regressor(subject, *state)


def _add(total: NormalEquations, Y: NDArray, tau: NDArray, weights: NDArray, starts: NDArray) -> NormalEquations:
    """The sums with one more block; matrices are added to in place."""
    A, b, c, samples = total
    for i, (weight, start) in enumerate(zip(weights, starts, strict=True)):
        row, torque = Y[:, i, start:], weight * tau[:, i]
        A[start:, start:] += weight * (row.T @ row)
        b[start:] += row.T @ torque
        c += float(torque @ tau[:, i])
    return NormalEquations(A, b, c, samples + len(Y))


def _check(weights: ArrayLike, n: int) -> NDArray:
    array = np.asarray(weights, float)
    if array.shape != (n,) or not (array >= 0).all():
        raise ShapeError(where="normal_equations", expected=f"{n} weights >= 0", got=f"{weights!r:.60}")
    return array


def _equal_arrays(part: tuple[ArrayLike, ...], n: int) -> list[NDArray]:
    """q, qd, qdd, tau as arrays of one shape (N, n)."""
    arrays = [np.asarray(x, float) for x in part]
    shapes = [a.shape for a in arrays]
    if len(arrays) != 4 or len(set(shapes)) != 1 or shapes[0][1:] != (n,):
        raise ShapeError(where="normal_equations", expected=f"q, qd, qdd, tau of one shape (N, {n})", got=shapes)
    return arrays
