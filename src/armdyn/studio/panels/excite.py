"""Design an exciting motion, and watch the condition number fall."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from armdyn.shapes.mount import mounting_plane
from armdyn.studio.drawing.plot import TimePlot
from armdyn.studio.jobs import Cancelled
from armdyn.studio.motion import from_trajectory
from armdyn.studio.page import JobPanel, Page
from armdyn.trajectory.excitation.excite import Excitation, excite
from armdyn.trajectory.excitation.multi_start import Standing

BEST, CURRENT = "best so far", "search under way"


class Descent:
    """The criterion over time, from what a search reports: a point whenever it changes."""

    def __init__(self) -> None:
        self._rows: list[tuple[float, float, float]] = []

    def add(self, standing: Standing) -> bool:
        """Note where the search stands; whether there is something new to draw."""
        best, current = (x if np.isfinite(x) else np.nan for x in (standing.best, standing.current))
        if np.isnan(best) and np.isnan(current):
            return False
        changed = not self._rows or not np.array_equal(self._rows[-1][1:], (best, current), equal_nan=True)
        self._rows.append((standing.elapsed, best, current))
        return changed and len(self._rows) > 1

    def curves(self) -> tuple[NDArray, dict[str, NDArray]]:
        """Times and the two curves."""
        t, best, current = np.array(self._rows).T
        return t, {BEST: best, CURRENT: current}


class ExcitePanel:
    """Settings, the search, and the motion found."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.found: Excitation | None = None
        gui = page.gui
        self.duration = gui.add_slider("Duration [s]", 2.0, 30.0, 1.0, 10.0)
        self.acceleration = gui.add_slider("Acceleration up to [rad/s²]", 1.0, 30.0, 0.5, 8.0)
        self.velocity = gui.add_slider("Velocity up to [rad/s]", 0.2, 6.0, 0.1, 2.0)
        self.harmonics = gui.add_slider("Harmonics", 3, 10, 1, 5)
        plane = mounting_plane(page.state.arm)
        known = plane is not None
        self.off_plane = gui.add_checkbox(
            f"Keep off the {plane.name if plane else 'floor'}", known, disabled=not known,
            hint=None if known else "Nothing says where this arm is mounted.",
        )  # fmt: skip
        self.apart = gui.add_checkbox("Keep links apart", True)
        self.torques = gui.add_checkbox("Keep torque limits", True)
        self.obstacles = gui.add_text("Obstacles (.toml)", "", disabled=not page.local)
        self.budget = gui.add_slider("Time to search [s]", 2.0, 120.0, 1.0, 20.0)
        self.job = JobPanel(page, "Design an exciting motion", self._run)
        self.plot = TimePlot(page.server, "Condition number", "search time [s]", most=6.0)

    def _run(self, report: Callable[[float, str], None]) -> None:
        descent, budget = Descent(), float(self.budget.value)
        report(0.0, "Preparing the search ...")

        def progress(standing: Standing) -> None:
            if descent.add(standing):
                self.plot.draw("Condition number", *descent.curves())
            found = f", best condition number {standing.best:.1f}" if np.isfinite(standing.best) else ""
            try:
                report(standing.elapsed / budget, f"Searches through: {standing.starts}{found}")
            except Cancelled:
                raise KeyboardInterrupt from None  # how `excite` is told to return the best so far

        self.found = excite(
            self.page.state.arm, float(self.duration.value), max_acceleration=self.acceleration.value,
            max_velocity=self.velocity.value, harmonics=int(self.harmonics.value), time_budget=budget,
            floor=None if self.off_plane.value else False, self_collision=self.apart.value,
            max_torque=None if self.torques.value else False, obstacles=self.obstacles.value.strip() or (),
            workers=1, progress=progress,
        )  # fmt: skip
        early = ", stopped early" if self.found.interrupted else ""
        self.job.say(f"Condition number {self.found.condition:.1f}{early}. {' '.join(self.found.promises)}")
        self.page.player.load(from_trajectory("exciting motion", self.found.trajectory, self.page.state.arm))
        self.page.player.play()
