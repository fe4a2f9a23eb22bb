"""Joint terms that identification may add to the rigid arm: friction and drives, linear in one number each.

Every joint has the same dictionary of columns; the evidence weighs each of them. They are those of `friction_torque`
for a unit parameter, so that a fitted arm gives exactly the torque that was fitted. All are terms of drives' shafts:
where drives are coupled, motion and torques here are those of the shafts, so that each shaft has terms of its own alone
(see `dynamics.shafts`).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.full import joint_torque
from armdyn.dynamics.shafts import at_drives, at_shafts, joint_torques, measured_torques, shaft_positions, shaft_torques
from armdyn.identification.motion.differentiate import SmoothedMotion
from armdyn.identification.motion.track import Track
from armdyn.model.arm import Arm
from armdyn.model.joint import Friction, plain_pair
from armdyn.precision import NEGLIGIBLE


class Term(NamedTuple):
    """One kind of joint term, linear in one number."""

    kind: str
    symbol: str
    positive: bool = False  # whether only positive values are physical
    width: float = 0.0  # of a level of the friction curve [rad/s or m/s]
    share: float = 0.0  # the same as a share of the joint's top speed
    travel: float = 0.0  # over which Coulomb friction builds up, as a share of the joint's span
    order: int = 0  # waves a turn of a torque that depends on position


# Plain friction, which every joint has.
ALWAYS = (Term("viscous", "Fv"), Term("coulomb", "Fc", width=0.002), Term("offset", "F0"))
TERMS = (
    *ALWAYS,
    Term("rotor", "Ia", True),
    Term("load", "Fl", True),
    # The friction curve: directions as smoothed velocities tell them, and levels at which it bends.
    *(Term("level", "Fc", width=width) for width in (0.005, 0.02)),
    *(Term("level", "Fs", share=share) for share in (0.06, 0.25, 1.0)),
    *(Term("bristle", "Fb", travel=travel) for travel in (1e-4, 1e-3)),
    Term("asymmetry", "Fa"),
    Term("viscous_asymmetry", "Fw"),
    Term("temperature", "Ft"),
    Term("spring", "Ks", True),
    # Hoses, cables, gas springs and hydraulics, whose levers change with position.
    *(Term("balance_cosine", f"B{order}c", order=order) for order in (1, 2)),
    *(Term("balance_sine", f"B{order}s", order=order) for order in (1, 2)),
)
DICTIONARY = ("load", "level", "bristle", "asymmetry", "viscous_asymmetry", "temperature")  # kinds of all joints
BALANCE = tuple(k for k, term in enumerate(TERMS) if term.order)
POSITION = tuple(k for k in BALANCE if TERMS[k].order == 1)
LEVELS = tuple(k for k, term in enumerate(TERMS) if term.width or term.share)
BRISTLES = tuple(k for k, term in enumerate(TERMS) if term.travel)
ASYMMETRIES = tuple(k for k, term in enumerate(TERMS) if term.kind in ("asymmetry", "viscous_asymmetry"))
# Gears lose up to a third of the torque. More means that friction is itself most of the measured torque.
MAX_LOAD = 0.5
VISCOUS, COULOMB, OFFSET, LOAD, ROTOR, TEMPERATURE, SPRING = (
    [term.kind for term in TERMS].index(kind)
    for kind in ("viscous", "coulomb", "offset", "load", "rotor", "temperature", "spring")
)


class MotionStatistics(NamedTuple):
    """Motion statistics of the joints in the logs, to which some terms relate."""

    top: NDArray  # (n,) top speeds
    span: NDArray  # (n,) ranges of position
    balanced: NDArray  # (n,) of bool: joints that have balancers
    torque: NDArray  # (n,) rms torques

    @classmethod
    def of(cls, arm: Arm, tracks: Iterable[Track], balanced: Iterable[int]) -> MotionStatistics:
        """Return the statistics of the drives' shafts along tracks; `balanced` are joints that have balancers."""
        several = [shaft_motion(arm, track)._replace(tau=measured_torques(arm, track.tau)) for track in tracks]
        # Speeds that each joint exceeds for one hundredth of the time, and how far it goes.
        top = np.percentile(np.concatenate([np.abs(t.qd[::5]) for t in several]), 99, axis=0)
        span = np.max([t.q.max(axis=0) for t in several], axis=0) - np.min([t.q.min(axis=0) for t in several], axis=0)
        weights = [len(t.t) for t in several]
        torque = np.sqrt(np.average([np.mean(t.tau**2, axis=0) for t in several], axis=0, weights=weights))
        return cls(np.maximum(top, NEGLIGIBLE), span, np.isin(np.arange(arm.n), list(balanced)), torque)


