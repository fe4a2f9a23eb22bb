"""Text files of a generator of dynamic models, words and numbers: Kapadia (1995), appendix B.

    number_link 3
    SIGMA 0 0 0      AL 90 0 -90      TH 0 0 0      R 0 .149 0      D 0 .432 .02
    M ..  MX .. MY .. MZ ..  XX .. XY .. XZ .. YY .. YZ .. ZZ ..  IA ..  FS ..  FV ..
    GX 0  GY 0  GZ 9.81
    stop

SIGMA is 0 of revolute and 1 of prismatic joints, AL and TH are degrees, R and D are distances along z and x. Rows are
of standard DH parameters, and moments are about the frames' origins, with tensor signs (errata 1 and 7). IA is the
reflected inertia of the rotor, FS dry and FV viscous friction. GX, GY, GZ are the acceleration of the base that stands
for gravity, minus the gravity vector (erratum 13). What is not said is zero; estimates of friction below zero are taken
as zero, and the arm's notes say so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ReadError, quote
from armdyn.model.arm import Arm
from armdyn.model.dh import arm_from_dh
from armdyn.model.urdf.tree import MAX_JOINTS

PER_LINK = (
    "SIGMA", "AL", "TH", "R", "D", "M", "MX", "MY", "MZ", "XX", "XY", "XZ", "YY", "YZ", "ZZ", "IA", "FS", "FV",
)  # fmt: skip
ORDER = ("M", "MX", "MY", "MZ", "XX", "XY", "YY", "XZ", "YZ", "ZZ")  # as arms keep them
GRAVITY = ("GX", "GY", "GZ")
COUNT = re.compile(r"number[_\-' ]?link", re.IGNORECASE)


class Word(NamedTuple):
    """A word of the file and the number of its line."""

    text: str
    line: int


def arm_from_dyn(text: str, name: str) -> Arm:
    """Return the arm that such a file describes.

    Parameters
    ----------
    text : str
        Contents of the file.
    name : str
        Its path, for messages; the arm is named by its stem.

    Raises
    ------
    ReadError
        If a word is unknown, or numbers are missing; file and line are named.
    """
    rows, gravity = _tables(iter(_words(text)), name)
    notes = []
    for key in ("FS", "FV"):
        for i in np.flatnonzero(rows[key] < 0):
            notes.append(f"{key} of joint {i + 1} is {rows[key][i]:g}, which no friction has; taken as zero.")
        rows[key] = np.maximum(rows[key], 0.0)
    described = [
        {
            "kind": "P" if rows["SIGMA"][i] else "R",
            "a": rows["D"][i],
            "alpha": np.radians(rows["AL"][i]),
            "d": rows["R"][i],
            "theta": np.radians(rows["TH"][i]),
            "inertial": [rows[key][i] for key in ORDER],
            "friction": {"coulomb": rows["FS"][i], "viscous": rows["FV"][i]},
            "drive": {"rotor_inertia": rows["IA"][i]},
        }
        for i in range(len(rows["SIGMA"]))
    ]
    return arm_from_dh(described, name=Path(name).stem, gravity=-gravity, notes=tuple(notes))


def _words(text: str) -> Iterator[Word]:
    """Words up to `stop`; the two of the count become one, and a lone minus sign belongs to the number behind it."""
    for line, content in enumerate(text.splitlines(), start=1):
        content = COUNT.sub("NUMBER_LINK", content.split(";")[0]).replace('"', " ").replace("=", " ")
        for word in re.sub(r"(^|\s)-\s+(?=[\d.])", r"\1-", content).split():
            if word.lower() == "stop":
                return
            yield Word(word, line)


def _tables(words: Iterator[Word], name: str) -> tuple[dict[str, NDArray], NDArray]:
    """Numbers of the links by word, and the acceleration of the base."""
    first = next(words, Word("", 1))
    if first.text != "NUMBER_LINK":
        raise ReadError(path=name, line=first.line, expected="number_link first", got=quote(first.text))
    count = _numbers(words, 1, first, name)[0]
    if not (count == int(count) and 1 <= count <= MAX_JOINTS):
        raise ReadError(path=name, line=first.line, expected=f"1 to {MAX_JOINTS} links", got=f"{count:g}")
    rows = {key: np.zeros(int(count)) for key in PER_LINK}
    gravity = np.zeros(3)
    for word in words:
        key = word.text.upper()
        if key in rows:
            rows[key] = _numbers(words, int(count), word, name)
        elif key in GRAVITY:
            gravity[GRAVITY.index(key)] = _numbers(words, 1, word, name)[0]
        else:
            known = ", ".join((*PER_LINK, *GRAVITY, "stop"))
            cause = f"unknown word {quote(word.text)}"
            raise ReadError(cause, path=name, line=word.line, expected=f"one of {known}", names=(word.text,))
    if not np.isin(rows["SIGMA"], (0.0, 1.0)).all():
        raise ReadError(where=name, expected="0 (revolute) or 1 (prismatic) after SIGMA", got=rows["SIGMA"].tolist())
    return rows, gravity


def _numbers(words: Iterator[Word], count: int, after: Word, name: str) -> NDArray:
    values = []
    for _ in range(count):
        word = next(words, Word("", after.line))
        try:
            values.append(float(word.text))
        except ValueError:
            raise ReadError(
                path=name,
                line=word.line,
                expected=f"{count} numbers after {after.text}",
                got=f"{quote(word.text)} as number {len(values) + 1}",
            ) from None
    if not np.isfinite(values).all():
        raise ReadError(path=name, line=after.line, expected=f"finite numbers after {after.text}")
    return np.array(values)
