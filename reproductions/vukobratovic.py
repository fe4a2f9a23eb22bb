"""Vukobratovic and Potkonjak (1979): the tip of a three-member manipulator goes straight up, figures 7 and 8."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.energy import kinetic_energy, potential_energy
from armdyn.dynamics.lagrange import lagrange
from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.kinematics.forward import forward_kinematics
from armdyn.kinematics.jacobian import jacobian
from armdyn.model.library.vukobratovic import vukobratovic3
from armdyn.simulation.simulate import simulate
from armdyn.trajectory.protocol import JointMotion
from armdyn.trajectory.tip.from_tip import joint_trajectory
from armdyn.trajectory.tip.motion import lift
from reproductions.case import Case, Picture, Row, Tell, call_time, check, differs, panels, show

START = np.array([np.pi, -np.pi / 2, -np.pi / 2])
ASSUMED = (
    "Figure 6 (geometry) is not in the text: a vertical axis, then two horizontal ones; members of 1 m, solid "
    "cylinders of radius 0.05 m. Tensors of inertia follow.",
    "Given: masses 0.1, 2, 2 kg, the first state, 2 m/s² upward for 1 s.",
)


class Lift(NamedTuple):
    """The movement: times, joint motion, driving torques P = W qdd - V, and the same by Newton-Euler."""

    t: NDArray
    motion: JointMotion
    P: NDArray
    tau: NDArray


def reproduce(quick: bool, seed: int, tell: Tell) -> Case:
    """The case; `quick`: the torques are replayed in coarser steps. Nothing is random: `seed` changes nothing."""
    arm = vukobratovic3()
    tell("joint motion of the lift")
    trajectory = joint_trajectory(arm, lift(forward_kinematics(arm, START)), START, task="position")
    t = np.linspace(0, 1, 501)
    motion = trajectory(t)
    W, V = lagrange(arm, motion.q, motion.qd)[:2]
    P = np.einsum("kij,kj->ki", W, motion.qdd) - V
    found = Lift(t, motion, P, inverse_dynamics(arm, *motion))
    tell("replaying the torques")
    rows = [*_motion_rows(found), *_torque_rows(found), _replay_row(trajectory, 1000 if quick else 4000), _time_row()]
    rows.append(
        differs(
            "curves of figures 7 and 8", "drawn", f"torques {_list(P[0])} at first, {_list(P[-1])} N m at last",
            "lengths and inertias are in a figure that is not there, so numbers cannot agree",
        )
    )  # fmt: skip
    picture = Picture("figures-7-8", "Figures 7 and 8: driving torques and trajectories", _figure(found))
    title = "Vukobratovic and Potkonjak (1979): a functional movement by Lagrange's equations"
    return Case("vukobratovic-1979", title, ASSUMED, tuple(rows), (picture,))


def _list(values: NDArray) -> str:
    return ", ".join(f"{x:.3g}" for x in np.where(np.abs(values) < 1e-9, 0.0, values))


def _motion_rows(found: Lift) -> list[Row]:
    arm, motion = vukobratovic3(), found.motion
    tip = forward_kinematics(arm, motion.q)[:, :3, 3]
    speed = (jacobian(arm, motion.q[-1])[:3] @ motion.qd[-1])[2]
    rise = tip[-1, 2] - tip[0, 2]
    off = np.abs(tip - tip[0] - np.outer(found.t**2, [0, 0, 1])).max()
    return [
        check("first position", "(pi, -pi/2, -pi/2)", _list(motion.q[0]), np.allclose(motion.q[0], START, atol=1e-9)),
        check(
            "tip at the end", "1 m higher, 2 m/s (from 2 m/s² for 1 s)", f"{rise:.6f} m higher, {speed:.6f} m/s",
            abs(rise - 1) < 1e-6 and abs(speed - 2) < 1e-5, f"never more than {off:.0e} m off the line",
        ),
    ]  # fmt: skip


def _torque_rows(found: Lift) -> list[Row]:
    arm, (q, qd, _) = vukobratovic3(), found.motion
    error = float(np.abs(found.P - found.tau).max())
    energy = kinetic_energy(arm, q, qd) + potential_energy(arm, q)
    gained = float(energy[-1] - energy[0])
    work = float(np.trapezoid((found.P * qd).sum(1), found.t))
    return [
        check(
            "equations W qdd = P + V by the recursion (11)-(54)", "a method, no numbers",
            f"equal to Newton-Euler within {error:.0e} N m", error < 1e-9, "with errata 1 to 3",
        ),
        check(
            "work of the drives is the energy gained", "a law", f"{work:.3f} J and {gained:.3f} J",
            abs(work - gained) < 1e-3 * gained,
        ),
    ]  # fmt: skip


def _replay_row(trajectory: Any, rate: int) -> Row:
    """Integrate the arm under the torques alone, without feedback, as the paper's simulation does."""
    arm = vukobratovic3()
    middle = trajectory((np.arange(rate) + 0.5) / rate)  # torques are held between samples
    torques = inverse_dynamics(arm, *middle)
    run = simulate(arm, lambda t, q, qd, ref: torques[min(round(t * rate), rate - 1)], trajectory, rate=rate)
    tip, goal = (forward_kinematics(arm, q[-1])[:3, 3] for q in (run.q, run.q_ref))
    miss = float(np.linalg.norm(tip - goal))
    return check(
        "the torques alone move the tip there", "simulated", f"{1e3 * miss:.2g} mm beside the goal after 1 s",
        miss < 1e-3, "integrated from rest without feedback",
    )  # fmt: skip


