"""Rollouts: controllers on references, on an arm that is not as their model says.

A case is one run. Cases are numbered controller by controller, reference by reference, sample by sample; all
controllers and references meet the same samples. The integrator is Runge-Kutta of order four with `substeps` steps a
sample, the rollouts of a part lie in the lanes of one native kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from armdyn.control.design.designs import TRAJECTORY_SAMPLES, chosen_designs
from armdyn.control.protocol import Law
from armdyn.dynamics.regressors.split import unknown_payload
from armdyn.errors import ArmdynError
from armdyn.model.arm import Arm
from armdyn.model.joint import FRICTION_NAMES
from armdyn.simulation.compare import END_SHARE, Sway
from armdyn.simulation.loop.schedule import MAX_STEPS
from armdyn.simulation.plant.plant import Plant
from armdyn.simulation.result import SimulationResult
from armdyn.simulation.sensors import Sensors
from armdyn.simulation.simulate import simulate
from armdyn.spatial.inertia import point_masses
from armdyn.study.gains import gain_names, scale_gain
from armdyn.study.labels import metrics_of
from armdyn.study.sampling import ParameterSamples, read_samples
from armdyn.study.spec import Columns, Head, Study, read_bounds
from armdyn.study.summary import Summary, case_summary
from armdyn.study.table import StudyError, StudyTable
from armdyn.trajectory.point_to_point import point_to_point
from armdyn.trajectory.protocol import Trajectory
from armdyn.trajectory.spline import read_trajectory

METRICS = metrics_of("rollouts")
REFERENCES = ("sway", "point-to-point", "file")
# Friction torques are linear in these; velocities and temperatures stay as they are.
DRY = ("coulomb", "asymmetry", "static")
VISCOUS = ("viscous", "viscous_asymmetry")


@dataclass(frozen=True)
class RunTiming:
    """Rate, steps and duration of runs."""

    rate: float  # [Hz]
    duration: float  # [s]
    substeps: int | None  # None: as many as the plant needs
    delay: float  # [s]
    saturation: bool  # torques end at the effort limits


@dataclass(frozen=True, eq=False)
class Rollouts(Study):
    """See the module."""

    lanes: ClassVar[int] = 64  # enough for the kernel, few enough for the processor's cache
    arm: Arm
    timing: RunTiming
    laws: Mapping[tuple[str, str], Law]  # by controller and reference
    references: Mapping[str, Trajectory]
    samples: ParameterSamples
    sensors: Sensors | None

    @cached_property
    def _rows(self) -> NDArray:
        return self.samples.table()

    @cached_property
    def _load(self) -> NDArray:
        """Map from ten parameters of a load at the tip to those of the arm, (10 n, 10)."""
        return unknown_payload(self.arm).S

    @cached_property
    def parts(self) -> list[range]:
        """As for all studies, but no part has more than one controller and reference."""
        size = max(part.stop - part.start for part in super().parts)
        group = self.samples.count
        return [
            range(k * group + first, k * group + min(first + size, group))
            for k in range(len(self.laws))
            for first in range(0, group, size)
        ]

    def compute(self, cases: range) -> Columns:
        """Run all cases of a part."""
        names, first, rows = self._place(cases)
        pieces = []
        for k in range(0, len(rows), self.lanes):
            piece = rows[k : k + self.lanes]
            result = self._run(names, first + k, piece)
            pieces.append({key: column[: len(piece)] for key, column in _judge(result).items()})
        judged = {key: np.concatenate([piece[key] for piece in pieces]) for key in pieces[0]}
        columns: Columns = {"case": np.arange(cases.start, cases.stop)}
        columns |= {key: np.full(len(rows), name) for key, name in zip(self.groups, names, strict=True)}
        columns |= {name: rows[:, j].copy() for j, name in enumerate(self.parameters)}
        columns |= {name: judged[name] for name in self.metrics}
        good = self.successes(judged) & np.isnan(judged["diverged"])
        return {**columns, "diverged": judged["diverged"], "success": good}

    def case(self, number: int) -> SimulationResult:
        """One run, computed among its neighbours as in the study, so that every bit is the same."""
        self.require_case(number)
        part = next(part for part in self.parts if number in part)
        names, first, rows = self._place(part)
        k = (number - part.start) // self.lanes * self.lanes
        result = self._run(names, first + k, rows[k : k + self.lanes])
        return result.run(number - part.start - k)

    def summary(self, columns: Columns) -> Summary:
        """Quantiles, success, what matters most, and the worst runs."""
        lost = int((~np.isnan(columns["diverged"])).sum())
        about = (
            f"{len(columns['case']):,} runs of {self.timing.duration:g} s at {self.timing.rate:g} Hz on {self.arm.name}"
        )
        return case_summary(self, columns, about + (f"; {lost:,} diverged" if lost else ""))

    def _place(self, cases: range) -> tuple[tuple[str, str], int, NDArray]:
        """Controller and reference of a part, the number of its first sample, and its samples."""
        group, first = divmod(cases.start, self.samples.count)
        return tuple(self.laws)[group], first, self._rows[first : first + len(cases)]

    # -- a batch of runs ----------------------------------------------------------------------------------

    def _run(self, names: tuple[str, str], first: int, rows: NDArray) -> SimulationResult:
        """Runs of some samples (lanes, parameters) in one batch; each has its own noise, the same in all groups."""
        rows = np.concatenate([rows, rows[-1:]]) if len(rows) == 1 else rows  # one lane would need another kernel
        values = dict(zip(self.parameters, rows.T, strict=True))
        law, reference, timing = self.laws[names], self.references[names[1]], self.timing
        for name, factor in values.items():
            if name.startswith("gain."):
                law = scale_gain(law, name.removeprefix("gain."), factor)
        q0 = reference(0.0).q + np.zeros((len(rows), self.arm.n))
        for j in range(self.arm.n):
            q0[:, j] += values.get(f"start.{j + 1}", 0.0)
        result = simulate(
            self._plant(values), law, reference, timing.duration, timing.rate, q0=q0, substeps=timing.substeps,
            delay=timing.delay, hold=True, check=False, quiet=True, threads=1, name=f"{self.name}: {names[0]}",
            sensors=self.sensors, seed=self.head.seed + first,
        )  # fmt: skip
        if result.interrupted:
            raise KeyboardInterrupt
        return result

    def _plant(self, values: Mapping[str, NDArray]) -> Plant:
        """The arm as it really is in every lane."""
        arm = self.arm
        saturation: Any = "limits" if self.timing.saturation else None
        if "torque_limit" in values:
            saturation = values["torque_limit"][:, None] * arm.effort_limits
        lag = values["motor_lag"][:, None] + np.zeros(arm.n) if "motor_lag" in values else 0.0
        theta, friction = self._theta(values), self._friction(values)
        return Plant(arm, motor_lag=lag, saturation=saturation, theta=theta, friction_data=friction)

    def _theta(self, values: Mapping[str, NDArray]) -> NDArray:
        """Inertial parameters (lanes, 10 n): links times their factors, and the load."""
        lanes = len(next(iter(values.values()))) if values else 2
        links = np.tile(self.arm.theta.reshape(self.arm.n, -1), (lanes, 1, 1))
        for i in range(self.arm.n):
            factor = values.get("inertia", 1.0) * values.get(f"inertia.{i + 1}", np.ones(lanes))
            links[:, i] *= np.asarray(factor)[:, None]
        nothing = np.zeros(lanes)
        mass, *com = (values.get(name, nothing) for name in ("payload", "payload.x", "payload.y", "payload.z"))
        return links.reshape(lanes, -1) + point_masses(mass, np.transpose(com)) @ self._load.T

    def _friction(self, values: Mapping[str, NDArray]) -> NDArray | None:
        """Friction numbers (lanes, n, f), or None for the arm's own."""
        scaled = {"friction": (*DRY, *VISCOUS, "offset"), "viscous": VISCOUS, "coulomb": DRY}
        factors = {name: values[name][:, None, None] for name in scaled if name in values}
        if not factors:
            return None
        table = np.tile(self.arm.trace_data("friction"), (len(next(iter(factors.values()))), 1, 1))
        for name, factor in factors.items():
            table[:, :, [FRICTION_NAMES.index(term) for term in scaled[name]]] *= factor
            if set(DRY) <= set(scaled[name]) and self.arm.trace_sizes["l"]:  # torques of the friction curve's levels
                table[:, :, 1 - 2 * self.arm.trace_sizes["l"] :: 2] *= factor
        return table


