"""One tab of a browser: its own arm, state and panels."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from armdyn.frozen import PartOf
from armdyn.studio.drawing.scene import ArmScene
from armdyn.studio.drawing.subject import DrawnArm
from armdyn.studio.page import Page
from armdyn.studio.panels.arm import ArmPanel
from armdyn.studio.panels.around import AroundPanel
from armdyn.studio.panels.calibrate import CalibratePanel
from armdyn.studio.panels.clearance import ClearanceReadout
from armdyn.studio.panels.compare import ComparePanel
from armdyn.studio.panels.curves import CurvesPanel
from armdyn.studio.panels.excite import ExcitePanel
from armdyn.studio.panels.export import ExportPanel
from armdyn.studio.panels.identify import IdentifyPanel
from armdyn.studio.panels.joint import JointPanel
from armdyn.studio.panels.log import LogPanel
from armdyn.studio.panels.player import PlayerPanel
from armdyn.studio.panels.tip import TipHandle, TipReadout
from armdyn.studio.panels.torque import TorquePanel
from armdyn.studio.panels.view import ViewPanel
from armdyn.studio.player import Player
from armdyn.studio.state import ArmState, StudioState, first_state

if TYPE_CHECKING:
    from viser import ClientHandle

PANEL_PX = 430  # width, for all tabs in a row


class Tab:
    """The panels of one client; `show` builds them anew for another arm."""

    def __init__(
        self, client: ClientHandle, subject: DrawnArm, start: StudioState, uploads: Path, local: bool = True
    ) -> None:
        self.client, self._uploads, self._local = client, uploads, local
        self._folder = tempfile.TemporaryDirectory(prefix="armdyn-studio-")
        self._build(subject, start)
        client.camera.on_update(lambda camera: self.scene.fit())  # the panels come in after the first picture

    def show(self, subject: DrawnArm) -> None:
        """Go on with another arm, as described."""
        self.page.close()
        self.client.gui.reset()
        self.client.scene.reset()
        self._build(subject, first_state(subject.arm, subject.home))

    def close(self) -> None:
        """End what runs in the background, and forget the logs that were uploaded."""
        self.page.close()
        self._folder.cleanup()

    state = PartOf[ArmState]("page.state", "State that it shows.")

    def _build(self, subject: DrawnArm, start: StudioState) -> None:
        state = ArmState(start)
        self.subject = subject
        self.page = Page(self.client, state, Player(state), Path(self._folder.name), self._uploads, self._local)
        self.scene = ArmScene(self.client, state, subject)
        with self.client.atomic():
            self._left()
            self._right()

    def _left(self) -> None:
        """Build the panels of what is true at this moment: tip, torques, time."""
        gui, page = self.page.gui, self.page
        panel = gui.add_panel()
        panel.dock_left()
        panel.set_width(PANEL_PX)
        with panel.add_tab(self.subject.arm.name, "gauge"):
            self.tip = TipReadout(page)
            self.clearance = ClearanceReadout(page, self.subject)
            with gui.add_folder("Torques"):
                self.torques = TorquePanel(page)
            with gui.add_folder("Play"):
                self.player = PlayerPanel(page)

    def _right(self) -> None:
        """Build the panels of what can be done, a tab each."""
        tabs, gui, page = self.page.gui.add_tab_group(), self.page.gui, self.page
        with tabs.add_tab("Pose"):
            with gui.add_folder("Joints"):
                self.joints = JointPanel(page, self.subject.home)
            with gui.add_folder("Tip"):
                self.handle = TipHandle(page, self.subject.room.extent)
        with tabs.add_tab("Arm"):
            self.arm = ArmPanel(page, self.subject, self.show)
            with gui.add_folder("Show"):
                self.view = ViewPanel(page, self.scene)
            with gui.add_folder("Floor and obstacles"):
                self.around = AroundPanel(page)
        with tabs.add_tab("Log"):
            self.log = LogPanel(page)
            self.identify = IdentifyPanel(page)
            self.curves = CurvesPanel(page)
        with tabs.add_tab("Calibrate"):
            self.calibrate = CalibratePanel(page)
        with tabs.add_tab("Control"):
            self.compare = ComparePanel(page)
        with tabs.add_tab("Excite"):
            self.excite = ExcitePanel(page)
        with tabs.add_tab("Export"):
            self.export = ExportPanel(page)