def _time_row() -> Row:
    arm, zero = vukobratovic3(), np.zeros(3)
    taken = 1e6 * call_time(lambda: lagrange(arm, START, zero))
    return show("time to form the equations once", "0.3 s on a PDP-11/45", f"{taken:.1f} us, one call from Python")


def _figure(found: Lift) -> Any:
    figure, ((torque, angle), (rate, stick)) = panels(10, 7, 2, 2)
    for j in range(3):
        label = f"joint {j + 1}"
        torque.plot(found.t, found.P[:, j], label=label)
        angle.plot(found.t, found.motion.q[:, j], label=label)
        rate.plot(found.t, found.motion.qd[:, j], label=label)
    torque.set(title="figure 7: driving torques", ylabel="P [N m]", xlabel="time [s]")
    angle.set(title="figure 8: trajectories", ylabel=r"$\varphi$ [rad]", xlabel="time [s]")
    rate.set(title="joint rates", ylabel=r"$d\varphi/dt$ [rad/s]", xlabel="time [s]")
    _draw_arm(stick, found)
    for axis in (torque, angle, rate):
        axis.legend(fontsize=8)
    return figure


def _draw_arm(axis: Any, found: Lift) -> None:
    """The arm every 0.2 s, in the plane of its motion."""
    from armdyn.kinematics.forward import link_poses

    arm = vukobratovic3()
    for k in range(0, len(found.t), 100):
        q = found.motion.q[k]
        poses = link_poses(arm, q)
        # Members are 1 m long with their frames in the middle: the joint is half a metre back along the member.
        joints = [[0, 0, 0], [0, 0, 1]]
        joints += [(poses[i] @ [0.5, 0, 0, 1])[:3] for i in (1, 2)]
        points = np.array(joints)
        axis.plot(points[:, 0], points[:, 2], "o-", ms=3, lw=1.4, color=str(0.75 - 0.7 * found.t[k]), label=None)
    tip = forward_kinematics(arm, found.motion.q)[:, :3, 3]
    axis.plot(tip[:, 0], tip[:, 2], "C3--", lw=1.2, label="way of the tip")
    axis.set(title="the arm every 0.2 s (later: darker)", xlabel="x [m]", ylabel="z [m]", aspect="equal")
    axis.legend(fontsize=8)
