"""Arms from MJCF files: one serial chain of the bodies that MuJoCo compiles with everything that rides on it, or the
whole tree."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynWarning, ModelError, check_choice
from armdyn.model.arm import Arm, Link
from armdyn.model.joint import Drive, Friction, Joint, Limits
from armdyn.model.mechanism import Frame, Spring
from armdyn.model.mjcf.bodies import FREE, HINGE, TYPES, MjcfBodies, Site, site_pose, sites
from armdyn.model.mjcf.mount import mounting_plane
from armdyn.model.mjcf.source import compile_mjcf, import_mujoco
from armdyn.model.mjcf.ties import (
    Ties,
    acts,
    equality_name,
    is_fixed,
    relations,
    spring_ends,
    tendon_name,
    tie_joints,
)
from armdyn.model.urdf.inertia import BRANCHES, NOWHERE, held_positions, note_branches
from armdyn.model.urdf.tree import Chain, choose_chain, reject_hold, whole_tree
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.rotation import from_axis_angle
from armdyn.spatial.transform import inverse, transform


def read_mjcf(
    path: str | os.PathLike[str],
    base: str | None = None,
    tip: str | None = None,
    branches: str = "lump",
    hold: Mapping[str, float] = NOWHERE,
) -> Arm:
    """The arm between two bodies of an MJCF model, or the tree of them.

    Bodies without joints are part of the body that carries them. Damping is viscous friction, `frictionloss` Coulomb
    friction, `armature` the rotor's inertia seen at the joint, springs are springs to ground. A spatial tendon between
    two sites that has nothing but a stiffness is a spring between links (`Arm.springs`). Linear equalities of
    joints and of fixed tendons make joints follow others (`Joint.follows`), exactly. A body with a free joint is held
    where it is at first. What MuJoCo adds besides (tendons, actuators, gravity compensation, a medium) is told in
    `arm.notes`, and so are forces that the file disables.

    Parameters
    ----------
    path : str or path
    base : str
        Body whose frame is the arm's base; default the world.
    tip : str
        Body or site whose frame is the arm's tip. Default: the end of the moving joints; where they fork into short
        branches (a gripper), the body at the fork, with a warning.
    branches : "lump", "refuse" or "keep"
        What to do with moving branches off the chain that ride on it: freeze them and count them in; raise; or keep the
        whole tree below `base`. Without `tip`, a fork that is no hand gives the whole tree in the first case too.
    hold : mapping of str to float
        Positions at which joints off the chain are frozen, by name [rad or m]; others at their initial ones.

    Returns
    -------
    Arm

    Raises
    ------
    ModelError
        If joints of the arm are in a loop that is not linear: connect, weld, ball joints, spatial tendons, polynomials.
    """
    check_choice("load", "branches", branches, BRANCHES, ModelError)
    bodies = MjcfBodies(compile_mjcf(path))
    chain, site = chain_between(bodies, base, tip, branches)
    reject_hold(bodies.tree, chain, hold)
    if chain.guess:
        warnings.warn(f"{bodies.where}: {chain.guess}", ArmdynWarning, stacklevel=4)
    return _arm(bodies, chain, site, branches, hold)


def arm_like(bodies: MjcfBodies, arm: Arm) -> Arm:
    """The arm of a compiled model that has the joints of `arm`: its chain, or the whole tree."""
    chain, site = chain_between(bodies, arm.base_name, arm.tip_name)
    if {step.name for step in chain.joints if step.moves} >= set(arm.joint_names):
        return _arm(bodies, chain, site, "lump", held_positions(arm))
    return _arm(bodies, whole_tree(bodies.tree, arm.base_name), None, "keep")


def chain_between(
    bodies: MjcfBodies, base: str | None, tip: str | None, branches: str = "refuse"
) -> tuple[Chain, Site | None]:
    """The chain between two bodies or the whole tree, and the site of the tip where it is one."""
    site = _site(bodies, tip)
    return choose_chain(bodies.tree, base, site.body if site else tip, branches), site


def _site(bodies: MjcfBodies, name: str | None) -> Site | None:
    """The site of that name; None if there is none, or a body of that name."""
    return next((site for site in sites(bodies) if site.name == name), None)


def _arm(
    bodies: MjcfBodies, chain: Chain, site: Site | None, branches: str, hold: Mapping[str, float] = NOWHERE
) -> Arm:
    ties = tie_joints(bodies, chain, hold)
    moving = {step.name for step in chain.joints if step.moves} - ties.held.keys()
    notes = _notes(bodies, chain, ties)
    joints: list[Joint] = []
    links: list[Link] = []
    frames: list[Frame] = []
    places: dict[str, tuple[str | None, NDArray]] = {chain.base: (None, np.eye(4))}  # carrying link, pose in it
    for step in chain.joints:
        carrier, T = places[step.parent]
        if step.name in moving:
            T = T @ bodies.pose_before(step)
            before = links[-1].name if links else None
            parent = None if carrier == before else chain.base if carrier is None else carrier
            j = bodies.joint_names.index(step.name)
            joints.append(replace(_joint(bodies, j, T), parent=parent, **_follows(ties, step.name)))
            links.append(Link(step.child, _link_inertia(bodies, step.child, moving, branches, notes, ties.held)))
            places[step.child] = step.child, np.eye(4)
            continue
        T = T @ bodies.held_pose(step, ties.held)
        places[step.child] = carrier, T
        if carrier is not None and step.child != chain.tip:
            frames.append(Frame(step.child, carrier, T))
    tip_link, tool_pose = places[chain.tip]
    is_last = tip_link is None or tip_link == links[-1].name
    falls = not is_disabled(bodies.model, "gravity")
    gravity = _base_pose(bodies, chain.base)[:3, :3].T @ bodies.model.opt.gravity if falls else np.zeros(3)
    arm = Arm(
        tuple(joints),
        tuple(links),
        name=bytes(bodies.model.names).split(b"\0", 1)[0].decode("utf-8", "replace") or "arm",
        gravity=gravity,
        tool_pose=tool_pose @ site.T if site else tool_pose,
        mounting_plane=_mounting_plane(bodies, chain),
        base_name=chain.base,
        tip_name=site.name if site else chain.tip,
        notes=tuple(notes),
        tip_link=None if is_last else tip_link,
    )
    arm = replace(arm, springs=tuple(_springs(bodies, chain.base, places, ties)))
    return arm if arm.is_chain else replace(arm, frames=(*frames, *_site_frames(bodies, places, {arm.tip_name})))


def _springs(
    bodies: MjcfBodies, base: str, places: Mapping[str, tuple[str | None, NDArray]], ties: Ties
) -> Iterator[Spring]:
    """Spatial tendons that are springs between two sites of different links."""
    m = bodies.model
    for t in range(m.ntendon):
        ends = None if is_disabled(m, "spring") else spring_ends(m, t)
        if ends is None:
            continue
        links, points = [], []
        for site in ends:
            link, T = _place(bodies, bodies.names[int(m.site_bodyid[site])], places, ties)
            links.append(base if link is None else link)
            points.append(tuple((T @ site_pose(bodies, site))[:3, 3]))
        if links[0] != links[1]:
            k, rest = float(m.tendon_stiffness[t]), float(m.tendon_lengthspring[t, 0])
            yield Spring(tendon_name(m, t), (links[0], links[1]), (points[0], points[1]), k, rest)


def _place(
    bodies: MjcfBodies, body: str, places: Mapping[str, tuple[str | None, NDArray]], ties: Ties
) -> tuple[str | None, NDArray]:
    """The link that carries a body, None for the base, and the body's pose in it."""
    T = np.eye(4)
    while body not in places:
        if body not in bodies.tree.parent:
            cause = "a spring is fixed above the arm's base"
            raise ModelError(cause, where=bodies.where, remedy="choose the world as base=")
        step = bodies.tree.parent[body]
        T, body = bodies.held_pose(step, ties.held) @ T, step.parent
    carrier, pose = places[body]
    return carrier, pose @ T


