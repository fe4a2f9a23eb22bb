"""ECE470 (2019): the study guide's kinematics, feedback linearisation and adaptive control, with numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import cumulative_trapezoid

from armdyn.control.adaptive.slotine_li import SlotineLi
from armdyn.control.adaptive.unknowns import adapt
from armdyn.control.laws.computed_torque import ComputedTorque
from armdyn.control.theory.lyapunov import Lyapunov
from armdyn.dynamics.coriolis import coriolis_matrix
from armdyn.dynamics.mass_matrix import mass_matrix
from armdyn.dynamics.regressors.split import unknown_mass
from armdyn.errors import ignore_warnings
from armdyn.kinematics.forward import forward_kinematics, link_poses
from armdyn.kinematics.inverse import inverse_kinematics
from armdyn.kinematics.jacobian import jacobian
from armdyn.model.arm import Arm
from armdyn.model.library.puma560 import puma560
from armdyn.model.library.textbook import planar2, stanford
from armdyn.simulation.compare import Sway
from armdyn.simulation.result import SimulationResult
from armdyn.simulation.simulate import simulate
from armdyn.spatial.rotation import compose, from_zyz, rotation_x, rotation_y, rotation_z, skew, to_zyz
from reproductions.case import Case, Picture, Row, Tell, check, claim, panels

ROUND_OFF = 1e-12
KP, KD = 100.0, 12.0  # roots of s² + 12 s + 100: -6 ± 8 i
LOAD_KG = 1.5  # kg at the tip, unknown to the adaptive law
RATE_HZ = 10_000.0  # Hz, which stands for continuous time
ASSUMED = (
    "The guide has no numbers: rotations, poses and states are random; kinematics of the Stanford arm and PUMA 560, "
    "control on the two-link arm of 15 kg.",
    f"Feedback linearisation with Kp = {KP:g}, Kd = {KD:g}; adaptive control: Lambda = diag(8, 6), K = diag(60, 15), "
    f"Gamma = 0.5, an unknown load of {LOAD_KG:g} kg; both at 10 kHz, which stands for continuous time.",
)


def reproduce(quick: bool, seed: int, tell: Tell) -> Case:
    """The case; `quick` changes nothing, it is short."""
    rng = np.random.default_rng(seed)
    tell("rotations")
    rows = [*_rotation_rows(rng), _zyz_row(rng)]
    tell("kinematics")
    rows += [_dh_row(rng), _wrist_row(rng), *_jacobian_rows(rng)]
    tell("dynamics")
    rows += _model_rows(rng)
    tell("feedback linearisation")
    linear, expected = _run_linearised()
    rows.append(_linearised_row(linear, expected))
    tell("adaptive control")
    law, run = _adaptive(np.diag([60.0, 15.0]))
    found = law.lyapunov(planar2().with_payload(LOAD_KG), [LOAD_KG], run, form="ece470")
    rows += _adaptive_rows(run, found)
    pictures = (
        Picture("feedback-linearisation", "Section 3.2: feedback linearisation", _linear_figure(linear, expected)),
        Picture("adaptive", "Section 3.3: adaptive control", _adaptive_figure(run, found)),
    )
    title = "ECE470 (2019): kinematics, feedback linearisation and adaptive control"
    return Case("ece470", title, ASSUMED, tuple(rows), pictures)


def _largest(difference: NDArray) -> float:
    return float(np.abs(difference).max())


# -- section 1: kinematics ---------------------------------------------------------------------------------


def _rotation_rows(rng: np.random.Generator) -> list[Row]:
    theta, phi, psi = rng.uniform(-3, 3, 3)
    M1, M2, M3 = (from_zyz(rng.uniform(-3, 3, 3)) for _ in range(3))
    moving = compose((rotation_x(theta), None), (rotation_z(phi), None))
    mixed = compose((rotation_x(theta), None), (rotation_z(phi), 0), (rotation_z(psi), None))
    chain = compose((M1, None), (M2, 0), (M3, 1))
    errors = {
        "turns about own axes: Rx Rz": moving - rotation_x(theta) @ rotation_z(phi),
        "a turn about the fixed z in between: Rz Rx Rz": mixed - rotation_z(phi) @ rotation_x(theta) @ rotation_z(psi),
        "turns given in frames 0 and 1: M1 M3 M1' M2 M1": chain - M1 @ M3 @ M1.T @ M2 @ M1,
    }
    rows = [
        check(f"1.3, {name}", "formula", f"equal within {_largest(error):.0e}", _largest(error) < ROUND_OFF)
        for name, error in errors.items()
    ]
    w, R = rng.normal(size=3), M1
    gap = _largest(R @ skew(w) @ R.T - skew(R @ w))
    rows.append(check("1.8, R S(w) R' = S(R w)", "identity", f"equal within {gap:.0e}", gap < ROUND_OFF))
    return rows


def _zyz_row(rng: np.random.Generator) -> Row:
    angles = rng.uniform([-3, 0.1, -3], [3, 3, 3], (100, 3))
    R = from_zyz(angles)
    product = np.array([rotation_z(a) @ rotation_y(b) @ rotation_z(c) for a, b, c in angles])
    entry = _largest(R[:, 2, 1] - np.sin(angles[:, 1]) * np.sin(angles[:, 2]))
    error = max(_largest(R - product), entry, _largest(to_zyz(R) - angles))
    return check(
        "1.3, ZYZ matrix and back", "entry (3, 2) is - s_theta s_psi",
        f"+ s_theta s_psi; angles found within {error:.0e}", error < 1e-11, "erratum 1",
    )  # fmt: skip


def _dh_row(rng: np.random.Generator) -> Row:
    """Products of the printed matrix against forward kinematics."""
    kinds, table = "RPRR", rng.uniform(-1, 1, (4, 4))
    rows = [
        {"kind": kind, "a": a, "alpha": alpha, "d": d, "theta": theta}
        for kind, (a, alpha, d, theta) in zip(kinds, table, strict=True)
    ]
    q = rng.uniform(-1, 1, 4)
    H = np.eye(4)
    for kind, (a, alpha, d, theta), x in zip(kinds, table, q, strict=True):
        angle, offset = (theta + x, d) if kind == "R" else (theta, d + x)
        c, s, ca, sa = np.cos(angle), np.sin(angle), np.cos(alpha), np.sin(alpha)
        H = H @ [[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, offset], [0, 0, 0, 1]]
    error = _largest(forward_kinematics(Arm.from_dh(rows), q) - H)
    return check("1.5, 1.6, products of DH matrices", "formula", f"equal within {error:.0e} m", error < ROUND_OFF)


def _wrist_row(rng: np.random.Generator) -> Row:
    arm = puma560("standard")
    lower, upper = arm.position_limits
    q = rng.uniform(lower, upper, (50, 6))
    poses = forward_kinematics(arm, q)
    found = inverse_kinematics(arm, poses, q)
    count = np.isfinite(found.all_solutions[..., 0]).sum(-1)
    error = _largest(forward_kinematics(arm, found.q) - poses)
    return check(
        "1.7, inverse kinematics by decoupling at the wrist", "a method",
        f"PUMA 560: all 50 random poses within {error:.0e} m, {count.max()} solutions each at most",
        bool(found.success.all()) and error < 1e-9,
    )  # fmt: skip


def _columns(arm: Arm, poses: NDArray, point: NDArray, links: int) -> NDArray:
    """The guide's Jacobian (6, n) of a point on a link, by hand: z x (point - o) or z, and z or 0."""
    J = np.zeros((6, arm.n))
    before = np.concatenate([arm.base_pose[None], poses])
    for j, joint in enumerate(arm.joints[:links]):
        z, o = before[j, :3, 2], before[j, :3, 3]
        J[:, j] = [*np.cross(z, point - o), *z] if joint.kind == "revolute" else [*z, 0, 0, 0]
    return J


