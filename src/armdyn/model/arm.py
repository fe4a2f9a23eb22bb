"""The arm: frozen data that every other part of armdyn reads."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.errors import MissingInertiaError, ModelError
from armdyn.model.joint import Joint
from armdyn.spatial import inertia as inertial
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.transform import check_transform, inverse

STANDARD_GRAVITY = (0.0, 0.0, -9.81)

# cos(pi/2) in floating point is 6e-17: structural zeros and ones are restored within this distance.
SNAP = 1e-14


@dataclass(frozen=True, eq=False)
class Link:
    """A rigid body; `inertia` is given in the link's frame."""

    name: str
    inertia: Inertia = field(default_factory=Inertia.unknown)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError(f"link: expected a name, got {self.name!r}")


class Segment(NamedTuple):
    """One joint as the formulas see it: `before @ motion(z, q) @ after`, axis always z, constants exact."""

    kind: str
    R_before: NDArray
    p_before: NDArray
    R_after: NDArray
    p_after: NDArray


class Physical(NamedTuple):
    """Whether every link is a possible body; `problems` maps link names to reasons. True in a condition if so."""

    problems: Mapping[str, str]

    def __bool__(self) -> bool:
        return not self.problems

    def __str__(self) -> str:
        return "; ".join(f"link '{name}': {why}" for name, why in self.problems.items()) or "physically possible"


