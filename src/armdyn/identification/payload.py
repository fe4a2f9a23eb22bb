"""A payload from its effect on a known arm: mass, centre and inertia with confidence."""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.regressors.regressor import regressor
from armdyn.errors import DataError
from armdyn.identification.estimators.data import normal_equations
from armdyn.identification.estimators.least_squares import ROUNDS, noise
from armdyn.identification.fit.consistent import consistent_fit
from armdyn.identification.fit.equations import System
from armdyn.identification.fit.next_motion import WORTHWHILE_SHARE
from armdyn.identification.fit.prior import NO_PRIOR, ReferenceBodies
from armdyn.identification.fit.rows import Decimator, decimator, grid
from armdyn.identification.fit.spread import Information, correlated_sum, determine
from armdyn.identification.fit.terms import whole_torque
from armdyn.identification.hypotheses.finding import Finding, FindingKind
from armdyn.identification.hypotheses.inspection import as_logs, prepare_logs, run_checks
from armdyn.identification.hypotheses.motions import DELAYS, delay_finding
from armdyn.identification.hypotheses.warn import warn
from armdyn.identification.limits import CAREFUL_ERROR, MIN_REDUCTION
from armdyn.identification.logs.corrections import without_delay
from armdyn.identification.logs.log import SMALL_SHARE, Log, require_all_torques
from armdyn.identification.motion.differentiate import SmoothedMotion
from armdyn.identification.motion.track import Filters, Track, choose_band, smooth_stretch, stretches
from armdyn.identification.quality import level_for
from armdyn.model.arm import Arm
from armdyn.numerals import STD_OF_95_PERCENT
from armdyn.precision import NEGLIGIBLE, SIX_DIGITS
from armdyn.spatial import inertia as inertial
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.transform import inverse

PAYLOAD_SIZE = 0.1  # m: about how large payloads are
# Of an offset's variance by the load's parameters, beyond which the offset stays the arm's: the usual limit.
MAX_INFLATION = 10.0


class Payload(NamedTuple):
    """Body that the arm carries, in the tip's frame or another one."""

    mass: float  # [kg]
    mass_std: float
    com: NDArray  # (3,) [m]
    com_std: NDArray  # (3,); infinite where the log determines nothing, as the others
    inertia: NDArray  # (3, 3) about the centre [kg m²], of a physically consistent body
    inertia_std: NDArray  # (3, 3)
    estimate: NDArray  # (10,) least squares, about the origin of the link that carries it
    std: NDArray  # (10,) of the estimate; infinite where the log determines nothing
    rel_error: float  # of the arm with its payload
    arm: Arm  # carrying it
    findings: tuple[Finding, ...] = ()  # about the log, and about what stays unexplained
    frame: str = "tip"  # in which mass centre and inertia are

    @property
    def theta(self) -> NDArray:
        """Parameters (10,) of the physically consistent body, about the frame's origin."""
        return Inertia.from_com(self.mass, self.com, self.inertia).theta

    @property
    def verdict(self) -> str:
        """Whether to use it: "good", "usable with care" or "not usable", by the limits of `identify`."""
        return str(level_for(self.rel_error, self.findings))


def identify_payload(
    arm: Arm, log: Log | str | os.PathLike[str], *, band: float | None = None, frame: str = "tip"
) -> Payload:
    """The body that a known arm carries in a log.

    The arm's torques with friction and drives are subtracted; the rest is the payload's, plus an offset per joint
    whose weight and offset the motion tells apart: a lift's weight hardly changes, and its offset stays the arm's.

    Parameters
    ----------
    arm : Arm
        Identified without payload, at best by `identify`.
    log : Log or path
        Log of the arm with its payload.
    band : float, optional
        Low-pass on both sides [Hz]; default from the motion's spectrum.
    frame : str
        "tip", or the name of any frame or link that carries the payload: a hand of two.

    Returns
    -------
    Payload
        Mass, centre and inertia in that frame, with standard deviations for an arm that was identified; errors of
        the arm that look like a load, such as a wrong mass of its last link, are not in them.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> t = np.arange(2000) / 200
    >>> q = np.stack([np.sin(2 * t) + 0.3 * np.sin(5 * t), np.cos(3 * t)], axis=1)
    >>> qd, qdd = np.gradient(q, t, axis=0), np.gradient(np.gradient(q, t, axis=0), t, axis=0)
    >>> log = armdyn.Log(t, q, armdyn.joint_torque(arm, q, qd, qdd))
    >>> loaded = armdyn.joint_torque(arm.with_payload(1.0, [0.1, 0, 0]), q, qd, qdd)
    >>> load = armdyn.identify_payload(arm, armdyn.Log(t, q, loaded))
    >>> round(float(load.mass), 1)  # kg
    1.0
    """
    (log,) = as_logs(arm, log)
    link, pose = (arm.tip_index, arm.tool_pose) if frame == "tip" else arm.frame(frame)
    require_all_torques(log, "identify_payload")
    (check,), _ = run_checks(prepare_logs(arm, [log]), "full", force=False)
    band = choose_band(stretches([log])) if band is None else float(band)
    filters = Filters(band, None, "butterworth")
    Y, rest, tau, stretch = _equations(arm, link, log, filters)
    Y = _without_vague_offsets(Y)
    x, covariance, known, weights = _least_squares(Y, rest, stretch)
    covariance = covariance + _spread_by_arm(Y, rest - Y @ x, tau, weights, known)
    body = _possible(pose, Y, rest, weights, x)
    T = inverse(pose)
    at_frame = Inertia(body).moved(T)
    mass, sigma = x[0], np.where(known.lost, np.inf, np.sqrt(np.maximum(np.diag(covariance), 0.0)))
    size, total = inertial.SIZE, max(float(np.linalg.norm(tau)), 1e-300)
    error = float(np.linalg.norm(rest - Y @ np.concatenate([body, x[size:]]))) / total
    without = float(np.linalg.norm(rest - rest.mean(axis=1, keepdims=True))) / total
    objections = _objections(arm, link, log, filters, error, without)
    if not mass > STD_OF_95_PERCENT * sigma[0]:
        mass_text = f"its mass is {mass:.3g} ± {STD_OF_95_PERCENT * sigma[0]:.2g} kg"
        raise DataError(
            f"the torques show no payload: {mass_text}", where=log.name, remedy="take a heavier one, or move all joints"
        )
    theta = arm.theta.copy()
    theta[inertial.entries(link)] += body
    com_std, inertia_std = _spread_at_frame(x[:size], covariance[:size, :size], known.null[:size], T)
    return Payload(
        float(at_frame.mass),
        float(sigma[0]),
        at_frame.com,
        com_std,
        at_frame.tensor_com,
        inertia_std,
        x[: inertial.SIZE],
        sigma[: inertial.SIZE],
        error,
        arm.with_theta(theta),
        (*check.findings, *objections),
        frame,
    )


