"""`armdyn validate MODEL LOG`: how well a model explains a log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli.logs import Columns, Degrees, Down, Gains, Gears, Offset, Topic, mount_arm, read, reject_swapped
from armdyn.cli.long_work import working
from armdyn.cli.resolve import ArmName, Base, Json, Tip, resolve
from armdyn.cli.show import attributes, number, print_json, print_list, print_table

if TYPE_CHECKING:
    from armdyn.identification.logs.log import Log
    from armdyn.model.arm import Arm


def validate(
    model: ArmName, log: Annotated[Path, typer.Argument(metavar="LOG", help="The log to compare with.")],
    band: Annotated[float, typer.Option(help="Low-pass on both sides [Hz].")] = 5.0, degrees: Degrees = False,
    gear_ratio: Gears = None, drive_gain: Gains = None, offset: Offset = None, columns: Columns = None,
    topic: Topic = None, down: Down = None, base: Base = None, tip: Tip = None, json: Json = False,
) -> None:  # fmt: skip
    """Compare a model's torques with those of a log; exit code 1 if the model is not usable for it."""
    from armdyn.identification.checks.check import check_log
    from armdyn.identification.fit.validation import validate as compare
    from armdyn.identification.judgement import WORDS, word_for

    reject_swapped(model, [log])
    arm = mount_arm(resolve(model, base, tip), down)
    with working("reading the log and comparing"):
        (measured,) = read([log], arm, degrees, gear_ratio, drive_gain, offset, columns, topic)
        result = compare(arm, measured, band=band)
        # What speaks against the log stands above notes on how it was read.
        found = sorted(check_log(arm, measured).findings, key=lambda finding: finding.level == "note")
    word, findings = word_for(result.rel_error, found), [finding.advice for finding in found]
    if json:
        told = {"verdict": word, "band": band, "findings": findings}
        print_json(attributes(result, "rel_error rel_error_joints rmse") | told)
    else:
        rows = zip(arm.joint_names, result.rel_error_joints, result.rmse, strict=True)
        print_table(
            f"{arm.name} on {measured.name}: {word}; relative torque error {result.rel_error:.2%} below {band:g} Hz",
            ("joint", "error ", "RMSE [N m or N] "),
            [(name, f"{error:.2%}", number(rmse, 3)) for name, error, rmse in rows],
        )
        print_list("Data", findings)
        if word == WORDS[2]:
            _say_next(arm, measured, any(finding.level != "note" for finding in found))
    if word == WORDS[2]:
        raise typer.Exit(1)


def _say_next(arm: Arm, log: Log, doubtful: bool) -> None:
    """What to do about a model that is not usable for a log."""
    import shlex

    from armdyn.report.advice import arm_words, shown_path

    if doubtful:
        print("next: put the log right first, as said above")
        return
    print("next: identify the arm from its logs")
    if log.path is not None:
        print(f"try:  {shlex.join(['armdyn', 'identify', *arm_words(arm), shown_path(log.path), *log.options])}")
