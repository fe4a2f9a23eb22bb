"""Joints that give: a spring and damper between each rotor and its link, and play in the gear.

    M(q) qdd + ... = s,    B rotor_qdd + d rotor_qd = tau - s,    s = K (rotor_q - q) + D (rotor_qd - qd)

Spong (1987), eq. (6), (7): rotors turn about their own axes alone. Rotor positions are counted at the gear's output, so
that a stiff spring makes rotor_q = q. With play of width b nothing is transmitted while |rotor_q - q| < b / 2, and
teeth push but never pull.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import as_floats
from armdyn.dynamics.drive import augmented_mass_matrix, drive_torque
from armdyn.dynamics.gravity import gravity_torque
from armdyn.dynamics.mass_matrix import mass_matrix
from armdyn.errors import ModelError, check_choice, quote
from armdyn.model.arm import Arm
from armdyn.model.mechanism import require_free_joints
from armdyn.trace.symbols import Symbol, ca

SIDES = ("motor", "link")


@dataclass(frozen=True, eq=False)
class Elasticity:
    """Springs between rotors and links. One number serves all joints.

    Parameters
    ----------
    stiffness : array_like, shape (n,)
        Stiffness of each spring, at the joint [N m/rad or N/m]; infinite: that joint is rigid.
    damping : array_like, shape (n,)
        [N m s/rad or N s/m]
    backlash : array_like, shape (n,)
        Whole width of the play at the joint [rad or m]; the stiffness is then that of the teeth in contact.
    encoders : {"motor", "link"}
        Whose positions and velocities the controller sees.
    friction : {"motor", "link"}
        On which side of the springs the joints' friction acts: in motor and gear, or in the link's bearings.
    """

    stiffness: ArrayLike
    damping: ArrayLike = 0.0
    backlash: ArrayLike = 0.0
    encoders: str = "motor"
    friction: str = "motor"

    def __post_init__(self) -> None:
        for name in ("stiffness", "damping", "backlash"):
            object.__setattr__(self, name, _numbers(name, getattr(self, name)))
        if not np.all(np.asarray(self.stiffness) > 0):
            raise ModelError(where="Elasticity: stiffness", expected="numbers > 0 (infinite for a rigid joint)")
        for name in ("encoders", "friction"):
            check_choice("Elasticity", f"place of {name}", getattr(self, name), SIDES, ModelError)

    @classmethod
    def from_frequency(
        cls, arm: Arm, frequency: ArrayLike, damping_ratio: float = 0.02, q: ArrayLike | None = None, **others: Any
    ) -> Elasticity:
        """Springs on which each link alone swings at `frequency` [Hz] while its rotor is held.

        Parameters
        ----------
        arm : Arm
        frequency : array_like, shape (n,)
            [Hz]
        damping_ratio : float
            Damping ratio of that swing; 1 is critical.
        q : array_like, shape (n,), optional
            Positions at which inertias are taken, default all zero.
        **others
            `backlash`, `encoders` and `friction`.
        """
        inertia = np.diagonal(mass_matrix(arm, np.zeros(arm.n) if q is None else q))
        w = 2 * np.pi * np.asarray(frequency, float)
        return cls(inertia * w**2, 2 * damping_ratio * inertia * w, **others)

    def rows(self, n: int) -> NDArray:
        """The numbers of all joints, (n, 3): stiffness, damping, backlash."""
        try:
            columns = [np.broadcast_to(x, (n,)) for x in (self.stiffness, self.damping, self.backlash)]
        except ValueError:
            shapes = [np.shape(x) for x in (self.stiffness, self.damping, self.backlash)]
            expected = f"one number or {n} per parameter"
            raise ModelError(where="Elasticity", expected=expected, got=f"shapes {shapes}") from None
        return np.stack(columns, -1)


def _numbers(name: str, value: Any) -> NDArray:
    array = as_floats(value)
    finite = name == "stiffness" or np.isfinite(array).all()
    if array.ndim > 1 or np.isnan(array).any() or (array < 0).any() or not finite:
        raise ModelError(where=f"Elasticity: {name}", expected="numbers >= 0, one or one per joint", got=quote(value))
    return array


def check_elastic(arm: Arm, elasticity: Elasticity) -> NDArray:
    """The numbers (n, 3) of springs that this arm can have."""
    require_free_joints(arm, "elasticity", "leave it out")
    rows = elasticity.rows(arm.n)
    if arm.coupling is not None:
        cause = f"arm '{arm.name}' has coupled drives; elastic joints need one drive each"
        raise ModelError(cause, where="Plant: elasticity")
    inertia = np.array([joint.drive.reflected_inertia for joint in arm.coordinate_joints])
    named = zip(arm.coordinate_names, rows[:, 0], inertia, strict=True)
    if light := [name for name, k, B in named if k < np.inf and not B]:
        cause = f"joint '{light[0]}' has no rotor inertia to move against its spring"
        remedy = "give its Drive a rotor_inertia, or an infinite stiffness"
        raise ModelError(cause, where="Plant: elasticity", remedy=remedy, names=(light[0],))
    rigid = (rows[:, 0] == np.inf) & (rows[:, 2] > 0)
    if rigid.any():
        name = arm.coordinate_names[int(np.argmax(rigid))]
        remedy = "give the stiffness of the teeth in contact"
        raise ModelError(f"joint '{name}' has backlash", where="Plant: elasticity", remedy=remedy, names=(name,))
    return rows


# -- formulas, over symbols ------------------------------------------------------------------------------------


def spring_torque(stretch: Symbol, rate: Symbol, spring: Symbol, plays: bool) -> Symbol:
    """Return the torque of one spring on its link; `spring` holds stiffness, damping, backlash, (1, 3)."""
    k, d, width = spring[0, 0], spring[0, 1], spring[0, 2]
    if not plays:
        return k * stretch + d * rate
    into = stretch - ca.fmax(ca.fmin(stretch, width / 2), -width / 2)  # how far teeth press into each other
    push = k * into + d * rate
    return ca.if_else(into > 0, ca.fmax(push, 0), ca.if_else(into < 0, ca.fmin(push, 0), 0))


def at_encoders(elastic: tuple[int, ...], links: Any, rotors: Any) -> Any:
    """Return what motor encoders see, for arrays (..., n), (..., e) and symbols alike: rotors where joints are
    elastic.
    """
    if not isinstance(links, np.ndarray):
        positions = ca.SX(links)
        for k, i in enumerate(elastic):
            positions[i] = rotors[k]
        return positions
    positions = links.copy()
    positions[..., elastic] = rotors
    return positions


# -- what is known beforehand ----------------------------------------------------------------------------------


def start_of_rotors(arm: Arm, elastic: tuple[int, ...], springs: NDArray, q: NDArray, theta: NDArray) -> NDArray:
    """Rotor positions (..., e) at which the springs (e, 3) carry links at rest."""
    zeros = np.zeros_like(q)
    torque = (gravity_torque(arm, q, theta=theta) + drive_torque(arm, q, zeros, zeros))[..., elastic]
    return q[..., elastic] + torque / springs[:, 0] + np.sign(torque) * springs[:, 2] / 2


class Resonances(NamedTuple):
    """Undamped natural frequencies [Hz], ascending, teeth in contact."""

    free: NDArray  # (e,), rotors turning freely: what a motor's torque excites
    locked: NDArray  # (e,), rotors held: what is left once controllers hold them


def resonances(arm: Arm, elasticity: Elasticity, q: ArrayLike) -> Resonances:
    """Natural frequencies of an arm on its springs at rest, without gravity.

    For one joint of inertia J, rotor B and spring K they are sqrt(K (1/J + 1/B)) and sqrt(K / J), over 2 pi.

    Parameters
    ----------
    arm : Arm
        With rotors behind its elastic joints.
    elasticity : Elasticity
    q : array_like, shape (n,)
        Joint positions [rad or m].

    Returns
    -------
    Resonances
        Fields `free` and `locked`, one frequency [Hz] an elastic joint.
    """
    rows = check_elastic(arm, elasticity)
    elastic = np.flatnonzero(np.isfinite(rows[:, 0]))
    K = rows[elastic, 0]
    links, rotors = inertias(arm, elastic, np.asarray(q, float))
    compliance = np.linalg.inv(links)[np.ix_(elastic, elastic)]
    root = np.sqrt(K)

    def frequencies(inverse_inertia: NDArray) -> NDArray:
        return np.sqrt(np.linalg.eigvalsh(root[:, None] * inverse_inertia * root)) / (2 * np.pi)

    return Resonances(frequencies(compliance + np.diag(1 / rotors)), frequencies(compliance))


def inertias(arm: Arm, elastic: Any, q: NDArray, theta: NDArray | None = None) -> tuple[NDArray, NDArray]:
    """Mass matrix (..., n, n) of the links with the rotors of rigid joints, and the other rotors' inertias (e,)."""
    drive = arm.trace_data("drive").copy()
    rotors = drive[list(elastic), 0]
    drive[list(elastic), 0] = 0.0
    theta = arm.trace_data("theta") if theta is None else theta
    return augmented_mass_matrix(arm, q, theta=theta, drive=drive), rotors
