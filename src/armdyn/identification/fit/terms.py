"""Joint terms that identification may add to the rigid arm: friction and drives, linear in one number each.

The columns are those of `friction_torque` and `joint_columns` for a unit parameter, so that a fitted arm gives
exactly the torque that was fitted. All are terms of drives' shafts: where drives are coupled, motion and torques here
are those of the shafts, so that each shaft has terms of its own alone (see `dynamics.shafts`).
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.friction import friction_torque
from armdyn.dynamics.full import joint_torque
from armdyn.dynamics.shafts import at_shafts, joint_torques, shaft_torques
from armdyn.identification.motion.differentiate import Motion
from armdyn.identification.motion.track import Track
from armdyn.model.arm import Arm
from armdyn.model.joint import DISSIPATIVE, FRICTION_NAMES, Friction


class Term(NamedTuple):
    """One kind of joint term; a joint has at most one of each kind."""

    kind: str
    symbol: str
    positive: bool = False  # whether only positive values are physical
    speed: float = 0.0  # Stribeck velocity as a fraction of the joint's top speed
    most: float = np.inf  # larger values are not believed
    order: int = 0  # waves a turn of Coulomb friction that depends on position
    travel: float = 0.0  # over which Coulomb friction builds up, as a fraction of the joint's span


# Plain friction, which every joint has.
ALWAYS = (Term("viscous", "Fv", True), Term("coulomb", "Fc", True), Term("offset", "F0"))
# Offered to every joint; the evidence shrinks those that the data do not ask for.
OFFERED = (
    Term("rotor", "Ia", True),
    # Gears lose up to a third of the torque. More means that friction is itself most of the measured torque.
    Term("load", "Fl", True, most=0.5),
    # From half the top speed on friction levels off: above or below what it is at rest.
    Term("stribeck", "Fs", speed=0.5),
)
# Chosen by error on held-out blocks.
OPTIONAL = (
    *(Term("coulomb", "Fc", True, travel=travel) for travel in (1e-4, 3e-4, 1e-3, 3e-3)),
    *(Term("stribeck", "Fs", speed=speed) for speed in (0.03, 0.06, 0.12, 0.25)),
    Term("asymmetry", "Fa"),
    Term("viscous_asymmetry", "Fw"),
    # Eccentric gears and bearings; more waves pass faster than what the low-pass leaves.
    *(Term("cosine", "Fx", order=order) for order in (1, 2, 3)),
    *(Term("sine", "Fy", order=order) for order in (1, 2, 3)),
    Term("temperature", "Ft"),
    Term("spring", "Ks", True),
    # Hoses, cables, gas springs and hydraulics, whose levers change with position; more waves would be guesses.
    *(Term("balance_cosine", f"B{order}c", order=order) for order in (1, 2)),
    *(Term("balance_sine", f"B{order}s", order=order) for order in (1, 2)),
)
TERMS = (*ALWAYS, *OFFERED, *OPTIONAL)
BALANCE = tuple(k for k, term in enumerate(TERMS) if term.kind.startswith("balance"))
# (terms,) those that depend on the speed within which velocities do not tell directions; loads are filled in apart.
DIRECTED = np.array(
    [
        term.kind in ("coulomb", "stribeck", "asymmetry", "viscous_asymmetry", "cosine", "sine") and not term.travel
        for term in TERMS
    ]
)
# Positions of terms that no joint is certain to be without: offsets and Coulomb friction, however it builds up.
DRY = tuple(k for k, term in enumerate(TERMS) if term.kind in ("coulomb", "offset"))
COULOMB, OFFSET, LOAD, ROTOR = (
    [term.kind for term in TERMS].index(kind) for kind in ("coulomb", "offset", "load", "rotor")
)


STILL_SPEED = 1e-7  # rad/s or m/s


class Reach(NamedTuple):
    """What the joints do in the logs, to which some terms relate."""

    top: NDArray  # (n,) top speeds
    span: NDArray  # (n,) ranges of position
    balanced: NDArray  # (n,) of bool: joints that have balancers
    torque: NDArray  # (n,) rms torques


def term_columns(
    arm: Arm, motion: Motion | Track, reach: Reach, warmth: NDArray | None = None, width: float = 0.0,
    wanted: NDArray | None = None,
) -> NDArray:  # fmt: skip
    """Torque (N, terms, n) of every shaft for a unit parameter of each of `TERMS`, but zero for loads.

    Springs and balancers act on joints: those that share drives have none.

    `warmth` (N, n) are temperatures of the joints above the one at which their friction holds, where they are logged;
    `width` is the speed within which velocities do not tell directions, `wanted` (terms,) which terms are not left out.
    """
    columns = np.zeros((len(motion.q), len(TERMS), motion.q.shape[1]))
    sharing, arm, motion = sharing_joints(arm), single_drives(arm), shaft_motion(arm, motion)
    asked = [k for k in range(len(TERMS)) if wanted is None or wanted[k]]
    if gradual := [k for k in asked if TERMS[k].travel]:
        shares = presliding_share(motion.q, np.stack([travels(TERMS[k], reach) for k in gradual]))
        columns[:, gradual] = shares.swapaxes(0, 1)
    direction: NDArray | None = None
    revolute = np.array([joint.kind == "revolute" for joint in arm.joints])
    for k, term in ((k, TERMS[k]) for k in asked if k not in gradual and TERMS[k].kind != "load"):
        if term.kind == "temperature":
            # The linear parameter is viscous * temperature.
            if warmth is not None:
                columns[:, k] = warmth * motion.qd
        elif term.kind == "rotor":
            columns[:, k] = motion.qdd
        elif term.kind == "spring":
            columns[:, k] = motion.q
        elif k in BALANCE:
            columns[:, k] = _turns(motion.q, term, revolute)
        elif term.order:
            seen = term.order * reach.span >= 2 * np.pi  # a whole wave
            if not seen.any():
                continue
            if direction is None:
                rubs = _unit(arm, TERMS[COULOMB], reach)
                direction = friction_torque(arm, motion.q, motion.qd, width=width, friction=rubs)
            columns[:, k] = _turns(motion.q, term, seen) * direction
        else:
            columns[:, k] = friction_torque(arm, motion.q, motion.qd, width=width, friction=_unit(arm, term, reach))
    # Velocities of joints that stand still are round-off, and their signs are too.
    rubbing = [k for k, term in enumerate(TERMS) if k not in BALANCE and term.kind not in ("offset", "spring")]
    columns[:, np.array(rubbing)[:, None], np.flatnonzero(reach.top < STILL_SPEED)] = 0.0
    at_joints = [k for k, term in enumerate(TERMS) if k in BALANCE or term.kind == "spring"]
    columns[:, np.array(at_joints)[:, None], sharing] = 0.0
    return columns


def sharing_joints(arm: Arm) -> NDArray:
    """Numbers of the joints that move with a drive of another, or whose drive moves another."""
    apart = np.zeros((arm.n, arm.n), bool) if arm.coupling is None else arm.coupling != np.eye(arm.n)
    return np.flatnonzero(apart.any(axis=0) | apart.any(axis=1))


def single_drives(arm: Arm) -> Arm:
    """The arm as if each drive moved its joint alone."""
    return arm if arm.coupling is None else arm.with_coupling([])


AlongMotion = TypeVar("AlongMotion", bound=Motion | Track)


def shaft_motion(arm: Arm, motion: AlongMotion) -> AlongMotion:
    """The motion of the shafts."""
    if arm.coupling is None:
        return motion
    q, qd, qdd = (at_shafts(arm, x) for x in (motion.q, motion.qd, motion.qdd))
    return motion._replace(q=q, qd=qd, qdd=qdd)  # type: ignore[return-value]


def _turns(q: NDArray, term: Term, joints: NDArray) -> NDArray:
    """The term's wave with position (N, n) of some joints, zero for the others."""
    wave = np.cos if term.kind.endswith("cosine") else np.sin
    waves = np.zeros_like(q)
    waves[:, joints] = wave(term.order * q[:, joints])
    return waves


