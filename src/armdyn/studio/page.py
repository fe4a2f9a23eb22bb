"""What the panels of a tab share: its client, state and player, and how errors reach the one who caused them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armdyn.errors import ArmdynError
from armdyn.frozen import PartOf
from armdyn.studio.jobs import Cancelled, Job, sentence
from armdyn.studio.player import Player
from armdyn.studio.state import ArmState

if TYPE_CHECKING:
    from viser import ClientHandle

NOTICE_S = 12.0  # after which a notice goes away; what matters stays in a panel


@dataclass(eq=False)
class Page:
    """One arm in one tab."""

    client: ClientHandle
    state: ArmState
    player: Player
    folder: Path  # for logs that are uploaded, removed when the tab closes
    uploads: Path  # for arms that are uploaded, which other tabs may go on with
    local: bool = True  # whether only this machine can reach it, so that paths may be typed
    jobs: list[Job] = field(default_factory=list)
    closed: bool = False

    gui = PartOf[Any]("client.gui", "viser's interface to buttons and sliders.")

    def say(self, title: str, text: str, color: str = "blue") -> None:
        """Show a note for some seconds."""
        if not self.closed:
            self.client.add_notification(title, text, color=color, auto_close_seconds=NOTICE_S)  # type: ignore[call-overload]

    def complain(self, text: str) -> None:
        """Show an error as one sentence."""
        self.say("That did not work", text, "red")

    def answer(self, action: Callable[[Any], None]) -> Callable[[Any], None]:
        """A callback for a person's action: changes made by the program are ignored, errors reach the page."""

        def callback(event: Any) -> None:
            if event.client is None or self.closed:
                return
            try:
                action(event)
            except Exception as error:
                self.complain(sentence(error))

        return callback

    def close(self) -> None:
        """End what runs in the background."""
        self.closed = True
        self.state.close()
        self.player.close()
        for job in self.jobs:
            job.cancel()


def update(handle: Any, **values: Any) -> None:
    """Set what has changed of a button, slider or text: the browser is told of every assignment."""
    for name, value in values.items():
        if getattr(handle, name) != value:
            setattr(handle, name, value)


def kept_upload(file: Any, folder: Path) -> Path:
    """A file that came through the browser, in a folder of its own; of its name only the last part counts."""
    name = file.name.replace("\\", "/").rpartition("/")[2].replace("\0", "")[-100:]
    path = Path(tempfile.mkdtemp(dir=folder)) / (name if name.strip(".") else "upload")
    path.write_bytes(file.content)
    return path


class FileChoice:
    """A button that uploads a file and, where paths may be typed, a line for one with a button of its own."""

    def __init__(
        self, page: Page, label: str, hint: str, opened: Callable[[Path], None], folder: Path | None = None
    ) -> None:
        gui, place = page.gui, folder or page.folder
        self.upload = gui.add_upload_button(label, icon="upload", hint=hint)
        self.upload.on_upload(page.answer(lambda event: opened(kept_upload(event.target.value, place))))
        if page.local:
            with gui.add_form(None) as form:  # Enter opens it too; nothing happens while one types
                self.path = gui.add_text("or its path", "", hint="A file on this machine")
                self.button = gui.add_button("Open this path", icon="folder-open")
            self.button.on_click(page.answer(lambda event: self._typed(opened)))
            form.on_submit(page.answer(lambda event: self._typed(opened)))

    def _typed(self, opened: Callable[[Path], None]) -> None:
        text = self.path.value.strip()
        if not text:
            raise ArmdynError(where="studio", expected="the path of a file", got="nothing")
        opened(Path(text).expanduser())


class JobPanel:
    """A button that starts long work, one that cancels it, and a bar between."""

    def __init__(self, page: Page, label: str, work: Callable[[Callable[[float, str], None]], None]) -> None:
        self.page, self._work = page, work
        self.job = Job(self._progress, lambda: self._set_running(False), self._fail)
        page.jobs.append(self.job)
        gui = page.gui
        self.start_button = gui.add_button(label, color="blue", icon="player-play")
        self.cancel_button = gui.add_button("Cancel", icon="x", visible=False)
        self.bar = gui.add_progress_bar(0.0, visible=False, animated=True)
        self.status = gui.add_html("")
        self.start_button.on_click(page.answer(lambda event: self.start()))
        self.cancel_button.on_click(page.answer(lambda event: self.job.cancel()))

    def start(self) -> None:
        """Begin, unless it runs already."""
        if not self.job.start(self._run):
            raise ArmdynError("this is under way already", remedy="cancel it first")

    def say(self, text: str) -> None:
        """Show a line below the buttons."""
        if not self.page.closed:
            self.status.content = note_html(text)

    def _run(self, report: Callable[[float, str], None]) -> None:
        self._set_running(True)
        try:
            self._work(report)
        except (Cancelled, KeyboardInterrupt):
            self.say("Cancelled.")

    def _progress(self, fraction: float, text: str) -> None:
        if not self.page.closed:
            self.bar.value = 100 * fraction
            self.say(text)

    def _fail(self, text: str) -> None:
        self.say(text)
        self.page.complain(text)

    def _set_running(self, running: bool) -> None:
        if self.page.closed:
            return
        self.start_button.disabled = running
        self.cancel_button.visible = self.bar.visible = running
        if running:
            self.bar.value = 0.0
            self.status.content = ""


NOTE_STYLE = "font-size:12.5px;line-height:1.45;padding:.2em .8em;opacity:.85;overflow-wrap:anywhere"


def note_html(text: str) -> str:
    """A small line of text, safe to show whatever is in it."""
    return f'<div style="{NOTE_STYLE}">{escape(text)}</div>'


def list_html(lines: Sequence[str]) -> str:
    """A small line of text, and those that follow from it as a list below."""
    first, *rest = lines
    points = "".join(f"<li>{escape(line)}</li>" for line in rest)
    return note_html(first) + (f'<ul style="{NOTE_STYLE};margin:0 0 0 1.2em">{points}</ul>' if points else "")
