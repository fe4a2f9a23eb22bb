"""What the panels share: the server, the arm's state, the player, and how errors reach the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from armdyn.errors import ArmdynError
from armdyn.studio.jobs import Cancelled, Job, sentence
from armdyn.studio.player import Player
from armdyn.studio.state import ArmState

if TYPE_CHECKING:
    from viser import ViserServer


@dataclass(eq=False)
class Page:
    """One page, shared by all tabs that are open on it."""

    server: ViserServer
    state: ArmState
    player: Player
    local: bool = True  # whether only this machine can reach it, so that paths may be typed
    jobs: list[Job] = field(default_factory=list)

    @property
    def gui(self) -> Any:
        """viser's interface to buttons and sliders."""
        return self.server.gui

    def say(self, title: str, text: str, color: str = "blue", seconds: float | None = 6.0) -> None:
        """Show a note on every tab."""
        for client in self.server.get_clients().values():
            client.add_notification(title, text, color=color, auto_close_seconds=seconds)  # type: ignore[call-overload]

    def complain(self, text: str) -> None:
        """Show an error as one sentence, until it is closed."""
        self.say("That did not work", text, "red", None)

    def asked(self, action: Callable[[Any], None]) -> Callable[[Any], None]:
        """A callback for a person's action: changes made by the program are ignored, errors reach the page."""

        def callback(event: Any) -> None:
            if event.client is None:
                return
            try:
                action(event)
            except Exception as error:
                self.complain(sentence(error))

        return callback

    def close(self) -> None:
        """End what runs in the background."""
        self.player.close()
        for job in self.jobs:
            job.cancel()


class JobPanel:
    """A button that starts long work, one that cancels it, and a bar between."""

    def __init__(self, page: Page, label: str, work: Callable[[Callable[[float, str], None]], None]) -> None:
        self.page, self._work = page, work
        self.job = Job(self._progress, self._end, self._fail)
        page.jobs.append(self.job)
        gui = page.gui
        self.start_button = gui.add_button(label, color="blue", icon="player-play")
        self.cancel_button = gui.add_button("Cancel", icon="x", visible=False)
        self.bar = gui.add_progress_bar(0.0, visible=False, animated=True)
        self.status = gui.add_html("")
        self.start_button.on_click(page.asked(lambda event: self.start()))
        self.cancel_button.on_click(page.asked(lambda event: self.job.cancel()))

    def start(self) -> None:
        """Begin, unless it runs already."""
        if not self.job.start(self._run):
            raise ArmdynError("this is under way already; cancel it first")

    def say(self, text: str) -> None:
        """Show a line below the buttons."""
        self.status.content = note_html(text)

    def _run(self, report: Callable[[float, str], None]) -> None:
        self._set_running(True)
        try:
            self._work(report)
        except (Cancelled, KeyboardInterrupt):
            self.say("Cancelled.")

    def _progress(self, fraction: float, text: str) -> None:
        self.bar.value = 100 * fraction
        self.say(text)

    def _fail(self, text: str) -> None:
        self.say(text)
        self.page.complain(text)

    def _end(self) -> None:
        self._set_running(False)

    def _set_running(self, running: bool) -> None:
        self.start_button.disabled = running
        self.cancel_button.visible = self.bar.visible = running
        if running:
            self.bar.value = 0.0
            self.status.content = ""


def note_html(text: str) -> str:
    """A small line of text, safe to show whatever is in it."""
    return f'<div style="font-size:12.5px;line-height:1.45;padding:.2em .8em;opacity:.85">{escape(text)}</div>'