def load_column(arm: Arm, motion: Motion | Track, torque: NDArray, width: float = 0.0) -> NDArray:
    """Friction (N, n) of the shafts for a unit of load-dependence under torques (N, n) of the joints."""
    load, arm, motion = shaft_torques(arm, torque), single_drives(arm), shaft_motion(arm, motion)
    return friction_torque(arm, motion.q, motion.qd, load=load, width=width, friction=_unit(arm, TERMS[LOAD], None))


def _unit(arm: Arm, term: Term, reach: Reach | None) -> NDArray:
    """Friction parameters (n, ...) that are zero but for a unit of this term."""
    numbers = np.zeros_like(arm.trace_data("friction"))
    numbers[:, FRICTION_NAMES.index("stribeck")] = 1.0
    if reach is not None and term.kind == "stribeck":
        # level = coulomb + (static - coulomb) exp(...): the linear parameter is the difference.
        numbers[:, FRICTION_NAMES.index("static")] = 1.0
        numbers[:, FRICTION_NAMES.index("stribeck")] = stribeck_speed(term, reach)
    else:
        numbers[:, FRICTION_NAMES.index(term.kind)] = 1.0
    if term.kind == "coulomb":
        numbers[:, FRICTION_NAMES.index("static")] = 1.0
    return numbers


def stribeck_speed(term: Term, reach: Reach) -> NDArray:
    """Stribeck velocities (n,) [rad/s or m/s]."""
    return np.maximum(term.speed * reach.top, 1e-6)


def travels(term: Term, reach: Reach) -> NDArray:
    """Distances (n,) over which Coulomb friction builds up [rad or m]."""
    return np.maximum(term.travel * reach.span, 1e-9)


