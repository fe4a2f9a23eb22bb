"""Operations of exported code: general arms beside Khalil's bound, known arms, gravity compensation of the Sarcos.

    python benchmarks/operation_counts.py [--fast]

Counts, not times: squares are multiplications, doublings additions, negations are free.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

import armdyn
from armdyn.trace.graphs.graph import Counts, count_operations, graph_of


def counts(function: Callable[..., Any], arm: armdyn.Arm) -> tuple[Counts, Counts]:
    """Operations of a function as it is traced, and as it is exported, all constants folded."""
    traced = function.traced  # type: ignore[attr-defined]
    graph = graph_of(traced.make_program(arm, traced.plain_variant, fold=True))
    with tempfile.TemporaryDirectory() as folder:
        return count_operations(graph), armdyn.c_code(function, arm, folder).total


def general_arm(n: int, right_angles: bool) -> armdyn.Arm:
    """n revolute joints in modified DH with random lengths, twists (or right angles) and parameters."""
    rng = np.random.default_rng(n)
    rows = [
        {
            "kind": "R",
            "a": rng.uniform(0.1, 0.5) if i else 0.0,
            "alpha": (np.pi / 2 * (-1) ** i if right_angles else rng.uniform(0.3, 1.2)) if i else 0.0,
            "d": rng.uniform(0.1, 0.5) if i else 0.0,
            "theta": 0.0,
        }
        for i in range(n)
    ]
    return armdyn.Arm.from_dh(rows, convention="modified").with_theta(rng.uniform(0.1, 1.0, 10 * n))


def generic_puma() -> armdyn.Arm:
    """The PUMA 560's geometry in modified DH (Armstrong, Khatib and Burdick 1986), every parameter general."""
    table = [
        (0.0, 0.0, 0.0),
        (0.0, -np.pi / 2, 0.2435),
        (0.4318, 0.0, -0.0934),
        (-0.0203, np.pi / 2, 0.4331),
        (0.0, -np.pi / 2, 0.0),
        (0.0, np.pi / 2, 0.0),
    ]
    rows = [{"kind": "R", "a": a, "alpha": alpha, "d": d, "theta": 0.0} for a, alpha, d in table]
    arm = armdyn.Arm.from_dh(rows, convention="modified", name="puma560")
    return arm.with_theta(np.random.default_rng(0).uniform(0.1, 1.0, 60))


def row(name: str, *cells: Any) -> str:
    return f"| {name} | " + " | ".join(str(cell) for cell in cells) + " |"


def text(found: Counts) -> str:
    return f"{found.multiplications} / {found.additions} / {found.sincos}"


def general(sizes: range) -> None:
    print("\nInverse dynamics of general arms of n revolute joints (multiplications / additions / sin-cos pairs)\n")
    print(row("n", "traced", "exported", "twists of 90 deg, exported", "bound 105 n - 92 / 94 n - 86"))
    print("|---|---|---|---|---|")
    for n in sizes:
        plain, simple = counts(armdyn.inverse_dynamics, general_arm(n, right_angles=False))
        _, right = counts(armdyn.inverse_dynamics, general_arm(n, right_angles=True))
        print(row(str(n), text(plain), text(simple), text(right), f"{105 * n - 92} / {94 * n - 86}"), flush=True)


def known() -> None:
    print("\nKnown arms\n")
    print(row("function", "traced", "exported"))
    print("|---|---|---|")
    puma = generic_puma()
    base = armdyn.base_parameters(puma).arm
    cases = [
        ("inverse dynamics, PUMA 560, 60 general parameters", armdyn.inverse_dynamics, puma),
        ("inverse dynamics, PUMA 560, its 36 base parameters", armdyn.inverse_dynamics, base),
        ("inverse dynamics, PUMA 560, Armstrong's parameters", armdyn.inverse_dynamics, armdyn.arms.puma560()),
        ("mass matrix, PUMA 560, 60 general parameters", armdyn.mass_matrix, puma),
        ("inverse dynamics, Stanford arm", armdyn.inverse_dynamics, armdyn.arms.stanford()),
        ("inverse dynamics, UR10", armdyn.inverse_dynamics, armdyn.arms.ur10()),
        ("gravity torque, Sarcos arm", armdyn.gravity_torque, armdyn.arms.sarcos()),
    ]
    for name, function, arm in cases:
        print(row(name, *map(text, counts(function, arm))), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fast", action="store_true", help="small arms only")
    general(range(2, 4 if parser.parse_args().fast else 8))
    if not parser.parse_args().fast:
        known()


if __name__ == "__main__":
    main()
