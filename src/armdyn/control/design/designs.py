"""A sensible instance of every law for an arm, from a bandwidth: what comparisons and first tries start from."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.control.adaptive.body_laws import NaturalSlotineLi, ProjectedSlotineLi
from armdyn.control.adaptive.composite import CompositeSlotineLi
from armdyn.control.adaptive.concurrent import RECORDS, ConcurrentSlotineLi
from armdyn.control.adaptive.craig import Craig
from armdyn.control.adaptive.gains import adaptation_gains
from armdyn.control.adaptive.modified_slotine_li import ModifiedSlotineLi
from armdyn.control.adaptive.slotine_li import SlotineLi
from armdyn.control.adaptive.unknowns import adapt
from armdyn.control.design.purposes import law_purposes, plain_name
from armdyn.control.design.sampling import SampledInertia, reduction, sampled_inertia
from armdyn.control.design.stiction import stiction
from armdyn.control.formula import Arm, Law
from armdyn.control.laws.cascade import VELOCITY_LOOP_RATIO, Cascade
from armdyn.control.laws.computed_torque import ComputedTorque
from armdyn.control.laws.integral import pid
from armdyn.control.laws.lqr import MeasuredLQR, TrajectoryLQR
from armdyn.control.laws.model import FRICTION_WIDTH
from armdyn.control.laws.momentum import DisturbanceObserver
from armdyn.control.laws.pd import PD, FeedforwardPD, GravityPD
from armdyn.control.laws.tip_space import Impedance, OperationalSpace
from armdyn.control.robust.sliding_mode import SlidingMode, SuperTwisting
from armdyn.control.settings import one_number
from armdyn.control.theory.gains import gains_from_bandwidth
from armdyn.dynamics.drive import augmented_mass_matrix
from armdyn.dynamics.full import joint_torque
from armdyn.dynamics.regressors.split import unknown_mass, unknown_payload
from armdyn.errors import ArmdynError, ArmdynWarning, quote
from armdyn.kinematics.jacobian import jacobian
from armdyn.model.named import close_to
from armdyn.trajectory.protocol import JointMotion

# Time in which adaptive laws learn what shows in the motion [s].
LEARNING_TIME_S = 0.5
# Part of the tip's largest mobility below which a direction is left to the posture.
MIN_MOBILITY_RATIO = 0.2
# Part of the largest torques that sliding modes expect unexplained; error that super-twisting undoes [rad or m].
UNEXPLAINED_TORQUE_RATIO, TWISTING_ERROR = 0.2, 0.1
# Instants at which a trajectory is looked at.
TRAJECTORY_SAMPLES = 500
# Friction that adaptive laws do not know.
FRICTION = ("viscous", "coulomb", "asymmetry")


# Laws whose gains are those of single joints: stiffness and damping, or the damping alone.
STIFF = ("PD", "PID", "PD + gravity", "feedforward + PD", "sliding mode")
SPRINGS = ("PD", "PD + gravity")  # of these, laws that neither integrate errors nor know the friction
DAMPED = tuple(f"{kind}Slotine-Li" for kind in ("", "composite ", "concurrent ", "natural ", "projected "))


def designs(arm: Arm, motion: Any, bandwidth: float, rate: float) -> dict[str, Law]:
    """One law of every kind, by name, with comparable bandwidth.

    Gains of single joints are lowered where the rate is too low for them and the arm's least inertia, see
    `sampled_inertia`; a warning names joints, cause and remedies. Another one names joints that are so soft that dry
    friction can hold them throughout the motion, see `stiction`.

    Parameters
    ----------
    arm : Arm
        The model that the laws believe in.
    motion : JointMotion or trajectory
        The motion to follow, or samples (T, n) of it; its mean inertia decides gains, and how unknowns show in it those
        of adaptation.
    bandwidth : float
        Bandwidth of every joint [Hz].
    rate : float
        Rate of the controller [Hz].
    """
    laws, sampled = _all_designs(arm, motion, bandwidth, rate)
    _warn_of_softness(laws, _samples(arm, motion).q, rate, sampled)
    return laws


def _warn_of_softness(laws: Mapping[str, Law], q: NDArray, rate: float, sampled: Mapping[str, SampledInertia]) -> None:
    """Warn of laws whose gains are lowered for the rate, and of joints that friction holds."""
    arm = next(iter(laws.values())).arm
    springs = {name: np.asarray(law.params["kp"]) for name, law in laws.items() if name in SPRINGS}
    for text in (reduction(arm, rate, sampled), stiction(arm, q, springs)):
        if text is not None:
            warnings.warn(f"designs: {text}", ArmdynWarning, stacklevel=3)


def _all_designs(
    arm: Arm, motion: Any, bandwidth: float, rate: float
) -> tuple[dict[str, Law], dict[str, SampledInertia]]:
    """The laws by name, and the inertia by which gains of single joints were chosen, of laws that have such."""
    bandwidth = one_number(bandwidth, "designs", "a bandwidth > 0 in Hz")
    rate = one_number(rate, "designs", "a rate > 0 in Hz")
    motion = _samples(arm, motion)
    M = np.asarray(augmented_mass_matrix(arm, motion.q))
    w = 2 * np.pi * bandwidth
    stiff, plain, driven = (sampled_inertia(M, rate, damping) for damping in (2 * w, w, VELOCITY_LOOP_RATIO * w))
    kp, kd = stiff.inertia * w**2, stiff.inertia * 2 * w
    computed = ComputedTorque(arm, *gains_from_bandwidth(bandwidth)[:2])
    fixed: dict[str, Law] = {
        "PD": PD(arm, kp, kd),
        "PID": pid(arm, kp, kp * w / 8, kd),
        "PD + gravity": GravityPD(arm, kp, kd),
        "cascade": Cascade.for_inertia(arm, w, driven.inertia, feedforward="velocity"),
        "feedforward + PD": FeedforwardPD(arm, kp, kd),
        "computed torque": computed,
        "computed torque + observer": DisturbanceObserver(computed, 2 * bandwidth),
        **regulators(arm, M.mean(0), motion.q[0], bandwidth, rate),
        **tip_designs(arm, motion, bandwidth),
        **robust_designs(arm, motion, bandwidth, stiff.inertia),
    }
    adaptive = adaptive_designs(arm, motion, bandwidth, plain.inertia)
    sampled = {**dict.fromkeys(STIFF, stiff), "cascade": driven, **dict.fromkeys(DAMPED, plain)}
    return {**fixed, **adaptive}, sampled


def _samples(arm: Arm, motion: Any) -> JointMotion:
    """Samples of a motion, which may be a trajectory."""
    if callable(motion) and hasattr(motion, "duration"):
        motion = motion(np.linspace(0.0, motion.duration, TRAJECTORY_SAMPLES))
    try:
        q, qd, qdd = (np.asarray(rows, float) for rows in motion)
    except (TypeError, ValueError):
        expected = "a trajectory or samples (q, qd, qdd) of one"
        raise ArmdynError(where="designs", expected=expected, got=quote(motion)) from None
    if q.ndim != 2 or q.shape[1] != arm.n or not q.shape == qd.shape == qdd.shape:
        expected = f"samples of shape (T, {arm.n})"
        raise ArmdynError(where="designs", expected=expected, got=f"{q.shape}, {qd.shape}, {qdd.shape}")
    return JointMotion(q, qd, qdd)


def mean_inertia(arm: Arm, motion: JointMotion) -> NDArray:
    """Mass matrix (n, n), rotors included, averaged over samples of a motion: one pose may be a singular one."""
    return np.asarray(augmented_mass_matrix(arm, motion.q).mean(0))


def chosen_designs(
    arm: Arm, motion: Any, bandwidth: float, rate: float, names: Sequence[str] | None = None
) -> dict[str, Law]:
    """The designs that some names mean, or all; see `designs`."""
    laws, sampled = _all_designs(arm, motion, bandwidth, rate)
    keys = list(laws) if names is None else [named_design(laws, name) for name in names]
    taken = {key: laws[key] for key in keys}
    _warn_of_softness(taken, _samples(arm, motion).q, rate, {key: sampled[key] for key in keys if key in sampled})
    return taken


def named_design(laws: Mapping[str, Law], name: str) -> str:
    """The key among `laws` that a name means, in any spelling: `pd-gravity` is `PD + gravity`, `lqr-t` `LQR(t)`."""
    keys = {plain_name(key): key for key in laws}
    if plain_name(name) not in keys:
        known = plain_name(name) in map(plain_name, law_purposes())  # a record of one joint may hold too little
        cause = f"controller '{name}' has more unknowns than the arm's joints can tell" if known else ""
        cause = cause or f"unknown controller '{name}'{close_to(plain_name(name), tuple(keys))}"
        raise ArmdynError(cause, expected=f"one of: {', '.join(keys)}", names=(name,))
    return keys[plain_name(name)]


def tip_designs(arm: Arm, motion: JointMotion, bandwidth: float) -> dict[str, Law]:
    """Laws of the tip's position; orientations would be singular wherever a wrist is stretched."""
    w = 2 * np.pi * bandwidth
    J = jacobian(arm, motion.q)
    M = augmented_mass_matrix(arm, motion.q)
    mobility = np.diagonal((J @ np.linalg.solve(M, J.swapaxes(-1, -2))).mean(0))
    # Where the tip barely moves, the posture rules, so that an arm keeps its elbow's side on its way through.
    least = MIN_MOBILITY_RATIO * mobility[:3].max()
    task: dict[str, Any] = {"task": "position", "posture": w, "singular": least}
    inertia = 1 / np.maximum(mobility, least)  # springs for what the tip shows along each axis
    return {
        "operational space": OperationalSpace.from_bandwidth(arm, bandwidth, **task),
        "impedance": Impedance(arm, inertia * w**2, 2 * inertia * w, **task),
    }


