"""Make the pictures of docs/studio.md again: `python docs/images/studio.py` (needs Chromium and playwright)."""

from __future__ import annotations

import io
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

from armdyn import Log, arms, joint_torque
from armdyn.studio import Studio, address, start_server, stop_server

HERE = Path(__file__).parent
OBSTACLES = """
[[box]]
name = "cabinet"
center = [0.75, 0.35, -0.35]
size = [0.3, 0.5, 0.6]

[[sphere]]
name = "lamp"
center = [0.2, -0.6, 0.75]
radius = 0.12
"""


def swing() -> Log:
    """Twelve seconds of a PUMA 560 that is 15 % heavier than its description."""
    arm = arms.puma560()
    t = np.arange(0, 12, 0.005)
    w = 2 * np.pi * np.array([0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    x = t[:, None] * w
    q = 0.5 * np.sin(x) + 0.2 * np.sin(2.3 * x)
    qd = w * (0.5 * np.cos(x) + 0.46 * np.cos(2.3 * x))
    qdd = -(w**2) * (0.5 * np.sin(x) + 0.2 * 2.3**2 * np.sin(2.3 * x))
    tau = joint_torque(arm.with_theta(1.15 * arm.theta), q, qd, qdd)
    return Log(t, q, tau + 0.05 * np.random.default_rng(0).normal(size=q.shape), qd, "swing.csv")


def compare(page: Any, tab: Any) -> None:
    """Adaptive control of an unknown load."""
    page.get_by_role("tab", name="Control", exact=True).click()
    tab.compare.job.start()
    tab.compare.job.job.join()
    tab.page.player.pause()
    tab.page.player.seek(6.0)


def identify(page: Any, tab: Any) -> None:
    """A log, the arm identified from it, and what stands around."""
    page.get_by_role("tab", name="Log", exact=True).click()
    tab.log.load(swing())
    tab.identify.job.start()
    tab.identify.job.job.join()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "room.toml"
        path.write_text(OBSTACLES)
        tab.around.open(path)
    tab.scene.set_shown("centres", True)
    tab.page.player.seek(4.0)


PICTURES: dict[str, Callable[[Any, Any], None]] = {"studio.png": compare, "studio_log.png": identify}


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
    picture.convert("RGB").quantize(128).save(HERE / name, optimize=True)
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
