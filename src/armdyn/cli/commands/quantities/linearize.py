"""`armdyn linearize ARM`: the arm's small deviations from a motion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from armdyn.cli.resolve import resolve
from armdyn.cli.show import number, print_json, print_table
from armdyn.cli.states import StateOptions, matrix_columns, print_columns, write_columns

if TYPE_CHECKING:
    from armdyn.model.arm import Arm


def linearize(
    arm: str, *, asked: StateOptions,
    rigid: bool = False, degrees: bool = False, out: Path | None = None, base: str | None = None,
    tip: str | None = None, json: bool = False,
) -> None:  # fmt: skip
    """Matrices of dtau = M dqdd + C dqd + K dq and dx/dt = A x + B dtau with x = [dq; dqd], and the poles of A."""
    from armdyn.dynamics.linear.linearize import linearize as compute

    subject = resolve(arm, base, tip)
    inputs = asked.read(subject, degrees)
    result = compute(subject, inputs.q, inputs.qd, inputs.qdd, model="rigid" if rigid else "full")
    matrices = {name: np.asarray(getattr(result, name)) for name in ("M", "C", "K", "A", "B")}
    poles = np.linalg.eigvals(matrices["A"])
    if out is not None:
        if out.suffix == ".npz":
            columns = {name: matrix.reshape(-1, *matrix.shape[-2:]) for name, matrix in matrices.items()}
        else:
            columns = {}
            for name, matrix in matrices.items():
                columns |= matrix_columns(name, matrix, inputs.q.ndim - 1)
        write_columns(out, inputs.t, columns, json)
    if json:
        print_json({"arm": subject.name} | matrices | {"poles": np.stack([poles.real, poles.imag], -1)})
    elif asked.states is None:
        _show(subject, matrices, poles)
    elif out is None:
        _show_many(subject, inputs.t, poles)


def _show(arm: Arm, matrices: dict[str, Any], poles: Any) -> None:
    titles = {
        "M": "M = dtau/dqdd",
        "C": "C = dtau/dqd",
        "K": "K = dtau/dq",
        "A": "A, state [dq; dqd]",
        "B": "B, input dtau",
    }
    for name, title in titles.items():
        matrix = matrices[name]
        rows = [[number(0.0 if abs(x) < 1e-12 else x) for x in row] for row in matrix]
        print_table(f"{arm.name}: {title}", [f"{j + 1} " for j in range(matrix.shape[1])], rows)
    lines = [(number(p.real), number(p.imag), number(abs(p) / (2 * np.pi))) for p in sorted(poles, key=abs)]
    print_table("Poles of the open loop", ("real [1/s] ", "imaginary ", "frequency [Hz] "), lines)


def _show_many(arm: Arm, t: Any, poles: Any) -> None:
    columns = {
        "fastest growth [1/s]": poles.real.max(-1),
        "largest frequency [Hz]": np.abs(poles).max(-1) / (2 * np.pi),
    }
    print_columns(f"{arm.name}: open-loop poles along the states (--out FILE.npz for the matrices)", t, columns)
