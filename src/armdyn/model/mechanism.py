"""Trees of joints, and joints that follow others.

Link i hangs on joint i, and joint i on link `parents[i]` (-1: the base). Positions of all N joints are G q + b, with q
the n coordinates: the joints that follow no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.arrays import finite_vector, read_only
from armdyn.errors import ModelError, quote
from armdyn.frozen import Frozen
from armdyn.model.joint import Joint
from armdyn.spatial.transform import check_transform

if TYPE_CHECKING:
    from armdyn.model.arm import Arm


@dataclass(frozen=True, eq=False)
class Frame(Frozen):
    """A named frame fixed in a link: a hand, a camera, a tool."""

    name: str
    link: str
    pose: NDArray = field(default_factory=lambda: np.eye(4))  # in the link's frame

    def __post_init__(self) -> None:
        for what in ("name", "link"):
            if not isinstance(getattr(self, what), str) or not getattr(self, what):
                raise ModelError(where="frame", expected=f"text as {what}", got=quote(getattr(self, what)))
        object.__setattr__(self, "pose", check_transform(self.pose, f"frame '{self.name}': pose"))


@dataclass(frozen=True)
class Spring(Frozen):
    """A spring between points of two links, or of a link and the base: a balancer.

    It pulls with `stiffness * (length - rest_length)`, pushes where it is shorter, and weighs nothing.
    """

    name: str
    links: tuple[str, str]
    points: tuple[tuple[float, float, float], tuple[float, float, float]]  # in the links' frames [m]
    stiffness: float  # [N/m]
    rest_length: float = 0.0  # [m]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError(where="spring", expected="text as name", got=quote(self.name))
        where = f"spring '{self.name}'"
        links, points = self.links, self.points
        if not isinstance(links, tuple | list) or len(links) != 2 or not all(isinstance(x, str) for x in links):
            raise ModelError(where=where, expected="the names of two links", got=quote(links))
        if links[0] == links[1]:
            cause = f"both ends are in link '{links[0]}'"
            raise ModelError(cause, where=where, expected="two links that move apart", names=(links[0],))
        if not isinstance(points, tuple | list) or len(points) != 2:
            raise ModelError(where=where, expected="two points", got=quote(points))
        rows = [finite_vector(point, 3, f"{where}: point") for point in points]
        numbers = finite_vector((self.stiffness, self.rest_length), 2, f"{where}: stiffness and rest_length")
        if not numbers[0] > 0 or numbers[1] < 0:
            expected = "stiffness > 0 and rest_length >= 0"
            raise ModelError(where=where, expected=expected, got=f"{numbers[0]:g}, {numbers[1]:g}")
        stiffness, rest_length = map(float, numbers)
        ends = tuple(tuple(float(x) for x in row) for row in rows)
        self._set(links=tuple(links), points=ends, stiffness=stiffness, rest_length=rest_length)


def parent_indices(joints: Sequence[Joint], link_names: Sequence[str], base_name: str, where: str) -> tuple[int, ...]:
    """Return the index of the link that carries each joint, -1 for the base."""
    parents = []
    for i, joint in enumerate(joints):
        if joint.parent is None:
            parents.append(i - 1)
        elif joint.parent in link_names[:i]:
            parents.append(link_names.index(joint.parent))
        elif joint.parent == base_name:
            parents.append(-1)
        elif joint.parent in link_names:
            cause = f"joint '{joint.name}' hangs on link '{joint.parent}', whose joint comes later"
            remedy = "list joints from the base outward (joints in a cycle have no such order)"
            raise ModelError(cause, where=where, remedy=remedy, names=(joint.name, joint.parent))
        else:
            known = ", ".join((base_name, *link_names))
            cause = f"joint '{joint.name}' hangs on link '{joint.parent}', which is none of {known}"
            raise ModelError(cause, where=where, names=(joint.name, joint.parent))
    return tuple(parents)


class Dependence(NamedTuple):
    """Positions of all joints from the coordinates: G q + b."""

    coordinates: tuple[int, ...]  # indices of the joints that follow no other
    G: NDArray | None  # (N, n); None where every joint is a coordinate
    b: NDArray | None  # (N,)


def dependence(joints: Sequence[Joint], where: str) -> Dependence:
    """Resolve which joints follow which, leaders that follow others included."""
    index = {joint.name: i for i, joint in enumerate(joints)}
    free = tuple(i for i, joint in enumerate(joints) if not joint.follows)
    if len(free) == len(joints):
        return Dependence(free, None, None)
    if not free:
        raise ModelError("every joint follows another", where=where, expected="at least one that moves by itself")
    rows: dict[int, NDArray] = {i: np.append(np.eye(len(free))[k], 0.0) for k, i in enumerate(free)}

    def resolve(i: int, path: tuple[str, ...]) -> NDArray:
        joint = joints[i]
        if joint.name in path:
            raise ModelError(f"joints follow each other in a cycle: {' -> '.join((*path, joint.name))}", where=where)
        if i not in rows:
            row = np.append(np.zeros(len(free)), joint.offset)
            for name, ratio in joint.follows:
                if name not in index:
                    cause = f"joint '{joint.name}' follows '{name}', which is no joint of it"
                    raise ModelError(cause, where=where, names=(joint.name, name))
                row = row + ratio * resolve(index[name], (*path, joint.name))
            rows[i] = row
        return rows[i]

    table = np.array([resolve(i, ()) for i in range(len(joints))])
    return Dependence(free, read_only(table[:, :-1]), read_only(table[:, -1]))


def require_free_joints(arm: Arm, what: str, remedy: str = "") -> None:
    """Raise where a computation is for joints that move by themselves and some of the arm's follow others."""
    if getattr(arm, "G", None) is not None:
        raise ModelError(
            f"{what} is for joints that move by themselves, and arm '{arm.name}' is {arm.kind_of_mechanism}"
            + (f"; {remedy}" if remedy else "")
        )


def require_chain(arm: Arm, what: str) -> None:
    """Raise where a computation is for serial chains alone and the arm is a tree, or has joints that follow others.

    What is no arm is left to whoever takes the arm next.
    """
    if not getattr(arm, "is_chain", True):
        cause = f"{what} is for serial chains, and arm '{arm.name}' is {arm.kind_of_mechanism}"
        saved = "" if getattr(arm, "source", None) else "save it to a file, and "
        raise ModelError(cause, remedy=f"{saved}load one chain of it with tip=")
