"""Arms from MJCF files: one serial chain of the bodies that MuJoCo compiles, with everything that rides on it."""

from __future__ import annotations

import os
import warnings
from collections import defaultdict
from itertools import takewhile
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynWarning, ModelError
from armdyn.model.arm import Arm, Link
from armdyn.model.joint import Drive, Friction, Joint, Limits
from armdyn.model.mjcf.mount import mounting_plane
from armdyn.model.mjcf.source import Source, compile_mjcf, import_mujoco
from armdyn.model.urdf.inertia import Rider, note_branches
from armdyn.model.urdf.tree import Chain, Tree, TreeJoint, choose_chain
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.rotation import from_axis_angle, from_quaternion
from armdyn.spatial.transform import inverse, transform

FREE, SLIDE, HINGE = 0, 2, 3  # of MuJoCo's kinds of joints
KINDS = {SLIDE: "prismatic", HINGE: "revolute"}


def read_mjcf(
    path: str | os.PathLike[str], base: str | None = None, tip: str | None = None, branches: str = "lump"
) -> Arm:
    """The arm between two bodies of an MJCF model.

    Bodies without joints are part of the body that carries them. Damping is viscous friction, `frictionloss` Coulomb
    friction, `armature` the rotor's inertia seen at the joint, springs are springs to ground. What MuJoCo adds besides
    (tendons, equalities, actuators, gravity compensation, a medium) is told in `arm.notes`, and so are forces that the
    file disables.

    Parameters
    ----------
    path : str or path
    base : str
        Body whose frame is the arm's base; default the world.
    tip : str
        Body or site whose frame is the arm's tip. Default: the end of the moving joints; where they fork into short
        branches (a gripper), the body at the fork, with a warning.
    branches : "lump" or "refuse"
        What to do with moving branches that ride on the chain: freeze them at their initial position and count them
        in, or raise.

    Returns
    -------
    Arm
    """
    bodies = Bodies(compile_mjcf(path))
    chain, site = chain_between(bodies, base, tip)
    if chain.guess:
        warnings.warn(f"{bodies.where}: {chain.guess}", ArmdynWarning, stacklevel=4)
    return _arm(bodies, chain, site, branches)


def arm_between(bodies: Bodies, base: str, tip: str) -> Arm:
    """The arm between two bodies of a compiled model, or up to a site."""
    return _arm(bodies, *chain_between(bodies, base, tip), "lump")


def chain_between(bodies: Bodies, base: str | None, tip: str | None) -> tuple[Chain, Site | None]:
    """The chain between two bodies, and the site of the tip where it is one."""
    site = _site(bodies, tip)
    return choose_chain(bodies.tree, base, bodies.names[site.body] if site else tip), site


class Bodies:
    """The bodies of a compiled model by name, their poses, inertias and joints."""

    def __init__(self, source: Source) -> None:
        self.source, self.model, self.where = source, source.model, source.where
        m = self.model
        self.names = [m.body(i).name or f"body{i}" for i in range(m.nbody)]
        self.joint_names = [m.joint(i).name or f"joint{i}" for i in range(m.njnt)]
        self.tree = self._tree()

    def joints(self, body: int) -> range:
        """Indices of a body's joints, from its parent outwards."""
        first = int(self.model.body_jntadr[body])
        return range(first, first + int(self.model.body_jntnum[body]))

    def pose(self, body: int) -> NDArray:
        """Pose (4, 4) of a body in its parent with its joints at their initial positions."""
        return _pose(self.model.body_pos[body], self.model.body_quat[body])

    def inertia(self, name: str) -> Inertia:
        """A body's own inertia in its frame; unknown where it hangs on meshes that are absent."""
        m, body = self.model, self.names.index(name)
        if name in self.source.without_inertia:
            return Inertia.unknown()
        R = from_quaternion(m.body_iquat[body])
        return Inertia.from_com(m.body_mass[body], m.body_ipos[body], R @ np.diag(m.body_inertia[body]) @ R.T)

    def link(self, joint: int) -> str:
        """Name of the link behind a joint: the body, or one without mass between two joints of a body."""
        body = int(self.model.jnt_bodyid[joint])
        last = self.joints(body)[-1] == joint
        return self.names[body] if last else f"{self.names[body]} behind {self.joint_names[joint]}"

    def riders(self, link: str, chain: set[str]) -> list[Rider]:
        """Bodies that move with a link, itself the first; none with a link between two joints of a body."""
        found = [Rider(link, np.eye(4), False)] if link in self.names else []
        for body in found:  # grows while it is walked
            index = self.names.index(body.link)
            for child in map(int, np.flatnonzero(self.model.body_parentid == index)):
                moves = [self.joint_names[j] for j in self.joints(child)]
                if child and not chain.intersection(moves):
                    found.append(Rider(self.names[child], body.T @ self.pose(child), body.frozen or bool(moves)))
        return found

    def _tree(self) -> Tree:
        children: dict[str, list[TreeJoint]] = defaultdict(list)
        parent, links = {}, dict.fromkeys(self.names, Element("body"))
        for body in range(1, self.model.nbody):
            above = self.names[int(self.model.body_parentid[body])]
            steps = [(self.joint_names[j], "moving", self.link(j)) for j in self.joints(body)]
            for name, kind, child in steps or [(f"fixed {self.names[body]}", "fixed", self.names[body])]:
                joint = TreeJoint(name, kind, above, child, Element("joint"))
                links[child], parent[child] = Element("body"), joint
                children[above].append(joint)
                above = child
        return Tree(self.where, self.names[0], links, parent, children)


