"""Make the pictures of README and docs again: `python docs/images/make.py`."""

from pathlib import Path

from armdyn.cli.demo import make_scene
from armdyn.cli.demo_picture import draw

if __name__ == "__main__":
    here = Path(__file__).parent
    draw(make_scene(here), here / "demo.png", dpi=75)
