"""What was identified, in words."""

import numpy as np
import pytest

from armdyn import ArmdynWarning, identify
from armdyn.identification.hypotheses.finding import Finding
from armdyn.identification.quality import JointVerdict, Level, NextStep, Step, Verdict, error_text
from armdyn.studio.drawing.verdict import errors, headline, masses, masses_html, verdict_html


@pytest.fixture(scope="module")
def fit(arm, log):
    with pytest.warns(ArmdynWarning, match="4 s of motion"):
        return identify(arm.with_theta(0.7 * arm.theta), log)


def test_it_begins_with_the_verdict_and_has_the_fits_own_figures(fit):
    html = verdict_html(fit)
    lead = f"{fit.verdict.word.capitalize()}: {error_text(fit.expected_error, fit.error_bound)} torque error"
    assert headline(fit).startswith(lead)
    assert html.index(headline(fit)) < html.index("Torque error")
    assert f"Torque error {fit.rel_error:.2%} on this log" in html
    assert f"the arm as described has {fit.rel_error_source:.1%}" in html
    assert all(name in html for name in fit.arm.joint_names)


def test_words_from_files_cannot_become_markup(fit):
    import dataclasses

    evil = "<img src=x>"
    step = Step(NextStep.ACT, finding=Finding("warn", evil, hint=evil))
    verdict = Verdict(Level.NOT_USABLE, (JointVerdict(Level.NOT_USABLE, evil),) * 2, (evil,), step)
    assert evil not in verdict_html(dataclasses.replace(fit, verdict=verdict))


def test_masses_are_told_before_and_after(fit, arm):
    *_, (name, before, after) = masses(fit)
    assert name == "together"
    total = sum(link.inertia.mass for link in arm.links)
    assert before == f"{0.7 * total:.2f} kg"
    assert f"{sum(link.inertia.mass for link in fit.arm.links):.2f} kg" in after
    unknown = arm.with_theta(np.full(20, np.nan))
    assert {row[1] for row in masses(fit.with_fields(source=unknown))} == {"unknown"}


def test_masses_that_the_log_does_not_determine_are_grey(fit):
    determined = np.ones((2, 10), bool)
    determined[0, 0] = False
    some = fit.with_fields(determined=determined)
    assert ["<s>" in after for *_, after in masses(some)] == [True, False, True]  # the sum is not known either
    assert "Grey: the log does not determine" in masses_html(some)
    every = fit.with_fields(determined=np.ones((2, 10), bool))
    assert "<s>" not in masses_html(every)
    assert "Grey" not in masses_html(every)


def test_errors_are_one_sentence(fit):
    assert errors(fit).count(".") - errors(fit).count("%") <= 1