def _judge(result: SimulationResult) -> Columns:
    """All metrics of all runs, infinite where one diverged."""
    with np.errstate(invalid="ignore", over="ignore"):
        m = result.metrics
        end = result.t >= (1 - END_SHARE) * result.t[-1]
        settled = np.where(np.isnan(m.settling_time), np.inf, m.settling_time).max(-1)
        metrics = {
            "rms_error": np.sqrt((m.rms_error**2).mean(-1)),
            "max_error": m.max_error.max(-1),
            "final_error": np.sqrt((result.error[..., end, :] ** 2).mean((-2, -1))),
            "rms_tip_error": m.rms_tip_error,
            "max_tip_error": m.max_tip_error,
            "rms_torque": np.sqrt((m.rms_torque**2).mean(-1)),
            "max_torque": m.max_torque.max(-1),
            "effort": m.effort,
            "settling_time": settled,
        }
    lost = ~np.isnan(result.diverged)
    judged = {name: np.where(lost, np.inf, column) for name, column in metrics.items()}
    return {**judged, "diverged": result.diverged}


# -- the file ---------------------------------------------------------------------------------------------------


def read(document: StudyTable, head: Head) -> Rollouts:
    """A study of rollouts from its document."""
    arm = head.arm(document.text("arm"))
    timing = _timing(document.table("run"))
    files: list[str] = []
    references = dict(_reference(table, arm, timing, head, files) for table in document.tables("references"))
    laws = _laws(document, arm, references, timing)
    gains = [f"gain.{name}" for name in dict.fromkeys(name for law in laws.values() for name in gain_names(law))]
    samples = read_samples(document, _parameters(arm, gains), head.seed)
    for name in samples.names:
        if name.startswith("gain."):
            for law in laws.values():
                scale_gain(law, name.removeprefix("gain."), 1.0)  # every law must have it
    _reject_negative(samples, document.where)
    if "torque_limit" in samples.names and not np.isfinite(arm.effort_limits).all():
        cause = f"not all joints of '{arm.name}' have effort limits"
        raise StudyError(cause, where=f"{document.where}: parameters: torque_limit")
    metrics = _metrics(document)
    count = samples.count * len(laws)
    bounds = read_bounds(document, metrics)
    return Rollouts(
        head, count, metrics, ("controller", "reference"), samples.names, bounds, (arm.fingerprint, *files),
        arm, timing, laws, references, samples, _sensors(document.table("sensors")),
    )  # fmt: skip