@dataclass(frozen=True, eq=False)
class Arm:
    """A serial arm: n joints, each carrying one link.

    The tip is `base_pose @ T_1(q_1) @ ... @ T_n(q_n) @ tool_pose`; poses, the Jacobian and gravity are
    expressed in the frame in which `base_pose` is given. Nothing is changed in place: the `with_...`
    methods return new arms.
    """

    joints: tuple[Joint, ...]
    links: tuple[Link, ...]
    name: str = "arm"
    gravity: NDArray = field(default_factory=lambda: np.array(STANDARD_GRAVITY))
    base_pose: NDArray = field(default_factory=lambda: np.eye(4))
    tool_pose: NDArray = field(default_factory=lambda: np.eye(4))
    base_name: str = "base"
    tip_name: str = "tip"
    notes: tuple[str, ...] = ()  # where the numbers come from and what was assumed

    def __post_init__(self) -> None:
        where = f"arm '{self.name}'"
        object.__setattr__(self, "joints", tuple(self.joints))
        object.__setattr__(self, "links", tuple(self.links))
        object.__setattr__(self, "notes", tuple(self.notes))
        if not self.joints:
            raise ModelError(f"{where}: the chain has no moving joint; expected at least one")
        if len(self.links) != len(self.joints):
            raise ModelError(f"{where}: expected one link a joint, got {len(self.links)} links for {self.n} joints")
        _refuse_doubles(self.joint_names, f"{where}: joint")
        _refuse_doubles(self.link_names, f"{where}: link")
        object.__setattr__(self, "gravity", _check_vector(self.gravity, 3, f"{where}: gravity"))
        for name in ("base_pose", "tool_pose"):
            object.__setattr__(self, name, check_transform(getattr(self, name), f"{where}: {name}"))

    # -- what it is made of ---------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joints)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, from the base."""
        return tuple(joint.name for joint in self.joints)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of the links, from the base."""
        return tuple(link.name for link in self.links)

    @cached_property
    def theta(self) -> NDArray:
        """Inertial parameters (10 n,), ten a link in the order of `spatial.inertia`; NaN where unknown."""
        theta = np.concatenate([link.inertia.theta for link in self.links])
        theta.flags.writeable = False
        return theta

    @property
    def is_physical(self) -> Physical:
        """Whether every link is a possible body, and if not, which is not and why."""
        found = {link.name: link.inertia.problems() for link in self.links}
        return Physical({name: "; ".join(why) for name, why in found.items() if why})

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """The joints with their axes turned to z and structural zeros and ones exact; the base pose is in the first."""
        before = [joint.before for joint in self.joints]
        before[0] = self.base_pose @ before[0]
        return tuple(_segment(joint, T) for joint, T in zip(self.joints, before, strict=True))

    @cached_property
    def tool(self) -> tuple[NDArray, NDArray]:
        """Rotation and translation of the tip in the last link's frame, structural zeros and ones exact."""
        return _snap(self.tool_pose[:3, :3]), _snap(self.tool_pose[:3, 3])

    @cached_property
    def geometry_fingerprint(self) -> str:
        """A stable digest of joints and frames: what kernels depend on."""
        digest = hashlib.sha256(b"armdyn geometry 1")
        for joint in self.joints:
            digest.update(joint.kind.encode())
            for array in (joint.axis, joint.before, joint.after):
                digest.update(_digestible(array))
        for array in (self.base_pose, self.tool_pose):
            digest.update(_digestible(array))
        return digest.hexdigest()

    @cached_property
    def fingerprint(self) -> str:
        """A stable digest of the whole arm: geometry, inertia, gravity, names, limits, friction and drives."""
        digest = hashlib.sha256(self.geometry_fingerprint.encode())
        digest.update(_digestible(self.theta) + _digestible(self.gravity))
        digest.update(repr((self.name, self.base_name, self.tip_name, self.joint_names, self.link_names)).encode())
        digest.update(repr([(j.limits, j.friction, j.drive) for j in self.joints]).encode())
        return digest.hexdigest()

    def __repr__(self) -> str:
        kinds = "".join("R" if joint.kind == "revolute" else "P" for joint in self.joints)
        return f"<Arm '{self.name}': {self.n} joints {kinds}, {self.base_name} -> {self.tip_name}>"

    # -- other arms made from it ----------------------------------------------------------------------

    def with_theta(self, theta: ArrayLike) -> Arm:
        """The same arm with other inertial parameters (10 n,): any finite vector, or NaN where unknown."""
        theta = np.asarray(theta, float)
        if theta.shape != (inertial.SIZE * self.n,):
            raise ModelError(
                f"with_theta: expected {inertial.SIZE * self.n} numbers for arm '{self.name}', got shape {theta.shape}"
            )
        rows = theta.reshape(self.n, inertial.SIZE)
        return dataclasses.replace(
            self, links=tuple(Link(link.name, Inertia(row)) for link, row in zip(self.links, rows, strict=True))
        )

    def with_gravity(self, gravity: ArrayLike) -> Arm:
        """The same arm under another gravity vector (3,), in base axes [m/s²]."""
        return dataclasses.replace(self, gravity=gravity)

    def with_tool(self, tool_pose: ArrayLike) -> Arm:
        """The same arm with the tip elsewhere: its pose (4, 4) in the last link's frame."""
        return dataclasses.replace(self, tool_pose=tool_pose)

    def with_payload(self, mass: float, com: ArrayLike = (0, 0, 0), inertia: ArrayLike | None = None) -> Arm:
        """The same arm carrying a body: centre `com` in the tip frame [m], `inertia` (3, 3) about it [kg m²]."""
        load = Inertia.from_com(mass, com, inertia)
        if why := load.problems():
            raise ModelError(f"with_payload: the payload is not a possible body: {why[0]}")
        last = self.links[-1]
        carried = Link(last.name, last.inertia + load.moved(self.tool_pose))
        return dataclasses.replace(self, links=(*self.links[:-1], carried))

    def with_joints(self, joints: Iterable[Joint]) -> Arm:
        """The same links on other joints (limits, friction, drives)."""
        return dataclasses.replace(self, joints=tuple(joints))

    # -- descriptions ---------------------------------------------------------------------------------

    @classmethod
    def from_dh(
        cls, rows: Sequence[Mapping[str, Any]] | str | os.PathLike[str], convention: str | None = None, **options: Any
    ) -> Arm:
        """An arm from Denavit-Hartenberg rows, "standard" (default) or "modified"; see `armdyn.model.dh.arm_from_dh`."""
        from armdyn.model.dh import arm_from_dh

        return arm_from_dh(rows, convention, **options)

    @classmethod
    def from_vectors(cls, members: Sequence[Mapping[str, Any]], **options: Any) -> Arm:
        """An arm from axes and vectors; see `armdyn.model.vectors.arm_from_vectors`."""
        from armdyn.model.vectors import arm_from_vectors

        return arm_from_vectors(members, **options)

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the arm to a `.urdf` or `.toml` file; see `armdyn.model.io.save`."""
        from armdyn.model.io import save

        save(self, path, **options)

    # -- what traced functions ask of it (see `armdyn.trace.traced.Subject`) -----------------------------

    @property
    def trace_sizes(self) -> Mapping[str, int]:
        """Sizes that shapes may mention."""
        return {"n": self.n}

    @property
    def trace_key(self) -> str:
        """What kernels are keyed by."""
        return self.geometry_fingerprint

    def trace_data(self, name: str) -> NDArray:
        """The data input `name` bound to this arm."""
        if name == "theta":
            return self._known_theta
        if name == "gravity":
            return self.gravity
        raise KeyError(name)

    @cached_property
    def _known_theta(self) -> NDArray:
        """`theta`, or an error that names what is missing."""
        lacking = {
            link.name: [n for n, x in zip(inertial.NAMES, link.inertia.theta, strict=True) if np.isnan(x)]
            for link in self.links
        }
        lacking = {name: missing for name, missing in lacking.items() if missing}
        if lacking:
            text = "; ".join(
                f"link '{name}' lacks {'all ten' if len(missing) == inertial.SIZE else ', '.join(missing)}"
                for name, missing in lacking.items()
            )
            raise MissingInertiaError(
                f"arm '{self.name}': dynamics needs every inertial parameter, but {text}; "
                "identify them, or give them with with_theta"
            )
        return self.theta


def _segment(joint: Joint, before: NDArray) -> Segment:
    """The joint with its axis turned to z."""
    turn = np.eye(4)
    turn[:3, :3] = _rotation_from_z(joint.axis)
    before, after = before @ turn, inverse(turn) @ joint.after
    return Segment(joint.kind, _snap(before[:3, :3]), _snap(before[:3, 3]), _snap(after[:3, :3]), _snap(after[:3, 3]))


def _rotation_from_z(axis: NDArray) -> NDArray:
    """A rotation that takes z to `axis`; a signed permutation when the axis is one of the frame's own."""
    k = int(np.argmax(np.abs(axis)))
    if k == 2 and axis[2] == 1.0:
        return np.eye(3)
    # The next axis in cyclic order is never nearly parallel to `axis`, and x = y cross z keeps zeros exact.
    helper = np.eye(3)[(k + 2) % 3]
    x = np.cross(helper, axis)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])


def _snap(array: NDArray) -> NDArray:
    """`array` with entries within 1e-14 of 0, 1 or -1 made exact."""
    out = np.array(array)
    for value in (0.0, 1.0, -1.0):
        out[np.abs(out - value) < SNAP] = value
    out += 0.0  # no negative zeros
    out.flags.writeable = False
    return out


def _digestible(array: NDArray) -> bytes:
    """Bytes of an array that do not tell -0.0 from 0.0 nor one NaN from another."""
    array = np.asarray(array, "<f8") + 0.0
    return np.where(np.isnan(array), np.nan, array).tobytes()


def _check_vector(vector: ArrayLike, size: int, what: str) -> NDArray:
    try:
        array = np.array(vector, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"{what}: expected {size} numbers, got {vector!r:.80}") from None
    if array.shape != (size,) or not np.isfinite(array).all():
        raise ModelError(f"{what}: expected {size} finite numbers, got {vector!r:.80}")
    array.flags.writeable = False
    return array


def _refuse_doubles(names: Sequence[str], what: str) -> None:
    doubles = sorted({name for name in names if names.count(name) > 1})
    if doubles:
        raise ModelError(f"{what} names must differ, got {', '.join(doubles)} more than once")