def term_columns(
    arm: Arm, motion: SmoothedMotion | Track, statistics: MotionStatistics, warmth: NDArray | None = None,
    width: float = 0.0, wanted: NDArray | None = None,
) -> NDArray:  # fmt: skip
    """Torque (N, terms, n) of every shaft for a unit parameter of each of `TERMS`, but zero for loads.

    Springs and balancers act on joints: those that share drives have none.

    `warmth` (N, n) are temperatures of the joints above the one at which their friction holds, where they are logged;
    `width` is the speed within which velocities do not tell directions, `wanted` (terms,) which terms are not left out.
    """
    columns = np.zeros((len(motion.q), len(TERMS), motion.q.shape[1]))
    sharing, motion = sharing_joints(arm), shaft_motion(arm, motion)
    arm = arm if arm.coupling is None else arm.with_coupling([])  # as if each drive moved its joint alone
    asked = [k for k in range(len(TERMS)) if wanted is None or wanted[k]]
    if gradual := [k for k in asked if k in BRISTLES]:
        shares = presliding_share(motion.q, np.stack([travels(TERMS[k], statistics) for k in gradual]))
        columns[:, gradual] = shares.swapaxes(0, 1)
    side = np.tanh(motion.qd / width) if width else np.sign(motion.qd)
    plain = {
        VISCOUS: motion.qd, OFFSET: 1.0, ROTOR: motion.qdd, SPRING: motion.q, ASYMMETRIES[0]: side**2,
        ASYMMETRIES[1]: side * motion.qd,
        # The linear parameter is viscous * temperature.
        TEMPERATURE: 0.0 if warmth is None else warmth * motion.qd,
    }  # fmt: skip
    waves = _waves(arm, motion.q) if set(asked) & set(BALANCE) else {}
    for k in asked:
        if k in LEVELS:
            columns[:, k] = np.tanh(motion.qd / level_speeds(TERMS[k], statistics))
        elif k in BALANCE:
            columns[:, k] = waves[TERMS[k].kind][TERMS[k].order - 1]
        elif k in plain:
            columns[:, k] = plain[k]
    # Velocities of joints that stand still are round-off, and their signs are too.
    rubbing = [k for k in range(len(TERMS)) if k not in (*BALANCE, OFFSET, SPRING)]
    columns[:, np.array(rubbing)[:, None], np.flatnonzero(statistics.top <= NEGLIGIBLE)] = 0.0
    columns[:, np.array([*BALANCE, SPRING])[:, None], sharing] = 0.0
    return columns


def sharing_joints(arm: Arm) -> NDArray:
    """Numbers of the joints that move with a drive of another, or whose drive moves another."""
    apart = np.zeros((arm.n, arm.n), bool) if arm.coupling is None else arm.coupling != np.eye(arm.n)
    return np.flatnonzero(apart.any(axis=0) | apart.any(axis=1))


AlongMotion = TypeVar("AlongMotion", bound=SmoothedMotion | Track)


def shaft_motion(arm: Arm, motion: AlongMotion) -> AlongMotion:
    """The motion of the shafts."""
    if arm.coupling is None:
        return motion
    q, qd, qdd = (at_drives(arm, x) for x in (motion.q, motion.qd, motion.qdd))
    return motion._replace(q=q, qd=qd, qdd=qdd)  # type: ignore[return-value]


def _waves(arm: Arm, q: NDArray) -> dict[str, tuple[NDArray, NDArray]]:
    """Waves of the first and of the second order with positions (N, n), zero for joints that slide."""
    turns = np.array([joint.kind == "revolute" for joint in arm.coordinate_joints])
    cosine, sine = np.cos(q) * turns, np.sin(q) * turns
    return {"balance_cosine": (cosine, cosine**2 - sine**2), "balance_sine": (sine, 2 * sine * cosine)}


def load_column(arm: Arm, motion: SmoothedMotion | Track, torque: NDArray, width: float = 0.0) -> NDArray:
    """Friction (N, n) of the shafts for a unit of load-dependence under torques (N, n) of the joints."""
    speed = shaft_motion(arm, motion).qd
    return np.abs(shaft_torques(arm, torque)) * (np.tanh(speed / width) if width else np.sign(speed))


def level_speeds(term: Term, statistics: MotionStatistics) -> NDArray:
    """Speeds (n,) at which levels of the friction curve bend [rad/s or m/s]."""
    return np.full(len(statistics.top), term.width) if term.width else np.maximum(term.share * statistics.top, 1e-6)


def travels(term: Term, statistics: MotionStatistics) -> NDArray:
    """Distances (n,) over which Coulomb friction builds up [rad or m]."""
    return np.maximum(term.travel * statistics.span, NEGLIGIBLE)


