"""Files without names of columns: roles by the number of columns, and by which are rates of which.

Columns stand in groups of one per joint, behind a counter and times where there are such. Of two groups positions are
the smoother one; of more, one is the rate of another, and those are velocities of positions.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ReadError
from armdyn.model.arm import Arm
from armdyn.numerals import pluralize

RATE_LIKENESS = 0.9  # correlation of velocities with rates of positions, from which on they are those


def numbered(count: int) -> list[str]:
    """Names of columns that have none: their numbers, from 1."""
    return [str(k + 1) for k in range(count)]


def guess_columns(
    table: Mapping[str, NDArray], arm: Arm, rate: float | None, where: str
) -> tuple[dict[str, list[str]], str]:
    """Names of columns by role, and words on the guess."""
    names, data = list(table), np.column_stack([np.asarray(column, float) for column in table.values()])
    data = data[np.isfinite(data).any(axis=1)]
    leading = next((k for k in range(len(names), -1, -1) if _fits(data, k, arm.n)), None)
    roles = None if leading is None else _roles(data[:, leading:].reshape(len(data), -1, arm.n))
    columns, joints = pluralize(len(names), "column"), pluralize(arm.n, "joint")
    numbers = numbered(1 + 2 * arm.n)
    example = {"t": numbers[:1], "q": numbers[1 : 1 + arm.n], "tau": numbers[1 + arm.n :]}
    remedy = f"name them by number, such as columns={example}"
    clock = int(rate is None and _is_clock(data[:, 0]))
    if leading is None or leading < clock:
        groups = f"{2 * arm.n} columns of positions and torques, or {3 * arm.n} with velocities"
        raise ReadError(
            f"{columns} without names do not divide among {joints}",
            where=where, expected=f"{'times, then ' if clock else ''}{groups}", remedy=remedy,
        )  # fmt: skip
    if roles is None:
        cause = f"{columns} have no names, and their values do not show which role each has for {joints}"
        raise ReadError(cause, where=where, remedy=remedy)
    guess = {role: names[leading + k * arm.n : leading + (k + 1) * arm.n] for role, k in roles.items()}
    times = [k for k in range(leading) if not _counts(data[:, k])]
    if not times and rate is None and leading:
        raise ReadError("column 1 has no name and counts rows", where=where, remedy="give rate, the samples per second")
    if times and rate is None:
        guess["t"] = [names[times[-1]]]
    step = float(np.median(np.diff(data[:, times[-1]]))) if "t" in guess else 0.0 if rate is None else 1 / rate
    groups = data[:, leading:].reshape(len(data), -1, arm.n)
    if "qd" not in guess and _are_velocities(groups[:, roles["q"]], groups[:, roles["tau"]], step):
        cause = (
            f"{_listed(guess['tau'])} are the velocities of {_listed(guess['q'])}, and no columns of torques are left"
        )
        raise ReadError(cause, where=where)
    listed = "; ".join(
        f"{role}: {_listed(some)}" for role, some in sorted(guess.items(), key=lambda item: int(item[1][0]))
    )
    return guess, f"no names of columns; guessed {listed}"


def _listed(names: list[str]) -> str:
    return f"column{'s' if len(names) > 1 else ''} {' .. '.join(dict.fromkeys((names[0], names[-1])))}"


def _fits(data: NDArray, leading: int, n: int) -> bool:
    """Whether so many columns before the groups rise, and groups of at least positions and torques follow."""
    groups, rest = divmod(data.shape[1] - leading, n)
    return rest == 0 and groups >= 2 and all(_rises(data[:, k]) for k in range(leading))


def _rises(column: NDArray) -> bool:
    steps = np.diff(column[np.isfinite(column)])
    return bool(len(steps) and (steps >= 0).all() and column[-1] > column[0])


def _is_clock(column: NDArray) -> bool:
    """Whether a column rises evenly, as times do."""
    steps = np.diff(column[np.isfinite(column)])
    return bool(len(steps) and steps.min() > 0 and steps.max() < 2 * steps.min())


def _counts(column: NDArray) -> bool:
    """Whether a column numbers the rows."""
    return bool(column[0] in (0, 1) and (np.diff(column) == 1).all())


def _roles(groups: NDArray) -> dict[str, int] | None:
    """Roles of groups (N, k, n); None where they cannot be told."""
    count = groups.shape[1]
    groups = groups[np.isfinite(groups).all(axis=(1, 2))]
    if len(groups) < 3:
        return None
    if count == 2:
        rough = [_roughness(groups[:, k]) for k in range(2)]
        q = int(rough[1] < rough[0])
        return {"q": q, "tau": 1 - q}
    rates = {a: b for a in range(count) for b in range(count) if a != b and _is_rate(groups[:, a], groups[:, b])}
    firsts = [a for a in rates if a not in rates.values()]
    if len(firsts) != 1:
        return None
    q, qd = firsts[0], rates[firsts[0]]
    others = [k for k in range(count) if k not in (q, qd, rates.get(qd))]
    return {"q": q, "qd": qd, "tau": others[0]} if len(others) == 1 else None


def _roughness(group: NDArray) -> float:
    """Second differences over first ones, in the middle of the columns that change."""
    first, second = np.diff(group, axis=0).std(axis=0), np.diff(group, 2, axis=0).std(axis=0)
    moving = first > 0
    return float(np.median(second[moving] / first[moving])) if moving.any() else np.inf


def _are_velocities(positions: NDArray, rates: NDArray, step: float) -> bool:
    """Whether a group times the step [s] makes the changes of another."""
    changes = np.diff(positions, axis=0)
    rest = changes - step * (rates[1:] + rates[:-1]) / 2
    return bool(np.nansum(rest**2) < (1 - RATE_LIKENESS) * np.nansum(changes**2))


def _is_rate(positions: NDArray, rates: NDArray) -> bool:
    """Whether one group is the rate of another, but for a factor, in the middle of the columns that change."""
    a, b = np.diff(positions, axis=0), (rates[1:] + rates[:-1]) / 2
    size = a.std(axis=0) * b.std(axis=0)
    moving = size > 0
    likeness = np.mean((a - a.mean(axis=0)) * (b - b.mean(axis=0)), axis=0)[moving] / size[moving]
    return bool(len(likeness) and np.median(likeness) > RATE_LIKENESS)
