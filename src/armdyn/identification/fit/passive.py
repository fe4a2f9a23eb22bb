"""Joints that no motor drives, and springs between links: their terms are columns of several torques.

Joints that follow others have friction and springs of their own, which act on every coordinate that moves them. They
are estimated first, together with everything plain, and then are part of the arm as the rest of it is identified:
measured torques less theirs are those of links and drives.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.drive import drive_torque
from armdyn.dynamics.friction import friction_torque
from armdyn.dynamics.shafts import shaft_positions, shaft_rows
from armdyn.dynamics.springs import spring_columns
from armdyn.identification.estimators.least_squares import ROUNDS
from armdyn.identification.fit.terms import BRISTLES, LEVELS, OFFSET, ROTOR, TERMS, VISCOUS, presliding_torque
from armdyn.identification.limits import MIN_REDUCTION
from armdyn.identification.motion.differentiate import SmoothedMotion
from armdyn.identification.motion.track import Track
from armdyn.model.arm import Arm
from armdyn.model.joint import Drive, Friction, Joint
from armdyn.model.mechanism import Spring
from armdyn.numerals import STD_OF_95_PERCENT
from armdyn.precision import NEGLIGIBLE

if TYPE_CHECKING:
    from armdyn.identification.fit.rows import Rows


def has_passive(arm: Arm) -> bool:
    """Whether joints follow others, or springs act between links."""
    return arm.G is not None or bool(arm.springs)


def passive_torque(arm: Arm, motion: SmoothedMotion | Track, width: float) -> NDArray:
    """Torques (N, n) at the coordinates of friction and drives of joints that follow others, and of link springs."""
    if not has_passive(arm):
        return np.zeros(1)
    joints = [j if j.follows else dataclasses.replace(j, friction=Friction(), drive=Drive()) for j in arm.joints]
    passive = arm.with_joints(joints)
    rubbing = friction_torque(passive, motion.q, motion.qd, width=width)
    rubbing = rubbing + presliding_torque(passive, motion.q, motion.qd, width)
    return np.asarray(rubbing + drive_torque(passive, motion.q, motion.qd, motion.qdd))


def without_passive(arm: Arm, track: Track, width: float) -> NDArray:
    """Measured torques (N, n) of a track without these."""
    return track.tau - passive_torque(arm, track, width) if has_passive(arm) else track.tau


class _Column(NamedTuple):
    """A passive term: its torque (N, n) along a motion for a unit, and the arm that has so much of it."""

    torque: Callable[[Track], NDArray]
    apply: Callable[[Arm, float], Arm]
    spring: str = ""  # name of the spring that it is of


def estimate_passive(rows: Rows, described: Arm) -> Arm:
    """The arm with terms of its passive joints and springs as rows tell them, which are of the arm without any.

    Springs are between the points of the description. It is least squares of links, plain terms of the drives and
    passive terms together, friction and stiffness not negative, torques weighed by what is left of each.
    """
    arm = rows.base.source
    equations = PassiveEquations.of(rows)
    turns = np.concatenate([shaft_positions(rows.base.source, track.q) for track in rows.tracks])
    columns = _joint_columns(arm, np.ptp(turns, axis=0), rows.filters.width)
    for options in _spring_options(described):  # the first that the rows tell from weights
        tried = (added for added in options if equations.certain([*columns, *added], len(columns)))
        columns = [*columns, *next(tried, [])]
    if not columns:
        return dataclasses.replace(arm, springs=described.springs)
    for value, std, column in zip(*equations.solve(columns)[::2], columns, strict=True):
        if value > STD_OF_95_PERCENT * std:
            arm = column.apply(arm, float(value))
    fitted = {column.spring for column in columns}
    known = [spring for spring in described.springs if spring.name not in fitted]
    return dataclasses.replace(arm, springs=(*arm.springs, *known))


class PassiveSolution(NamedTuple):
    """Passive parameters and their standard deviations, also as if all else were known."""

    values: NDArray
    std: NDArray
    std_alone: NDArray


class PassiveEquations(NamedTuple):
    """Rows of each torque, of links and plain terms of the drives, to which passive columns are added."""

    rows: Rows
    blocks: list[NDArray]
    torques: list[NDArray]

    @classmethod
    def of(cls, rows: Rows) -> PassiveEquations:
        """Equations without passive columns."""
        n, count = rows.base.source.n, rows.base.count
        kinds = sorted({VISCOUS, OFFSET, ROTOR, *LEVELS[:2], *BRISTLES})
        blocks, torques = [], []
        for j in range(n):
            A = np.zeros((len(rows), count + n * len(kinds)))
            A[:, :count] = np.concatenate([part.Y[j, :, :count] for part in rows])
            terms = np.concatenate([part.Y[j, :, count:] for part in rows])[:, kinds]
            A[:, count + j * len(kinds) : count + (j + 1) * len(kinds)] = terms
            blocks.append(A)
            torques.append(np.concatenate([part.tau[j] for part in rows]))
        return cls(rows, blocks, torques)

    def certain(self, columns: Sequence[_Column], first: int) -> bool:
        """Whether the passive parameter of column `first` is far from zero."""
        values, std, _ = self.solve(columns)
        return bool(std[first] < MIN_REDUCTION * values[first])

    def solve(self, columns: Sequence[_Column]) -> PassiveSolution:
        """Weighted least squares of the rows of all torques; passive parameters are not negative."""
        from scipy.optimize import lsq_linear

        added = np.concatenate([_passive_rows(self.rows, columns, track) for track in self.rows.tracks])
        blocks = [np.hstack([block, added[:, j]]) for j, block in enumerate(self.blocks)]
        size, passive = blocks[0].shape[1], slice(-len(columns), None)
        lower, x, std = np.full(size, -np.inf), np.zeros(size), np.zeros((2, size))
        lower[passive] = 0.0
        weights = 1 / np.maximum([torque.std() for torque in self.torques], 1e-12)
        for _ in range(ROUNDS):
            A = np.concatenate([weight * block for weight, block in zip(weights, blocks, strict=True)])
            b = np.concatenate([weight * torque for weight, torque in zip(weights, self.torques, strict=True)])
            scale = 1 / np.maximum(np.linalg.norm(A, axis=0), 1e-12)
            # What motion does not tell stays small.
            whole = np.vstack([A * scale, np.sqrt(NEGLIGIBLE) * np.eye(size)])
            joined = np.column_stack([whole, np.append(b, np.zeros(size))])
            R = np.asarray(np.linalg.qr(joined, mode="r"))
            x = lsq_linear(R[:, :-1], R[:, -1], bounds=(lower, np.inf)).x * scale
            left = np.array([np.std(t - block @ x) for t, block in zip(self.torques, blocks, strict=True)])
            back = np.linalg.pinv(R[:-1, :-1]) * scale[:, None]
            std = np.sqrt(np.mean((weights * left) ** 2)) * np.array([np.linalg.norm(back, axis=1), scale])
            weights = 1 / np.maximum(left, 1e-3 * left.max())
        return PassiveSolution(x[passive], *std[:, passive])


def _passive_rows(rows: Rows, columns: Sequence[_Column], track: Track) -> NDArray:
    """Low-passed passive columns (N, n, columns) of a track's rows, at the drives' shafts."""
    low = rows.low(track)
    Y = shaft_rows(rows.base.source, np.stack([column.torque(track) for column in columns], axis=-1))
    return (low @ Y.reshape(len(Y), -1)).reshape(-1, *Y.shape[1:])


def without_terms(arm: Arm) -> Arm:
    """The arm whose passive joints have no friction, rotors and springs; its springs between links are none either."""
    joints = [dataclasses.replace(j, friction=Friction(), drive=Drive()) if j.follows else j for j in arm.joints]
    return dataclasses.replace(arm.with_joints(joints), springs=())


UNITS = (("friction", "viscous"), ("friction", "coulomb"), ("drive", "rotor_inertia"), ("drive", "stiffness"))


def _joint_columns(arm: Arm, span: NDArray, width: float) -> list[_Column]:
    """Viscous and Coulomb friction, rotor, spring and bristles of each joint that follows several others."""
    followers = [i for i, joint in enumerate(arm.joints) if joint.follows and not _turns_with_drive(arm, i)]
    changes = [(i, partial(_with_number, *unit)) for i in followers for unit in UNITS]
    travels = [(i, TERMS[k].travel * float(span[i])) for i in followers for k in BRISTLES if span[i] > 0]
    changes += [(i, partial(_with_bristles, travel)) for i, travel in travels]
    return [_joint_column(arm, i, change, width) for i, change in changes]


def _turns_with_drive(arm: Arm, i: int) -> bool:
    """Whether a joint turns in proportion to a drive: its friction is then one with the drive's, which has it all."""
    assert arm.G is not None
    row, drives = arm.G[i], np.eye(arm.n) if arm.coupling is None else arm.coupling
    return any(np.linalg.matrix_rank(np.stack([row, drive])) < 2 for drive in drives)


