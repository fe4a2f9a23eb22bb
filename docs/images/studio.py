"""Make the pictures of the studio again: `python docs/images/studio.py [NAME ...]` (needs Chromium and playwright)."""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from armdyn import Arm, arms
from armdyn.studio import Studio, address, start_server, stop_server

HERE = Path(__file__).parent
OBSTACLES = """
[[box]]
name = "cabinet"
center = [0.7, 0.3, 0.0]
size = [0.3, 0.5, 0.6]

[[half_space]]
name = "wall"
point = [-0.8, 0.0, 0.0]
normal = [1.0, 0.0, 0.0]

[[sphere]]
name = "lamp"
center = [0.3, -0.5, 0.7]
radius = 0.15
"""


def compare(page: Any, tab: Any) -> None:
    """Adaptive control of an unknown load."""
    page.get_by_role("tab", name="Control", exact=True).click()
    tab.compare.job.start()
    tab.compare.job.job.join()
    tab.page.player.pause()
    tab.page.player.seek(6.0)


def surround(page: Any, tab: Any) -> None:
    """Table, obstacles and collision capsules."""
    page.get_by_role("tab", name="Arm", exact=True).click()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "room.toml"
        path.write_text(OBSTACLES)
        tab.around.open(path)
    tab.scene.set_capsules(True)


def pull_hand(page: Any, tab: Any) -> None:
    """Two arms over a table, one of whose hands the handle pulls."""
    tab.state.rest_at([0.3, -0.6, 0.5, 0.0, 0.6, 0.0, 0.03, -0.2, -0.3, 0.2, 0.5, 0.4, 0.0, 0.03])
    tab.handle.frame.value = "right_hand"
    tab.state.pull_at("right_hand")
    look(tab, (-0.5, -1.9, 1.1), (0.0, 0.0, 0.25))


def lift_beam(page: Any, tab: Any) -> None:
    """A parallelogram: the rod turns the forearm, and the hand stays level."""
    tab.state.rest_at([0.3, -1.1, 0.25, 0.0])
    look(tab, (0.6, -4.6, 2.2), (1.0, 0.0, 0.8))


def look(tab: Any, position: tuple[float, ...], at: tuple[float, ...]) -> None:
    """Move the camera."""
    tab.client.camera.position, tab.client.camera.look_at = position, at


PICTURES: dict[str, tuple[Callable[[], Arm], Callable[[Any, Any], None]]] = {
    "studio": (arms.puma560, compare),
    "studio_room": (arms.puma560, surround),
    "studio_two_arms": (arms.two_arms, pull_hand),
    "studio_palletizer": (arms.palletizer, lift_beam),
}


def draw(browser: Any, studio: Studio, name: str) -> None:
    """One picture, in a tab of its own."""
    page = browser.new_page(viewport={"width": 1280, "height": 860})
    page.set_default_timeout(120_000)
    page.goto(address(studio.server, "127.0.0.1"))
    page.wait_for_selector("#tip-pose")
    page.locator(".mantine-Notification-closeButton").first.click()
    (tab,) = studio.tabs.values()
    PICTURES[name][1](page, tab)
    time.sleep(8)  # software rendering is slow
    picture = Image.open(io.BytesIO(page.screenshot(timeout=120_000)))
    picture.convert("RGB").quantize(256).save(HERE / f"{name}.png", optimize=True)
    page.close()
    while studio.tabs:
        time.sleep(0.1)


if __name__ == "__main__":
    options = [
        "--no-sandbox",
        "--disable-background-networking",
        "--use-angle=swiftshader",
        "--enable-unsafe-swiftshader",
    ]
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        for name in sys.argv[1:] or PICTURES:
            server = start_server(port=0)
            with Studio(server, PICTURES[name][0]()) as studio:
                draw(browser, studio, name)
            stop_server(server)
        browser.close()
