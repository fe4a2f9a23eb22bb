"""`armdyn identify ARM LOG ...`: from measured motion to a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from armdyn.cli.resolve import ArmName, Base, Json, Tip

if TYPE_CHECKING:
    from rich.console import Console

    from armdyn.identification.fit import Fit

Degrees = Annotated[bool, typer.Option("--degrees", help="Angles in the logs are degrees.")]


def identify(
    arm: ArmName,
    logs: Annotated[list[Path], typer.Argument(metavar="LOG...", help="Logs: .csv, .npz, .mat, .parquet, ROS 2 bags.")],
    validate: Annotated[Path | None, typer.Option(help="A log that is not fitted to.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the model: .urdf or .toml.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write a report: .html.")] = None,
    gravity: Annotated[bool, typer.Option("--gravity", help="Gravity and friction alone, from slow motion.")] = False,
    springs: Annotated[bool, typer.Option("--springs", help="Joints may have springs (balancers).")] = False,
    degrees: Degrees = False,
    base: Base = None,
    tip: Tip = None,
    json: Json = False,
) -> None:
    """Identify an arm's inertia and friction from logs of its motion and torque."""
    from armdyn.cli.resolve import resolve
    from armdyn.cli.show import print_json
    from armdyn.identification.identify import identify as fit_arm
    from armdyn.identification.read_log import read_log

    described = resolve(arm, base, tip)
    unit = "deg" if degrees else None
    other = None if validate is None else read_log(validate, described, angle=unit)
    fit = fit_arm(
        described,
        [read_log(log, described, angle=unit) for log in logs],
        terms="gravity" if gravity else "full",
        springs=springs,
        validation=other,
    )
    if out is not None:
        onto = Path(arm) if Path(arm).suffix == ".urdf" and out.suffix == ".urdf" else None
        fit.arm.save(out, **({"onto": onto} if onto else {}))
    if report is not None:
        from armdyn.report.registry import report as write

        write(fit, report)
    if json:
        print_json(summary(fit))
        return
    from rich.console import Console

    show(fit, Console(highlight=False))


def summary(fit: Fit) -> dict[str, Any]:
    """Everything that `identify` found, in SI units."""
    return {
        "arm": fit.source.name,
        "rel_error": fit.rel_error,
        "held_out": fit.held_out,
        "validation": None if fit.other is None else fit.other.rel_error,
        "as_described": fit.rel_error_source,
        "rel_error_joints": fit.rel_error_joints,
        "theta": fit.theta,
        "base": {"names": fit.base.names, "theta": fit.base.theta, "std": fit.base.std},
        "structure": fit.structure,
        "undetermined": fit.undetermined,
        "prior_strength": fit.strength,
        "notes": fit.notes,
    }


def show(fit: Fit, console: Console) -> None:
    """Print the errors, the joints and what the data alone say."""
    from armdyn.cli.show import number, print_list, print_table

    text = f"{fit.source.name}: relative torque error {fit.rel_error:.2%}, on held-out blocks {fit.held_out:.2%}"
    if fit.other is not None:
        text += f", on the validation log {fit.other.rel_error:.2%}"
    rows = [
        (joint.name, f"{error:.2%}", number(joint.friction.viscous), number(joint.friction.coulomb), ", ".join(terms))
        for joint, error, terms in zip(fit.arm.joints, fit.rel_error_joints, fit.structure, strict=True)
    ]
    print_table(console, text, ("joint", "error ", "viscous ", "Coulomb ", "terms"), rows)
    data = zip(fit.base.names, fit.base.theta, fit.base.std, strict=True)
    print_table(
        console,
        "What the data alone say (SI)",
        ("parameter", "estimate ", "95 % ± "),
        [(name, number(value), number(1.96 * std, 2)) for name, value, std in data],
    )
    print_list(console, "Notes", fit.notes)
