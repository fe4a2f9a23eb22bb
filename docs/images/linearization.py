"""Make the pictures of docs/linearization.md again: `python docs/images/linearization.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import armdyn


def swing(t: np.ndarray, duration: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The two-link arm from hanging down to standing up, along a polynomial of fifth degree."""
    start, way = np.array([-np.pi / 2, 0.0]), np.array([np.pi, 2 * np.pi])
    s = t[:, None] / duration
    place = 10 * s**3 - 15 * s**4 + 6 * s**5
    speed = (30 * s**2 - 60 * s**3 + 30 * s**4) / duration
    rise = (60 * s - 180 * s**2 + 120 * s**3) / duration**2
    return start + way * place, way * speed, way * rise


def deviations(
    motion: armdyn.dynamics.linear.linearize.LinearMotion, start: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """How a small error at the start grows under the planned torques: in the arm, and in the linear model."""
    arm, dt = motion.arm, motion.t[1]
    tau = armdyn.inverse_dynamics(arm, motion.q, motion.qd, motion.qdd)

    def rate(x: np.ndarray, k: int) -> np.ndarray:
        return np.concatenate([x[2:], armdyn.forward_dynamics(arm, x[:2], x[2:], tau[k])])

    planned = np.hstack([motion.q, motion.qd])
    x, states = planned[0] + start, [planned[0] + start]
    for k in range(0, len(tau) - 2, 2):  # Runge-Kutta over two samples, the middle one in between
        k1 = rate(x, k)
        k2 = rate(x + dt * k1, k + 1)
        k3 = rate(x + dt * k2, k + 1)
        x = x + dt / 3 * (k1 + 2 * k2 + 2 * k3 + rate(x + 2 * dt * k3, k + 2))
        states.append(x)
    predicted = [start]
    for A in motion.discretize().A:
        predicted.append(A @ predicted[-1])
    return np.array(states) - planned[::2], np.array(predicted)


def main(folder: Path) -> None:
    """Draw both pictures and print what the page says about the second."""
    arm, t = armdyn.arms.planar2(), np.linspace(0, 1, 1001)
    motion = armdyn.linearize_motion(arm, t, *swing(t))
    armdyn.plot_modes(motion).savefig(folder / "linearization_modes.png", dpi=70)

    actual, predicted = deviations(motion, np.array([1e-3, 0, 0, 0]))
    figure = Figure(figsize=(7, 3), layout="constrained")
    axes = figure.subplots()
    for joint in (0, 1):
        axes.plot(t[::2], 1e3 * actual[:, joint], f"C{joint}", label=f"joint {joint + 1}, the arm")
        axes.plot(t, 1e3 * predicted[:, joint], f"C{joint}--", lw=3, alpha=0.5, label=f"joint {joint + 1}, A(t)")
    axes.set(xlabel="time [s]", ylabel="deviation [mrad]", title="An error of 1 mrad in joint 1, under planned torques")
    axes.legend()
    figure.savefig(folder / "linearization_deviation.png", dpi=70)
    error = np.abs(actual - predicted[::2]).max(axis=0)[:2]
    print(f"largest deviation {np.abs(actual).max(axis=0)[:2]} rad, error of the linear model {error} rad")


if __name__ == "__main__":
    main(Path(__file__).parent)
