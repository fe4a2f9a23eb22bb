"""How a log is to be read: units, gears and columns, as a person types them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from armdyn.errors import ArmdynError
from armdyn.identification.logs.log import Log
from armdyn.identification.logs.read_log import log_columns, read_log
from armdyn.model.arm import Arm

ANGLES = {"as the names say": None, "radians": "rad", "degrees": "deg"}
ROLES = {"t": "Time", "q": "Positions", "qd": "Velocities", "tau": "Torques"}


@dataclass(frozen=True)
class Reading:
    """Meaning of the columns of a file; empty texts leave it to the names."""

    angle: str = next(iter(ANGLES))  # one of ANGLES
    gear_ratio: str = ""  # motor turns a joint turn, one number or n
    drive_gain: str = ""  # torque a unit of what was logged, one number or n
    offset: str = ""  # added to positions, in the unit of the angles
    topic: str = ""  # of a bag
    columns: dict[str, str] = field(default_factory=dict)  # names with commas between, by role

    def read(self, path: Path, arm: Arm) -> Log:
        """The log in a file, without the folder that an upload lies in."""
        angle = ANGLES[self.angle]
        offset = numbers(self.offset, "offset")
        if offset is not None and angle == "deg":
            turns = np.array([joint.kind == "revolute" for joint in arm.coordinate_joints])
            offset = np.where(turns, np.radians(offset), offset).tolist()
        columns = {role: names(text) for role, text in self.columns.items() if text.strip()}
        return read_log(
            path, arm, columns=columns or None, angle=angle, gear_ratio=numbers(self.gear_ratio, "gear ratio"),
            drive_gain=numbers(self.drive_gain, "drive gain"), offset=offset, topic=self.topic.strip() or None,
        )  # fmt: skip


def names(text: str) -> list[str]:
    """Names with commas between."""
    return [name.strip() for name in text.split(",") if name.strip()]


def numbers(text: str, what: str) -> float | list[float] | None:
    """One number, or one per joint with commas between; None for nothing."""
    if not text.strip():
        return None
    try:
        values = [float(word) for word in text.replace(",", " ").split()]
    except ValueError:
        raise ArmdynError(where=what, expected="numbers with commas between", got=f"'{text:.60}'") from None
    return values[0] if len(values) == 1 else values


def uploaded_log(reading: Reading, path: Path, arm: Arm) -> Log:
    """A log that came through the browser: where it lies here is nobody's business."""
    with hidden_folder(path):
        return replace(reading.read(path, arm), path=None)


def columns_of(path: Path, arm: Arm) -> tuple[str, ...]:
    """Names of the columns of a file; none where it cannot be read at all."""
    try:
        return log_columns(path, arm)
    except ArmdynError:
        return ()


@contextmanager
def hidden_folder(path: Path) -> Iterator[None]:
    """Let errors name a file, and those beside it, without their folder."""
    try:
        yield
    except ArmdynError as error:
        raise ArmdynError(str(error).replace(f"{path.parent}/", "")) from None
