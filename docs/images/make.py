"""Make the pictures of README and docs again: `python docs/images/make.py` (pages need Chromium and playwright)."""

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from armdyn import arms
from armdyn.cli.demo import study
from armdyn.cli.demo.picture import draw

HERE = Path(__file__).parent
# The demo designs its motions by the clock; here it has longer, so that a busy machine draws what a free one does.
DESIGN_S = 10.0
PROGRAM = f"from armdyn.cli.demo import study; study.DESIGN_S = {DESIGN_S}; from armdyn.cli.app import main; main()"
# Pages by the command that writes them, and their size in pixels.
PAGES = {
    "demo_report.png": ("demo --out {folder}", "report.html", (720, 1130)),
    "compare_page.png": ("compare puma560 --report {folder}/compare.html", "compare.html", (992, 1190)),
}


def photograph(page: Path, size: tuple[int, int], picture: Path) -> None:
    """The first screen of a page."""
    with sync_playwright() as engine:
        browser = engine.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-background-networking"]
        )
        tab = browser.new_page(viewport={"width": size[0], "height": size[1]})
        tab.goto(page.as_uri())
        shot = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
        shot.quantize(256, Image.Quantize.MAXCOVERAGE).save(picture, optimize=True)  # small spots keep their colours
        browser.close()


if __name__ == "__main__":
    study.DESIGN_S = DESIGN_S
    draw(study.DemoStudy(arms.puma560()), HERE / "demo.png", dpi=75)
    for name, (command, page, size) in PAGES.items():
        with tempfile.TemporaryDirectory() as folder:
            words = [sys.executable, "-c", PROGRAM, *command.format(folder=folder).split()]
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
            photograph(Path(folder) / page, size, HERE / name)
