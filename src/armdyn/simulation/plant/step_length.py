"""Steps short enough for the plant: friction stops light links, and springs swing, faster than controllers sample.

About a pose a plant obeys M x'' + D x' + K x = ..., x being the links' positions and those of rotors behind springs.
With d and k the largest eigenvalues of M^-1 D and M^-1 K no motion is faster than (d + sqrt(d² + 4 k)) / 2: multiply by
an eigenvector from the left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.control.laws.model import FRICTION_WIDTH
from armdyn.dynamics.drive import augmented_mass_matrix
from armdyn.dynamics.springs import spring_columns
from armdyn.errors import ModelError
from armdyn.model.joint import DRIVE_NAMES, FRICTION_NAMES, STEEP_SPEED
from armdyn.simulation.plant.plant import Plant

# Of steps times rates: beyond 2.8 Runge-Kutta of order four lets every oscillation and decay grow. What is chosen, one,
# leaves room for poses and runs of a batch that are not looked at.
MAX_STEP_TIMES_RATE = 2.5
DRY = ("coulomb", "static")
N_EXAMPLES = 8  # runs of a batch, and instants of a motion, that stand for all in checks before a run


class Fastest(NamedTuple):
    """The fastest motion of a plant by itself."""

    rate: float  # [1/s]
    joint: int
    springs: bool  # whether springs have more part in it than friction


def fastest(plant: Plant, q: NDArray) -> Fastest:
    """Return the fastest mode at the poses q (P, n) and of some runs of a batch."""
    mode = Fastest(0.0, 0, False)
    arm, kind = plant.arm, plant.kind
    for theta, friction, rows in _lanes(plant):
        D, K = _resistance(plant, friction if plant.friction else 0 * friction, rows)
        D, K = _add_contact(plant, q, D, K)
        if not (D.any() or K.any()):
            continue
        links = rows.copy()
        links[list(kind.elastic), DRIVE_NAMES.index("inertia")] = 0.0
        M = np.zeros((len(q), D.shape[-1], D.shape[-1]))
        M[:, : arm.n, : arm.n] = augmented_mass_matrix(arm, q, theta=theta, drive=links)
        for k, i in enumerate(kind.elastic):
            M[:, arm.n + k, arm.n + k] = rows[i, DRIVE_NAMES.index("inertia")]
        damping, stiffness = _largest(M, D), _largest(M, K)
        rate = (damping.value + np.sqrt(damping.value**2 + 4 * stiffness.value)) / 2
        if rate > mode.rate:
            springs = bool(stiffness.value > damping.value**2)
            x = (stiffness if springs else damping).coordinate
            mode = Fastest(float(rate), x if x < arm.n else kind.elastic[x - arm.n], springs)
    return mode


def substeps_for(plant: Plant, q: NDArray, h: float) -> int:
    """Into how many steps those of h [s] must be divided."""
    return max(1, int(np.ceil(fastest(plant, q).rate * h)))


def check_step(plant: Plant, q: NDArray, h: float) -> None:
    """Complain about springs that are too fast for steps of h [s]."""
    mode = fastest(plant, q)
    touched = plant.contact is not None or bool(plant.stops)
    if (mode.springs or touched) and mode.rate * h > MAX_STEP_TIMES_RATE:
        name = plant.arm.coordinate_names[mode.joint]
        what = "the spring" if plant.kind.elastic else "what stops or touches the link"
        cause = f"{what} of joint '{name}' moves at {mode.rate:.3g} rad/s, too fast for steps of {1e3 * h:.3g} ms"
        remedy = (
            f"make them shorter, {int(np.ceil(mode.rate * h))} times or more, with substeps=, or leave it "
            "out to have them chosen"
        )
        raise ModelError(cause, where="simulate", remedy=remedy, names=(name,))


def _lanes(plant: Plant) -> list[tuple[NDArray, NDArray, NDArray]]:
    """Inertial parameters, friction and drives of some runs, spread over the batch; servos are springs and dampers."""
    theta = plant.own_theta.reshape(-1, 10 * plant.arm.n_joints)
    friction = plant.own_friction.reshape(-1, *plant.own_friction.shape[-2:])
    drive = plant.own_drive
    if plant.servo is not None:
        stiffness, damping, _ = np.moveaxis(plant.servo.rows(plant.arm.n), -2, 0)
        servo_drive = np.zeros((*stiffness.shape[:-1], plant.arm.n_joints, len(DRIVE_NAMES)))
        columns = [DRIVE_NAMES.index(name) for name in ("damping", "stiffness")]
        for column, values in zip(columns, (damping, stiffness), strict=True):
            servo_drive[..., list(plant.arm.coordinate_indices), column] = values
        drive = drive + servo_drive
    drive = drive.reshape(-1, *drive.shape[-2:])
    runs = max(len(theta), len(friction), len(drive))
    chosen = np.unique(np.linspace(0, runs - 1, N_EXAMPLES).astype(int))
    return [(theta[k % len(theta)], friction[k % len(friction)], drive[k % len(drive)]) for k in chosen]


def _steepest_slope(plant: Plant, friction: NDArray) -> NDArray:
    """Slopes (n,) that levels of the friction curve add at rest, but for those that are dry friction."""
    speed, torque = friction[:, friction.shape[1] - 2 * plant.arm.trace_sizes["l"] :].reshape(len(friction), -1, 2).T
    return np.asarray(np.where(speed > STEEP_SPEED, np.maximum(torque, 0.0) / speed, 0.0).sum(axis=0))


def _resistance(plant: Plant, friction: NDArray, drive: NDArray) -> tuple[NDArray, NDArray]:
    """D and K of links, then of the rotors behind springs."""
    n, elastic = plant.arm.n, plant.kind.elastic
    rotors = {i: n + k for k, i in enumerate(elastic)}
    D, K = np.zeros((2, n + len(elastic), n + len(elastic)))
    viscous, damping, stiffness = FRICTION_NAMES.index("viscous"), *map(DRIVE_NAMES.index, ("damping", "stiffness"))
    resisting = friction[:, viscous] + _steepest_slope(plant, friction)
    if plant.kind.friction == "blurred":
        resisting = resisting + np.abs(friction[:, [FRICTION_NAMES.index(x) for x in DRY]]).max(1) / FRICTION_WIDTH
    if plant.arm.shafts is not None:  # such arms have no springs behind rotors
        S, G = plant.arm.shafts, np.eye(n) if plant.arm.G is None else plant.arm.G
        return S.T @ np.diag(resisting + drive[:, damping]) @ S, G.T @ np.diag(drive[:, stiffness]) @ G
    for i in range(n):
        rotor = rotors.get(i, i)
        rubbing = rotor if plant.kind.motor_friction else i
        D[rubbing, rubbing] += resisting[i]
        D[rotor, rotor] += drive[i, damping]
        K[i, i] += drive[i, stiffness]
        if rotor != i:
            pair = np.ix_([i, rotor], [i, rotor])
            K[pair] += plant.springs[i, 0] * np.array([[1, -1], [-1, 1]])
            D[pair] += plant.springs[i, 1] * np.array([[1, -1], [-1, 1]])
    return D, K


def _add_contact(plant: Plant, q: NDArray, D: NDArray, K: NDArray) -> tuple[NDArray, NDArray]:
    """The same with what contacts and end stops add at poses q (P, n), as if all acted."""
    n = plant.arm.n
    if plant.drive and plant.arm.springs:
        K = K + np.pad(_spring_stiffness(plant, q), ((0, 0), *[(0, len(K) - n)] * 2))
    if plant.stops:
        K = K.copy()
        K[..., range(n), range(n)] += plant.stop_rows[:, 2]
    if plant.contact is None:
        return D, K
    stiff, damped = plant.contact.stiffness_at(plant.arm, q)
    D, K = (np.array(np.broadcast_to(x, (len(q), *x.shape[-2:]))) for x in (D, K))
    K[:, :n, :n] += stiff
    D[:, :n, :n] += damped
    return D, K


def _spring_stiffness(plant: Plant, q: NDArray) -> NDArray:
    """Bounds k J'J of the stiffness of springs between links at poses q: (P, n, n)."""
    K = np.zeros((len(q), plant.arm.n, plant.arm.n))
    columns = spring_columns(plant.arm, q)
    for i, spring in enumerate(plant.arm.springs):
        slope = columns[..., 2 * i + 1]  # of the length
        K += spring.stiffness * slope[..., :, None] * slope[..., None, :]
    return K


class _Largest(NamedTuple):
    value: float
    coordinate: int  # that moves most in its eigenvector, counted in its own inertia


def _largest(M: NDArray, A: NDArray) -> _Largest:
    """The largest eigenvalue of M^-1 A over all poses; nothing where M is none of physically consistent bodies."""
    if not A.any():
        return _Largest(0.0, 0)
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return _Largest(0.0, 0)
    half = np.linalg.solve(L, np.broadcast_to(A, M.shape))
    values, vectors = np.linalg.eigh(np.linalg.solve(L, half.swapaxes(-1, -2)))
    k = int(np.argmax(values[:, -1]))
    motion = np.linalg.solve(L[k].T, vectors[k, :, -1])
    return _Largest(float(values[k, -1]), int(np.argmax(np.abs(motion))))
