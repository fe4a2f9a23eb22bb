"""`armdyn fk ARM`: where the tip is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from armdyn.cli.resolve import resolve
from armdyn.cli.show import number, print_json, print_table, vector
from armdyn.cli.states import StateOptions, print_columns, write_columns

if TYPE_CHECKING:
    from armdyn.model.arm import Arm


def fk(
    arm: str, *, asked: StateOptions, links: bool = False, degrees: bool = False,
    out: Path | None = None, base: str | None = None, tip: str | None = None, json: bool = False,
) -> None:  # fmt: skip
    """Forward kinematics: the pose of the tip, its Jacobian's condition, on request of every link."""
    from armdyn.kinematics.forward import forward_kinematics

    subject = resolve(arm, base, tip)
    inputs = asked.read(subject, degrees)
    T = np.asarray(forward_kinematics(subject, inputs.q))
    if out is not None:
        write_columns(out, inputs.t, pose_columns(T.reshape(-1, 4, 4)), json)
    if json:
        print_json(_summary(subject, inputs.q, T, links))
    elif asked.states is not None and out is None:
        print_columns(f"{subject.name}: pose of {subject.tip_name} in base axes [m, rad]", inputs.t, pose_columns(T))
    elif asked.states is None:
        _show(subject, inputs.q, T, links)


def pose_columns(T: NDArray) -> dict[str, NDArray]:
    """Poses (N, 4, 4) as columns: position and quaternion."""
    from armdyn.spatial.rotation import to_quaternion

    values = np.hstack([T[:, :3, 3], to_quaternion(T[:, :3, :3])])
    return dict(zip(("x", "y", "z", "qw", "qx", "qy", "qz"), values.T, strict=True))


def _summary(arm: Arm, q: NDArray, T: NDArray, links: bool) -> dict[str, Any]:
    from armdyn.kinematics.forward import link_poses

    data: dict[str, Any] = {"arm": arm.name, "tip": arm.tip_name, "pose": T}
    if links:
        data["links"] = [link.name for link in arm.links]
        data["link_poses"] = link_poses(arm, q)
    return data


def _condition(value: float) -> str:
    """A condition number in words: beyond 1e8 nothing but round-off is left of the smallest singular value."""
    return number(value, 3) if value < 1e8 else "singular"


def _show(arm: Arm, q: NDArray, T: NDArray, links: bool) -> None:
    from armdyn.kinematics.forward import link_poses
    from armdyn.kinematics.jacobian import jacobian
    from armdyn.spatial.rotation import to_quaternion, to_rpy

    rows = [
        ("position [m]", vector(T[:3, 3], 6)),
        ("roll pitch yaw [deg]", vector(np.degrees(to_rpy(T[:3, :3])), 6)),
        ("quaternion w x y z", vector(to_quaternion(T[:3, :3]), 6)),
        ("Jacobian, condition", _condition(float(np.linalg.cond(jacobian(arm, q))))),
    ]
    print_table(f"{arm.name}: {arm.tip_name} in base axes", ("", " "), rows)
    if links:
        frames = zip(arm.links, np.asarray(link_poses(arm, q)), strict=True)
        print_table(
            "Links in base axes",
            ("link", "position [m] ", "roll pitch yaw [deg] "),
            [(link.name, vector(F[:3, 3]), vector(np.degrees(to_rpy(F[:3, :3])))) for link, F in frames],
        )
