"""Drives that move several joints, in words: "5+6" for a wrist whose sixth drive turns with q5 + q6."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from armdyn.arrays import as_floats
from armdyn.errors import ModelError, quote

if TYPE_CHECKING:
    from armdyn.model.arm import Arm


NO_COUPLING = "none"


def couple_drives(arm: Arm, coupling: Any) -> Arm:
    """The arm with coupled drives; see `Arm.with_coupling`."""
    C = _matrix(arm, coupling)
    rows = [tuple(row) if np.any(row != unit) else () for row, unit in zip(C.tolist(), np.eye(arm.n), strict=True)]
    by_name = dict(zip(arm.coordinate_names, rows, strict=True))
    return arm.with_joints(
        dataclasses.replace(j, drive=dataclasses.replace(j.drive, coupling=by_name.get(j.name, ()))) for j in arm.joints
    )


def describe_coupling(arm: Arm) -> list[str]:
    """The shafts that turn with several joints, each in words such as "joints 5 and 6 share a drive: q5 + q6"."""
    if arm.coupling is None:
        return []
    return [_drive_text(row) for row in arm.coupling if np.count_nonzero(row) > 1]


def _drive_text(row: NDArray) -> str:
    joints = np.flatnonzero(row)
    joints = joints[np.argsort(row[joints] < 0, kind="stable")]  # what counts forward first
    parts = [f"{'-' if row[j] < 0 else '+'} {_factor(abs(row[j]))}q{j + 1}" for j in joints]
    names = [str(j + 1) for j in np.sort(joints)]
    return f"joints {', '.join(names[:-1])} and {names[-1]} share a drive: {' '.join(parts).removeprefix('+ ')}"


def _factor(size: float) -> str:
    return "" if size == 1 else f"{size:.4g} "


def _matrix(arm: Arm, coupling: Any) -> NDArray:
    """The coupling matrix (n, n) of texts, or the one given."""
    texts = [coupling] if isinstance(coupling, str) else coupling
    if isinstance(texts, Iterable) and not isinstance(texts, np.ndarray):
        texts = list(texts)
        if all(isinstance(text, str) for text in texts):
            return _of_texts(arm, [] if texts == [NO_COUPLING] else texts)
    C = as_floats(coupling)
    if C.shape != (arm.n, arm.n) or not np.isfinite(C).all():
        expected = f"a coupling such as '5+6', or a matrix ({arm.n}, {arm.n})"
        raise ModelError(where=f"arm '{arm.name}'", expected=expected, got=quote(coupling))
    return C


def _of_texts(arm: Arm, texts: list[str]) -> NDArray:
    C, taken = np.eye(arm.n), dict[int, str]()
    for text in texts:
        a, b, sign = _pair(arm, text)
        inner, outer = min(a, b), max(a, b)
        if outer in taken:
            cause = f"the drive of joint {outer + 1} is in '{taken[outer]}' already"
            remedy = "give Drive(coupling=...) rows for drives that turn with more than two joints"
            raise ModelError(cause, where=f"coupling '{text}'", remedy=remedy, names=(taken[outer],))
        taken[outer] = text
        C[outer, inner] = sign
    return C


def _pair(arm: Arm, text: str) -> tuple[int, int, float]:
    """Two joints of a text, from 0, and the sign between them."""
    for k, mark in enumerate(text):
        if mark in "+-":
            pair = [_joint(arm, part.strip()) for part in (text[:k], text[k + 1 :])]
            if None not in pair:
                a, b = (j for j in pair if j is not None)
                if a == b:
                    raise ModelError("names the same joint twice", where=f"coupling '{text}'", expected="two joints")
                return a, b, 1.0 if mark == "+" else -1.0
    unknown = [part for part in map(str.strip, re.split("[+-]", text)) if part and _joint(arm, part) is None]
    cause = f"arm '{arm.name}' has no joint {' or '.join(unknown)}" if unknown else ""
    expected = "two joints with + or - between, by number or name, such as '5+6'"
    remedy = f"it has joints 1 to {arm.n}: {', '.join(arm.joint_names)}"
    raise ModelError(cause, where=f"coupling {quote(text)}", expected=expected, remedy=remedy, names=unknown)


def _joint(arm: Arm, text: str) -> int | None:
    if text in arm.joint_names:
        return arm.joint_names.index(text)
    return int(text) - 1 if text.isdecimal() and 1 <= int(text) <= arm.n else None
