"""All dynamics on random arms against Pinocchio and MuJoCo: the largest disagreement of each function.

    python benchmarks/differential.py [--arms 1000] [--kernels 30] [--mujoco 100] [--seed 0]

Arms have 1 to 10 joints, revolute or prismatic, with random frames, axes, bodies, gravity, and (every other one)
rotors and friction. Formulas run on CasADi's virtual machine, on the first `--kernels` arms also as native kernels, in
a cache of their own: yours is untouched. Exit code 1 if any disagreement exceeds the tolerance.
`ARMDYN_BENCHMARK=small` makes it quick.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import pinocchio as pin
from rich.console import Console
from rich.progress import track
from rich.table import Table

import armdyn
from armdyn import Arm, Drive, Friction, Inertia, Joint, Link
from armdyn.model.pinocchio_bridge import to_pinocchio
from armdyn.simulation.loop.mujoco import to_mjcf
from armdyn.spatial.rotation import from_axis_angle
from armdyn.spatial.transform import transform
from armdyn.trace import backend

SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"
STATES = 3
# Of the largest entry of a result: round-off of some thousand operations, 100 times more for accelerations, which pass
# through the inverse of M (its condition on random arms reaches 1e4).
TOLERANCE = 1e-11
INVERTED = 1e-9
# MuJoCo turns each inertia to its principal axes and stores the turn as a rounded quaternion.
MUJOCO = 1e-8

Result = dict[str, float]


def random_arm(rng: np.random.Generator) -> Arm:
    """An arm of 1 to 10 joints with nothing round about it."""
    n, driven = int(rng.integers(1, 11)), bool(rng.integers(2))
    kinds = rng.choice(["revolute", "prismatic"], n, p=[0.75, 0.25])
    return Arm(
        [Joint(f"joint{i}", kind, rng.normal(size=3), _pose(rng), _pose(rng), **_drive(rng, driven))
         for i, kind in enumerate(kinds)],
        [Link(f"link{i}", _body(rng)) for i in range(n)],
        name="random", gravity=6 * rng.normal(size=3), base_pose=_pose(rng), tool_pose=_pose(rng),
    )  # fmt: skip


def _pose(rng: np.random.Generator) -> np.ndarray:
    return transform(from_axis_angle(rng.normal(size=3), rng.uniform(-np.pi, np.pi)), rng.uniform(-0.5, 0.5, 3))


def _body(rng: np.random.Generator) -> Inertia:
    spread = 0.3 * rng.normal(size=(3, 3))
    sigma = spread @ spread.T
    return Inertia.from_com(rng.uniform(0.5, 5), rng.uniform(-0.3, 0.3, 3), np.trace(sigma) * np.eye(3) - sigma)


def _drive(rng: np.random.Generator, driven: bool) -> dict[str, Any]:
    if not driven:
        return {}
    drive = Drive(rotor_inertia=rng.uniform(1e-5, 1e-3), gear_ratio=rng.uniform(-100, 100), damping=1e-4)
    return {"friction": Friction(viscous=rng.uniform(0, 3)), "drive": drive}


def states(arm: Arm, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Positions, velocities and accelerations."""
    for _ in range(STATES):
        yield rng.normal(size=(3, arm.n))


def apart(mine: Any, other: Any) -> float:
    """The largest difference, in parts of the largest entry; of 1e-3 where all should be zero."""
    mine, other = np.asarray(mine), np.asarray(other)
    return float(np.abs(mine - other).max() / max(np.abs(other).max(), 1e-3))


