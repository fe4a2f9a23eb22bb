"""Controllers side by side: one plant, one reference, one table."""

from __future__ import annotations

import dataclasses
import os
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.control.adaptive.estimate import Adaptive
from armdyn.control.protocol import Law
from armdyn.errors import ArmdynError
from armdyn.files import write_figure
from armdyn.frozen import PartOf
from armdyn.model.arm import Arm
from armdyn.numerals import number
from armdyn.presentation import Reported
from armdyn.progress import ProgressCallback, reporting, with_text
from armdyn.simulation.explain import explain, torque_needed
from armdyn.simulation.loop.crossover import crossover
from armdyn.simulation.loop.plan import SimulationSettings, make_plan
from armdyn.simulation.loop.stability import expected_instability
from armdyn.simulation.metrics import tip_distance
from armdyn.simulation.plant.plant import Plant
from armdyn.simulation.ranking import Ranking, Sentence, standing
from armdyn.simulation.result import SimulationResult
from armdyn.simulation.simulate import simulate
from armdyn.trajectory.protocol import JointMotion

# The part of a run that counts as its end.
END_SHARE = 1 / 3
FORMATS = (".png", ".svg", ".pdf")  # of pictures
UNITS = (
    "errors of all joints in rad or m, of the tip in mm (rms, final: last third), torques in N m or N; jumps: rms "
    "changes of torque from sample to sample; loop: crossover of the torque loops, median over joints; estimate: "
    "final over initial parameter error"
)


class TrackingFigures(NamedTuple):
    """Tracking errors of a run; NaN where it diverged or failed."""

    rms: float = np.nan  # of all joints over the whole run [rad or m]
    final_rms: float = np.nan  # over the last third
    largest: float = np.nan  # over the last third
    tip: float = np.nan  # RMS distance of the tip from its reference over the last third [m]
    joints: tuple[float, ...] = ()  # RMS of each joint over the last third [rad or m]


class TorqueFigures(NamedTuple):
    """Torques of a run; NaN where it diverged or failed."""

    torque: float = np.nan  # RMS of all joints [N m or N]
    peak: float = np.nan  # largest torque of any joint over the whole run [N m or N]
    peak_joint: int = 0  # whose it is, from 0
    jump: float = np.nan  # RMS change of all torques from sample to sample beyond the motion's [N m or N]
    roughness: float = np.nan  # the same over the RMS torque that the motion needs


@dataclass(frozen=True)
class ComparisonRow:
    """One controller's figures."""

    name: str
    errors: TrackingFigures = field(default_factory=TrackingFigures)
    torques: TorqueFigures = field(default_factory=TorqueFigures)
    parameter_error: float = np.nan  # of the estimate at the end, relative to that at the start; NaN for fixed laws
    seconds: float = 0.0  # to compute the run
    note: str = ""
    why: str = ""  # it diverged or takes large torques, in a sentence that names the joint
    crossover: tuple[float, ...] = ()  # of each joint's torque loop [Hz]

    rms = PartOf[float]("errors.rms", "Tracking error of all joints over the whole run [rad or m].")
    final_rms = PartOf[float]("errors.final_rms", "Tracking error of all joints over the last third [rad or m].")
    largest = PartOf[float]("errors.largest", "Largest error of a joint over the last third [rad or m].")
    tip = PartOf[float]("errors.tip", "RMS distance of the tip from its reference over the last third [m].")
    joints = PartOf[tuple[float, ...]]("errors.joints", "RMS errors of the joints over the last third [rad or m].")
    torque = PartOf[float]("torques.torque", "RMS of all torques [N m or N].")
    peak = PartOf[float]("torques.peak", "Largest torque of any joint [N m or N].")
    peak_joint = PartOf[int]("torques.peak_joint", "The joint of the largest torque, from 0.")
    jump = PartOf[float]("torques.jump", "RMS change of torques from sample to sample beyond the motion's [N m or N].")
    roughness = PartOf[float]("torques.roughness", "The same over the RMS torque that the motion needs.")

    def figures(self) -> dict[str, Any]:
        """All figures by name."""
        others = {key: value for key, value in vars(self).items() if key not in ("name", "errors", "torques")}
        return {"name": self.name, **self.errors._asdict(), **self.torques._asdict(), **others}


