"""`armdyn drive-gains ARM LOG LOADED --mass M`: what a unit of current is worth."""

from __future__ import annotations

from pathlib import Path

from armdyn.cli.logs import LogOptions, reject_swapped
from armdyn.cli.long_work import working
from armdyn.cli.resolve import resolve
from armdyn.cli.show import print_json


def drive_gains(
    arm: str,
    log: Path,
    loaded: Path,
    mass: float,
    com: tuple[float, float, float] | None = None,
    *,
    options: LogOptions,
    base: str | None = None,
    tip: str | None = None,
    json: bool = False,
) -> None:
    """Find the torque that a unit of current makes at each joint, for `identify --drive-gain`."""
    from armdyn.identification.drive_gains import identify_drive_gains

    reject_swapped(arm, [log, loaded])
    known = resolve(arm, base, tip)
    with working("reading the logs", "finding the gains") as go_on:
        without, carrying = options.read([log, loaded], known, currents=True)
        go_on()
        gains = identify_drive_gains(known, without, carrying, mass, com=com)
    if json:
        print_json(gains._asdict())
        return
    print(gains)
