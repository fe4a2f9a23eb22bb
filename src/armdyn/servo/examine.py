"""Examination of a fit: which numbers are not certain, what the model lacks, and what spoils the log."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.limits import NOTABLE_RATIO
from armdyn.identification.logs.log import SMALL_SHARE
from armdyn.servo.findings import ServoFinding, ServoFindingKind
from armdyn.servo.log import encoder_error
from armdyn.servo.parameters import MAX_DELAY_S, NAMES
from armdyn.servo.result import WORDS, ServoFit


def findings(fit: ServoFit) -> tuple[ServoFinding, ...]:
    """Return what a user must know before using the servos."""
    return (*_uncertain(fit), *_not_moved(fit), *_late(fit), *_saturated(fit), *_further_terms(fit), *_misfit(fit))


def _joints(fit: ServoFit, which: NDArray) -> tuple[str, ...]:
    return tuple(name for name, wanted in zip(fit.arm.joint_names, which, strict=True) if wanted)


def _uncertain(fit: ServoFit) -> list[ServoFinding]:
    """One finding per parameter and degree of uncertainty.

    A stiffness that no weight shows does not matter to replays, as the ratios to it are determined.
    """
    words = np.array(fit.words)
    weightless = ~(words[1:] == WORDS[2]).any(axis=0)
    result = []
    for kind, word in ((ServoFindingKind.UNDETERMINED, WORDS[2]), (ServoFindingKind.ROUGH, WORDS[1])):
        for name, row in zip(NAMES, words == word, strict=True):
            for harmless in (False, True):
                which = row & (weightless == harmless) if name == "compliance" else row & (not harmless)
                if which.any():
                    result.append(ServoFinding(kind, _joints(fit, which), name, harmless=harmless))
    return result


def _not_moved(fit: ServoFit) -> list[ServoFinding]:
    still = np.array([word == "not moved" for word in fit.words[0]])
    return [ServoFinding(ServoFindingKind.NOT_MOVED, _joints(fit, still))] if still.any() else []


def _late(fit: ServoFit) -> list[ServoFinding]:
    late = fit.delay > 0.98 * MAX_DELAY_S
    return [ServoFinding(ServoFindingKind.LATE, _joints(fit, late), "delay", MAX_DELAY_S)] if late.any() else []


def _saturated(fit: ServoFit) -> list[ServoFinding]:
    """Servos that gave all they could for some of the time."""
    pieces = [piece for log in fit.logs for piece in log.pieces]
    error = np.concatenate([piece.sent - piece.q for piece in pieces])
    share = (np.abs(error) * fit.stiffness > fit.arm.effort_limits).mean(0)
    full = share > SMALL_SHARE
    if not full.any():
        return []
    return [ServoFinding(ServoFindingKind.SATURATED, _joints(fit, full), "compliance", float(share.max()))]


def _further_terms(fit: ServoFit) -> list[ServoFinding]:
    if fit.structure == "plain" or len(fit.tried) < 2:
        return []
    before, after = dict(fit.tried)["plain"], fit.tried[-1][1]
    return [ServoFinding(ServoFindingKind.FURTHER_TERMS, (), fit.structure, after, before)]


def _misfit(fit: ServoFit) -> list[ServoFinding]:
    floor = np.min([encoder_error(log.q) for log in fit.logs], axis=0)
    moved = np.array([word != "not moved" for word in fit.words[0]])
    bad = moved & (fit.held_out > NOTABLE_RATIO * floor)
    if not bad.any():
        return []
    j = int(np.argmax(np.where(bad, fit.held_out / floor, 0.0)))
    return [ServoFinding(ServoFindingKind.MISFIT, _joints(fit, bad), "", float(fit.held_out[j]), float(floor[j]))]
