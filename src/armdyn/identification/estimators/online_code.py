"""Estimators that learn sample by sample as C99, for the computer that runs the arm."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.parameters import BaseParameters, base_regressor
from armdyn.errors import ArmdynError, ShapeError, quote
from armdyn.identification.estimators.online import (
    KalmanEstimator,
    Lms,
    RecursiveLeastSquares,
    belief_update,
    lms_update,
)
from armdyn.model.quantities import Gravity, Mat, Number, Q, Qd, Qdd, Tau
from armdyn.trace.printers.c_code import CCode, c_code
from armdyn.trace.printers.c_print import identifier
from armdyn.trace.shapes import Array
from armdyn.trace.symbols import ca, diagonal
from armdyn.trace.traced import traced

SWEEPS = math.ceil(math.log2(2 * np.finfo(float).nmant))  # of Jacobi's rotations: each doubles the digits


class OnlineEstimator:
    """An estimator of the base parameters of an arm (and its joint terms), as formulas are about it."""

    def __init__(self, estimator: Lms | RecursiveLeastSquares | KalmanEstimator, base: BaseParameters) -> None:
        self.base = base
        self.most_stable = isinstance(estimator, Lms) and estimator.most_stable
        n, p = base.source.n, base.count
        if isinstance(estimator, Lms):
            gain = np.asarray(estimator.gain, float)
            self.data = {"gain": np.full(p, gain) if gain.ndim == 0 else gain}
            self.start = {"x": estimator.init(p)}
        elif isinstance(estimator, RecursiveLeastSquares | KalmanEstimator):
            self.data = estimator.rules(n, p)._asdict()
            self.start = estimator.init(p)._asdict()
        else:
            expected = "Lms, RecursiveLeastSquares or KalmanEstimator"
            raise ArmdynError(where="online_code", expected=expected, got=quote(estimator))
        self.data |= {f"{name}_start": value for name, value in self.start.items()}
        for name, size in {"gain": (p,), "x_start": (p,), "P_start": (p, p), "whiten": (n, n)}.items():
            if name in self.data and self.data[name].shape != size:
                expected = f"{name.removesuffix('_start')} of shape {size} for {p} parameters of arm '{base.name}'"
                raise ShapeError(where="online_code", expected=expected, got=self.data[name].shape)
        self.name = f"{base.name}_{type(estimator).__name__}"

    @property
    def trace_sizes(self) -> Mapping[str, int]:
        """`n` joints and `p` parameters."""
        return {**self.base.source.trace_sizes, "p": self.base.count}

    @property
    def trace_key(self) -> str:
        """Key of the regressor and the mode: all else is data."""
        return f"online {'most stable ' if self.most_stable else ''}{self.base.trace_key}"

    def trace_data(self, name: str) -> NDArray:
        """Return the estimator's settings, and the regressor's data."""
        return np.asarray(self.data[name]) if name in self.data else self.base.trace_data(name)

    def __repr__(self) -> str:
        return f"{self.name} of {self.base!r}"


@traced(returns={"x": "p"})
def lms_start(subject: OnlineEstimator, *, x_start: Annotated[Any, "p"] = None) -> Array:
    """The estimate before the first sample.

    Returns
    -------
    x
        Parameters.
    """
    return x_start


@traced(returns={"x": "p"})
def lms_step(
    subject: OnlineEstimator,
    x: Annotated[Any, "p"],
    q: Q,
    qd: Qd,
    qdd: Qdd,
    tau: Tau,
    *,
    gain: Annotated[Any, "p"] = None,
    gravity: Gravity = None,
) -> Array:
    """The estimate after one sample; it may be written over the one before.

    Parameters
    ----------
    x
        Parameters.
    q, qd, qdd
        Motion [rad or m, /s, /s²].
    tau
        Measured torques [N m or N].
    gain
        Of each parameter.
    gravity
        [m/s²]

    Returns
    -------
    x
        Parameters.
    """
    Y = base_regressor(subject.base, q, qd, qdd, gravity=gravity)
    return lms_update(x, Y, tau, gain, _most_stable_mode(Y, gain) if subject.most_stable else None)


def _most_stable_mode(Y: Any, gain: Any) -> Any:
    """As `most_stable_mode`, for symbols."""
    values, V = diagonal(Y @ (gain * Y.T), SWEEPS)
    mode, nearest = V[:, 0], ca.fabs(1 - values[0])
    for k, value in enumerate(values[1:], start=1):
        apart = ca.fabs(1 - value)
        mode, nearest = ca.if_else(apart < nearest, V[:, k], mode), ca.fmin(apart, nearest)
    return mode


class CodeState(NamedTuple):
    """Parameters and their covariance."""

    x: Annotated[Array, "p"]
    P: Annotated[Array, "p, p"]


@traced()
def belief_start(
    subject: OnlineEstimator, *, x_start: Annotated[Any, "p"] = None, P_start: Annotated[Any, "p, p"] = None
) -> CodeState:
    """The estimate and its covariance before the first sample.

    Returns
    -------
    x
        Parameters.
    P
        Covariance, row by row.
    """
    return CodeState(x_start, P_start)


@traced()
def belief_step(
    subject: OnlineEstimator, x: Annotated[Any, "p"], P: Annotated[Any, "p, p"], q: Q, qd: Qd, qdd: Qdd, tau: Tau, *,
    whiten: Mat = None, forgetting: Number = None, drift: Annotated[Any, "p, p"] = None, gravity: Gravity = None,
) -> CodeState:  # fmt: skip
    """The estimate and its covariance after one sample; they may be written over those before.

    Parameters
    ----------
    x
        Parameters.
    P
        Covariance, row by row.
    q, qd, qdd
        Motion [rad or m, /s, /s²].
    tau
        Measured torques [N m or N].
    whiten, forgetting, drift
        See `belief_update`.
    gravity
        [m/s²]

    Returns
    -------
    x
        Parameters.
    P
        Covariance, row by row.
    """
    Y = base_regressor(subject.base, q, qd, qdd, gravity=gravity)
    return CodeState(*belief_update(x, P, Y, tau, whiten, forgetting, drift))


def online_code(
    estimator: Lms | RecursiveLeastSquares | KalmanEstimator,
    base: BaseParameters,
    directory: str | os.PathLike[str],
    *,
    prefix: str | None = None,
    dtype: str = "double",
) -> CCode:
    """Write an estimator that learns an arm's parameters sample by sample as C99.

    `<prefix>_<kind>_start(x, P)` and `<prefix>_<kind>_step(x, P, q, qd, qdd, tau, x, P)`, the kind being `lms` (which
    has no P) or `belief`, compute what the estimator's `init` and `step` compute with the base regressor.

    Parameters
    ----------
    estimator : Lms, RecursiveLeastSquares or KalmanEstimator
    base : BaseParameters
        What is to be learnt: `base_parameters(arm, joint_terms=("viscous", "coulomb"))` includes friction.
    directory : path
        Folder for the files; made if it does not exist.
    prefix : str, optional
        Start of symbols and file names; default from the arm's name and the estimator's.
    dtype : {"double", "float"}

    Returns
    -------
    CCode
        The files, with a self-test, and the operations of each function.
    """
    subject = OnlineEstimator(estimator, base)
    functions: list[Any] = [lms_start, lms_step] if isinstance(estimator, Lms) else [belief_start, belief_step]
    prefix = identifier(subject.name).lower() if prefix is None else prefix
    # Updates of covariances and rotations are products in which a search would find nothing, for half a minute.
    search = isinstance(estimator, Lms) and not estimator.most_stable
    return c_code(functions, subject, directory, prefix=prefix, dtype=dtype, search=search)
