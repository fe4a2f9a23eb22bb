"""Findings about servos: data, the words that are made of them, and the verdict."""

from __future__ import annotations

import pytest

from armdyn.identification.quality import Level
from armdyn.servo.findings import ServoFinding, ServoFindingKind, assess

K = ServoFindingKind


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        (
            ServoFinding(K.UNDETERMINED, ("roll",), "compliance", harmless=True),
            "the log does not determine 1/kp of joint roll; replays do not depend on it: move it against gravity, log "
            "the arm with a known payload as well, or give the stiffness",
        ),
        (ServoFinding(K.ROUGH, ("a", "b"), "coulomb"), "fc/kp of joints a, b is known to about 30 % only"),
        (
            ServoFinding(K.NOT_MOVED, ("roll",)),
            "joint roll does not move in the log; the medians of the others stand in",
        ),
        (
            ServoFinding(K.LATE, ("pan",), "delay", 0.2),
            "the delay of joint pan reaches the largest that is tried, 0.2 s; check that one clock stamps commands and "
            "measurements",
        ),
        (
            ServoFinding(K.SATURATED, ("lift",), "compliance", 0.09),
            "joint lift reaches the torque limit for 9% of the time, which hides the stiffness: command slower motion",
        ),
        (
            ServoFinding(K.FURTHER_TERMS, (), "dead band", 4.5e-4, 1.3e-3),
            "the log shows a dead band in the servos (replay error 1.3 mrad without, 0.45 mrad with): stiffness and "
            "Coulomb friction are less certain than their ranges",
        ),
        (
            ServoFinding(K.MISFIT, ("lift",), "", 2e-3, 5e-4),
            "the replay error of joint lift is 2 mrad, where the encoder explains 0.5: the model lacks play, flexible "
            "parts, late time stamps or true masses, and ranges may be too narrow",
        ),
    ],
)
def test_words(finding: ServoFinding, text: str) -> None:
    """Each kind, rendered once."""
    assert str(finding) == text


def test_verdict() -> None:
    """Rough numbers, and a stiffness that replays do not depend on, leave servos good; all else asks for care."""
    harmless = ServoFinding(K.UNDETERMINED, ("roll",), "compliance", harmless=True)
    rough = ServoFinding(K.ROUGH, ("pan",), "delay")
    assert assess([]) == (Level.GOOD, (), ())
    assert assess([harmless, rough]) == (Level.GOOD, (), (harmless, rough))
    assert assess([], is_determined=False).level == Level.NOT_USABLE
    misfit = ServoFinding(K.MISFIT, ("lift",), "", 2e-3, 5e-4)
    assert assess([harmless, misfit]) == (Level.CARE, (misfit,), (harmless,))
