"""Which columns of a regressor to keep, and how the others are combinations of those.

The choice follows an order of preference, that of Gautier and Khalil (1990): of a link on a revolute
joint the mass, the first moment along the axis and one of the two moments of inertia across it are
dropped first, for they can be carried to the link before; of a link on a prismatic joint the tensor.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.arrays import read_only
from armdyn.dynamics.regressors.joint_columns import full_regressor
from armdyn.errors import RankError
from armdyn.model.arm import STANDARD_GRAVITY, Arm
from armdyn.model.snap import turn_frames
from armdyn.precision import NEGLIGIBLE, SIX_DIGITS, SOLUTION_ERROR
from armdyn.spatial import inertia as inertial
from armdyn.spatial.transform import transform
from armdyn.trace.backend import interpreting

# A column is dependent if the part of it that no kept column explains is below this fraction of the longest
# column, all in units of the arm's size. Exact dependence leaves 1e-16, frames with angles written to five
# digits 1e-5, an offset of a thousandth of the arm's size 1e-3.
DEPENDENT_COLUMN_RATIO = 1e-4

# Between the weakest kept column and the strongest dropped one there must be at least this factor.
CLEAR_GAP = 30.0


class Gap(NamedTuple):
    """Distance between independent and dropped columns."""

    weakest_kept: float  # unexplained part of a kept column, as a fraction of the longest column
    strongest_dropped: float  # the same of a dropped column
    singular: float  # smallest singular value of the kept columns (scaled to unit length) over the largest
    beyond: float  # of all columns: the singular value after the last that counts, over the largest


class Reduction(NamedTuple):
    """`theta_base = P theta`, led by the parameters at the positions `columns`."""

    columns: list[int]
    P: NDArray
    gap: Gap | None


def preference(arm: Arm, joint_terms: int = 0) -> list[int]:
    """Positions in theta (and in the joint parameters behind it) in the order in which they are kept."""
    ranked = []
    for i, (joint, segment) in enumerate(zip(arm.joints, arm.segments, strict=True)):
        axis = int(np.argmax(np.abs(segment.R_after[2])))
        across = [k for k in range(3) if k != axis]
        rank = np.zeros(inertial.SIZE, int)
        if joint.kind == "revolute":
            rank[inertial.TENSOR[across[1], across[1]]] = 1
            rank[inertial.FIRST.start + axis] = 2
            rank[inertial.MASS] = 3
        else:
            rank[inertial.TENSOR] = 1
        ranked += [(int(rank[k]), i, inertial.SIZE * i + k) for k in range(inertial.SIZE)]
    inertias = inertial.SIZE * arm.n_joints
    # A joint's own parameters come right behind the links' preferred ones: Izz1 absorbs Ia1, Ia3 stays.
    ranked += [(0, arm.n_joints, inertias + k) for k in range(joint_terms * arm.n_joints)]
    return [position for _, _, position in sorted(ranked)]


def parameter_sizes(arm: Arm, unit: float) -> NDArray:
    """Sizes (10 n,) of the inertial parameters of unit masses at distances of `unit`: 1, unit or unit²."""
    size = np.full(inertial.SIZE, unit**2)
    size[inertial.MASS], size[inertial.FIRST] = 1.0, unit
    return np.tile(size, arm.n_joints)


def arm_size(arm: Arm) -> float:
    """The longest component of the vectors between joints [m]; 1 if all are zero.

    They are zero too where they are round-off beside the base's, the tool's and the links' own lengths.
    """
    pairs = list(zip(arm.segments, arm.parents, strict=True))
    vectors = [segment.p_before for segment, parent in pairs if parent >= 0]
    longest = float(max(np.abs(p).max() for p in [*vectors, *(segment.p_after for segment in arm.segments)]))
    ends = np.abs([*(segment.p_before for segment, parent in pairs if parent < 0), arm.tool[1]]).max()
    return longest if longest > NEGLIGIBLE * max(float(ends), _body_size(arm)) else 1.0


def _body_size(arm: Arm) -> float:
    """The largest distance of a link's mass from its frame's origin, on average [m]; 0 where no inertia is known."""
    theta = arm.theta.reshape(arm.n_joints, inertial.SIZE)
    tensors = theta[:, inertial.TENSOR[range(3), range(3)]].sum(axis=1)  # twice the moment about the origin
    known = (theta[:, inertial.MASS] > 0) & (tensors > 0)
    return float(np.sqrt(tensors[known] / (2 * theta[known, inertial.MASS])).max(initial=0.0))


def right_angled(arm: Arm) -> Arm:
    """The arm with the right angles that rounded ones in a file mean: which parameters group is decided by these.

    Lengths and gravity lose what rounded angles leave of zeros. The arm itself if its angles are exact already.
    """
    unit, weight = arm_size(arm), float(np.abs(arm.gravity).max()) or 1.0
    frames = np.array([T[:3] for joint in arm.joints for T in (joint.before, joint.after)])
    entries = np.abs(np.concatenate([(frames / [1, 1, 1, unit]).ravel(), arm.gravity / weight]))
    if not ((entries > SOLUTION_ERROR) & (entries < 2 * SIX_DIGITS)).any():
        return arm  # nothing is nearly zero
    out, turns = turn_frames(arm, SIX_DIGITS)
    lost = [turn.angle for turn in turns]

    def exact(vector: NDArray, size: float) -> NDArray:
        zero = np.abs(vector) < SIX_DIGITS * size
        lost.append(float(np.abs(vector[zero]).max(initial=0.0)) / size)
        return np.where(zero, 0.0, vector)

    def frame(T: NDArray) -> NDArray:
        return transform(T[:3, :3], exact(T[:3, 3], unit))

    joints = tuple(replace(joint, before=frame(joint.before), after=frame(joint.after)) for joint in out.joints)
    out = replace(out, joints=joints, gravity=exact(arm.gravity, weight))
    return out if max(lost) > SOLUTION_ERROR else arm


def reduce_columns(Y: NDArray, sizes: NDArray, order: list[int], tolerance: float, what: str) -> Reduction:
    """Keep independent columns of a stacked regressor (rows, parameters), in the given order.

    `sizes` brings the columns to comparable units: see `parameter_sizes`.
    """
    Y = Y * sizes
    # A triangle has the same dependences as the stack, in no more rows than columns.
    A: NDArray = np.linalg.qr(Y / (np.linalg.norm(Y, axis=0).max() or 1.0), mode="r")  # type: ignore[assignment]
    columns, unexplained = _independent(A, order, tolerance)
    gap = _gap(A, columns, unexplained, what)
    if not columns:
        return Reduction([], np.zeros((0, Y.shape[1])), gap)
    length = np.linalg.norm(A[:, columns], axis=0)
    # Round-off is removed in these units: in metres that of a tensor's share in a mass is divided by a length squared.
    P = clean(np.linalg.lstsq(A[:, columns] / length, A, rcond=None)[0] / length[:, None], columns)
    return Reduction(columns, P * sizes[columns][:, None] / sizes, gap)


def reduce_null(N: NDArray, order: list[int]) -> Reduction:
    """Keep parameters so that the directions N (parameters, d) can be undone by the dropped ones.

    Elimination with the least preferred parameters as pivots leaves, in each row, one dropped parameter
    and the kept ones that absorb it.
    """
    rows, dropped = eliminate(N.T, order[::-1])
    columns = sorted(set(order) - set(dropped))
    P = np.zeros((len(columns), N.shape[0]))
    P[:, columns] = np.eye(len(columns))
    P[:, dropped] = -rows[: len(dropped), columns].T
    return Reduction(columns, P, None)


def eliminate(rows: NDArray, order: Iterable[int]) -> tuple[NDArray, list[int]]:
    """Reduced echelon form of the rows, columns tried as pivots in this order, and the pivots' columns."""
    rows, pivots = rows.copy(), list[int]()
    for k in order:
        at = len(pivots)
        rest = np.abs(rows[at:, k])
        if rest.max(initial=0.0) < NEGLIGIBLE:
            continue
        best = at + int(np.argmax(rest))
        rows[[at, best]] = rows[[best, at]]
        rows[at] /= rows[at, k]
        others = np.arange(len(rows)) != at
        rows[others] -= np.outer(rows[others, k], rows[at])
        pivots.append(k)
    return rows, pivots


