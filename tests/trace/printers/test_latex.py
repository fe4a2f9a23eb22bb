"""Formulas written out for reading: LaTeX and SymPy."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError, MissingExtraError


def matrix(*rows: str) -> str:
    return r"\begin{bmatrix} " + r" \\ ".join(rows) + r" \end{bmatrix}"


def two_link() -> armdyn.Arm:
    """The textbook's arm: point masses at the ends of two unit links, in a vertical plane."""
    body = {"com": (0, 0, 0), "inertia": np.zeros((3, 3))}
    rows = [{"kind": "R", "a": 1.0, "alpha": 0.0, "d": 0.0, "theta": 0.0, "mass": m, **body} for m in (3.0, 2.0)]
    return armdyn.Arm.from_dh(rows, gravity=(0, -10.0, 0))


# -- LaTeX ---------------------------------------------------------------------------------------------------


def test_gravity_of_two_links() -> None:
    # g2 = m2 g l2 c12, g1 = (m1 + m2) g l1 c1 + g2
    want = matrix(r"50 \, c_{1} + 20 \, c_{12}", r"20 \, c_{12}")
    assert armdyn.latex(armdyn.gravity_torque, two_link()) == rf"\tau = {want}"


def test_mass_matrix_of_two_links() -> None:
    want = matrix(r"7 + 4 \, c_{2} & 2 + 2 \, c_{2}", r"2 + 2 \, c_{2} & 2")
    assert armdyn.latex(armdyn.mass_matrix, two_link()) == f"M = {want}"


def test_symbols_replace_what_is_not_zero() -> None:
    want = matrix(
        r"m_{1} + 2 \, m_{2} + 2 \, m_{2} \, c_{2} & m_{2} + m_{2} \, c_{2}", r"m_{2} + m_{2} \, c_{2} & m_{2}"
    )
    assert armdyn.latex(armdyn.mass_matrix, two_link(), symbols="theta") == f"M = {want}"
    text = armdyn.latex(armdyn.gravity_torque, two_link(), symbols=("theta", "gravity"))
    assert r"-g_{y} \, m_{2} \, c_{12}" in text
    assert not re.search(r"\d\d", text.replace("c_{12}", ""))


def test_unknown_inertia_is_all_symbols() -> None:
    arm = armdyn.Arm.from_dh([{"kind": "R", "a": 1.0, "alpha": 0.0, "d": 0.0, "theta": 0.0}])
    text = armdyn.latex(armdyn.mass_matrix, arm, symbols="theta")
    assert text == "M = " + matrix(r"I_{zz1} + m_{1} + 2 \, m_{x1}")


def test_rates_carry_dots_and_powers() -> None:
    text = armdyn.latex(armdyn.inverse_dynamics, two_link())
    assert r"2 \, s_{2} \, \dot{q}_{1}^2" in text
    assert r"\ddot{q}_{2}" in text


def test_parallel_axes_are_merged() -> None:
    rows = [{"kind": "R", "a": 1.0, "alpha": 0.0, "d": 0.0, "theta": 0.0}] * 3
    text = armdyn.latex(armdyn.forward_kinematics, armdyn.Arm.from_dh(rows))
    assert text.startswith(r"\mathrm{pose} = \begin{bmatrix} c_{123} & -s_{123} & 0 & c_{1} + c_{12} + c_{123} \\")


@armdyn.traced(x="2", returns={"zero": "", "square": "", "product": ""})
def turns(subject: Any, x: Any) -> Any:
    from armdyn.trace.symbols import ca

    (c, s), (d, t) = ((ca.cos(x[i]), ca.sin(x[i])) for i in range(2))
    # Written so that neither sin² + cos² = 1 nor an addition theorem applies to two terms at a time
    zero = s**2 * d**2 - t**2 * c**2 + c**2 - d**2
    return zero, 3 * (c * t + s * d) ** 2, (c * d - s * t) * d + 2 * s * d * t


def test_shortest_of_equal_ways() -> None:
    assert armdyn.latex(turns, two_link()).splitlines() == [
        r"\mathrm{zero} = 0",
        r"\mathrm{square} = 3 \, s_{12}^2",
        r"\mathrm{product} = c_{1-2} \, c_{2}",
    ]


def test_parallel_axes_of_a_puma() -> None:
    M_11 = armdyn.latex(armdyn.mass_matrix, armdyn.arms.puma3()).split("&")[0]
    assert "_{3}" not in M_11  # in q2 and q2 + q3, as in the literature
    assert M_11.count(r"\,") == 10


def test_numbers_are_short() -> None:
    rows = [{"kind": "R", "a": 1 / 3, "alpha": 0.0, "d": 1.23456e-7, "theta": 0.0}]
    text = armdyn.latex(armdyn.forward_kinematics, armdyn.Arm.from_dh(rows), digits=3)
    assert r"0.333 \, c_{1}" in text
    assert r"1.23 \cdot 10^{-7}" in text


