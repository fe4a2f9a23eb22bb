"""Inverse kinematics against a Levenberg-Marquardt loop on Pinocchio, in one process.

    python benchmarks/inverse_kinematics.py [--peers]

Ratios are what counts: machines are noisy. `--peers` adds robotics-toolbox's solver if it is installed;
`ARMDYN_BENCHMARK=small` makes it quick.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
from rich.console import Console
from rich.table import Table

import armdyn
from armdyn.model.pinocchio_bridge import to_pinocchio

SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"
POSES = 500 if SMALL else 10_000
LOOP = 10 if SMALL else 300  # poses of a Python loop over a peer
TOLERANCE = 1e-9
ITERATIONS, RESTARTS = 40, 100

console = Console(width=120)


def best(function: Callable[[], Any], runs: int = 1 if SMALL else 5) -> tuple[float, Any]:
    """The shortest of several runs [s], and what the last one returned."""
    function()
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - begin)
    return min(times), result


def poses_of(arm: armdyn.Arm, count: int, seed: int = 3) -> np.ndarray:
    """Poses of random configurations within the limits."""
    lower, upper = (np.clip(x, -np.pi, np.pi) for x in arm.position_limits)
    return armdyn.forward_kinematics(arm, np.random.default_rng(seed).uniform(lower, upper, (count, arm.n)))


class PinocchioLoop:
    """The same method as armdyn's, written as one would on Pinocchio: one pose, one start at a time."""

    def __init__(self, arm: armdyn.Arm) -> None:
        self.model = to_pinocchio(arm)
        self.data = self.model.createData()
        self.frame = self.model.nframes - 1
        self.lower, self.upper = arm.position_limits
        self.rng = np.random.default_rng(0)

    def __call__(self, pose: np.ndarray) -> tuple[np.ndarray, bool]:
        target = pin.SE3(pose)
        for _ in range(RESTARTS + 1):
            q, solved = self.descend(target, self.rng.uniform(self.lower, self.upper))
            if solved:
                break
        return q, solved

    def descend(self, target: pin.SE3, q: np.ndarray) -> tuple[np.ndarray, bool]:
        last, slow = np.inf, 0
        for _ in range(ITERATIONS):
            pin.computeJointJacobians(self.model, self.data, q)
            at = pin.updateFramePlacement(self.model, self.data, self.frame)
            e = np.concatenate([target.translation - at.translation, pin.log3(target.rotation @ at.rotation.T)])
            if np.linalg.norm(e[:3]) <= TOLERANCE and np.linalg.norm(e[3:]) <= TOLERANCE:
                return q, True
            cost = e @ e
            slow = slow + 1 if cost > 0.9 * last else 0
            if slow == 2:
                break
            last = cost
            J = pin.getFrameJacobian(self.model, self.data, self.frame, pin.LOCAL_WORLD_ALIGNED)
            downhill = J.T @ e
            J = J * ~((q <= self.lower) & (downhill < 0) | (q >= self.upper) & (downhill > 0))
            H = J.T @ J + (0.025 * cost + 1e-12) * np.eye(len(q))
            q = np.clip(q + np.linalg.solve(H, J.T @ e), self.lower, self.upper)
        return q, False


def toolbox_loop() -> Callable[[np.ndarray], bool] | None:
    """robotics-toolbox's compiled Levenberg-Marquardt solver for the Panda, if it is there."""
    try:
        import roboticstoolbox as rtb
    except ImportError:
        return None
    robot = rtb.models.URDF.Panda()
    ets = robot.ets(end="panda_link8")
    # It stops at half the squared error.
    options = {"tol": TOLERANCE**2 / 2, "ilimit": ITERATIONS, "slimit": RESTARTS + 1, "joint_limits": True}
    return lambda pose: bool(ets.ik_LM(pose, **options).success)


def loop(solve: Callable[[np.ndarray], Any], poses: np.ndarray) -> tuple[float, list[Any]]:
    """Seconds a pose of a Python loop, and the results."""
    solve(poses[0])
    begin = time.perf_counter()
    results = [solve(pose) for pose in poses]
    return (time.perf_counter() - begin) / len(poses), results