def clean(P: NDArray, columns: list[int]) -> NDArray:
    """`P` with round-off removed: zeros, and ones where a coefficient is one within round-off."""
    P = np.where(np.abs(P) < SOLUTION_ERROR * np.abs(P).max(initial=1.0), 0.0, P)
    P = np.where(np.abs(np.abs(P) - 1) < SOLUTION_ERROR, np.sign(P), P)
    P[:, columns] = np.eye(len(columns))
    return read_only(P)


def _independent(A: NDArray, order: list[int], tolerance: float) -> tuple[list[int], NDArray]:
    """Columns not explained by those kept before them, and the length of every column's unexplained part."""
    basis = np.empty((A.shape[0], 0))
    columns = []
    unexplained = np.zeros(A.shape[1])
    for k in order:
        rest = A[:, k]
        for _ in range(2):  # once more, against cancellation
            rest = rest - basis @ (basis.T @ rest)
        unexplained[k] = np.linalg.norm(rest)
        if unexplained[k] > tolerance:
            basis = np.column_stack([basis, rest / unexplained[k]])
            columns.append(k)
    return sorted(columns), unexplained


def _gap(A: NDArray, columns: list[int], unexplained: NDArray, what: str) -> Gap:
    """Return how clearly the independent columns stand out; raise where they do not, or where singular values
    disagree.
    """
    independent = A[:, columns]
    singular = np.linalg.svd(independent / np.linalg.norm(independent, axis=0), compute_uv=False)
    every = np.append(np.linalg.svd(A, compute_uv=False), 0.0)
    gap = Gap(
        float(unexplained[columns].min(initial=1.0)),
        float(np.delete(unexplained, columns).max(initial=0.0)),
        float(singular[-1] / singular[0]) if columns else 1.0,
        float(every[len(columns)] / (every[0] or 1.0)),
    )
    if gap.weakest_kept < CLEAR_GAP * max(gap.strongest_dropped, gap.beyond):
        raise RankError(
            f"the number of independent parameters is not clear: of the weakest of {len(columns)} kept "
            f"columns {gap.weakest_kept:.1e} is unexplained by the others, of the strongest dropped one "
            f"{gap.strongest_dropped:.1e}; frames with rounded angles? Load with snap=, or give a "
            "tolerance",
            where=what,
        )
    return gap


