"""Every number of identification, and how flat the scores are around it: `python benchmarks/constants.py`.

A number is a module-level constant of `src/armdyn/identification`; its comment says what it decides. Each is halved
and doubled, one at a time, with the numbers that follow from it, where it can matter: numbers of the fit by the error
of the consistent and the free model together over plain least squares', on logs that are not checked; numbers of the
checks by what is found in clean logs and in logs with a fault; numbers of reading by both. A value is also chosen on
all tasks but one, real and synthetic ones counting alike: a number that matters keeps its value then, and a number
around which the score is flat could be another. Numbers that none of the tasks meets say where they decide.

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
from zoo.faults import spoil
from zoo.plain import plain_errors, prediction_error
from zoo.score import read
from zoo.tables import LEAST, mean
from zoo.thresholds import HALF_TOLD, UNTOLD, told

import armdyn
from armdyn.errors import ArmdynError, DataError
from armdyn.identification.hypotheses.check import PreparedLogs, check_logs

FOLDER = Path(armdyn.__file__).parent / "identification"
FACTORS = (0.5, 2.0)
SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"  # one arm, a few numbers: CI size
# Tasks by which numbers of the fit are scored: arms with few joints and many, logs that repeat, joints at rest.
FITS = ("zoo-1", "EMPS 60/40", "LWR4 1>2", "zoo-5", "double pendulum 60/40", "zoo-17", "XB4 1+2>3", "zoo-20")
# Logs by which numbers of the checks are: one clean for each with a fault.
CHECKS = (
    "zoo-0|delay", "LWR4 1>2", "zoo-17|step", "zoo-4|frozen", "zoo-5", "zoo-2|spikes", "XB4 1+2>3", "zoo-15|clipped",
    "zoo-5|dead", "zoo-1", "zoo-7|exchange", "EMPS 60/40", "zoo-13|other arm", "zoo-11", "zoo-22|sign", "zoo-20",
)  # fmt: skip
# Where numbers decide that none of these tasks meets.
ELSEWHERE = {
    "drive_gains": "`identify_drive_gains` alone",
    "estimators.least_squares.HUBER": "the estimator `Reweighted` alone",
    "estimators.least_squares.ROUNDS": "statistics of the plain fit, not the model",
    "fit.next_motion": "the motion to log next",
    "fit.uncertainty": "the bound of the expected error, set on the zoo (`band` of `robots.py`)",
    "limits.CAREFUL_ERROR": "the verdict, not the model",
    "limits.NOT_USABLE_ERROR": "the verdict, not the model",
    "logs.column_names": "nothing: units by their definition",
    "logs.columns": "tables without times, or in poses",
    "logs.guess_columns": "columns without names",
    "logs.parquet_footer": "the format's own numbers",
    "logs.read_tables": "the format's own numbers",
    "motion.kalman_noise": "the Kalman smoother, where it is asked for",
    "payload": "`identify_payload` alone",
    "poses": "logs of poses held still",
    "quality": "the verdict, not the model",
}


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


def why_not(key: str) -> str:
    """Where a number decides that the tasks do not meet; empty where they do."""
    return next((words for start, words in ELSEWHERE.items() if f"{key}.".startswith(f"{start}.")), "")


def tasks_of(key: str) -> tuple[str, ...]:
    """Tasks that tell a number, or its module: `fit:` and `expected:` are those of the fit, others those of checks."""
    fits, checks = tuple(f"fit:{name}" for name in FITS), CHECKS
    if why_not(key):
        return ()
    if key.startswith("fit.novel_motion"):
        return tuple(f"expected:{name}" for name in FITS)
    return checks if key.startswith("hypotheses") else (*fits, *checks) if key.startswith(("logs", "limits")) else fits


@lru_cache(maxsize=1)
def _case(name: str) -> tuple[Any, float]:
    whole, _, fault = name.rpartition(":")[2].partition("|")
    case = spoil(make(whole), fault) if fault else make(whole)
    return case, plain_errors(case.arm, case.train, case.test)[1] if ":" in name else np.nan


def _patched(constant: Constant, factor: float) -> Iterator[Any]:
    """Replacements of a number, and of all that are computed from it, wherever they are."""
    rooms = [room for name, room in sys.modules.items() if name.startswith("armdyn.")]
    changed = {constant.name: (constant.value, scaled(constant.value, factor))}
    for _ in range(2):  # numbers by others that are by the first
        for path in sorted(FOLDER.rglob("*.py")):
            room = sys.modules.get(".".join(("armdyn.identification", *path.relative_to(FOLDER).with_suffix("").parts)))
            for name, value in _computed(path) if room is not None else ():
                known = {n: new for n, (old, new) in changed.items() if getattr(room, n, None) is old}
                if name not in changed and known.keys() & {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}:
                    code = compile(ast.Expression(value), str(path), "eval")
                    changed[name] = getattr(room, name), eval(code, vars(room) | known)
    for name, (old, new) in changed.items():
        yield from (patch.object(room, name, new) for room in rooms if getattr(room, name, None) is old)


@cache
def _computed(path: Path) -> list[tuple[str, ast.expr]]:
    """Module-level numbers that are computed from others."""
    nodes = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.Assign)]
    return [(node.targets[0].id, node.value) for node in nodes
            if isinstance(node.targets[0], ast.Name) and _upper(node.targets[0])
            and isinstance(node.value, ast.BinOp | ast.Call)]  # fmt: skip


def _forget() -> None:
    """Clear what functions remember, for it was computed with other numbers."""
    for name, room in list(sys.modules.items()):
        if name.startswith("armdyn.identification."):
            for function in vars(room).values():
                getattr(function, "cache_clear", lambda: None)()


def result(name: str, key: str, factor: float) -> float:
    """Score of a task with a number multiplied by a factor: an error over plain least squares', or a loss."""
    constant = _numbers().get(key)
    with ExitStack() as stack, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for replacement in () if constant is None else _patched(constant, factor):
            stack.enter_context(replacement)
        _forget()
        try:
            return _error(stack, *_case(name), name.startswith("expected:")) if ":" in name else _loss(_case(name)[0])
        except (ValueError, IndexError, ZeroDivisionError):  # half or twice the number cannot be: limits that cross
            return np.nan