def _parameters(arm: Arm, gains: list[str]) -> tuple[str, ...]:
    """Names of all that can be varied."""
    joints = range(1, arm.n + 1)
    return (
        "payload", "payload.x", "payload.y", "payload.z", "inertia", *(f"inertia.{i}" for i in joints),
        "friction", "viscous", "coulomb", "motor_lag", "torque_limit", *(f"start.{i}" for i in joints), *gains,
    )  # fmt: skip


def _reject_negative(samples: ParameterSamples, where: str) -> None:
    """Masses, factors and times cannot be negative."""
    for name, law in samples.distributions.items():
        free = name.startswith(("start.", "payload."))
        if not free and law.lowest < 0:
            expected = "values >= 0"
            raise StudyError(where=f"{where}: parameters: {name}", expected=expected, got=f"down to {law.lowest:g}")


def _timing(table: StudyTable) -> RunTiming:
    timing = RunTiming(
        table.number("rate", 1000.0, low=0.0, above=True),
        table.number("duration", low=0.0, above=True),
        table.whole("substeps", 1, low=1) if table.has("substeps") else None,
        table.number("delay", 0.0, low=0.0),
        table.flag("saturation"),
    )
    table.done()
    steps = timing.rate * timing.duration * (timing.substeps or 1)
    if steps > MAX_STEPS:
        expected = f"at most {MAX_STEPS:,} steps per run (rate, duration and substeps)"
        raise StudyError(where=table.where, expected=expected, got=f"{steps:.3g}")
    return timing


