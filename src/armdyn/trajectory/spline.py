"""Splines through waypoints, and through samples of a recorded motion."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import ArmdynError, ReadError, ShapeError, check_choice, expect, reads_file
from armdyn.files import read_arrays, read_text
from armdyn.trajectory.piecewise import PiecewiseQuintic
from armdyn.trajectory.protocol import HoldAtEnds, JointMotion

if TYPE_CHECKING:
    from armdyn.trajectory.protocol import Trajectory

DEGREES = {"cubic": 3, "quintic": 5}


@dataclass(frozen=True, eq=False)
class Spline(HoldAtEnds):
    """Piecewise polynomials with continuous derivatives (SciPy's `BSpline`, from 0 to `duration`)."""

    curves: tuple[Any, Any, Any]  # positions and their first two derivatives
    duration: float
    n: int

    def inside(self, t: NDArray) -> JointMotion:
        """Joint motion at times from 0 to `duration`."""
        return JointMotion(*(curve(t) for curve in self.curves))


def spline(waypoints: ArrayLike, times: ArrayLike | None = None, kind: str = "quintic") -> Spline:
    """Move from rest through waypoints to rest.

    Parameters
    ----------
    waypoints : array_like, shape (K, n)
        Configurations [rad or m], K >= 2.
    times : array_like, shape (K,), optional
        Ascending, from 0 [s]. Default: in proportion to the roots of the distances, one second in the mean;
        scale it with `scale_to_limits`.
    kind : {"cubic", "quintic"}
        Continuous accelerations (which jump at the ends), or accelerations that begin and end at zero, with
        continuous jerk.
    """
    from scipy.interpolate import make_interp_spline

    q = np.array(waypoints, float)
    if q.ndim != 2 or len(q) < 2 or not np.isfinite(q).all():
        raise ShapeError(where="spline", expected="at least two finite waypoints (K, n)", got=f"shape {q.shape}")
    check_choice("spline", "kind", kind, DEGREES)
    t = _knots(q) if times is None else np.array(times, float)
    if t.shape != (len(q),) or t[0] != 0 or not (np.diff(t) > 0).all() or not np.isfinite(t).all():
        raise ShapeError(where="spline", expected=f"{len(q)} ascending times from 0", got=t)
    still = [(order, np.zeros(q.shape[1])) for order in range(1, (DEGREES[kind] + 1) // 2)]
    curve = make_interp_spline(t, q, k=DEGREES[kind], bc_type=(still, still))
    return Spline((curve, curve.derivative(1), curve.derivative(2)), float(t[-1]), q.shape[1])


def _knots(q: NDArray) -> NDArray:
    """Times that grow with the root of the distance (centripetal), so that short pieces do not overshoot."""
    distance = np.sqrt(np.linalg.norm(np.diff(q, axis=0), axis=1))
    if not (distance > 0).all():
        k = int(np.argmin(distance))
        cause = f"waypoints {k + 1} and {k + 2} are the same"
        raise ArmdynError(cause, where="spline", remedy="give times, or leave one out")
    return np.concatenate([[0.0], np.cumsum(distance / distance.mean())])


def sampled(t: ArrayLike, q: ArrayLike, qd: ArrayLike | None = None, qdd: ArrayLike | None = None) -> Trajectory:
    """A motion through samples: with velocities and accelerations exactly through these, else a quintic spline.

    Parameters
    ----------
    t : array_like, shape (N,)
        Ascending [s]; the first becomes 0.
    q, qd, qdd : array_like, shape (N, n)
        Give qd and qdd both, or neither.
    """
    at, q = np.array(t, float), np.array(q, float)
    if q.ndim != 2 or at.shape != (len(q),) or len(at) < 2:
        raise ShapeError(where="sampled", expected="times (N,) and positions (N, n)", got=f"{at.shape} and {q.shape}")
    expect(np.isfinite(at).all() and (np.diff(at) > 0).all(), "sampled", "finite ascending times")
    for name, values in (("q", q), ("qd", qd), ("qdd", qdd)):
        if values is not None and not np.isfinite(np.asarray(values, float)).all():
            raise ShapeError(where="sampled", expected=f"finite {name}", got="NaN or infinity")
    expect((qd is None) == (qdd is None), "sampled", "velocities and accelerations, or neither")
    at -= at[0]
    if qd is None or qdd is None:
        return spline(q, at)
    states = JointMotion(q, np.array(qd, float), np.array(qdd, float))
    fits = states.qd.shape == q.shape and states.qdd.shape == q.shape
    expect(fits, "sampled", f"qd and qdd of shape {q.shape}", got=f"{states.qd.shape}, {states.qdd.shape}")
    start, end = (JointMotion(*(x[piece] for x in states)) for piece in (slice(None, -1), slice(1, None)))
    return PiecewiseQuintic.through(at, start, end)


@reads_file
def read_trajectory(path: str | os.PathLike[str]) -> Trajectory:
    """A motion from a file, written by `save_trajectory` or another program.

    Parameters
    ----------
    path : path
        `.npz` with arrays t (N,), q (N, n) and, if it has them, qd and qdd; any other file is CSV with columns
        `t, q1 ... qn` and, if it has them, `qd1 ...` and `qdd1 ...`. SI units.

    Examples
    --------
    >>> np.savetxt("motion.csv", [[0, 0, 0], [1, 0.1, 0.2]], delimiter=",", header="t,q1,q2", comments="")
    >>> armdyn.read_trajectory("motion.csv").duration
    1.0
    """
    columns = _arrays(path) if os.fspath(path).endswith(".npz") else _columns(path)
    if "qd" not in columns or "qdd" not in columns:  # velocities alone: the spline's own are as good
        columns = {name: columns[name] for name in ("t", "q")}
    try:
        return sampled(**columns)
    except ShapeError as error:
        raise ReadError(f"{error}", path=path) from None


def _arrays(path: str | os.PathLike[str]) -> dict[str, NDArray]:
    """t, q and what else there is of qd and qdd."""
    arrays = read_arrays(path)
    if not {"t", "q"} <= arrays.keys():
        raise ReadError(path=path, expected="arrays t and q", got=f"{', '.join(arrays)!r:.60}")
    return {name: arrays[name] for name in ("t", "q", "qd", "qdd") if name in arrays}


def _columns(path: str | os.PathLike[str]) -> dict[str, NDArray]:
    """The same from a table."""
    lines = [line for line in read_text(path).splitlines() if line.strip()]
    names = [name.strip() for name in lines[0].lstrip("# ").split(",")] if lines else []
    n = sum(name[:1] == "q" and name[1:].isdigit() for name in names)
    if "t" not in names or not n:
        expected = "a first line with columns t, q1, q2, ..."
        raise ReadError(path=path, expected=expected, got=f"{', '.join(names[:8])!r:.60}")
    try:
        data = np.loadtxt(lines[1:], delimiter=",", ndmin=2)
    except ValueError as error:
        raise ReadError(path=path, expected=f"rows of numbers ({str(error).splitlines()[0]})") from None
    if data.shape[1] != len(names) or len(data) < 2:
        raise ReadError(path=path, expected=f"at least two rows of {len(names)} numbers", got=f"shape {data.shape}")
    series = {"t": data[:, names.index("t")]}
    for kind in ("q", "qd", "qdd"):
        columns = [names.index(f"{kind}{i + 1}") for i in range(n) if f"{kind}{i + 1}" in names]
        if len(columns) == n:
            series[kind] = data[:, columns]
    if "q" not in series:
        raise ReadError(path=path, expected=f"columns q1 to q{n} without gaps")
    return series
