"""Identify the arm from the log that is loaded: whether to use the result, and how it differs from the description."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from armdyn.errors import ArmdynError, ArmdynWarning, DataError
from armdyn.identification.fit.result import Fit
from armdyn.identification.logs.log import Log
from armdyn.identification.quality import Level
from armdyn.progress import ProgressCallback
from armdyn.studio.drawing.verdict import headline, verdict_html
from armdyn.studio.motion import from_log
from armdyn.studio.page import JobPanel, Page, note_html, update
from armdyn.studio.state import StudioState

NOTICE_COLORS = {Level.GOOD: "green", Level.CARE: "orange", Level.NOT_USABLE: "red"}


class IdentifyPanel:
    """The job, the verdict, and the links before and after."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._shown: Fit | None = None
        self._rejected: Log | None = None
        gui = page.gui
        self.force = gui.add_checkbox(
            "Accept it anyway", False, visible=False, hint="Show the model that was rejected, with its verdict"
        )
        self.job = JobPanel(page, "Identify the arm from this log", self._run)
        self.verdict = gui.add_html("")
        self.back = gui.add_button("Back to the arm as described", icon="arrow-back-up", visible=False)
        self.back.on_click(page.answer(lambda event: self.forget()))
        page.state.on_change(self.follow)

    def follow(self, state: StudioState) -> None:
        """Offer the job once there is a log; show the verdict of a fit."""
        update(self.job.start_button, visible=state.log is not None)
        update(self.force, visible=state.log is not None and state.log is self._rejected)
        if state.fit is not self._shown:
            self._shown = state.fit
            self.verdict.content = "" if state.fit is None else verdict_html(state.fit)
            self.back.visible = state.fit is not None

    def forget(self) -> None:
        """Go on with the arm as described."""
        state = self.page.state.now
        if state.log is not None:
            self.page.player.load(from_log(state.log, state.described), fit=None, arm=state.described)

    def _run(self, report: Callable[[float, str], None]) -> None:
        from armdyn.identification.identify import identify

        state = self.page.state.now
        if state.log is None:
            raise ArmdynError("load a log first", where="studio")
        with warnings.catch_warnings(record=True) as doubts:
            warnings.simplefilter("always", ArmdynWarning)
            try:
                fit = identify(state.described, state.log, progress=_in_sentences(report), force=self.force.value)
            except DataError:
                self._rejected = state.log
                self.follow(state)
                raise
        report(1.0, "Drawing ...")
        self.job.status.content = "".join(note_html(f"Please check: {doubt.message}") for doubt in doubts)
        motion = from_log(state.log, fit.arm, state.described)
        self.page.player.load(motion, fit=fit, arm=fit.arm)
        self.page.say("Identified", f"{headline(fit)}.", NOTICE_COLORS[fit.verdict.level])


def _in_sentences(report: Callable[[float, str], None]) -> ProgressCallback:
    return lambda done, total, text: report(done / total, f"{text[:1].upper()}{text[1:]} ...")