def _joint_column(arm: Arm, i: int, change: Callable[[Joint, float], Joint], width: float) -> _Column:
    """Return the column of a change of one joint, by a unit."""

    def apply(to: Arm, value: float) -> Arm:
        joints = list(to.joints)
        joints[i] = change(joints[i], value)
        return to.with_joints(joints)

    unit = apply(without_terms(arm), 1.0)
    return _Column(lambda track: passive_torque(unit, track, width), apply)


def _with_number(part: str, name: str, joint: Joint, value: float) -> Joint:
    return dataclasses.replace(joint, **{part: dataclasses.replace(getattr(joint, part), **{name: value})})


def _with_bristles(travel: float, joint: Joint, value: float) -> Joint:
    """Coulomb friction that builds up over a travel, as cables and long rods have it."""
    coulomb, bristles = joint.friction.coulomb + value, (*joint.friction.bristles, (travel, value))
    return dataclasses.replace(joint, friction=dataclasses.replace(joint.friction, coulomb=coulomb, bristles=bristles))


def _spring_options(described: Arm) -> Iterator[list[list[_Column]]]:
    """Columns of each spring between links: stiffness, and its product with the rest length, or both as described.

    About a level axis k L²/2 is the energy of a weight: the rest length is then as described. A spring that even so is
    one with weights has no column, and stays as described.
    """
    for k, spring in enumerate(described.springs):
        stiffen, stretch = _setters(spring)
        free = [
            _Column(_spring_torque(described, {2 * k: 1.0}), stiffen, spring.name),
            _Column(_spring_torque(described, {2 * k + 1: 1.0}), stretch, spring.name),
        ]
        both = _spring_torque(described, {2 * k: 1.0, 2 * k + 1: spring.rest_length})
        yield [free, [_Column(both, _setters(spring, spring.rest_length)[0], spring.name)]]


def _setters(spring: Spring, rest: float = 0.0) -> tuple[Callable[[Arm, float], Arm], Callable[[Arm, float], Arm]]:
    """Functions that give an arm a spring of some stiffness, and the spring some stiffness times rest length."""

    def stiffen(to: Arm, value: float) -> Arm:
        new = dataclasses.replace(spring, stiffness=value, rest_length=rest)
        return dataclasses.replace(to, springs=(*to.springs, new))

    def stretch(to: Arm, value: float) -> Arm:
        others = [one for one in to.springs if one.name != spring.name]
        same_name = [one for one in to.springs if one.name == spring.name]
        longer = [dataclasses.replace(one, rest_length=value / one.stiffness) for one in same_name]
        return dataclasses.replace(to, springs=(*others, *longer))

    return stiffen, stretch


def _spring_torque(arm: Arm, shares: Mapping[int, float]) -> Callable[[Track], NDArray]:
    picked, weights = list(shares), np.array(list(shares.values()))
    return lambda track: np.asarray(spring_columns(arm, track.q))[..., picked] @ weights
