"""The studio on a server: every tab that is opened gets an arm, a state and panels of its own."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from armdyn.html import style
from armdyn.model.arm import Arm
from armdyn.studio.drawing.camera import first_view
from armdyn.studio.drawing.shapes import PAINT
from armdyn.studio.drawing.subject import DrawnArm
from armdyn.studio.drawing.urdf_shapes import Visuals
from armdyn.studio.state import ArmState, first_state
from armdyn.studio.tab import PANEL_PX, Tab
from armdyn.studio.uploads import bound_uploads

if TYPE_CHECKING:
    from viser import ClientHandle, ViserServer

# viser's panels keep their widths in narrow windows, and on phones it lays all of them into a sheet over the lower
# right of the picture. Here they shrink with the window; the sheet is as wide as the page and the picture ends where
# it begins, unless it is folded away.
SCREENS = Path(__file__).with_name("screens.css")


class Studio:
    """The tabs on a running server.

    Tabs do not touch each other. One that is opened after another was closed, as by reloading the page, goes on with
    what that showed.

    Parameters
    ----------
    server : ViserServer
    arm : Arm
        That a tab shows first.
    visuals : Visuals, optional
        Bodies of the arm's file.
    local : bool
        Whether only this machine can reach it, so that paths of files may be typed.
    word : str
        By which the arm was chosen: a library name or a file.
    """

    def __init__(
        self, server: ViserServer, arm: Arm, visuals: Visuals | None = None, local: bool = True, word: str = ""
    ) -> None:
        self.server, self._local = server, local
        self.tabs: dict[int, Tab] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="armdyn-studio-")  # of arms that are uploaded
        self._lock = threading.Lock()
        self._closed = False
        subject = DrawnArm(arm, word or arm.name, visuals)
        self._next = (subject, first_state(arm, subject.home))  # what the next tab begins with
        server.gui.configure_theme(brand_color=PAINT["joint"], show_logo=False, show_share_button=False)
        server.scene.world_axes.visible = False
        server.gui.main_panel.dock_right()
        server.gui.main_panel.set_width(PANEL_PX)
        server.gui.add_html(style(SCREENS))
        first_view(subject.room, self._next[1].links).apply(server.initial_camera, "up")
        server.on_client_connect(self._open)
        server.on_client_disconnect(self._leave)

    def rest_at(self, q: ArrayLike) -> None:
        """Put the arm at rest at a posture (n,), in all tabs that show it and those opened later."""
        with self._lock:
            subject, start = self._next
            moved = ArmState(start)
            moved.rest_at(q)
            self._next = subject, moved.now
            tabs = [tab for tab in self.tabs.values() if tab.subject is subject]
        for tab in tabs:
            tab.state.rest_at(q)

    def __enter__(self) -> Studio:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End what runs in the background; the server is its owner's to stop."""
        with self._lock:
            self._closed = True
            tabs = list(self.tabs.values())
            self.tabs.clear()
        for tab in tabs:
            tab.close()
        self._folder.cleanup()

    def _open(self, client: ClientHandle) -> None:
        bound_uploads(client)
        subject, start = self._next
        tab = Tab(client, subject, start, Path(self._folder.name), self._local)
        with self._lock:
            gone = self._closed or client.client_id not in self.server.get_clients()
            if not gone:
                self.tabs[client.client_id] = tab
        if gone:  # while it was built
            tab.close()

    def _leave(self, client: ClientHandle) -> None:
        with self._lock:
            tab = self.tabs.pop(client.client_id, None)
            if tab is not None:
                self._next = tab.subject, tab.state.now
        if tab is not None:
            tab.close()
