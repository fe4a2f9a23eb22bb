"""Design an exciting motion, and watch the condition number fall."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from armdyn.studio.motion import from_trajectory
from armdyn.studio.page import JobPanel, Page
from armdyn.studio.plot import TimePlot
from armdyn.trajectory.excite import Excitation, excite
from armdyn.trajectory.multi_start import Standing


class Descent:
    """The best criterion so far over time, from what a search reports."""

    def __init__(self) -> None:
        self.t: list[float] = []
        self.best: list[float] = []

    def add(self, standing: Standing) -> bool:
        """Note where the search stands; False while nothing was found."""
        if not np.isfinite(standing.best):
            return False
        self.t.append(standing.elapsed)
        self.best.append(standing.best)
        return True


class ExcitePanel:
    """Settings, the search, and the motion found."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.found: Excitation | None = None
        gui = page.gui
        self.duration = gui.add_slider("Duration [s]", 2.0, 30.0, 1.0, 10.0)
        self.acceleration = gui.add_slider("Largest acceleration [rad/s²]", 1.0, 30.0, 0.5, 8.0)
        self.velocity = gui.add_slider("Largest velocity [rad/s]", 0.2, 6.0, 0.1, 2.0)
        self.harmonics = gui.add_slider("Harmonics", 3, 10, 1, 5)
        self.budget = gui.add_slider("Time to search [s]", 2.0, 120.0, 1.0, 20.0)
        self.job = JobPanel(page, "Design an exciting motion", self._run)
        self.plot = TimePlot(page.server, "Best condition number", "search time [s]")

    def _run(self, report: Callable[[float, str], None]) -> None:
        descent, budget = Descent(), float(self.budget.value)
        report(0.0, "Preparing the search ...")

        def progress(standing: Standing) -> None:
            if self.job.job.cancelled:
                raise KeyboardInterrupt  # how `excite` is told to return the best so far
            text = f"{standing.starts} searches"
            if descent.add(standing):
                text += f", best condition number {standing.best:.1f}"
                if len(descent.t) > 1:
                    best = {"condition number": np.array(descent.best)}
                    self.plot.draw("Best condition number", np.array(descent.t), best)
            report(standing.elapsed / budget, text)

        self.found = excite(
            self.page.state.arm, float(self.duration.value), max_acceleration=self.acceleration.value,
            max_velocity=self.velocity.value, harmonics=int(self.harmonics.value), time_budget=budget,
            workers=1, progress=progress,
        )  # fmt: skip
        early = "stopped early, " if self.found.interrupted else ""
        self.job.say(f"Condition number {self.found.condition:.1f}, {early}{self.found.starts} searches.")
        self.page.player.load(from_trajectory("exciting motion", self.found.trajectory, self.page.state.arm))
        self.page.player.play()
