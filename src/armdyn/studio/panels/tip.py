"""The tip's pose, and a handle in the scene that pulls the arm along."""

from __future__ import annotations

import asyncio
from typing import Any

from armdyn.studio.jobs import sentence
from armdyn.studio.latest import Latest
from armdyn.studio.page import Page, note_html, update
from armdyn.studio.state import StudioState
from armdyn.studio.tip import frame_choices, handle_pose, pose_html, reach_for

ORIENTING_JOINTS = 6  # joints from which an arm can have any orientation


class TipReadout:
    """The pose in words."""

    def __init__(self, page: Page) -> None:
        self.html = page.gui.add_html("")
        page.state.on_change(self.follow)

    def follow(self, state: StudioState) -> None:
        """Say where the tip is."""
        self.html.content = pose_html(state.frame or state.arm.tip_name, state.tip)


class TipHandle:
    """Arrows and rings at the tip; the arm follows them as far as it can."""

    def __init__(self, page: Page, extent: float) -> None:
        self.page = page
        arm = page.state.arm
        self.dragged = False
        self.show = page.gui.add_checkbox("Drag handle", True, hint="Arrows and rings that pull the arm along")
        self.turn = page.gui.add_checkbox(
            "Hold orientation",
            arm.n >= ORIENTING_JOINTS,
            hint="Reach the handle's orientation too, not its place alone",
        )
        if not arm.is_chain or arm.frames:
            names = (arm.tip_name, *(name for name in frame_choices(arm) if name != arm.tip_name))
            self.frame = page.gui.add_dropdown("Frame", names, hint="Frame that is shown and pulled")
            tip = arm.tip_name
            self.frame.on_update(page.answer(lambda event: self._choose(event.target.value, tip)))
        self.status = page.gui.add_html("")
        self.handle = page.client.scene.add_transform_controls(
            "/tip handle", scale=0.25 * extent, line_width=3.0, depth_test=False, opacity=0.85
        )
        self._latest = Latest(self._pull)
        self.handle.on_update(self._on_drag)
        self.show.on_update(page.answer(lambda event: update(self.handle, visible=event.target.value)))
        page.state.on_change(self.follow)

    def follow(self, state: StudioState) -> None:
        """Stay at the tip, except in a person's hand."""
        if not self.dragged:
            self.handle.position, self.handle.wxyz = handle_pose(state.tip)

    def _choose(self, name: str, tip: str) -> None:
        self.page.state.change(frame=None if name == tip else name)

    async def _on_drag(self, event: Any) -> None:
        # Only on the event loop do start, update and end keep their order; the work itself would block it.
        self.dragged = event.phase != "end"
        await asyncio.to_thread(self._answer, (event.target.position, event.target.wxyz))

    def _answer(self, pose: tuple[Any, Any]) -> None:
        self.page.player.pause()
        self._latest(pose)
        self.follow(self.page.state.now)

    def _pull(self, pose: tuple[Any, Any]) -> None:
        state = self.page.state
        try:
            solution = reach_for(state.arm, *pose, state.moment.q, bool(self.turn.value), state.now.frame)
            state.rest_at(solution.q)
            self.status.content = "" if solution.success else note_html(f"Handle: {solution.message}.")
        except Exception as error:
            self.status.content = note_html(sentence(error))
