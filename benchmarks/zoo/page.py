"""The page of robots tried, docs/robots.md, from rows of scores."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from zoo.tables import clean_table, expectation, fault_table, group_table, mean, ratios, rejected

TOLD = {
    "Panda 60/40": ("Franka Panda (Gaz et al. 2019) 60/40", "torque sensors, about 500 Hz, stamps that jitter"),
    "Panda 30 Hz 60/40": ("Franka Panda (Univ. Salerno) 60/40", "torque sensors, 30 Hz, DH only"),
    "UR10 60/40": ("UR10 (Univ. Salerno) 60/40", "currents times gain, 125 Hz"),
    "LWR4 1>2": ("KUKA LWR4+ 1>2", "torque sensors, 200 Hz"),
    "LWR4 2>1": ("KUKA LWR4+ 2>1", ""),
    "IC arm 2+3>1": ("IC arm 2+3>1", "motor torques, 500 Hz, misleading inertias"),
    "xMate7 URDF 3>1": ("Rokae xMate ER7 Pro, URDF 3>1", "joint torque, 50 Hz"),
    "xMate7 URDF 1>3": ("Rokae xMate ER7 Pro, URDF 1>3", ""),
    "xMate7 DH 3>1": ("Rokae xMate ER7 Pro, DH 3>1", ""),
    "xMate7 DH 1>3": ("Rokae xMate ER7 Pro, DH 1>3", ""),
    "double pendulum 60/40": ("DFKI double pendulum 60/40", "motor torque, 300 Hz"),
    "EMPS 60/40": ("EMPS 60/40", "one prismatic axis, 1 kHz"),
    "XB4 2+3>1": ("Rokae XB4 2+3>1", "drive torques, quantised, 1 kHz, DH only"),
    "cobot 2+3>1": ("Shanghai Electric cobot 2+3>1", "currents that fall with speed, 167 Hz, DH only"),
    "AR5 60/40": ("Rokae AR5 60/40", "joint torque, 50 Hz, on a wall, misleading inertias"),
    "PSM 60/40": ("dVRK patient-side manipulator 60/40", "cables, a parallelogram that the chain lacks, 200 Hz"),
}
FIRST_UNSEEN_SEED = 9000
HEAD = """# Robots tried

`python benchmarks/robots.py --page docs/robots.md` scores identification on synthetic arms with known truth
and on measured logs of real arms, and prints this page. The score is the error norm(tau - model) / norm(tau) on
motion outside the fit, both sides low-passed at 5 Hz. *Plain* is least squares (base parameters by SVD; viscous,
Coulomb, offset and rotor per joint; positions low-passed at 10 Hz). `a/b`: a fit to the first a % of a log
predicts its last b %; `1+2>3`: a fit to logs 1 and 2 predicts log 3. *Consistent* is the arm as it is written to
files. *Expected* and *bound* are `fit.expected_error` and `fit.error_bound` on new motion, known before the test was
seen. [Earlier figures](development/robots.md) are kept apart.
"""
PEERS = """## Beside other programs

`python benchmarks/figaroh_comparison.py` printed these errors on the same splits. *figaroh* is its base parameters by
weighted least squares with its own filters, friction, rotors and offsets, *physical_fit* its consistent links (any
friction); it needs even times, one log and a model with masses, so logs were resampled to 200 Hz and joined. The module
says what was set.
"""
VARIED = """The same tasks as other loggers and descriptions would have them (`benchmarks/zoo/variants.py`), with
the names of those above 1.1:
"""


def page(rows: Iterable[dict[str, Any]], peers: str = "") -> str:
    """The page in Markdown, with the table that `figaroh_comparison.py` printed."""
    several = list(rows)
    real = [row for row in several if row.get("real") and not {"fault", "variant"} & set(row)]
    parts = [HEAD]
    if real:
        parts += ["## Real arms\n", *_real(real), ""]
    if peers:
        parts += [PEERS, peers.strip(), ""]
    if changed := [row for row in several if "variant" in row]:
        parts += [VARIED, "```", *group_table(changed, "variant"), "```", ""]
    made = [row for row in several if not row.get("real") and "kind" not in row]
    clean = [row for row in made if "fault" not in row]
    if clean:
        parts += ["## Synthetic arms\n"]
    for late, several_clean in groupby(sorted(clean, key=_seed), lambda row: _seed(row) >= FIRST_UNSEEN_SEED):
        arms = list(several_clean)
        unseen = ", drawn once, after all choices" if late else ""
        parts += [f"{len(arms)} arms, seeds from {_seed(arms[0])} to {_seed(arms[-1])}{unseen}.\n"]
        parts += ["```", *clean_table(arms), "```", ""]
    faulty = [row for row in made if "fault" in row]
    if faulty:
        parts += ["Faults put into their logs:\n", "```"]
        parts += [*fault_table(faulty, {row["name"]: row for row in clean}), "```", ""]
    if kinds := [row for row in several if "kind" in row]:
        parts += ["Arms that are hard in one way each:\n", "```", *group_table(kinds, "kind"), "```", ""]
    return "\n".join(parts)


def _seed(row: dict[str, Any]) -> int:
    return int(row["seed"])


def _real(rows: list[dict[str, Any]]) -> list[str]:
    heads = ("arm", "data", "plain", "armdyn", "consistent", "armdyn / plain", "expected", "bound", "verdict")
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for row in rows:
        name, data = TOLD.get(row["name"], (row["name"], ""))
        if "best" in row:
            plain, best, consistent, expected, stated = (
                f"{100 * row[key]:.2f} %" for key in ("plain", "best", "consistent", "expected", "stated")
            )
            ratio = f"{row['best'] / row['plain']:.2f}"
            cells = [name, data, plain, best, consistent, ratio, expected, stated, row["verdict"]]
            lines.append(f"| {' | '.join(cells)} |")
        else:
            lines.append(f"| {name} | {data} | {100 * row['plain']:.2f} % | - | - | - | - | - | rejected |")
    best, consistent = ratios(rows, "best"), ratios(rows, "consistent")
    warned = sum(bool(row["warned"]) or rejected(row) for row in rows)
    lines.append(
        f"\nGeometric mean of the ratios to plain least squares: {mean(best):.3f} (consistent {mean(consistent):.3f}), "
        f"the worst {best.max():.2f}; {warned or 'none'} of {len(rows)} {'is' if warned < 2 else 'are'} warned of. "
        f"{' '.join(expectation(rows).split()).capitalize()}."
    )
    return lines
