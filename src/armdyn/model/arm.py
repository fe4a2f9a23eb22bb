"""The arm: frozen data that every other part of armdyn reads."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import as_floats, finite_vector, read_only
from armdyn.errors import MissingInertiaError, ModelError, quote
from armdyn.frozen import Frozen, PartOf
from armdyn.model.joint import Joint
from armdyn.model.mechanism import Dependence, Frame, Spring, dependence, parent_indices
from armdyn.model.preprocessing import Preprocessing
from armdyn.names import HintedAttributes
from armdyn.precision import ROUND_OFF, SOLUTION_ERROR
from armdyn.presentation import present
from armdyn.spatial import inertia as inertial
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.rotation import rotation_from_z
from armdyn.spatial.transform import check_transform, exact, inverse

STANDARD_GRAVITY = (0.0, 0.0, -9.81)


# Data of formulas -> the attribute of an arm that has them.
LEVELS_TOGETHER = 6  # levels of the friction curve that kernels hold at once
TRACE_DATA = {
    "theta": "_known_theta",
    "gravity": "gravity",
    "friction": "_friction",
    "drive": "_drive",
    "geometry": "_geometry",
    "deflection": "deflection",
}


@dataclass(frozen=True, eq=False)
class Link(Frozen):
    """A rigid body; `inertia` is given in the link's frame.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> round(arm.links[0].mass, 3)  # kg
    10.0
    """

    name: str
    inertia: Inertia = field(default_factory=Inertia.unknown)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError(where="link", expected="a name", got=quote(self.name))
        if not isinstance(self.inertia, Inertia):
            raise ModelError(where=f"link '{self.name}'", expected="an Inertia", got=quote(self.inertia))

    @property
    def mass(self) -> float:
        """Mass [kg]; NaN if unknown."""
        return float(self.inertia.mass)

    com = PartOf[NDArray]("inertia.com", "Centre of mass (3,) in the link's frame [m].")


class Segment(NamedTuple):
    """One joint as the formulas see it: `before @ motion(z, q) @ after`, axis always z, constants exact."""

    kind: str
    R_before: NDArray
    p_before: NDArray
    R_after: NDArray
    p_after: NDArray


class Source(NamedTuple):
    """The file an arm was read from, and the chain or tree that was asked for."""

    path: Path
    base: str | None
    tip: str | None
    options: tuple[str, ...] = ()  # with which commands read the file as this arm was read
    branches: str = "lump"
    hold: tuple[tuple[str, float], ...] = ()  # positions of joints off the chain
    expanded: bytes | None = None  # the URDF that a xacro wrote
    xacro: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())  # its arguments, name:=value, and folders of packages


class Physical(NamedTuple):
    """Whether every link is physically consistent (then true in a condition), or which is not and why."""

    problems: Mapping[str, str]

    def __bool__(self) -> bool:
        return not self.problems

    def __str__(self) -> str:
        reasons = "; ".join(f"link '{name}': {why}" for name, why in self.problems.items())
        return reasons or "physically possible"


@dataclass(frozen=True, eq=False)
class Arm(HintedAttributes, Frozen):
    """An arm: joints, each carrying one link; a serial chain, or a tree of them.

    The tip of a chain is `base_pose @ T_1(q_1) @ ... @ T_n(q_n) @ tool_pose`; poses, the Jacobian and gravity are
    expressed in the frame in which `base_pose` is given. Joints with `parent` make a tree, joints with `follows` depend
    on others: N joints then have n coordinates q. Nothing is changed in place: the `with_...` methods return new arms.

    Examples
    --------
    >>> rows = [{"kind": "R", "a": 0.5}, {"kind": "R", "a": 0.4}]
    >>> arm = armdyn.Arm.from_dh(rows, name="two links")
    >>> arm.n, arm.joint_names
    (2, ('joint1', 'joint2'))
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
    # What it is mounted on, None where unknown: x, y, z of the normal into the arm's side, and the plane's distance
    # from the origin along it [m], in base axes.
    mounting_plane: tuple[float, float, float, float] | None = None
    source: Source | None = None
    frames: tuple[Frame, ...] = ()  # named frames beside the tip
    tip_link: str | None = None  # link that carries the tip, at `tool_pose` in its frame; None: the last
    preprocessing: Preprocessing = field(default_factory=Preprocessing)  # of the logs it was identified from
    springs: tuple[Spring, ...] = ()  # between links, and between links and the base

    def __post_init__(self) -> None:
        for name in ("name", "base_name", "tip_name"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name):
                raise ModelError(where="arm", expected=f"text as {name}", got=quote(getattr(self, name)))
        where = f"arm '{self.name}'"
        for name, kind in (("joints", Joint), ("links", Link), ("notes", str), ("frames", Frame), ("springs", Spring)):
            object.__setattr__(self, name, _tuple_of(kind, getattr(self, name), f"{where}: {name}"))
        if not self.joints:
            raise ModelError("the chain has no moving joint", where=where, expected="at least one")
        if len(self.links) != len(self.joints):
            expected = "one link per joint"
            raise ModelError(where=where, expected=expected, got=f"{len(self.links)} for {self.n_joints} joints")
        _reject_doubles(self.joint_names, f"{where}: joint")
        _reject_doubles(self.link_names, f"{where}: link")
        _ = self.parents, self._dependence  # check the tree, and which joints follow which
        self._check_frames(where)
        object.__setattr__(self, "gravity", finite_vector(self.gravity, 3, f"{where}: gravity"))
        for name in ("base_pose", "tool_pose"):
            object.__setattr__(self, name, check_transform(getattr(self, name), f"{where}: {name}"))
        if not isinstance(self.preprocessing, Preprocessing):
            raise ModelError(where=f"{where}: preprocessing", expected="a Preprocessing", got=quote(self.preprocessing))
        if self.mounting_plane is not None:
            object.__setattr__(self, "mounting_plane", _check_plane(self.mounting_plane, where))
        _ = self.coupling, self.deflection  # checks the drives' rows
        for joint in self.joints:
            if joint.follows and (joint.friction.load or joint.drive.coupling):
                cause = (
                    f"joint '{joint.name}' follows others and has no drive of its own: expected neither friction "
                    "that grows with the load nor a coupled drive"
                )
                raise ModelError(cause, where=where, names=(joint.name,))

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"fingerprint": self.fingerprint}

    def __setstate__(self, state: dict[str, Any]) -> None:
        stored = state.pop("fingerprint", None)
        super().__setstate__(state)
        if stored != self.fingerprint:
            cause = "a copy has other numbers than its fingerprint says"
            raise ModelError(cause, where=f"arm '{self.name}'", remedy="save it again")

    # -- what it is made of ---------------------------------------------------------------------------

    @cached_property
    def n(self) -> int:
        """Number of coordinates: of joints that follow no other."""
        return len(self._dependence.coordinates)

    @property
    def n_joints(self) -> int:
        """Number N of joints, those that follow others among them."""
        return len(self.joints)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, from the base."""
        return tuple(joint.name for joint in self.joints)

    @property
    def mass(self) -> float:
        """Mass of all links [kg]; NaN if one is unknown."""
        return float(sum(link.mass for link in self.links))

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the joints that follow no other, whose positions are q."""
        return tuple(joint.name for joint in self.coordinate_joints)

    coordinate_indices = PartOf[tuple[int, ...]](
        "_dependence.coordinates", "Indices of the joints that follow no other, in the order of q."
    )

    @property
    def coordinate_joints(self) -> tuple[Joint, ...]:
        """The joints that follow no other, in the order of q."""
        return tuple(self.joints[i] for i in self._dependence.coordinates)

    G = PartOf[NDArray | None](
        "_dependence.G",
        "Positions of all joints per coordinate (N, n): `G @ q + b`; None where all are coordinates.",
    )
    b = PartOf[NDArray | None](
        "_dependence.b", "Positions (N,) of all joints where coordinates are zero; None where all are coordinates."
    )

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """Index of the link that carries each joint, -1 for the base."""
        return parent_indices(self.joints, self.link_names, self.base_name, f"arm '{self.name}'")

    @cached_property
    def _dependence(self) -> Dependence:
        return dependence(self.joints, f"arm '{self.name}'")

    @cached_property
    def is_chain(self) -> bool:
        """Whether each joint hangs on the link before it and moves by itself, and the last link carries the tip."""
        serial = self.parents == tuple(range(-1, self.n_joints - 1))
        return serial and self.G is None and self.tip_index == self.n_joints - 1

    @property
    def kind_of_mechanism(self) -> str:
        """In words: a chain, a tree, or an arm of which joints follow others."""
        if self.G is not None:
            return f"a mechanism of {self.n_joints} joints of which {self.n_joints - self.n} follow others"
        return "a serial chain" if self.is_chain else f"a tree of {self.n_joints} joints"

    @property
    def tip_index(self) -> int:
        """Index of the link that carries the tip."""
        return self.n_joints - 1 if self.tip_link is None else self.link_names.index(self.tip_link)

    def _check_frames(self, where: str) -> None:
        """Check that frames, springs and the tip lie in links of the arm, under names of their own."""
        _reject_doubles([*self.link_names, *(frame.name for frame in self.frames)], f"{where}: link and frame")
        _reject_doubles([spring.name for spring in self.springs], f"{where}: spring")
        places = [(f"frame '{frame.name}'", frame.link, self.link_names) for frame in self.frames]
        known = (self.base_name, *self.link_names)
        places += [(f"spring '{spring.name}'", link, known) for spring in self.springs for link in spring.links]
        places += [] if self.tip_link is None else [("the tip", self.tip_link, self.link_names)]
        for what, link, links in places:
            if link not in links:
                cause = f"{what} is fixed in link '{link}', which is none of {', '.join(links)}"
                raise ModelError(cause, where=where, names=(what, link))

    def frame(self, name: str) -> tuple[int, NDArray]:
        """Return the index of the link that carries the frame `name`, and the frame's pose (4, 4) in that link.

        Names are those of `frames`, of the links, and `tip_name`.
        """
        for frame in self.frames:
            if frame.name == name:
                return self.link_names.index(frame.link), frame.pose
        if name == self.tip_name:
            return self.tip_index, self.tool_pose
        if name in self.link_names:
            return self.link_names.index(name), np.eye(4)
        known = [self.tip_name, *(frame.name for frame in self.frames), *self.link_names]
        cause = f"arm '{self.name}' has no frame {quote(name)}"
        raise ModelError(cause, remedy=f"frames: {', '.join(dict.fromkeys(known))}", names=(name,))

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of the links, from the base."""
        return tuple(link.name for link in self.links)

    @cached_property
    def theta(self) -> NDArray:
        """Inertial parameters (10 N,), ten per link in the order of `spatial.inertia`; NaN where unknown."""
        return read_only(np.concatenate([link.inertia.theta for link in self.links]))

    @cached_property
    def position_limits(self) -> tuple[NDArray, NDArray]:
        """Lower and upper positions (n,) of the coordinates [rad or m]; infinite where the source is silent."""
        limits = [joint.limits for joint in self.coordinate_joints]
        return read_only(np.array([x.lower for x in limits])), read_only(np.array([x.upper for x in limits]))

    @cached_property
    def effort_limits(self) -> NDArray:
        """Largest torques of the coordinates (n,) [N m or N]; infinite where the source is silent."""
        return read_only(np.array([joint.limits.effort for joint in self.coordinate_joints]))

    @cached_property
    def coupling(self) -> NDArray | None:
        """The coupling matrix (n, n), `coupling @ q` being the gears' outputs; None where each drives its joint."""
        rows = [joint.drive.coupling for joint in self.coordinate_joints]
        if not any(rows):
            return None
        matrix = np.eye(self.n)
        for i, row in enumerate(rows):
            if row and len(row) != self.n:
                raise ModelError(
                    f"arm '{self.name}', joint '{self.coordinate_names[i]}': expected a coupling row of {self.n} "
                    f"numbers, one per joint, got {len(row)}",
                    names=(self.coordinate_names[i],),
                )
            matrix[i] = row or matrix[i]
        if np.linalg.matrix_rank(matrix) < self.n:
            cause = "the coupling matrix of the drives is singular"
            raise ModelError(cause, where=f"arm '{self.name}'", expected="shafts that turn independently")
        return read_only(matrix)

    @cached_property
    def shafts(self) -> NDArray | None:
        """Turns of the shafts at which friction and rotors act (N, n), per coordinate; None where they are the joints.

        Of a coordinate that is the row of its drive in `coupling`, of a joint that follows others its row of `G`.
        """
        if self.G is None or self.coupling is None:
            return self.coupling if self.G is None else self.G
        rows = np.array(self.G)
        rows[list(self._dependence.coordinates)] = self.coupling
        return read_only(rows)

    @cached_property
    def deflection(self) -> NDArray:
        """Compliance of the joints of a chain under gravity (n, 4 n): rows of their drives, zero where these have
        none.
        """
        matrix = np.zeros((self.n, 4 * self.n))
        for i, joint in enumerate(self.joints):
            row = joint.drive.deflection
            if row and (len(row) != 4 * self.n or not self.is_chain):
                raise ModelError(
                    f"arm '{self.name}', joint '{joint.name}': expected a deflection row of {4 * self.n} numbers, "
                    f"four per link of a serial chain, got {len(row)}",
                    names=(joint.name,),
                )
            if row:
                matrix[i] = row
        return read_only(matrix)

    @cached_property
    def is_physical(self) -> Physical:
        """Whether every link is physically consistent, and if not, which is not and why."""
        problems = {link.name: link.inertia.problems() for link in self.links}
        return Physical({name: "; ".join(why) for name, why in problems.items() if why})

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """The joints, axes turned to z, structural zeros and ones exact; those on the base begin with its pose."""
        return tuple(
            _segment(joint, self.base_pose @ joint.before if parent < 0 else joint.before)
            for joint, parent in zip(self.joints, self.parents, strict=True)
        )

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
        if not self.is_chain:
            digest.update(repr((self.parents, self.tip_index)).encode())
            for matrix in (self.G, self.b):
                digest.update(b"" if matrix is None else _digestible(matrix))
        for frame in self.frames:
            digest.update(repr((frame.name, frame.link)).encode() + _digestible(frame.pose))
        return digest.hexdigest()

    @cached_property
    def fingerprint(self) -> str:
        """A stable digest of the whole arm: geometry, inertia, gravity, names, limits, friction, drives."""
        digest = hashlib.sha256(self.geometry_fingerprint.encode())
        digest.update(_digestible(self.theta) + _digestible(self.gravity))
        names = (self.name, self.base_name, self.tip_name, self.joint_names, self.link_names)
        digest.update(repr(names).encode())
        digest.update(repr([(j.limits, j.friction, j.drive) for j in self.joints]).encode())
        digest.update(repr(self.springs).encode() if self.springs else b"")
        return digest.hexdigest()

    def __repr__(self) -> str:
        kinds = "".join("R" if joint.kind == "revolute" else "P" for joint in self.joints)
        if self.is_chain:
            return f"<Arm '{self.name}': {self.n} joints {kinds}, {self.base_name} -> {self.tip_name}>"
        return f"<Arm '{self.name}': {self.kind_of_mechanism} {kinds}, {self.n} coordinates, base {self.base_name}>"

    def _repr_html_(self) -> str:
        return present(self, "html")

    # -- other arms made from it ----------------------------------------------------------------------

    def with_theta(self, theta: ArrayLike) -> Arm:
        """The same arm with other inertial parameters (10 N,): any finite vector, or NaN where unknown."""
        size, numbers = inertial.SIZE * self.n_joints, as_floats(theta)
        if numbers.shape != (size,):
            got = f"shape {numbers.shape}" if numbers.ndim else quote(theta)
            raise ModelError(where="with_theta", expected=f"{size} numbers for arm '{self.name}'", got=got)
        links = []
        for name, row in zip(self.link_names, numbers.reshape(self.n_joints, -1), strict=True):
            if np.isinf(row).any():
                expected = "finite numbers (NaN where unknown)"
                raise ModelError(where=f"with_theta: link '{name}'", expected=expected, got="infinity")
            links.append(Link(name, Inertia(row)))
        return dataclasses.replace(self, links=tuple(links))

    def with_gravity(self, gravity: ArrayLike) -> Arm:
        """The same arm under another gravity vector (3,), in base axes [m/s²]."""
        return dataclasses.replace(self, gravity=finite_vector(gravity, 3, "with_gravity"))

    def with_floor(self, z: float) -> Arm:
        """The same arm mounted on the plane of height z, in base axes [m]: floor, wall or ceiling, as gravity says."""
        return dataclasses.replace(self, mounting_plane=(0.0, 0.0, 1.0, z))

    def with_tool(self, tool_pose: ArrayLike) -> Arm:
        """The same arm with the tip elsewhere: its pose (4, 4) in the last link's frame."""
        return dataclasses.replace(self, tool_pose=check_transform(tool_pose, "with_tool"))

    def with_tip(self, frame: str) -> Arm:
        """The same arm with the tip at a named frame or link, as which the tip is called then."""
        index, pose = self.frame(frame)
        link = None if index == self.n_joints - 1 else self.link_names[index]
        others = tuple(one for one in self.frames if one.name != frame)
        return dataclasses.replace(self, tool_pose=pose, tip_link=link, tip_name=frame, frames=others)

    def with_payload(
        self, mass: float, com: ArrayLike = (0, 0, 0), inertia: ArrayLike | None = None, frame: str = "tip"
    ) -> Arm:
        """The same arm carrying one more body, by default at its tip.

        Parameters
        ----------
        mass : float
            [kg]
        com : array_like, shape (3,)
            Its centre of mass in `frame` [m].
        inertia : array_like, shape (3, 3)
            Tensor about its centre of mass, in the axes of `frame` [kg m²]; default a point mass.
        frame : str
            "tip", or "link" for the link that carries it, or the name of any frame or link.
        """
        index, pose = self.frame(frame) if frame not in ("tip", "link") else (self.tip_index, self.tool_pose)
        load = Inertia.from_com(mass, com, inertia)
        if why := load.problems():
            raise ModelError(f"the payload is not physically consistent: {why[0]}", where="with_payload")
        link = self.links[index]
        carried = Link(link.name, link.inertia + (load if frame == "link" else load.moved(pose)))
        where = " ".join(f"{x:g}" for x in load.com)
        note = f"Payload: {mass:g} kg with its centre at {where} m in the {frame} frame, part of link '{link.name}'."
        links = (*self.links[:index], carried, *self.links[index + 1 :])
        return dataclasses.replace(self, links=links, notes=(*self.notes, note))

    def with_joints(self, joints: Iterable[Joint]) -> Arm:
        """The same links on other joints (limits, friction, drives)."""
        return dataclasses.replace(self, joints=tuple(joints))

    def with_coupling(self, coupling: str | Iterable[str] | ArrayLike) -> Arm:
        """The same arm with drives that move several joints.

        Parameters
        ----------
        coupling : str, list of str, or array_like, shape (n, n)
            "5+6": the drive of joint 6 (of two, the one farther from the base) turns with q5 + q6; "6-5": with q6 - q5;
            joints by number or name; "none": each drive moves its joint alone. Or the whole matrix: `coupling @ q` are
            the turns of the shafts.
        """
        from armdyn.model.coupling import couple_drives

        return couple_drives(self, coupling)

    # -- descriptions ---------------------------------------------------------------------------------

    @classmethod
    def from_dh(
        cls,
        rows: Sequence[Mapping[str, Any]] | str | os.PathLike[str],
        convention: str | None = None,
        *,
        gravity: ArrayLike | None = None,
        name: str | None = None,
        base_pose: ArrayLike | None = None,
        tool_pose: ArrayLike | None = None,
        notes: Sequence[str] | None = None,
    ) -> Arm:
        """An arm from Denavit-Hartenberg rows, "standard" (default) or "modified".

        See `armdyn.model.dh.arm_from_dh`.
        """
        from armdyn.model.dh import arm_from_dh

        options = {"gravity": gravity, "name": name, "base_pose": base_pose, "tool_pose": tool_pose, "notes": notes}
        return arm_from_dh(rows, convention=convention, **options)

    @classmethod
    def from_vectors(
        cls,
        members: Sequence[Mapping[str, Any]],
        *,
        gravity: ArrayLike | None = None,
        name: str | None = None,
        base_pose: ArrayLike | None = None,
        tool_pose: ArrayLike | None = None,
        notes: Sequence[str] | None = None,
    ) -> Arm:
        """An arm from axes and vectors; see `armdyn.model.vectors.arm_from_vectors`."""
        from armdyn.model.vectors import arm_from_vectors

        options = {"gravity": gravity, "name": name, "base_pose": base_pose, "tool_pose": tool_pose, "notes": notes}
        return arm_from_vectors(members, **options)

    def save(self, path: str | os.PathLike[str], *, onto: str | os.PathLike[str] | None = None) -> None:
        """Write the arm to a `.urdf`, `.xml` (MJCF) or `.toml` file; see `armdyn.model.io.save`."""
        from armdyn.model.io import save

        save(self, path, onto=onto)

    def plainest(self, bound: Collection[str]) -> tuple[Arm, dict[str, NDArray]]:
        """Return a description from which code has the fewest operations, and what to add to inputs of formulas.

        `bound` are the data of the arm that a formula takes; positions of joints keep their zeros where friction and
        drives refer to them.
        """
        from armdyn.model.dh_frames import plainest

        other, zeros = plainest(self, moving_zeros=set(bound) <= {"theta", "gravity"})
        return other, {"q": zeros} if zeros.any() else {}

    # -- what traced functions ask of it (see `armdyn.trace.traced.Subject`) -----------------------------

    @property
    def trace_sizes(self) -> Mapping[str, int]:
        """Sizes that shapes may mention."""
        sizes = {"n": self.n, "joints": self.n_joints, "h": self._harmonics, "l": self._levels}
        return sizes | {"springs": len(self.springs)}

    @cached_property
    def trace_key(self) -> str:
        """Key of its kernels: geometry and, of the joints, what is built into the formulas."""
        key = self.geometry_fingerprint
        if self._harmonics:
            key += f" {self._harmonics} harmonics"
        if self._levels:
            key += f" {self._levels} levels"
        if self.coupling is not None:
            key += f" coupling {_digestible(self.coupling).hex()}"
        if any(joint.drive.balance for joint in self.joints):
            key += f" balance {[joint.drive.balance for joint in self.joints]}"
        if self.springs:
            key += f" springs {self.base_name!r} {self.link_names} {self.springs}"
        return key

    @cached_property
    def _harmonics(self) -> int:
        """The largest number of friction harmonics of a joint."""
        return max(len(joint.friction.harmonics) for joint in self.joints)

    @cached_property
    def _levels(self) -> int:
        """The largest number of levels of a joint's friction curve, rounded up, so that few kernels serve many."""
        return -(-max(len(joint.friction.levels) for joint in self.joints) // LEVELS_TOGETHER) * LEVELS_TOGETHER

    @cached_property
    def _friction(self) -> NDArray:
        return np.array([joint.friction.numbers(self._harmonics, self._levels) for joint in self.joints])

    @cached_property
    def _drive(self) -> NDArray:
        return np.array([joint.drive.numbers for joint in self.joints])

    @cached_property
    def _geometry(self) -> NDArray:
        """Errors of the joints' frames: none, for these are the arm's own."""
        return read_only(np.zeros((self.n, 6)))

    def trace_data(self, name: str) -> NDArray:
        """The data input `name` bound to this arm."""
        if name in ("lower", "upper"):
            return self.position_limits[name == "upper"]
        return getattr(self, TRACE_DATA[name])

    def trace_names(self, name: str) -> tuple[str, ...] | None:
        """Names of the entries of a data input, for printed formulas; None where a number says enough."""
        if name == "theta":
            return tuple(inertial.parameter_names(self.n_joints))
        if name == "geometry":
            return tuple(f"{axis}{i + 1}" for i in range(self.n) for axis in ("x", "y", "z", "rx", "ry", "rz"))
        return ("gx", "gy", "gz") if name == "gravity" else None

    @cached_property
    def _known_theta(self) -> NDArray:
        """`theta`, or an error that names what is missing."""
        lacking: dict[str, list[str]] = {}
        for link in self.links:
            unknown = [name for name, x in zip(inertial.NAMES, link.inertia.theta, strict=True) if np.isnan(x)]
            if unknown:
                what = "all ten" if len(unknown) == inertial.SIZE else ", ".join(unknown)
                lacking.setdefault(what, []).append(link.name)
        if lacking:
            parts = [
                f"{'link' if len(names) == 1 else 'each of links'} {', '.join(map(quote, names))} lacks {what}"
                for what, names in lacking.items()
            ]
            cause = f"dynamics needs every inertial parameter, but {'; '.join(parts)}"
            remedy = "identify them, or give them with with_theta"
            raise MissingInertiaError(
                cause,
                where=f"arm '{self.name}'",
                remedy=remedy,
                names=[name for names in lacking.values() for name in names],
            )
        return self.theta


def _segment(joint: Joint, before: NDArray) -> Segment:
    """The joint with its axis turned to z."""
    turn = np.eye(4)
    turn[:3, :3] = rotation_from_z(joint.axis)
    before, after = before @ turn, inverse(turn) @ joint.after
    constants = (before[:3, :3], before[:3, 3], after[:3, :3], after[:3, 3])
    return Segment(joint.kind, *(_snap(constant) for constant in constants))


def _snap(array: NDArray) -> NDArray:
    """`array`, frozen, with entries within round-off of 0, 1 or -1 made exact."""
    return read_only(exact(array, ROUND_OFF))


def require_arm(arm: Any) -> None:
    """Raise where something else stands in the place of an arm."""
    if not isinstance(arm, Arm):
        remedy = f"; armdyn.load({os.fspath(arm)!r}) makes one" if isinstance(arm, str | os.PathLike) else ""
        raise ModelError(expected="an Arm", got=f"{quote(arm)}{remedy}")


def _digestible(array: NDArray) -> bytes:
    """Bytes of an array that do not tell -0.0 from 0.0 nor one NaN from another."""
    array = np.asarray(array, "<f8") + 0.0
    return np.where(np.isnan(array), np.nan, array).tobytes()


def _check_plane(plane: Any, where: str) -> tuple[float, ...]:
    """A unit normal and an offset."""
    row = finite_vector(plane, 4, f"{where}: mounting_plane")
    length = float(np.linalg.norm(row[:3]))
    if length == 0:
        raise ModelError(where=f"{where}: mounting_plane", expected="a normal that is not zero")
    return tuple(float(x) for x in (row if abs(length - 1) < SOLUTION_ERROR else row / length))


def _tuple_of(kind: type, items: Any, what: str) -> tuple[Any, ...]:
    """The items as a tuple, each of them a `kind`."""
    values = tuple(items) if isinstance(items, Iterable) and not isinstance(items, str) else None
    if values is None or not all(isinstance(item, kind) for item in values):
        raise ModelError(where=what, expected=f"a sequence of {kind.__name__}", got=quote(items))
    return values


def _reject_doubles(names: Sequence[str], what: str) -> None:
    doubles = sorted(name for name, count in Counter(names).items() if count > 1)
    if doubles:
        raise ModelError(f"{what} names must differ, got {', '.join(doubles)[:80]} more than once")
