"""Inverse kinematics: joint positions that put the tip at a pose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import check_positive, common_batch, finite_array
from armdyn.errors import ModelError, ShapeError, check_choice
from armdyn.frozen import PartOf
from armdyn.kinematics.closed.form import ClosedForm, closed_form
from armdyn.kinematics.closed.solver import ClosedProblem, Solutions, solve_closed
from armdyn.kinematics.closed.srs import SrsArm, swivel_angle
from armdyn.kinematics.diagnosis import REASONS, explain
from armdyn.kinematics.error import TASKS, check_poses
from armdyn.kinematics.null_space import Wish, function, improve, toward
from armdyn.kinematics.numeric import Solution, SolverSettings, larger, solve
from armdyn.kinematics.several import solve_several
from armdyn.model.arm import Arm
from armdyn.precision import NEGLIGIBLE
from armdyn.presentation import present

METHODS = ("auto", "closed", "numeric")


class SolutionBranches(NamedTuple):
    """All solutions for each pose, one per branch."""

    q: NDArray  # (..., k, n), NaN where a branch does not exist
    within_limits: NDArray  # (..., k), bool
    names: tuple[str, ...]


@dataclass(frozen=True)
class InverseKinematics:
    """Result of `inverse_kinematics`, one entry per pose."""

    q: NDArray  # (..., n): a solution within the joint limits; where there is none, the nearest the arm can get
    success: NDArray  # (...), bool
    residual: NDArray  # (...): larger of distance [m] and angle [rad] between tip and pose
    error: NDArray  # (..., 2): that distance and that angle
    reason: NDArray  # (...): "" or why it failed: "reach", "limit", "singular" or "iterations"
    shortfall: NDArray  # (..., 2): distance [m] and angle [rad] by which the pose is out of reach
    at_limit: NDArray  # (..., n), bool: joints of q that are on a limit
    iterations: NDArray  # (...): steps of iteration, 0 where the closed form was enough
    solutions: SolutionBranches
    method: str  # the family of the closed form, or "numeric"
    joint_names: tuple[str, ...]

    all_solutions = PartOf[NDArray]("solutions.q", "Every solution (..., k, n), NaN where a branch does not exist.")
    within_limits = PartOf[NDArray]("solutions.within_limits", "Solutions within the joint limits (..., k), bool.")
    branches = PartOf[tuple[str, ...]]("solutions.names", "Names of the k solutions.")

    @property
    def message(self) -> str:
        """One sentence for one pose, a count for many."""
        if np.ndim(self.success):
            failed = [str(r) for r in self.reason[~self.success]]
            counts = ", ".join(f"{failed.count(r)} {REASONS[r]}" for r in REASONS if r in failed)
            return f"{int(self.success.sum())} of {self.success.size} poses solved" + (f"; {counts}" if counts else "")
        if self.success:
            return f"solved to {self.residual:.1e}"
        text = REASONS[str(self.reason)]
        if self.reason == "reach":
            text += " by " + " and ".join(
                f"{x:.3g} {unit}" for x, unit in zip(self.shortfall, ("m", "rad"), strict=True) if x > 0
            )
        elif self.reason == "limit":
            text = ": ".join(filter(None, (text, ", ".join(np.array(self.joint_names)[self.at_limit]))))
        return f"not solved, {text}"

    def __str__(self) -> str:
        return f"{self.method}: {self.message}"

    def __repr__(self) -> str:
        return f"<InverseKinematics by {self}>"

    def _repr_html_(self) -> str:
        return present(self, "html")


def inverse_kinematics(
    arm: Arm,
    pose: ArrayLike | Mapping[str, ArrayLike],
    q0: ArrayLike | None = None,
    *,
    frame: str | None = None,
    task: str = "pose",
    method: str = "auto",
    swivel: ArrayLike | None = None,
    objective: ArrayLike | Callable[[NDArray], NDArray] | None = None,
    tolerance: float = 1e-9,
    iterations: int = 40,
    restarts: int = 100,
    seed: int = 0,
) -> InverseKinematics:
    """Joint positions within the limits that put the tip, or other frames, at `pose`, for one pose or many.

    Arms with a closed form (see `closed_form`) give all their solutions; others are solved by
    Levenberg-Marquardt iteration from several starts. Nothing is raised where a pose cannot be
    reached: the result says so, and why.

    Parameters
    ----------
    arm : Arm
    pose : array_like, shape (..., 4, 4), or mapping
        Desired pose of the tip in base axes. A rotation that is off by rounding (up to 1e-6) is replaced by the
        nearest true one. Or poses of several frames by their names, such as those of both hands, for tasks "pose" and
        "position": these are solved by iteration.
    q0 : array_like, shape (..., n), optional
        The nearest of several solutions to q0 is returned, and iteration starts there. Default: the middle
        of the joint ranges, and starts chosen at random.
    frame : str, optional
        Name of the frame or link that is put at `pose`; default the tip. Joints that do not move it stay at q0.
    task : {"pose", "position", "position+x", "position+y", "position+z"}
        What of the pose matters: all of it, the position alone, or the position and the direction of one axis of the
        tip, such as that of a cup that is carried (five equations: also for arms of five joints).
    method : {"auto", "closed", "numeric"}
    swivel : array_like, shape (...), optional
        Swivel angle of a seven-joint S-R-S arm [rad], see `swivel_angle`; default: that of q0 (zero, the
        elbow up, without q0), or another where that has no solution within the limits.
    objective : array_like, shape (..., n), or callable, optional
        What to do with the freedom that the pose leaves: a posture to come near to, or a function that
        takes q (N, n) and returns the desired joint step (N, n), such as a gradient.
    tolerance : float
        Largest distance [m] and angle [rad] from the pose that counts as solved.
    iterations : int
        Steps from each start.
    restarts : int
        Further starts after the first.
    seed : int
        Seed of the random starts: equal calls give equal results.

    Returns
    -------
    InverseKinematics

    Raises
    ------
    ShapeError
        If a shape is wrong, or `pose` is not a rigid transform.

    Examples
    --------
    >>> arm = armdyn.arms.puma560()
    >>> pose = armdyn.forward_kinematics(arm, [0.1, -0.5, 0.3, 0.2, 0.4, 0.0])
    >>> solution = armdyn.inverse_kinematics(arm, pose)
    >>> bool(solution.success), len(solution.branches)
    (True, 8)
    """
    check_choice("inverse_kinematics", "task", task, TASKS, ShapeError)
    settings = _settings(task, tolerance, iterations, restarts, seed)
    if isinstance(pose, Mapping):
        return _of_several(arm, pose, q0, settings, {"frame": frame, "swivel": swivel, "objective": objective}, method)
    arm = arm if frame is None else arm.with_tip(frame)
    poses, q0_rows, batch = _rows(arm, pose, q0)
    form = _choose(arm, task, method, swivel)
    if form is None:
        solution, solutions = solve(arm, poses, q0_rows, arm.position_limits, settings), None
    else:
        q_ref = np.broadcast_to(middle(arm), (len(poses), arm.n)) if q0_rows is None else q0_rows
        angles = None if swivel is None else _flat(swivel, (), batch, "swivel")
        solution, solutions = _by_closed_form(ClosedProblem(arm, form, settings, poses, q_ref, angles))
    if objective is not None:
        improve(arm, poses, solution, _wish(arm, objective, batch), settings)
        solutions = None
    reason, shortfall = explain(arm, poses, solution, solutions, settings)
    return _result(arm, form, solution, solutions, reason, shortfall, batch)


def _of_several(
    arm: Arm, poses: Mapping[str, ArrayLike], q0: Any, settings: SolverSettings, others: Mapping[str, Any], method: str
) -> InverseKinematics:
    """Solve for several frames at once."""
    if settings.task not in ("pose", "position") or method == "closed" or not poses:
        cause = "several frames are solved by iteration for task 'pose' or 'position'"
        remedy = "give poses by the names of frames, and neither another task nor method='closed'"
        raise ShapeError(cause, where="inverse_kinematics", remedy=remedy)
    if idle := [name for name, value in others.items() if value is not None]:
        cause = f"{idle[0]} is for one frame, got poses of {', '.join(map(str, poses))}"
        raise ShapeError(cause, where="inverse_kinematics")
    rows = {name: check_poses(arm, pose, f"inverse_kinematics: pose of '{name}'") for name, pose in poses.items()}
    shapes = {name: pose.shape[:-2] for name, pose in rows.items()}
    start = None if q0 is None else finite_array(q0, (arm.n,), "inverse_kinematics: q0")
    batch = common_batch("inverse_kinematics", shapes if start is None else {**shapes, "q0": start.shape[:-1]})
    flat = {name: np.broadcast_to(pose, (*batch, 4, 4)).reshape(-1, 4, 4) for name, pose in rows.items()}
    first = None if start is None else np.broadcast_to(start, (*batch, arm.n)).reshape(-1, arm.n)
    solution = solve_several(arm, flat, first, settings)
    lower, upper = arm.position_limits
    stopped = ((solution.q <= lower + NEGLIGIBLE) | (solution.q >= upper - NEGLIGIBLE)).any(-1)
    reason = np.where(solution.solved, "", np.where(stopped, "limit", "iterations"))
    return _result(arm, None, solution, None, reason, np.zeros_like(solution.error), batch)


def _by_closed_form(problem: ClosedProblem) -> tuple[Solution, Solutions]:
    """The closed form, and iteration where a redundant arm may have more solutions."""
    solution, solutions = solve_closed(problem)
    arm, form, settings, poses, q_ref, swivel = problem
    left = np.flatnonzero(~solution.solved)
    if isinstance(form, SrsArm) and swivel is None and len(left):
        # None of some swivel angles has a solution within limits: one between them may.
        more = solve(arm, poses[left], q_ref[left], arm.position_limits, settings)
        for old, new in zip(solution, more, strict=True):
            old[left] = new
        between = problem._replace(poses=poses[left], q_ref=more.q, swivel=swivel_angle(arm, more.q))
        solutions.q[left], solutions.within[left] = solve_closed(between)[1]
    # Where there is no solution, the nearest configuration is sought from the reference.
    solution.q[:] = np.where(solution.solved[:, None], solution.q, np.clip(q_ref, *arm.position_limits))
    return solution, solutions


def _choose(arm: Arm, task: str, method: str, swivel: Any) -> ClosedForm | None:
    """The closed form to use, or None for iteration."""
    check_choice("inverse_kinematics", "method", method, METHODS, ShapeError)
    form = None if method == "numeric" else closed_form(arm)
    if form is not None and task != "pose" and (arm.n > 3 or task != "position"):
        form = None  # these tasks leave freedom that closed forms do not use
    if method == "closed" and form is None:
        cause = f"arm '{arm.name}' has no closed form for task {task!r}"
        raise ModelError(cause, where="inverse_kinematics", remedy="use method='auto' or 'numeric'", names=(task,))
    if swivel is not None and not isinstance(form, SrsArm):
        cause = f"arm '{arm.name}' has no swivel angle for task {task!r} and this method"
        raise ModelError(cause, where="inverse_kinematics", remedy="leave it out", names=(task,))
    return form


def _settings(task: str, tolerance: float, iterations: int, restarts: int, seed: int) -> SolverSettings:
    for name, value, least in (("iterations", iterations, 1), ("restarts", restarts, 0), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise ShapeError(where="inverse_kinematics", expected=f"{name} as an integer >= {least}", got=f"{value!r}")
    check_positive("inverse_kinematics", tolerance=tolerance)
    return SolverSettings(task, float(tolerance), int(iterations), int(restarts), int(seed))


def _wish(arm: Arm, objective: Any, batch: tuple[int, ...]) -> Wish:
    if callable(objective):
        return function(objective)
    return toward(_flat(objective, (arm.n,), batch, "objective"))


def middle(arm: Arm) -> NDArray:
    """The middle of the joint ranges (n,); zero where a limit is missing."""
    lower, upper = arm.position_limits
    known = np.isfinite(lower) & np.isfinite(upper)
    return np.where(known, (np.where(known, lower, 0) + np.where(known, upper, 0)) / 2, np.clip(0.0, lower, upper))


def _rows(arm: Arm, pose: ArrayLike, q0: ArrayLike | None) -> tuple[NDArray, NDArray | None, tuple[int, ...]]:
    """Poses (N, 4, 4) and q0 (N, n), checked, and the batch shape they came in."""
    poses = check_poses(arm, pose, "inverse_kinematics: pose")
    if q0 is None:
        batch = poses.shape[:-2]
        return poses.reshape(-1, 4, 4), None, batch
    start = finite_array(q0, (arm.n,), "inverse_kinematics: q0")
    batch = common_batch("inverse_kinematics", {"pose": poses.shape[:-2], "q0": start.shape[:-1]})
    flat_poses = np.broadcast_to(poses, (*batch, 4, 4)).reshape(-1, 4, 4)
    return flat_poses, np.broadcast_to(start, (*batch, arm.n)).reshape(-1, arm.n), batch


def _flat(value: Any, core: tuple[int, ...], batch: tuple[int, ...], what: str) -> NDArray:
    """An array as one row per pose."""
    array = finite_array(value, core, f"inverse_kinematics: {what}")
    try:
        return np.broadcast_to(array, (*batch, *core)).reshape(-1, *core)
    except ValueError:
        expected = f"{what} that broadcasts to {(*batch, *core)}"
        raise ShapeError(where="inverse_kinematics", expected=expected, got=array.shape) from None


def _result(
    arm: Arm,
    form: ClosedForm | None,
    solution: Solution,
    solutions: Solutions | None,
    reason: NDArray,
    shortfall: NDArray,
    batch: tuple[int, ...],
) -> InverseKinematics:
    lower, upper = arm.position_limits
    if solutions is None:
        solved = solution.solved[:, None]
        solutions = Solutions(np.where(solved[..., None], solution.q[:, None], np.nan), solved)

    names = form.branches if form and solutions.q.shape[1] == len(form.branches) else ("found",)

    def shaped(rows: NDArray) -> Any:
        return rows.reshape((*batch, *rows.shape[1:]))[()]

    return InverseKinematics(
        q=shaped(solution.q),
        success=shaped(solution.solved),
        residual=shaped(larger(solution.error)),
        error=shaped(solution.error),
        reason=shaped(reason),
        shortfall=shaped(shortfall),
        at_limit=shaped((solution.q <= lower + NEGLIGIBLE) | (solution.q >= upper - NEGLIGIBLE)),
        iterations=shaped(solution.iterations),
        solutions=SolutionBranches(shaped(solutions.q), shaped(solutions.within), names),
        method=form.family if form else "numeric",
        joint_names=arm.coordinate_names,
    )
