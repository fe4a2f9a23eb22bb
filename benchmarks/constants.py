"""Every number of identification, and how flat the errors are around it: `python benchmarks/constants.py`.

A number is a module-level constant of `src/armdyn/identification`; its comment says what it decides. Each is halved
and doubled, one at a time, and real arms (one task each) and synthetic ones (`zoo/`) are identified again; errors stand
over those of plain least squares. A value is also chosen on all robots but one, both kinds counting alike: a number
that matters keeps its value then, and a number around which the score is flat could be another.

    python benchmarks/constants.py --only fit --results rows.jsonl     # goes on where it stopped
    python benchmarks/constants.py --list                              # the numbers alone
    python benchmarks/constants.py --results rows.jsonl --done --page docs/development/constants.md
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from robots import finished, make, run
from zoo.plain import plain_errors, prediction_error
from zoo.real import real_cases
from zoo.score import read
from zoo.tables import LEAST, mean

import armdyn
from armdyn.errors import ArmdynError

FOLDER = Path(armdyn.__file__).parent / "identification"
FACTORS = (0.5, 2.0)
SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"  # one arm, a few numbers: CI size
SEEDS = 8
UNCHECKED = ("fit", "motion", "estimators", "quality", "correlation")  # folders whose numbers checks do not see


class Constant(NamedTuple):
    """A number of a module, or several that belong together."""

    module: str  # within the folder, such as "fit.choice"
    name: str
    value: Any
    meaning: str


def is_number(node: ast.expr) -> bool:
    """Whether a value is a number, a tuple of numbers, or computed from some."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    if isinstance(node, ast.Tuple | ast.List):
        return bool(node.elts) and all(map(is_number, node.elts))
    if isinstance(node, ast.BinOp):
        return is_number(node.left) or is_number(node.right)
    return isinstance(node, ast.UnaryOp) and is_number(node.operand)


def constants() -> Iterator[Constant]:
    """All numbers, in the order of their modules."""
    for path in sorted(FOLDER.rglob("*.py")):
        lines = path.read_text().splitlines()
        name = ".".join(path.relative_to(FOLDER).with_suffix("").parts)
        for node in ast.parse("\n".join(lines)).body:
            if isinstance(node, ast.Assign) and is_number(node.value):
                target = node.targets[0]
                names = [x.id for x in (target.elts if isinstance(target, ast.Tuple) else [target]) if _upper(x)]
                value = import_module(f"armdyn.identification.{name}") if names else None
                comment = _comment(lines, node)
                yield from (Constant(name, each, getattr(value, each), comment) for each in names)