def _error(stack: ExitStack, case: Any, plain: float, expected: bool) -> float:
    """Error of the best prediction over plain least squares', or by which factor the expected error is off."""
    identify = import_module("armdyn.identification.identify")
    stack.enter_context(patch.object(identify, "run_checks", lambda *_, **__: ((), ())))
    fit = armdyn.identify(case.arm, [read(case, table) for table in case.train], force=True)
    answer = fit.predict(read(case, case.test), model="consistent" if expected else "best")
    error = prediction_error(case.test, np.asarray(answer.t), np.asarray(answer.tau))
    return float(np.exp(abs(np.log(fit.expected_error / error)))) if expected else error / plain


def _loss(case: Any) -> float:
    """Loss by what is found in logs, as `robots.py --thresholds` counts it."""
    spoilt = "fault" in case.tags
    try:
        prepared = PreparedLogs.of(case.arm, [read(case, table) for table in case.train])
        loss = told(*check_logs(prepared, prepared.hypotheses()))
    except (ArmdynError, DataError):
        loss = UNTOLD
    return loss if not spoilt else {0.0: UNTOLD, UNTOLD: 0.0}.get(loss, HALF_TOLD)


def task(unit: str) -> dict[str, Any]:
    """The row of a task with a number halved and doubled, or of the task as it is."""
    name, _, key = unit.partition("@")
    factors = FACTORS if key else (1.0,)
    return {"task": unit, **{f"{factor:g}": result(name, key, factor) for factor in factors}}


def wanted_rows(keys: list[str]) -> list[str]:
    """Tasks as they are, and with every number that they tell; one of each kind after the other."""
    fits, expected = ([f"{kind}:{name}" for name in FITS] for kind in ("fit", "expected"))
    several = (fits, CHECKS, expected)
    ordered = [name for k in range(len(CHECKS)) for names in several for name in names[k : k + 1]]
    ordered = ordered[: 2 if SMALL else None]
    return [f"{name}@{key}" for name in ordered for key in ("", *(k for k in keys if name in tasks_of(k)))]


