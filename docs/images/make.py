"""Make the pictures of README and docs again: `python docs/images/make.py`."""

from pathlib import Path

from armdyn import arms
from armdyn.cli.demo.picture import draw
from armdyn.cli.demo.study import Study

if __name__ == "__main__":
    draw(Study(arms.puma560()), Path(__file__).parent / "demo.png", dpi=75)