def _upper(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id.isupper()


def _comment(lines: list[str], node: ast.Assign) -> str:
    """The comment behind a constant, or above it."""
    beside = lines[(node.end_lineno or node.lineno) - 1].partition("  # ")[2]
    if beside:
        return beside
    above, k = [], node.lineno - 2
    while k >= 0 and lines[k].startswith("# "):
        above.insert(0, lines[k][2:])
        k -= 1
    return " ".join(above)


def scaled(value: Any, factor: float) -> Any:
    """A value by which a number is replaced; whole numbers stay whole."""
    if isinstance(value, tuple | list):
        return type(value)(scaled(x, factor) for x in value)
    return max(1, round(value * factor)) if isinstance(value, int) else value * factor


@cache
def _numbers() -> dict[str, Constant]:
    return {f"{constant.module}.{constant.name}": constant for constant in constants()}


@lru_cache(maxsize=1)
def _prepared(name: str) -> tuple[Any, list[Any], Any, float]:
    case = make(name)
    plain = plain_errors(case.arm, case.train, case.test)[1]
    return case, [read(case, table) for table in case.train], read(case, case.test), plain


def error(name: str, key: str, factor: float) -> float:
    """Error of the consistent and the free model together over plain least squares', or 1 where a log is rejected."""
    case, logs, test, plain = _prepared(name)
    identify = import_module("armdyn.identification.identify")
    with ExitStack() as stack, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        constant = _numbers().get(key)
        if constant is None or constant.module.startswith(UNCHECKED):
            stack.enter_context(patch.object(identify, "run_checks", lambda *_, **__: ((), ())))
        if constant is not None:
            for room in [m for n, m in sys.modules.items() if n.startswith("armdyn.")]:
                if getattr(room, constant.name, None) is constant.value:
                    stack.enter_context(patch.object(room, constant.name, scaled(constant.value, factor)))
        try:
            fit = armdyn.identify(case.arm, logs, force=constant is None or constant.module.startswith(UNCHECKED))
        except ArmdynError:
            return 1.0
        except ValueError:  # half or twice the number cannot be: limits that cross
            return np.nan
        answer = fit.predict(test)
        return prediction_error(case.test, np.asarray(answer.t), np.asarray(answer.tau)) / plain


def task(unit: str) -> dict[str, Any]:
    """The row of a task with a number halved and doubled, or of the task as it is."""
    name, _, key = unit.partition("|")
    factors = FACTORS if key else (1.0,)
    return {"task": unit, **{f"{factor:g}": error(name, key, factor) for factor in factors}}


def tasks(seeds: int) -> list[str]:
    """One task of every real arm, and synthetic arms."""
    first = {case.tags["family"]: case.name for case in reversed(list(real_cases()))}
    return [*first.values(), *(f"zoo-{seed}" for seed in range(seeds))]


def lines(names: list[str], rows: dict[str, dict[str, Any]], only: str) -> list[str]:
    """The table."""
    head = f"| number | value | what it decides | real arms: x {FACTORS[0]:g}, as is, x {FACTORS[1]:g} |"
    out = [f"{head} synthetic arms | chosen without one robot |", "|---|---|---|---|---|---|"]
    for key, constant in _numbers().items():
        if not key.startswith(only):
            continue
        value = " ".join(str(constant.value).replace("|", "/").split())
        done = [name for name in names if {f"{name}|{key}", f"{name}|"} <= set(rows)]
        figures = _figures(done, key, rows) if len(done) > 2 else ["not measured", "not measured", ""]
        out.append(f"| `{key}` | {value} | {constant.meaning} | {' | '.join(figures)} |")
    return out


def _figures(names: list[str], key: str, rows: dict[str, dict[str, Any]]) -> list[str]:
    """Scores of real and of synthetic arms with their number, and the values chosen without one robot."""
    real = np.array([not name.startswith("zoo-") for name in names])
    table = [[rows[f"{name}|{key}"]["0.5"], rows[f"{name}|"]["1"], rows[f"{name}|{key}"]["2"]] for name in names]
    logs = np.log(np.maximum(table, LEAST))
    scores = [
        " / ".join(f"{mean(np.exp(c)):.3f}" for c in logs[some].T) + f" ({some.sum()})" if some.any() else "-"
        for some in (real, ~real)
    ]
    chosen = [int(np.argmin(_without(logs, real, k)[[1, 0, 2]])) for k in range(len(names))]
    words = ("as is", f"x {FACTORS[0]:g}", f"x {FACTORS[1]:g}")
    return [*scores, ", ".join(f"{word} {chosen.count(k)}" for k, word in enumerate(words) if k in chosen)]


def _without(logs: np.ndarray, real: np.ndarray, robot: int) -> np.ndarray:
    """Mean of each value over all robots but one, real and synthetic ones counting alike."""
    others = np.arange(len(logs)) != robot
    return np.mean([logs[some & others].mean(axis=0) for some in (real, ~real) if (some & others).any()], axis=0)


def page(table: list[str], names: list[str]) -> str:
    """The table as a page."""
    return "\n".join([
        "# Numbers of identification", "",
        "Written by `python benchmarks/constants.py --page docs/development/constants.md`. Every number is halved and",
        f"doubled, one at a time; errors are those of `fit.predict` over plain least squares' on {len(names)} tasks:",
        f"{', '.join(names)}. In brackets is how many of them were measured; the last column says which",
        "value is chosen on all of these but one, how often.", "",
        *table, "",
    ])  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only",
        default="fit.choice" if SMALL else "",
        help="numbers whose module and name begin like this, such as fit.choice",
    )
    parser.add_argument("--seeds", type=int, default=SEEDS, help="synthetic arms")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results", type=Path, help="file of rows (JSON lines) to go on with")
    parser.add_argument("--list", action="store_true", help="only list the numbers")
    parser.add_argument("--done", action="store_true", help="only the table of what is in the file of rows")
    parser.add_argument("--page", type=Path, help="write a page, too")
    options = parser.parse_args()
    if options.list:
        for constant in constants():
            print(f"{constant.module}.{constant.name} = {constant.value}: {constant.meaning}")
        return
    names = tasks(options.seeds)[: 1 if SMALL else None]
    keys = [key for key in _numbers() if key.startswith(options.only)]
    wanted = [f"{name}|{key}" for name in names for key in ("", *keys)]
    if options.done:
        rows = finished(options.results)
    else:
        rows = {row["task"]: row for row in run(wanted, options.results, options.jobs, task)}
    table = lines(names, rows, options.only)
    print("\n".join(table))
    if options.page is not None:
        options.page.write_text(page(table, names))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
