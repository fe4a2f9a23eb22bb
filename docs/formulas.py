r"""Formulas on the pages, printed by the code that computes with them: `python docs/formulas.py` writes them anew.

A page has `<!-- formula NAME -->` before such a block and `<!-- end -->` after it; what stands between comes from here.
A page that is not in step fails its test, and the build of the documentation.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import armdyn
from armdyn.control.laws.computed_torque import computed_torque
from armdyn.control.step import StepSubject, step_function
from armdyn.files import write_whole
from armdyn.identification.estimators.online import Lms
from armdyn.identification.estimators.online_code import OnlineEstimator, lms_step
from armdyn.spatial.inertia import parameter_names
from armdyn.trace.printers.latex import symbol

PAGES = Path(__file__).parent
BLOCK = re.compile(r"<!-- formula ([\w-]+) -->\n(.*?)<!-- end -->", re.DOTALL)
# One joint: what a page shows of laws and estimators must fit on it.
PENDULUM = armdyn.Arm.from_dh(
    [{"kind": "R", "a": 0.5, "mass": 2.0, "com": (-0.25, 0, 0), "inertia": [[0, 0, 0], [0, 0.04, 0], [0, 0, 0.04]]}],
    gravity=(0, -9.81, 0),
    name="pendulum",
)


def outputs(function: Callable[..., Any], subject: Any, **options: Any) -> dict[str, str]:
    """The right sides of a traced function's outputs, by name as they are printed."""
    text = armdyn.latex(function, subject, **options)
    return {re.sub(r"\\mathrm\{(\w+)\}", r"\1", left): right
            for left, right in (line.split(" = ", 1) for line in text.splitlines())}  # fmt: skip


def table(matrix: str) -> list[list[str]]:
    """The entries of a matrix or column, row by row."""
    inside = matrix.removeprefix(r"\begin{bmatrix} ").removesuffix(r" \end{bmatrix}")
    return [row.split(" & ") for row in inside.split(r" \\ ")]


def whole(left: str, right: str) -> str:
    """One equation."""
    return f"$${left} = {right}$$\n"


def by_entry(left: str, matrix: str, upper: bool = False) -> str:
    """An equation an entry; of a symmetric matrix those of the upper half."""
    rows = table(matrix)
    texts = [
        whole(f"{left}_{{{i + 1}{j + 1}}}", entry)
        for i, row in enumerate(rows)
        for j, entry in enumerate(row)
        if not (upper and j < i)
    ]
    return "\n".join(texts)


def by_column(matrix: str, names: tuple[str, ...]) -> str:
    """A line per column with the name of its parameter, without columns of zeros."""
    texts = []
    for name, column in zip(names, zip(*table(matrix), strict=True), strict=True):
        if set(column) != {"0"}:
            letters, number = re.fullmatch(r"(\D+)(\d+)", name).groups()  # type: ignore[union-attr]
            entries = r" \\ ".join(column)
            texts.append(
                rf"$${symbol(letters, int(number))}:\quad \begin{{bmatrix}} {entries} \end{{bmatrix}}$$" + "\n"
            )
    return "\n".join(texts)


def formulas() -> dict[str, str]:
    """Everything the pages show, by name."""
    two, puma, lu_meng = armdyn.arms.planar2(), armdyn.arms.puma3(), armdyn.arms.lu_meng2()
    linear, base = outputs(armdyn.linearize, two), armdyn.base_parameters(two)
    load = armdyn.adapt(armdyn.unknown_mass(PENDULUM, (0, 0, 0)))
    learner = OnlineEstimator(Lms(1.0), armdyn.base_parameters(PENDULUM))
    return {
        "pose": whole("T_{BE}", outputs(armdyn.forward_kinematics, two)["pose"]),
        "jacobian": whole("J", outputs(armdyn.jacobian, two)["J"]),
        "jacobian-rate": whole(r"\dot J", *outputs(armdyn.jacobian_rate, two).values()),
        "mass-matrix": whole("M", outputs(armdyn.mass_matrix, two)["M"]),
        "coriolis-matrix": whole("C", outputs(armdyn.coriolis_matrix, two)["C"]),
        "gravity": whole("g", outputs(armdyn.gravity_torque, two)[r"\tau"]),
        "mass-matrix-puma": by_entry("M", outputs(armdyn.mass_matrix, puma)["M"], upper=True),
        "coriolis-matrix-puma": by_entry("C", outputs(armdyn.coriolis_matrix, puma)["C"]),
        "gravity-puma": whole("g", outputs(armdyn.gravity_torque, puma)[r"\tau"]),
        "linear-M": whole("M", linear["M"]),
        "linear-C": whole("C", linear["C"]),
        "linear-K": by_entry("K", linear["K"]),
        "regressor": by_column(outputs(armdyn.regressor, lu_meng)["Y"], parameter_names(2)),
        "regressor-puma": by_column(outputs(armdyn.regressor, puma)["Y"], parameter_names(3)),
        "base-regressor": by_column(outputs(armdyn.base_regressor, base)["Y"], base.labels),
        "computed-torque": torque(computed_torque, PENDULUM),
        "slotine-li": law_torque(armdyn.SlotineLi(load, 1.0, 1.0, 1.0), "lam", "k"),
        "modified-slotine-li": law_torque(armdyn.ModifiedSlotineLi(load, 1.0, 1.0), "lam"),
        "craig": law_torque(armdyn.Craig(load, 2.0, 2.0, 1.0, 1.0), "kp", "kd"),
        "adaptive-torque": whole(r"\hat M a + \hat C v + \hat g", outputs(armdyn.adaptive_torque, two)[r"\tau"]),
        "lms": _lms(outputs(lms_step, learner, symbols=["gain"])["x"]),
    }


def law_torque(law: armdyn.Law, *gains: str) -> str:
    """The torque of a law's step, its gains as symbols."""
    subject = StepSubject(law, 1.0)
    return torque(step_function(subject), subject, symbols=gains)


def torque(law: Callable[..., Any], subject: Any, **options: Any) -> str:
    """The torque of a law for an arm of one joint, whose number need not be said."""
    (text,) = table(outputs(law, subject, output="tau", **options)[r"\tau"])[0]
    text = text.replace("c_{1}", r"\cos q").replace(r"\cos\left(q_{1}\right)", r"\cos q")
    return whole(r"\tau", re.sub(r", 1\}|(?<=[dp])1\}", "}", text).replace("_{1}", ""))


def _lms(column: str) -> str:
    """The three estimates after a sample."""
    rows = [row.replace(r"\mathrm{gain}", r"\gamma").replace(r"\tau_{1}", r"\tau") for (row,) in table(column)]
    return "\n".join(whole(f"x_{{{i}}}^+", row) for i, row in enumerate(rows, 1))


def in_step(page: str, texts: dict[str, str]) -> str:
    """The text of a page with its formulas as the code prints them."""
    return BLOCK.sub(lambda block: f"<!-- formula {block[1]} -->\n{texts[block[1]]}<!-- end -->", page)


def stale() -> list[Path]:
    """Pages whose formulas are not what the code prints."""
    texts = formulas()
    return [path for path in sorted(PAGES.glob("*.md")) if in_step(path.read_text(), texts) != path.read_text()]


if __name__ == "__main__":
    for path in stale():
        write_whole(path, in_step(path.read_text(), formulas()))
        print(f"wrote {path.name}")
