"""Kapadia (1995), the PUMA's first three joints: coefficients of appendix A, base parameters, Table 7.1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.parameters import BaseParameters, base_parameters
from armdyn.dynamics.base.rules import base_counts, mayeda_count
from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.model.arm import Arm
from armdyn.model.library.puma3 import puma3
from armdyn.trace.graphs.graph import count_operations, graph_of
from reproductions.case import Picture, Row, Table, check, differs, panels, show
from reproductions.kapadia_tables import INERTIAL, STANDARD

# Values of Table 7.1 that follow from Armstrong's link data within this part; the others cannot (see the rows).
CLOSE_RATIO = 0.06
IMPOSSIBLE = ("Izz1", "Izz2", "Ixx2", "Izz3")
WHY = {
    "Izz1": "the table fits I1 = 1.43, the constant of Armstrong's abbreviated formulas; the link data give 1.553",
    "Ixx2": "the table fits 1.38 of Armstrong's abbreviated formulas; the link data give 1.602",
    "Izz2": "a least-squares value: the third motor's inertia is a sixteenth parameter, spread over P4 and P11",
    "Izz3": "a least-squares value, as P4: the link alone has 0.336, with the third motor's inertia 1.166",
}


def rows(seed: int) -> list[Row]:
    """Rows about the model."""
    base = base_parameters(puma3())
    values = standard_values(puma3())
    return [_appendix_row(base, seed), _count_row(base), *_table_rows(values), _projection_row(seed), _operations_row()]


def tables() -> list[Table]:
    """Table 7.1 beside the values from the link data."""
    pairs = zip(INERTIAL, STANDARD, standard_values(puma3()), strict=True)
    lines = tuple((f"P{k} = {name}", f"{a:.4f}", f"{b:.4f}") for k, (name, a, b) in enumerate(pairs, 1))
    return [Table("Table 7.1: base parameters", ("parameter", "printed ", "from links and motors "), lines)]


def pictures() -> list[Picture]:
    """The figure of Table 7.1."""
    values = standard_values(puma3())
    return [Picture("table-7-1", "Table 7.1: base parameters of the PUMA's first three joints", _table_figure(values))]


# -- appendix A --------------------------------------------------------------------------------------------


def appendix_regressor(L: float, g: float, q: NDArray, qd: NDArray, qdd: NDArray) -> NDArray:
    """Torques (N, 3, 15) of P1 ... P15 at one, by Euler and Lagrange from the energy of each parameter.

    Shares nothing with the recursions: velocities of the three links are written by hand for the frames of
    appendix A (modified DH, alpha = 0, 90, 0 degrees, a = 0, 0, L).
    """
    import casadi as ca

    x, xd, xdd = (ca.SX.sym(name, 3) for name in ("q", "qd", "qdd"))
    T, U = _energies(L, g, x, xd)
    momenta = [ca.gradient(t, xd) for t in T]
    # d/dt of the momenta by the chain rule along (qd, qdd).
    state, rate = ca.vertcat(x, xd), ca.vertcat(xd, xdd)
    columns = [
        ca.jtimes(p, state, rate) - ca.gradient(t, x) + ca.gradient(u, x) for p, t, u in zip(momenta, T, U, strict=True)
    ]
    function = ca.Function("Y", [x, xd, xdd], [ca.horzcat(*columns)])
    return np.array([np.array(function(*state)) for state in zip(q, qd, qdd, strict=True)])


def _energies(L: float, g: float, x: Any, xd: Any) -> tuple[list[Any], list[Any]]:
    """Kinetic and potential energy that a unit of each parameter has."""
    import casadi as ca

    c2, s2, c3, s3 = ca.cos(x[1]), ca.sin(x[1]), ca.cos(x[2]), ca.sin(x[2])
    c23, s23 = ca.cos(x[1] + x[2]), ca.sin(x[1] + x[2])
    w2 = (s2 * xd[0], c2 * xd[0], xd[1])
    w3 = (s23 * xd[0], c23 * xd[0], xd[1] + xd[2])
    v3 = (s3 * L * xd[1], c3 * L * xd[1], -L * c2 * xd[0])  # of frame 3's origin, in its axes
    zero = ca.SX(0)
    kinetic: dict[str, Any] = {"Izz1": xd[0] ** 2 / 2}
    potential: dict[str, Any] = {}
    for i, w, v, (sine, cosine) in ((2, w2, (zero, zero, zero), (s2, c2)), (3, w3, v3, (s23, c23))):
        kinetic |= {f"Ixx{i}": w[0] ** 2 / 2, f"Izz{i}": w[2] ** 2 / 2}
        kinetic |= {f"Ixy{i}": w[0] * w[1], f"Ixz{i}": w[0] * w[2], f"Iyz{i}": w[1] * w[2]}
        kinetic |= {f"mx{i}": v[1] * w[2] - v[2] * w[1], f"my{i}": v[2] * w[0] - v[0] * w[2]}  # v . (w x e)
        potential |= {f"mx{i}": g * sine, f"my{i}": g * cosine}
    return [kinetic[name] for name in INERTIAL], [potential.get(name, zero) for name in INERTIAL]


def _appendix_row(base: BaseParameters, seed: int) -> Row:
    q, qd, qdd = np.random.default_rng(seed).uniform(-2, 2, (3, 50, 3))
    expected = appendix_regressor(0.4318, 9.81, q, qd, qdd)
    order = [base.labels.index(name) for name in INERTIAL]
    error = float(np.abs(base.regressor(q, qd, qdd)[..., order] - expected).max())
    return check(
        "appendix A: 45 coefficients of the regressor", "3 x 15 formulas",
        f"equal within {error:.0e} at 50 random states", error < 1e-11, "in modified DH (erratum 1)",
    )  # fmt: skip


def _count_row(base: BaseParameters) -> Row:
    arm = puma3()
    with_motors = base_parameters(arm, joint_terms=("rotor",)).count
    others = {
        "by the geometry of each link": sum(base_counts(arm)),
        "by Mayeda's rule": mayeda_count(arm),
        "by theorems 1 and 2": base_parameters(arm, method="theorems").count,
    }
    return check(
        "number of base parameters", "15",
        f"{base.count} = {' + '.join(map(str, base_counts(arm)))} of links 1 to 3; "
        f"{', '.join(f'{count} {how}' for how, count in others.items())}; {with_motors} with the motors' inertias",
        set(base.labels) == set(INERTIAL) and {base.count, *others.values()} == {15}, "errata 4 to 6",
    )  # fmt: skip


# -- Table 7.1 ---------------------------------------------------------------------------------------------


def standard_values(arm: Arm) -> NDArray:
    """P1 ... P15 (15,) from the link data; motors 1 and 2 act like Izz1 and Izz2."""
    base = base_parameters(arm, joint_terms=("rotor",))
    values = dict(zip(base.labels, base.theta, strict=True))
    return np.array([values[name] for name in INERTIAL])


def _table_rows(values: NDArray) -> list[Row]:
    off = np.abs(values / STANDARD - 1)
    possible = [k for k, name in enumerate(INERTIAL) if name not in IMPOSSIBLE]
    worst = max(possible, key=lambda k: off[k])
    found = [
        check(
            "Table 7.1, 11 of 15 parameters", "values of P2, P3, P6-P10, P12-P15",
            f"from Armstrong's links: median {np.median(off[possible]):.1%} off, at most {off[worst]:.1%} "
            f"({INERTIAL[worst]})",
            bool(off[worst] < CLOSE_RATIO), "the table has two to four digits",
        )
    ]  # fmt: skip
    for name in IMPOSSIBLE:
        k = INERTIAL.index(name)
        found.append(differs(f"Table 7.1, P{k + 1} = {name}", f"{STANDARD[k]:.4f}", f"{values[k]:.4f}", WHY[name]))
    return found


def _projection_row(seed: int) -> Row:
    """The method of the table: torques of the whole model, motors included, fitted by 15 columns."""
    arm = puma3()
    base = base_parameters(arm)
    size = np.array([2.0, 2.0, 4.0])[:, None, None]
    q, qd, qdd = np.random.default_rng(seed + 1).uniform(-1, 1, (3, 2000, 3)) * size
    tau = inverse_dynamics(arm, q, qd, qdd) + qdd * [joint.drive.reflected_inertia for joint in arm.joints]
    rows = base.regressor(q, qd, qdd).reshape(-1, base.count)
    x = dict(zip(base.labels, np.linalg.lstsq(rows, tau.ravel(), rcond=None)[0], strict=True))
    return show(
        "Table 7.1, P4 and P11 by its own method", "5.632 and 0.749", f"{x['Izz2']:.3f} and {x['Izz3']:.3f}",
        "random motion; the thesis's is unknown, and the two values depend on it",
    )  # fmt: skip


def _operations_row() -> Row:
    """Inverse dynamics of a general six-joint arm against Khalil's bound."""
    n, rng = 6, np.random.default_rng(6)
    table = [
        {"kind": "R", "a": a, "alpha": alpha, "d": d} if i else {"kind": "R"}
        for i, (a, alpha, d) in enumerate(rng.uniform(0.2, 0.9, (n, 3)))
    ]
    arm = Arm.from_dh(table, convention="modified").with_theta(rng.uniform(0.1, 1.0, 10 * n))
    traced = inverse_dynamics.traced  # type: ignore[attr-defined]
    counts = count_operations(graph_of(traced.make_program(arm, traced.plain_variant, fold=True)))
    return check(
        "operations of generated inverse dynamics, n = 6",
        "at most 105 n - 92 = 538 multiplications, 94 n - 86 = 478 additions",
        f"{counts.multiplications} and {counts.additions}", counts.multiplications <= 538 and counts.additions <= 478,
        "general twists, lengths and parameters; before the simplification that export does",
    )  # fmt: skip


def _table_figure(values: NDArray) -> Any:
    figure, axis = panels(10, 4.2)
    at = np.arange(len(values))
    for shift, data, label in ((-0.2, STANDARD, "Table 7.1"), (0.2, values, "from Armstrong's links and motors")):
        axis.bar(at + shift, np.abs(data), 0.38, label=label)
    for k, name in enumerate(INERTIAL):
        if name in IMPOSSIBLE:
            axis.axvspan(k - 0.5, k + 0.5, color="0.9", zorder=0, label="cannot agree" if name == "Izz1" else None)
    axis.set_yscale("log")
    axis.set_xticks(at, [f"P{k + 1}\n{name}" for k, name in enumerate(INERTIAL)], fontsize=8)
    axis.set(ylabel="size [kg m or kg m²]", title="base parameters (absolute values)")
    axis.grid(axis="x", visible=False)
    axis.legend(fontsize=8)
    return figure
