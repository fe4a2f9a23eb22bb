"""`armdyn validate MODEL LOG...`: how well a model explains logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from armdyn.cli.logs import LogOptions, mount_arm, reject_swapped
from armdyn.cli.long_work import working
from armdyn.cli.resolve import resolve
from armdyn.cli.show import attributes, number, print_json, print_list, print_table

if TYPE_CHECKING:
    from armdyn.identification.fit.validation import Validation
    from armdyn.identification.hypotheses.finding import Finding
    from armdyn.identification.logs.log import Log
    from armdyn.identification.quality import Level
    from armdyn.model.arm import Arm


def validate(
    model: str,
    logs: list[Path],
    band: float | None = None,
    *,
    options: LogOptions,
    down: str | None = None,
    base: str | None = None,
    tip: str | None = None,
    json: bool = False,
) -> None:
    """Compare a model's torques with those of logs; exit code 1 if the model is not usable for one of them."""
    reject_swapped(model, logs)
    arm = mount_arm(resolve(model, base, tip), down)
    with working("reading the logs", *(f"comparing with {path}" for path in logs)) as go_on:
        delay = arm.preprocessing.delay if options.delay is None else options.delay
        read = options.without_delay().read(logs, arm)
        compared = []
        for log in read:
            go_on()
            compared.append(_compare(arm, log, band, delay))
    if json:
        summaries = [one.summary() for one in compared]
        print_json(summaries[0] if len(summaries) == 1 else summaries)
    elif len(compared) == 1:
        _show(arm, compared[0])
    else:
        _show_all(arm, compared)
    if not all(one.usable for one in compared):
        raise typer.Exit(1)


class Compared(NamedTuple):
    """A model on a log."""

    log: Log
    result: Validation
    level: Level  # the verdict
    findings: list[Finding]
    arm: Arm

    @property
    def usable(self) -> bool:
        """Whether the model may be used for the log, with care or without."""
        from armdyn.identification.quality import Level

        return self.level != Level.NOT_USABLE

    @property
    def advice(self) -> list[str]:
        """Findings about the log, and how it was read."""
        from armdyn.report.options import advice

        return [advice(self.arm, finding, self.log) for finding in self.findings]

    @property
    def compared(self) -> str:
        """Description of what was compared."""
        return f"below {self.result.band:g} Hz" if self.result.band else "at poses held still"

    def summary(self) -> dict[str, Any]:
        """In SI units."""
        judged = {"log": self.log.name, "verdict": str(self.level), "band": self.result.band, "findings": self.advice}
        return attributes(self.result, "rel_error rel_error_joints rmse") | judged


def _compare(arm: Arm, log: Log, band: float | None, delay: float) -> Compared:
    from armdyn.identification.fit.validation import validate as compare
    from armdyn.identification.hypotheses.check import check_log
    from armdyn.identification.logs.corrections import without_delay
    from armdyn.identification.quality import level_for

    result = compare(arm, log, band=band, delay=delay)
    (log,) = without_delay([log], delay)
    # What speaks against the log stands above notes on how it was read.
    findings = sorted(check_log(arm, log).findings, key=lambda finding: finding.level == "note")
    return Compared(log, result, level_for(result.rel_error, findings), findings, arm)


def _show(arm: Arm, one: Compared) -> None:
    """A row per joint."""
    from armdyn.report.units import shared_unit, with_unit

    result = one.result
    rows = zip(arm.coordinate_names, result.rel_error_joints, result.rmse, strict=True)
    print_table(
        f"{arm.name} on {one.log.name}: {one.level}; relative torque error {result.rel_error:.2%} {one.compared}",
        ("joint", "error ", f"{with_unit('RMSE', shared_unit(arm, 'torque') or 'N m or N')} "),
        [(name, f"{error:.2%}", number(rmse, 3)) for name, error, rmse in rows],
    )
    if arm.preprocessing.changes:
        print(f"logs are treated as in the identification of the arm: {arm.preprocessing}")
    print_list("Data", one.advice)
    if not one.usable:
        _say_next(one)


def _show_all(arm: Arm, compared: list[Compared]) -> None:
    """A row per log, and what speaks against some of them."""
    worst = [int(one.result.rel_error_joints.argmax()) for one in compared]
    rows = [
        (one.log.name, str(one.level), f"{one.result.rel_error:.2%}", f"{j + 1} {arm.coordinate_names[j]}",
         f"{one.result.rel_error_joints[j]:.2%}")
        for one, j in zip(compared, worst, strict=True)
    ]  # fmt: skip
    heads = ("log", "verdict", "error ", "worst joint", "its error ")
    print_table(f"{arm.name}: relative torque error {compared[0].compared}", heads, rows)
    for one in compared:
        print_list(one.log.name, [text for f, text in zip(one.findings, one.advice, strict=True) if f.level != "note"])
    bad = next((one for one in compared if not one.usable), None)
    if bad is not None:
        _say_next(bad)


def _say_next(one: Compared) -> None:
    """Print what to do about a model that is not usable for a log."""
    import shlex

    from armdyn.report.advice import arm_words
    from armdyn.report.options import log_words, shown_path

    arm, log = one.arm, one.log
    if any(finding.level != "note" for finding in one.findings):
        print("next: correct the log first, see above")
        return
    print("next: identify the arm from its logs")
    if log.path is not None:
        print(
            f"try:  {shlex.join(['armdyn', 'identify', *arm_words(arm), shown_path(log.path), *log_words(arm, log)])}"
        )
