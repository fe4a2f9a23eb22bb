"""Regressor columns of what sits in the joints: rotors, friction, springs, offsets, drive gains.

Each term adds one parameter per joint, felt by that joint alone. Friction and rotors of coupled drives act at their
shafts (see `dynamics.shafts`), and all joints that move a shaft feel them. The columns stand
behind those of `regressor`, term by term:

    tau = regressor(...) @ theta + joint_columns(..., terms) @ joint_parameters(arm, terms)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.regressors.adaptive_regressor import adaptive_regressor
from armdyn.dynamics.regressors.regressor import regressor
from armdyn.dynamics.shafts import at_shafts, drive_torques, joint_torques, shaft_positions
from armdyn.errors import ArmdynError
from armdyn.kinematics.dependents import coordinate_torques, joint_positions, joint_rates
from armdyn.model.arm import Arm
from armdyn.model.joint import Joint
from armdyn.model.quantities import A, Gravity, Q, Qd, Qdd, V, Vec
from armdyn.trace.formula import Array, Symbol, ca, traced


class JointTerm(NamedTuple):
    """A torque that is linear in one parameter per joint or shaft."""

    symbol: str  # names its parameters: Ia1, Ia2, ...
    column: Callable[[Symbol, Symbol, Symbol], Symbol]  # of q, qd, qdd, all joints at once
    values: Callable[[Arm], NDArray]  # its parameters (n,) as the arm has them
    at_rest: bool = False  # whether it is felt when the arm stands still
    geared: bool = True  # whether it acts at the drives' shafts, which may turn with several joints


def _each(value: Callable[[Joint], float]) -> Callable[[Arm], NDArray]:
    return lambda arm: np.array([value(joint) for joint in arm.joints])


def _viscous(joint: Joint) -> float:
    # The motor's damping is one with the joint's friction; that of coupled drives is a term of its own.
    return joint.friction.viscous + (0.0 if joint.drive.coupling else joint.drive.reflected_damping)


def _damping(joint: Joint) -> float:
    return joint.drive.reflected_damping if joint.drive.coupling else 0.0


def _offsets(arm: Arm) -> NDArray:
    # A spring's rest position is a constant torque of its joint, as a sensor's zero is of its drive.
    zeros, rests = _each(lambda j: j.friction.offset), _each(lambda j: j.drive.stiffness * j.drive.rest)
    at_joints, drives = zeros(arm), list(arm.coordinate_indices)
    at_joints[drives] = drive_torques(arm, at_joints[drives])
    return np.asarray(at_joints - rests(arm))


TERMS = {
    "rotor": JointTerm("Ia", lambda q, qd, qdd: qdd, _each(lambda j: j.drive.reflected_inertia)),
    "damping": JointTerm("Fm", lambda q, qd, qdd: qd, _each(_damping)),
    "viscous": JointTerm("Fv", lambda q, qd, qdd: qd, _each(_viscous)),
    "coulomb": JointTerm("Fc", lambda q, qd, qdd: ca.sign(qd), _each(lambda j: j.friction.coulomb)),
    "asymmetry": JointTerm("Fa", lambda q, qd, qdd: ca.fabs(ca.sign(qd)), _each(lambda j: j.friction.asymmetry)),
    "viscous_asymmetry": JointTerm("Fw", lambda q, qd, qdd: ca.fabs(qd), _each(lambda j: j.friction.viscous_asymmetry)),
    "spring": JointTerm("Ks", lambda q, qd, qdd: q, _each(lambda j: j.drive.stiffness), at_rest=True, geared=False),
    "offset": JointTerm("F0", lambda q, qd, qdd: ca.SX.ones(q.shape[0]), _offsets, at_rest=True, geared=False),
}


def check_terms(terms: tuple[str, ...], where: str) -> tuple[str, ...]:
    """`terms` as a tuple of known names."""
    terms = (terms,) if isinstance(terms, str) else tuple(terms)
    for term in terms:
        if term not in TERMS:
            cause = f"unknown joint term {term!r}"
            raise ArmdynError(cause, where=where, expected=f"some of {', '.join(TERMS)}", names=(term,))
    if len(set(terms)) != len(terms):
        cause = f"joint terms must differ, got {', '.join(terms)}"
        raise ArmdynError(cause, where=where, remedy="name each once", names=terms)
    return terms


def joint_parameter_names(n: int, terms: tuple[str, ...]) -> list[str]:
    """Names of the parameters, term by term: `Ia1, Ia2, ..., Fv1, ...`."""
    return [f"{TERMS[term].symbol}{i + 1}" for term in terms for i in range(n)]


def joint_parameters(arm: Arm, terms: tuple[str, ...]) -> NDArray:
    """The arm's own parameters (N k,) of `terms` (see `joint_columns`), from its joints' friction and drives."""
    parameters = [TERMS[term].values(arm) for term in check_terms(terms, "joint_parameters")]
    return np.concatenate(parameters) if parameters else np.empty(0)


@traced(returns={"Y": "n, joints*terms"})
def joint_columns(arm: Arm, q: Q, qd: Qd, qdd: Qdd, terms: tuple[str, ...] = ("viscous", "coulomb")) -> Array:
    """Regressor columns of joint terms.

    For adaptive control give the measured q and qd and the reference acceleration: damping and friction
    follow the true velocity (ECE470, section 3.3), a rotor's inertia the reference.

    Parameters
    ----------
    terms : tuple of str
        Some of "rotor", "damping" (of coupled motors), "viscous", "coulomb", "asymmetry",
        "viscous_asymmetry", "spring", "offset".

    Returns
    -------
    Y : ndarray, shape (..., n, N k)
        One block a term, diagonal unless drives are coupled.
    """
    if not terms:
        raise ArmdynError(where="joint_columns", expected=f"at least one of {', '.join(TERMS)}", got="none")
    return _blocks(arm, q, qd, qdd, check_terms(terms, "joint_columns"))


def _blocks(arm: Arm, q: Symbol, qd: Symbol, qdd: Symbol, terms: tuple[str, ...]) -> Symbol:
    """One block a term: diagonal, or seen through the coupling of the drives."""
    blocks = [ca.SX(arm.n, 0)]
    for term in (TERMS[name] for name in terms):
        if term.geared:
            column = term.column(shaft_positions(arm, q), at_shafts(arm, qd), at_shafts(arm, qdd))
            blocks.append(joint_torques(arm, ca.diag(column)))
        else:
            column = term.column(joint_positions(arm, q), joint_rates(arm, qd), joint_rates(arm, qdd))
            blocks.append(coordinate_torques(arm, ca.diag(column)))
    return ca.horzcat(*blocks)


@traced(returns={"Y": "n, 10*joints + joints*terms"})
def full_regressor(
    arm: Arm, q: Q, qd: Qd, qdd: Qdd, terms: tuple[str, ...] = ("viscous", "coulomb"), *, gravity: Gravity = None
) -> Array:
    """Torque regressor of links and joint terms: `tau = Y @ [theta, joint_parameters(arm, terms)]`.

    Parameters
    ----------
    terms : tuple of str
        Joint terms, see `joint_columns`; viscous and Coulomb friction if left out.

    Returns
    -------
    Y : ndarray, shape (..., n, 10 N + N k)
    """
    terms = check_terms(terms, "full_regressor")
    return ca.horzcat(regressor(arm, q, qd, qdd, gravity=gravity), _blocks(arm, q, qd, qdd, terms))


@traced(returns={"Y": "n, 10*joints + joints*terms"})
def full_adaptive_regressor(
    arm: Arm, q: Q, qd: Qd, v: V, a: A, terms: tuple[str, ...] = ("viscous", "coulomb"), *, gravity: Gravity = None
) -> Array:
    """Slotine-Li regressor of links and joint terms; friction takes the measured qd, rotors the reference a.

    Parameters
    ----------
    q, qd
        Measured joint positions and velocities [rad or m, /s].
    terms : tuple of str
        Joint terms, see `joint_columns`.

    Returns
    -------
    Y : ndarray, shape (..., n, 10 N + N k)

    References
    ----------
    ECE470 (2019), section 3.3.
    """
    terms = check_terms(terms, "full_adaptive_regressor")
    return ca.horzcat(adaptive_regressor(arm, q, qd, v, a, gravity=gravity), _blocks(arm, q, qd, a, terms))


@traced(returns={"Y": "n, n"})
def gain_columns(arm: Arm, current: Vec) -> Array:
    """Columns of the drive gains: `tau = Y @ gains` for measured motor currents.

    Joined as `[regressor, -gain_columns] @ [theta, gains] = 0`, one known parameter (a payload's mass)
    fixes the scale of all.

    Parameters
    ----------
    current
        Motor currents [A].
    """
    return ca.diag(current)
