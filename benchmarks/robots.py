"""Identification on arms nobody tuned for: `python benchmarks/robots.py`.

Synthetic arms whose truth is known (see `zoo/`), drawn from seeds 0, 1, 2 ..., and the real logs of `../shared/data`
where they exist, also as other loggers would have them (`zoo/variants.py`). Every figure stands over plain least
squares (`zoo/plain.py`). Choices of identification are made on this table and on nothing smaller.

    python benchmarks/robots.py                                # 16 arms, 16 faults and the real logs
    ARMDYN_BENCHMARK=small python benchmarks/robots.py         # 12 arms and 12 faults: CI size, within a minute
    python benchmarks/robots.py --size 300 --results full.jsonl                # full size; goes on where it stopped
    python benchmarks/robots.py --size 40 --only clean
    python benchmarks/robots.py --size 8 --only kinds          # arms that are hard in one way each
    python benchmarks/robots.py --only variants                # real logs as other loggers would have them
    python benchmarks/robots.py --size 60 --only clean,real --thresholds SMALL_SHARE   # chosen without each robot
    python benchmarks/robots.py --size 60 --only clean,faults,real,real-faults --thresholds MIN_EVIDENCE,MIN_REDUCTION
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from zoo.cases import KINDS_OF_TASKS, Case, make_case
from zoo.faults import FAULTS, spoil
from zoo.page import page
from zoo.plain import plain_errors
from zoo.real import real_cases
from zoo.score import score
from zoo.tables import clean_table, fault_table, group_table, real_table
from zoo.thresholds import CHECKS, THRESHOLDS, score_checks, score_thresholds, threshold_table
from zoo.variants import variants_of, varied

os.environ.setdefault("OMP_NUM_THREADS", "1")
SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"
PARTS = ("clean", "faults", "kinds", "real", "real-faults", "variants")


def make(name: str) -> Case:
    """The clean task of a name: zoo-7, parallelogram-7, UR10 60/40, or UR10 60/40~repeated."""
    whole, _, variant = name.partition("~")
    kind, _, seed = whole.rpartition("-")
    if kind == "zoo" or kind in KINDS_OF_TASKS:
        return make_case(int(seed), "any" if kind == "zoo" else kind)
    case = next(case for case in real_cases() if case.name == whole)
    return varied(case, variant) if variant else case


def task(name: str) -> dict[str, Any]:
    """The row of a task, also of one with a fault: zoo-7|delay, or UR10 60/40|delay."""
    whole, _, fault = name.partition("|")
    case = make(whole)
    row = score(spoil(case, fault) if fault else case)
    row["task"] = name
    if fault and not whole.startswith("zoo-"):
        row["clean_plain"], row["clean_plain_train"] = plain_errors(case.arm, case.train, case.test)[::-1]
    return row


def thresholds(name: str, numbers: tuple[str, ...]) -> dict[str, Any]:
    """The row of a task with other values of numbers of the choice, or of the checks."""
    whole, _, fault = name.partition("|")
    case = spoil(make(whole), fault) if fault else make(whole)
    return {**(score_checks if numbers[0] in CHECKS else score_thresholds)(case, numbers), "task": name}


def names(seeds: Iterable[int], faults: int, only: Iterable[str]) -> Iterator[str]:
    """All tasks; each arm has some of the faults, each fault some of the arms."""
    for seed in seeds:
        if "clean" in only or "faults" in only:
            yield f"zoo-{seed}"
        if "faults" in only:
            yield from (f"zoo-{seed}|{list(FAULTS)[(seed + k * 5) % len(FAULTS)]}" for k in range(faults))
    if "kinds" in only:
        yield from (f"{kind}-{seed}" for kind in list(KINDS_OF_TASKS)[1:] for seed in seeds)
    real = [case.name for case in real_cases()] if {"real", "real-faults"} & set(only) else []
    yield from real
    if "variants" in only:
        yield from (f"{case.name}~{variant}" for case in real_cases() for variant in variants_of(case))
    if "real-faults" in only:
        yield from (f"{name}|{fault}" for name in real for fault in FAULTS)


def finished(results: Path | None) -> dict[str, dict[str, Any]]:
    """Rows of tasks that are in a file."""
    if results is None or not results.exists():
        return {}
    return {row["task"]: row for row in map(json.loads, results.read_text().splitlines())}


def run(
    wanted: list[str], results: Path | None = None, jobs: int = 1, task: Callable[[str], dict[str, Any]] = task
) -> list[dict[str, Any]]:
    """Rows of the tasks, those in the file `results` taken from there, new ones added to it."""
    done = finished(results)
    left = [name for name in wanted if name not in done]
    with ProcessPoolExecutor(jobs) as pool:
        for row in pool.map(task, left) if jobs > 1 else map(task, left):
            done[row["task"]] = row
            if results is not None:
                with results.open("a") as file:
                    file.write(json.dumps(row, default=float) + "\n")
    return [done[name] for name in wanted]


def print_tables(rows: list[dict[str, Any]]) -> None:
    for title, lines in tables(rows):
        print(f"\n{title}\n" + "\n".join(lines))


def tables(rows: list[dict[str, Any]]) -> Iterator[tuple[str, list[str]]]:
    for source, real in (("Synthetic arms", False), ("Real arms", True)):
        here = [row for row in rows if bool(row.get("real")) == real and not {"variant", "kind"} & set(row)]
        clean = {row["name"]: row for row in here if "fault" not in row}
        faulty = [row for row in here if "fault" in row]
        if clean:
            yield source, (real_table if real else clean_table)(list(clean.values()))
        if faulty:
            yield f"{source}, faults", fault_table(faulty, clean)
    if kinds := [row for row in rows if "kind" in row]:
        yield "Synthetic arms of some kinds", group_table(kinds, "kind")
    if changed := [row for row in rows if "variant" in row]:
        yield "Real arms, variants of their logs", group_table(changed, "variant")


def main() -> None:
    parser = argparse.ArgumentParser(description="Scores of identification on synthetic and real arms.")
    parser.add_argument("--size", type=int, default=12 if SMALL else 16, help="synthetic arms; 300 is full size")
    parser.add_argument("--first", type=int, default=0, help="first seed; from 9000 on nothing was chosen")
    parser.add_argument("--faults", type=int, default=1, help="faults per arm")
    usual = "clean,faults" if SMALL else "clean,faults,real"  # acceptance checks have the real logs
    parser.add_argument("--only", default=usual, help="of " + ", ".join(PARTS))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes; one per core by default")
    parser.add_argument("--results", type=Path, help="file of rows (JSON lines) to go on with")
    parser.add_argument("--page", type=Path, help="also write the page of robots tried (docs/robots.md)")
    parser.add_argument("--peers", type=Path, help="table that figaroh_comparison.py printed, for that page")
    parser.add_argument("--done", action="store_true", help="only tables of what is in the file of rows")
    parser.add_argument(
        "--thresholds",
        help=f"score numbers, each chosen on all robots but one: of the choice ({', '.join(THRESHOLDS)}; clean tasks "
        f"only), or of the checks ({', '.join(CHECKS)}; faults too)",
    )
    given = parser.parse_args()
    wanted = list(names(range(given.first, given.first + given.size), given.faults, given.only.split(",")))
    if given.done:
        wanted = [name for name in wanted if name in finished(given.results)]
    if given.thresholds:
        numbers = tuple(given.thresholds.split(","))
        rows = run(wanted, given.results, given.jobs, partial(thresholds, numbers=numbers))
        print("\n".join(threshold_table(rows, numbers)))
        return
    rows = run(wanted, given.results, given.jobs)
    print_tables(rows)
    if given.page is not None:
        given.page.write_text(page(rows, given.peers.read_text() if given.peers else ""))


if __name__ == "__main__":
    main()