def lines(keys: list[str], rows: dict[str, dict[str, Any]]) -> list[str]:
    """The table."""
    scores = f"x {FACTORS[0]:g} / as is / x {FACTORS[1]:g}"
    head = "number | value | what it decides"
    out = [f"| {head} | error over plain: {scores} | loss of checks: {scores} | chosen without one |"]
    out += ["|---|---|---|---|---|---|"]
    for key in keys:
        constant = _numbers()[key]
        value = " ".join(str(constant.value).replace("|", "/").split())
        done = [name for name in tasks_of(key) if {f"{name}@{key}", f"{name}@"} <= set(rows)]
        figures = _figures(done, key, rows) if done else [f"not measured: {why_not(key) or 'no time'}", "", ""]
        out.append(f"| `{key}` | {value} | {constant.meaning} | {' | '.join(figures)} |")
    return out


def _figures(names: list[str], key: str, rows: dict[str, dict[str, Any]]) -> list[str]:
    """Errors and losses with their number of tasks, and the values chosen without one task."""
    kinds = np.array([":" in name for name in names])
    table = np.array(
        [[rows[f"{name}@{key}"]["0.5"], rows[f"{name}@"]["1"], rows[f"{name}@{key}"]["2"]] for name in names], float
    )
    figures = []
    for some, middle in ((kinds, lambda c: mean(np.maximum(c, LEAST))), (~kinds, np.mean)):
        whole = [f"{middle(c):.3f}" if np.isfinite(c).all() else "cannot be" for c in table[some].T if some.any()]
        figures.append(f"{' / '.join(whole)} ({some.sum()})" if whole else "-")
    figures[0] = f"expected error off by {figures[0]}" if names[0].startswith("expected:") else figures[0]
    costs = np.nan_to_num(np.where(kinds[:, None], np.log(np.maximum(table, LEAST)), table), nan=np.inf)
    chosen = [int(np.argmin(_without(costs, kinds, k)[[1, 0, 2]])) for k in range(len(names))] if len(names) > 1 else []
    words = ("as is", f"x {FACTORS[0]:g}", f"x {FACTORS[1]:g}")
    same = (table == table[:, 1:2]).all()
    return [
        *figures,
        "no difference" if same else ", ".join(f"{w} {chosen.count(k)}" for k, w in enumerate(words) if k in chosen),
    ]


def _without(logs: np.ndarray, real: np.ndarray, robot: int) -> np.ndarray:
    """Mean of each value over all robots but one, real and synthetic ones counting alike."""
    others = np.arange(len(logs)) != robot
    return np.mean([logs[some & others].mean(axis=0) for some in (real, ~real) if (some & others).any()], axis=0)


def page(table: list[str]) -> str:
    """The table as a page."""
    return "\n".join([
        "# Numbers of identification", "",
        "Written by `python benchmarks/constants.py --page docs/development/constants.md`. Every number is halved and",
        "doubled, one at a time, together with those that are computed from it. Numbers of the fit are scored by the",
        f"error of `fit.predict` over plain least squares' (geometric mean, less than {LEAST:g} counts as that) on",
        f"{', '.join(FITS)}; numbers of the checks by the mean loss ({UNTOLD:g} for a fault that is not noticed or a",
        f"clean log that is rejected, {HALF_TOLD:g} for one that is warned of) on {', '.join(CHECKS)};",
        "those of reading and those that both share by both; numbers of motion that is new by the factor by which the",
        "expected error is off on the tasks of the fit. In brackets is how many of these tasks were measured.",
        "The last column says which value is chosen on all of them but one, how often; *no difference* means that no",
        "task tells the values apart. Tasks of real arms need `../shared/data`; `zoo-5` is a synthetic arm, and",
        "`zoo-5|dead` the same with a fault (see `benchmarks/robots.py`).", "",
        *table, "",
    ])  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only",
        default="fit.choice" if SMALL else "",
        help="numbers whose module and name begin like this, such as fit.choice",
    )
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
    keys = [key for key in _numbers() if key.startswith(options.only)]
    if options.done:
        rows = finished(options.results)
    else:
        rows = {row["task"]: row for row in run(wanted_rows(keys), options.results, options.jobs, task)}
    table = lines(keys, rows)
    print("\n".join(table))
    if options.page is not None:
        options.page.write_text(page(table))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
