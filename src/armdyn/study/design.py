"""Design studies: which arm does a task with least torque, energy and load on its bearings.

A case is one arm, a candidate with one sample of its dimensions, that moves its tip along a straight line from rest to
rest. Every arm is a geometry of its own, so formulas run on CasADi's virtual machine: nothing is compiled and the
cache of kernels stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.full import joint_torque
from armdyn.dynamics.newton_euler import joint_wrenches
from armdyn.errors import PathError
from armdyn.kinematics.forward import forward_kinematics
from armdyn.kinematics.manipulability import manipulability
from armdyn.model.arm import Arm
from armdyn.simulation.result import SimulationResult
from armdyn.spatial.rotation import from_rpy
from armdyn.spatial.transform import transform
from armdyn.study.labels import label, unit, words
from armdyn.study.sampling import ParameterSamples, read_samples
from armdyn.study.spec import Columns, Head, Study, read_bounds
from armdyn.study.summary import Section, Summary, case_summary
from armdyn.study.table import StudyError, StudyTable
from armdyn.study.variants import parameter_names, vary
from armdyn.trace import backend
from armdyn.trajectory.protocol import JointMotion
from armdyn.trajectory.timing import Quintic
from armdyn.trajectory.tip.from_tip import joint_trajectory
from armdyn.trajectory.tip.motion import TipMotion
from armdyn.trajectory.tip.path import Line

METRICS = {
    "peak_torque": "low",  # of any joint [N m or N]
    "energy": "low",  # [J], driving and braking
    "reaction_force": "low",  # largest that a joint's bearings carry [N]
    "reaction_moment": "low",  # [N m]
    "reach": "high",  # farthest that the tip gets from the first joint [m]
    "manipulability": "high",  # smallest along the path
}
PATH_POINTS = 201  # of the path, at which it is judged
POSTURES_FOR_REACH = 1024  # from which the reach is taken
LARGEST_PATH_ERROR = 1e-5  # how far the tip may be from the line [m, rad]
LARGEST_VARIED = 1e6  # of what is varied
DESIGNS_LISTED = 10  # designs that are listed


@dataclass(frozen=True)
class Task:
    """A straight line of the tip."""

    start: tuple[float, ...]  # [m]
    end: tuple[float, ...]
    rpy: tuple[float, ...] | None  # orientation to keep [rad]; None: free
    duration: float  # [s]

    @property
    def motion(self) -> TipMotion:
        """The line, from rest to rest."""
        R = np.eye(3) if self.rpy is None else from_rpy(np.array(self.rpy))
        line = Line(transform(R, np.array(self.start)), transform(R, np.array(self.end)))
        return TipMotion(line, Quintic(line.length, self.duration))


@dataclass(frozen=True, eq=False)
class Design(Study):
    """See the module."""

    candidates: Mapping[str, Arm]
    task: Task
    samples: ParameterSamples
    rank_by: str

    @cached_property
    def _rows(self) -> NDArray:
        return self.samples.table()

    def arm(self, number: int) -> tuple[str, NDArray, Arm]:
        """Candidate, sample and arm of a case."""
        group, k = divmod(number, self.samples.count)
        name, row = tuple(self.candidates)[group], self._rows[k]
        return name, row, vary(self.candidates[name], dict(zip(self.parameters, row.tolist(), strict=True)))

    def compute(self, cases: range) -> Columns:
        """Judge the arms of some cases."""
        rows = []
        for number in cases:
            name, row, arm = self.arm(number)
            judged, reason = self._judge(arm)
            parameters = dict(zip(self.parameters, row, strict=True))
            rows.append({"case": number, "arm": name, **parameters, **judged, "reason": reason})
        columns = {key: np.array([row[key] for row in rows]) for key in rows[0]}
        return {**columns, "success": (columns["reason"] == "") & self.successes(columns)}

    def case(self, number: int) -> SimulationResult:
        """The motion and the torques of one arm."""
        self.require_case(number)
        name, _, arm = self.arm(number)
        with backend.using("virtual"):
            t, motion = self._motion(arm)
            tau = joint_torque(arm, *motion)
        nothing = np.array(np.nan)
        return SimulationResult(
            t, motion.q, motion.qd, tau, *motion, nothing, arm.coordinate_names, f"{self.name}: {name}", arm=arm
        )

    def summary(self, columns: Columns) -> Summary:
        """The best designs, then what all studies tell."""
        able = columns["reason"] == ""
        about = f"{len(able):,} designs, of which {int(able.sum()):,} can do the task"
        whole = case_summary(self, columns, about)
        sign = -1 if self.metrics[self.rank_by] == "high" else 1
        order = np.argsort(sign * columns[self.rank_by], kind="stable")
        best = order[columns["success"][order]][:DESIGNS_LISTED]
        heads = ("arm", "case", *self.parameters, *self.metrics)
        rows = [
            (str(columns["arm"][k]), str(columns["case"][k]), *(f"{columns[name][k]:.4g}" for name in heads[2:]))
            for k in best
        ]
        section = Section(f"Best designs by {words(self.rank_by)}", tuple(map(label, heads)), rows)
        conclusion = self._conclude(columns, best)
        ranked = {"rank_by": self.rank_by, "best": [int(columns["case"][k]) for k in best]}
        data = {**whole.data, **ranked, "conclusion": conclusion}
        return replace(whole, sections=(section, *whole.sections), data=data, conclusion=conclusion)

    def _conclude(self, columns: Columns, best: NDArray) -> str:
        """The best design, and how far the next is behind."""
        if not len(best):
            return "no design can do the task within the bounds"
        values = columns[self.rank_by][best]
        arm, case = (columns[name][best[0]] for name in ("arm", "case"))
        summary = f"arm {arm} (case {case}) is best by {words(self.rank_by)}: {values[0]:.4g}"
        summary = f"{summary} {unit(self.rank_by)}".rstrip()
        behind = f"; the next has {values[1]:.4g}, {abs(values[1] / values[0] - 1):.1%} off" if len(best) > 1 else ""
        return f"{summary}{behind}; these are computed, not drawn at random"

    # -- one arm --------------------------------------------------------------------------------------------

    def _motion(self, arm: Arm) -> tuple[NDArray, JointMotion]:
        task = "position" if self.task.rpy is None else "pose"
        path = joint_trajectory(arm, self.task.motion, task=task, tolerance=LARGEST_PATH_ERROR)
        t = np.linspace(0.0, self.task.duration, PATH_POINTS)
        return t, path(t)

    def _judge(self, arm: Arm) -> tuple[dict[str, float], str]:
        """Metrics of an arm, and why it cannot do the task if so."""
        with backend.using("virtual"):
            reach = _reach(arm)
            try:
                t, motion = self._motion(arm)
            except PathError as error:
                worst = {name: np.inf if better == "low" else 0.0 for name, better in METRICS.items()}
                return {**worst, "reach": reach}, error.reason or "path"
            tau = joint_torque(arm, *motion)
            wrenches = joint_wrenches(arm, *motion)
            mobility = manipulability(arm, motion.q, "linear" if self.task.rpy is None else "all")
        return {
            "peak_torque": float(np.abs(tau).max()),
            "energy": float(np.trapezoid(np.abs(tau * motion.qd).sum(-1), t)),
            "reaction_force": float(np.linalg.norm(wrenches[..., :3], axis=-1).max()),
            "reaction_moment": float(np.linalg.norm(wrenches[..., 3:], axis=-1).max()),
            "reach": reach,
            "manipulability": float(mobility.min()),
        }, ""


def _reach(arm: Arm) -> float:
    """Largest distance of the tip from the first joint over evenly spread postures within limits."""
    from scipy.stats import qmc

    lower, upper = (np.array(x, float) for x in arm.position_limits)
    turn = np.array([joint.kind == "revolute" for joint in arm.coordinate_joints])
    lower = np.where(np.isfinite(lower), lower, np.where(turn, -np.pi, 0.0))
    upper = np.where(np.isfinite(upper), upper, np.where(turn, np.pi, 0.0))
    u = qmc.Sobol(arm.n, scramble=False).random_base2(POSTURES_FOR_REACH.bit_length() - 1)
    tips = forward_kinematics(arm, lower + (upper - lower) * u)[:, :3, 3]
    shoulder = (arm.base_pose @ arm.joints[0].before)[:3, 3]
    return float(np.linalg.norm(tips - shoulder, axis=-1).max())


# -- the file -----------------------------------------------------------------------------------------------------


def read(document: StudyTable, head: Head) -> Design:
    """A design study from its document."""
    words = document.texts("arms")
    candidates = {word: head.arm(word) for word in words}
    for word, arm in candidates.items():
        if np.isnan(arm.theta).any():
            raise StudyError(f"{document.where}: arms: the inertia of '{word}' is unknown; torques need it")
    task = _task(document.table("task"))
    known = parameter_names(min(arm.n for arm in candidates.values()))
    samples = read_samples(document, known, head.seed)
    _check_positive(samples, document.where)
    rank_by = document.choice("rank_by", tuple(METRICS), "peak_torque")
    extra = tuple(arm.fingerprint for arm in candidates.values())
    return Design(
        head, samples.count * len(words), METRICS, ("arm",), samples.names, read_bounds(document, METRICS), extra,
        candidates, task, samples, rank_by,
    )  # fmt: skip


def _task(table: StudyTable) -> Task:
    rpy = table.numbers("rpy", 3) if table.has("rpy") else None
    task = Task(table.numbers("start", 3), table.numbers("end", 3), rpy, table.number("duration", low=0.0, above=True))
    if task.start == task.end:
        raise StudyError(f"{table.where}: start and end are the same; expected two different points")
    table.done()
    return task


def _check_positive(samples: ParameterSamples, where: str) -> None:
    """Lengths and masses as factors must be positive, payloads not negative, and nothing astronomic."""
    for name, law in samples.distributions.items():
        lowest = law.lowest
        if max(-lowest, law.highest) > LARGEST_VARIED:
            raise StudyError(f"{where}: parameters: {name}: expected values up to {LARGEST_VARIED:g}")
        if (name.startswith("member.") and lowest <= 0) or (name == "payload" and lowest < 0):
            raise StudyError(f"{where}: parameters: {name}: expected positive values, got down to {lowest:g}")