def _sensors(table: StudyTable) -> Sensors | None:
    """Instruments between arm and controllers, alike in all joints; none without the table."""
    numbers = {name: table.number(name, 0.0, low=0.0) for name in ("resolution", "q_noise", "qd_noise", "lost")}
    delay, difference = table.whole("delay", 0), table.flag("difference")
    table.done()
    return Sensors(**numbers, delay=delay, difference=difference) if table.data else None


def _metrics(document: StudyTable) -> dict[str, str]:
    if not document.has("metrics"):
        return METRICS
    names = document.texts("metrics")
    StudyTable(dict.fromkeys(names), document.where).keys_of(tuple(METRICS), "metric")
    return {name: METRICS[name] for name in names}


def _reference(table: StudyTable, arm: Arm, timing: RunTiming, head: Head, files: list[str]) -> tuple[str, Trajectory]:
    """A reference and its name; files it rests on are added to `files`."""
    kind = table.choice("kind", REFERENCES, "sway")
    name = table.text("name", kind)
    motion: Trajectory
    if kind == "sway":
        motion = Sway.within(arm, timing.duration)
    elif kind == "point-to-point":
        start, end = table.numbers("start", arm.n), table.numbers("end", arm.n)
        motion = point_to_point(start, end, duration=table.number("time", timing.duration, low=0.0, above=True))
    else:
        path = table.text("path")
        files.append(head.file_digest(path))
        motion = read_trajectory(head.folder / path)
        if motion.n != arm.n:
            raise StudyError(where=f"{table.where}: path", expected=f"a motion of {arm.n} joints", got=motion.n)
    table.done()
    return name, motion


def _laws(
    document: StudyTable, arm: Arm, references: Mapping[str, Trajectory], timing: RunTiming
) -> dict[tuple[str, str], Law]:
    """Every controller designed for every reference."""
    tables = document.tables("references")
    if len(references) < len(tables):
        raise StudyError(where=f"{document.where}: references", expected="every name once")
    laws: dict[tuple[str, str], Law] = {}
    for table in document.tables("controllers"):
        bandwidth = table.number("bandwidth", 3.0, low=0.0, above=True)
        design, gains = table.text("design"), table.table("gains")
        name = table.text("name", design)
        if any(name == other for other, _ in laws):
            remedy = "give each controller its own"
            raise StudyError(f"'{name}' is there already", where=f"{table.where}: name", remedy=remedy, names=(name,))
        for reference, motion in references.items():
            end = min(timing.duration, motion.duration)
            samples = motion(np.linspace(0.0, end, TRAJECTORY_SAMPLES))
            try:
                (law,) = chosen_designs(arm, samples, bandwidth, timing.rate, [design]).values()
            except ArmdynError as error:
                raise StudyError(f"{error}", where=f"{table.where}: design") from None
            for gain in gains.data:
                law = scale_gain(law, gain, gains.number(gain, low=0.0, above=True))
            laws[name, reference] = law
        table.done()
    return laws