class Site(NamedTuple):
    """A site that was chosen as the tip: its body, its pose there."""

    name: str
    body: int
    T: NDArray


def _site(bodies: Bodies, name: str | None) -> Site | None:
    """The site of that name; None if there is none, or a body of that name."""
    m = bodies.model
    for i in range(m.nsite):
        if m.site(i).name == name not in bodies.names:
            return Site(m.site(i).name, int(m.site_bodyid[i]), _pose(m.site_pos[i], m.site_quat[i]))
    return None


def _arm(bodies: Bodies, chain: Chain, site: Site | None, branches: str) -> Arm:
    notes = _notes(bodies, chain)
    moving = {joint.name for joint in chain.joints if joint.moves}
    joints, links, T = [], [], np.eye(4)
    for step in chain.joints:
        if not step.moves:
            T = T @ bodies.pose(bodies.names.index(step.child))
            continue
        j = bodies.joint_names.index(step.name)
        body = int(bodies.model.jnt_bodyid[j])
        if bodies.joints(body)[0] == j:
            T = T @ bodies.pose(body)
        joints.append(_joint(bodies, j, T))
        links.append(Link(step.child, _link_inertia(bodies, step.child, moving, branches, notes)))
        T = np.eye(4)
    falls = not is_disabled(bodies.model, "gravity")
    gravity = _base_pose(bodies, chain.base)[:3, :3].T @ bodies.model.opt.gravity if falls else np.zeros(3)
    return Arm(
        tuple(joints),
        tuple(links),
        name=bytes(bodies.model.names).split(b"\0", 1)[0].decode("utf-8", "replace") or "arm",
        gravity=gravity,
        tool_pose=T @ site.T if site else T,
        mounting_plane=_mounting_plane(bodies, chain),
        base_name=chain.base,
        tip_name=site.name if site else chain.tip,
        notes=tuple(notes),
    )


def _joint(bodies: Bodies, j: int, before: NDArray) -> Joint:
    """Joint `j` behind the frame `before`: MuJoCo turns about an anchor, and by the difference to `ref`."""
    m, where = bodies.model, f"{bodies.where}: joint '{bodies.joint_names[j]}'"
    kind = int(m.jnt_type[j])
    if kind not in KINDS:
        word = "free" if kind == FREE else "ball"
        raise ModelError(f"{where} is a {word} joint with several freedoms; expected hinge or slide (choose base=)")
    axis, anchor, ref = m.jnt_axis[j], m.jnt_pos[j], float(m.qpos0[m.jnt_qposadr[j]])
    back = transform(from_axis_angle(axis, -ref)) if kind == HINGE else transform(None, -ref * axis)
    at_anchor = transform(None, anchor)
    lower, upper = m.jnt_range[j] if m.jnt_limited[j] else (-np.inf, np.inf)
    return Joint(
        bodies.joint_names[j],
        KINDS[kind],
        axis,
        before @ at_anchor @ back,
        inverse(at_anchor),
        limits=Limits(lower, upper, effort=_effort(m, j)),
        friction=_friction(m, j, where),
        drive=_drive(m, j, where),
    )


