"""Fleet identification: many robots of a kind, each from its own logs, and which of them are not like the others.

A case is one robot. Results are in long form, a row per robot and parameter: base parameters and plain friction as
`identify` finds them from the data alone, with standard deviations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from armdyn.errors import ArmdynError, ignore_warnings
from armdyn.identification.fit.result import Fit
from armdyn.identification.identify import identify
from armdyn.model.arm import Arm
from armdyn.study.spec import Columns, Head, Study
from armdyn.study.summary import MIN_CASES_BEYOND, Section, Summary
from armdyn.study.table import StudyError, StudyTable

# A parameter this many robust standard deviations from the fleet's median is an outlier (Iglewicz and Hoaglin 1993).
OUTLIER_STD = 3.5
FORMATS = {"median": ".4g", "value": ".4g", "spread": ".2g", "deviation": "+.1f"}  # of numbers in tables
ERRORS = ("rel_error", "held_out")  # told of every robot besides its parameters


@dataclass(frozen=True)
class FleetRobot:
    """One robot and its logs."""

    name: str
    arm: str  # word of its description
    logs: tuple[str, ...]  # paths


@dataclass(frozen=True, eq=False)
class Fleet(Study):
    """See the module."""

    robots: tuple[FleetRobot, ...]
    arms: Mapping[str, Arm]
    options: Mapping[str, Any]  # of `identify`

    def case(self, number: int) -> Fit:
        """The fit of one robot."""
        self.require_case(number)
        robot = self.robots[number]
        with ignore_warnings():  # told in the fit's notes
            return identify(self.arms[robot.arm], [self.head.folder / log for log in robot.logs], **self.options)

    def compute(self, cases: range) -> Columns:
        """Identify some robots; one whose logs are rejected has a note instead of numbers."""
        rows: list[tuple[Any, ...]] = []
        for number in cases:
            robot = self.robots[number]
            try:
                parameters = _parameters(self.case(number))
            except ArmdynError as error:
                parameters = [("rel_error", np.nan, np.nan, " ".join(str(error).split()))]
            rows += [(number, robot.name, robot.arm, *row) for row in parameters]
        names = ("case", "robot", "arm", "parameter", "value", "std", "note")
        return {name: np.array(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}

    def row(self, number: int) -> dict[str, Any]:
        """The parameters of one robot."""
        self.require_case(number)
        columns = self.compute(range(number, number + 1))
        values = dict(zip(columns["parameter"].tolist(), columns["value"].tolist(), strict=True))
        return {"case": number, "robot": self.robots[number].name, **values}

    def summary(self, columns: Columns) -> Summary:
        """The fleet's usual parameters, and the robots that differ."""
        usual, strange = fleet_table(columns)
        failed = columns["note"] != ""
        about = f"{len(self.robots)} robots, {len(strange)} outliers"
        about += f"; {int(failed.sum())} could not be identified" if failed.any() else ""
        counts = {robot.name: sum(item.robot == robot.name for item in strange) for robot in self.robots}
        robots = []
        for robot in self.robots:
            of_robot = columns["robot"] == robot.name
            values = dict(zip(columns["parameter"][of_robot], columns["value"][of_robot], strict=True))
            note = "".join(columns["note"][of_robot])
            numbers = (f"{values.get(name, np.nan):.2%}" for name in ERRORS)
            robots.append((robot.name, *numbers, str(counts[robot.name]), note))
        heads = ("robot", "relative error", "held out", "outliers", "note")
        sections = [
            Section("Outliers", Outlier._fields, [*map(_texts, strange)]),
            Section("Robots", heads, robots),
            Section("Parameters of the fleet (SI)", FleetStatistic._fields, [*map(_texts, usual)]),
        ]
        odd = [name for name, count in counts.items() if count]
        conclusion = f"unlike the others: {', '.join(odd)}" if odd else "no robot is unlike the others"
        data = {
            "name": self.name,
            "kind": self.kind,
            "robots": len(self.robots),
            "outliers": [item._asdict() for item in strange],
            "parameters": [item._asdict() for item in usual],
            "conclusion": conclusion,
        }
        filled = tuple(section for section in sections if section.rows)
        return Summary(self.name, about, filled, data, conclusion=conclusion)


def _parameters(fit: Fit) -> list[tuple[str, float, float, str]]:
    base = fit.base
    errors = [(name, float(getattr(fit, name)), np.nan, "") for name in ERRORS]
    return errors + [
        (label, float(x), float(s), "") for label, x, s in zip(base.labels, base.theta, base.std, strict=True)
    ]


