"""The page of identified servos."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.servo.log import ServoLog
from armdyn.servo.parameters import NAMES, ROWS, Space
from armdyn.servo.result import ServoFit


@pytest.fixture
def fit() -> ServoFit:
    """Numbers of nobody's servos, one of them not determined."""
    arm = armdyn.arms.planar2()
    space = Space(arm, arm.trace_data("theta"))
    table = np.zeros((ROWS, 2))
    table[:5] = [[0.01, 0.02], [1e-3, 2e-3], [0.1, 0.1], [5e-3, 5e-3], [0.02, 0.02]]
    words = [["left out"] * 2 if k >= 5 else ["determined"] * 2 for k in range(ROWS)]
    words[0][1] = "not determined"
    t = np.arange(0, 4, 0.02)
    wave = 0.3 * np.sin(2 * np.pi * 0.5 * t[:, None] + np.arange(2))
    log = ServoLog(t, np.roll(wave, 3, axis=0), wave, notes=("commands: <a> .. b",))
    return ServoFit(
        arm, arm, space.vector(table), 0.9 * table, np.where(table == 0.02, np.inf, 1.1 * table),
        tuple(map(tuple, words)), "plain", "description", 1.0, np.array([4e-4, 5e-4]), 3e-4, np.array([4e-4, 5e-4]),
        np.array([0.1, 0.1]), (log,), ("1/kp of joint 2 is not determined",), log.notes, 1.0, (("plain", 4.5e-4),),
    )  # fmt: skip


def test_the_page_holds_what_was_found(fit: ServoFit, tmp_path: Path) -> None:
    """Numbers with their marks, warnings, replays, and what torques hang on; text is escaped."""
    text = fit.report(tmp_path / "servo.html").read_text()
    assert "Replay error on held-out data 0.45 mrad, 0.3 mm at the tip" in text.replace("\n", " ")
    assert "<td>100</td>" in text  # kp of the first joint
    assert "<td>50?</td>" in text  # ... and of the second, which the log does not determine
    assert "1/kp of joint 2 is not determined." in text
    assert "masses of the description" in text
    assert text.count("<svg") == 1
    assert "&lt;a&gt;" in text
    assert 'src="http' not in text
    assert "<script" not in text
    assert all(name in NAMES for name in fit.ratios)


def test_notebooks_and_figures(fit: ServoFit) -> None:
    """The same in short, and a figure with two diagrams per joint."""
    import matplotlib.pyplot as plt

    assert "not determined by the log" in fit._repr_html_()
    figure = fit.plot()
    assert len(figure.axes) == 4
    plt.close(figure)