def by_numbers(arm: Arm, terms: str, joint_terms: tuple[str, ...], tolerance: float) -> Reduction:
    """The reduction of regressors at random states, one above the other, all in units of the arm's size."""
    unit = arm_size(arm)
    Y = _random_rows(arm, terms, joint_terms, unit)
    length = np.linalg.norm(Y, axis=0)
    sizes = parameter_sizes(arm, unit)
    # What a joint's own parameters weigh is not for the arm's size to say: as much as a link's.
    joints = length[len(sizes) :]
    longest = (length[: len(sizes)] * sizes).max() or 1.0
    sizes = np.concatenate([sizes, np.divide(longest, joints, out=np.ones_like(joints), where=joints > 0)])
    what = f"base parameters of arm '{arm.name}'"
    return reduce_columns(Y, sizes, preference(arm, len(joint_terms)), tolerance, what)


def _random_rows(arm: Arm, terms: str, joint_terms: tuple[str, ...], unit: float) -> NDArray:
    """Regressors (rows, 10 n + n k) of random states, rows of sliding joints as moments at the arm's size."""
    # Forty states give at least four times as many rows as there are columns a joint can tell apart.
    states = 40 + 2 * arm.n
    rng = np.random.default_rng(0)
    slides = np.array([joint.kind == "prismatic" for joint in arm.coordinate_joints])
    span = np.where(slides, unit, 1.0)
    q = rng.uniform(-1, 1, (states, arm.n)) * np.where(slides, unit, np.pi)
    # Rates at which inertia and gravity weigh the same; none if gravity alone counts.
    rate = np.sqrt(np.linalg.norm(STANDARD_GRAVITY) / unit) * (terms == "full")
    qd, qdd = rng.uniform(-1, 1, (2, states, arm.n)) * span * np.array([rate, rate**2])[:, None, None]
    with interpreting():  # so few states are done before a compiler would be
        Y = full_regressor(arm, q, qd, qdd, terms=joint_terms) * span[:, None]
    return Y.reshape(-1, Y.shape[-1])