def _jacobian_rows(rng: np.random.Generator) -> list[Row]:
    arm = stanford()
    q = rng.uniform(-1, 1, 6)
    J = jacobian(arm, q)
    error = _largest(J - _columns(arm, link_poses(arm, q), forward_kinematics(arm, q)[:3, 3], arm.n))
    h = 1e-6
    ends = [forward_kinematics(arm, q + sign * h * np.eye(6))[:, :3, 3] for sign in (1, -1)]
    slope = _largest(J[:3] - (ends[0] - ends[1]).T / (2 * h))
    return [
        check("1.8, Jacobian z x (o_n - o) and z", "formula", f"Stanford arm: equal within {error:.0e}",
              error < ROUND_OFF),
        check("1.8, it is the derivative of the position", "theorem", f"differences agree within {slope:.0e}",
              slope < 1e-8),
    ]  # fmt: skip


# -- section 2: dynamics -----------------------------------------------------------------------------------


def _model_rows(rng: np.random.Generator) -> list[Row]:
    arm = puma560("standard")
    q, qd = rng.uniform(-2, 2, (2, 6))
    error = _largest(mass_matrix(arm, q) - _energy_matrix(arm, q))
    least = min(np.linalg.eigvalsh(mass_matrix(arm, rng.uniform(-3, 3, (200, 6)))).min(-1))
    h = 1e-6
    rate = (mass_matrix(arm, q + h * qd) - mass_matrix(arm, q - h * qd)) / (2 * h)
    N = rate - 2 * coriolis_matrix(arm, q, qd)
    skewness = _largest(N + N.T)
    return [
        check("2.2, D(q) from the links' Jacobians, (7)", "formula", f"PUMA 560: equal within {error:.0e} kg m²",
              error < 1e-11, "erratum 4: the lever reaches to the link's own centre"),
        check("2.2, (A1) M is positive definite", "assumed", f"least eigenvalue of 200: {least:.2g}", least > 0),
        check("2.2, (A2) dM/dt - 2 C is skew", "assumed", f"symmetric part {skewness:.0e}", skewness < 1e-8,
              "with the Christoffel matrix, and dM/dt by differences"),
    ]  # fmt: skip


