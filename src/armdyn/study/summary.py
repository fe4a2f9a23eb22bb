"""What all cases of a study together say, as tables, data and pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.study.conclusion import conclude
from armdyn.study.labels import infinite, label, unit, words
from armdyn.study.sensitivity import Share, shares
from armdyn.study.spec import Columns, Study

QUANTILES = (0.05, 0.5, 0.95, 0.99, 1.0)
MIN_CASES_BEYOND = 5  # cases beyond a quantile, of every group: with fewer it is not known, and not stated
N_LISTED = 10  # best designs, and worst cases of every metric in the data; tables show the worst
FACTORS_LISTED = 3  # factors of every metric in tables
WORST = "Worst cases"


class Section(NamedTuple):
    """A table with its heading."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Summary:
    """A study in short; `armdyn.report(summary, path)` makes its page."""

    name: str
    about: str
    sections: tuple[Section, ...]
    data: Mapping[str, Any]  # the same numbers for scripts
    figures: Mapping[str, Callable[[], Any]] = field(default_factory=dict)  # file name -> matplotlib figure
    conclusion: str = ""  # who wins, by how much and how sure, or what is strange

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.about}", *([self.conclusion] if self.conclusion else [])]
        for section in self.sections:
            widths = [max(map(len, column)) for column in zip(section.columns, *section.rows, strict=True)]
            lines += ["", section.title]
            lines += [_align(row, widths) for row in (section.columns, *section.rows)]
        return "\n".join(lines)


def _align(row: tuple[str, ...], widths: list[int]) -> str:
    """A line of a table: words begin and numbers end where those above do."""
    cells = [
        cell.rjust(w) if cell[:1] in "+-0123456789" else cell.ljust(w) for cell, w in zip(row, widths, strict=True)
    ]
    return "  ".join(cells).rstrip()


def case_summary(study: Study, columns: Columns, about: str) -> Summary:
    """Success, quantiles, influence and extreme cases of a study with metrics."""
    judged = study.metrics
    groups = list(_groups(study, columns))
    success = [(group, float(columns["success"][rows].mean()), int(rows.sum())) for group, rows in groups]
    stated = stated_quantiles(min(count for *_, count in success))
    quantiles = [
        (group, name, {p: _quantile(columns[name][rows], p if better == "low" else 1 - p) for p in stated})
        for group, rows in groups
        for name, better in judged.items()
    ]
    factors = {name: columns[name] for name in (*study.groups, *study.parameters)}
    ranked = {name: shares(factors, columns[name]) for name in judged}
    if 0 < columns["success"].mean() < 1:
        ranked = {"success": shares(factors, columns["success"].astype(float)), **ranked}
    ranked = {name: effects for name, effects in ranked.items() if effects}
    worst = {name: _extreme(columns, name, better == "high") for name, better in judged.items()}
    sections = (_success(study, success), _quantile_section(quantiles), _influence(ranked), _worst(study, worst))
    conclusion = conclude(columns, groups, tuple(study.parameters), judged)
    data = {
        "name": study.name,
        "kind": study.kind,
        "cases": len(columns["case"]),
        "success": {group: part for group, part, _ in success},
        "quantiles": [
            {"group": g, "metric": m, **{_percent(p): x for p, x in values.items()}} for g, m, values in quantiles
        ],
        "influence": {name: [share._asdict() for share in effects] for name, effects in ranked.items()},
        "worst": {name: [{"case": case, "value": value} for case, value in cases] for name, cases in worst.items()},
        "conclusion": conclusion,
    }
    filled = tuple(section for section in sections if section.rows)
    return Summary(study.name, about, filled, data, _figures(study, columns, groups, ranked), conclusion)


def _groups(study: Study, columns: Columns) -> Iterator[tuple[str, NDArray]]:
    """Labels and rows of the combinations of words; words that never change are left out."""
    texts = [columns[name].astype(str) for name in study.groups]
    changing = [column for column in texts if len(np.unique(column)) > 1] or texts[:1]
    labels = np.array([", ".join(parts) for parts in zip(*changing, strict=True)])
    for group in dict.fromkeys(labels):
        yield group, labels == group


def _quantile(values: NDArray, p: float) -> float:
    """An order statistic: infinite values are never averaged with others."""
    return float(np.quantile(values, p, method="higher" if p >= 0.5 else "lower"))


def format_metric(name: str, value: float) -> str:
    """A metric's value; infinite ones in a word."""
    return f"{value:.4g}" if np.isfinite(value) else infinite(name)


def stated_quantiles(cases: int) -> tuple[float, ...]:
    """Those that so many cases tell; the median and the worst are what they are."""
    return tuple(p for p in QUANTILES if p in (0.5, 1.0) or cases * min(p, 1 - p) >= MIN_CASES_BEYOND)


def _percent(p: float) -> str:
    return "worst" if p == 1 else f"{100 * p:g} %"


def _extreme(columns: Columns, name: str, largest_is_good: bool) -> list[tuple[int, float]]:
    """The worst cases of a metric, the worst first."""
    values = columns[name] if largest_is_good else -columns[name]
    order = np.argsort(values, kind="stable")[:N_LISTED]
    return [(int(columns["case"][k]), float(columns[name][k])) for k in order]


# -- tables -----------------------------------------------------------------------------------------------------


def _success(study: Study, success: list[tuple[str, float, int]]) -> Section:
    signs = {"low": "<=", "high": ">="}
    wanted = ", ".join(
        f"{words(name)} {signs[study.metrics[name]]} {bound:g} {unit(name)}".rstrip()
        for name, bound in study.bounds.items()
    )
    rows = [(group, f"{part:.2%}", f"{count:,}") for group, part, count in success]
    return Section(
        f"Success ({wanted or 'nothing went wrong'})", (" and ".join(study.groups), "success", "cases"), rows
    )


def _quantile_section(quantiles: list[tuple[str, str, dict[float, float]]]) -> Section:
    rows = [
        (label(name), group, *(format_metric(name, value) for value in values.values()))
        for group, name, values in quantiles
    ]
    heads = ("metric", "group", *(_percent(p) for p in (quantiles[0][2] if quantiles else ())))
    return Section("Quantiles (share of cases that are at least as good)", heads, sorted(rows, key=lambda row: row[0]))


def _influence(ranked: Mapping[str, list[Share]]) -> Section:
    rows = []
    for name, effects in ranked.items():
        for item in effects[:FACTORS_LISTED]:
            trend = "" if np.isnan(item.trend) else f"{item.trend:+.2f}"
            if (share := f"{item.share:.0%}") != "0%":
                rows.append((words(name), words(item.factor), share, trend))
    return Section("What matters (share of the variance of ranks)", ("metric", "factor", "share", "trend"), rows)


def _worst(study: Study, worst: Mapping[str, list[tuple[int, float]]]) -> Section:
    rows = [
        (label(name), str(case), format_metric(name, value), study.command(case))
        for name, ((case, value), *_) in worst.items()
    ]
    return Section(WORST, ("metric", "case", "value", "command"), rows)


def _figures(
    study: Study, columns: Columns, groups: list[tuple[str, NDArray]], ranked: Mapping[str, list[Share]]
) -> dict[str, Callable[[], Any]]:
    from armdyn.study.figures import distributions, success_regions

    order = next(iter(ranked.values()), [])
    axes = [item.factor for item in order if item.factor in study.parameters][:2]
    where = {"success": lambda: success_regions(columns, groups, axes)} if axes else {}
    return {**where, "distributions": lambda: distributions(columns, groups, list(study.metrics))}
