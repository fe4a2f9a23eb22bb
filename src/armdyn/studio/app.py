"""The whole page, put together from its panels."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from armdyn.model.arm import Arm
from armdyn.studio.drawing.scene import ArmScene
from armdyn.studio.drawing.shapes import Shape, arm_shapes, pedestal
from armdyn.studio.drawing.urdf_shapes import MeshShape, Visuals, urdf_shapes
from armdyn.studio.page import Page, note_html
from armdyn.studio.panels.compare import ComparePanel
from armdyn.studio.panels.excite import ExcitePanel
from armdyn.studio.panels.export import ExportPanel
from armdyn.studio.panels.joint import JointPanel
from armdyn.studio.panels.log import LogPanel
from armdyn.studio.panels.player import PlayerPanel
from armdyn.studio.panels.tip import TipHandle, TipReadout
from armdyn.studio.panels.torque import TorquePanel
from armdyn.studio.panels.view import ViewPanel
from armdyn.studio.player import Player
from armdyn.studio.state import ArmState

if TYPE_CHECKING:
    from viser import ViserServer

BRAND = (38, 98, 168)
RIGHT, LEFT = 400, 380  # widths of the panels [px]


class Studio:
    """The page of one arm on a running server."""

    def __init__(self, server: ViserServer, arm: Arm, visuals: Visuals | None = None, local: bool = True) -> None:
        state, self.visuals = ArmState(arm), visuals
        self.page = Page(server, state, Player(state), local)
        server.gui.configure_theme(brand_color=BRAND, show_logo=False, show_share_button=False)
        server.gui.main_panel.dock_right()
        server.gui.main_panel.set_width(RIGHT)
        self.scene = ArmScene(server, state, bodies(arm, visuals))
        self._left()
        self._right()

    def adopt(self, arm: Arm) -> None:
        """Go on with other parameters of the same arm."""
        self.page.state.adopt(arm)
        self.scene.show_inertia(arm)

    def __enter__(self) -> Studio:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End what runs in the background; the server is its owner's to stop."""
        self.page.close()

    def _left(self) -> None:
        """What is true at this moment: tip, torques, time."""
        gui = self.page.gui
        panel = gui.add_panel()
        panel.dock_left()
        panel.set_width(LEFT)
        with panel.add_tab(f"{self.page.state.arm.name}", "gauge"):
            self.tip = TipReadout(self.page)
            with gui.add_folder("Torques"):
                self.torques = TorquePanel(self.page)
            with gui.add_folder("Play"):
                self.player = PlayerPanel(self.page)
            for note in [] if self.visuals is None else self.visuals.notes[:3]:
                gui.add_html(note_html(note))

    def _right(self) -> None:
        """What can be done, a tab each."""
        tabs, gui, page = self.page.gui.add_tab_group(), self.page.gui, self.page
        with tabs.add_tab("Pose", "robot"):
            with gui.add_folder("Joints"):
                self.joints = JointPanel(page)
            with gui.add_folder("Tip"):
                self.handle = TipHandle(page)
            with gui.add_folder("Show"):
                self.view = ViewPanel(page, self.scene)
        with tabs.add_tab("Log", "chart-line"):
            self.log = LogPanel(page, self.adopt)
        with tabs.add_tab("Control", "adjustments"):
            self.compare = ComparePanel(page)
        with tabs.add_tab("Excite", "wave-sine"):
            self.excite = ExcitePanel(page)
        with tabs.add_tab("Export", "download"):
            self.export = ExportPanel(page, None if self.visuals is None else self.visuals.source)


def bodies(arm: Arm, visuals: Visuals | None) -> list[Shape | MeshShape]:
    """What the URDF shows; simple bodies for the links of which it shows nothing."""
    drawn = [] if visuals is None else visuals.shapes
    shown = {shape.link for shape in drawn}
    return [*drawn, *(shape for shape in arm_shapes(arm) if shape.link not in shown), *pedestal(arm)]


def visuals_of(path: str | os.PathLike[str], arm: Arm, base: str | None, tip: str | None) -> Visuals | None:
    """The visual elements of a file; None where it can have none."""
    return urdf_shapes(path, arm, base, tip) if Path(path).suffix.lower() == ".urdf" else None
