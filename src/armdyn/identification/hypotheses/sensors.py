"""Sensors that die, freeze, clip, or jump: told by the columns themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.hypotheses.fault_test import FaultTest, column_test
from armdyn.identification.hypotheses.finding import Finding, FindingKind
from armdyn.identification.hypotheses.findings import comparison_lag
from armdyn.identification.hypotheses.screening import MIN_EVIDENCE
from armdyn.identification.hypotheses.wording import joint_name, no_torque_text
from armdyn.identification.logs.corrections import LogCorrection
from armdyn.identification.logs.log import DYNAMICS_SECONDS, SMALL_SHARE, Log
from armdyn.model.arm import Arm

SPIKE_SIZE = 1.5  # of the range of nearly all torques, by which a sample stands out from its neighbours
MIN_SPIKES = 3  # spikes
AGAIN = "or measure again"


def torque_tests(log: Log, findings: Iterable[Finding]) -> Iterator[FaultTest]:
    """Record the tests of `torque_findings`: joints that are measured and move."""
    several, spans = list(findings), np.ptp(log.q, axis=0)
    moving = log.measured & (spans >= SMALL_SHARE * spans.max())
    yield column_test("dead torque sensors", FindingKind.STUCK, several, moving)
    yield column_test("clipped torques", FindingKind.CLIPPED, several, moving)
    yield column_test("spikes of torque", FindingKind.SPIKES, several, log.measured)


def torque_findings(arm: Arm, log: Log) -> list[Finding]:
    """Torque sensors that are dead, die on the way, clip or jump."""
    findings: list[Finding] = []
    spans = np.ptp(log.q, axis=0)
    for j, tau in enumerate(log.tau.T):
        if not log.measured[j]:
            findings.append(Finding("note", no_torque_text(arm, j), FindingKind.NO_TORQUE, (j,)))
            continue
        if spans[j] < SMALL_SHARE * spans.max():
            continue  # coarse sensors of joints at rest do not change
        if np.ptp(tau) == 0:
            text = f"the torque of {joint_name(arm, j)} is {tau[0] + 0.0:g} throughout: sensor dead?"
            correction = LogCorrection(without_torque=(j,))
            findings.append(Finding("reject", text, FindingKind.STUCK, (j,), correction=correction, hint=AGAIN))
            continue
        findings += [*_stuck(arm, log, j), *_clipping(arm, log, j)]
    return findings + list(_spikes(arm, log))


def runs(x: NDArray) -> NDArray:
    """First samples and the one after the last (k, 2) of runs in which a column does not change by a digit."""
    ends = np.r_[0, np.flatnonzero(np.diff(x) != 0) + 1, len(x)]
    return np.stack([ends[:-1], ends[1:]], axis=1)


def _stuck(arm: Arm, log: Log, j: int) -> Iterator[Finding]:
    """A torque that does not change by a digit while its joint goes far, much longer than it does elsewhere."""
    tau, q = log.tau[:, j], log.q[:, j]
    stays = runs(tau)
    lengths = stays[:, 1] - stays[:, 0]
    longest = int(lengths.argmax())
    first, last = (int(k) for k in stays[longest])
    # Of exponential lengths the longest exceeds the next one by their mean, about 1 / log(number) of that one.
    others = np.delete(lengths, longest).max(initial=1)
    evidence = (lengths[longest] / others - 1) * np.log(len(lengths))
    if lengths[longest] * log.dt < DYNAMICS_SECONDS or evidence < MIN_EVIDENCE:
        return
    # Coarse sensors of joints at rest do not change either, nor do clipped ones.
    moved = np.ptp(q[first:last]) > SMALL_SHARE * np.ptp(q)
    if moved and tau.min() < tau[first] < tau.max():
        start = log.t[first] - log.t[0]
        text = (
            f"the torque of {joint_name(arm, j)} stays at {tau[first]:.3g} for {log.t[last - 1] - log.t[first]:.3g} s "
            f"from {start:.3g} s on while the joint moves: sensor dead?"
        )
        yield Finding("reject", text, FindingKind.STUCK, (j,), correction=LogCorrection(until=float(start)))


def _clipping(arm: Arm, log: Log, j: int) -> Iterator[Finding]:
    """The largest torque, again and again while the joint moves: coarse sensors of joints at rest repeat values too."""
    tau = log.tau[_moving(log, j), j]
    if len(np.unique(tau)) < 3:  # none but the outermost
        return
    for end in (tau.max(), tau.min()):
        share = np.mean(tau == end)
        inner = tau[tau != end]
        next_to = tau == (inner.max() if end == tau.max() else inner.min())
        if share > SMALL_SHARE and _evidence_of_clipping(tau == end, next_to) > MIN_EVIDENCE:
            text = f"the torque of {joint_name(arm, j)} is {end:g} in {share:.0%} of the samples: clipped?"
            yield Finding(
                "warn", text, FindingKind.CLIPPED, (j,), error_reduction=share, value=end, hint="move more slowly"
            )


def _evidence_of_clipping(outermost: NDArray, next_to: NDArray) -> float:
    """Log-likelihood ratio by the samples at a torque's outermost value and at the one next to it.

    Near a peak that is not clipped a coarse torque has the outermost value in a share of sqrt(1/2) of both, for it
    falls off with the square of the time.
    """
    from scipy.special import rel_entr

    count, smooth = outermost.sum() + next_to.sum(), np.sqrt(0.5)
    share = outermost.sum() / count
    return float(count * (rel_entr(share, smooth) + rel_entr(1 - share, 1 - smooth))) if share > smooth else 0.0


def _moving(log: Log, j: int) -> NDArray:
    """Samples (N,) within which the joint moves on."""
    lag = comparison_lag(log)
    travel = np.abs(log.q[lag:, j] - log.q[:-lag, j])
    moves = travel > SMALL_SHARE * np.ptp(log.q[:, j])
    return np.asarray(np.r_[np.repeat(moves[:1], lag // 2), moves, np.repeat(moves[-1:], lag - lag // 2)])


def _spikes(arm: Arm, log: Log) -> Iterator[Finding]:
    """Single samples far from their neighbours."""
    low, high = np.percentile(log.tau, (3, 97), axis=0)
    jump = np.abs(log.tau - _median_of_five(log.tau))
    hits = jump > SPIKE_SIZE * np.maximum(high - low, 1e-300)
    count = hits.any(axis=1).sum()
    if count >= MIN_SPIKES:
        j = int(np.argmax(hits.sum(axis=0)))
        text = (
            f"torques jump for one or two samples, {count} samples in all, most at {joint_name(arm, j)} (by up to "
            f"{jump[:, j].max():.3g}): electric disturbances or lost packets?"
        )
        yield Finding("warn", text, FindingKind.SPIKES, (j,), value=float(count), hint="leave these samples out")


def _median_of_five(x: NDArray) -> NDArray:
    """Median of each sample (N, n) and the two on either side; ends are repeated."""
    longer = np.concatenate([x[:1], x[:1], x, x[-1:], x[-1:]])
    a, b, c, d, e = (longer[k : k + len(x)] for k in range(5))
    low, high = np.maximum(np.minimum(a, b), np.minimum(d, e)), np.minimum(np.maximum(a, b), np.maximum(d, e))
    # The median of c and the two that have one on either side.
    return np.maximum(np.minimum(low, high), np.minimum(np.maximum(low, high), c))
