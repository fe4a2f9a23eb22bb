"""What an arm of an MJCF stands on: a plane of the file, else the plane of the body that carries it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.model.mjcf.source import import_mujoco
from armdyn.precision import SIX_DIGITS

STEEPEST_FLOOR_COSINE = np.cos(np.deg2rad(30))  # cosine of the largest slope that is still a floor


class Plane(NamedTuple):
    """All points p with `normal . p > offset` are free."""

    normal: NDArray
    offset: float
    name: str = "plane"


def planes(model: Any, base: int) -> list[Plane]:
    """The planes of a compiled model that bodies collide with, in the axes of a body that stands as they do.

    Parameters
    ----------
    model : MjModel
    base : int
        A body; for one that moves there are none.
    """
    if not _stands(model, base):
        return []
    placed = _placed(model)
    walls = [g for g in range(model.ngeom) if _is_wall(model, g)]
    return [
        _seen_from(placed, base, placed.geom_xpos[g], placed.geom_xmat[g].reshape(3, 3)[:, 2], model.geom(g).name)
        for g in walls
    ]


def mounting_plane(model: Any, base: int, carriers: Sequence[int]) -> Plane | None:
    """The plane that an arm is mounted on, in the axes of its base; None where nothing tells it.

    Of the file's planes it is the nearest floor, below the body that carries the arm if there is one, or where none is
    level the nearest plane; without planes the plane z = 0 of that body, as of a URDF.

    Parameters
    ----------
    model : MjModel
    base : int
        Body of the arm's base.
    carriers : sequence of int
        The base and the bodies on it before the first moving joint.
    """
    if not _stands(model, base):
        return None
    placed, candidates = _placed(model), planes(model, base)
    up = -placed.xmat[base].reshape(3, 3).T @ model.opt.gravity / (np.linalg.norm(model.opt.gravity) or 1.0)
    level = [one for one in candidates if one.normal @ up > STEEPEST_FLOOR_COSINE]
    solid = [body for body in carriers if body and (model.body_mass[body] or model.body_geomnum[body])]
    carrier = solid[-1] if solid else base
    foot = placed.xmat[base].reshape(3, 3).T @ (placed.xpos[carrier] - placed.xpos[base])
    below = [one for one in level if one.normal @ foot - one.offset > -SIX_DIGITS]
    if candidates:
        return min(below or level or candidates, key=lambda one: abs(one.normal @ foot - one.offset))
    return _seen_from(placed, base, placed.xpos[carrier], placed.xmat[carrier].reshape(3, 3)[:, 2]) if solid else None


def _is_wall(model: Any, g: int) -> bool:
    collides = model.geom_contype[g] or model.geom_conaffinity[g]
    is_plane = model.geom_type[g] == import_mujoco().mjtGeom.mjGEOM_PLANE
    return bool(is_plane and collides and _stands(model, int(model.geom_bodyid[g])))


def _stands(model: Any, body: int) -> bool:
    """Whether a body is part of the world."""
    return int(model.body_weldid[body]) == 0


def _placed(model: Any) -> Any:
    """MuJoCo's data, all bodies and geometries where they are at first."""
    mujoco = import_mujoco()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    return data


def _seen_from(placed: Any, base: int, point: NDArray, normal: NDArray, name: str = "") -> Plane:
    """A plane of the world in the axes of a body."""
    R = placed.xmat[base].reshape(3, 3)
    return Plane(R.T @ normal, float(normal @ (point - placed.xpos[base])), name or "plane")
