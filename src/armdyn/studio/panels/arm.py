"""Choose an arm: from the library, or from a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from armdyn.model.named import library_names
from armdyn.studio.drawing.subject import DrawnArm, open_subject
from armdyn.studio.page import FileChoice, Page, note_html
from armdyn.studio.reading import hidden_folder

OTHER = "from a file"
KINDS = "URDF, xacro, MJCF (.xml), TOML, or a DH table (.csv)"


class ArmPanel:
    """A list of the library's arms, files, and what was not understood of the present one."""

    def __init__(self, page: Page, subject: DrawnArm, show: Callable[[DrawnArm], None]) -> None:
        self.page, self._subject, self._show = page, subject, show
        gui, known = page.gui, library_names()
        here = subject.word if subject.word in known else OTHER
        self.library = gui.add_dropdown("Arm", known if here != OTHER else (OTHER, *known), initial_value=here)
        self.library.on_update(page.answer(lambda event: self._chosen(event.target.value)))
        with gui.add_folder("From a file", expand_by_default=False):
            self.base = gui.add_text("Base link", "", hint="First link of the chain; empty: the root")
            self.tip = gui.add_text("Tip link", "", hint="Last link of the chain; empty: the only one there is")
            self.choice = FileChoice(page, "Open an arm", KINDS, self.open, page.uploads)
        gui.add_html(about_html(subject))

    def open(self, path: Path) -> None:
        """Go on with the arm of a file."""
        with hidden_folder(path):
            subject = open_subject(str(path), self.base.value.strip() or None, self.tip.value.strip() or None)
        self._show(subject)

    def _chosen(self, word: str) -> None:
        if word not in (OTHER, self._subject.word):
            self._show(open_subject(word))


def about_html(subject: DrawnArm) -> str:
    """The arm in a line, and what could not be drawn of it: how much, and the first reason."""
    arm = subject.arm
    name = "" if arm.name == subject.word else f", '{Path(subject.word).name}'"
    lines = [f"{arm.name}{name}: {arm.n_joints} joints, capsules from {subject.bodies.origin}."]
    notes = () if subject.visuals is None else subject.visuals.notes
    if notes:
        lines.append(f"{len(notes)} bodies are drawn plainly; the first: {notes[0]}")
    return "".join(note_html(line) for line in lines)
