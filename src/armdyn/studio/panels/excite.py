"""Design an exciting motion with the protections of `armdyn excite`, and watch the condition number fall."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from armdyn.studio.drawing.plot import TimePlot
from armdyn.studio.jobs import Cancelled
from armdyn.studio.motion import from_trajectory
from armdyn.studio.page import JobPanel, Page, note_html, update
from armdyn.studio.state import StudioState
from armdyn.trajectory.excitation.excite import GOOD_CONDITION, Excitation, excite
from armdyn.trajectory.excitation.multi_start import SearchProgress

BEST, CURRENT = "best so far", "search under way"


class DescentCurve:
    """The criterion over time, from what a search reports: a point whenever it changes."""

    def __init__(self) -> None:
        self._rows: list[tuple[float, float, float]] = []

    def add(self, standing: SearchProgress) -> bool:
        """Note where the search stands; whether there is something new to draw."""
        best, current = (x if np.isfinite(x) else np.nan for x in (standing.best, standing.current))
        if np.isnan(best) and np.isnan(current):
            return False
        changed = not self._rows or not np.array_equal(self._rows[-1][1:], (best, current), equal_nan=True)
        self._rows.append((standing.elapsed, best, current))
        return changed and len(self._rows) > 1

    def curves(self, budget: float) -> tuple[NDArray, dict[str, NDArray]]:
        """Times from zero to the end of the search, and the two curves, NaN where nothing is known yet."""
        end = max(budget, self._rows[-1][0])
        t, best, current = np.array([(0.0, np.nan, np.nan), *self._rows, (end, np.nan, np.nan)]).T
        return t, {BEST: best, CURRENT: current}


class ExcitePanel:
    """Settings, the search, and the motion found."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._shown: Excitation | None = None
        gui = page.gui
        self.duration = gui.add_slider("Duration [s]", 2.0, 30.0, 1.0, 10.0)
        self.acceleration = gui.add_slider("Max acceleration [rad/s²]", 1.0, 30.0, 0.5, 8.0)
        self.velocity = gui.add_slider("Max speed [rad/s]", 0.2, 6.0, 0.1, 2.0)
        self.harmonics = gui.add_slider("Harmonics", 3, 10, 1, 5)
        self.budget = gui.add_slider("Time to search [s]", 2.0, 120.0, 1.0, 20.0)
        with gui.add_folder("Protections"):
            self.off_plane = gui.add_checkbox("Keep off the floor", True)
            self.apart = gui.add_checkbox("Keep links apart", True)
            self.torques = gui.add_checkbox("Keep torque limits", True)
            self.margin = gui.add_slider(
                "Margin [%]", 0.0, 50.0, 1.0, 5.0, hint="Part of velocity and torque limits that is left free"
            )
            self.around = gui.add_html("")
        self.job = JobPanel(page, "Design an exciting motion", self._run)
        self.plot = TimePlot(page.client, "Condition number", "search time [s]", most=6.0)
        self.result = gui.add_html("")
        page.state.on_change(self.follow)

    def follow(self, state: StudioState) -> None:
        """Say what is kept clear of; show what was found."""
        self._say_around(state)
        if state.excitation is not None and state.excitation is not self._shown:
            self._shown = state.excitation
            self.result.content = result_html(state.excitation)

    def _say_around(self, state: StudioState) -> None:
        plane = state.plane
        names = ", ".join(obstacle.name for obstacle in state.obstacles)
        lines = [f"Clear of {names}." if names else "No obstacles; add them under 'Arm', 'Floor and obstacles'."]
        if plane is None:
            lines.insert(
                0,
                "The mounting plane is unknown; set the floor under 'Arm', 'Floor and obstacles'.",
            )
        update(self.around, content=note_html(" ".join(lines)))
        update(self.off_plane, label=f"Keep off the {plane.name if plane else 'floor'}", disabled=plane is None)

    def _run(self, report: Callable[[float, str], None]) -> None:
        descent, budget, state = DescentCurve(), float(self.budget.value), self.page.state.now
        report(0.0, "Preparing the search ...")

        def progress(standing: SearchProgress) -> None:
            best = f", best condition number {standing.best:.1f}" if np.isfinite(standing.best) else ""
            try:
                report(standing.elapsed / budget, f"Searches through: {standing.starts}{best}")
            except Cancelled:
                raise KeyboardInterrupt from None  # how `excite` is told to return the best so far
            if descent.add(standing):
                self.plot.draw("Condition number", *descent.curves(budget))

        excitation = excite(
            state.arm, float(self.duration.value), max_acceleration=self.acceleration.value,
            max_velocity=self.velocity.value, harmonics=int(self.harmonics.value), time_budget=budget,
            floor=state.floor if self.off_plane.value else False, self_collision=self.apart.value,
            max_torque=None if self.torques.value else False, obstacles=state.obstacles,
            margin=self.margin.value / 100, workers=1, progress=progress,
        )  # fmt: skip
        if self.page.closed:
            return
        self.job.say("Stopped early: the best so far is shown." if excitation.interrupted else "")
        motion = from_trajectory("exciting motion", excitation.trajectory, state.arm)
        self.page.player.load(motion, excitation=excitation)
        self.page.player.play()


def result_html(excitation: Excitation) -> str:
    """The condition number, what holds at all times, and what was not checked."""
    condition = f"Condition number {excitation.condition:.1f} (up to {GOOD_CONDITION:g} is good)."
    advice = () if excitation.is_good else (f"Some parameters are weakly excited: {excitation.advice}.",)
    return "".join(map(note_html, (condition, *advice, *excitation.guarantee_summary)))
