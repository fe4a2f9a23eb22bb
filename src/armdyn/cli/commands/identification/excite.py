"""`armdyn excite ARM`: a motion that excites an arm's parameters."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from armdyn.cli.interrupts import watch
from armdyn.cli.logs import LogOptions, mount_arm, numbers
from armdyn.cli.long_work import after_writing, draw, end_command, progress_bar, require_folders
from armdyn.cli.resolve import resolve
from armdyn.cli.show import attributes, print_json

if TYPE_CHECKING:
    from armdyn.trajectory.excitation.excite import Excitation
    from armdyn.trajectory.experiment.plan import Experiment


@dataclass(frozen=True)
class MotionOptions:
    """Kind of motion."""

    duration: float = 10.0
    harmonics: int = 5
    criterion: Literal["condition", "log-det", "min-singular", "kalman"] = "condition"
    unit_columns: bool = False
    periodic: bool = False

    def keywords(self) -> dict[str, Any]:
        """The same for `armdyn.excite`."""
        names = ("duration", "harmonics", "criterion", "unit_columns")
        return {**{name: getattr(self, name) for name in names}, "at_rest": not self.periodic}


@dataclass(frozen=True)
class LimitOptions:
    """Limits of joints."""

    max_acceleration: str = "8"
    max_velocity: str | None = None
    torque_limits: bool | None = None
    max_torque: str | None = None
    margin: float = 0.05

    def keywords(self) -> dict[str, Any]:
        """The same for `armdyn.excite`."""
        torque = numbers(self.max_torque, "--max-torque")
        return {
            "max_acceleration": numbers(self.max_acceleration, "--max-acceleration"),
            "max_velocity": numbers(self.max_velocity, "--max-velocity"),
            "max_torque": self.torque_limits if torque is None else torque,
            "margin": self.margin,
        }


@dataclass(frozen=True)
class SpaceOptions:
    """Space that links keep to."""

    floor: float | None = None
    no_floor: bool = False
    no_self_collision: bool = False
    obstacles: Path | None = None
    table: float | None = None
    radius: float | None = None

    def keywords(self) -> dict[str, Any]:
        """The same for `armdyn.excite`."""
        return {
            "floor": False if self.no_floor else self.floor,
            "self_collision": not self.no_self_collision,
            "obstacles": () if self.obstacles is None else self.obstacles,
            "tip_box": None if self.table is None else ((-inf, -inf, self.table), (inf, inf, inf)),
            "radius": self.radius,
        }


@dataclass(frozen=True)
class SearchBudgetOptions:
    """End of the search, named as in `armdyn.excite`."""

    time_budget: float = 20.0
    starts: int | None = None
    seed: int = 0


@dataclass(frozen=True)
class ExperimentOptions:
    """Files around the motion, for the robot."""

    home: str | None = None
    repeat: int = 1
    rehearsal: float = 0.2
    ros: Path | None = None
    urscript: Path | None = None

    @property
    def pose(self) -> list[float] | None:
        """The home pose, if there is one."""
        values = None if self.home is None else numbers(self.home, "--home")
        return [values] if isinstance(values, float) else values

    def require(self, n: int, at_rest: bool) -> None:
        """Complain before the search about files around the motion that could not be written after it."""
        from armdyn.files import require_folder
        from armdyn.trajectory.experiment.plan import require_settings
        from armdyn.trajectory.experiment.urscript import require_six_joints

        if self.home is not None:
            require_settings(self.repeat, self.rehearsal, at_rest=at_rest)
        elif self.ros is not None or self.urscript is not None or self.repeat != 1:
            raise typer.BadParameter("--ros, --urscript and --repeat need --home, the pose the robot starts from")
        if self.ros is not None:
            require_folder(self.ros)
        if self.urscript is not None:
            require_six_joints(n)

    def plan(self, excitation: Excitation) -> Experiment | None:
        """The experiment around a motion, if there is a home pose."""
        from armdyn.trajectory.experiment.plan import plan_experiment

        if self.pose is None:
            return None
        return plan_experiment(excitation, self.pose, count=self.repeat, rehearsal=self.rehearsal)

    def write(self, experiment: Experiment, out: Path, rate: float | None) -> list[Path]:
        """Write the files around the motion; their paths."""
        from armdyn.files import write_whole
        from armdyn.trajectory.experiment.ros import write_ros_folder
        from armdyn.trajectory.experiment.urscript import urscript as program

        written = experiment.save(out, rate)
        if self.ros is not None:
            written += write_ros_folder(experiment, self.ros)
        if self.urscript is not None:
            written.append(write_whole(self.urscript, program(experiment.joined, experiment.home)))
        return written


@dataclass(frozen=True)
class FileOptions:
    """The file of the motion, and its page."""

    rate: float | None = None
    unit_row: bool = False
    out: Path = Path("trajectory.csv")
    report: Path | None = None

    def write(self, excitation: Excitation, experiment: Experiment | None, around: ExperimentOptions) -> list[Path]:
        """Write the motion, and what is around it; the paths."""
        from armdyn.trajectory.save import save_trajectory

        arm = excitation.base.source
        whole = experiment is not None and self.out.suffix in (".yaml", ".json")
        motion = experiment.joined if experiment and whole else excitation.trajectory
        names, kinds = arm.coordinate_names, [joint.kind for joint in arm.coordinate_joints]
        path = save_trajectory(motion, self.out, rate=self.rate, joint_names=names, kinds=kinds, units=self.unit_row)
        return [path, *(around.write(experiment, self.out, self.rate) if experiment else [])]


def excite(
    arm: str, *, motion: MotionOptions, limits: LimitOptions, space: SpaceOptions, prior_logs: list[Path] | None = None,
    options: LogOptions, down: str | None = None, search: SearchBudgetOptions, around: ExperimentOptions,
    file: FileOptions, base: str | None = None, tip: str | None = None, json: bool = False,
) -> None:  # fmt: skip
    """Design a motion that excites an arm's parameters within its limits, and save it.

    Links keep off the arm's mounting plane and apart from each other, torques and velocities below their limits with a
    margin; anything not checked is listed. Exit code 3: saved, but some link was not kept off the floor or an obstacle.
    Ctrl-C saves the best so far (exit code 130).
    """
    from armdyn.blas import single_threaded
    from armdyn.trajectory.excitation.excite import excite as design
    from armdyn.trajectory.save import require_ending, require_rate

    subject = mount_arm(resolve(arm, base, tip), down)
    require_folders(require_ending(file.out), around.urscript, report=file.report)
    around.require(subject.n, at_rest=not motion.periodic)
    if file.rate is not None:
        require_rate(file.rate)
        _warn_if_coarse(file.rate, motion)
    logs = options.read(prior_logs or [], subject, currents=True)
    keywords = {**motion.keywords(), **limits.keywords(), **space.keywords(), **vars(search), "home": around.pose}
    with single_threaded(), progress_bar(saves=True) as tell:
        excitation = design(
            subject, **keywords, prior_logs=logs,
            progress=lambda standing: tell(
                standing.starts if search.starts else standing.elapsed, search.starts or search.time_budget,
                f"{standing}", isfinite(standing.best),
            ),
        )  # fmt: skip
        experiment = around.plan(excitation)
        written = file.write(excitation, experiment, around)
    with after_writing(*written):
        print_json(_numbers(excitation, experiment, written)) if json else _show(excitation, written)
    _finish(excitation, written, file.report, json)
    _warn(excitation, experiment)


def _warn_if_coarse(rate: float, motion: MotionOptions) -> None:
    """Warn of a file whose samples do not show the highest harmonic nearly as it is."""
    from armdyn.errors import ArmdynWarning
    from armdyn.trajectory.protocol import SAMPLES_PER_PERIOD

    sufficient = SAMPLES_PER_PERIOD * motion.harmonics / motion.duration
    if rate < sufficient:
        text = f"{rate:g} Hz sample the motion too coarsely; use a --rate of at least {sufficient:g} Hz"
        warnings.warn(text, ArmdynWarning, stacklevel=2)


def _numbers(excitation: Excitation, experiment: Experiment | None, written: list[Path]) -> dict[str, Any]:
    """The motion and its files, for scripts."""
    parts = {} if experiment is None else experiment.guarantees
    around = {name: [asdict(one) for one in some] for name, some in parts.items()}
    files = {"file": str(written[0]), "files": [str(path) for path in written]}
    return summary(excitation) | files | {"guarantees_around": around}


def _finish(excitation: Excitation, written: list[Path], report: Path | None, json: bool) -> None:
    """Draw the page; or, after Ctrl-C, say what is saved."""
    if excitation.interrupted or watch().pressed:
        drawn = f"; {report} was not written, which takes seconds" if report else ""
        end_command(f"; saved the best motion so far{drawn}; try another --seed to search further")
    if report is not None:
        draw(excitation, report, *written)
        if not json:
            print(f"wrote {report}")


def _warn(excitation: Excitation, experiment: Experiment | None) -> None:
    """End with exit code 3 where a motion may hit its surroundings or break a limit, and say why."""
    from armdyn.report.excitation import shortfall

    warnings = [shortfall(one) for one in excitation.guarantees if one.is_alarming]
    for name, some in (experiment.guarantees if experiment else {}).items():
        warnings += [f"On the {name}, {one}." for one in some if one.checked and not one.holds]
    if warnings:
        typer.echo(f"armdyn: {' '.join(warnings)}", err=True)
        raise typer.Exit(3)


def summary(excitation: Excitation) -> dict[str, Any]:
    """Summarise a motion for scripts."""
    return {
        "arm": excitation.base.name,
        "duration": excitation.trajectory.duration,
        "condition": excitation.condition,
        "condition_worst_choice": excitation.condition_worst,
        "condition_unit_columns": excitation.condition_unit,
        "base_parameters": excitation.base.count,
        "columns": len(excitation.information),
        "searches": excitation.starts,
        **attributes(excitation, "seconds interrupted unchecked lowest"),
        "kept": excitation.constraints,
        "confined": [str(one) for one in excitation.confined],
        "guarantees": [asdict(one) for one in excitation.guarantees],
    }


def _show(excitation: Excitation, written: list[Path]) -> None:
    from armdyn.report.excitation import advice
    from armdyn.trajectory.excitation.excite import GOOD_CONDITION

    n, count = excitation.base.source.n, excitation.base.count
    print(f"{excitation.base.name}: {excitation.trajectory.duration:g} s, designed in {excitation.seconds:.0f} s")
    columns = f"{count} inertial + {2 * n} friction parameters"
    print(f"Condition number {excitation.condition:.1f} ({columns}); up to {GOOD_CONDITION:g} is good")
    print("\n".join(["At all times:", *(f"  {line}" for line in excitation.always)]))
    print(
        "\n".join(
            [
                "Not checked:",
                *(f"  {line}" for line in excitation.unchecked),
                f"{excitation.lowest.capitalize()} (of all links, checked or not).",
            ]
        )
    )
    if len(written) == 1:
        start = ", ".join(f"{x:.3g}" for x in excitation.trajectory(0.0).q)
        print(f"Start pose: q = {start}. --home adds approach and return motions, --ros a ROS 2 sender.")
    if not excitation.is_good:
        print(f"Some parameters are weakly excited: {advice(excitation)}")
    print(f"Saved as {', '.join(str(path) for path in written)}")
