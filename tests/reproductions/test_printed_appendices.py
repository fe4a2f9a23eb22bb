"""Kapadia's appendices as printed: the 45 coefficients of appendix A, and the code of appendix B, executed.

Both are read from the document where it is at hand and repaired by rule (brackets, names that were misread). None of
its text is kept here.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import armdyn
from reproductions.kapadia_model import appendix_regressor
from reproductions.kapadia_tables import INERTIAL


@pytest.fixture(scope="module")
def thesis(shared: Path) -> str:
    found = sorted((shared / "seeds").glob("004_*.txt"))
    if not found:
        pytest.skip("the thesis is not at hand (seeds/004_*.txt)")
    return found[0].read_text(encoding="utf-8")


def part(text: str, start: str, end: str) -> str:
    """From the last heading `start` up to the next `end`."""
    begin = text.rindex(f"\n{start}\n")
    return text[begin : text.index(f"\n{end}\n", begin)]


# -- appendix A --------------------------------------------------------------------------------------------


def as_python(formula: str) -> str:
    """A formula of LaTeX as Python: q, v, a are positions, velocities and accelerations."""
    for mark, name in ((r"\ddot{\theta}_", "a"), (r"\dot{\theta}_", "v"), (r"\theta_", "q")):
        formula = re.sub(re.escape(mark) + r"(\d)", rf"{name}\1", formula)
    formula = formula.replace("^2", "**2").replace("\\", "")
    factor = r"(?:cos\(q\d\)|sin\(q\d\)|[qva]\d|L|g|\d)(?:\*\*2)?"
    tokens = re.findall(rf"{factor}|[+-]", formula)
    assert "".join(tokens) == re.sub(r"\s", "", formula), formula
    joined = [tokens[0]]
    for before, token in pairwise(tokens):
        joined += ["*", token] if before not in "+-" and token not in "+-" else [token]
    return "".join(joined)


def coefficients(text: str) -> dict[str, list[str]]:
    """The formulas c1, c2, c3 of every parameter."""
    for mark in ("$$", r"\begin{aligned}", r"\end{aligned}", r"\quad", "&", "\\\\", "\n", "$"):
        text = text.replace(mark, " ")
    text = re.sub(r"\s+", " ", text)
    found = {}
    for header, body in re.findall(r"C'?\(([^=]*?)\)\s+(c_1 =.*?)(?=C'?\((?:J|m)|$)", text):
        axes, link = re.findall(r"[xyz]+", header)[-1], re.findall(r"\d", header)[-1]
        name = f"{'I' if header.startswith('J') else 'm'}{axes}{link}"
        found[name] = [as_python(each.strip()) for each in re.split(r"c_\d =", body)[1:]]
    return found


def test_appendix_a_prints_the_regressor(thesis):
    L, g = 0.4318, 9.81
    formulas = coefficients(part(thesis, "Appendix A", "Appendix B"))
    assert set(formulas) == set(INERTIAL)
    assert sum(map(len, formulas.values())) == 45
    states = np.random.default_rng(0).uniform(-2, 2, (3, 50, 3))
    names = {f"{kind}{j + 1}": values[:, j] for kind, values in zip("qva", states, strict=True) for j in range(3)}
    names |= {"L": L, "g": g, "cos": np.cos, "sin": np.sin}
    zero = np.zeros(50)
    printed = np.array([[eval(each, {}, names) + zero for each in formulas[name]] for name in INERTIAL])
    expected = appendix_regressor(L, g, *states)
    base = armdyn.base_parameters(armdyn.arms.puma3())
    ours = base.regressor(*states)[..., [base.labels.index(name) for name in INERTIAL]]
    # Sums of up to fourteen products of size 10: round-off.
    for found in (expected, ours):
        np.testing.assert_allclose(printed, found.transpose(2, 1, 0), atol=1e-12)


# -- appendix B --------------------------------------------------------------------------------------------


def balanced(expression: str) -> str:
    """Brackets of one kind, as many closed as opened: what is missing or too much is at the end of these sums."""
    expression = expression.replace("{", "(").replace("}", ")")
    while expression.count(")") > expression.count("("):
        last = expression.rindex(")")
        expression = expression[:last] + expression[last + 1 :]
    return expression + ")" * (expression.count("(") - expression.count(")"))


def statements(text: str) -> list[tuple[str, str]]:
    """Name and expression of every definition and assignment, in order, with the misread names of erratum 13."""
    code = text[text.index("#define GY") :]
    code = code.replace("mZG", "mZ6").replace("#define L7", "#define U7").replace("m22}", "mZ2}")
    code = re.sub(r"Q\{(\d)\}", r"Q[\1]", code)
    code = re.sub(r"\bW37 = (?=\(+-PWS37)", "WP37 = ", code)
    defined = re.findall(r"#define (\w+) (\S+)", code)
    assigned = re.findall(r"^\s*(\w+(?:\[\d\])?) = (.*);$", code, re.MULTILINE)
    return [*defined, *((name, balanced(value)) for name, value in assigned)]


def test_appendix_b_computes_the_gravity_torques(thesis):
    arm = armdyn.arms.sarcos()
    printed = statements(part(thesis, "Appendix B", "Appendix C"))
    assert len(printed) > 300
    q = np.random.default_rng(0).uniform(-2, 2, (20, arm.n))
    names = {"cos": np.cos, "sin": np.sin, "Q": [np.nan, *q.T], "GAM": [np.nan] * (arm.n + 1)}
    for name, expression in printed:
        exec(f"{name} = {expression}", {}, names)
    # Sums of some ten torques of up to 900 N m.
    np.testing.assert_allclose(np.array(names["GAM"][1:]).T, armdyn.gravity_torque(arm, q), atol=1e-10)
