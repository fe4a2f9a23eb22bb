"""What a simulation leaves behind: arrays, and the ways to keep them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError, ReadError, reads_file
from armdyn.files import parse_json, read_arrays, write_arrays
from armdyn.frozen import PartOf
from armdyn.presentation import Reported, draw_figure, present
from armdyn.simulation.plant.elasticity import at_encoders
from armdyn.simulation.readings import Readings
from armdyn.trajectory.protocol import JointMotion

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from armdyn.identification.logs.log import Log
    from armdyn.model.arm import Arm
    from armdyn.simulation.metrics import Metrics

FORMAT = "armdyn simulation 1"
# What files hold besides arrays, and as what; the last ones are not in files of earlier versions.
ABOUT = {"name": str, "joint_names": tuple, "complete": bool, "notes": tuple}
ABOUT_LATER = {"elastic": tuple, "motor_encoders": bool, "held": float}
ARRAYS = ("t", "q", "qd", "tau", "q_ref", "qd_ref", "qdd_ref", "diverged")


@dataclass(frozen=True, eq=False)
class RunOutcome:
    """End of a run, or of a batch of runs."""

    diverged: NDArray  # when each run left all bounds [s], NaN if it did not
    complete: bool = True  # False if it was stopped before its end
    notes: tuple[str, ...] = ()  # what stopped it, and what else is to be known


@dataclass(frozen=True)
class DriveSide:
    """Springs, encoders and torques on the side of the drives."""

    elastic: tuple[int, ...] = ()  # joints with a spring behind their rotor
    motor_encoders: bool = False  # whether encoders of those sit on the rotors
    held: float = 1.0  # part of a sample for which its torque lasts: 1 where torques are held, else an estimate


@dataclass(frozen=True, eq=False)
class SimulationResult(Reported):
    """A run, or a batch of runs, at the controller's samples.

    Attributes
    ----------
    t : ndarray, shape (T,)
        [s]
    q, qd : ndarray, shape (..., T, n)
        True positions and velocities [rad or m, /s].
    tau : ndarray, shape (..., T, n)
        Torques of the drives from t on [N m or N]; the last row repeats the one before.
    reference : JointMotion
        The reference, each (T, n); `q_ref`, `qd_ref` and `qdd_ref` for short.
    outcome : RunOutcome
        How it ended: `diverged`, `complete` and `notes` for short.
    states : mapping of str to ndarray, shape (..., T, ...)
        The controller's own state, by name, and what else the plant has: `rotor_q`, `rotor_qd` of elastic joints
        (counted at the joint), `motor` (lagging torques), `direction` of sliding.
    arm : Arm or None
        The plant's arm; not kept in files.
    measured : Readings or None
        What `sensors` showed, to the controller and to a log.
    drives : DriveSide
        Springs, encoders and torques on the side of the drives: `elastic`, `motor_encoders` and `held` for short.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> run = armdyn.simulate(arm, armdyn.PD(arm, 100.0, 20.0), [0.4, 0.2], 1.0, 500)
    >>> float(run.t[-1]), run.error.shape
    (1.0, (501, 2))
    """

    t: NDArray
    q: NDArray
    qd: NDArray
    tau: NDArray
    reference: JointMotion
    outcome: RunOutcome
    joint_names: tuple[str, ...]
    name: str = "simulation"
    states: Mapping[str, NDArray] = field(default_factory=dict)
    arm: Arm | None = field(default=None, repr=False)
    measured: Readings | None = None
    drives: DriveSide = field(default_factory=DriveSide)

    q_ref = PartOf[NDArray]("reference.q", "Desired positions (T, n) [rad or m].")
    qd_ref = PartOf[NDArray]("reference.qd", "Desired velocities (T, n) [/s].")
    qdd_ref = PartOf[NDArray]("reference.qdd", "Desired accelerations (T, n) [/s²].")
    diverged = PartOf[NDArray]("outcome.diverged", "Times (...) at which runs left all bounds [s], else NaN.")
    complete = PartOf[bool]("outcome.complete", "Whether the run was not stopped before its end.")
    notes = PartOf[tuple[str, ...]]("outcome.notes", "Sentences on what stopped it, and what else is to be known.")
    elastic = PartOf[tuple[int, ...]]("drives.elastic", "Joints with a spring behind their rotor, as of `rotor_q`.")
    motor_encoders = PartOf[bool]("drives.motor_encoders", "Whether encoders of elastic joints sit on the rotors.")
    held = PartOf[float]("drives.held", "Part of a sample for which its torque lasts.")

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.q.shape[-1]

    @property
    def batch(self) -> tuple[int, ...]:
        """Leading axes; () for a single run."""
        return self.q.shape[:-2]

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it; what was computed until then is kept."""
        return not self.complete and bool(np.isnan(self.diverged).any())

    @property
    def error(self) -> NDArray:
        """Tracking error q_ref - q, (..., T, n)."""
        return self.q_ref - self.q

    @property
    def at_drives(self) -> tuple[NDArray, NDArray]:
        """Positions and velocities (..., T, n) of what drives move: rotors behind springs, else links."""
        if not self.elastic:
            return self.q, self.qd
        q, qd = (at_encoders(self.elastic, getattr(self, x), self.states[f"rotor_{x}"]) for x in ("q", "qd"))
        return q, qd

    @property
    def at_encoders(self) -> tuple[NDArray, NDArray]:
        """Positions and velocities (..., T, n) where encoders sit."""
        return self.at_drives if self.motor_encoders else (self.q, self.qd)

    @property
    def currents(self) -> NDArray:
        """Motor currents [A], (..., T, n), by the drives' torque constants and gears; NaN without a constant."""
        from armdyn.dynamics.drive import transmission_matrix

        if self.arm is None:
            remedy = "divide its torques by gear ratios and torque constants"
            raise ArmdynError("a result read from a file has no arm", where="currents", remedy=remedy)
        constants = [joint.drive.torque_constant or np.nan for joint in self.arm.coordinate_joints]
        at_motors = np.linalg.solve(transmission_matrix(self.arm).T, np.moveaxis(self.tau, -1, -2))
        return np.moveaxis(at_motors, -1, -2) / constants

    @cached_property
    def metrics(self) -> Metrics:
        """Measures of how well the reference was followed, and at what cost."""
        from armdyn.simulation.metrics import metrics_of

        if not len(self.t):
            raise ArmdynError(f"'{self.name}' ended before its first sample", where="metrics")
        return metrics_of(self)

    def __repr__(self) -> str:
        runs = f"{int(np.prod(self.batch))} runs, " if self.batch else ""
        end = "" if self.complete else ", stopped early"
        until = f" to t = {self.t[-1]:g} s" if len(self.t) else ""
        return f"<SimulationResult '{self.name}': {runs}{len(self.t)} samples{until}{end}>"

    def __str__(self) -> str:
        """Errors and torques of the joints of a run."""
        if self.batch or not len(self.t):
            return repr(self)
        names = [str(j + 1) for j in range(self.n)] if self.arm is None else self.arm.coordinate_names
        width, m = max(map(len, ("joint", *names))), self.metrics
        columns = (m.rms_error, m.max_error, m.rms_torque, m.max_torque)
        rows = [
            f"{name:{width}}" + "".join(f"{x:12.3g}" for x in numbers)
            for name, *numbers in zip(names, *columns, strict=True)
        ]
        heads = "".join(f"{head:>12}" for head in ("rms error", "max error", "rms torque", "max torque"))
        return "\n".join([repr(self)[1:-1], f"{'joint':{width}}{heads}", *rows, "rad or m, N m or N"])

    def _repr_html_(self) -> str:
        return present(self, "html") if len(self.t) else f"<p>{escape(repr(self))}</p>"

    def plot(  # type: ignore[override]
        self, what: str = "q", degrees: bool = False, path: str | os.PathLike[str] | None = None
    ) -> Figure:
        """Curves of the run, written to `path` if one is given (.png, .svg, .pdf); see `plot_run`."""
        return draw_figure(self, path, what=what, degrees=degrees)

    # -- files ------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write a `.npz` with everything but the arm, or a single run's log as `.csv` with columns t, q1, ..., tau<n>.

        The log holds what the run's instruments showed, defects and all, for `read_log` to repair.
        """
        suffix = Path(path).suffix.lower()
        if suffix == ".csv":
            return self.readings.save(path)
        if suffix != ".npz":
            raise ArmdynError(f"cannot save a simulation as '{path}': expected .npz or .csv", names=(path,))
        about = {"format": FORMAT, **{name: getattr(self, name) for name in (*ABOUT, *ABOUT_LATER)}}
        arrays: dict[str, Any] = {name: getattr(self, name) for name in ARRAYS}
        arrays |= {f"state.{name}": array for name, array in self.states.items()}
        if self.measured is not None:
            arrays |= {f"measured.{name}": array for name, array in self.measured._asdict().items()}
        return write_arrays(path, {"about": np.array(json.dumps(about)), **arrays})

    @classmethod
    @reads_file
    def load(cls, path: str | os.PathLike[str]) -> SimulationResult:
        """Read what `save` wrote as `.npz`; nothing in the file is ever executed."""
        file = read_arrays(path)
        try:
            about = parse_json(str(file["about"]))
            if about.get("format") != FORMAT:
                raise KeyError("format")
            arrays: dict[str, Any] = {name: file[name] for name in ARRAYS}
            states, readings = (
                {key.removeprefix(part): array for key, array in file.items() if key.startswith(part)}
                for part in ("state.", "measured.")
            )
            about_values: dict[str, Any] = {name: kind(about[name]) for name, kind in ABOUT.items()}
            about_values |= {name: kind(about[name]) for name, kind in ABOUT_LATER.items() if name in about}
            measured = Readings(**readings) if readings else None
        except (KeyError, ValueError, AttributeError, TypeError) as error:
            cause = f"not a simulation that armdyn saved ({type(error).__name__}: {error})"
            raise ReadError(cause, path=path) from None
        _check_shapes(path, arrays, about)
        return cls(
            arrays["t"],
            arrays["q"],
            arrays["qd"],
            arrays["tau"],
            JointMotion(*(arrays[name] for name in ("q_ref", "qd_ref", "qdd_ref"))),
            RunOutcome(arrays["diverged"], about_values["complete"], about_values["notes"]),
            about_values["joint_names"],
            about_values["name"],
            states,
            measured=measured,
            drives=DriveSide(**{name: about_values[name] for name in ABOUT_LATER if name in about_values}),
        )

    @property
    def readings(self) -> Readings:
        """Readings of the run's sensors; the true motion if it had none."""
        if self.measured is not None:
            return self.measured
        t = np.broadcast_to(self.t, self.q.shape[:-1])
        return Readings(t, self.q, self.qd, self.tau, np.ones(t.shape, int))

    def to_log(self) -> Log:
        """The run as a log for `identify`, as its sensors showed it; for others, `Sensors.record(run).to_log()`."""
        return self.readings.to_log(self.name, self.notes)

    def run(self, *index: int) -> SimulationResult:
        """One run of a batch; one that diverged ends there."""
        if len(index) != len(self.batch):
            expected = f"{len(self.batch)} indices for a batch of shape {self.batch}"
            raise ArmdynError(where="run", expected=expected, got=index)
        diverged = self.diverged[index]
        rows = slice(None if np.isnan(diverged) else int(np.isfinite(self.tau[index]).all(-1).sum()))
        parts: dict[str, Any] = {name: getattr(self, name)[index][rows] for name in ("q", "qd", "tau")}
        parts |= {"t": self.t[rows], "reference": JointMotion(*(x[rows] for x in self.reference))}
        states = {name: array[index][rows] for name, array in self.states.items()}
        measured = None if self.measured is None else Readings(*(array[index][rows] for array in self.measured))
        complete = self.complete and bool(np.isnan(diverged))
        outcome = replace(self.outcome, diverged=diverged, complete=complete)
        return replace(self, **parts, outcome=outcome, states=states, measured=measured)


def _check_shapes(path: Any, arrays: dict[str, NDArray], about: dict[str, Any]) -> None:
    """Reject a file whose arrays do not belong together."""
    T, n = len(arrays["t"]), len(about["joint_names"])
    shapes = {name: arrays[name].shape[-2:] for name in ARRAYS[1:-1]}
    wrong = [name for name, shape in shapes.items() if shape != (T, n)]
    if wrong or not all(array.dtype == np.float64 for array in arrays.values()):
        raise ReadError(f"the arrays do not fit together ({', '.join(wrong) or 'not of float64'})", path=path)
