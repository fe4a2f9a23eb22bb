"""The page of identified servos."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from armdyn.report.advice import servo_command
from armdyn.servo.parameters import NAMES
from armdyn.servo.result import ServoFit


def test_the_page_holds_what_was_found(servo_fit: ServoFit, tmp_path: Path) -> None:
    """Numbers with their marks, warnings, replays, and what torques hang on; text is escaped."""
    text = servo_fit.report(tmp_path / "servo.html").read_text()
    assert "Good: 0.45 mrad replay error on held-out data, 0.3 mm at the tip" in text.replace("\n", " ")
    assert "<td>100</td>" in text  # kp of the first joint
    assert "<td>50?</td>" in text  # ... and of the second, which the log does not determine
    assert "The log does not determine 1/kp of joint 2; replays do not depend on it: move it against gravity" in text
    assert "masses of the description" in text
    assert "--out identified.xml" in text
    assert "--out" not in servo_fit.report(tmp_path / "b.html", out=tmp_path / "arm.xml").read_text()
    assert text.count("<svg") == 1
    assert "&lt;a&gt;" in text
    assert 'src="http' not in text
    assert "1 of 2 joints (joint2)" in text  # one box for all that is not determined
    assert text.count('class="warn"') == 1
    assert "kp [N\N{NO-BREAK SPACE}m/rad]" in text
    assert all(name in NAMES for name in servo_fit.ratios)


def test_the_verdict_follows_from_the_replay_error(servo_fit: ServoFit) -> None:
    """Its share of the error of assuming perfect tracking, with the limits of torque models."""
    errors = servo_fit.errors
    for share, level in ((0.09, "good"), (0.11, "usable with care"), (0.41, "not usable")):
        fit = replace(servo_fit, errors=errors._replace(held_out=share * servo_fit.unfollowed))
        assert fit.verdict.level == level


def test_notebooks_and_figures(servo_fit: ServoFit) -> None:
    """The same in short, and a figure with two diagrams per joint."""
    import matplotlib.pyplot as plt

    assert "not determined by the log" in servo_fit._repr_html_()
    figure = servo_fit.plot()
    assert len(figure.axes) == 4
    plt.close(figure)


def test_the_next_command_keeps_the_options_that_the_log_needs(monkeypatch):
    """Without them the printed command could not read the log."""
    typed = ["/bin/armdyn", "identify-servo", "ur5e", "a log.csv", "--command", "action"]
    monkeypatch.setattr("sys.argv", typed)
    expected = "armdyn identify-servo ur5e 'a log.csv' --command action --out identified.xml --report servo.html"
    assert servo_command(None) == expected
    monkeypatch.setattr("sys.argv", [*typed, "--report", "page.html"])
    assert servo_command(None).endswith("--report page.html --out identified.xml")
