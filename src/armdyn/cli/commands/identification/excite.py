"""`armdyn excite ARM`: a motion that excites an arm's parameters."""

from __future__ import annotations

from dataclasses import asdict
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from armdyn.cli.interrupts import watch
from armdyn.cli.logs import Down, LogOptions, mount_arm, numbers, with_log_options
from armdyn.cli.long_work import after_writing, draw, end_command, progress_bar, require_folders
from armdyn.cli.resolve import ArmName, Base, Json, Tip, resolve
from armdyn.cli.show import attributes, print_json

if TYPE_CHECKING:
    from armdyn.trajectory.excitation.excite import Excitation
    from armdyn.trajectory.excitation.multi_start import SearchProgress
    from armdyn.trajectory.experiment.plan import Experiment

Duration = Annotated[float, typer.Option(help="Length of the motion [s].")]
Acceleration = Annotated[
    str, typer.Option(metavar="A1,A2,..", help="Largest joint accelerations, one or n [rad/s^2 or m/s^2].")
]
Velocity = Annotated[
    str | None,
    typer.Option(metavar="V1,V2,..", help="Largest joint velocities, one or n, where the arm's are larger or absent."),
]
Budget = Annotated[
    float, typer.Option(help="Time to search [s], without --starts; the best motion until then is saved.")
]
Out = Annotated[Path, typer.Option("--out", "-o", help="File to write: .csv, .npz, or .yaml/.json for ROS 2.")]
Report = Annotated[Path | None, typer.Option(help="Page with plots to write (.html).")]
Torque = Annotated[
    bool | None,
    typer.Option(
        "--torque-limits/--no-torque-limits",
        help="Insist on the arm's torque limits, or do not check them; default: where limits and inertia are known.",
        show_default=False,
    ),
]
Floor = Annotated[
    float | None,
    typer.Option(metavar="Z", help="Height of the floor (mounting plane) in base axes, if not the arm's own [m]."),
]
NoFloor = Annotated[bool, typer.Option("--no-floor", help="Links may pass through the mounting plane.")]
NoApart = Annotated[bool, typer.Option("--no-self-collision", help="Do not keep links apart from each other.")]
Obstacles = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Boxes, half-spaces and spheres to keep clear of (.toml).")
]
Margin = Annotated[float, typer.Option(help="Share of the arm's velocity and torque limits that stays free.")]
MaxTorque = Annotated[
    str | None,
    typer.Option(metavar="T1,T2,..", help="Torque limits, one or n, checked with the arm's present model."),
]
Table = Annotated[float | None, typer.Option(help="Keep the tip above this height [m].")]
Radius = Annotated[
    float | None, typer.Option(help="Radius of capsules along the links, instead of the file's shapes [m].")
]
Home = Annotated[
    str | None,
    typer.Option(
        metavar="Q1,Q2,..",
        help="Home pose [rad or m]: also writes the approach from it, a slow rehearsal, repetitions and the return.",
    ),
]
Repeat = Annotated[int, typer.Option(metavar="N", help="With --home: how many times the robot makes the motion.")]
Rehearsal = Annotated[float, typer.Option(help="With --home: speed of the rehearsal, 0.1 to 0.3 of the motion's.")]
Ros = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="With --home: folder for ROS 2 with motions, a sender and a recorder."),
]
UrScript = Annotated[
    Path | None, typer.Option("--urscript", metavar="FILE", help="With --home: program for UR controllers (.script).")
]
Criterion = Annotated[
    Literal["condition", "log-det", "min-singular", "kalman"], typer.Option(help="Criterion that the motion optimises.")
]
Periodic = Annotated[bool, typer.Option("--periodic", help="Do not start and end at rest: for repeated periods.")]
PriorLogs = Annotated[
    list[Path] | None,
    typer.Option("--given", metavar="LOG", help="Existing logs that the motion complements; repeatable."),
]
Unit = Annotated[bool, typer.Option("--unit-columns", help="Judge columns scaled to unit length, not SI units.")]


