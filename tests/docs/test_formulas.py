"""Formulas that pages show are those that the code prints, and those that it computes with."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import armdyn

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def formulas():
    sys.path.insert(0, str(DOCS))
    import formulas

    yield formulas
    sys.path.remove(str(DOCS))


def test_pages_show_what_the_code_prints(formulas):
    assert [path.name for path in formulas.stale()] == []  # otherwise: python docs/formulas.py


def test_every_formula_is_on_a_page_and_has_something_to_say(formulas):
    texts = formulas.formulas()
    shown = {name for path in DOCS.glob("*.md") for name, _ in formulas.BLOCK.findall(path.read_text())}
    assert shown == set(texts)
    assert {"kinematics", "dynamics", "linearization", "regressors", "control", "identification"} == {
        path.stem for path in DOCS.glob("*.md") if "<!-- formula" in path.read_text()
    }
    assert all(text.startswith("$$") and len(text) > 30 for text in texts.values())


def value(text: str, **given: float) -> float:
    """A printed sum at numbers, by the rules of arithmetic alone."""
    for pattern, python in (
        (r"\\dot\{q\}_\{\\mathrm\{ref\}\}", "qd_ref"),
        (r"\\ddot\{q\}_\{\\mathrm\{ref\}\}", "qdd_ref"),
        (r"q_\{\\mathrm\{ref\}\}", "q_ref"),
        (r"\\dot\{q\}", "qd"),
        (r"\\cos q", "np.cos(q)"),
        (r"k_\{(\w)\}", r"k\1"),
        (r"\\lambda", "lam"),
        (r"\\phi", "phi"),
        (r"\\,", "*"),
        (r"\^", "**"),
    ):
        text = re.sub(pattern, python, text)
    return eval(text, {"np": np}, given)


def test_the_pages_laws_are_the_laws(formulas):
    pendulum = formulas.PENDULUM
    at = {"q": 0.7, "qd": -0.4, "q_ref": 1.1, "qd_ref": 0.3, "qdd_ref": -2.0, "kp": 30.0, "kd": 9.0}
    e, ed = at["q_ref"] - at["q"], at["qd_ref"] - at["qd"]
    lam, phi, k = 3.0, 0.8, 2.0
    carrying = pendulum.with_payload(phi)

    def torques(arm, acceleration):
        return armdyn.inverse_dynamics(arm, [at["q"]], [at["qd"]], [acceleration])[0]

    feedback = at["qdd_ref"] + at["kp"] * e + at["kd"] * ed
    expected = {
        "computed-torque": torques(pendulum, feedback),
        "craig": torques(carrying, feedback),
        # One joint has no Coriolis matrix; the modified law's K is lambda M_hat unless given.
        "slotine-li": torques(carrying, at["qdd_ref"] + lam * ed) + k * (ed + lam * e),
        "modified-slotine-li": torques(carrying, at["qdd_ref"] + 2 * lam * ed + lam**2 * e),
    }
    for name, tau in expected.items():
        right = formulas.formulas()[name].strip().strip("$").removeprefix(r"\tau = ")
        assert value(right, **at, lam=lam, phi=phi, k=k) == pytest.approx(tau, rel=1e-3)  # four digits are printed