@dataclass(frozen=True, eq=False)
class Comparison(Reported):
    """Runs of several controllers on one plant and reference."""

    rows: tuple[ComparisonRow, ...]
    results: Mapping[str, SimulationResult]
    about: str
    interrupted: bool = False  # by Ctrl-C: the controllers that had not run yet are missing

    def __getitem__(self, name: str) -> ComparisonRow:
        """The row of a controller."""
        for row in self.rows:
            if row.name == name:
                return row
        cause = f"no controller '{name}' was compared; there are {', '.join(row.name for row in self.rows)}"
        raise ArmdynError(cause, names=(name,))

    def __str__(self) -> str:
        head = f"{'controller':28s}{'rms':>11s}{'final rms':>11s}{'final max':>11s}"
        head += f"{'tip [mm]':>10s}{'rms torque':>12s}{'jumps':>8s}{'loop [Hz]':>11s}{'estimate':>10s}"
        lines = [self.about, head]
        for row in self.rows:
            numbers = f"{row.rms:11.3g}{row.final_rms:11.3g}{row.largest:11.3g}"
            numbers += f"{number(1e3 * row.tip, 3):>10s}{row.torque:12.1f}{row.jump:8.2g}"
            if np.isnan(row.rms):
                numbers = "".join(f"{'-':>{width}s}" for width in (11, 11, 11, 10, 12, 8))
            speed = standing(row).crossover
            numbers += f"{'-' if np.isnan(speed) else f'{speed:.2g}':>11s}"
            error = "" if np.isnan(row.parameter_error) else f"{row.parameter_error:10.2f}"
            lines.append(f"{row.name:28s}{numbers}{error} {row.note}".rstrip())
            lines += [f"  {row.why}"] if row.why else []
        return "\n".join([*lines, UNITS, "", *(text for _, text in self.conclusion)])

    @property
    def ranking(self) -> Ranking:
        """The laws by what was measured of them."""
        return Ranking.of(self.rows)

    @property
    def conclusion(self) -> list[Sentence]:
        """The ranking in words."""
        return self.ranking.sentences(self.unit)

    @property
    def unit(self) -> str:
        """Unit of joint errors times a thousand."""
        arm = next((result.arm for result in self.results.values()), None)
        kinds = {"revolute", "prismatic"} if arm is None else {joint.kind for joint in arm.coordinate_joints}
        return " or ".join(name for kind, name in (("revolute", "mrad"), ("prismatic", "mm")) if kind in kinds)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(row.name for row in self.rows)}>"

    def figure(self, path: str | os.PathLike[str]) -> Path:
        """Draw errors over time, and the table's bars, into a file (.png, .svg, .pdf)."""
        if Path(path).suffix.lower() not in FORMATS:
            raise ArmdynError(f"cannot draw into '{path}': expected {', '.join(FORMATS)}", names=(path,))
        return write_figure(path, self.plot(), dpi=120)


def compare(
    plant: Plant | Arm,
    laws: Mapping[str, Law],
    reference: Any,
    rate: float = 1000.0,
    *,
    truth: Callable[[Adaptive], NDArray] | None = None,
    about: str = "",
    progress: ProgressCallback | bool | None = None,
    **options: Any,
) -> Comparison:
    """Run every controller on one plant and reference.

    Parameters
    ----------
    plant : Plant or Arm
    laws : mapping of str to Law
        By name, such as `designs` makes them.
    reference : Trajectory
    rate : float
        [Hz]
    truth : callable, optional
        From an adaptive law to the true values (u,) of its unknowns, for their errors.
    about : str
        Heading of the table.
    progress : callable or bool, optional
        True: show a bar with the time left. A function is called with (done, total, name) before every run.
    **options
        Further options of `simulate`.

    Returns
    -------
    Comparison
        After Ctrl-C, of those that have run until then. A controller whose run raises an error has a row that says
        why, and no result; if none can run, the first error is raised.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> laws = {"PD": armdyn.PD(arm, 100.0, 20.0), "computed torque": armdyn.ComputedTorque.from_bandwidth(arm, 3.0)}
    >>> task = armdyn.point_to_point([0.0, 0.0], [0.5, -0.3], duration=1.0)
    >>> comparison = armdyn.compare(arm, laws, task, rate=500.0)
    >>> bool(comparison["computed torque"].final_rms < comparison["PD"].final_rms)
    True
    """
    rows: list[ComparisonRow] = []
    results = {}
    failure: Exception | None = None
    try:
        with reporting(progress, "compare", with_text) as tell:
            for name, law in laws.items():
                tell(len(rows), len(laws), name)
                begin = time.perf_counter()
                run = partial(simulate, plant, law, reference, rate=rate, name=name, check=False, quiet=True, **options)
                try:
                    result = _interruptible(run)
                except Exception as error:  # whatever it is, the other laws' runs are worth having
                    failure = failure or error
                    rows.append(_failed_row(name, error, time.perf_counter() - begin))
                    continue
                if result.interrupted:  # simulate itself keeps what it has
                    raise KeyboardInterrupt
                row = _row(name, law, result, truth, time.perf_counter() - begin)
                rows.append(
                    _with_loop(row, plant, law, reference, SimulationSettings.of(rate=rate, check=False, **options))
                )
                results[name] = result
    except KeyboardInterrupt:
        if not rows:
            raise
        return Comparison(tuple(rows), results, f"{about} (interrupted)".strip(), interrupted=True)
    if failure is not None and not results:
        raise failure
    return Comparison(tuple(rows), results, about)


def _interruptible(run: Callable[[], SimulationResult]) -> SimulationResult:
    """Return the result of `run`; notice Ctrl-C at once, also while native code runs, which then ends by itself."""
    future: Future[SimulationResult] = Future()
    context = copy_context()

    def work() -> None:
        try:
            future.set_result(context.run(run))
        except BaseException as error:  # given to the caller's thread
            future.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return future.result()


