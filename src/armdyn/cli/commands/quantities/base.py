"""`armdyn base ARM`: the combinations of inertial parameters that torques can tell apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armdyn.cli.resolve import resolve
from armdyn.cli.show import attributes, number, print_json, print_line, print_table

if TYPE_CHECKING:
    from armdyn.dynamics.base.parameters import BaseParameters


def base(
    arm: str, gravity: bool = False, rotors: bool = False, base: str | None = None, tip: str | None = None,
    json: bool = False,
) -> None:  # fmt: skip
    """Show an arm's base parameters: what can be identified, and what cannot."""
    from armdyn.dynamics.base.parameters import base_parameters

    terms, joint_terms = "gravity" if gravity else "full", ("rotor",) if rotors else ()
    reduced = base_parameters(resolve(arm, base, tip), terms, joint_terms)
    if json:
        print_json(summary(reduced))
    else:
        show(reduced)


def summary(reduced: BaseParameters) -> dict[str, Any]:
    """Everything that `base` knows, in SI units; values are null where the arm's inertia is unknown."""
    return {
        "arm": reduced.name,
        **attributes(reduced, "terms count"),
        "of": reduced.P.shape[1],
        "names": reduced.labels,
        "formulas": reduced.formulas,
        "values": _values(reduced),
        **attributes(reduced, "lengths unidentifiable"),
        "gap": reduced.gap._asdict() if reduced.gap else None,
    }


def show(reduced: BaseParameters) -> None:
    """Print the parameters, the lengths they mention and how clear the rank is."""
    what = "gravity torques" if reduced.terms == "gravity" else "joint torques"
    rows = zip(range(1, reduced.count + 1), reduced.formulas, _values(reduced), strict=True)
    print_table(
        f"{reduced.name}: {reduced.count} base parameters, combinations of {reduced.P.shape[1]}, act on the {what}",
        ("# ", "base parameter", "value (SI) "),
        [(str(i), text, number(value)) for i, text, value in rows],
    )
    _show_lengths(reduced)
    alone = [text for text in reduced.unidentifiable if " " not in text]
    if alone:
        print_line(f"No effect at all: {', '.join(alone)}\n")
    if reduced.gap:
        print_line(
            f"Rank: every base column is independent of the others by {reduced.gap.weakest_kept:.1e} or more, "
            f"every dropped column by {reduced.gap.strongest_dropped:.1e} or less",
            "dim",
        )


def _show_lengths(reduced: BaseParameters) -> None:
    """The letters that the formulas use, and where they are measured."""
    text = " ".join(reduced.formulas).replace("^", " ").replace("(", " ").replace(")", " ")
    used = {name: value for name, value in reduced.lengths.items() if name in text.split()}
    if used:
        listed = ", ".join(f"{name} = {value:.6g}" for name, value in used.items())
        print_line(f"Lengths [m]: {listed}")
        if any(not name.startswith("a") for name in used):
            print_line("x2 y2 z2: from link 1's origin to joint 2, in link 1's axes", "dim")
        if any(name.startswith("a") for name in used):
            print_line("ax2 ay2 az2: vector from joint 2 to link 2's origin, in the joint's axes", "dim")
        print_line()


def _values(reduced: BaseParameters) -> list[float]:
    """The arm's own values, NaN where its inertia is unknown."""
    return [float(row @ reduced.own_parameters) for row in reduced.P]