def _effort(m: Any, j: int) -> float:
    """The largest torque of a joint: its own limit, or what its actuators can give."""
    if m.jnt_actfrclimited[j]:
        return float(np.abs(m.jnt_actfrcrange[j]).max())
    effort = 0.0
    for a in _actuators(m, j):
        gear = abs(float(m.actuator_gear[a, 0]))
        if m.actuator_forcelimited[a]:
            effort += gear * float(np.abs(m.actuator_forcerange[a]).max())
        elif m.actuator_ctrllimited[a] and not m.actuator_biasprm[a].any():
            effort += gear * abs(float(m.actuator_gainprm[a, 0])) * float(np.abs(m.actuator_ctrlrange[a]).max())
        else:
            return np.inf
    return effort or np.inf


def _actuators(m: Any, j: int) -> list[int]:
    joint = int(import_mujoco().mjtTrn.mjTRN_JOINT)
    return [a for a in range(m.nu) if m.actuator_trntype[a] == joint and m.actuator_trnid[a, 0] == j]


def is_disabled(m: Any, *forces: str) -> bool:
    """Whether the file disables one of these forces: `<flag gravity="disable"/>` and the like."""
    bits = import_mujoco().mjtDisableBit
    return any(m.opt.disableflags & int(getattr(bits, f"mjDSBL_{force.upper()}")) for force in forces)


def actuator_share(m: Any, j: int) -> dict[str, float]:
    """Damping and armature that a joint's actuators add to its own: at their shafts, so by the gear squared."""
    shares = {"damping": 0.0, "armature": 0.0}
    for a in _actuators(m, j):
        for name in shares:
            if hasattr(m, f"actuator_{name}"):  # not in older versions of MuJoCo
                shares[name] += float(m.actuator_gear[a, 0]) ** 2 * float(getattr(m, f"actuator_{name}")[a])
    return shares


def _friction(m: Any, j: int, where: str) -> Friction:
    dof = m.jnt_dofadr[j]
    if hasattr(m, "dof_dampingpoly") and np.any(m.dof_dampingpoly[dof]):
        raise ModelError(f"{where} has damping that is a polynomial of its velocity; expected one number")
    viscous = float(m.dof_damping[dof]) + actuator_share(m, j)["damping"]
    sticks = not is_disabled(m, "frictionloss", "constraint")
    return Friction(
        viscous=0.0 if is_disabled(m, "damper") else viscous, coulomb=float(m.dof_frictionloss[dof]) if sticks else 0.0
    )


def _drive(m: Any, j: int, where: str) -> Drive:
    if hasattr(m, "jnt_stiffnesspoly") and np.any(m.jnt_stiffnesspoly[j]):
        raise ModelError(f"{where} has a spring that is a polynomial of its position; expected one number")
    stiffness = 0.0 if is_disabled(m, "spring") else float(m.jnt_stiffness[j])
    rest = float(m.qpos_spring[m.jnt_qposadr[j]]) if stiffness else 0.0
    kp, kv = next(iter(_servos(m, j)), (0.0, 0.0))
    inertia = float(m.dof_armature[m.jnt_dofadr[j]]) + actuator_share(m, j)["armature"]
    return Drive(rotor_inertia=inertia, stiffness=stiffness, rest=rest, servo_stiffness=kp, servo_damping=kv)


def _servos(m: Any, j: int) -> list[tuple[float, float]]:
    """Stiffness and damping, seen at the joint, of the position servos that drive it."""
    found = []
    for a in _actuators(m, j):
        kp, kv, gear = float(m.actuator_gainprm[a, 0]), -float(m.actuator_biasprm[a, 2]), float(m.actuator_gear[a, 0])
        if m.actuator_biasprm[a, 1] == -kp != 0 and gear == 1 and kv >= 0:
            found.append((kp, kv))
    return found


def _link_inertia(bodies: Bodies, link: str, chain: set[str], branches: str, notes: list[str]) -> Inertia:
    riders = bodies.riders(link, chain)
    note_branches(riders, bodies.where, branches, "their initial positions", notes)
    unknown = [body.link for body in riders if not bodies.inertia(body.link).is_known]
    if unknown:
        notes.append(f"link '{link}': the inertia of {', '.join(unknown)} comes from meshes that are absent")
        return Inertia.unknown()
    return sum((bodies.inertia(body.link).moved(body.T) for body in riders), Inertia.zero())


