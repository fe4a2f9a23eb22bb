"""One slider per joint, within its limits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.model.joint import Joint
from armdyn.studio.page import Page
from armdyn.studio.state import StudioState, slider_range

SLIDER_STEP = 0.1  # of a slider [deg or mm]


def per_unit(joint: Joint) -> tuple[float, str]:
    """Return how many units of its slider a rad or m has, and their name."""
    return (180 / np.pi, "deg") if joint.kind == "revolute" else (1e3, "mm")


def slider_span(lower: float, upper: float) -> tuple[float, float]:
    """Ends of a slider on its steps: within the limits, or around them where no step lies between."""
    first, last = np.ceil(lower / SLIDER_STEP) * SLIDER_STEP, np.floor(upper / SLIDER_STEP) * SLIDER_STEP
    if not first < last:
        first = np.floor(lower / SLIDER_STEP) * SLIDER_STEP
        last = max(np.ceil(upper / SLIDER_STEP) * SLIDER_STEP, first + SLIDER_STEP)
    return round(float(first), 1), round(float(last), 1)


class JointPanel:
    """Sliders that move the arm and follow it."""

    def __init__(self, page: Page, home: NDArray) -> None:
        self.page = page
        arm = page.state.arm
        self._scale = np.array([per_unit(joint)[0] for joint in arm.coordinate_joints])
        self.sliders = [self._slider(i, joint, home[i]) for i, joint in enumerate(arm.coordinate_joints)]
        hint = "Joints at zero or in the middle of their range, turned where links would overlap"
        self.home = page.gui.add_button("Home", icon="home", hint=hint)
        self.home.on_click(page.answer(lambda event: self._rest_at(home)))
        random = page.gui.add_button("Random posture", icon="dice-3")
        random.on_click(page.answer(lambda event: self._rest_at(np.random.default_rng().uniform(*slider_range(arm)))))
        page.state.on_change(self.follow)

    def follow(self, state: StudioState) -> None:
        """Set the sliders to where the joints are."""
        for slider, value in zip(self.sliders, self._scale * state.moment.q, strict=True):
            # Rounded as the slider itself does it, or its own moves would come back to it.
            slider.value = round(float(np.clip(value, slider.min, slider.max)), 1)

    def _slider(self, i: int, joint: Joint, home: float) -> Any:
        scale, unit = per_unit(joint)
        arm = self.page.state.arm
        lower, upper = slider_span(*(float(x[i] * scale) for x in slider_range(arm)))
        start = round(float(np.clip(home * scale, lower, upper)), 1)
        slider = self.page.gui.add_slider(f"{joint.name} [{unit}]", lower, upper, SLIDER_STEP, start)
        slider.on_update(self.page.answer(lambda event: self._moved(i, event.target.value / scale)))
        return slider

    def _moved(self, i: int, value: float) -> None:
        self.page.player.pause()
        self.page.state.move_joint(i, value)

    def _rest_at(self, q: Any) -> None:
        self.page.player.pause()
        self.page.state.rest_at(q)
