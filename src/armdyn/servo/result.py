"""The result of servo identification: what the servos are, how sure that is, and how well they replay the log."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.control.laws.position_commands import PositionCommands
from armdyn.errors import ShapeError
from armdyn.frozen import PartOf
from armdyn.kinematics.forward import forward_kinematics
from armdyn.model.arm import Arm
from armdyn.presentation import Reported
from armdyn.servo.findings import ServoFinding, ServoVerdict, assess
from armdyn.servo.log import ServoLog
from armdyn.servo.parameters import NAMES, PARAMETERS, ParameterLayout
from armdyn.servo.replay import Replay
from armdyn.simulation.plant.plant import Plant

DETERMINED_RATIO = 0.15  # half of the range over the value; twice that is rough
WORDS = ("determined", "rough", "not determined", "not moved", "given", "left out")


class Replayed(NamedTuple):
    """A log replayed by the identified servos."""

    t: NDArray  # (N,) [s]
    command: NDArray  # (N, n) as last sent
    measured: NDArray  # (N, n)
    q: NDArray  # (N, n) as replayed
    counted: NDArray  # (N,): not while the start is forgotten
    rms: NDArray  # (n,) error of the joints [rad or m]
    tip: float  # the same of the tip's place [m]


class ServoEstimate(NamedTuple):
    """One number of one joint, the range that explains the log about as well, and a word on it."""

    value: float
    low: float
    high: float
    word: str


class ServoEstimates(NamedTuple):
    """The parameters of all joints, rows as in `NAMES`."""

    x: NDArray  # the vector of all parameters, see `ParameterLayout`
    low: NDArray  # (8, n): the range that explains the log about as well
    high: NDArray
    words: tuple[tuple[str, ...], ...]  # (8, n): how sure each is, see `WORDS`
    scale: str  # where torques come from: "description", "payload", "stiffness"


class ReplayErrors(NamedTuple):
    """Errors of replays, root mean square."""

    held_out: NDArray  # (n,) on the part that was not fitted to [rad or m]
    held_out_tip: float  # the same of the tip's place [m]
    rms: NDArray  # (n,) on the whole log
    unfollowed: NDArray  # (n,) of perfect tracking: the arm taken to be where it was commanded to be


@dataclass(frozen=True, eq=False)
class ServoFit(Reported):
    """Identified servos; see `identify_servo`.

    Positions determine ratios to the stiffness; all torques hang on the scale (`scale`).
    """

    arm: Arm  # with the identified servos, friction and rotors
    source: Arm  # as it was described
    estimates: ServoEstimates
    tried: tuple[tuple[str, float], ...]  # terms and their held-out errors [rad or m], the chosen ones last
    errors: ReplayErrors
    logs: tuple[ServoLog, ...] = ()
    findings: tuple[ServoFinding, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = np.nan

    x = PartOf[NDArray]("estimates.x", "The vector of all parameters.")
    low = PartOf[NDArray](
        "estimates.low", "Lower ends (8, n) of ranges that explain the log as well, rows as in `ratios`."
    )
    high = PartOf[NDArray]("estimates.high", "Upper ends (8, n) of these ranges.")
    words = PartOf[tuple[tuple[str, ...], ...]]("estimates.words", "Certainty of each number as a word, (8, n).")
    scale = PartOf[str]("estimates.scale", 'Source of the torques: "description", "payload" or "stiffness".')

    @property
    def mass_scale(self) -> float:
        """Factor by which the description's masses were multiplied."""
        return float(self.x[-1])

    @property
    def structure(self) -> str:
        """The chosen terms: "plain", "dead band", "friction" (Stribeck's curve, load) or "whole"."""
        return self.tried[-1][0]

    held_out = PartOf[NDArray]("errors.held_out", "Replay error (n,) on the part that was not fitted to [rad or m].")
    held_out_tip = PartOf[float]("errors.held_out_tip", "The same of the tip's place [m].")
    rms = PartOf[NDArray]("errors.rms", "Replay error (n,) on the whole log [rad or m].")
    unfollowed = PartOf[NDArray]("errors.unfollowed", "Error (n,) of commanded positions as actual ones [rad or m].")

    @property
    def warnings(self) -> tuple[str, ...]:
        """The findings in words."""
        return tuple(map(str, self.findings))

    @property
    def verdict(self) -> ServoVerdict:
        """Whether to use the servos, and why."""
        share = float(np.linalg.norm(self.held_out)) / max(float(np.linalg.norm(self.unfollowed)), 1e-300)
        words = {word for row in self.words for word in row}
        return assess(self.findings, share, is_determined=not words <= {"not determined", "not moved", "left out"})

    @property
    def space(self) -> ParameterLayout:
        """Layout of `x`."""
        return ParameterLayout(self.source, self.source.trace_data("theta"))

    @property
    def ratios(self) -> dict[str, NDArray]:
        """The ratios that positions determine, by name, each (n,): 1/kp, Ia/kp, (kd + fv)/kp, fc/kp, ..."""
        return dict(zip(NAMES, self.space.table(self.x), strict=True))

    @property
    def stiffness(self) -> NDArray:
        """The servos' kp (n,) [N m/rad or N/m]."""
        return 1 / self.ratios["compliance"]

    @property
    def damping(self) -> NDArray:
        """The servos' kd and viscous friction together (n,) [N m s/rad or N s/m]; positions do not tell them apart."""
        return self.ratios["damping"] * self.stiffness

    @property
    def armature(self) -> NDArray:
        """Rotor inertia seen at the joints (n,) [kg m² or kg]."""
        return self.ratios["inertia"] * self.stiffness

    @property
    def coulomb(self) -> NDArray:
        """Coulomb friction (n,) [N m or N]."""
        return self.ratios["coulomb"] * self.stiffness

    @property
    def delay(self) -> NDArray:
        """Time from sending a command to its torque (n,) [s]."""
        return self.ratios["delay"]

    @property
    def dead_band(self) -> NDArray:
        """Errors that servos leave alone (n,) [rad or m]."""
        return self.ratios["dead_band"]

    def estimate(self, name: str, joint: int) -> ServoEstimate:
        """One number of one joint."""
        row = NAMES.index(name)
        value = float(self.space.table(self.x)[row, joint])
        return ServoEstimate(value, float(self.low[row, joint]), float(self.high[row, joint]), self.words[row][joint])

    @property
    def plant(self) -> Plant:
        """The arm with its servos, for `simulate` with `commands(...)`."""
        return self.space.plant(self.x)

    def commands(self, log: ServoLog) -> PositionCommands:
        """Return the commands of a log, delayed as identified: the law to simulate `plant` under."""
        return PositionCommands(self.source, log.stamps - log.t[0], log.command, self.delay)

    def replay(self, log: ServoLog, piece: int = 0) -> Replayed:
        """Send the commands of a log, or of a part of it between gaps, to the identified servos."""
        if log.n != self.arm.n:
            raise ShapeError(where="replay", expected=f"a log of {self.arm.n} joints", got=log.n)
        return replay_piece(self.space, Replay.of(self.space, log.pieces[piece]), self.x)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `arm` as .xml (MJCF: kp, kv, armature, frictionloss, damping), .urdf or .toml.

        A file that described the arm and has the same ending is kept but for the numbers that were identified.
        """
        source, suffix = self.source.source, Path(path).suffix.lower()
        updates = source is not None and suffix in (".urdf", ".xml") and source.path.suffix.lower() == suffix
        self.arm.save(path, onto=source.path if updates and source is not None and source.path.is_file() else None)

    def __repr__(self) -> str:
        error = f"{1e3 * np.sqrt((self.held_out**2).mean()):.2g} mrad, {1e3 * self.held_out_tip:.2g} mm at the tip"
        return f"<ServoFit of '{self.source.name}': held-out replay error {error}>"


def replay_piece(space: ParameterLayout, replay: Replay, x: NDArray) -> Replayed:
    """A piece of a log as servos x (size,) replay it."""
    piece, counted, q = replay.piece, replay.counted, replay(x[None])[0]
    rms = np.sqrt(((piece.q - q)[counted] ** 2).mean(0))
    away = (forward_kinematics(space.arm, piece.q[counted]) - forward_kinematics(space.arm, q[counted]))[:, :3, 3]
    tip = float(np.sqrt((away**2).sum(-1).mean()))
    return Replayed(piece.t, piece.sent, piece.q, q, counted, rms, tip)


def word(name: str, value: float, low: float, high: float) -> str:
    """Return how sure a number is, by its range."""
    half, fine = max(high - value, value - low), PARAMETERS[NAMES.index(name)].fine
    if half <= max(DETERMINED_RATIO * abs(value), fine):
        return WORDS[0]
    return WORDS[1] if half <= 2 * max(DETERMINED_RATIO * abs(value), fine) else WORDS[2]
