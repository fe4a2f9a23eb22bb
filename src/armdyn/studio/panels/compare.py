"""Controllers on one motion with a load they do not know, and what adaptive ones learn of it."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError
from armdyn.simulation.compare import Comparison
from armdyn.simulation.mismatch_study import mismatch_study
from armdyn.studio.drawing.plot import TimePlot
from armdyn.studio.motion import from_run
from armdyn.studio.page import JobPanel, Page
from armdyn.studio.state import StudioState

ALL = "all"
THREE_LAWS = ("PD", "computed torque", "Slotine-Li")
ALL_LAWS = (
    *("PD", "PID", "PD + gravity", "feedforward + PD", "computed torque", "computed torque + observer", "LQR(t)"),
    *("Slotine-Li", "modified Slotine-Li", "Craig"),
)
REDRAW_PERIOD_S = 0.1  # [s] between redraws of a growing curve


class MassEstimate(NamedTuple):
    """The load's mass as an adaptive law believes it, over time."""

    t: NDArray
    mass: NDArray  # [kg]
    truth: float


def mass_estimate(comparison: Comparison, name: str, payload: float) -> MassEstimate | None:
    """Return the load that a controller believed in; None for one that does not adapt. The mass leads its unknowns."""
    result = comparison.results[name]
    if "phi" not in result.states:
        return None
    return MassEstimate(result.t - result.t[0], result.states["phi"][:, 0], payload)


def table_html(comparison: Comparison, unit: str = "mrad") -> str:
    """Tracking errors of all controllers, the best in bold."""
    best = min((row.final_rms for row in comparison.rows if np.isfinite(row.final_rms)), default=np.nan)
    head = _table_row("controller", (f"rms [{unit}]", "at the end", ""), "opacity:.7")
    rows = [
        _table_row(row.name, (_thousandths(row.rms), _thousandths(row.final_rms), row.note),
                   "font-weight:bold" if row.final_rms == best else "")
        for row in comparison.rows
    ]  # fmt: skip
    style = "font-size:12.5px;line-height:1.6;padding:.2em .8em;font-variant-numeric:tabular-nums"
    return f'<div style="{style}"><table id="comparison">{head}{"".join(rows)}</table></div>'


def _table_row(name: str, cells: tuple[str, ...], style: str) -> str:
    rest = "".join(f'<td style="text-align:right;padding-left:1em">{escape(cell)}</td>' for cell in cells)
    return f'<tr style="{style}"><td>{escape(name)}</td>{rest}</tr>'


def _thousandths(x: float) -> str:
    return "-" if np.isnan(x) else f"{1e3 * x:.2f}"


class ComparePanel:
    """Settings, the run, its table, and the estimate that grows while the run plays."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._unit = "mrad" if all(j.kind == "revolute" for j in page.state.arm.coordinate_joints) else "mrad, mm"
        self._shown: Comparison | None = None
        self.estimate: MassEstimate | None = None
        self._drawn = -1.0
        gui = page.gui
        self.payload = gui.add_slider("Unknown load [kg]", 0.0, 10.0, 0.1, 2.5, hint="At the tip")
        self.friction = gui.add_slider("Friction factor", 0.5, 2.0, 0.05, 1.25, hint="True friction over the model's")
        self.duration = gui.add_slider("Duration [s]", 2.0, 20.0, 1.0, 8.0)
        self.which = gui.add_dropdown("Controllers", (", ".join(THREE_LAWS), ALL))
        self.job = JobPanel(page, "Compare controllers", self._run)
        self.table = gui.add_html("")
        self.shown = gui.add_dropdown("Show", THREE_LAWS, initial_value=THREE_LAWS[-1], visible=False)
        self.shown.on_update(page.answer(lambda event: self.show(event.target.value)))
        self.plot = TimePlot(page.client, "Load as estimated [kg]")
        self.errors = TimePlot(page.client, "Tracking error")
        page.state.on_change(self.follow)

    def show(self, name: str) -> None:
        """Get one controller's run ready to play."""
        comparison = self.page.state.now.comparison
        if comparison is None:
            raise ArmdynError("run the comparison first", where="studio")
        result = comparison.results[name]
        self.estimate = mass_estimate(comparison, name, self.payload.value)
        if self.estimate is not None:
            t, mass, truth = self.estimate
            self.plot.draw("Load as estimated [kg]", t, {name: mass, "true": np.full(len(t), truth)}, ("true",))
        self.page.player.load(from_run(result, self.page.state.arm))

    def follow(self, state: StudioState) -> None:
        """Show a new comparison, and let the estimate grow with the time that plays."""
        comparison, time = state.comparison, state.moment.time
        if comparison is None:
            return
        if comparison is not self._shown:
            self._shown = comparison
            self._show(comparison)
        if self.estimate is None or time is None or state.motion is None:
            return
        if state.motion.name in comparison.results and abs(time - self._drawn) >= REDRAW_PERIOD_S:
            self._drawn = time
            self.plot.until(time, always=("true",))

    def _show(self, comparison: Comparison) -> None:
        self.table.content = table_html(comparison, self._unit)
        self._draw_errors(comparison)
        names = tuple(comparison.results)
        self.shown.options, self.shown.visible = names, True
        self.shown.value = THREE_LAWS[-1] if THREE_LAWS[-1] in names else names[-1]

    def _run(self, report: Callable[[float, str], None]) -> None:
        names = THREE_LAWS if self.which.value != ALL else ALL_LAWS
        report(0.0, "Preparing; the first run compiles kernels and takes longest ...")

        comparison = mismatch_study(
            self.page.state.arm, self.payload.value, self.friction.value, duration=float(self.duration.value),
            controllers=names,
            progress=lambda done, total, name: report(done / total, f"{name} ..."),
        )  # fmt: skip
        report(1.0, f"{comparison.about}.")
        self.page.state.change(comparison=comparison)
        self.show(THREE_LAWS[-1])
        self.page.player.play()

    def _draw_errors(self, comparison: Comparison) -> None:
        runs = {name: run for name, run in comparison.results.items() if run.complete}
        curves = {name: 1e3 * np.sqrt((run.error**2).mean(axis=1)) for name, run in runs.items()}
        if runs:
            self.errors.draw(f"Tracking error, rms of all joints [{self._unit}]", next(iter(runs.values())).t, curves)