def against_pinocchio(arm: Arm, rng: np.random.Generator) -> Result:
    """Disagreement of each function, the worst of some states."""
    model = to_pinocchio(arm)
    data = model.createData()
    inertia = np.array([joint.drive.reflected_inertia for joint in arm.joints])
    damping = np.array([joint.friction.viscous + joint.drive.reflected_damping for joint in arm.joints])
    worst: Result = {}
    for q, qd, qdd in states(arm, rng):
        tau = pin.rnea(model, data, q, qd, qdd).copy()
        by_q, by_qd, _ = pin.computeRNEADerivatives(model, data, q, qd, qdd)
        by_q, by_qd = by_q.copy(), by_qd.copy()
        M = pin.crba(model, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        tip = model.getFrameId(arm.tip_name)
        J = pin.computeFrameJacobian(model, data, q, tip, pin.LOCAL_WORLD_ALIGNED).reshape(6, -1)
        pin.framesForwardKinematics(model, data, q)
        linear, lagrange = armdyn.linearize(arm, q, qd, qdd), armdyn.lagrange(arm, q, qd)
        pairs = {
            "forward_kinematics": (armdyn.forward_kinematics(arm, q), data.oMf[tip].homogeneous),
            "jacobian": (armdyn.jacobian(arm, q), J),
            "inverse_dynamics": (armdyn.inverse_dynamics(arm, q, qd, qdd), tau),
            "lagrange": (lagrange.W @ qdd - lagrange.V, tau),
            "joint_torque": (armdyn.joint_torque(arm, q, qd, qdd), tau + inertia * qdd + damping * qd),
            "mass_matrix": (armdyn.mass_matrix(arm, q), M),
            "coriolis_matrix (times qd)": (
                armdyn.coriolis_matrix(arm, q, qd) @ qd + armdyn.gravity_torque(arm, q),
                pin.nonLinearEffects(model, data, q, qd),
            ),
            "gravity_torque": (armdyn.gravity_torque(arm, q), pin.computeGeneralizedGravity(model, data, q)),
            "regressor": (
                armdyn.regressor(arm, q, qd, qdd) @ arm.theta,
                tau,
            ),
            "linearize: K": (linear.K, by_q),
            "linearize: C": (linear.C, by_qd),
            "kinetic_energy": (armdyn.kinetic_energy(arm, q, qd), pin.computeKineticEnergy(model, data, q, qd)),
            "forward_dynamics": (armdyn.forward_dynamics(arm, q, qd, tau), pin.aba(model, data, q, qd, tau)),
        }
        for name, (mine, other) in pairs.items():
            worst[name] = max(worst.get(name, 0.0), apart(mine, other))
    return worst


def against_mujoco(arm: Arm, rng: np.random.Generator) -> Result:
    """Disagreement with MuJoCo, rotors and damping included."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(to_mjcf(arm))
    data = mujoco.MjData(model)
    worst: Result = {}
    for q, qd, qdd in states(arm, rng):
        data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
        mujoco.mj_inverse(model, data)
        torque = data.qfrc_inverse.copy()
        M = np.zeros((arm.n, arm.n))
        mujoco.mj_fullM(model, data, M)
        pairs = {
            "joint_torque": (armdyn.joint_torque(arm, q, qd, qdd), torque),
            "augmented_mass_matrix": (armdyn.augmented_mass_matrix(arm, q), M),
        }
        for name, (mine, other) in pairs.items():
            worst[name] = max(worst.get(name, 0.0), apart(mine, other))
    return worst


def largest(results: list[Result]) -> Result:
    """The worst of all arms, by function."""
    return {name: max(result[name] for result in results) for name in results[0]} if results else {}


def run(arms: int, kernels: int, mujoco: int, seed: int) -> dict[str, Result]:
    """Worst disagreements by engine; `tolerance` says what each may be."""
    made = [random_arm(np.random.default_rng([seed, k])) for k in range(max(arms, kernels, mujoco))]

    def worst(compare: Any, count: int, name: str, text: str) -> Result:
        with backend.using(name):
            found = [compare(made[k], np.random.default_rng([seed, k, 1])) for k in track(range(count), text)]
        return largest(found)

    with tempfile.TemporaryDirectory(prefix="armdyn-differential-") as folder:
        before = os.environ.get("ARMDYN_CACHE_DIR")
        os.environ["ARMDYN_CACHE_DIR"] = folder
        try:
            return {
                f"Pinocchio, {arms} arms": worst(against_pinocchio, arms, "virtual", "virtual machine"),
                f"Pinocchio, {kernels} arms as kernels": worst(against_pinocchio, kernels, "native", "kernels"),
                f"MuJoCo, {mujoco} arms": worst(against_mujoco, mujoco, "virtual", "MuJoCo"),
            }
        finally:
            os.environ.pop("ARMDYN_CACHE_DIR")
            if before is not None:
                os.environ["ARMDYN_CACHE_DIR"] = before


def tolerance(engine: str, name: str) -> float:
    """What a disagreement may be."""
    return MUJOCO if engine.startswith("MuJoCo") else INVERTED if name == "forward_dynamics" else TOLERANCE


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, size, small in (("arms", 1000, 2), ("kernels", 30, 0), ("mujoco", 100, 1), ("seed", 0, 0)):
        parser.add_argument(f"--{name}", type=int, default=small if SMALL else size)
    options = parser.parse_args()
    found = run(options.arms, options.kernels, options.mujoco, options.seed)
    table = Table(title="largest disagreement, in parts of the largest entry")
    for heading in ("engine", "function", "worst", "may be"):
        table.add_column(heading, justify="left" if heading in ("engine", "function") else "right")
    failed = 0
    for engine, result in found.items():
        for name, value in result.items():
            limit = tolerance(engine, name)
            failed += not value <= limit
            table.add_row(engine, name, f"{value:.1e}" + ("" if value <= limit else " !"), f"{limit:.0e}")
    Console(width=120).print(table)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
