"""Kapadia (1995), the Sarcos arm: gravity parameters from resting poses, step responses with compensation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.control.laws.pd import PD, GravityPD
from armdyn.control.theory.gains import pd_gains
from armdyn.dynamics.base.parameters import BaseParameters, base_parameters
from armdyn.dynamics.gravity import gravity_torque
from armdyn.identification.estimators.data import Data, Estimate
from armdyn.identification.estimators.least_squares import LeastSquares
from armdyn.model.arm import Arm
from armdyn.model.library.sarcos import sarcos
from armdyn.simulation.result import SimulationResult
from armdyn.simulation.simulate import simulate
from reproductions.case import Picture, Row, Table, check, claim, differs, panels
from reproductions.kapadia_tables import GRAVITY, TORQUE_ERRORS

POSES = 200
STEPPED_JOINTS = 4  # joints 1 to 4, as in figures 7.13 and 7.14
STEP_RAD, STEP_DURATION_S = 0.2, 2.0  # rad, s
BANDWIDTH_HZ = 1.5  # Hz
POSE = np.array([0.3, -0.4, 0.2, 0.8, 0.0, 0.3, 0.0])
ASSUMED = (
    f"Sarcos: {POSES} random resting poses; torque noise as large as the errors of Table 7.7. Masses and inertias are "
    f"assumed (the thesis identified gravity alone). Steps of {STEP_RAD:g} rad under PD control of {BANDWIDTH_HZ:g} "
    "Hz.",
)


class Gravity(NamedTuple):
    """Gravity identification on simulated poses."""

    base: BaseParameters
    q: NDArray  # (N, 7)
    tau: NDArray  # (N, 7) as measured
    found: Estimate

    @property
    def arm(self) -> Arm:
        """The Sarcos arm with the identified parameters."""
        return self.base.source.with_theta(self.base.nearest(self.found.x, self.base.source.theta))


def identify_gravity(seed: int) -> Gravity:
    """Least squares for the base gravity parameters."""
    arm, rng = sarcos(), np.random.default_rng(seed)
    base = base_parameters(arm, terms="gravity")
    q = rng.uniform(-1.5, 1.5, (POSES, arm.n))
    tau = gravity_torque(arm, q) + TORQUE_ERRORS * rng.normal(size=q.shape)
    return Gravity(base, q, tau, LeastSquares().fit(Data(base.regressor(q), tau)))


def rows(gravity: Gravity, steps: dict[str, list[SimulationResult]]) -> list[Row]:
    """Rows about the Sarcos arm."""
    base, found = gravity.base, gravity.found
    printed = np.array([GRAVITY[name] for name in base.labels])
    own = float(np.abs(base.theta - printed).max())
    sure = np.abs(found.x - base.theta) / found.std
    part = TORQUE_ERRORS / largest_torques(float(np.linalg.norm(sarcos().gravity)))
    within = ", ".join(f"{x:.0%}" for x in part)
    finals = {name: [float(np.abs(run.error[-1]).max()) for run in runs] for name, runs in steps.items()}
    return [
        check(
            "Table 7.6: base gravity parameters of the Sarcos arm", "14", f"{base.count}, the same",
            set(base.labels) == set(GRAVITY) and base.count == 14, "in standard DH (erratum 1)",
        ),
        check(
            "Table 7.6 against appendix B", "the same values", f"at most {own:.4f} kg m apart", own < 0.01,
            "m rho_x3 is -2.547 in the table, -2.5405 in the code (erratum 13)",
        ),
        claim(
            "the 14 parameters from simulated poses", "a simple LS solution suffices",
            f"all within {sure.max():.1f} standard deviations; mz2 {found.x[3]:.2f}, true {base.theta[3]:.2f} kg m",
            sure.max() < 4,
        ),
        differs(
            "Table 7.7: standard deviations of torque errors", ", ".join(f"{x:.1f}" for x in TORQUE_ERRORS),
            ", ".join(f"{x:.1f}" for x in found.rms), "they were put in as noise: the data are not available",
        ),
        claim(
            "errors below 5 % of the torque for each joint", "yes",
            f"Table 7.7 over the largest torques that Table 7.6 allows in any pose: at least {within}",
            bool((part < 0.05).all()), "no assumption enters: torques are at most g times the first moments beyond",
        ),
        claim(
            "figures 7.13, 7.14: steps with and without compensation", "compensation removes the sag",
            f"error at the end {1e3 * max(finals['with']):.1f} mrad with, {1e3 * max(finals['without']):.0f} without",
            max(finals["with"]) < 0.2 * max(finals["without"]), "with the identified parameters",
        ),
    ]  # fmt: skip


def largest_torques(g: float) -> NDArray:
    """Torques (7,) that gravity exceeds in no pose [N m]: g times the first moments of Table 7.6 from a joint on.

    A first moment h exerts at most g |h| about any axis; masses are regrouped into the moments.
    """
    moments = np.zeros(7)
    for name, value in GRAVITY.items():
        moments[int(name[-1]) - 1] += value**2
    return g * np.cumsum(np.sqrt(moments)[::-1])[::-1]


def tables(gravity: Gravity) -> list[Table]:
    """Table 7.6 beside what simulated poses give."""
    base, found = gravity.base, gravity.found
    lines = tuple(
        (name, f"{GRAVITY[name]:.4f}", f"{x:.4f}", f"{std:.4f}")
        for name, x, std in zip(base.labels, found.x, found.std, strict=True)
    )
    columns = ("parameter", "printed ", "ours, simulated poses ", "standard deviation ")
    return [Table("Table 7.6: gravity parameters of the Sarcos arm [kg m]", columns, lines)]


def step_responses(model: Arm) -> dict[str, list[SimulationResult]]:
    """Steps of joints 1 to 4, one at a time, with gravity compensation by `model` and without."""
    arm = sarcos()
    kp, kd, _ = pd_gains(arm, POSE, BANDWIDTH_HZ)
    laws = {"with": GravityPD(model, kp, kd), "without": PD(arm, kp, kd)}
    found: dict[str, list[SimulationResult]] = {name: [] for name in laws}
    for name, law in laws.items():
        for j in range(STEPPED_JOINTS):
            goal = POSE + STEP_RAD * (np.arange(arm.n) == j)
            run = simulate(arm, law, goal, STEP_DURATION_S, 1000.0, q0=POSE, qd0=np.zeros(arm.n), every=5, check=False)
            found[name].append(run)
    return found


def pictures(gravity: Gravity, steps: dict[str, list[SimulationResult]]) -> list[Picture]:
    """Figures 7.12 to 7.14."""
    return [
        Picture("figure-7-12", "Figure 7.12: recorded and computed torques of the Sarcos arm", _torque_figure(gravity)),
        Picture("figures-7-13-14", "Figures 7.13 and 7.14: steps of the Sarcos arm's joints", _step_figure(steps)),
    ]


def _torque_figure(gravity: Gravity) -> Any:
    computed = gravity.base.regressor(gravity.q) @ gravity.found.x
    figure, axes = panels(11, 5.5, 2, 4)
    for j, axis in enumerate(axes.flat[:-1]):
        ends = [float(gravity.tau[:, j].min()), float(gravity.tau[:, j].max())]
        axis.plot(ends, ends, color="0.6", lw=0.9)
        axis.plot(gravity.tau[:, j], computed[:, j], ".", ms=3)
        axis.set_title(f"joint {j + 1}", fontsize=10)
    for axis in axes[:, 0]:
        axis.set_ylabel("computed [N m]")
    for axis in axes.flat[3:7]:
        axis.set_xlabel("recorded [N m]")
    axes[-1, -1].axis("off")
    return figure


def _step_figure(steps: dict[str, list[SimulationResult]]) -> Any:
    figure, axes = panels(10, 6, 2, 2, sharex=True)
    for j, axis in enumerate(axes.flat):
        for name, style in (("with", "C0-"), ("without", "C3-")):
            run = steps[name][j]
            axis.plot(run.t, run.q[:, j] - POSE[j], style, lw=1.3, label=f"{name} gravity compensation")
        axis.axhline(STEP_RAD, color="0.4", ls="--", lw=0.9, label="demand")
        axis.set_title(f"joint {j + 1}", fontsize=10)
        axis.set_ylabel("change of position [rad]")
    for axis in axes[-1]:
        axis.set_xlabel("time [s]")
    axes[0, 0].legend(fontsize=8)
    return figure
