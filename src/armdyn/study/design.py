"""Design studies: which arm does a set of tasks with least torque, energy and load on its bearings, with which drives.

A case is one arm, a candidate with one sample of its dimensions, that moves its tip, with a load, along straight lines
from rest to rest (Vukobratovic and Potkonjak 1979: the choice of a configuration for a functional task). Every arm is a
geometry of its own, so formulas run on CasADi's virtual machine: nothing is compiled and the cache of kernels stays as
it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.full import joint_torque
from armdyn.dynamics.mass_matrix import mass_matrix
from armdyn.dynamics.newton_euler import joint_wrenches
from armdyn.errors import PathError
from armdyn.kinematics.forward import forward_kinematics
from armdyn.kinematics.manipulability import manipulability
from armdyn.model.arm import Arm
from armdyn.model.joint import Drive
from armdyn.precision import FIVE_DIGITS
from armdyn.simulation.result import RunOutcome, SimulationResult
from armdyn.spatial.rotation import from_rpy
from armdyn.spatial.transform import transform
from armdyn.study.drives import CatalogueDrive, DriveChoice, Load, choose, read_catalogue
from armdyn.study.figures import parallel
from armdyn.study.labels import label, metrics_of, unit, words
from armdyn.study.sampling import ParameterSamples, read_samples
from armdyn.study.spec import Columns, Head, Study, read_bounds
from armdyn.study.summary import N_LISTED, Section, Summary, case_summary
from armdyn.study.table import StudyError, StudyTable
from armdyn.study.variants import parameter_names, vary
from armdyn.trace import backend
from armdyn.trajectory.motion_limits import RANDOM_POSES
from armdyn.trajectory.protocol import JointMotion
from armdyn.trajectory.timing import Quintic
from armdyn.trajectory.tip.from_tip import joint_trajectory
from armdyn.trajectory.tip.motion import TipMotion
from armdyn.trajectory.tip.path import Line

METRICS, WITH_DRIVES = metrics_of("design"), metrics_of("drives")
PATH_POINTS = 201  # of the path, at which it is judged
MAX_VARIED = 1e6  # of what is varied


@dataclass(frozen=True)
class Task:
    """A straight line of the tip, with a load."""

    start: tuple[float, ...]  # [m]
    end: tuple[float, ...]
    rpy: tuple[float, ...] | None  # orientation to keep [rad]; None: free
    duration: float  # [s]
    load: float = 0.0  # a point mass at the tip [kg]
    axis: str = ""  # of the tip, x, y or z, whose direction alone matters of the orientation; empty: all of it

    @property
    def kind(self) -> str:
        """Task of inverse kinematics."""
        return "position" if self.rpy is None else f"position+{self.axis}" if self.axis else "pose"

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
    tasks: tuple[Task, ...]
    samples: ParameterSamples
    rank_by: str
    catalogue: tuple[CatalogueDrive, ...] = ()

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
            judged, reason, drives = self._judge(arm)
            parameters = dict(zip(self.parameters, row, strict=True))
            named = {"drives": drives} if self.catalogue else {}
            rows.append({"case": number, "arm": name, **parameters, **judged, **named, "reason": reason})
        columns = {key: np.array([row[key] for row in rows]) for key in rows[0]}
        return {**columns, "success": (columns["reason"] == "") & self.successes(columns)}

    def case(self, number: int) -> SimulationResult:
        """The motion and the torques of one arm in the first task."""
        self.require_case(number)
        name, _, arm = self.arm(number)
        with backend.using("virtual"):
            first = self._do(self._without_drives(arm), self.tasks[0])
        t, motion, tau = first.t, first.motion, first.tau
        outcome = RunOutcome(np.array(np.nan))
        return SimulationResult(
            t, motion.q, motion.qd, tau, motion, outcome, arm.coordinate_names, f"{self.name}: {name}", arm=arm
        )

    def summary(self, columns: Columns) -> Summary:
        """The best designs, then what all studies tell."""
        able = columns["reason"] == ""
        about = f"{len(able):,} designs, of which {int(able.sum()):,} can do the task"
        whole = case_summary(self, columns, about)
        sign = -1 if self.metrics[self.rank_by] == "high" else 1
        order = np.argsort(sign * columns[self.rank_by], kind="stable")
        best = order[columns["success"][order]][:N_LISTED]
        heads = ("arm", "case", *self.parameters, *self.metrics)
        named = ("drives",) if self.catalogue else ()
        rows = [
            (
                str(columns["arm"][k]),
                str(columns["case"][k]),
                *(f"{columns[name][k]:.4g}" for name in heads[2:]),
                *(str(columns[name][k]) for name in named),
            )
            for k in best
        ]
        section = Section(f"Best designs by {words(self.rank_by)}", tuple(map(label, (*heads, *named))), rows)
        conclusion = self._conclude(columns, best)
        ranked = {"rank_by": self.rank_by, "best": [int(columns["case"][k]) for k in best]}
        data = {**whole.data, **ranked, "conclusion": conclusion}
        axes = [*self.parameters, *self.metrics]
        figures = {"parallel": lambda: parallel(columns, axes, best), **whole.figures}
        return replace(whole, sections=(section, *whole.sections), data=data, conclusion=conclusion, figures=figures)

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

    def _without_drives(self, arm: Arm) -> Arm:
        """The arm without rotors of its own where drives are chosen from a catalogue."""
        if not self.catalogue:
            return arm
        return arm.with_joints([replace(joint, drive=Drive()) for joint in arm.joints])

    @staticmethod
    def _do(arm: Arm, task: Task) -> TaskRun:
        """One task."""
        carrying = arm.with_payload(task.load) if task.load else arm
        path = joint_trajectory(carrying, task.motion, task=task.kind, tolerance=FIVE_DIGITS)
        t = np.linspace(0.0, task.duration, PATH_POINTS)
        motion = path(t)
        return TaskRun(carrying, task, t, motion, joint_torque(carrying, *motion))

    def _judge(self, arm: Arm) -> tuple[dict[str, float], str, str]:
        """Metrics of an arm, why it cannot do the tasks if so, and its drives."""
        bare = self._without_drives(arm)
        worst = {name: np.inf if better == "low" else 0.0 for name, better in self.metrics.items()}
        with backend.using("virtual"):
            reach = _reach(arm)
            try:
                runs = [self._do(bare, task) for task in self.tasks]
            except PathError as error:
                return {**worst, "reach": reach}, error.reason or "path", ""
            chosen = choose(self.catalogue, _loads(runs)) if self.catalogue else DriveChoice(())
            if chosen.missing >= 0:
                return {**worst, "reach": reach}, f"no drive for joint {chosen.missing + 1}", ""
            judged = {"reach": reach, **_metrics(runs, chosen)}
        return {name: judged[name] for name in self.metrics}, "", ", ".join(drive.name for drive in chosen.drives)


class TaskRun(NamedTuple):
    """An arm in one task."""

    arm: Arm  # with the task's load
    task: Task
    t: NDArray
    motion: JointMotion
    tau: NDArray  # (T, n), without rotors of a catalogue


def _loads(runs: list[TaskRun]) -> list[Load]:
    """For every joint its torques, velocities and accelerations in all tasks."""
    n = runs[0].tau.shape[1]
    return [[(run.tau[:, i], run.motion.qd[:, i], run.motion.qdd[:, i]) for run in runs] for i in range(n)]


def _metrics(runs: list[TaskRun], chosen: DriveChoice) -> dict[str, float]:
    """Return the metrics of all tasks together; rotors of the drives chosen are counted."""
    rotors = np.array([drive.reflected_inertia for drive in chosen.drives] or [0.0])
    series: dict[str, list[float]] = {name: [] for name in (*METRICS, "natural_frequency") if name != "reach"}
    for run in runs:
        tau = run.tau + rotors * run.motion.qdd
        power = tau * run.motion.qd
        wrenches = joint_wrenches(run.arm, *run.motion)
        mobility = manipulability(run.arm, run.motion.q, "linear" if run.task.kind == "position" else "all")
        series["peak_torque"].append(np.abs(tau).max())
        series["peak_power"].append(np.maximum(power.sum(-1), 0.0).max())
        series["energy"].append(np.trapezoid(np.abs(power).sum(-1), run.t))
        series["reaction_force"].append(np.linalg.norm(wrenches[..., :3], axis=-1).max())
        series["reaction_moment"].append(np.linalg.norm(wrenches[..., 3:], axis=-1).max())
        series["manipulability"].append(mobility.min())
        if chosen.drives:
            series["natural_frequency"].append(_lowest_frequency(run, chosen.drives))
    better = {**METRICS, **WITH_DRIVES}
    judged = {name: float((min if better[name] == "high" else max)(x)) for name, x in series.items() if x}
    mass = sum(drive.mass for drive in chosen.drives)
    return {**judged, "energy": float(sum(series["energy"])), "drive_mass": mass}


def _lowest_frequency(run: TaskRun, drives: tuple[CatalogueDrive, ...]) -> float:
    """Lowest natural frequency of the links on the gears' springs along a path, drives held [Hz].

    Joints whose gears have no stiffness in the catalogue are rigid.
    """
    stiffness = np.array([drive.stiffness for drive in drives])
    soft = np.flatnonzero(np.isfinite(stiffness))
    if not len(soft):
        return np.inf
    M = mass_matrix(run.arm, run.motion.q)[:, soft][:, :, soft]
    root = np.sqrt(stiffness[soft])
    # K^-1/2 M K^-1/2 has the eigenvalues 1 / w².
    slowest = np.linalg.eigvalsh(M / np.outer(root, root)).max()
    return float(1 / (2 * np.pi * np.sqrt(slowest)))


def _reach(arm: Arm) -> float:
    """Largest distance of the tip from the first joint over evenly spread postures within limits."""
    from scipy.stats import qmc

    lower, upper = (np.array(x, float) for x in arm.position_limits)
    turn = np.array([joint.kind == "revolute" for joint in arm.coordinate_joints])
    lower = np.where(np.isfinite(lower), lower, np.where(turn, -np.pi, 0.0))
    upper = np.where(np.isfinite(upper), upper, np.where(turn, np.pi, 0.0))
    u = qmc.Sobol(arm.n, scramble=False).random_base2(RANDOM_POSES.bit_length() - 1)
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
            cause = f"the inertia of '{word}' is unknown; torques need it"
            raise StudyError(cause, where=f"{document.where}: arms", names=(word,))
    tasks = tuple(map(_task, document.tables("tasks") if document.has("tasks") else [document.table("task")]))
    catalogue = read_catalogue(document.text("drives"), head, document.where) if document.has("drives") else ()
    metrics = {**METRICS, **(WITH_DRIVES if catalogue else {})}
    known = parameter_names(min(arm.n for arm in candidates.values()))
    samples = read_samples(document, known, head.seed)
    _check_positive(samples, document.where)
    rank_by = document.choice("rank_by", tuple(metrics), "peak_torque")
    extra = (*(arm.fingerprint for arm in candidates.values()), *map(repr, catalogue))
    return Design(
        head, samples.count * len(words), metrics, ("arm",), samples.names, read_bounds(document, metrics), extra,
        candidates, tasks, samples, rank_by, catalogue,
    )  # fmt: skip


def _task(table: StudyTable) -> Task:
    rpy = table.numbers("rpy", 3) if table.has("rpy") else None
    axis = table.choice("axis", ("x", "y", "z")) if table.has("axis") else ""
    if axis and rpy is None:
        raise StudyError(where=f"{table.where}: axis", expected="an orientation too", remedy="give rpy")
    start, end = table.numbers("start", 3), table.numbers("end", 3)
    load = table.number("load", low=0.0) if table.has("load") else 0.0
    task = Task(start, end, rpy, table.number("duration", low=0.0, above=True), load, axis)
    if task.start == task.end:
        raise StudyError("start and end are the same", where=table.where, expected="two different points")
    table.done()
    return task


def _check_positive(samples: ParameterSamples, where: str) -> None:
    """Lengths and masses as factors must be positive, payloads not negative, and nothing astronomic."""
    for name, law in samples.distributions.items():
        lowest = law.lowest
        if max(-lowest, law.highest) > MAX_VARIED:
            raise StudyError(where=f"{where}: parameters: {name}", expected=f"values up to {MAX_VARIED:g}")
        if (name.startswith("member.") and lowest <= 0) or (name == "payload" and lowest < 0):
            expected = "positive values"
            raise StudyError(where=f"{where}: parameters: {name}", expected=expected, got=f"down to {lowest:g}")
