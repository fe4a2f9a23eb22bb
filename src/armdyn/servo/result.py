"""The result of servo identification: what the servos are, how sure that is, and how well they replay the log."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.control.laws.position_commands import PositionCommands
from armdyn.errors import ShapeError
from armdyn.kinematics.forward import forward_kinematics
from armdyn.model.arm import Arm
from armdyn.presentation import Reported
from armdyn.servo.log import ServoLog
from armdyn.servo.parameters import NAMES, PARAMETERS, ParameterLayout
from armdyn.servo.replay import Replay
from armdyn.simulation.plant.plant import Plant

DETERMINED_RATIO, ROUGH_RATIO = 0.15, 0.30  # half of the range over the value
FINE_RANGES = dict(
    zip(NAMES, (0.0, 1e-4, 2e-3, 5e-4, 4e-3, 5e-4, 1e-3, 0.02), strict=True)
)  # ranges that are always good
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


@dataclass(frozen=True, eq=False)
class ServoFit(Reported):
    """Identified servos; see `identify_servo`.

    Ratios to the stiffness are what positions tell; all torques hang on the scale (`scale`).
    """

    arm: Arm  # with the servos, friction and rotors found
    source: Arm  # as it was described
    x: NDArray  # the vector of all parameters, see `Space`
    low: NDArray  # (8, n), rows as in `NAMES`: the range that explains the log about as well
    high: NDArray
    words: tuple[tuple[str, ...], ...]  # (8, n): how sure each is
    structure: str  # "plain", "dead band", "friction" (Stribeck's curve, load), "whole"
    scale: str  # where torques come from: "description", "payload", "stiffness"
    mass_scale: float  # the description's masses times this
    held_out: NDArray  # (n,) replay error on the part that was not fitted to [rad or m]
    held_out_tip: float  # the same of the tip's place [m]
    rms: NDArray  # (n,) on the whole log
    unfollowed: NDArray  # (n,) error of believing that the arm is where it was commanded to be
    logs: tuple[ServoLog, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = np.nan
    tried: tuple[tuple[str, float], ...] = field(default=())  # structures and their held-out errors

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
            raise ShapeError(f"replay: expected a log of {self.arm.n} joints, got {log.n}")
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
    half = max(high - value, value - low)
    if half <= max(DETERMINED_RATIO * abs(value), FINE_RANGES[name]):
        return WORDS[0]
    return WORDS[1] if half <= max(ROUGH_RATIO * abs(value), 2 * FINE_RANGES[name]) else WORDS[2]


def symbol(name: str) -> str:
    """Return the symbol of a parameter."""
    return PARAMETERS[NAMES.index(name)].symbol
