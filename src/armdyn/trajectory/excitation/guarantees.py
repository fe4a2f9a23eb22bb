"""What was checked of a motion, as data: for which links, pairs and limits, at which rate, and whether it holds.

Whatever is said of a motion is said from these records, so that no sentence can say more than was checked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from armdyn.numerals import pluralize

Pairs = tuple[tuple[str, str], ...]

JOINT_KINDS = ("position", "velocity", "acceleration")  # of the joints' own limits
SURROUNDINGS = ("floor", "obstacle")  # what a motion must not touch, whatever the shapes of the arm
OVERLAP = "overlap"  # why pairs are dropped that cannot be kept apart
EXCLUDED = "excluded"  # by the arm's file
UNKNOWN = "unknown"
SWITCHED_OFF = "switched off"


@cache
def phrases() -> dict[str, dict[str, Any]]:
    """Return phrases on checks and on what confines joints, by kind or by cause."""
    import tomllib

    return tomllib.loads(Path(__file__).with_name("phrases.toml").read_text("utf-8"))


class LeftOut(NamedTuple):
    """Part that a guarantee does not cover, and the cause: pairs, or names of joints and shapes."""

    # "overlap", "excluded", "switched off", "unknown", "absent", "endless", "unread", "doubt" or "frictionless"
    cause: str
    pairs: Pairs = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Guarantee:
    """One thing that a motion keeps to, for what exactly, and what of it was left out.

    Parameters
    ----------
    kind : str
        "position", "velocity", "acceleration", "torque"; "tip" (its room); "floor" (whatever the arm is mounted on),
        "self" (links apart) or "obstacle".
    links : tuple of str
        Links of the arm of which everything was checked.
    joints : tuple of str
        Joints whose limits were checked.
    pairs : tuple of pairs of str
        What was kept apart: bodies by the names that their file gives them, planes and obstacles by theirs.
    limit : tuple of float
        Limits of the `joints` (of positions the lower ones, then the upper ones), or corners of the tip's room; of
        distances 0 [SI units].
    rate : float
        Samples per second of the first grid; it becomes finer where bounds between samples ask for it [Hz].
    min_distance : float
        No distance is less at any time [m]; of joints' limits the least part of a limit that is left free. NaN where
        nothing was checked.
    holds : bool
        Whether everything that is named here holds; False where nothing was checked.
    left_out : tuple of LeftOut
        What was not checked.
    basis : str
        The shapes or the model that the check rests on.
    """

    kind: str
    links: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    pairs: Pairs = ()
    limit: tuple[float, ...] = ()
    rate: float = float("nan")
    min_distance: float = float("nan")
    holds: bool = False
    left_out: tuple[LeftOut, ...] = ()
    basis: str = ""

    @property
    def checked(self) -> bool:
        """Whether anything was checked."""
        return bool(self.joints or self.pairs or self.kind == "tip")

    @property
    def dropped(self) -> Pairs:
        """Pairs that were to be kept apart and could not, since their shapes touch in nearly all poses."""
        return tuple(pair for one in self.left_out if one.cause == OVERLAP for pair in one.pairs)

    @property
    def falls_short(self) -> bool:
        """Whether someone must act: surroundings were left out, a limit is broken, the floor is unknown.

        Links whose shapes touch in nearly all poses are left out too, which `unchecked` names: there is nothing to do.
        """
        lost = self.kind == "floor" and any(one.cause == UNKNOWN for one in self.left_out)
        return lost or self.is_alarming

    @property
    def is_alarming(self) -> bool:
        """Whether the motion may hit its surroundings or break a limit although these are known."""
        return bool(self.kind in SURROUNDINGS and self.dropped) or (self.checked and not self.holds)

    def __str__(self) -> str:
        if not self.checked:
            return f"not checked: {phrases()['nouns'][self.kind]}"
        return _statement(self) if self.holds else f"not kept: {_statement(self)}"


class LowestPoint(NamedTuple):
    """Height of the lowest point of a motion above the mounting plane, or above the origin of the base axes."""

    height: float  # [m]; of a wall or a ceiling the distance
    plane: str = ""  # its name: "floor", "wall", "ceiling"

    def __str__(self) -> str:
        if not self.plane:
            side = "above" if self.height >= 0 else "below"
            return f"lowest point {abs(self.height):.2f} m {side} the origin of the base axes"
        planes = phrases()["planes"]
        point, near, beyond = planes.get(self.plane, planes["other"])
        side = near if self.height >= 0 else beyond
        return f"{point} point {abs(1e3 * self.height):.0f} mm {side} the {self.plane}"


def _statement(one: Guarantee) -> str:
    """Return the statement of a guarantee about everything that was checked."""
    bodies, things = (", ".join(dict.fromkeys(pair[k] for pair in one.pairs)) for k in (0, 1))
    return str(phrases()["statements"][one.kind]).format(
        kind=one.kind, joints=", ".join(one.joints), basis=one.basis, free=_free(one), bodies=bodies, things=things,
        pairs=pluralize(len(one.pairs), "link pair"), side="above" if things == "floor" else "off",
    )  # fmt: skip


def _free(one: Guarantee) -> str:
    """The least distance, in whole millimetres that are certain."""
    millimetres = int(1e3 * one.min_distance)
    return f"at least {millimetres} mm " if millimetres >= 1 else ""


def joint_limits(guarantees: Iterable[Guarantee]) -> tuple[str, ...]:
    """Return which of the joints' limits hold, in one phrase; some joints turn without end."""
    held = [one for one in guarantees if one.kind in JOINT_KINDS and one.holds]
    if not held:
        return ()
    *first, last = [phrases()["nouns"][one.kind] for one in held]
    endless = ", ".join(name for one in held for lost in one.left_out for name in lost.names)
    without = f" (positions of {endless} have none)" if endless else ""
    return (f"{', '.join(first)}{' and ' * bool(first)}{last} within their limits{without}",)


def omissions(guarantees: Iterable[Guarantee]) -> tuple[str, ...]:
    """Return the checks that were left out, a phrase for each."""
    return tuple(_omission(one, lost) for one in guarantees for lost in one.left_out)


def _omission(one: Guarantee, lost: LeftOut) -> str:
    """Return a part that was left out, and why."""
    words = phrases()
    phrase = words["omissions"].get(lost.cause) or words["omissions"]["limit" if lost.names else "other"]
    article = "the " if one.kind in SURROUNDINGS else ""
    return str(phrase).format(
        noun=words["nouns"][one.kind], names=", ".join(lost.names), pairs=name_pairs(lost.pairs, article),
        shapes=pluralize(len(lost.names), "collision shape"), first="".join(lost.names[:1]),
        doubts="; ".join(lost.names), reason=words["reasons"].get(one.kind, {}).get(lost.cause, lost.cause),
    )  # fmt: skip


def name_pairs(pairs: Pairs, article: str = "") -> str:
    """Pairs in words, those with the same second thing together."""
    groups = groupby(sorted(pairs, key=lambda pair: pair[1]), key=lambda pair: pair[1])
    return "; ".join(f"{', '.join(first for first, _ in group)} and {article}{second}" for second, group in groups)