def _follows(ties: Ties, joint: str) -> dict[str, Any]:
    """Return what a joint follows, as fields of `Joint`."""
    rule = ties.rules.get(joint)
    return {} if rule is None else {"follows": tuple(rule.ratios.items()), "offset": rule.offset}


def _site_frames(
    bodies: MjcfBodies, places: Mapping[str, tuple[str | None, NDArray]], without: Collection[str]
) -> Iterator[Frame]:
    """Sites that ride on links of a tree, as frames."""
    taken = {*places, *without}
    for site in sites(bodies):
        link, T = places.get(site.body, (None, np.eye(4)))
        if link is not None and site.name not in taken:
            yield Frame(site.name, link, T @ site.T)


def _joint(bodies: MjcfBodies, j: int, before: NDArray) -> Joint:
    """Joint `j` behind the frame `before`: MuJoCo turns about an anchor, and by the difference to `ref`."""
    m, where = bodies.model, f"{bodies.where}: joint '{bodies.joint_names[j]}'"
    kind = int(m.jnt_type[j])
    axis, anchor, ref = m.jnt_axis[j], m.jnt_pos[j], float(m.qpos0[m.jnt_qposadr[j]])
    back = transform(from_axis_angle(axis, -ref)) if kind == HINGE else transform(None, -ref * axis)
    at_anchor = transform(None, anchor)
    lower, upper = m.jnt_range[j] if m.jnt_limited[j] else (-np.inf, np.inf)
    return Joint(
        bodies.joint_names[j],
        TYPES[kind],
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
        raise ModelError(f"{where} has damping that is a polynomial of its velocity", expected="one number")
    viscous = float(m.dof_damping[dof]) + actuator_share(m, j)["damping"]
    sticks = not is_disabled(m, "frictionloss", "constraint")
    return Friction(
        viscous=0.0 if is_disabled(m, "damper") else viscous, coulomb=float(m.dof_frictionloss[dof]) if sticks else 0.0
    )


def _drive(m: Any, j: int, where: str) -> Drive:
    if hasattr(m, "jnt_stiffnesspoly") and np.any(m.jnt_stiffnesspoly[j]):
        raise ModelError(f"{where} has a spring that is a polynomial of its position", expected="one number")
    stiffness = 0.0 if is_disabled(m, "spring") else float(m.jnt_stiffness[j])
    rest = float(m.qpos_spring[m.jnt_qposadr[j]]) if stiffness else 0.0
    kp, kv = next(iter(_servos(m, j)), (0.0, 0.0))
    inertia = float(m.dof_armature[m.jnt_dofadr[j]]) + actuator_share(m, j)["armature"]
    return Drive(rotor_inertia=inertia, stiffness=stiffness, rest=rest, servo_stiffness=kp, servo_damping=kv)


def _servos(m: Any, j: int) -> list[tuple[float, float]]:
    """Stiffness and damping, seen at the joint, of the position servos that drive it."""
    gains = []
    for a in _actuators(m, j):
        kp, kv, gear = float(m.actuator_gainprm[a, 0]), -float(m.actuator_biasprm[a, 2]), float(m.actuator_gear[a, 0])
        if m.actuator_biasprm[a, 1] == -kp != 0 and gear == 1 and kv >= 0:
            gains.append((kp, kv))
    return gains


def _link_inertia(
    bodies: MjcfBodies, link: str, chain: set[str], branches: str, notes: list[str], held: Mapping[str, float]
) -> Inertia:
    riders = bodies.riders(link, chain, held)
    at = "the positions of hold, others at their initial positions" if held else "their initial positions"
    note_branches(riders, bodies.where, branches, at, notes)
    unknown = [body.link for body in riders if not bodies.inertia(body.link).is_known]
    if unknown:
        notes.append(f"link '{link}': the inertia of {', '.join(unknown)} comes from meshes that are absent")
        return Inertia.unknown()
    return sum((bodies.inertia(body.link).moved(body.T) for body in riders), Inertia.zero())


def _base_pose(bodies: MjcfBodies, base: str) -> NDArray:
    """Pose of the base in the world, all joints at their initial positions."""
    T = np.eye(4)
    for step in bodies.tree.path(bodies.tree.root, base):
        if step.child in bodies.names:
            T = T @ bodies.pose(bodies.names.index(step.child))
    return T


def carriers_of(bodies: MjcfBodies, chain: Chain) -> list[int]:
    """The base and the bodies on it before the first moving joint; none for a base between two joints of a body."""
    links = [chain.base, *(step.child for step in takewhile(lambda step: not step.moves, chain.joints))]
    return [bodies.names.index(link) for link in links] if chain.base in bodies.names else []


def _mounting_plane(bodies: MjcfBodies, chain: Chain) -> tuple[float, float, float, float] | None:
    """Return the plane that the arm stands on, in the axes of its base; see `mounting_plane`."""
    carriers = carriers_of(bodies, chain)
    plane = mounting_plane(bodies.model, carriers[0], carriers) if carriers else None
    if plane is None:
        return None
    x, y, z = (float(part) for part in plane.normal)
    return x, y, z, plane.offset


def _notes(bodies: MjcfBodies, chain: Chain, ties: Ties) -> list[str]:
    """Return notes on what MuJoCo adds to the arm and armdyn leaves out, and what is taken otherwise."""
    m = bodies.model
    moving = {step.name for step in chain.joints if step.moves} - ties.held.keys()
    taken = {one.name for one in relations(bodies) if not moving.isdisjoint(one.ratios)}
    notes = []
    for e in range(m.neq):
        name = f"equality '{equality_name(m, e)}'"
        notes.append(f"{name} is taken as exact" if name in taken else f"{name} is left out")
    for step in chain.joints:
        if step.name in ties.held and step.moves:
            notes.append(f"joint '{step.name}' follows joints off the arm and is held at {ties.held[step.name]:g}")
        j = bodies.joint_names.index(step.name) if step.name in bodies.joint_names else None
        if j is not None and m.jnt_type[j] == FREE:
            notes.append(f"body '{step.child}' is free in the file ('{step.name}') and is held: the base stands still")
    notes += _option_notes(m, [j for j, name in enumerate(bodies.joint_names) if name in moving])
    notes += _tendon_notes(m)
    for step in chain.joints:
        if step.child in bodies.names and m.body_gravcomp[bodies.names.index(step.child)]:
            notes.append(f"body '{step.child}': MuJoCo's gravity compensation is left out")
    return notes


def _tendon_notes(m: Any) -> list[str]:
    """Tendons whose own forces, or those of actuators over them, are left out."""
    kinds = {t: "fixed" if is_fixed(m, t) else "spatial" for t in range(m.ntendon) if spring_ends(m, t) is None}
    what = {t: "its forces are" if acts(m, t) else "forces of actuators over it are" for t in kinds}
    return [f"{kind} tendon '{tendon_name(m, t)}': {what[t]} left out" for t, kind in kinds.items()]


def _option_notes(m: Any, joints: list[int]) -> list[str]:
    """Return notes on what the file's options and actuators make of the dynamics of joints, and what is left out of
    it.
    """
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
