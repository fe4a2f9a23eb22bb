"""Treatment of logs before an arm's torques are compared with theirs: it travels with the identified arm."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from armdyn.arrays import is_number
from armdyn.errors import ModelError, quote


@dataclass(frozen=True)
class Preprocessing:
    """Treatment of logs in the identification of an arm; `validate` treats logs alike."""

    band: float = 5.0  # corner of the low-pass on measured and model torques [Hz]
    cutoff: float = 10.0  # corner of the low-pass on positions [Hz]; hardly matters between 4 and 25 Hz
    method: str = "butterworth"  # by which positions are differentiated
    measured_velocities: bool = False  # whether logged velocities are used, where a log has them
    delay: float = 0.0  # by which torques were measured later than positions [s]
    rests: bool = False  # whether of logs of poses held still the averages over rests are compared

    def __post_init__(self) -> None:
        rules = {
            "band": ("more than 0 [Hz]", is_number(self.band) and self.band > 0),
            "cutoff": ("more than 0 [Hz]", is_number(self.cutoff) and self.cutoff > 0),
            "delay": ("a number [s]", is_number(self.delay)),
            "measured_velocities": ("true or false", isinstance(self.measured_velocities, bool)),
            "rests": ("true or false", isinstance(self.rests, bool)),
            "method": ("text", isinstance(self.method, str)),
        }
        for name, (expected, fits) in rules.items():
            if not fits:
                raise ModelError(where=f"preprocessing: {name}", expected=expected, got=quote(getattr(self, name)))

    @property
    def changes(self) -> dict[str, Any]:
        """Fields that differ from their defaults."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}

    def __str__(self) -> str:
        parts = []
        if self.delay:
            order = "later" if self.delay > 0 else "earlier"
            parts.append(f"torques {abs(self.delay) * 1e3:.3g} ms {order} than positions")
        if self.measured_velocities:
            parts.append("measured velocities")
        if self.rests:
            parts.append("averages over rests")
        if {"cutoff", "method"} & self.changes.keys():
            parts.append(f"positions smoothed by {self.method} at {self.cutoff:g} Hz")
        if "band" in self.changes:
            parts.append(f"torques compared below {self.band:g} Hz")
        return ", ".join(parts) or "standard preprocessing"
