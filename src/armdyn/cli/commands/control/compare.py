"""`armdyn compare ARM`: all controllers on one reference, with an unknown load and friction, or in scenarios."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from armdyn.cli.long_work import draw, end_command, progress_bar, require_folders, working
from armdyn.cli.options import BANDWIDTH_HZ, RATE_HZ
from armdyn.cli.resolve import resolve
from armdyn.cli.show import print_json
from armdyn.errors import ArmdynError
from armdyn.model.arm import Arm

if TYPE_CHECKING:
    from armdyn.simulation.compare import Comparison


def scenario_names(incomplete: str) -> list[str]:
    """Names of scenarios for the shell."""
    from armdyn.simulation.scenarios import SCENARIOS

    return [name for name in (*SCENARIOS, "all") if name.startswith(incomplete)]


def compare(
    arm: str, payload: float = 2.5, friction_factor: float = 1.25, rate: float = RATE_HZ,
    bandwidth: float = BANDWIDTH_HZ, duration: float = 12.0, controller: list[str] | None = None,
    scenario: list[str] | None = None, figure: Path | None = None, report: Path | None = None, base: str | None = None,
    tip: str | None = None, json: bool = False,
) -> None:  # fmt: skip
    """Run all controllers on one motion, with a load and friction that their model lacks, and compare.

    Ctrl-C keeps the controllers that have run.
    """
    from armdyn.simulation.mismatch_study import mismatch_study
    from armdyn.simulation.ranking import standing

    require_folders(report=report, figure=figure)
    subject = resolve(arm, base, tip)
    controller = [name for text in controller or () for name in text.split(",")] or None
    if scenario:
        if figure is not None or report is not None:
            cause = "--figure and --report are for one comparison"
            raise ArmdynError(cause, where="compare", remedy="leave --scenario out")
        _in_scenarios(subject, scenario, bandwidth, rate, duration, controller, json)
        return
    names: list[str] = []
    with progress_bar() as tell:
        tell(0, 0, "designing controllers")

        def show(done: float, total: float, name: str) -> None:
            tell(done, total, f"running {name}, {done + 1:g} of {total:g}", done > 0)

        comparison = mismatch_study(
            subject, payload=payload, friction=friction_factor, rate=rate, bandwidth=bandwidth, duration=duration,
            controllers=controller, begin=names.extend, progress=show,
        )  # fmt: skip
    if json:
        rows = [{**place.row.figures(), "failure": place.failure} for place in map(standing, comparison.rows)]
        conclusion = [text for _, text in comparison.conclusion]
        print_json({"about": comparison.about, "controllers": rows, "conclusion": conclusion})
    else:
        print(comparison)
    for path in [] if comparison.interrupted else _draw(comparison, figure, report):
        if not json:
            print(f"wrote {path}")
    if comparison.interrupted:
        ran = len(comparison.rows)
        undrawn = "".join(
            f"\narmdyn: {path} was not drawn, which takes seconds; add {_options(names[:ran])} for those that ran"
            for path in filter(None, (figure, report))
        )
        end_command(f"; the controllers above had run; the others: {_options(names[ran:])}{undrawn}")


def _options(names: list[str]) -> str:
    """The options that choose these controllers."""
    return " ".join(f"-c {shlex.quote(name)}" for name in names)


def _draw(comparison: Comparison, figure: Path | None, report: Path | None) -> list[Path]:
    """Write the picture and the page that are wanted; their paths."""
    if figure is not None:
        with working(f"drawing {figure}"):
            comparison.figure(figure)
    if report is not None:
        draw(comparison, report, figure)
    return [path for path in (figure, report) if path is not None]


def _in_scenarios(
    subject: Arm, names: list[str], bandwidth: float, rate: float, duration: float, controller: list[str] | None,
    json: bool,
) -> None:  # fmt: skip
    """The table of all scenarios, and which controller to take when."""
    from armdyn.control.design.designs import chosen_designs
    from armdyn.simulation.compare import Sway
    from armdyn.simulation.scenarios import compare_scenarios

    reference = Sway.within(subject, duration)
    with progress_bar() as tell:
        tell(0, 0, "designing controllers")
        laws = chosen_designs(subject, reference, bandwidth, rate, controller)
        scenarios = compare_scenarios(
            subject, laws, reference, rate, scenarios=None if "all" in names else names,
            progress=lambda done, total, name: tell(done, total, f"running {name}, {done + 1:g} of {total:g}"),
        )  # fmt: skip
    if json:
        rows = {name: [row.figures() for row in x.rows] for name, x in scenarios.comparisons.items()}
        print_json({"scenarios": rows, "left out": scenarios.left_out, "advice": scenarios.advice().splitlines()})
    else:
        print(f"{scenarios}\n\n{scenarios.advice()}")
    if scenarios.interrupted:
        end_command("; the results above are complete; run the command again to restart")
