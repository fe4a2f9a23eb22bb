"""Logs of real arms as other loggers and other descriptions would have them: tasks as clean as those they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from zoo.cases import Case
from zoo.sensors import Table

Change = Callable[[Table, np.random.Generator], Table]


def kept(table: Table, k: NDArray | slice) -> Table:
    return Table(*(None if x is None else x[k] for x in table))  # type: ignore[arg-type]


def rate(table: Table) -> float:
    return float(1 / np.median(np.diff(table.t)))


def repeated(table: Table, rng: np.random.Generator) -> Table:
    """23 % of the readings are those before."""
    count = len(table.t)
    again = np.r_[False, rng.random(count - 1) < 0.23]
    held = kept(table, np.maximum.accumulate(np.where(again, 0, np.arange(count))))
    return held._replace(t=table.t)


def slower(hertz: float) -> Change:
    def change(table: Table, rng: np.random.Generator) -> Table:
        return kept(table, slice(None, None, max(1, round(rate(table) / hertz))))

    return change


def jittered(table: Table, rng: np.random.Generator) -> Table:
    """One sample in twenty is lost, stamps are off by up to a third of a period."""
    some = kept(table, np.r_[True, rng.random(len(table.t) - 1) >= 0.05])
    return some._replace(t=some.t + rng.uniform(-0.3, 0.3, len(some.t)) / rate(table))


def quantised(table: Table, rng: np.random.Generator) -> Table:
    """Torques in 256 steps of their range."""
    step = np.ptp(table.tau, axis=0) / 256
    return table._replace(tau=np.round(table.tau / step) * step)


def filtered(table: Table, rng: np.random.Generator) -> Table:
    """Torques through the low-pass of a drive, 8 Hz of first order."""
    from scipy.signal import butter, lfilter

    if rate(table) < 40:
        return table
    b, a = butter(1, 8.0, fs=rate(table))
    return table._replace(tau=lfilter(b, a, table.tau - table.tau[0], axis=0) + table.tau[0])


def noisy(table: Table, rng: np.random.Generator) -> Table:
    """Torques with noise of a twentieth of their deviation, as drives' currents have."""
    return table._replace(tau=table.tau + 0.05 * table.tau.std(axis=0) * rng.normal(size=table.tau.shape))


def without_velocity(table: Table, rng: np.random.Generator) -> Table:
    return table._replace(qd=None)


def _both(change: Change) -> Callable[[Case, np.random.Generator], Case]:
    """A change of all logs, those fitted to and the test."""

    def changed(case: Case, rng: np.random.Generator) -> Case:
        train = tuple(change(table, rng) for table in case.train)
        return replace(case, train=train, test=change(case.test, rng))

    return changed


def _first(share: float) -> Callable[[Case, np.random.Generator], Case]:
    """Less to fit to."""

    def changed(case: Case, rng: np.random.Generator) -> Case:
        return replace(case, train=tuple(kept(x, slice(int(share * len(x.t)))) for x in case.train))

    return changed


def _bare(case: Case, rng: np.random.Generator) -> Case:
    return replace(case, arm=case.arm.with_theta(np.full(10 * case.arm.n, np.nan)))


def _heavy(case: Case, rng: np.random.Generator) -> Case:
    """Links of another arm: twice as heavy, each again by a factor between a half and two."""
    factors = 2 * np.exp(rng.uniform(-0.7, 0.7, case.arm.n))
    return replace(case, arm=case.arm.with_theta((case.arm.theta.reshape(-1, 10) * factors[:, None]).ravel()))


def _impossible(case: Case, rng: np.random.Generator) -> Case:
    theta = case.arm.theta.reshape(-1, 10).copy()
    theta[case.arm.n // 2] *= -1
    theta[0, 4:] *= 0.01
    return replace(case, arm=case.arm.with_theta(theta.ravel()))


def _poor(case: Case, rng: np.random.Generator) -> Case:
    """Geometry alone, 50 Hz, no velocities, 23 % of the readings repeated, coarse torques: all at once."""
    changes = (slower(50.0), without_velocity, repeated, quantised)
    for change in changes:
        case = _both(change)(case, rng)
    return _bare(case, rng)


VARIANTS: dict[str, Callable[[Case, np.random.Generator], Case]] = {
    "repeated": _both(repeated), "jitter": _both(jittered), "100 Hz": _both(slower(100.0)),
    "50 Hz": _both(slower(50.0)), "no velocity": _both(without_velocity), "coarse": _both(quantised),
    "filtered": _both(filtered), "noisy": _both(noisy), "geometry": _bare, "heavy": _heavy, "impossible": _impossible,
    "first 30 %": _first(0.3), "first 60 %": _first(0.6), "poor": _poor,
}  # fmt: skip
DESCRIBED = ("geometry", "heavy", "impossible")  # only where inertias are given


def variants_of(case: Case) -> Iterator[str]:
    """Those that change something."""
    known = not np.isnan(case.arm.theta).any()
    for name in VARIANTS:
        if name in DESCRIBED and not known:
            continue
        if name == "no velocity" and case.train[0].qd is None:
            continue
        if name in ("100 Hz", "50 Hz") and rate(case.train[0]) < 1.5 * float(name.split()[0]):
            continue
        if name == "filtered" and rate(case.train[0]) < 40:
            continue
        yield name


def varied(case: Case, name: str) -> Case:
    """The case as another logger or description would have it."""
    rng = np.random.default_rng([23, list(VARIANTS).index(name), len(case.name)])
    return replace(VARIANTS[name](case, rng), name=f"{case.name}~{name}", tags={**case.tags, "variant": name})