@with_log_options(but="delay rate join")
def excite(
    arm: ArmName,
    duration: Duration = 10.0,
    max_acceleration: Acceleration = "8",
    max_velocity: Velocity = None,
    harmonics: Annotated[int, typer.Option(help="Harmonics of the series.")] = 5,
    criterion: Criterion = "condition",
    unit_columns: Unit = False,
    periodic: Periodic = False,
    torque_limits: Torque = None,
    max_torque: MaxTorque = None,
    margin: Margin = 0.05,
    floor: Floor = None,
    no_floor: NoFloor = False,
    no_self_collision: NoApart = False,
    obstacles: Obstacles = None,
    table: Table = None,
    prior_logs: PriorLogs = None,
    *,
    options: LogOptions,
    down: Down = None,
    radius: Radius = None,
    time_budget: Budget = 20.0,
    starts: Annotated[
        int | None, typer.Option(help="Stop after this many searches, not by the clock; reproducible.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random starts.")] = 0,
    rate: Annotated[
        float | None, typer.Option(help="Samples per second in the file; default 1000, for ROS 2 (.yaml, .json) 50.")
    ] = None,
    units: Annotated[bool, typer.Option("--units", help="CSV: a second line with the columns' units.")] = False,
    home: Home = None,
    repeat: Repeat = 1,
    rehearsal: Rehearsal = 0.2,
    ros: Ros = None,
    urscript: UrScript = None,
    out: Out = Path("trajectory.csv"),
    report: Report = None,
    base: Base = None,
    tip: Tip = None,
    json: Json = False,
) -> None:
    """Design a motion that excites an arm's parameters within its limits, and save it.

    Links keep off the arm's mounting plane and apart from each other, torques and velocities below their limits with a
    margin; anything not checked is listed. Exit code 3: saved, but some link was not kept off the floor or an obstacle.
    Ctrl-C saves the best so far (exit code 130).
    """
    from armdyn.blas import single_threaded
    from armdyn.trajectory.excitation.excite import excite as design
    from armdyn.trajectory.experiment.plan import plan_experiment
    from armdyn.trajectory.save import require_ending, require_rate, save_trajectory

    subject = mount_arm(resolve(arm, base, tip), down)
    require_folders(require_ending(out), urscript, report=report)
    given_home = None if home is None else numbers(home, "--home")
    pose = [given_home] if isinstance(given_home, float) else given_home
    _require_experiment(subject.n, pose is not None, repeat, rehearsal, periodic, ros, urscript)
    if rate is not None:
        require_rate(rate)
    logs = options.read(prior_logs or [], subject, currents=True)
    torque = numbers(max_torque, "--max-torque")
    with single_threaded(), progress_bar(starts or time_budget, saves=True) as tell:
        excitation = design(
            subject, duration, max_acceleration=numbers(max_acceleration, "--max-acceleration"),
            max_velocity=numbers(max_velocity, "--max-velocity"), harmonics=harmonics, criterion=criterion,
            unit_columns=unit_columns, at_rest=not periodic, max_torque=torque_limits if torque is None else torque,
            tip_box=None if table is None else ((-inf, -inf, table), (inf, inf, inf)), radius=radius, prior_logs=logs,
            margin=margin, floor=False if no_floor else floor, self_collision=not no_self_collision,
            obstacles=() if obstacles is None else obstacles, home=pose,
            time_budget=time_budget, starts=starts, seed=seed,
            progress=lambda standing: tell(
                standing.starts if starts else standing.elapsed, _words(standing), isfinite(standing.best)
            ),
        )  # fmt: skip
        experiment = None if pose is None else plan_experiment(excitation, pose, count=repeat, rehearsal=rehearsal)
        whole = experiment is not None and out.suffix in (".yaml", ".json")
        written = [
            save_trajectory(
                experiment.joined if experiment and whole else excitation.trajectory, out, rate=rate,
                joint_names=subject.joint_names, kinds=[joint.kind for joint in subject.joints], units=units,
            )
        ]  # fmt: skip
        if experiment is not None:
            written += _write_experiment(experiment, out, rate, ros, urscript)
    with after_writing(*written):
        if json:
            parts = {} if experiment is None else experiment.guarantees
            around = {name: [asdict(one) for one in some] for name, some in parts.items()}
            files = {"file": str(out), "files": [str(path) for path in written]}
            print_json(summary(excitation) | files | {"guarantees_around": around})
        else:
            _show(excitation, written)
    interrupted = excitation.interrupted or watch().pressed
    if report is not None and not interrupted:
        draw(excitation, report, *written)
        if not json:
            print(f"wrote {report}")
    if interrupted:
        drawn = f"; {report} was not written, which takes seconds" if report else ""
        end_command(f"; saved the best motion so far{drawn}; try another --seed to search further")
    _warn(excitation, experiment)