def with_terms(arm: Arm, values: NDArray, reach: Reach) -> Arm:
    """The arm with joint terms (n, terms) of these values, and of its drives the gears alone."""
    joints = []
    for i, joint in enumerate(arm.joints):
        friction = _friction(values[i], i, reach)
        if not (friction.viscous or friction.coulomb):
            # The joint stood still: its friction is what it was.
            friction = dataclasses.replace(joint.friction, offset=friction.offset)
        value = {term.kind: float(x) for term, x in zip(TERMS, values[i], strict=True)}
        drive = dataclasses.replace(
            joint.drive,
            rotor_inertia=value["rotor"] / joint.drive.gear_ratio**2,
            damping=0.0,
            stiffness=value["spring"],
            rest=0.0,
            balance=_balance(values[i]),
        )
        joints.append(dataclasses.replace(joint, friction=friction, drive=drive))
    return arm.with_joints(joints)


def _balance(values: NDArray) -> tuple[tuple[float, float, float], ...]:
    """Rows (order, cosine, sine) of a balancer."""
    rows: dict[int, list[float]] = {}
    for k in BALANCE:
        if values[k]:
            rows.setdefault(TERMS[k].order, [0.0, 0.0])[TERMS[k].kind == "balance_sine"] = float(values[k])
    return tuple((float(order), *pair) for order, pair in rows.items())  # type: ignore[misc]


def _friction(values: NDArray, joint: int, reach: Reach) -> Friction:
    found: dict[str, Any] = {}
    dip, waves = 0.0, []
    for k, (term, x) in enumerate(zip(TERMS, values.tolist(), strict=True)):
        if not x or k in BALANCE or term.kind in ("rotor", "spring"):
            continue
        if term.order:
            waves.append((term.order, x, 0.0) if term.kind == "cosine" else (term.order, 0.0, x))
        elif term.kind == "stribeck":
            dip, found["stribeck"] = x, float(stribeck_speed(term, reach)[joint])
        else:
            found[term.kind] = x
        if term.travel:
            found["bristle_stiffness"] = x / float(travels(term, reach)[joint])
    if "temperature" in found:
        found["temperature"] /= found.get("viscous", 0.0) or np.inf
    if dip:
        found["static"] = found.get("coulomb", 0.0) + dip
    found |= {name: max(found[name], 0.0) for name in DISSIPATIVE if name in found}
    return Friction(**found, harmonics=tuple(waves))


def whole_torque(arm: Arm, motion: Motion | Track, warmth: NDArray | None, width: float = 0.0) -> NDArray:
    """Torque (N, n) that the drives give: links, friction, bristles, rotors, springs."""
    tau = joint_torque(arm, motion.q, motion.qd, motion.qdd, temperature=warmth, width=width)
    return tau + presliding_torque(arm, motion.q, motion.qd, width)


def presliding_share(q: NDArray, travel: NDArray) -> NDArray:
    """Share (N, n) of Coulomb friction along a motion, between -1 and 1; its sign lags that of the velocity.

    After a reversal Coulomb friction builds up over a short travel (Dahl 1968). It is LuGre's model (in
    `dynamics.friction`) without damping and Stribeck effect, with bristles of stiffness coulomb / travel. As it depends
    on the path alone, it is known in closed form along a measured motion.
    From one reversal to the next, at distance s from the reversal, it is d - (d - z0) exp(-s / travel) with d
    the direction. At the start the joint is taken to slide already.

    Parameters
    ----------
    q : ndarray, shape (N, n)
        Positions [rad or m].
    travel : ndarray, shape (..., n)
        Over which 63 % build up [rad or m]; the result is (..., N, n).
    """
    share = np.empty((q.shape[1], *travel.shape[:-1], len(q)))
    for joint, path in enumerate(np.ascontiguousarray(q.T)):
        steps = np.sign(np.diff(path, append=path[-1]))
        moving = np.flatnonzero(steps)
        if not len(moving):
            share[joint] = 0.0
            continue
        # A pause continues the direction before it.
        directions = steps[np.maximum.accumulate(np.where(steps != 0, np.arange(len(steps)), moving[0]))]
        starts = np.flatnonzero(np.diff(directions, prepend=-directions[0]))
        z = directions[0]
        for first, last in zip(starts, [*starts[1:], len(path) - 1], strict=True):
            d = directions[first]
            run = slice(first, last + 1)
            gone = np.abs(path[run] - path[first]) / travel[..., joint, None]
            share[joint, ..., run] = d - (d - z) * np.exp(-gone)
            z = share[joint, ..., last, None]
    return np.moveaxis(share, 0, -1)


def presliding_torque(arm: Arm, q: NDArray, qd: NDArray, width: float = 0.0) -> NDArray:
    """What bristles take from Coulomb friction along a motion (N, n): zero for drives without them."""
    missing, q, qd = np.zeros_like(q), at_shafts(arm, q), at_shafts(arm, qd)
    for j, joint in enumerate(arm.joints):
        friction = joint.friction
        if friction.bristle_stiffness > 0 and friction.coulomb > 0:
            travel = np.array([friction.coulomb / friction.bristle_stiffness])
            share = presliding_share(q[:, j : j + 1], travel)[:, 0]
            direction = np.tanh(qd[:, j] / width) if width else np.sign(qd[:, j])
            missing[:, j] = friction.coulomb * (share - direction)
    return np.asarray(joint_torques(arm, missing))