class FleetStatistic(NamedTuple):
    """One parameter over all robots of a kind."""

    arm: str
    parameter: str
    median: float
    spread: float  # robust standard deviation between robots
    robots: int


class Outlier(NamedTuple):
    """A parameter of one robot that is not as in the others."""

    robot: str
    parameter: str
    value: float
    median: float
    deviation: float  # in robust standard deviations of the fleet


def _texts(row: FleetStatistic | Outlier) -> tuple[str, ...]:
    return tuple(f"{x:{FORMATS.get(name, '')}}" for name, x in row._asdict().items())


def fleet_table(columns: Columns) -> tuple[list[FleetStatistic], list[Outlier]]:
    """Median and spread of every parameter, and the robots beyond; the strangest first.

    An outlier lies `OUTLIER_STD` robust standard deviations from the median of its kind, and more than two of its own
    standard deviations: what a log hardly shows is no news.
    """
    from scipy.stats import median_abs_deviation

    usual, strange = [], []
    kinds = dict.fromkeys(zip(columns["arm"].tolist(), columns["parameter"].tolist(), strict=True))
    for arm, parameter in kinds:
        rows = (columns["arm"] == arm) & (columns["parameter"] == parameter)
        values, stds = columns["value"][rows], columns["std"][rows]
        known = np.isfinite(values) & ~np.isinf(stds)
        if not known.any():
            continue
        median = float(np.median(values[known]))
        spread = float(median_abs_deviation(values[known], scale="normal"))
        usual.append(FleetStatistic(arm, parameter, median, spread, int(known.sum())))
        if known.sum() < MIN_CASES_BEYOND:
            continue
        std = np.where(np.isnan(stds), 0.0, stds)
        far = known & (np.abs(values - median) > np.maximum(OUTLIER_STD * spread, 2 * std))
        for name, value in zip(columns["robot"][rows][far], values[far], strict=True):
            deviation = (value - median) / spread if spread > 0 else np.copysign(np.inf, value - median)
            strange.append(Outlier(str(name), parameter, float(value), median, float(deviation)))
    return usual, sorted(strange, key=lambda item: -abs(item.deviation))


# -- the file -----------------------------------------------------------------------------------------------------


def read(document: StudyTable, head: Head) -> Fleet:
    """A fleet from its document: [[robots]] one by one, or `logs`, a pattern of which every file is a robot."""
    word = document.text("arm")
    if document.has("logs"):
        robots = _robots_of_logs(document.text("logs"), word, head)
    else:
        robots = tuple(_robot(table, word) for table in document.tables("robots"))
    names = [robot.name for robot in robots]
    if len(set(names)) < len(names):
        raise StudyError(where=f"{document.where}: robots", expected="every name once")
    arms = {robot.arm: head.arm(robot.arm) for robot in robots}
    options = _options(document.table("identify"))
    extra = (*(arm.fingerprint for arm in arms.values()), *(head.file_digest(log) for r in robots for log in r.logs))
    return Fleet(head, len(robots), dict.fromkeys(ERRORS, "low"), ("arm",), (), {}, extra, robots, arms, options)


def _robots_of_logs(pattern: str, word: str, head: Head) -> tuple[FleetRobot, ...]:
    try:
        paths = sorted(head.folder.glob(pattern))
    except (NotImplementedError, ValueError):
        expected = "a pattern relative to the study's file"
        raise StudyError(where=f"{head.file.name}: logs", expected=expected, got=f"{pattern!r:.60}") from None
    if not paths:
        cause = f"no file matches '{pattern}' in {head.folder}"
        raise StudyError(cause, where=f"{head.file.name}: logs", names=(pattern,))
    logs = [path.relative_to(head.folder) for path in paths]
    by_stem = len({log.stem for log in logs}) == len(logs)  # else by path, as of robot3/run.csv
    return tuple(FleetRobot(log.stem if by_stem else str(log.with_suffix("")), word, (str(log),)) for log in logs)


def _robot(table: StudyTable, word: str) -> FleetRobot:
    robot = FleetRobot(table.text("name"), table.text("arm", word), table.texts("logs"))
    table.done()
    return robot


def _options(table: StudyTable) -> dict[str, Any]:
    options: dict[str, Any] = {
        "terms": table.choice("terms", ("full", "gravity"), "full"),
        "friction": table.choice("friction", ("auto", "simple"), "auto"),
        "springs": table.flag("springs"),
    }
    table.done()
    return options