def friction_curve(joint: int, speeds: NDArray, statistics: MotionStatistics) -> NDArray:
    """Torques (speeds, terms) of a joint in steady sliding for a unit of each term of its friction curve."""
    rows = np.zeros((len(speeds), len(TERMS)))
    rows[:, VISCOUS] = speeds
    rows[:, BRISTLES] = 1.0
    for k in LEVELS:
        rows[:, k] = np.tanh(speeds / level_speeds(TERMS[k], statistics)[joint])
    return rows


def with_terms(arm: Arm, values: NDArray, statistics: MotionStatistics) -> Arm:
    """The arm with joint terms (n, terms) of these values, and of its drives the gears alone."""
    joints = list(arm.joints)
    for i, place in enumerate(arm.coordinate_indices):
        joint, friction = joints[place], _friction(values[i], i, statistics)
        if not values[i][[VISCOUS, *LEVELS, *BRISTLES]].any():
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
        joints[place] = dataclasses.replace(joint, friction=friction, drive=drive)
    return arm.with_joints(joints)


def _balance(values: NDArray) -> tuple[tuple[float, float, float], ...]:
    """Rows (order, cosine, sine) of a balancer."""
    rows: dict[int, list[float]] = {}
    for k in BALANCE:
        if values[k]:
            rows.setdefault(TERMS[k].order, [0.0, 0.0])[TERMS[k].kind == "balance_sine"] = float(values[k])
    return tuple((float(order), *pair) for order, pair in rows.items())  # type: ignore[misc]


def _friction(values: NDArray, joint: int, statistics: MotionStatistics) -> Friction:
    """The friction of a joint: its curve, and the plain pair that comes closest to it."""
    top = max(float(statistics.top[joint]), NEGLIGIBLE)
    levels = tuple((float(level_speeds(TERMS[k], statistics)[joint]), float(values[k])) for k in LEVELS if values[k])
    bristles = tuple((float(travels(TERMS[k], statistics)[joint]), float(values[k])) for k in BRISTLES if values[k])
    viscous, (slope, dry) = float(values[VISCOUS]), plain_pair(levels, top)
    return Friction(
        viscous=viscous + slope,
        coulomb=dry + sum(torque for _, torque in bristles),
        offset=float(values[OFFSET]),
        load=min(max(float(values[LOAD]), 0.0), MAX_LOAD),
        asymmetry=float(values[ASYMMETRIES[0]]),
        viscous_asymmetry=float(values[ASYMMETRIES[1]]),
        temperature=float(values[TEMPERATURE]) / viscous if viscous > 0 else 0.0,
        levels=levels,
        bristles=bristles,
        top_speed=top,
    )


def whole_torque(arm: Arm, motion: SmoothedMotion | Track, warmth: NDArray | None, width: float = 0.0) -> NDArray:
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
    share = np.zeros((q.shape[1], *travel.shape[:-1], len(q)))
    for joint, path in enumerate(np.ascontiguousarray(q.T)):
        steps = np.sign(np.diff(path, append=path[-1]))
        moving = np.flatnonzero(steps)
        if not len(moving):
            continue
        # A pause continues the direction before it.
        directions = steps[np.maximum.accumulate(np.where(steps != 0, np.arange(len(steps)), moving[0]))]
        starts = np.flatnonzero(np.diff(directions, prepend=-directions[0]))
        ends, d = np.append(starts[1:], len(path) - 1), directions[starts]
        run = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(path)))
        missing = np.exp(-np.abs(path - path[starts][run]) / travel[..., joint, None])
        # From one reversal to the next the share at the start of a run is that at the end of the run before.
        whole = np.exp(-np.abs(path[ends] - path[starts]) / travel[..., joint, None])
        z = np.empty_like(whole)
        z[..., 0] = d[0]
        for k in range(1, len(starts)):
            z[..., k] = d[k - 1] - (d[k - 1] - z[..., k - 1]) * whole[..., k - 1]
        share[joint] = directions - (directions - z[..., run]) * missing
    return np.moveaxis(share, 0, -1)


def presliding_torque(arm: Arm, q: NDArray, qd: NDArray, width: float = 0.0) -> NDArray:
    """Return what bristles take from Coulomb friction along a motion (N, n): zero for joints without them."""
    turns, speeds = shaft_positions(arm, q), at_shafts(arm, qd)
    missing = np.zeros_like(turns)
    for j, joint in enumerate(arm.joints):
        friction = joint.friction
        rows = list(friction.bristles)
        if friction.bristle_stiffness > 0 and friction.coulomb > 0:
            rows.append((friction.coulomb / friction.bristle_stiffness, friction.coulomb))
        if rows:
            travel, torque = np.array(rows).T
            share = presliding_share(turns[:, j : j + 1], travel[:, None])[..., 0]
            direction = np.tanh(speeds[:, j] / width) if width else np.sign(speeds[:, j])
            missing[:, j] = torque @ (share - direction)
    return np.asarray(joint_torques(arm, missing))
