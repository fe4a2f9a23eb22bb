"""Whether torques can move every joint: the arms for which forward dynamics has no answer.

Plain numbers on purpose: the check runs before a kernel does, once per arm, and must not need CasADi.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ModelError
from armdyn.frozen import compute_once
from armdyn.model.arm import Arm
from armdyn.precision import SOLUTION_ERROR
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.rotation import rotation_z, skew
from armdyn.spatial.transform import transform


def massless_joints(arm: Arm, rotors: bool = False) -> list[str]:
    """Names of the joints that no inertia resists at any position: they make M singular.

    Articulated inertias (Featherstone 2008, section 7.3) at one general position; a joint is named
    when what it carries, with the joints beyond it free, has no inertia along it.

    Parameters
    ----------
    arm : Arm
    rotors : bool
        Whether rotors count.
    """
    return _massless(arm)[rotors]


def require_movable(arm: Arm, bound: Collection[str]) -> None:
    """Raise if a joint of the rigid arm has no inertia and the arm's own parameters are to be used."""
    if "theta" in bound:
        _require(arm, massless_joints(arm), "give them mass")


def require_movable_with_rotors(arm: Arm, bound: Collection[str]) -> None:
    """The same where a rotor's inertia will do."""
    if "theta" in bound and "drive" in bound and arm.coupling is None:
        _require(arm, massless_joints(arm, rotors=True), "give them mass or a rotor")


def _require(arm: Arm, names: list[str], hint: str) -> None:
    if names:
        cause = (
            f"the mass matrix is singular, no inertia resists joint {', '.join(names)}; the links from "
            f"there on weigh nothing or lie on the axis: {hint}"
        )
        raise ModelError(cause, where=f"arm '{arm.name}'", names=names)


@compute_once
def _massless(arm: Arm) -> dict[bool, list[str]]:
    """Return the result of `massless_joints`, without rotors and with them."""
    return {rotors: _find_massless(arm, rotors) for rotors in (False, True)}


def _find_massless(arm: Arm, rotors: bool) -> list[str]:
    if arm.G is not None:
        return []  # joints that follow others lend their inertia to those that they follow: not judged joint by joint
    rng = np.random.default_rng(0)
    bodies, massless = [_matrix(link.inertia) for link in arm.links], []
    for i in reversed(range(arm.n_joints)):
        joint, segment = arm.joints[i], arm.segments[i]
        body = _seen_from(transform(segment.R_after, segment.p_after), bodies[i])
        k = 5 if joint.kind == "revolute" else 2
        column, resists = body[:, k], body[k, k] + (joint.drive.reflected_inertia if rotors else 0.0)
        # Far above the rounding of the recursion, far below any gripper on any arm.
        if abs(resists) <= SOLUTION_ERROR * np.abs(np.trace(body)):
            massless.append(joint.name)
        else:
            body = body - np.outer(column, column) / resists
        q = rng.uniform(0.3, 1.2)
        turn = rotation_z(q) if k == 5 else np.eye(3)
        motion = transform(turn, [0, 0, 0 if k == 5 else q])
        if arm.parents[i] >= 0:
            bodies[arm.parents[i]] += _seen_from(transform(segment.R_before, segment.p_before) @ motion, body)
    return massless[::-1]


def _matrix(inertia: Inertia) -> NDArray:
    """The 6x6 inertia of a link about its origin, linear rows first."""
    h = skew(inertia.first)
    return np.block([[inertia.mass * np.eye(3), -h], [h, inertia.tensor]])


def _seen_from(T_AB: NDArray, body: NDArray) -> NDArray:
    """A 6x6 inertia in frame B, seen from A."""
    R, p = T_AB[:3, :3], skew(T_AB[:3, 3])
    X = np.block([[R.T, -R.T @ p], [np.zeros((3, 3)), R.T]])  # velocities of A's origin to those of B's
    return X.T @ body @ X
