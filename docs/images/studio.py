"""Make the pictures of docs/studio.md again: `python docs/images/studio.py` (needs Chromium and playwright)."""

from __future__ import annotations

import io
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from armdyn import arms
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


PICTURES: dict[str, Callable[[Any, Any], None]] = {"studio.png": compare, "studio_room.png": surround}


def draw(browser: Any, studio: Studio, name: str) -> None:
    """One picture, in a tab of its own."""
    page = browser.new_page(viewport={"width": 1280, "height": 860})
    page.set_default_timeout(120_000)
    page.goto(address(studio.server, "127.0.0.1"))
    page.wait_for_selector("#tip-pose")
    page.locator(".mantine-Notification-closeButton").first.click()
    (tab,) = studio.tabs.values()
    PICTURES[name](page, tab)
    time.sleep(8)  # software rendering is slow
    picture = Image.open(io.BytesIO(page.screenshot(timeout=120_000)))
    picture.convert("RGB").quantize(256).save(HERE / name, optimize=True)
    page.close()
    while studio.tabs:
        time.sleep(0.1)


if __name__ == "__main__":
    options = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        for name in PICTURES:
            server = start_server(port=0)
            with Studio(server, arms.puma560()) as studio:
                draw(browser, studio, name)
            stop_server(server)
        browser.close()
