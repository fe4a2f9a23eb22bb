"""Parameters of a study and where in their ranges it looks: on a grid, by Latin hypercube, by Sobol sequence."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armdyn.study.table import StudyError, StudyTable

METHODS = ("grid", "latin", "sobol")
DISTRIBUTIONS = ("uniform", "log-uniform", "normal")
MAX_CASES = 20_000_000
# Normal distributions end here [standard deviations]: a study has no use for one case in a million beyond.
MAX_DEVIATION_STD = 4.0


@dataclass(frozen=True)
class Distribution:
    """Values that one parameter may take: a list, or a law between two bounds."""

    values: tuple[float, ...] = ()
    kind: str = "uniform"
    low: float = 0.0  # for "normal" the mean
    high: float = 0.0  # for "normal" the standard deviation
    count: int = 0  # of points on a grid

    def at(self, u: NDArray) -> NDArray:
        """Values at quantiles u from 0 to 1."""
        if self.values:
            k = np.minimum((u * len(self.values)).astype(int), len(self.values) - 1)
            return np.array(self.values)[k]
        if self.kind == "log-uniform":
            return self.low * (self.high / self.low) ** u
        if self.kind == "normal":
            from scipy.special import ndtr, ndtri

            end = ndtr(-MAX_DEVIATION_STD)
            return self.low + self.high * ndtri(end + (1 - 2 * end) * u)
        return self.low + (self.high - self.low) * u

    @property
    def lowest(self) -> float:
        """The smallest value that can come."""
        return min(self.values) if self.values else float(self.at(np.zeros(1))[0])

    @property
    def highest(self) -> float:
        """The largest value that can come."""
        return max(self.values) if self.values else float(self.at(np.ones(1))[0])

    def levels(self) -> NDArray:
        """Points on a grid."""
        return np.array(self.values) if self.values else self.at(np.linspace(0.0, 1.0, self.count))


@dataclass(frozen=True)
class ParameterSamples:
    """Combinations of parameters that a study looks at; the same seed gives the same ones."""

    method: str
    count: int
    seed: int
    distributions: Mapping[str, Distribution]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(self.distributions)

    def table(self) -> NDArray:
        """All samples, (count, parameters)."""
        laws = tuple(self.distributions.values())
        if not laws:
            return np.zeros((1, 0))
        if self.method == "grid":
            axes = np.meshgrid(*(law.levels() for law in laws), indexing="ij")
            return np.stack([axis.ravel() for axis in axes], axis=1)
        return np.stack([law.at(u) for law, u in zip(laws, self._quantiles().T, strict=True)], axis=1)

    def _quantiles(self) -> NDArray:
        """Points of the unit cube, (count, parameters)."""
        from scipy.stats import qmc

        kind = qmc.LatinHypercube if self.method == "latin" else qmc.Sobol
        engine = kind(len(self.distributions), seed=np.random.default_rng(self.seed))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The balance properties")  # counts other than powers of 2 serve too
            return engine.random(self.count)


def read_samples(document: StudyTable, known: tuple[str, ...], seed: int) -> ParameterSamples:
    """The tables [samples] and [parameters]; `known` are names that mean something to the study."""
    table, parameters = document.table("samples"), document.table("parameters")
    laws = {}
    method = table.choice("method", METHODS, "sobol" if parameters.data else "grid")
    for name in parameters.keys_of(known, "parameter"):
        laws[name] = _distribution(parameters.table(name), method)
    if method == "grid":
        count = math.prod(len(law.values) or law.count for law in laws.values())
    else:
        count = table.whole("count", low=1)
    table.done()
    if method != "grid" and not laws:
        raise StudyError(where=f"{document.where}: parameters", expected=f"at least one for the method '{method}'")
    if count > MAX_CASES:
        raise StudyError(where=f"{document.where}: samples", expected=f"at most {MAX_CASES:,}", got=f"{count:,}")
    return ParameterSamples(method, count, seed, laws)


def _distribution(table: StudyTable, method: str) -> Distribution:
    """One parameter's table."""
    if table.has("values"):
        law = Distribution(values=table.numbers("values"))
        table.done()
        return law
    kind = table.choice("distribution", DISTRIBUTIONS, "uniform")
    count = table.whole("count", low=2) if method == "grid" else 0
    if kind == "normal":
        law = Distribution(
            kind=kind, low=table.number("mean"), high=table.number("std", low=0.0, above=True), count=count
        )
    else:
        low = table.number("low", low=0.0, above=True) if kind == "log-uniform" else table.number("low")
        law = Distribution(kind=kind, low=low, high=table.number("high"), count=count)
        if not law.high > low:
            cause = f"the range from {low:g} to {law.high:g} is empty"
            raise StudyError(cause, where=table.where, expected="low < high")
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(law.at(np.array([0.0, 0.5, 1.0]))).all():
            cause = f"the range from {law.low:g} to {law.high:g} is too wide to compute with"
            raise StudyError(cause, where=table.where)
    table.done()
    return law