def numeric() -> None:
    """The Panda: many poses at once, and one at a time, against loops."""
    arm = armdyn.arms.panda()
    poses = poses_of(arm, POSES)
    few = poses[:LOOP]
    seconds, found = best(lambda: armdyn.inverse_kinematics(arm, poses))
    batch = seconds / POSES
    single, one = loop(lambda pose: bool(armdyn.inverse_kinematics(arm, pose).success), few)
    peer, results = loop(PinocchioLoop(arm), few)
    rows = [
        (f"armdyn, {POSES} poses in one call", batch, found.success.mean()),
        ("armdyn, one pose per call", single, np.mean(one)),
        ("loop on Pinocchio", peer, np.mean([ok for _, ok in results])),
    ]
    toolbox = toolbox_loop() if "--peers" in sys.argv else None
    if toolbox:
        seconds, results = loop(toolbox, few)
        rows.append(("robotics-toolbox ik_LM", seconds, np.mean(results)))
    table = Table(title=f"Panda, random reachable poses, solved to {TOLERANCE:g} m and rad within limits")
    for heading in ("", "us per pose", "solved", "armdyn's batch is faster by"):
        table.add_column(heading, justify="left" if not heading else "right")
    for name, seconds, share in rows:
        table.add_row(name, f"{seconds * 1e6:.1f}", f"{share:.2%}", f"{seconds / batch:.1f}")
    console.print(table)
    worst = np.abs(armdyn.forward_kinematics(arm, found.q) - poses)[found.success].max()
    console.print(f"largest entry of forward(inverse) - pose: {worst:.1e}\n")


def closed() -> None:
    """Arms with closed forms: all solutions in closed form against one by iteration."""
    table = Table(title=f"closed form and iteration, {POSES} poses in one call")
    for heading in ("arm", "solutions", "closed us", "numeric us", "faster per pose", "faster per solution", "worst"):
        table.add_column(heading, justify="left" if heading == "arm" else "right")
    for name in ("puma560", "stanford", "ur10", "lwr4"):
        arm = getattr(armdyn.arms, name)()
        poses = poses_of(arm, POSES)
        fast, found = best(lambda a=arm, p=poses: armdyn.inverse_kinematics(a, p))
        slow, _ = best(lambda a=arm, p=poses: armdyn.inverse_kinematics(a, p, method="numeric"), 1 if SMALL else 3)
        exists = np.isfinite(found.all_solutions).all(-1)
        back = armdyn.forward_kinematics(arm, np.nan_to_num(found.all_solutions)) - poses[:, None]
        each = exists.sum(-1).mean()
        table.add_row(
            name,
            f"{each:.2f}",
            f"{fast / POSES * 1e6:.2f}",
            f"{slow / POSES * 1e6:.2f}",
            f"{slow / fast:.1f}",
            f"{slow / fast * each:.0f}",
            f"{np.abs(back)[exists].max():.0e}",
        )
    console.print(table)


def all_eight() -> None:
    """The whole job on the PUMA: all eight solutions, by iteration from ever new starts."""
    arm = armdyn.arms.puma560()
    free = arm.with_joints(
        armdyn.Joint(j.name, j.kind, j.axis, j.before, j.after, armdyn.Limits(-np.pi, np.pi)) for j in arm.joints
    )
    poses = poses_of(arm, 50 if SMALL else 1000)
    fast, closed_form = best(lambda: armdyn.inverse_kinematics(free, poses))

    def collect() -> float:
        known = np.full((len(poses), 8, 6), np.nan)
        missing = np.arange(len(poses))
        for seed in range(400):
            q = armdyn.inverse_kinematics(free, poses[missing], method="numeric", seed=seed).q
            apart = (known[missing] - q[:, None] + np.pi) % (2 * np.pi) - np.pi
            is_new = ~(np.abs(apart).max(-1) < 1e-5).any(-1)
            count = np.isfinite(known[missing]).all(-1).sum(-1)
            known[missing[is_new], count[is_new]] = q[is_new]
            missing = missing[count + is_new < 8]
            if not len(missing):
                break
        return float(np.isfinite(known).all(-1).mean())

    begin = time.perf_counter()
    share = collect()
    slow = time.perf_counter() - begin
    complete = np.isfinite(closed_form.all_solutions).all(-1).mean()
    console.print(
        f"all eight solutions of {len(poses)} PUMA poses: closed form {fast * 1e3:.1f} ms ({complete:.0%} found), "
        f"iteration {slow * 1e3:.0f} ms ({share:.1%} found): {slow / fast:.0f} times faster"
    )


if __name__ == "__main__":
    numeric()
    closed()
    all_eight()