def _objections(arm: Arm, link: int, log: Log, filters: Filters, error: float, without: float) -> list[Finding]:
    """Warnings of what stays unexplained, and of torques that come somewhat late, which `identify` would mend."""
    findings = _unexplained_torque(error, without)
    if error > SMALL_SHARE:
        findings = [*_late(arm, link, log, filters, error), *findings]
    for finding in findings:
        warn(f"{log.name}: {finding.text}")
    return findings


def _late(arm: Arm, link: int, log: Log, filters: Filters, error: float) -> list[Finding]:
    """Torques later than positions by less than the checks of the log tell, where that explains much of the error."""
    tried = {delay: _error(arm, link, without_delay([log], delay)[0], filters) for delay in DELAYS / 4}
    best = min(tried, key=lambda delay: tried[delay])
    fall = 1 - tried[best] / error
    return [delay_finding(float(best), fall)] if fall > MIN_REDUCTION else []


def _error(arm: Arm, link: int, log: Log, filters: Filters) -> float:
    Y, rest, tau, stretch = _equations(arm, link, log, filters)
    x, *_ = _least_squares(Y, rest, stretch)
    return float(np.linalg.norm(rest - Y @ x)) / max(float(np.linalg.norm(tau)), 1e-300)


def _unexplained_torque(error: float, without: float) -> list[Finding]:
    """Return findings where the arm with its payload leaves much of the torque unexplained; `without` is the error of
    the arm alone.
    """
    errors = f"the torque error is {error:.1%} with the payload and {without:.1%} without"
    if error > CAREFUL_ERROR:
        text = f"{errors}: a fault of the log, or an arm that was not identified before?"
    elif error > SMALL_SHARE and error > (1 - WORTHWHILE_SHARE) * without:
        text = f"{errors}: the payload explains little of what the arm leaves"
    else:
        return []
    hint = "identify the arm without payload first"
    return [Finding("warn", text, FindingKind.OTHER_ARM, error_reduction=error, hint=hint)]


def _equations(arm: Arm, link: int, log: Log, filters: Filters) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Filtered rows (n, N, 10 + n), what the arm leaves unexplained (n, N), torques, and stretch numbers."""
    parts = []
    for number, s in enumerate(stretches([log])):
        taps, step, count = grid(s, filters.band)
        if not count:
            continue
        low = decimator(taps, step, count)
        m = smooth_stretch(s, filters)
        known = whole_torque(arm, m, s.temperature)
        offsets = np.broadcast_to(np.eye(arm.n)[:, None, :], (arm.n, count, arm.n))
        Y, tau = np.concatenate([body_rows(arm, link, m, low), offsets], axis=2), (low @ s.tau).T
        parts.append((Y, tau - (low @ known).T, tau, np.full(count, number)))
    if not parts:
        raise DataError("no stretch without gaps is long enough", where=log.name, remedy="record a longer log")
    Y, rest, tau = (np.concatenate([p[k] for p in parts], axis=1) for k in range(3))
    return Y, rest, tau, np.concatenate([p[3] for p in parts])


def body_rows(arm: Arm, link: int, motion: SmoothedMotion | Track, low: Decimator) -> NDArray:
    """Low-passed regressor (n, N, 10) of a body on a link, about this link's origin."""
    columns = regressor(arm, motion.q, motion.qd, motion.qdd)[..., inertial.entries(link)]
    return np.stack([low @ columns[:, j] for j in range(arm.n)])


