"""Rows of scores as tables of words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEAST = 0.3  # ratios to plain least squares below count as this
HARMFUL = 1.5  # factor by which a fault raises the error on new motion, from which on it must be noticed
VISIBLE = 1.1  # factor by which it raises what plain least squares leaves of the spoilt log: else nothing shows it
KNOWN = ("exact",)  # descriptions by which units and mounts show as well
SURE = ("delay", "step", "spikes", "stuck", "sign", "exchange")  # faults to notice in 85 %
LIKELY = ("time_scale", "zero", "gain")  # in 62 %

Row = dict[str, Any]


def ratios(rows: Iterable[Row], model: str) -> NDArray:
    return np.array([max(row[model] / row["plain"], LEAST) for row in rows if model in row])


def mean(x: NDArray) -> float:
    return float(np.exp(np.log(x).mean())) if len(x) else np.nan


def rejected(row: Row) -> bool:
    return "rejected" in row


def alarmed(row: Row) -> bool:
    """Whether a fault was told: by rejection, by a finding, or (versions without findings) by any warning."""
    if rejected(row):
        return True
    if "verdict" in row and row["verdict"] is not None:
        return any(level != "note" for _, level in row["findings"])
    return bool(row["warned"])


def share(x: Iterable[bool]) -> str:
    values = list(x)
    return f"{np.mean(values):6.1%} ({sum(values)} of {len(values)})" if values else "     - (0 of 0)"


def clean_table(rows: list[Row]) -> list[str]:
    lines = []
    sets = {
        "all": rows,
        "without unmodelled structure": [r for r in rows if not r.get("structure")],
        "well excited": [r for r in rows if r.get("excited")],
        "unmodelled structure": [r for r in rows if r.get("structure")],
        "coupled wrists": [r for r in rows if r.get("coupled")],
    }
    heads = zip(
        ("arms", "best", "consist.", "95 %", "cons. 95 %", "> 1.1", "worst"), (5, 7, 8, 7, 10, 7, 7), strict=True
    )
    lines.append(f"{'error over plain least squares':32s} " + " ".join(f"{head:>{w}s}" for head, w in heads))
    for name, some in sets.items():
        a, b = ratios(some, "best"), ratios(some, "consistent")
        if len(a):
            lines.append(
                f"{name:32s} {len(a):5d} {mean(a):7.3f} {mean(b):8.3f} {np.percentile(a, 95):7.2f} "
                f"{np.percentile(b, 95):10.2f} {np.mean(a > 1.1):7.1%} {a.max():7.2f}"
            )
    good = [r for r in rows if r.get("verdict") == "good"]
    stated = [r for r in rows if "stated" in r]
    single = [r for r in rows if "couplings" in r and not r["coupled"]]
    lines += [
        f"false rejections                 {share(rejected(r) for r in rows)}",
        f"any alarm on clean arms          {share(alarmed(r) for r in rows)}",
        f"any warning on clean arms        {share(bool(r['warned']) or rejected(r) for r in rows)}",
        f"internal errors                  {share('internal' in r for r in rows)}",
        f"verdict good, of well excited    {share(r.get('verdict') == 'good' for r in rows if r.get('excited'))}",
        f"verdict good and right           {share(r['consistent'] <= 1.5 * r['stated'] for r in good)}",
        f"actual error below the bound     {share(r['consistent'] <= r['stated'] for r in stated)}",
        expectation(rows),
    ]
    inside, total = np.sum([r["intervals"] for r in rows if "intervals" in r] or [[0, 0]], axis=0)
    lines.append(f"95 % intervals of parameters     {inside / max(total, 1):6.1%} ({inside} of {total})")
    bands = [r["band"] for r in rows if "band" in r]
    lines.append(f"95 % band of torques             {np.mean(bands) if bands else np.nan:6.1%} ({len(bands)} arms)")
    wrists = [r for r in rows if r.get("coupled") and "couplings" in r]
    lines += [
        f"coupled wrists found             {share(list(r['coupled']) in r['couplings'] for r in wrists)}",
        f"coupled wrists invented          {share(bool(r['couplings']) for r in single)}",
        f"seconds per arm                   {np.median([r['seconds'] for r in rows]):.2f} (median), "
        f"{max(r['seconds'] for r in rows):.1f} at most",
    ]  # fmt: skip
    return lines


def fault_table(rows: list[Row], clean: dict[str, Row]) -> list[str]:
    """How many faults were noticed, of those that matter and show, and of all."""
    lines = [f"{'fault':16s} {'noticed where it matters and shows':>36s} {'of all':>22s} {'internal':>9s}"]
    groups: dict[str, list[bool]] = {"sure": [], "likely": []}
    for fault in dict.fromkeys(r["fault"] for r in rows):
        some = [r for r in rows if r["fault"] == fault]
        due = [r for r in some if matters(r, clean[r["name"].split("|")[0]])]
        for name, faults in (("sure", SURE), ("likely", LIKELY)):
            groups[name] += [alarmed(r) for r in due] if fault in faults else []
        broken = sum("internal" in r for r in some)
        lines.append(f"{fault:16s} {share(map(alarmed, due)):>36s} {share(map(alarmed, some)):>22s} {broken:9d}")
    lines.append(f"{', '.join(SURE)} (>= 85 %): {share(groups['sure'])}")
    lines.append(f"{', '.join(LIKELY)} (>= 62 %): {share(groups['likely'])}")
    return lines


def matters(row: Row, clean: Row) -> bool:
    """Whether the fault spoils the model (told by plain least squares, so that all versions are judged by one set)."""
    if row["plain"] < HARMFUL * clean["plain"]:
        return False
    shows = row["plain_train"] > VISIBLE * clean["plain_train"]
    return bool(shows or row.get("description") in KNOWN)


def expectation(rows: list[Row]) -> str:
    """Line on the expected error over the one that came."""
    ratio = np.array([r["expected"] / r["consistent"] for r in rows if np.isfinite(r.get("expected", np.nan))])
    middle = f"median {np.median(ratio):.2f}, " if len(ratio) else ""
    near = share((ratio > 0.5) & (ratio < 2)).strip()
    return f"expected over actual error       {middle}within a factor of two {near}"


def real_table(rows: list[Row]) -> list[str]:
    lines = [f"{'task':24s} {'plain':>7s} {'best':>7s} {'consist.':>8s} {'ratio':>6s} {'stated':>7s}  verdict"]
    for r in rows:
        if "best" in r:
            lines.append(
                f"{r['name']:24s} {r['plain']:7.2%} {r['best']:7.2%} {r['consistent']:8.2%} "
                f"{r['best'] / r['plain']:6.2f} {r['stated']:7.2%}  {r['verdict'] or '-'}"
            )
        else:
            lines.append(f"{r['name']:24s} {r['plain']:7.2%} {(r.get('rejected') or r.get('internal', ''))[:90]}")
    a, b = ratios(rows, "best"), ratios(rows, "consistent")
    lines.append(f"{'geometric mean':24s} best {mean(a):.3f}, consistent {mean(b):.3f}, worst {a.max():.2f}")
    lines.append(f"any warning or rejection: {share(bool(r['warned']) or rejected(r) for r in rows)}")
    return [*lines, expectation(rows)]


def group_table(rows: list[Row], group: str) -> list[str]:
    """Of each kind or variant, and the tasks that are worse than plain least squares or rejected."""
    heads = zip(
        ("tasks", "best", "consist.", "> 1.1", "worst", "warned", "rejected"), (5, 6, 8, 6, 6, 7, 8), strict=True
    )
    lines = [f"{group:18s} " + " ".join(f"{head:>{w}s}" for head, w in heads)]
    kinds = [*dict.fromkeys(r[group] for r in rows), "all"]
    for kind in kinds:
        some = [r for r in rows if kind in (r[group], "all")]
        a, b = ratios(some, "best"), ratios(some, "consistent")
        lines.append(
            f"{kind:18s} {len(some):5d} {mean(a):6.3f} {mean(b):8.3f} {np.sum(a > 1.1):6d} {a.max(initial=0.0):6.2f} "
            f"{sum(bool(r['warned']) for r in some):7d} {sum(rejected(r) or 'internal' in r for r in some):8d}"
        )
    for r in rows:
        if "best" not in r:
            lines.append(f"{r['name']}: {r.get('rejected') or r.get('internal', '')}")
        elif r["best"] > 1.1 * r["plain"]:
            lines.append(f"{r['name']}: {r['best']:.2%} against {r['plain']:.2%}, {r['verdict']}")
    return lines