def robust_designs(arm: Arm, motion: JointMotion, bandwidth: float, inertia: NDArray) -> dict[str, Law]:
    """Sliding modes that expect a part of the motion's largest torques, or a tenth of a radian a reaction time."""
    w = 2 * np.pi * bandwidth
    reach = (
        UNEXPLAINED_TORQUE_RATIO * np.abs(joint_torque(arm, *motion, width=FRICTION_WIDTH)).max(0)
        + 1e-3 * w**2 * inertia
    )
    return {
        # Inside of the layer as stiff as Slotine and Li's law with twice its gain.
        "sliding mode": SlidingMode(arm, w, w * inertia, reach, reach / (w * inertia)),
        "super-twisting": SuperTwisting.from_bound(arm, w, TWISTING_ERROR * w**3),
    }


def adaptive_designs(arm: Arm, motion: JointMotion, bandwidth: float, inertia: NDArray | None = None) -> dict[str, Law]:
    """Adaptive laws that know neither the load at the tip nor the friction; damping by the joints' inertias (n,)."""
    w = 2 * np.pi * bandwidth
    M = mean_inertia(arm, motion)
    inertia = np.diagonal(M) if inertia is None else inertia
    unknowns = adapt(unknown_payload(arm), FRICTION)
    gain = adaptation_gains(unknowns, *motion, w * inertia, LEARNING_TIME_S)
    plain = (unknowns, w, w * inertia)
    # Craig's law needs an invertible M_hat, and records take room: these adapt the load's mass alone, kept positive.
    mass = adapt(unknown_mass(arm, (0.0, 0.0, 0.0)), FRICTION)
    mass_gain = adaptation_gains(mass, *motion, w * inertia, LEARNING_TIME_S)
    # A slow error Y phi leaves e' + psi e = M^-1 Y phi / w, and M^-1 stands in the update once more.
    craig_gain = adaptation_gains(mass, *motion, w * M @ M, LEARNING_TIME_S)
    positive = np.where(np.arange(mass.count) == 0, 0.0, -np.inf)
    return {
        "Slotine-Li": SlotineLi(*plain, gain),
        "composite Slotine-Li": CompositeSlotineLi(*plain, gain),
        **(
            {"concurrent Slotine-Li": ConcurrentSlotineLi(mass, w, w * inertia, mass_gain, lower=positive)}
            if mass.count <= RECORDS * arm.n
            else {}
        ),
        # At a load of 1 kg both learn masses as fast as the others.
        "natural Slotine-Li": NaturalSlotineLi(*plain, gain[0], gain),
        "projected Slotine-Li": ProjectedSlotineLi(*plain, gain[0], gain),
        "modified Slotine-Li": ModifiedSlotineLi(unknowns, w, gain),
        "Craig": Craig(mass, w**2, 2 * w, w, craig_gain, lower=positive),
    }


def regulators(arm: Arm, M: NDArray, pose: NDArray, bandwidth: float, rate: float) -> dict[str, Law]:
    """Weights that alone would give each joint the bandwidth.

    Errors that hold as much energy cost as much. Were angles weighed alike instead, heavy joints would move to mend
    what light ones lack, which a load at the wrist soon turns unstable.
    """
    w = 2 * np.pi * bandwidth
    root = np.sqrt(np.diagonal(M))
    largest, corrections = np.concatenate([1 / root, w / root]), w**2 * root
    return {
        "LQR(t)": TrajectoryLQR(arm, largest, corrections, rate),
        "LQR(measured)": MeasuredLQR(arm, largest, corrections, rate, pose=pose),
    }
