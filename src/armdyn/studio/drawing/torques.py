"""Torques of the present moment as bars, against the limits of the joints."""

from __future__ import annotations

from html import escape
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.gravity import gravity_torque
from armdyn.errors import MissingInertiaError
from armdyn.model.arm import Arm
from armdyn.studio.motion import predicted_torque
from armdyn.studio.state import ArmState, Moment, slider_range

# Without limits, bars are scaled by the largest gravity torque of random postures, with some room.
PROBES, ROOM = 200, 1.5


class Bar(NamedTuple):
    """One joint's torques [N m or N]; NaN where unknown."""

    name: str
    unit: str
    gravity: float
    total: float  # links, friction and drives in motion; gravity's at rest
    measured: float
    limit: float  # infinite where the arm has none
    scale: float  # full length of the bar

    @property
    def over(self) -> bool:
        """Whether the torque is beyond the limit."""
        return bool(abs(self.total) > self.limit)


class TorqueBars:
    """The bars of an arm's state."""

    def __init__(self, state: ArmState) -> None:
        self.state = state
        self.limits = np.array([joint.limits.effort for joint in state.arm.joints])
        self._usual = _usual_torques(state.arm)

    def bars(self, moment: Moment) -> list[Bar]:
        """One bar per joint."""
        arm = self.state.loaded
        nothing = np.full(arm.n, np.nan)
        try:
            gravity = gravity_torque(arm, moment.q)
        except MissingInertiaError:
            gravity = nothing
        moving = moment.qd.any() or moment.qdd.any()
        total = predicted_torque(arm, moment.q, moment.qd, moment.qdd) if moving else gravity
        total = nothing if total is None else total
        measured = nothing if moment.measured is None else moment.measured
        # Without limits the scale grows with what was seen, so that no bar ever leaves its track.
        seen = np.fmax.reduce([np.abs(gravity), np.abs(total), np.abs(measured)])
        self._usual = np.fmax(self._usual, np.where(np.isnan(seen), 0.0, seen))
        scales = np.where(np.isfinite(self.limits) & (self.limits > 0), self.limits, self._usual)
        columns = zip(arm.joints, gravity, total, measured, self.limits, scales, strict=True)
        return [
            Bar(joint.name, "N m" if joint.kind == "revolute" else "N", *map(float, values))  # type: ignore[call-arg]
            for joint, *values in columns
        ]


def _usual_torques(arm: Arm) -> NDArray:
    lower, upper = slider_range(arm)
    q = np.random.default_rng(0).uniform(lower, upper, (PROBES, arm.n))
    try:
        return np.maximum(ROOM * np.abs(gravity_torque(arm, q)).max(0), 1.0)
    except MissingInertiaError:
        return np.ones(arm.n)


STYLE = """
<style>
.tq{font-size:12.5px;line-height:1.35;width:100%;padding:0 .8em .3em;box-sizing:border-box}
.tq .r{display:grid;grid-template-columns:minmax(3.2em,26%) 1fr 8.6em;gap:.5em;align-items:center;margin:.34em 0}
.tq .n{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.tq .v{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.tq .v small{opacity:.6}
.tq .t{position:relative;height:13px;border-radius:3px;background:rgba(128,140,160,.18)}
.tq .t i{position:absolute;top:0;bottom:0;border-radius:2px}
.tq .z{left:50%;width:1px;background:rgba(110,120,140,.8)}
.tq .g{background:#8fb4dd}.tq .d{top:3px!important;bottom:3px!important;background:#2662a8}
.tq .o{background:#c8322b!important}.tq .m{width:3px;margin-left:-1.5px;background:#e8821e}
.tq .k{opacity:.75;margin-top:.5em}
.tq .k b{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin:0 .3em 0 .8em}
.tq .k b:first-child{margin-left:0}
</style>"""


def bars_html(bars: list[Bar]) -> str:
    """The bars as HTML: gravity pale, all torques dark (red beyond the limit), measured as a mark."""
    rows = "".join(_row(bar) for bar in bars)
    key = (
        '<div class="k"><b style="background:#8fb4dd"></b>gravity<b style="background:#2662a8"></b>model, in motion'
        '<b style="background:#e8821e"></b>measured</div>'
    )
    return f'{STYLE}<div class="tq">{rows}{key}</div>'


def _row(bar: Bar) -> str:
    limit = f"of {bar.limit:.3g} {bar.unit}" if np.isfinite(bar.limit) else f"{bar.unit}, no limit"
    value = "unknown" if np.isnan(bar.total) else f"{_plain(bar.total)} <small>{limit}</small>"
    over = " o" if bar.over else ""
    parts = _span(bar.gravity, bar.scale, "g") + _span(bar.total, bar.scale, f"d{over}") + _mark(bar)
    name = escape(bar.name, quote=True)
    return (
        f'<div class="r"><span class="n" title="{name}">{name}</span>'
        f'<span class="t">{parts}<i class="z"></i></span><span class="v">{value}</span></div>'
    )


def _plain(x: float) -> str:
    """Three digits or so, without a negative zero."""
    digits = 1 if abs(x) >= 10 else 2
    return f"{round(x, digits) + 0.0:.{digits}f}"


def _span(value: float, scale: float, kind: str) -> str:
    if np.isnan(value):
        return ""
    part = 50 * float(np.clip(value / scale, -1, 1))
    return f'<i class="{kind}" style="left:{50 + min(part, 0):.2f}%;width:{abs(part):.2f}%"></i>'


def _mark(bar: Bar) -> str:
    if np.isnan(bar.measured):
        return ""
    return f'<i class="m" style="left:{50 + 50 * float(np.clip(bar.measured / bar.scale, -1, 1)):.2f}%"></i>'
