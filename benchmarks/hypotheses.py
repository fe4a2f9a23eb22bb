"""Detection and false alarms of the hypotheses about logs: `python benchmarks/hypotheses.py`.

Synthetic arms (`zoo/`), as they are and with each fault, and the real logs of `../shared/data` where they exist, are
screened without identification. The table has of each fault how often it is noticed where it matters and shows, how
often its kind is named, and how often its joints are; the curve has detection and false alarms by the log evidence
that is asked for.

    python benchmarks/hypotheses.py                      # 8 arms
    python benchmarks/hypotheses.py --size 60 --only quarter-turn,gain
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from zoo.cases import Case, make_case
from zoo.faults import ALL_FAULTS, NAMED, spoil
from zoo.plain import plain_errors
from zoo.real import real_cases
from zoo.score import read
from zoo.tables import HARMFUL, KNOWN, VISIBLE

import armdyn
from armdyn.identification.hypotheses import screening
from armdyn.identification.hypotheses.check import PreparedLogs, check_logs

os.environ.setdefault("OMP_NUM_THREADS", "1")
SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"  # CI size
LEVELS = (10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 60.0, 100.0)


def screened(name: str) -> dict[str, Any]:
    """The row of a task: zoo-7, zoo-7|delay, or UR10 60/40|delay."""
    whole, _, fault = name.partition("|")
    number = whole.removeprefix("zoo-")
    case = make_case(int(number)) if number.isdigit() else next(c for c in real_cases() if c.name == whole)
    spoilt = spoil(case, fault) if fault else case
    row: dict[str, Any] = dict(task=name, fault=fault, description=case.tags.get("description"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if fault:
            before, after = (plain_errors(c.arm, c.train, c.test) for c in (case, spoilt))
            row["harms"] = after[1] > HARMFUL * before[1]
            row["shows"] = after[0] > VISIBLE * before[0] or row["description"] in KNOWN
        row["joints"] = list(spoilt.tags.get("joints", ()))
        return row | findings_of(spoilt)


def findings_of(case: Case) -> dict[str, Any]:
    """Findings that are more than notes, and the log evidence of the most probable fault."""
    try:
        prepared = PreparedLogs.of(case.arm, [read(case, table) for table in case.train])
    except armdyn.ArmdynError as error:
        return dict(findings=[["reading", "reject", []]], evidence=np.inf, text=str(error))
    checks, together = check_logs(prepared, prepared.hypotheses())
    findings = [f for f in (*together, *(f for check in checks for f in check.findings)) if f.level != "note"]
    best = 0.0
    if prepared.regression is not None and all(check.ok for check in checks):
        scored = (screening.score(prepared.regression, hypothesis)[0] for hypothesis in prepared.hypotheses())
        best = max((s.ratio for s in scored if s is not None), default=0.0)
    drives = [f for f in together if f.kind == "coupling"]
    return dict(
        findings=[[str(f.kind), f.level, list(f.joints)] for f in findings],
        figures=[[f.log_evidence, f.error_reduction, f.value] for f in findings],
        evidence=best,
        couplings=[[*map(int, f.joints), int(f.value)] for f in drives], coupled=case.coupled,
    )  # fmt: skip


def share(values: list[bool]) -> str:
    return f"{np.mean(values):4.0%} ({sum(values)} of {len(values)})" if values else "   -"


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Of each fault: noticed where it matters and shows, of all; named, and with its joints."""
    lines = [f"{'fault':18s} {'noticed where it shows':>24s} {'of all':>20s} {'named':>20s} {'joints':>20s}"]
    clean = [row for row in rows if not row["fault"]]
    for fault in dict.fromkeys(row["fault"] for row in rows if row["fault"]):
        some = [row for row in rows if row["fault"] == fault]
        due = [row for row in some if row["harms"] and row["shows"]]
        noticed = [bool(row["findings"]) for row in due]
        named = [any(kind in NAMED[fault] for kind, *_ in row["findings"]) for row in due if row["findings"]]
        told = [
            any(kind in NAMED[fault] and joints == row["joints"] for kind, _, joints in row["findings"])
            for row in due
            if row["findings"] and row["joints"]
        ]
        lines.append(
            f"{fault:18s} {share(noticed):>24s} {share([bool(r['findings']) for r in some]):>20s} {share(named):>20s} "
            f"{share(told):>20s}"
        )
    if clean:
        lines.append(f"alarms on clean logs {share([bool(row['findings']) for row in clean])}")
        rejected = [any(level == "reject" for _, level, _ in row["findings"]) for row in clean]
        lines.append(f"false rejections     {share(rejected)}")
        invented = [bool(row.get("couplings")) for row in clean if not row.get("coupled")]
        lines.append(f"drives invented      {share(invented)}")
        wrists = [list(row["coupled"]) in row["couplings"] for row in clean if row.get("coupled")]
        lines.append(f"drives found         {share(wrists)}")
    return lines


def curve(rows: list[dict[str, Any]]) -> list[str]:
    """Share of faults that show and of clean logs whose most probable fault has more log evidence than a level."""
    due = np.array([row["evidence"] for row in rows if row["fault"] and row["harms"] and row["shows"]])
    clean = np.array([row["evidence"] for row in rows if not row["fault"]])
    lines = [f"{'log evidence':>14s} {'faults':>8s} {'clean logs':>11s}"]
    return lines + [f"{level:14.0f} {np.mean(due > level):8.0%} {np.mean(clean > level):11.1%}" for level in LEVELS]


def main() -> None:
    parser = argparse.ArgumentParser(description="Detection and false alarms of hypotheses about logs.")
    parser.add_argument("--size", type=int, default=2 if SMALL else 8, help="synthetic arms")
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--faults", type=int, default=3 if SMALL else len(ALL_FAULTS), help="faults per arm")
    parser.add_argument("--only", default=",".join(["clean", *ALL_FAULTS]), help="clean, real and names of faults")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--results", type=Path, help="file of rows (JSON lines) to go on with")
    given = parser.parse_args()
    only = given.only.split(",")
    faults = [fault for fault in ALL_FAULTS if fault in only]
    wanted = []
    for seed in range(given.first, given.first + given.size):
        wanted += [f"zoo-{seed}"] if "clean" in only else []
        wanted += [f"zoo-{seed}|{faults[(seed + 5 * k) % len(faults)]}" for k in range(min(given.faults, len(faults)))]
    wanted += [case.name for case in real_cases()] if "real" in only else []
    done = {}
    if given.results is not None and given.results.exists():
        done = {row["task"]: row for row in map(json.loads, given.results.read_text().splitlines())}
    with ProcessPoolExecutor(given.jobs) as pool:
        for row in pool.map(screened, [name for name in wanted if name not in done]):
            done[row["task"]] = row
            if given.results is not None:
                with given.results.open("a") as file:
                    file.write(json.dumps(row, default=float) + "\n")
    rows = [done[name] for name in dict.fromkeys(wanted)]
    print("\n".join([*table(rows), "", *curve(rows)]))


if __name__ == "__main__":
    main()
