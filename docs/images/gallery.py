"""Make the pictures of the gallery again: `python docs/images/gallery.py` runs the examples that draw them."""

import runpy
import tempfile
from contextlib import chdir
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
WIDTH = 560  # pixels
# Examples by number, and the file that each writes.
PICTURES = {
    "52_wall": "wall.png",
    "53_follow_a_surface": "surface.png",
    "54_collision": "collision.png",
    "55_elastic_joint": "elastic.png",
    "56_learning": "learning.png",
    "57_predictive": "predictive.png",
    "58_time_optimal": "time_optimal.png",
    "59_sliding_mode": "sliding_mode.png",
}


def shrink(path: Path, picture: Path) -> None:
    """A picture for a card."""
    image = Image.open(path).convert("RGB")
    size = (WIDTH, round(image.height * WIDTH / image.width))
    image.resize(size, Image.Resampling.LANCZOS).quantize(64).save(picture, optimize=True)


if __name__ == "__main__":
    for example, name in PICTURES.items():
        with tempfile.TemporaryDirectory() as folder, chdir(folder):
            runpy.run_path(str(EXAMPLES / f"{example}.py"), run_name="__main__")
            shrink(Path(name), HERE / f"example_{name}")
