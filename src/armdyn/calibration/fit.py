"""The most probable numbers, how far groups of them deviate, and the noise: all from one set of poses.

Gauss-Newton steps; after each the deviations of the groups and of the noise by their evidence (MacKay 1992), poses
weighted as draws from a Student distribution.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from armdyn.calibration.start import POSE_ARM_M
from armdyn.calibration.unknowns import GROUPS, CalibrationState, CalibrationUnknowns
from armdyn.errors import DataError
from armdyn.identification.fit.evidence import SETTLED
from armdyn.precision import MAX_ITERATIONS, SIX_DIGITS
from armdyn.spatial.rotation import skew

# Typical sizes of errors of industrial arms, by group [m, rad, rad, deflection per moment, rad, rad], and how many
# measured numbers of the group's own they outweigh.
TYPICAL = {"translation": 3e-4, "rotation": 8e-4, "offset": 4e-3, "gravity": 3e-5, "harmonic": 2e-4, "approach": 2e-4}
PRIOR_SAMPLES = 4.0
STUDENT = 4.0  # degrees of freedom of the noise of a pose
INTERPRETED_POSES = 100  # of an arm: as long as fits of fewer take, compiling the formulas takes as well


@dataclass(frozen=True, eq=False)
class EvidenceFit:
    """One model fitted to poses."""

    unknowns: CalibrationUnknowns
    state: CalibrationState
    deviations: NDArray  # (6,) of the groups
    noise: float  # m
    weights: NDArray  # (K,) of the poses, about 1; small for doubtful ones
    covariance: NDArray  # (n_flat + p, n_flat + p)
    gamma: NDArray  # (p,) share of each number that the data decide
    residuals: NDArray  # (K, D)
    jacobian: NDArray  # (K, D, n_flat + p)
    share: NDArray  # (K,) of a pose's numbers that count as independent
    converged: bool
    steps: int


def fit_evidence(unknowns: CalibrationUnknowns, state: CalibrationState) -> EvidenceFit:
    """Fit from a start; `converged` says whether all has settled."""
    groups = unknowns.groups
    typical = np.array([TYPICAL[name] for name in GROUPS])
    deviations = typical.copy()
    r = unknowns.residuals(state)
    is_measured = np.isfinite(r)
    counts = is_measured.sum(1)
    share = least_share(counts)
    freedom = counts * share
    # No instrument has less noise; poses that were computed do.
    noise = max(float(np.sqrt(np.nanmean(r**2))), SIX_DIGITS)
    steps, settled = 0, False
    while not settled and steps < MAX_ITERATIONS:
        steps += 1
        r = np.nan_to_num(unknowns.residuals(state))
        J = np.where(is_measured[..., None], unknowns.jacobian(state), 0.0)
        size = share * np.sum(r**2, axis=1)
        weights = (STUDENT + freedom) / (STUDENT + size / noise**2)
        precision = np.concatenate([np.zeros(unknowns.n_flat), deviations[groups] ** -2.0])
        information = _information(J, share * weights) / noise**2
        damping = np.zeros_like(precision)
        # Steps of base and tool that no pose shows, as the height of a SCARA.
        damping[: unknowns.n_flat] = SIX_DIGITS**2 * np.diag(information)[: unknowns.n_flat]
        covariance = _invert(information + np.diag(precision + damping))
        values = np.concatenate([np.zeros(unknowns.n_flat), unknowns.values(state)])
        gradient = np.einsum("kdp,kd->p", J, r * (share * weights)[:, None]) / noise**2 - precision * values
        step = covariance @ gradient
        state, length = _descend(unknowns, state, step, noise, precision, freedom, share)
        moved = length * np.abs(step) / np.sqrt(np.diag(covariance))
        gamma = 1 - np.diag(covariance)[unknowns.n_flat :] * precision[unknowns.n_flat :]
        unknowns = _with_turn_length(unknowns, state, weights, noise)
        r = np.nan_to_num(unknowns.residuals(state))
        share = _independent_share(unknowns, state, weights, gamma, counts)
        freedom = counts * share
        left = freedom.sum() - unknowns.n_flat - gamma.sum()
        new_noise = max(float(np.sqrt(np.sum(weights * share * np.sum(r**2, 1)) / max(left, 1.0))), SIX_DIGITS)
        squares = np.bincount(groups, unknowns.values(state) ** 2, len(GROUPS))
        new = np.sqrt(
            (squares + PRIOR_SAMPLES * typical**2) / (np.bincount(groups, gamma, len(GROUPS)) + PRIOR_SAMPLES)
        )
        change = np.abs(np.log(np.append(new / deviations, new_noise / noise)))
        deviations, noise = new, new_noise
        settled = bool(moved.max() < SETTLED and change.max() < SETTLED)
    return EvidenceFit(unknowns, state, deviations, noise, weights, covariance, gamma, r, J, share, settled, steps)


def least_share(counts: NDArray) -> NDArray:
    """Share (K,) of coordinates that are independent where points err as one rigid body, which six numbers tell."""
    return np.minimum(1.0, 6 / counts)


def _independent_share(
    unknowns: CalibrationUnknowns, state: CalibrationState, weights: NDArray, gamma: NDArray, counts: NDArray
) -> NDArray:
    """Share (K,) of coordinates that count as independent: all, if points err each for itself; less, if together.

    What the arm errs moves the points as one body, what the instrument errs moves them apart: the variance of all
    residuals over that of the six motions of the body.
    """
    M = unknowns.poses.n_markers
    least = least_share(counts)
    whole = counts == 3 * M
    if M < 3 or not whole.any():
        return least
    arms = state.tool - state.tool.mean(axis=0)
    motions = np.concatenate([np.tile(np.eye(3), (M, 1, 1)), skew(arms)], axis=2).reshape(3 * M, 6)
    U, s, _ = np.linalg.svd(motions, full_matrices=False)
    body = U[:, s > SIX_DIGITS * s[0]]
    tips, _ = unknowns.predict(state)
    r = unknowns.residuals(state).reshape(len(tips), M, 3)[whole] @ tips[whole, :3, :3]
    r = r.reshape(-1, 3 * M) * np.sqrt(weights[whole])[:, None]
    rank, count = body.shape[1], int(whole.sum())
    together = np.sum((r @ body) ** 2) / max(rank * count - unknowns.n_flat + 3 * M - rank - gamma.sum(), 1.0)
    apart = np.sum((r - r @ body @ body.T) ** 2) / max((3 * M - rank) * (count - 1), 1.0)
    mean = (rank * together + (3 * M - rank) * apart) / (3 * M)
    return np.clip(mean / together, least, 1.0) if together > 0 else least


def _with_turn_length(
    unknowns: CalibrationUnknowns, state: CalibrationState, weights: NDArray, noise: float
) -> CalibrationUnknowns:
    """Weigh turns against shifts as their residuals are, where frames are measured."""
    if unknowns.poses.n_markers:
        return unknowns
    squares = np.sum(weights[:, None] * unknowns.residuals(state) ** 2, axis=0)
    typical = PRIOR_SAMPLES * 3 * noise**2
    turns = squares[3:].sum() / unknowns.turn_length**2 + typical / POSE_ARM_M**2
    return replace(unknowns, turn_length=float(np.sqrt((squares[:3].sum() + typical) / turns)))


def _information(J: NDArray, weights: NDArray) -> NDArray:
    rows = (J * np.sqrt(weights)[:, None, None]).reshape(-1, J.shape[2])
    return rows.T @ rows


def _invert(A: NDArray) -> NDArray:
    """The inverse of a positive matrix whose numbers have many units."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = 1 / np.sqrt(np.diag(A))
    try:
        if not np.isfinite(scale).all():
            raise np.linalg.LinAlgError
        half = np.linalg.inv(np.linalg.cholesky(A * np.outer(scale, scale)))
    except np.linalg.LinAlgError:
        cause = "the poses do not determine base and tool"
        raise DataError(cause, where="calibrate", remedy="measure poses in which every joint moves") from None
    return (half.T @ half) * np.outer(scale, scale)


def _descend(
    unknowns: CalibrationUnknowns,
    state: CalibrationState,
    step: NDArray,
    noise: float,
    precision: NDArray,
    freedom: NDArray,
    share: NDArray,
) -> tuple[CalibrationState, float]:
    """The state after as much of the step as makes it more probable, and how much that was."""

    def cost(at: CalibrationState) -> float:
        size = share * np.nansum(unknowns.residuals(at) ** 2, axis=1) / noise**2
        prior = np.sum(precision[unknowns.n_flat :] * unknowns.values(at) ** 2)
        return float(np.sum((STUDENT + freedom) * np.log1p(size / STUDENT)) + prior)

    before, length = cost(state), 1.0
    while length > 1e-3:
        there = unknowns.moved(state, length * step)
        if cost(there) <= before + 1e-9 * abs(before):
            return there, length
        length /= 2
    return state, 0.0
