"""Damaged URDFs, two thousand by night: each gives an arm or an armdyn error, soon."""

from __future__ import annotations

import random
import re
import time
import warnings

import pytest

from armdyn import Arm
from armdyn.errors import ArmdynError
from armdyn.model.urdf.read import read_urdf
from armdyn.model.urdf.write import write_urdf

NUMBERS = ("0", "-1", "nan", "inf", "1e308", "-1e-320", "1e60", "", "x", "0x1", "9" * 400, "1 2", "\u0661")
WORDS = ("", "world", "fixed", "revolute", "floating", "planar", "shoulder", "upper", "x" * 5000, "&lt;", "\u00fc")


def damage(text: str, rng: random.Random) -> str:
    """One or two random changes of characters, numbers, words, tags or whole elements."""
    for _ in range(rng.randint(1, 2)):
        kind = rng.randrange(7)
        if kind == 0:  # a character
            i = rng.randrange(len(text))
            text = (
                text[:i] + chr(rng.choice((0, 9, 34, 38, 60, 62, 255, 0x20AC, rng.randrange(32, 127)))) + text[i + 1 :]
            )
        elif kind == 1:  # cut off
            text = text[: rng.randrange(1, len(text))] if rng.random() < 0.3 else text
        elif kind == 2:  # a stretch moved elsewhere, or doubled
            i, j = sorted(rng.randrange(len(text)) for _ in range(2))
            k = rng.randrange(len(text))
            text = text[:k] + text[i : min(j, i + 300)] + text[k:]
        elif kind == 3:  # a number
            text = replaced(text, r"-?\d+\.?\d*(?:e-?\d+)?", rng.choice(NUMBERS), rng)
        elif kind == 4:  # a value
            text = replaced(text, r'"[^"]*"', f'"{rng.choice(WORDS)}"', rng)
        elif kind == 5:  # an attribute or empty element removed
            text = replaced(text, r'\w+="[^"]*"|<\w+[^<>]*/>', "", rng)
        else:  # an element doubled or removed
            text = replaced(text, r"(?s)<(link|joint|inertial)\b.*?</\1>", rng.choice(("", r"\g<0>\g<0>")), rng)
    return text


def replaced(text: str, pattern: str, new: str, rng: random.Random) -> str:
    """`text` with one random match of `pattern` replaced."""
    found = list(re.finditer(pattern, text))
    if not found:
        return text
    match = rng.choice(found)
    return text[: match.start()] + match.expand(new.replace("\\u", "")) + text[match.end() :]


@pytest.fixture(scope="module")
def seeds(tmp_path_factory):
    """Texts to damage, each with a tip: a plain URDF, and one with the extension."""
    from pathlib import Path

    folder = Path(__file__).parents[1] / "data" / "urdf"
    written = tmp_path_factory.mktemp("fuzz") / "written.urdf"
    write_urdf(read_urdf(folder / "slider.urdf"), written)
    return [((folder / "gripper.urdf").read_text(), "flange"), (written.read_text(), "tool")]


@pytest.mark.parametrize("cases", [range(400), pytest.param(range(400, 2000), marks=pytest.mark.slow)], ids=len)
def test_damaged_files_give_an_arm_or_an_armdyn_error(seeds, tmp_path, cases):
    path = tmp_path / "damaged.urdf"
    outcomes = {True: 0, False: 0}
    slowest = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in cases:
            rng = random.Random(case)
            text, tip = seeds[case % 2]
            path.write_text(damage(text, rng), encoding="utf-8")
            start = time.monotonic()
            try:
                outcome = read_urdf(path, tip=rng.choice((None, tip, tip)))
                assert isinstance(outcome, Arm)
            except ArmdynError:
                outcome = None
            except Exception as error:
                pytest.fail(f"case {case}: {type(error).__name__}: {error}")
            slowest = max(slowest, time.monotonic() - start)
            outcomes[outcome is not None] += 1
    # Reading takes milliseconds; the bound only catches what never ends.
    assert slowest < 10
    # The damage is neither always fatal nor always harmless.
    assert min(outcomes.values()) > len(cases) / 10, outcomes
