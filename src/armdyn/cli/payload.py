"""`armdyn payload ARM LOG`: what an arm carries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from armdyn.cli.identify import Degrees
from armdyn.cli.resolve import ArmName, Base, Json, Tip


def payload(
    arm: ArmName,
    log: Annotated[Path, typer.Argument(metavar="LOG", help="Log of the arm with its payload.")],
    out: Annotated[Path | None, typer.Option(help="Write the arm with its payload: .urdf or .toml.")] = None,
    degrees: Degrees = False,
    base: Base = None,
    tip: Tip = None,
    json: Json = False,
) -> None:
    """Find mass, centre and inertia of what a known arm carries."""
    from armdyn.cli.resolve import resolve
    from armdyn.cli.show import print_json
    from armdyn.identification.payload import identify_payload
    from armdyn.identification.read_log import read_log

    known = resolve(arm, base, tip)
    found = identify_payload(known, read_log(log, known, angle="deg" if degrees else None))
    if out is not None:
        found.arm.save(out)
    if json:
        names = ("mass", "mass_std", "com", "com_std", "inertia", "rel_error")
        print_json({name: getattr(found, name) for name in names})
        return
    print(f"mass    {found.mass:.4g} ± {1.96 * found.mass_std:.2g} kg (95 %)")
    pairs = zip("xyz", found.com, found.com_std, strict=True)
    print("centre  " + ", ".join(f"{axis} {c:.4g} ± {1.96 * s:.2g}" for axis, c, s in pairs) + " m in the tip's frame")
    print(
        "inertia " + "; ".join(" ".join(f"{x:.3g}" for x in row) for row in found.inertia) + " kg m² about the centre"
    )
    print(f"relative torque error {found.rel_error:.2%}")
