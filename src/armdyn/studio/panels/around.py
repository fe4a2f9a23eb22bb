"""What stands around the arm: the height of the floor, and obstacles from a file."""

from __future__ import annotations

from pathlib import Path

from armdyn.shapes.obstacles import read_obstacles
from armdyn.studio.page import FileChoice, Page, note_html, update
from armdyn.studio.reading import hidden_folder
from armdyn.studio.state import StudioState


class AroundPanel:
    """Floor and obstacles, which are drawn, and kept clear of by exciting motions."""

    def __init__(self, page: Page) -> None:
        self.page = page
        gui, state = page.gui, page.state.now
        self.own = gui.add_checkbox(
            "Set the floor", state.floor is not None, hint="If off, the floor is that of the arm's description"
        )
        self.height = gui.add_number("Floor height z [m]", state.floor or 0.0, step=0.01, hint="In base axes")
        self.choice = FileChoice(page, "Load obstacles", "TOML: [[box]], [[half_space]], [[sphere]]", self.open)
        self.clear = gui.add_button("Remove the obstacles", icon="trash", visible=False)
        self.about = gui.add_html("")
        self.own.on_update(page.answer(lambda event: self._set_floor()))
        self.height.on_update(page.answer(lambda event: self._set_floor()))
        self.clear.on_click(page.answer(lambda event: page.state.change(obstacles=())))
        page.state.on_change(self.follow)

    def open(self, path: Path) -> None:
        """Read obstacles from a file."""
        with hidden_folder(path):
            self.page.state.change(obstacles=read_obstacles(path))

    def follow(self, state: StudioState) -> None:
        """Say what is there."""
        plane = state.plane
        lines = ["The mounting plane is unknown; set the floor."] if plane is None else [f"Mounted on: {plane.name}."]
        names = ", ".join(obstacle.name for obstacle in state.obstacles)
        update(self.about, content=note_html(" ".join([*lines, f"Obstacles: {names or 'none'}."])))
        update(self.clear, visible=bool(state.obstacles))

    def _set_floor(self) -> None:
        self.page.state.change(floor=float(self.height.value) if self.own.value else None)