def _energy_matrix(arm: Arm, q: NDArray) -> NDArray:
    """Equation (7): sum of m Jv' Jv + Jw' R I R' Jw over the links."""
    D, poses = np.zeros((arm.n, arm.n)), link_poses(arm, q)
    for i, (pose, link) in enumerate(zip(poses, arm.links, strict=True)):
        R = pose[:3, :3]
        J = _columns(arm, poses, R @ link.inertia.com + pose[:3, 3], i + 1)
        D += link.inertia.mass * J[:3].T @ J[:3] + J[3:].T @ R @ link.inertia.tensor_com @ R.T @ J[3:]
    return D


# -- section 3: control ------------------------------------------------------------------------------------


def _run_linearised() -> tuple[SimulationResult, NDArray]:
    """A run under feedback linearisation, and the errors that e'' + Kd e' + Kp e = 0 predicts."""
    arm = planar2()
    reference = Sway.within(arm, 2.0)
    start = reference(0.0)
    first = np.array([0.4, -0.3])
    law = ComputedTorque(arm, KP, KD)
    run = simulate(arm, law, reference, rate=RATE_HZ, q0=start.q - first, qd0=start.qd, every=20)
    damping, w = KD / 2, np.sqrt(KP - KD**2 / 4)
    shape = np.exp(-damping * run.t) * (np.cos(w * run.t) + damping / w * np.sin(w * run.t))
    return run, shape[:, None] * first


def _linearised_row(run: SimulationResult, expected: NDArray) -> Row:
    error = _largest(run.error - expected)
    return check(
        "3.2, errors obey e'' + Kd e' + Kp e = 0", "theorem",
        f"both joints within {1e3 * error:.2g} mrad of the solution", error < 1e-3, "torques are held for 0.1 ms",
    )  # fmt: skip


