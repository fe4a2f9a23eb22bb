"""Adaptation gains from a motion: how strongly each unknown shows in it."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.adaptive.estimate import Adaptive
from armdyn.control.adaptive.unknowns import AdaptiveParameters
from armdyn.control.settings import as_numbers, joint_numbers, one_number
from armdyn.errors import ShapeError, expect, quote
from armdyn.model.quantities import DriveData, FrictionData, Gravity, Q, Qd, Qdd, Theta
from armdyn.precision import SOLUTION_ERROR
from armdyn.trace.formula import Array, Vector, traced


class UnknownColumns(NamedTuple):
    """Columns of the unknowns, and torques of what is known."""

    Y: Annotated[Array, "n, u"]
    tau: Vector


@traced()
def unknown_columns(
    unknowns: AdaptiveParameters, q: Q, qd: Qd, qdd: Qdd, *,
    theta: Theta = None, gravity: Gravity = None, drive: DriveData = None, friction: FrictionData = None,
) -> UnknownColumns:  # fmt: skip
    """Columns of the unknowns and torques of what is known: torques of a motion are `Y @ phi + tau`.

    Parameters
    ----------
    theta, gravity, drive, friction
        The known part of the model.
    """
    data = {"theta": theta, "gravity": gravity, "drive": drive, "friction": friction}
    return UnknownColumns(*unknowns.torque(q, qd, qdd, data))


def adaptation_gains(
    unknowns: AdaptiveParameters, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, k: ArrayLike, time: float = 1.0
) -> NDArray:
    """Gains (u,) with which each unknown by itself would be learnt with a time constant, along a motion.

    A slowly changing error of unknown i leaves s = K^-1 Y_i, so d phi_i/dt = -gain_i (Y_i' K^-1 Y_i) phi_i: the gain is
    what makes the mean of that rate 1 / time. Unknowns that show together are learnt faster or slower than that.

    Parameters
    ----------
    unknowns : Unknowns
    q, qd, qdd : array_like, shape (T, n)
        A reference, or the motion of an earlier run.
    k : array_like, shape (n,) or (n, n)
        The law's gain K [N m s/rad].
    time : float
        Desired time constant [s].
    """
    time = one_number(time, "adaptation_gains", "a time > 0 in seconds")
    K = as_numbers(k, "adaptation_gains: k")
    if K.ndim < 2:
        K = np.diag(joint_numbers(K, unknowns.arm.n, "adaptation_gains: k", "gains > 0"))
    elif K.shape != (unknowns.arm.n,) * 2 or not np.linalg.eigvalsh((K + K.T) / 2)[0] > 0:
        raise ShapeError(where="adaptation_gains: k", expected="a positive definite gain", got=quote(k))
    Y = unknown_columns(unknowns, q, qd, qdd).Y
    shown_rate = np.einsum("tiu,ij,tju->u", Y, np.linalg.inv(K), Y) / len(Y)
    # A motion along which unknowns do not matter says nothing about them: they get no gain.
    visible = shown_rate > SOLUTION_ERROR * shown_rate.max(initial=0.0)
    return np.where(visible, 1 / (time * np.where(visible, shown_rate, 1.0)), 0.0)


AnyLaw = TypeVar("AnyLaw", bound=Adaptive)


def retuned(law: AnyLaw, run: Any, k: ArrayLike | None = None, time: float = 1.0) -> AnyLaw:
    """The law with gains for the motion of an earlier run, starting from the estimate it had learnt there.

    Parameters
    ----------
    law : Adaptive
    run : SimulationResult
        With the state `phi`, at least a tenth of a second long.
    k : array_like, shape (n,) or (n, n), optional
        K of the law [N m s/rad]; default its own, which laws with K = lambda M_hat and Craig's do not have.
    time : float
        Desired time constant [s]; see `adaptation_gains`.
    """
    fits = isinstance(law, Adaptive) and "phi" in getattr(run, "states", ())
    expect(fits, "retuned", "an adaptive law and a run of it", got=f"{quote(law)} and {quote(run)}")
    gain_k = getattr(law, "k", None) if k is None else k
    if gain_k is None:
        raise ShapeError(f"{type(law).__name__} has no gain K of its own", where="retuned", remedy="give k")
    qdd = np.gradient(run.qd, run.t, axis=0)
    gain = adaptation_gains(law.unknowns, run.q, run.qd, qdd, gain_k, time)
    bounds = (np.asarray(getattr(law, name)) for name in ("lower", "upper"))
    return replace(law, gain=gain, start=np.clip(run.states["phi"][-1], *bounds))  # type: ignore[call-arg]
