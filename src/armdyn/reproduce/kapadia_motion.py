"""Kapadia (1995), chapter 5 and figure 7.1: the optimised motion, and how well it is tracked."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from armdyn.dynamics.base.parameters import base_parameters
from armdyn.model.library.puma3 import puma3
from armdyn.reproduce.case import Picture, Row, Tell, attainable, claim
from armdyn.reproduce.kapadia_data import track
from armdyn.reproduce.kapadia_tables import COST_AFTER, COST_BEFORE, ELEVEN
from armdyn.simulation.result import SimulationResult
from armdyn.trajectory.excitation.multistage import Improved, Multistage, improve_motion
from armdyn.trajectory.excitation.multistage_start import heuristic_start
from armdyn.trajectory.motion_limits import MotionLimits

SAMPLES, STEP = 1000, 0.005  # of the motion; [s]
ITERATIONS = 15  # of the thesis
ASSUMED = (
    "Optimised motion: 5 s, 200 samples a second; P2, P3, P9-P11, P13-P15 and Coulomb friction count; starts by the "
    "heuristic of section 5.3 with the thesis's first cost; weights and steps are armdyn's.",
)


def optimised(quick: bool, tell: Tell) -> Improved:
    """The best motion from some starts, as the thesis tried several."""
    arm = puma3()
    # Table 5.1 limits positions and torques alone.
    limits = dataclasses.replace(MotionLimits.of(arm), velocity=np.full(arm.n, np.inf))
    problem = Multistage(base_parameters(arm), ELEVEN, limits, STEP)
    found = []
    for seed in range(1 if quick else 3):
        tell(f"optimising a motion, start {seed + 1}")
        u, q0 = heuristic_start(problem, SAMPLES, rng=np.random.default_rng(seed), sigma=1 / COST_BEFORE)
        found.append(improve_motion(problem, u, q0, steps=40 if quick else 120))
    return min(found, key=lambda each: each.costs[-1])


def tracked(best: Improved) -> dict[str, SimulationResult]:
    """The motion under PD control, and with the torques of the standard model fed forward."""
    return {name: track(best.trajectory, name) for name in ("PD", "feedforward")}


def rows(best: Improved, runs: dict[str, SimulationResult]) -> list[Row]:
    """Rows about the motion."""
    early = best.costs[0] / best.costs[min(ITERATIONS, len(best.costs) - 1)]
    errors = {name: float(np.sqrt((run.error**2).mean())) for name, run in runs.items()}
    accelerations = {name: _acceleration_error(run) for name, run in runs.items()}
    return [
        attainable(
            "cost J of the optimised motion (5.4.3)",
            f"{COST_BEFORE} to {COST_AFTER}, factor {COST_BEFORE / COST_AFTER:.2f}, in {ITERATIONS} iterations",
            f"{best.costs[0]:.4f} to {best.costs[-1]:.4f}, factor {best.factor:.1f}; {early:.1f} in {ITERATIONS} steps",
            best.factor > COST_BEFORE / COST_AFTER, "first motion, sampling, weights and steps are not given",
        ),
        claim(
            "feedforward tracks the optimised motion better than PD (5.4.3)", "yes",
            f"RMS {1e3 * errors['feedforward']:.1f} mrad against {1e3 * errors['PD']:.1f} mrad",
            errors["feedforward"] < errors["PD"], "friction is in neither law's model",
        ),
        claim(
            "under PD control the accelerations are not as planned", "yes",
            f"RMS error {accelerations['PD']:.0%} of them, {accelerations['feedforward']:.0%} with feedforward",
            accelerations["PD"] > 0.1,
        ),
    ]  # fmt: skip


def _acceleration_error(run: SimulationResult) -> float:
    """RMS of the difference between actual and planned accelerations, as part of the latter."""
    actual = np.gradient(run.qd, run.t, axis=0)
    return float(np.sqrt(((actual - run.qdd_ref) ** 2).mean() / (run.qdd_ref**2).mean()))


def pictures(best: Improved, runs: dict[str, SimulationResult]) -> list[Picture]:
    """Figures 5.2 and 7.1."""
    return [
        Picture("figure-5-2", "Figure 5.2: the optimised motion", _motion_figure(best)),
        Picture("figure-7-1", "Figure 7.1: the tracked motion", _tracking_figure(runs)),
    ]


def _motion_figure(best: Improved) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 7), layout="constrained")
    position, velocity, acceleration, cost = figure.subplots(2, 2).ravel()
    t = best.step * np.arange(len(best.motion.q))
    labels = [f"joint {j + 1}" for j in range(3)]
    for axis, values, name in (
        (position, np.degrees(best.motion.q), "position [deg]"),
        (velocity, best.motion.qd, "velocity [rad/s]"),
        (acceleration, best.motion.qdd, "acceleration [rad/s²]"),
    ):
        axis.plot(t, values, lw=1.2, label=labels)
        axis.set(xlabel="time [s]", ylabel=name)
    position.legend(fontsize=8)
    cost.semilogy(best.costs, lw=1.3)
    for level, name in ((COST_BEFORE, "before, as printed"), (COST_AFTER, "after, as printed")):
        cost.axhline(level, color="0.4", ls="--", lw=0.9)
        cost.text(len(best.costs) * 0.98, level, name, ha="right", va="bottom", fontsize=8)
    cost.set(xlabel="iteration", ylabel=r"J = 1 / $\sigma_{min}$(R)")
    for axis in (position, velocity, acceleration, cost):
        axis.grid(alpha=0.25)
    return figure


def _tracking_figure(runs: dict[str, SimulationResult]) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6.5), layout="constrained")
    axes = figure.subplots(3, 2, sharex=True)
    for j, (left, right) in enumerate(axes):
        run = runs["PD"]
        left.plot(run.t, np.degrees(run.q_ref[:, j]), color="0.5", ls="--", lw=1.2, label="planned")
        left.plot(run.t, np.degrees(run.q[:, j]), "C0", lw=1.2, label="tracked by PD")
        left.set_ylabel(f"joint {j + 1} [deg]")
        for name, each in runs.items():
            right.plot(each.t, 1e3 * each.error[:, j], lw=1.1, label=name)
        right.set_ylabel("error [mrad]")
    for axis in axes.ravel():
        axis.grid(alpha=0.25)
    for axis in axes[0]:
        axis.legend(fontsize=8)
    for axis in axes[-1]:
        axis.set_xlabel("time [s]")
    return figure