def _without_vague_offsets(Y: NDArray) -> NDArray:
    """The rows without columns of offsets that the load's parameters imitate; joints count by their largest row."""
    sizes = np.sqrt(np.mean(Y[..., : inertial.SIZE] ** 2, axis=1)).max(axis=1)
    A, _ = normal_equations(Y, Y[..., 0], 1 / np.maximum(sizes, 1e-9 * sizes.max())[:, None])
    size = np.sqrt(np.maximum(np.diag(A), 1e-300))
    inflation = np.diag(np.linalg.pinv(A / np.outer(size, size), rcond=1e-12, hermitian=True))
    columns = inflation < MAX_INFLATION
    columns[: inertial.SIZE] = True
    return Y[..., columns]


def _least_squares(Y: NDArray, rest: NDArray, stretch: NDArray) -> tuple[NDArray, NDArray, Information, NDArray]:
    """Weighted estimate, its covariance for autocorrelated residuals, what is determined, and the joints' weights."""
    weights = np.ones((len(Y), 1))  # of the joints
    for _ in range(ROUNDS):
        A, b = normal_equations(Y, rest, weights)
        empty = np.diag(A) <= NEGLIGIBLE**2 * np.diag(A).max()  # columns that are zero but for round-off
        known = determine(np.where(empty | empty[:, None], 0.0, A))
        x = known.inverse @ b
        weights = 1 / noise((rest - Y @ x).T)[:, None]
    meat = correlated_sum(weights[..., None] * Y, weights * (rest - Y @ x), stretch)
    return x, known.inverse @ meat @ known.inverse, known, weights


def _spread_by_arm(Y: NDArray, left: NDArray, tau: NDArray, weights: NDArray, known: Information) -> NDArray:
    """Covariance (p, p) by errors of the arm: they last as long as the log, so that its length does not average them.

    They are not larger than what the fit leaves at the joint, or than what models of arms miss of its torque.
    """
    size = np.minimum(SMALL_SHARE * np.sqrt(np.mean(tau**2, axis=1)), np.sqrt(np.mean(left**2, axis=1)))
    A, _ = normal_equations(Y, left, weights**2 * size[:, None])
    return np.asarray(known.inverse @ (Y.shape[1] * A) @ known.inverse)


def _possible(pose: NDArray, Y: NDArray, rest: NDArray, weights: NDArray, x: NDArray) -> NDArray:
    """Parameters (10,) of a physically consistent body."""
    system, mass = System(*normal_equations(Y, rest, weights), np.array(0.0)), max(float(x[0]), 0.1)
    stand_in = Inertia.from_com(mass, pose[:3, 3], np.eye(3) * mass * PAYLOAD_SIZE**2)
    reference = ReferenceBodies(stand_in.pseudo_inertia[None], stand_in.theta, False)
    offsets = x[inertial.SIZE :]
    return consistent_fit(system, reference, NO_PRIOR, offsets, np.zeros(len(offsets), bool)).theta


def _spread_at_frame(x: NDArray, covariance: NDArray, null: NDArray, T: NDArray) -> tuple[NDArray, NDArray]:
    """Standard deviations of the centre (3,) and of the inertia about it (3, 3), in another frame.

    `null` (10, k) are directions that the log does not determine: what changes along them has no bound.
    """

    to_frame = np.stack([Inertia(unit).moved(T).theta for unit in np.eye(inertial.SIZE)], axis=1)
    # In units of a body of this mass and about this size.
    units = x[0] * PAYLOAD_SIZE ** np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
    sizes = np.array([PAYLOAD_SIZE] * 3 + [x[0] * PAYLOAD_SIZE**2] * 9)
    J = _derivatives(Inertia(to_frame @ x)) @ to_frame * units / sizes[:, None]
    std = sizes * np.sqrt(np.maximum(np.diag(J @ (covariance / np.outer(units, units)) @ J.T), 0.0))
    free = null / units[:, None]
    free = free / np.maximum(np.abs(free).max(axis=0, initial=0.0), 1e-300)
    std[((J @ free) ** 2).sum(axis=1) > SIX_DIGITS] = np.inf
    return std[:3], std[3:].reshape(3, 3)


def _derivatives(body: Inertia) -> NDArray:
    """Derivatives (12, 10) by theta of the centre c of mass and of the tensor about it, I - m S(c, c)."""

    def S(a: NDArray, b: NDArray) -> NDArray:
        return np.asarray(a @ b * np.eye(3) - (np.outer(a, b) + np.outer(b, a)) / 2)

    m, c, columns = body.mass, body.com, []
    for change in map(Inertia, np.eye(inertial.SIZE)):
        dc = (change.first - change.mass * c) / m
        tensor = change.tensor - change.mass * S(c, c) - 2 * m * S(c, dc)
        columns.append(np.concatenate([dc, tensor.ravel()]))
    return np.stack(columns, axis=1)
