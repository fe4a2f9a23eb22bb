"""`armdyn simulate ARM`: an arm under a controller along a reference."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import typer

from armdyn.cli.interrupts import watch
from armdyn.cli.long_work import NOTHING_KEPT, draw, end_command, progress_bar, require_folders, working, write_results
from armdyn.cli.options import BANDWIDTH_HZ, RATE_HZ
from armdyn.cli.resolve import resolve
from armdyn.cli.show import attributes, number, print_json, print_line, print_table

if TYPE_CHECKING:
    from armdyn.control.protocol import Law
    from armdyn.model.arm import Arm
    from armdyn.simulation.loop.plan import Plan
    from armdyn.simulation.plant.elasticity import Elasticity
    from armdyn.simulation.plant.payload import Change
    from armdyn.simulation.plant.plant import Plant
    from armdyn.simulation.result import SimulationResult
    from armdyn.simulation.run_file import RunFile
    from armdyn.simulation.sensors import Sensors
    from armdyn.trajectory.protocol import Trajectory

SWING = "swing"


@dataclass(frozen=True)
class TimingOptions:
    """Instants of the controller and of the integrator."""

    rate: float = RATE_HZ
    substeps: int | None = None
    control_delay: float = 0.0


@dataclass(frozen=True)
class PlantOptions:
    """The arm as it is."""

    payload: list[str] | None = None
    friction: bool = True
    motor_lag: float = 0.0
    saturation: bool = False
    resonance: float | None = None
    backlash: float = 0.0
    engine: Literal["armdyn", "mujoco"] = "armdyn"

    def plant(self, arm: Arm, reference: Trajectory) -> Plant:
        """The plant of these options."""
        from armdyn.simulation.plant.plant import Plant

        return Plant(
            arm, friction=self.friction, motor_lag=self.motor_lag, saturation="limits" if self.saturation else None,
            elasticity=_elasticity(arm, reference, self.resonance, self.backlash),
            changes=[_change(text) for text in self.payload or ()], engine=self.engine,
        )  # fmt: skip


@dataclass(frozen=True)
class SensorOptions:
    """Defects of sensors."""

    resolution: float = 0.0
    noise: float = 0.0
    sensor: list[str] | None = None
    seed: int = 0


def simulate(
    arm: str, *, controller: str = "computed-torque", reference: str = SWING, duration: float | None = None,
    timing: TimingOptions, bandwidth: float = BANDWIDTH_HZ, real: PlantOptions, sensing: SensorOptions,
    out: Path | None = None, report: Path | None = None, base: str | None = None, tip: str | None = None,
    json: bool = False,
) -> None:  # fmt: skip
    """Simulate an arm under a sampled controller, and judge the run. Ctrl-C keeps what was computed."""
    from armdyn.simulation.loop.plan import SimulationSettings, SimulationTiming, make_plan

    require_folders(out, report=report)
    _require_suffix(out)
    subject = resolve(arm, base, tip)
    wanted = _reference(reference, subject)
    plant = real.plant(subject, wanted)
    sensors = _sensors(sensing.resolution, sensing.noise, sensing.sensor or [])
    with progress_bar() as tell:
        tell(0, 2, "designing the controller")
        law = _law(controller, subject, wanted, bandwidth, timing.rate)
        tell(1, 2, "planning the run")
        clock = SimulationTiming(duration, timing.rate, timing.substeps, timing.control_delay, hold=True)
        settings = SimulationSettings(clock, sensors=sensors, seed=sensing.seed, name=f"{subject.name}, {controller}")
        plan = make_plan(plant, law if real.friction else law.without_friction(), wanted, settings)
    _finish(plan, out, report, json)


def _finish(plan: Plan, out: Path | None, report: Path | None, json: bool) -> None:
    """Run the plan, write and show the result; fail if it diverged."""
    from armdyn.simulation.run_file import RunFile

    log = None if out is None else RunFile(out, _most_rows(plan))
    try:
        result = _run(plan, log, out, report)
        ended = result.interrupted or watch().pressed
        grown = log is not None and _is_long(result) and log.finish()
    finally:
        if log is not None:
            log.discard()
    if ended and grown:
        _end(result, f"saved as {out}{', a log' * (str(out).endswith('.npz'))}", report)
    outcome = f"the log of the whole run is saved as {out}" if grown else NOTHING_KEPT
    if not (grown and str(out).endswith(".csv")):
        write_results(result, out, None if ended else report, outcome)
    elif report is not None:
        draw(result, report, out)
    with working("judging the run", outcome=f"{out} is written" if out else NOTHING_KEPT):
        figures = summary(result) if json else result.metrics
    print_json(figures) if json else show(result)
    for path in () if json or ended else filter(None, (out, report)):
        print_line(f"wrote {path}", whole=True)
    if ended:
        _end(result, f"saved as {out}" if out else "above", report)
    if not result.complete:
        raise typer.Exit(1)  # as it diverged


def _run(plan: Plan, log: RunFile | None, out: Path | None, report: Path | None) -> SimulationResult:
    """Run it, its log growing meanwhile; Ctrl-C ends it at the next look."""
    from armdyn.errors import SimulationError
    from armdyn.simulation.simulate import run_plan

    keep = None if log is None else lambda part: log.add(part.readings)
    try:
        with progress_bar(saves=True) as tell:
            tell(0, 0, "simulating")
            return run_plan(
                plan, progress=lambda done, total, _: tell(done, total, "simulating", 0 < done < total), keep=keep
            )
    except SimulationError as error:
        if error.result is not None and len(error.result.t):
            write_results(error.result, out, report)
        raise


def _most_rows(plan: Plan) -> int:
    """Return the largest number of rows in the log of a run: sensors may show samples twice."""
    sensors = plan.settings.sensors
    return (1 + (sensors is not None and sensors.doubled > 0)) * (plan.schedule.clock.samples + 1)


def _is_long(result: SimulationResult) -> bool:
    """Whether a run that did not diverge is so long that its files take seconds, and its log has grown meanwhile."""
    from armdyn.simulation.simulate import MAX_NUMBERS

    return (result.complete or result.interrupted) and result.q.size > MAX_NUMBERS


def _end(result: SimulationResult, outcome: str, report: Path | None) -> NoReturn:
    """After Ctrl-C: say what is kept."""
    drawn = f"; {report} was not drawn, which takes seconds" if report else ""
    until = f"at {result.t[-1]:.4g} s; the run up to then is {outcome}{drawn}"
    end_command(f" {until}; run the command again to restart")


def _require_suffix(out: Path | None) -> None:
    """Complain before the run about a file that it could not be written to."""
    if out is not None and out.suffix.lower() not in (".npz", ".csv"):
        raise typer.BadParameter(f"expected a file that ends in .npz or .csv, got '{out}'", param_hint="--out")


def _sensors(resolution: float, noise: float, others: list[str]) -> Sensors | None:
    """Instruments from the options; none without any."""
    from dataclasses import fields

    from armdyn.simulation.sensors import Sensors

    errors = {"resolution": resolution, "qd_noise": noise}
    known = [f.name for f in fields(Sensors)]
    for text in others:
        name, equals, number = text.partition("=")
        key = name.strip().replace("-", "_")
        try:
            errors[key] = float(number)
        except ValueError:
            equals = ""
        if not equals or key not in known:
            message = f"expected one of {', '.join(known)}, '=' and a number, got '{text}'"
            raise typer.BadParameter(message, param_hint="--sensor")
    return Sensors(**errors) if any(errors.values()) else None  # type: ignore[arg-type]


def _reference(text: str, arm: Arm) -> Trajectory:
    """A trajectory from a file, or one that every arm can do: out from the middle of its range and back."""
    import numpy as np

    from armdyn.errors import ArmdynError
    from armdyn.trajectory.spline import read_trajectory, spline

    if text != SWING:
        motion = read_trajectory(text)
        if (n := motion(0.0).q.shape[-1]) != arm.n:
            raise ArmdynError(f"a motion of {n} joints, but arm '{arm.name}' has {arm.n}", where=text)
        return motion
    lower, upper = arm.position_limits
    bounded = np.isfinite(lower) & np.isfinite(upper)
    middle = (np.where(bounded, lower, 0.0) + np.where(bounded, upper, 0.0)) / 2
    start = np.where(bounded, middle, np.clip(0.0, lower, upper))
    way = np.minimum(0.3, (upper - lower) / 4)
    return spline([start, start + way, start], [0.0, 1.0, 2.0])


def _law(name: str, arm: Arm, reference: Trajectory, bandwidth: float, rate: float) -> Law:
    """A control law of `designs`, by its name or a plainer spelling of it."""
    import numpy as np

    from armdyn.control.design.designs import chosen_designs
    from armdyn.simulation.mismatch_study import DESIGN_POINTS
    from armdyn.trajectory.protocol import JointMotion

    if not rate > 0:
        raise typer.BadParameter(f"expected a rate > 0 in Hz, got {rate:g}", param_hint="--rate")
    motion = JointMotion(*reference(np.linspace(0.0, reference.duration, DESIGN_POINTS)))
    (law,) = chosen_designs(arm, motion, bandwidth, rate, [name]).values()
    return law


def _elasticity(arm: Arm, reference: Trajectory, frequency: float | None, backlash: float) -> Elasticity | None:
    """Springs for a frequency at the start of the reference, with play."""
    from armdyn.simulation.plant.elasticity import Elasticity

    if frequency is None:
        if backlash:
            raise typer.BadParameter("needs a --resonance too, such as 50", param_hint="--backlash")
        return None
    if not frequency > 0:
        raise typer.BadParameter(f"expected a frequency > 0 in Hz, got {frequency:g}", param_hint="--resonance")
    return Elasticity.from_frequency(arm, frequency, q=reference(0.0).q, backlash=backlash)


def _change(text: str) -> Change:
    """`2.5@1` is 2.5 kg at 1 s, `0@2` a drop at 2 s."""
    from armdyn.simulation.plant.payload import Drop, PickUp

    mass, _, time = text.partition("@")
    try:
        kg, t = float(mass), float(time or 0.0)
    except ValueError:
        message = f"expected MASS or MASS@TIME such as 2.5@1, got '{text}'"
        raise typer.BadParameter(message, param_hint="--payload") from None
    return PickUp(t, kg, at_rest=bool(time)) if kg else Drop(t)


def summary(result: SimulationResult) -> dict[str, Any]:
    """The run in numbers, SI units."""
    m = result.metrics
    return {
        "name": result.name,
        "samples": len(result.t),
        "duration": float(result.t[-1]),
        **attributes(result, "complete notes"),
        "joints": result.joint_names,
        **{name: None if value is None else value.tolist() for name, value in m._asdict().items()},
    }


def show(result: SimulationResult) -> None:
    """Print the run's metrics."""
    m = result.metrics
    columns = {
        "error rms ": m.rms_error, "error max ": m.max_error, "settled [s] ": m.settling_time,
        "torque rms ": m.rms_torque, "torque max ": m.max_torque,
    }  # fmt: skip
    if not any(map(isfinite, m.settling_time)):  # a motion that goes on never settles
        del columns["settled [s] "]
    rows = [(name, *map(number, numbers)) for name, *numbers in zip(result.joint_names, *columns.values(), strict=True)]
    heads = ("joint", *columns)
    print_table(f"{result.name}: {result.t[-1]:g} s, {len(result.t)} samples (SI units)", heads, rows)
    tip = "" if m.rms_tip_error is None else f"Tip error {m.rms_tip_error:.4g} m rms, {m.max_tip_error:.4g} m at most. "
    print_line(f"{tip}Effort {m.effort:.4g} J.")
