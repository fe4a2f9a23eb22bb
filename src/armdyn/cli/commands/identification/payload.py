"""`armdyn payload ARM LOG`: what an arm carries."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from armdyn.cli.logs import LogOptions, mount_arm, option_words, reject_swapped
from armdyn.cli.long_work import require_folders, working
from armdyn.cli.resolve import resolve
from armdyn.cli.show import attributes, print_json


def payload(
    arm: str,
    log: Path,
    out: Path | None = None,
    format: Literal["franka", "ur", "kuka"] | None = None,
    frame: str = "tip",
    *,
    options: LogOptions,
    down: str | None = None,
    base: str | None = None,
    tip: str | None = None,
    json: bool = False,
) -> None:
    """Find mass, centre and inertia of what a known arm carries."""
    from armdyn.identification.payload import identify_payload
    from armdyn.model.tool_data import tool_data

    require_folders(model=out)
    reject_swapped(arm, [log])
    known = mount_arm(resolve(arm, base, tip), down)
    with working("reading the log", "finding the payload") as go_on:
        (measured,) = options.read([log], known)
        go_on()
        with option_words(known, measured):
            estimate = identify_payload(known, measured, frame=frame)
    if out is not None:
        estimate.arm.save(out)
    if json:
        from armdyn.report.options import advice

        findings = [advice(known, finding, measured) for finding in estimate.findings]
        judged = {"verdict": estimate.verdict, "findings": findings}
        if format is not None:
            judged["tool_data"] = tool_data(estimate.mass, estimate.com, estimate.inertia, format)
        print_json(attributes(estimate, "mass mass_std com com_std inertia inertia_std rel_error frame") | judged)
        return
    print(f"mass    {estimate.mass:.4g} ± {1.96 * estimate.mass_std:.2g} kg (95 %)")
    pairs = zip("xyz", estimate.com, estimate.com_std, strict=True)
    centre = ", ".join(f"{axis} {c:.4g} ± {1.96 * s:.2g}" for axis, c, s in pairs)
    print(f"centre  {centre} m in the frame of '{frame}'")
    rows = zip(estimate.inertia, estimate.inertia_std, strict=True)
    tensor = ("  ".join(f"{x:.3g} ± {1.96 * s:.2g}" for x, s in zip(*pair, strict=True)) for pair in rows)
    print("inertia " + "\n        ".join(tensor) + " kg m² about the centre")
    print(f"relative torque error {estimate.rel_error:.2%}: {estimate.verdict}")
    if format is not None:
        print(tool_data(estimate.mass, estimate.com, estimate.inertia, format))