def _adaptive(K: NDArray) -> tuple[SlotineLi, SimulationResult]:
    arm = planar2()
    with ignore_warnings():  # of gains that do not commute, which is the point
        law = SlotineLi.from_inverse_gain(adapt(unknown_mass(arm, (0, 0, 0))), [8.0, 6.0], K, 0.5)
    reference = Sway.within(arm, 4.0)
    start = reference(0.0).q - np.array([0.4, -0.3])
    return law, simulate(arm.with_payload(LOAD_KG), law, reference, rate=RATE_HZ, q0=start, every=10, check=False)


def _adaptive_rows(run: SimulationResult, found: Lyapunov) -> list[Row]:
    rise = float(np.diff(found.V).max() / found.V[0])
    balance = _imbalance(run, found)
    law, full = _adaptive(np.array([[60.0, 25.0], [25.0, 15.0]]))
    wrong = _imbalance(full, law.lyapunov(planar2().with_payload(LOAD_KG), [LOAD_KG], full, form="ece470"))
    end, mass = _largest(run.error[-1]), float(run.states["phi"][-1, 0])
    return [
        check("3.3, V never rises", "theorem", f"largest rise {rise:.0e} of the first V", rise < 1e-4, "diagonal K"),
        check("3.3, dV/dt = -e' Lambda K Lambda e - de' K de", "theorem", f"V - integral within {balance:.1%} of V",
              balance < 0.01, "diagonal K"),
        claim("3.3, the same with a full K", "claimed (A4, A5)", f"V - integral off by {wrong:.1%} of V", wrong < 0.01,
              "erratum 2: the claim needs Lambda K = K Lambda"),
        check("3.3, the error goes to zero", "theorem", f"{1e3 * end:.2g} mrad after 4 s", end < 2e-3,
              "erratum 3: by Barbalat's lemma, as the reference moves"),
        check("3.3, the estimate stays bounded", "implied", f"{mass:.3f} kg, true {LOAD_KG:g} kg",
              abs(mass - LOAD_KG) < 0.05, "it converges here because the motion excites it"),
    ]  # fmt: skip


def _imbalance(run: SimulationResult, found: Lyapunov) -> float:
    """How far V is from its first value and the integral of its rate, as part of the former."""
    integral = cumulative_trapezoid(found.rate, run.t, initial=0.0)
    return _largest(found.V - found.V[0] - integral) / float(found.V[0])


# -- figures -----------------------------------------------------------------------------------------------


def _linear_figure(run: SimulationResult, expected: NDArray) -> Any:
    figure, axis = panels(10, 4)
    for j in range(2):
        axis.plot(run.t, run.error[:, j], f"C{j}", lw=1.3, label=f"joint {j + 1}, simulated")
        axis.plot(run.t[::25], expected[::25, j], f"C{j}o", ms=4, mfc="none", label=f"joint {j + 1}, solution")
    axis.set(xlabel="time [s]", ylabel="error [rad]", xlim=(0, 1.5))
    axis.set_title(f"$\\ddot e + {KD:g}\\,\\dot e + {KP:g}\\,e = 0$")
    axis.legend(fontsize=8)
    return figure


def _adaptive_figure(run: SimulationResult, found: Lyapunov) -> Any:
    figure, (errors, mass, energy) = panels(10, 7, 3, 1, sharex=True)
    errors.plot(run.t, run.error, lw=1.2, label=[f"joint {j + 1}" for j in range(2)])
    errors.set(ylabel="error [rad]", title=f"adaptive control with an unknown load of {LOAD_KG:g} kg")
    errors.legend(fontsize=8)
    mass.plot(run.t, run.states["phi"][:, 0], lw=1.2, label="estimate")
    mass.axhline(LOAD_KG, color="0.4", ls="--", lw=0.9, label="true")
    mass.set(ylabel="load [kg]")
    mass.legend(fontsize=8)
    energy.semilogy(run.t, found.V, lw=1.2)
    energy.set(ylabel="Lyapunov function V", xlabel="time [s]", xlim=(0, run.t[-1]))
    return figure
