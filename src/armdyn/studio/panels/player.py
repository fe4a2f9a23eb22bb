"""Play, pause and time of whatever motion is loaded."""

from __future__ import annotations

from armdyn.studio.motion import PlayedMotion
from armdyn.studio.page import Page, note_html, update
from armdyn.studio.state import StudioState

SPEEDS = {"1/4": 0.25, "1/2": 0.5, "1": 1.0, "2": 2.0, "4": 4.0}
SLIDER_STEP_S = 0.01  # [s]


class PlayerPanel:
    """The controls of a player."""

    def __init__(self, page: Page) -> None:
        self.page, self.player = page, page.player
        self.title = page.gui.add_html(note_html("Nothing to play yet: load a log, compare controllers or excite."))
        self.button = page.gui.add_button("Play", icon="player-play", disabled=True)
        self.time = page.gui.add_slider("Time [s]", 0.0, 1.0, SLIDER_STEP_S, 0.0, disabled=True)
        self.speed = page.gui.add_dropdown("Speed", tuple(SPEEDS), initial_value="1")
        self.button.on_click(page.answer(lambda event: self.toggle()))
        self.time.on_update(page.answer(lambda event: self._seek(event.target.value)))
        self.speed.on_update(page.answer(lambda event: self._set_speed(event.target.value)))
        self._shown: PlayedMotion | None = None
        page.state.on_change(self.follow)

    def toggle(self) -> None:
        """Play or pause."""
        if self.player.playing:
            self.player.pause()
        else:
            self.player.play()
        self._label()

    def follow(self, state: StudioState) -> None:
        """Move the time's slider along."""
        if state.motion is not None and state.motion is not self._shown:
            self._shown = state.motion
            self._loaded(state.motion)
        if state.moment.time is not None:
            self.time.value = round(min(state.moment.time, self.time.max), 2)
        self._label()

    def _loaded(self, motion: PlayedMotion) -> None:
        self.title.content = note_html(f"{motion.name}, {motion.duration:.1f} s")
        self.time.max = max(round(motion.duration, 2), SLIDER_STEP_S)
        self.time.disabled = self.button.disabled = False

    def _seek(self, t: float) -> None:
        self.player.pause()
        self.player.seek(t)

    def _set_speed(self, name: str) -> None:
        self.player.speed = SPEEDS[name]

    def _label(self) -> None:
        label = "Pause" if self.player.playing else "Play"
        update(self.button, label=label, icon=f"player-{label.lower()}")
