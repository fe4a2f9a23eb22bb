"""`armdyn drive-gains ARM LOG LOADED --mass M`: what a unit of current is worth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from armdyn.cli.logs import LogOptions, reject_swapped
from armdyn.cli.long_work import working
from armdyn.cli.options import spread_options
from armdyn.cli.resolve import ArmName, Base, Json, Tip, resolve
from armdyn.cli.show import print_json


@spread_options(options="drive_gain zero delay time_scale join")
def drive_gains(
    arm: ArmName,
    log: Annotated[Path, typer.Argument(metavar="LOG", help="Log of motion and currents without payload.")],
    loaded: Annotated[Path, typer.Argument(metavar="LOADED", help="The same with a payload of known mass.")],
    mass: Annotated[float, typer.Option(help="Payload mass [kg].")],
    com: Annotated[
        tuple[float, float, float] | None,
        typer.Option(help="Its centre of mass in the tip's frame [m]; identified where it is not given."),
    ] = None,
    *,
    options: LogOptions,
    base: Base = None,
    tip: Tip = None,
    json: Json = False,
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