def _warn(excitation: Excitation, experiment: Experiment | None) -> None:
    """End with exit code 3 where a motion may hit its surroundings or break a limit, and say why."""
    from armdyn.report.excitation import shortfall

    warnings = [shortfall(one) for one in excitation.guarantees if one.is_alarming]
    for name, some in (experiment.guarantees if experiment else {}).items():
        warnings += [f"On the {name}, {one}." for one in some if one.checked and not one.holds]
    if warnings:
        typer.echo(f"armdyn: {' '.join(warnings)}", err=True)
        raise typer.Exit(3)


def _require_experiment(
    n: int, homed: bool, repeat: int, rehearsal: float, periodic: bool, ros: Path | None, urscript: Path | None
) -> None:
    """Complain before the search about files around the motion that could not be written after it."""
    from armdyn.files import require_folder
    from armdyn.trajectory.experiment.plan import require_settings
    from armdyn.trajectory.experiment.urscript import require_six_joints

    if homed:
        require_settings(repeat, rehearsal, at_rest=not periodic)
    elif ros is not None or urscript is not None or repeat != 1:
        raise typer.BadParameter("--ros, --urscript and --repeat need --home, the pose the robot starts from")
    if ros is not None:
        require_folder(ros)
    if urscript is not None:
        require_six_joints(n)


def _write_experiment(
    experiment: Experiment, out: Path, rate: float | None, ros: Path | None, urscript: Path | None
) -> list[Path]:
    """The files around the motion."""
    from armdyn.files import write_whole
    from armdyn.trajectory.experiment.ros import write_ros_folder
    from armdyn.trajectory.experiment.urscript import urscript as program

    written = experiment.save(out, rate)
    if ros is not None:
        written += write_ros_folder(experiment, ros)
    if urscript is not None:
        written.append(write_whole(urscript, program(experiment.joined, experiment.home)))
    return written


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
    print(
        f"Condition number {excitation.condition:.1f} of {count} + {2 * n} columns, up to {GOOD_CONDITION:g} is good "
        f"({excitation.condition_worst:.1f} for the worst usual choice of base columns, "
        f"{excitation.condition_unit:.1f} with unit columns)"
    )
    print("\n".join(["At all times:", *(f"  {line}" for line in excitation.always)]))
    print(
        "\n".join(
            ["Not checked:", *(f"  {line}" for line in excitation.unchecked), f"{excitation.lowest.capitalize()}."]
        )
    )
    if len(written) == 1:
        start = ", ".join(f"{x:.3g}" for x in excitation.trajectory(0.0).q)
        print(f"It starts at q = {start}; --home makes files that bring the robot there and back, --ros a sender.")
    if not excitation.is_good:
        print(f"Some parameters are weakly excited: {advice(excitation)}")
    print(f"Saved as {', '.join(str(path) for path in written)}")


def _words(standing: SearchProgress) -> str:
    """Describe the state of a search."""
    best = f"best {standing.best:.2f}" if isfinite(standing.best) else ""
    now = f"now {standing.current:.2f}" if isfinite(standing.current) else ""
    return " ".join(filter(None, ("searching", ", ".join(filter(None, (best, now))))))
