"""Torques of the present moment as bars, against the limits of the joints."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.gravity import gravity_torque
from armdyn.errors import MissingInertiaError
from armdyn.html import style
from armdyn.model.arm import Arm
from armdyn.studio.motion import Moment, predicted_torque
from armdyn.studio.state import StudioState, slider_range
from armdyn.trajectory.motion_limits import RANDOM_POSES

# Without limits, bars are scaled by the largest gravity torque of random postures, with some room.
SCALE_MARGIN = 1.5
STYLE = Path(__file__).with_suffix(".css")


class Bar(NamedTuple):
    """One joint's torques [N m or N]; NaN where unknown."""

    name: str
    unit: str
    gravity: float
    total: float  # links, friction and drives in motion; gravity's at rest
    measured: float
    limit: float  # infinite where the arm has none
    scale: float  # full length of the bar
    described: float = np.nan  # as `total`, by the arm as it was described, where another was identified

    @property
    def over(self) -> bool:
        """Whether the torque is beyond the limit."""
        return bool(abs(self.total) > self.limit)


class TorqueBars:
    """The bars of an arm, on scales that do not jump."""

    def __init__(self, arm: Arm) -> None:
        self.limits = np.array([joint.limits.effort for joint in arm.coordinate_joints])
        self._usual = _usual_torques(arm)

    def bars(self, state: StudioState) -> list[Bar]:
        """One bar per joint."""
        arm, moment = state.loaded, state.moment
        nothing = np.full(arm.n, np.nan)
        gravity, total = _torques(arm, moment)
        described = nothing if state.arm is state.described else _torques(state.described_loaded, moment)[1]
        measured = nothing if moment.measured is None else moment.measured
        # Without limits the scale grows with what was seen, so that no bar ever leaves its track.
        largest = np.fmax.reduce([np.abs(gravity), np.abs(total), np.abs(measured)])
        self._usual = np.fmax(self._usual, np.where(np.isnan(largest), 0.0, largest))
        scales = np.where(np.isfinite(self.limits) & (self.limits > 0), self.limits, self._usual)
        columns = zip(arm.coordinate_joints, gravity, total, measured, self.limits, scales, described, strict=True)
        return [
            Bar(joint.name, "N m" if joint.kind == "revolute" else "N", *map(float, values))  # type: ignore[call-arg]
            for joint, *values in columns
        ]


def _torques(arm: Arm, moment: Moment) -> tuple[NDArray, NDArray]:
    """Gravity's torques (n,), and all in motion; NaN where the inertia is unknown."""
    try:
        gravity = gravity_torque(arm, moment.q)
    except MissingInertiaError:
        return np.full(arm.n, np.nan), np.full(arm.n, np.nan)
    if not (moment.qd.any() or moment.qdd.any() or arm.springs):
        return gravity, gravity
    total = predicted_torque(arm, moment.q, moment.qd, moment.qdd)
    return gravity, np.full(arm.n, np.nan) if total is None else total


def _usual_torques(arm: Arm) -> NDArray:
    lower, upper = slider_range(arm)
    q = np.random.default_rng(0).uniform(lower, upper, (RANDOM_POSES, arm.n))
    try:
        return np.maximum(SCALE_MARGIN * np.abs(gravity_torque(arm, q)).max(0), 1.0)
    except MissingInertiaError:
        return np.ones(arm.n)


def bars_html(bars: list[Bar]) -> str:
    """The bars as HTML: gravity pale, all torques dark (red beyond the limit), measured and described as marks."""
    rows = "".join(_row(bar) for bar in bars)
    marks = {"#8fb4dd": "gravity", "#2662a8": "model, in motion", "#e8821e": "measured"}
    if not all(np.isnan(bar.described) for bar in bars):
        marks["#6b7380"] = "described"
    key = "".join(f'<span><b style="background:{color}"></b>{text}</span>' for color, text in marks.items())
    return f'{style(STYLE)}<div class="tq">{rows}<div class="k">{key}</div></div>'


def _row(bar: Bar) -> str:
    limit = f"of {bar.limit:.4g} {bar.unit}" if np.isfinite(bar.limit) else f"{bar.unit}, no limit"
    value = "unknown" if np.isnan(bar.total) else f"{_plain(bar.total)} <small>{limit}</small>"
    over = " o" if bar.over else ""
    parts = _span(bar.gravity, bar.scale, "g") + _span(bar.total, bar.scale, f"d{over}")
    parts += _mark(bar.described, bar.scale, "b") + _mark(bar.measured, bar.scale, "m")
    name = escape(bar.name, quote=True)
    return (
        f'<div class="r"><span class="n" title="{name}">{name}</span>'
        f'<span class="t">{parts}<i class="z"></i></span><span class="v">{value}</span></div>'
    )


def _plain(x: float) -> str:
    """Three digits or so, without a negative zero."""
    digits = 2 if abs(x) < 10 else 1 if abs(x) < 1000 else 0
    return f"{round(x, digits) + 0.0:.{digits}f}"


def _span(value: float, scale: float, kind: str) -> str:
    if np.isnan(value):
        return ""
    part = 50 * float(np.clip(value / scale, -1, 1))
    return f'<i class="{kind}" style="left:{50 + min(part, 0):.2f}%;width:{abs(part):.2f}%"></i>'


def _mark(value: float, scale: float, kind: str) -> str:
    if np.isnan(value):
        return ""
    return f'<i class="{kind}" style="left:{50 + 50 * float(np.clip(value / scale, -1, 1)):.2f}%"></i>'