@armdyn.traced(x="2", s="", returns={"y": "5", "scale": ""})
def functions(subject: Any, x: Any, s: Any) -> Any:
    from armdyn.trace.symbols import ca

    y = ca.vertcat(ca.tanh(x[0] - s), ca.sqrt(s) / x[1], ca.fabs(x[0]) * ca.tanh(s) ** 2, ca.cos(2 * s), 0)
    return y, ca.if_else(x[0] < s, s, 0)


class Nothing:
    trace_key = "nothing"
    trace_sizes: dict[str, int] = {}  # noqa: RUF012


def test_other_functions() -> None:
    first, second = armdyn.latex(functions, Nothing()).splitlines()
    assert first == r"y = " + matrix(
        r"\tanh\left(-s + x_{1}\right)",
        r"\frac{\sqrt{s}}{x_{2}}",
        r"\left|x_{1}\right| \, \left(\tanh\left(s\right)\right)^2",
        r"\cos\left(2 \, s\right)",
        "0",
    )
    assert second.startswith(r"\mathrm{scale} = \operatorname{if else zero}")


# -- SymPy ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mass_matrix", "inverse_dynamics", "forward_kinematics", "jacobian"])
def test_sympy_has_the_same_values(name: str, random_arm: Callable[..., armdyn.Arm]) -> None:
    sympy = pytest.importorskip("sympy")
    for arm in (armdyn.arms.planar2(), armdyn.arms.scara() if name != "inverse_dynamics" else two_link()):
        function = getattr(armdyn, name)
        expression = armdyn.sympy_expression(function, arm)
        rng = np.random.default_rng(0)
        values = {port: rng.uniform(-1, 1, arm.n) for port in function.traced.required}
        entries = {f"{port}{i + 1}": x for port, array in values.items() for i, x in enumerate(array)}
        known = {sympy.Symbol(key, real=True): x for key, x in entries.items()}
        got = np.array(expression.subs(known).evalf()).astype(float)
        want = function(arm, *values.values())
        np.testing.assert_allclose(got.reshape(want.shape), want, rtol=1e-12, atol=1e-12 * np.abs(want).max())


def test_sympy_keeps_whole_numbers_and_symbols() -> None:
    sympy = pytest.importorskip("sympy")
    M = armdyn.sympy_expression(armdyn.mass_matrix, two_link(), symbols=["theta"])
    m1, m2, q2 = sympy.symbols("m1 m2 q2", real=True)
    assert (
        sympy.Matrix([[m1 + 2 * m2 + 2 * m2 * sympy.cos(q2), m2 + m2 * sympy.cos(q2)], [m2 + m2 * sympy.cos(q2), m2]])
        == M
    )
    poses = armdyn.sympy_expression(armdyn.link_poses, two_link())
    assert [pose.shape for pose in poses] == [(4, 4), (4, 4)]


def test_sympy_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sympy", None)
    with raises(MissingExtraError, extra="sympy"):
        armdyn.sympy_expression(armdyn.mass_matrix, two_link())


# -- bad input -----------------------------------------------------------------------------------------------


def test_large_arms_are_rejected() -> None:
    with raises(ArmdynError, cause=re.compile(r"inverse_dynamics of <Arm 'panda'.* terms, too many to read")):
        armdyn.latex(armdyn.inverse_dynamics, armdyn.arms.panda())


@pytest.mark.parametrize(
    ("keywords", "parts"),
    [
        ({"symbols": "friction"}, {"names": ("friction",), "expected": "theta"}),
        ({"inputs": "wrench"}, {"names": ("wrench",), "expected": "none"}),
        ({"options": {"model": 1}}, {"names": ("model",), "expected": "none"}),
    ],
)
def test_unknown_names(keywords: dict[str, Any], parts: dict[str, Any]) -> None:
    with raises(ArmdynError, **parts):
        armdyn.latex(armdyn.mass_matrix, two_link(), **keywords)


def test_not_a_traced_function() -> None:
    with raises(ArmdynError, where="latex", expected="a traced function such as armdyn.mass_matrix", got="print"):
        armdyn.latex(print, two_link())


def test_one_output_alone() -> None:
    arm = armdyn.arms.planar2()
    lines = armdyn.latex(armdyn.linearize, arm).splitlines()
    assert armdyn.latex(armdyn.linearize, arm, output="K") == lines[2]
    assert lines[2].startswith("K = ")
    with raises(ArmdynError, names=("Q",), expected="one of M, C, K, A, B"):
        armdyn.latex(armdyn.linearize, arm, output="Q")


def test_names_of_references_and_gains() -> None:
    from armdyn.control.laws.computed_torque import computed_torque

    text = armdyn.latex(computed_torque, two_link())
    assert r"\ddot{q}_{\mathrm{ref}, 1}" in text
    assert "k_{p2}" in text


def test_functions_of_functions_are_rejected_before_they_fill_the_memory() -> None:
    from armdyn.trace.symbols import ca

    @armdyn.traced(x="2", returns={"y": ""})
    def nested(arm, x):
        y = x[0]
        for _ in range(40):  # each holds the one before twice
            y = ca.exp(y) * ca.sin(y + x[1])
        return y

    with raises(ArmdynError, cause="the formula nests functions too deeply to be read"):
        armdyn.latex(nested, two_link())