def _base_pose(bodies: Bodies, base: str) -> NDArray:
    """Pose of the base in the world, all joints at their initial positions."""
    T = np.eye(4)
    for step in bodies.tree.path(bodies.tree.root, base):
        if step.child in bodies.names:
            T = T @ bodies.pose(bodies.names.index(step.child))
    return T


def carriers_of(bodies: Bodies, chain: Chain) -> list[int]:
    """The base and the bodies on it before the first moving joint; none for a base between two joints of a body."""
    links = [chain.base, *(step.child for step in takewhile(lambda step: not step.moves, chain.joints))]
    return [bodies.names.index(link) for link in links] if chain.base in bodies.names else []


def _mounting_plane(bodies: Bodies, chain: Chain) -> tuple[float, float, float, float] | None:
    """What the arm stands on, in the axes of its base; see `mounting_plane`."""
    carriers = carriers_of(bodies, chain)
    found = mounting_plane(bodies.model, carriers[0], carriers) if carriers else None
    if found is None:
        return None
    x, y, z = (float(part) for part in found.normal)
    return x, y, z, found.offset


def _notes(bodies: Bodies, chain: Chain) -> list[str]:
    """What MuJoCo adds to the chain and the arm leaves out; what ties joints of the chain is rejected."""
    m = bodies.model
    moving = {joint.name for joint in chain.joints if joint.moves}
    notes = []
    mujoco = import_mujoco()
    for e in range(m.neq):
        name = m.equality(e).name or f"equality{e}"
        if m.eq_type[e] == mujoco.mjtEq.mjEQ_JOINT:
            tied = {bodies.joint_names[k] for k in (int(m.eq_obj1id[e]), int(m.eq_obj2id[e])) if k >= 0}
            if tied & moving:
                raise ModelError(
                    f"{bodies.where}: equality '{name}' ties {', '.join(sorted(tied))} of the chain; a serial arm "
                    "moves its joints freely (choose another tip=, or remove it)"
                )
        notes.append(f"equality '{name}' is left out")
    notes += _option_notes(m, [j for j, name in enumerate(bodies.joint_names) if name in moving])
    if m.ntendon:
        notes.append(f"{m.ntendon} tendons are left out")
    for step in chain.joints:
        if step.child in bodies.names and m.body_gravcomp[bodies.names.index(step.child)]:
            notes.append(f"body '{step.child}': MuJoCo's gravity compensation is left out")
    for j, name in enumerate(bodies.joint_names):
        for kp, kv in _servos(m, j) if name in moving else ():
            notes.append(f"joint '{name}' has a position servo: stiffness {kp:g}, damping {kv:g}")
    return notes


def _option_notes(m: Any, joints: list[int]) -> list[str]:
    """What the file's options and actuators make of the dynamics of joints, and what is left out of it."""
    forces = ("gravity", "spring", "damper", "frictionloss", "constraint")
    notes = [f'<flag {force}="disable"/>: the arm has none' for force in forces[:-1] if is_disabled(m, force)]
    if is_disabled(m, "constraint"):
        notes.append('<flag constraint="disable"/>: the arm has no frictionloss')
    if m.opt.density or m.opt.viscosity:
        medium = f"density {m.opt.density:g}, viscosity {m.opt.viscosity:g}, wind {m.opt.wind.tolist()}"
        notes.append(f"forces of the medium are left out ({medium})")
    for j in joints:
        name, actuators = m.joint(j).name or f"joint{j}", _actuators(m, j)
        for what, share in actuator_share(m, j).items():
            if share:
                notes.append(f"joint '{name}': its actuators add {share:g} to its {what}")
        if hasattr(m, "actuator_dampingpoly") and m.actuator_dampingpoly[actuators].any():
            notes.append(f"joint '{name}': damping of its actuators that is a polynomial of velocity is left out")
        if hasattr(m, "jnt_springyield") and np.any(m.jnt_springyield[j]):
            notes.append(f"joint '{name}': the yield of its spring is left out")
    return notes


def _pose(position: NDArray, quaternion: NDArray) -> NDArray:
    return transform(from_quaternion(quaternion), position)
