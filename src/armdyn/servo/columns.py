"""Which columns of a table are commanded and measured positions, by a word in their names."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from numpy.typing import NDArray

from armdyn.errors import ReadError
from armdyn.identification.logs.columns import some_names
from armdyn.model.arm import Arm

WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
COMMANDED, MEASURED, FILLER_WORDS = WORDS["commanded"], WORDS["measured"], WORDS["filler"]


def plain(name: str) -> str:
    """Lower case, words with one line between."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def find(
    table: Mapping[str, NDArray], arm: Arm, word: str | None, usual: Sequence[str], what: str, where: str
) -> tuple[list[str], str]:
    """Names of the n columns in the arm's order, and the word they share."""
    for candidate in [word] if word else usual:
        chosen = _of_word(table, arm, candidate)
        if chosen:
            return chosen, candidate
        offered = _columns_by_joint(table, arm, candidate)
        if word and offered:
            cause = (
                f"'{candidate}' has columns {', '.join(offered.values()):.200}, but arm '{arm.name}' has the "
                f"{arm.n} joints {', '.join(arm.joint_names)}"
            )
            remedy = "name their motors, in this order, with motors="
            raise ReadError(cause, where=where, remedy=remedy, names=(candidate,))
    asked = f" '{word}'" if word else ""
    remedy = (
        f"give {'command' if usual is COMMANDED else 'measured'}=WORD, a word that the names of these columns share; "
        f"the file has {some_names(table)}"
    )
    raise ReadError(f"no columns of {what} positions{asked} for {arm.n} joints", where=where, remedy=remedy)


def _columns_by_joint(table: Mapping[str, NDArray], arm: Arm, word: str) -> dict[str, str]:
    """Columns of a word, by the name or number of their joint."""
    columns: dict[str, str] = {}
    names = {plain(joint): joint for joint in arm.joint_names}
    for column in table:
        match = re.search(rf"(?:^|_){re.escape(plain(word))}(?=_|\d|$)", plain(column))
        if not match:
            continue
        rest = f"{plain(column)[: match.start()]}_{plain(column)[match.end() :]}".strip("_")
        joint = next((n for n in sorted(names, key=len, reverse=True) if re.search(rf"(?:^|_){n}(?:_|$)", rest)), None)
        if joint is not None:
            columns.setdefault(names[joint], column)
            continue
        words = [w for w in rest.split("_") if w and w not in FILLER_WORDS]
        numbered = re.fullmatch(r"(?:[a-z]+)?(\d+)", words[0]) if len(words) == 1 else None
        if numbered and words[0].rstrip("0123456789") in ("", *FILLER_WORDS):
            columns.setdefault(str(int(numbered.group(1))), column)
        elif words and word != "q":
            columns.setdefault("_".join(words), column)
    return columns


def _of_word(table: Mapping[str, NDArray], arm: Arm, word: str) -> list[str] | None:
    offered = _columns_by_joint(table, arm, word)
    if set(arm.joint_names) <= set(offered):
        return [offered[name] for name in arm.joint_names]
    numbers = sorted(int(key) for key in offered if key.isdigit())
    if len(numbers) == arm.n == len(offered) and numbers[-1] - numbers[0] == arm.n - 1:
        return [offered[str(k)] for k in numbers]
    others = [key for key in offered if not re.search(r"\d", key)]
    # Motors of other names, one per joint: in the order of the file.
    return [offered[key] for key in others] if len(others) == arm.n == len(offered) else None


def unit_of(names: Sequence[str]) -> str | None:
    """The unit that all names carry, rad or deg."""
    units = {next((w for w in reversed(plain(n).split("_")) if w in ("rad", "deg")), None) for n in names}
    return units.pop() if len(units) == 1 else None
