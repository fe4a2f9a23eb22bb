"""`armdyn regressor ARM`: the matrix Y with tau = Y theta."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from armdyn.cli.resolve import resolve
from armdyn.cli.show import number, print_json, print_line, print_table
from armdyn.cli.states import StateOptions, matrix_columns, write_columns

if TYPE_CHECKING:
    from armdyn.model.arm import Arm


def regressor(
    arm: str, *, asked: StateOptions,
    reduced: bool = False, degrees: bool = False, out: Path | None = None, base: str | None = None,
    tip: str | None = None, json: bool = False,
) -> None:  # fmt: skip
    """The regressor: what each inertial parameter adds to the torques; for many states, how well they tell it."""
    subject = resolve(arm, base, tip)
    inputs = asked.read(subject, degrees)
    Y, names = _matrix(subject, inputs.q, inputs.qd, inputs.qdd, reduced)
    if out is not None:
        whole = {"Y": Y.reshape(-1, *Y.shape[-2:]), "names": np.array(names)}
        columns = whole if out.suffix == ".npz" else matrix_columns("Y", Y, inputs.q.ndim - 1)
        write_columns(out, inputs.t, columns, json)
    if json:
        print_json({"arm": subject.name, "parameters": names, "Y": Y})
    elif asked.states is None:
        _show(subject, Y, names)
    elif out is None:
        _show_many(subject, Y, names)


def _matrix(arm: Arm, q: NDArray, qd: NDArray, qdd: NDArray, reduced: bool) -> tuple[NDArray, Any]:
    from armdyn.dynamics.base.parameters import base_parameters
    from armdyn.dynamics.regressors.regressor import regressor
    from armdyn.spatial.inertia import parameter_names

    if reduced:
        reduced_set = base_parameters(arm)
        return np.asarray(reduced_set.regressor(q, qd, qdd)), reduced_set.formulas
    return np.asarray(regressor(arm, q, qd, qdd)), parameter_names(arm.n_joints)


def _show(arm: Arm, Y: NDArray, names: Any) -> None:
    rows = [
        (name, *(number(0.0 if abs(x) < 1e-12 else x) for x in column)) for name, column in zip(names, Y.T, strict=True)
    ]
    acting = [row for row in rows if any(cell != "0" for cell in row[1:])]
    title = (
        f"{arm.name}: torque per unit of each parameter (SI); {len(rows) - len(acting)} without effect at this state"
    )
    print_table(title, ("parameter", *(f"{name} " for name in arm.coordinate_names)), acting)


def _show_many(arm: Arm, Y: NDArray, names: Any) -> None:
    rows = Y.reshape(-1, Y.shape[-1])
    singular = np.linalg.svd(rows, compute_uv=False)
    rank = int((singular > singular[0] * max(rows.shape) * np.finfo(float).eps).sum())
    norms = np.linalg.norm(rows, axis=0) / np.sqrt(len(Y))
    table = [(name, number(norm)) for name, norm in zip(names, norms, strict=True)]
    print_table(f"{arm.name}: RMS effect of each parameter (SI)", ("parameter", "torque per unit "), table)
    condition = number(singular[0] / singular[rank - 1], 3)
    print_line(f"rank {rank} of {len(names)}, condition number of what is determined: {condition}")