def _failed_row(name: str, error: Exception, seconds: float) -> ComparisonRow:
    """The row of a controller that could not run at all."""
    cause = str(error).strip() or "no message"
    kind = "" if isinstance(error, ArmdynError) else f"{type(error).__name__}: "
    return ComparisonRow(name, seconds=seconds, note="failed", why=f"{kind}{' '.join(cause.split())}")


def _with_loop(
    row: ComparisonRow, plant: Plant | Arm, law: Any, reference: Any, settings: SimulationSettings
) -> ComparisonRow:
    """The row with the crossover of its loops and, where it diverged because of its rate, that cause."""
    if not isinstance(law, Law):
        return row
    schedule = make_plan(plant, law, reference, settings).schedule
    speed = tuple(crossover(schedule, law, settings.sensors).tolist())
    cause = expected_instability(schedule, law, settings.sensors) if np.isnan(row.rms) else None
    return dataclasses.replace(row, crossover=speed, why="; ".join(filter(None, (row.why, cause))))


def torque_jumps(tau: NDArray) -> NDArray:
    """RMS changes of torques (T, n) from sample to sample, (n,), without those of the motion.

    Second differences, which a smooth motion hardly has, over sqrt(3): then they equal first ones of random changes.
    """
    return np.asarray(np.sqrt((np.diff(tau, 2, axis=0) ** 2).mean(0) / 3)) if len(tau) > 2 else np.zeros(tau.shape[1])


def _row(name: str, law: Any, result: SimulationResult, truth: Any, seconds: float) -> ComparisonRow:
    if not result.complete:
        note = f"diverged at {np.nanmin(result.diverged):.3g} s"
        return ComparisonRow(name, seconds=seconds, note=note, why=explain(result))
    end = result.t >= (1 - END_SHARE) * result.t[-1]
    error, tip, learnt = result.error, tip_distance(result), np.nan
    if truth is not None and isinstance(law, Adaptive):
        # In torques that matter: each unknown by its own gain.
        weight = 1 / np.sqrt(np.where(law.gain > 0, law.gain, np.inf))  # type: ignore[attr-defined]
        phi = result.states["phi"]
        start, after = (np.linalg.norm(weight * (x - truth(law))) for x in (phi[0], phi[-1]))
        learnt = float(after / start) if start > 0 else np.nan
    jump = float(np.sqrt((torque_jumps(result.tau[:-1]) ** 2).mean()))
    need = np.nan if result.arm is None else float(np.sqrt((torque_needed(result) ** 2).mean()))
    errors = TrackingFigures(
        float(np.sqrt((error**2).mean())),
        float(np.sqrt((error[end] ** 2).mean())),
        float(np.abs(error[end]).max()),
        np.nan if tip is None else float(np.sqrt((tip[end] ** 2).mean())),
        tuple(np.sqrt((error[end] ** 2).mean(0)).tolist()),
    )
    size = np.abs(result.tau)
    torques = TorqueFigures(
        float(np.sqrt((result.tau**2).mean())),
        float(size.max()),
        int(size.max(0).argmax()),
        jump,
        jump / need if need > 0 else np.nan,
    )
    return ComparisonRow(name, errors, torques, learnt, seconds, why=explain(result))


def with_mismatch(arm: Arm, payload: float, friction: float) -> Arm:
    """The arm as it might really be: with a load at its tip [kg], and friction torques times a factor."""
    loaded = arm.with_payload(payload) if payload else arm
    scaled = [dataclasses.replace(joint, friction=joint.friction.scaled(friction)) for joint in loaded.joints]
    return loaded.with_joints(scaled)


@dataclass(frozen=True)
class Sway:
    """All joints sway smoothly between rest positions within their limits, each at its own frequency."""

    centre: NDArray
    amplitude: NDArray
    frequency: NDArray  # [Hz]
    duration: float

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.centre)

    @classmethod
    def within(cls, arm: Arm, duration: float, frequencies: tuple[float, float] = (0.25, 0.5)) -> Sway:
        """A third of each joint's range, at most 0.5 rad or 0.1 m to each side."""
        lower, upper = (np.array(x, float) for x in arm.position_limits)
        lower, upper = np.maximum(lower, -np.pi), np.minimum(upper, np.pi)
        most = np.array([0.5 if joint.kind == "revolute" else 0.1 for joint in arm.coordinate_joints])
        centre = np.clip((lower + upper) / 2, -1.0, 1.0)
        amplitude = np.minimum(most, (upper - lower) / 6)
        return cls(centre, amplitude, np.linspace(*frequencies, arm.n), duration)

    def __call__(self, t: Any) -> JointMotion:
        """The motion at times t."""
        t = np.asarray(t, float)[..., None]
        w = 2 * np.pi * self.frequency
        return JointMotion(
            self.centre - self.amplitude * np.cos(w * t),
            self.amplitude * w * np.sin(w * t),
            self.amplitude * w**2 * np.cos(w * t),
        )
