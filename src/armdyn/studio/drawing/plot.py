"""A small plot of quantities over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from armdyn.html import MAX_POINTS

if TYPE_CHECKING:
    from viser import ClientHandle

HEIGHT_PX = 210
BAND_FILL = "rgba(232, 130, 30, 0.25)"
COLORS = ("#e8821e", "#2662a8", "#3a9a5b", "#8e5bb5", "#c8322b", "#7a8290", "#b58a2b", "#2b9fb5")


class TimePlot:
    """Curves over time, or over `x`; with `until` up to a time only, which moves as a motion plays.

    Beyond `most` times the smallest value curves leave the plot.
    """

    def __init__(self, client: ClientHandle, title: str, x: str = "t [s]", most: float = np.inf) -> None:
        self._client, self._x, self._most = client, x, most
        self._t: NDArray = np.array([0.0, 1.0])
        self._curves: dict[str, NDArray] = {}
        self._look: tuple[Any, ...] = ()
        self._handle = client.gui.add_uplot(
            (self._t, np.full(2, np.nan)), ({"label": x}, _series("", 0, (), None)), title=title, height=HEIGHT_PX,
            scales=_scales((0.0, 1.0)), axes=({"label": x, "labelSize": 18, "size": 34}, {"size": 56}),
            legend={"show": True}, padding=(4, 18, 0, 0), visible=False,
        )  # fmt: skip

    def draw(
        self, title: str, t: NDArray, curves: Mapping[str, NDArray], dashed: tuple[str, ...] = (),
        band: tuple[str, str] | None = None,
    ) -> None:  # fmt: skip
        """Show curves (N,) by name: `dashed` are what others should come to, `band` are the edges of an area.

        The first edge is the upper one.
        """
        self._t, self._curves = thin(t, curves)
        ends = value_range(list(self._curves.values()), self._most)
        look = (title, *curves, *dashed, band, ends)
        with self._client.atomic():
            if look != self._look:  # the browser builds the plot anew when it changes
                self._look = look
                self._handle.title = title
                self._handle.scales = _scales(ends)
                self._handle.series = (
                    {"label": self._x},
                    *(_series(name, i, dashed, band) for i, name in enumerate(curves)),
                )
                self._handle.bands = (_area(list(curves), *band),) if band else None
            self._handle.data = (self._t, *self._curves.values())
            self._handle.visible = True

    def hide(self) -> None:
        """Take it off the page."""
        if self._handle.visible:
            self._handle.visible = False

    def until(self, time: float, always: tuple[str, ...] = ()) -> None:
        """Hide what comes after a time, except of the curves named."""
        later = self._t > time
        columns = [np.where(later & (name not in always), np.nan, x) for name, x in self._curves.items()]
        if columns:
            self._handle.data = (self._t, *columns)


def thin(t: NDArray, curves: Mapping[str, NDArray]) -> tuple[NDArray, dict[str, NDArray]]:
    """Times and curves at no more points than can be seen, ends included."""
    keep = np.unique(np.linspace(0, len(t) - 1, MAX_POINTS).astype(int))
    return np.asarray(t, float)[keep], {name: np.asarray(x, float)[keep] for name, x in curves.items()}


def value_range(curves: list[NDArray], most: float = np.inf) -> tuple[float, float]:
    """Ends of an axis that holds all values that are numbers: round ones, so that they seldom change."""
    values = np.concatenate(curves)
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    if low > 0:
        high = min(high, most * low)
    step = 10 ** np.floor(np.log10(max(high - low, 1e-9 * max(abs(low), abs(high)), 1e-12))) / 2
    return float(step * (np.ceil(low / step) - 1)), float(step * (np.floor(high / step) + 1))


def _area(names: list[str], upper: str, lower: str) -> Any:
    """The filled area between two curves; curves count from 1."""
    return {"series": (1 + names.index(upper), 1 + names.index(lower)), "fill": BAND_FILL}


def _scales(ends: tuple[float, float]) -> Any:
    """Axes with given ends: uPlot's own are lost where a curve begins with NaN, as one does that has nothing yet."""
    return {"x": {"time": False}, "y": {"auto": False, "min": ends[0], "max": ends[1]}}


def _series(name: str, i: int, dashed: tuple[str, ...], band: tuple[str, str] | None) -> Any:
    color = BAND_FILL if name in (band or ()) else COLORS[i % len(COLORS)]
    series = {"label": name, "stroke": color, "width": 1.6, "points": {"show": False}}
    return series | ({"dash": [6, 5]} if name in dashed else {})
