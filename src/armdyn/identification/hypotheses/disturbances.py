"""Hypotheses about parts of a log: a torque whose offset changes, an encoder that freezes, a drive that moves two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.fit.terms import OFFSET
from armdyn.identification.hypotheses.finding import FindingKind
from armdyn.identification.hypotheses.regression import SCREENED, Model, ScreeningRegression
from armdyn.identification.hypotheses.screening import MIN_EVIDENCE, Hypothesis, LogVariant
from armdyn.identification.hypotheses.sensors import runs
from armdyn.identification.limits import MIN_REDUCTION
from armdyn.identification.logs.corrections import LogCorrection
from armdyn.identification.logs.log import DYNAMICS_SECONDS, SMALL_SHARE, Log

STEP_PLACES = np.arange(0.1, 0.91, 0.05)  # where in a track an offset may change


class OffsetStep(Hypothesis):
    """A torque whose offset changes on the way; a joint that moves seldom and then stays looks so by its spring."""

    kind, name = FindingKind.STEP, "steps of torque offsets"

    def variants(self, regression: ScreeningRegression) -> Iterator[LogVariant]:
        """The likeliest time of each joint, and a spring."""
        marks = [(k, share) for k in range(len(regression.tracks)) for share in STEP_PLACES]
        after = np.zeros((len(regression.tau), len(marks)))
        for column, (track, share) in enumerate(marks):
            rows = np.flatnonzero(regression.segment == track)
            after[rows[int(share * len(rows)) :], column] = 1.0
        for j in np.flatnonzero(regression.measured).tolist():
            values, gains = regression.added(j, after)
            best = int(np.argmax(gains))
            track, share = marks[best]
            rows = np.flatnonzero(regression.segment == track)
            time = regression.t[rows[int(share * len(rows))]]
            first = next(some for some in regression.tracks if some.log == regression.tracks[track].log)
            yield LogVariant(
                regression.without(j, values[best] * after[:, best]),
                LogCorrection(until=float(time - first.t[0])), (j,), float(values[best]), n_values=1,
                log_odds=-float(np.log(len(marks))),
            )  # fmt: skip
            q = regression.motion.q[:, j : j + 1]
            stiffness, _ = regression.added(j, q)
            yield LogVariant(regression.without(j, stiffness[0] * q[:, 0]), n_values=1, tolerated=True)


class DeadTorque(Hypothesis):
    """A torque that is the same noise whatever the arm does: its sensor is dead, and bodies that explain it are not."""

    kind, name = FindingKind.STUCK, "dead torques"

    def variants(self, regression: ScreeningRegression) -> Iterator[LogVariant]:
        """Each joint, without bodies and friction in its torque.

        Where these explain nothing of a torque that is not small, it is dead: every moving joint needs some.
        """
        design, constant = regression.design, np.array(SCREENED) == OFFSET
        unexplained = regression.model.residual.std(axis=0) > (1 - MIN_REDUCTION) * regression.tau.std(axis=0)
        unexplained &= regression.deviations > SMALL_SHARE * regression.deviations.max()
        for j in np.flatnonzero(regression.measured).tolist() if regression.arm.coupling is None else ():
            rigid, terms = design.rigid.copy(), design.terms.copy()
            rigid[:, j], terms[:, j] = 0.0, terms[:, j] * constant
            yield LogVariant(
                design._replace(rigid=rigid, terms=terms), LogCorrection(without_torque=(j,)), (j,), level="reject",
                log_odds=2 * MIN_EVIDENCE * unexplained[j],
                min_reduction=-MIN_REDUCTION if unexplained[j] else MIN_REDUCTION,
            )  # fmt: skip


class FrozenEncoder(Hypothesis):
    """A position that stops changing by a digit, while torques of all joints go on; stiction changes one torque."""

    kind, name = FindingKind.STUCK, "frozen encoders"
    suggested = True

    def __init__(self, logs: Iterable[Log]) -> None:
        self.logs = tuple(logs)

    def variants(self, regression: ScreeningRegression) -> Iterator[LogVariant]:
        """The longest rest of each joint left out, and the torque of that joint alone."""
        number = np.array([track.log for track in regression.tracks])[regression.segment]
        for k, log in enumerate(self.logs):
            least = SMALL_SHARE * np.ptp(log.q, axis=0)
            for j in range(log.n):
                stays = runs(log.q[:, j])
                first, last = (int(x) for x in stays[np.argmax(stays[:, 1] - stays[:, 0])])
                if (last - first) * log.dt < DYNAMICS_SECONDS or not (np.ptp(log.q[first:last], axis=0) > least).any():
                    continue
                inside = (number == k) & (regression.t >= log.t[first]) & (regression.t <= log.t[last - 1])
                left = (~inside).sum() * regression.n
                if inside.sum() * regression.n < regression.n or left < 2 * regression.n_parameters:
                    yield LogVariant(regression.design, joints=(j,))
                    continue
                design = regression.design._replace(rows=~inside)
                until = LogCorrection(until=float(log.t[first] - log.t[0]))
                yield LogVariant(design, until, (j,), float(log.q[first, j]), level="reject")
                rest = inside[:, None].astype(float)
                value, _ = regression.added(j, rest)
                yield LogVariant(regression.without(j, value[0] * rest[:, 0]), n_values=1, tolerated=True)


class SharedDrive(Hypothesis):
    """A drive that moves two neighbours: its friction acts at the speed of its shaft, on both."""

    kind, name = FindingKind.COUPLING, "shared drives"

    def variants(self, regression: ScreeningRegression) -> Iterator[LogVariant]:
        """Every pair of neighbours that turn, either way."""
        arm, design = regression.arm, regression.design
        pairs = zip(arm.coordinate_joints, regression.measured, strict=True)
        turns = [joint.kind == "revolute" and measured for joint, measured in pairs]
        if arm.coupling is not None:
            return
        shafts = {side: shaft_terms(regression, side) for side in (1.0, -1.0)}
        for j in (j for j in range(1, arm.n) if turns[j] and turns[j - 1]):
            for side, text in ((1.0, f"{j}+{j + 1}"), (-1.0, f"{j + 1}-{j}")):
                C, terms = np.eye(arm.n), design.terms.copy()
                C[j, j - 1], terms[:, j] = side, shafts[side][:, j]
                tau, rigid = design.tau.copy(), design.rigid.copy()
                tau[:, j - 1] -= side * tau[:, j]
                rigid[:, j - 1] -= side * rigid[:, j]
                yield LogVariant(
                    design._replace(rigid=rigid, terms=terms, tau=tau, mix=C),
                    LogCorrection(coupling=(text,)), (j - 1, j), side, level="note", accepts=partial(_rubs, j),
                )  # fmt: skip


def shaft_terms(regression: ScreeningRegression, side: float) -> NDArray:
    """Low-passed joint terms (N, n, k) of drives that turn with each joint and, by `side`, with the one before."""
    C = np.eye(regression.n) + side * np.eye(regression.n, k=-1)
    return regression.terms_along(lambda track: {name: getattr(track, name) @ C.T for name in ("q", "qd", "qdd")})


def _rubs(j: int, model: Model) -> bool:
    """Whether friction of a shaft brakes for certain: by it a shared drive shows."""
    torque, std = model.friction
    return bool((torque[:, j] > np.sqrt(2 * MIN_EVIDENCE) * std[:, j]).all())
