"""What a user must know before using identified servos: one sentence each, with the remedy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armdyn.servo.log import resolution
from armdyn.servo.parameters import LONGEST_DELAY_S
from armdyn.servo.result import ServoFit, symbol

MISFIT_RATIO = 1.6  # held-out error over what the encoder's resolution alone makes
SATURATED_SHARE = 0.02  # of the time
ENCODER_NOISE_RAD = 2e-4  # rad: no encoder of such arms is better
UNSURE_WORDS = ("not determined", "rough")
REMEDY = {
    "compliance": "move it against gravity, log it carrying a weighed payload, or give its stiffness",
    "inertia": "command faster motion",
    "damping": "command faster motion",
    "coulomb": "command slow motion with many turns of direction",
    "delay": "command faster motion",
    "dead_band": "command slow motion about several positions",
    "static": "command slow motion with many turns of direction",
    "load": "move it against gravity in both directions",
}
EXTRA = {
    "dead band": "a dead band in the servos",
    "friction": "friction that rises at low speed or with the load",
    "whole": "a dead band and friction that rises at low speed or with the load",
}


def findings(fit: ServoFit) -> tuple[str, ...]:
    """Sentences about what is not sure, what is missing in the model, and what spoils the log."""
    return (*_unsure(fit), *_still(fit), *_late(fit), *_saturation(fit), *_structure(fit), *_misfit(fit))


def _names(fit: ServoFit, which: NDArray) -> str:
    names = [name for name, wanted in zip(fit.arm.joint_names, which, strict=True) if wanted]
    return f"joint{'s' if len(names) > 1 else ''} {', '.join(names)}"


def _unsure(fit: ServoFit) -> list[str]:
    """One sentence per parameter that is not determined, and one about all that are known roughly."""
    undetermined, rough = [], []
    for name, words in zip(fit.ratios, fit.words, strict=True):
        open_, half = (np.array([word == kind for word in words]) for kind in UNSURE_WORDS)
        if open_.any():
            undetermined.append(f"{symbol(name)} of {_names(fit, open_)} is not determined by the log: {REMEDY[name]}")
        if half.any():
            rough.append(f"{symbol(name)} of {_names(fit, half)}")
    return [*undetermined, *([f"known only roughly: {'; '.join(rough)}"] if rough else [])]


def _still(fit: ServoFit) -> list[str]:
    still = np.array([word == "not moved" for word in fit.words[0]])
    verb = "do" if still.sum() > 1 else "does"
    return [f"{_names(fit, still)} {verb} not move in the log: taken as the others are"] if still.any() else []


def _late(fit: ServoFit) -> list[str]:
    late = fit.delay > 0.98 * LONGEST_DELAY_S
    message = (
        f"{_names(fit, late)}: the delay is at the {LONGEST_DELAY_S:g} s that are looked for; are commands and "
        "measurements stamped by the same clock?"
    )
    return [message] if late.any() else []


def _saturation(fit: ServoFit) -> list[str]:
    """Servos that gave all they could for some of the time."""
    pieces = [piece for log in fit.logs for piece in log.pieces]
    error = np.concatenate([piece.sent - piece.q for piece in pieces])
    share = (np.abs(error) * fit.stiffness > fit.arm.effort_limits).mean(0)
    full = share > SATURATED_SHARE
    if not full.any():
        return []
    return [
        f"{_names(fit, full)} saturate{'' if full.sum() > 1 else 's'} at the torque limit for {share.max():.0%} of the "
        "time, in which the log tells nothing of the stiffness: command slower motion"
    ]


def _structure(fit: ServoFit) -> list[str]:
    if fit.structure == "plain" or len(fit.tried) < 2:
        return []
    before, after = dict(fit.tried)["plain"], fit.tried[-1][1]
    return [
        f"the log shows {EXTRA[fit.structure]} (replay error {1e3 * before:.2g} mrad without, {1e3 * after:.2g} with): "
        "stiffness and Coulomb friction are less sure than their ranges say"
    ]


def _misfit(fit: ServoFit) -> list[str]:
    tick = np.min([resolution(log.q) for log in fit.logs], axis=0)
    floor = np.sqrt(tick**2 / 12 + ENCODER_NOISE_RAD**2)
    moved = np.array([word != "not moved" for word in fit.words[0]])
    bad = moved & (fit.held_out > MISFIT_RATIO * floor)
    if not bad.any():
        return []
    j = int(np.argmax(np.where(bad, fit.held_out / floor, 0.0)))
    return [
        f"{_names(fit, bad)}: the replay misses {1e3 * fit.held_out[j]:.2g} mrad where the encoder shows "
        f"{1e3 * floor[j]:.2g}: play, flexible parts, late stamps or wrong masses are not in the model, and ranges may "
        "be too narrow"
    ]
