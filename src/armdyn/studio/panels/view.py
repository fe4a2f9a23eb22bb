"""What is drawn besides the arm: frames, centres of mass and inertia before and after, collision capsules."""

from __future__ import annotations

from armdyn.studio.drawing.scene import ArmScene
from armdyn.studio.page import Page, note_html


class ViewPanel:
    """Toggles of the scene."""

    def __init__(self, page: Page, scene: ArmScene) -> None:
        gui = page.gui
        known = bool(scene.centres)
        self.ellipsoids = gui.add_checkbox("Inertia ellipsoids", False, disabled=not known)
        self.centres = gui.add_checkbox("Centres of mass", False, disabled=not known)
        self.before = gui.add_checkbox(
            "Described in grey", True, disabled=not known,
            hint="After identification: the described centres and ellipsoids beside the identified ones",
        )  # fmt: skip
        self.frames = gui.add_checkbox("Link frames", False)
        self.capsules = gui.add_checkbox(
            "Collision capsules",
            False,
            hint="Bodies that exciting motions keep off the floor and apart from each other",
        )
        if not known:
            gui.add_html(note_html("The arm's inertia is not known."))
        self.ellipsoids.on_update(page.answer(lambda event: scene.set_shown("ellipsoids", event.target.value)))
        self.centres.on_update(page.answer(lambda event: scene.set_shown("centres", event.target.value)))
        self.before.on_update(page.answer(lambda event: scene.set_shown("before", event.target.value)))
        self.capsules.on_update(page.answer(lambda event: scene.set_capsules(event.target.value)))
        self.frames.on_update(page.answer(lambda event: scene.set_frames(event.target.value)))
