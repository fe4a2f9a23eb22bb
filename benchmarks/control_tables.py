"""The tables of docs/control-compared.md. Run: python benchmarks/control_tables.py [name ...] to write them anew.

With `ARMDYN_BENCHMARK=small` a few of their rows are computed and compared with the page, which is left as it is.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

import armdyn
from armdyn.control.design.designs import chosen_designs
from armdyn.control.laws.lqr import TrajectoryLQR
from armdyn.control.protocol import Law
from armdyn.control.theory.gains import pd_gains
from armdyn.files import write_whole
from armdyn.simulation.compare import Sway
from armdyn.simulation.mismatch_study import mismatch_study
from armdyn.simulation.scenarios import ScenarioComparison, compare_scenarios
from armdyn.simulation.simulate import simulate

sys.path.insert(0, str(Path(__file__).parents[1]))  # reproductions/ lies beside

from reproductions.eindhoven_study import (
    ALONE,
    DURATION_S,
    FRICTION_FACTOR,
    MOTOR_LAG_S,
    PLAIN,
    failing_load,
    judge,
    regulators,
    seize,
)

PAGE = Path(__file__).parents[1] / "docs" / "control-compared.md"
RATES = (60.0, 250.0, 1000.0)
BANDWIDTH = 2.0
ARMS = {"planar2": ([0.0, 1.0, 2.5, 5.0], 200.0), "puma560": ([0.0, 1.0, 2.5], 100.0)}
# Laws that are tried in scenarios.
TRIED = (
    "PD + gravity", "feedforward + PD", "computed torque", "computed torque + observer", "impedance", "sliding mode",
    "super-twisting", "Slotine-Li", "natural Slotine-Li",
)  # fmt: skip
# Numbers of another machine may differ in their last digit.
CLOSE = 0.02


def arm_of(name: str) -> armdyn.Arm:
    """An arm of the library; planar2, which has no friction there, with some: 4 and 1.2 N m dry, 1 and 0.3 viscous."""
    arm = getattr(armdyn.arms, name)()
    if name != "planar2":
        return arm
    friction = (armdyn.Friction(viscous=1.0, coulomb=4.0), armdyn.Friction(viscous=0.3, coulomb=1.2))
    return arm.with_joints([replace(j, friction=f) for j, f in zip(arm.joints, friction, strict=True)])


def table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


def compared(only: tuple[str, ...] | None = None) -> list[list[str]]:
    found = mismatch_study(armdyn.arms.puma560(), controllers=only)
    rows = []
    for row in found.rows:
        learnt = "" if np.isnan(row.parameter_error) else f"{row.parameter_error:.2f}"
        rows.append([row.name, f"{row.final_rms:.1e}", f"{row.largest:.1e}", f"{row.torque:.1f}", learnt])
    return rows


def seized(name: str, rates: tuple[float, ...] = RATES, limits: bool = True) -> list[list[str]]:
    """RMS errors [mrad] after a load is seized, and the load at which a joint strays."""
    arm = arm_of(name)
    loads, beyond = ARMS[name]
    reference, rows = Sway.within(arm, DURATION_S), []
    for rate in rates:
        for law_name, law in regulators(arm, reference, BANDWIDTH, rate).items():
            found = [judge(seize(arm, law, reference, rate, load)) for load in loads]
            cells = [f"{1e3 * rms:.2f}" if stable else "fails" for rms, stable in found]
            at = failing_load(arm, law, reference, rate, beyond) if limits else np.inf
            where = f"{at:.1f} kg" if np.isfinite(at) else f"> {beyond:g} kg"
            rows.append([f"{rate:g} Hz", law_name, *cells, where])
    return rows


def scheduled(names: tuple[str, ...] = tuple(ARMS)) -> list[list[str]]:
    """What gains that follow the motion are worth at nominal load: errors, and the cost that all are designed for."""
    return [row for name in names for row in _scheduled(arm_of(name))]


def _scheduled(arm: armdyn.Arm, rate: float = 250.0) -> list[list[str]]:
    own = Sway.within(arm, DURATION_S)
    # Over a wider range than the other tables' motion, so that the pose changes.
    reference = Sway(own.centre, np.full(arm.n, 1.2), own.frequency, DURATION_S)
    kp = pd_gains(arm, reference(DURATION_S / 2).q, BANDWIDTH).kp
    largest = np.concatenate([np.ones(arm.n), np.full(arm.n, 2 * np.pi * BANDWIDTH)])
    laws: dict[str, Law] = {"LQR(t)": TrajectoryLQR(arm, largest, kp, rate)}
    for label, elbow in (("stretched", 0.0), ("bent", np.pi / 2), ("folded", 2.6)):
        pose = np.zeros(arm.n)
        pose[1 if arm.n == 2 else 2] = elbow - (0.0 if arm.n == 2 else np.pi / 2)  # the PUMA is bent at zero
        laws[f"nominal torques, LQR {label}"] = TrajectoryLQR(arm, largest, kp, rate, "discrete", hold=pose)
    others = regulators(arm, reference, BANDWIDTH, rate)
    laws |= {name: others[name] for name in (ALONE, PLAIN)}
    rows = []
    for name, law in laws.items():
        rms, stays = judge(seize(arm, law, reference, rate, 0.0))
        if not stays:
            rows.append([arm.name, name, "fails", ""])
            continue
        run = simulate(arm, law, reference, rate=rate, substeps=4, q0=reference(0.0).q + 0.1, check=False)
        x = np.concatenate([run.error, run.qd_ref - run.qd], -1) / largest
        u = (run.tau - armdyn.joint_torque(arm, run.q_ref, run.qd_ref, run.qdd_ref, width=0.05)) / kp
        cost = ((x**2).sum() + (u**2).sum()) / rate
        rows.append([arm.name, name, f"{1e3 * rms:.2f}", f"{1e3 * cost:.4g}"])
    return rows


def eigenvalues(names: tuple[str, ...] = tuple(ARMS), rates: tuple[float, ...] = RATES) -> list[list[str]]:
    """Largest closed-loop eigenvalues, as decay rates, along the motion."""
    rows = []
    for name in names:
        arm = arm_of(name)
        loads, beyond = ARMS[name]
        for rate in rates:
            reference = Sway.within(arm, DURATION_S)
            law = TrajectoryLQR(arm, *_weights(arm, reference), rate)
            motion = reference(np.arange(round(DURATION_S * rate)) / rate)
            few = max(len(motion.q) // 100, 1)
            still = TrajectoryLQR(arm, law.Q, law.R, rate, "discrete")  # one regulator per sample: any samples will do
            motion = type(motion)(*(x[::few] for x in motion))
            found = armdyn.robustness(
                still, motion, [*loads, *np.geomspace(2 * loads[-1], beyond, 6)], FRICTION_FACTOR, MOTOR_LAG_S
            )
            decay = [f"{-np.log(r) * rate:.2f}" for r in found.radius[: len(loads)]]
            limit = f"{found.unstable_payload:.3g} kg"
            rows.append([name, f"{rate:g} Hz", *decay, *[""] * (4 - len(decay)), limit])
    return rows


def _weights(arm: armdyn.Arm, reference: Sway) -> tuple[np.ndarray, np.ndarray]:
    kp = pd_gains(arm, reference(DURATION_S / 2).q, BANDWIDTH).kp
    return np.concatenate([np.ones(arm.n), np.full(arm.n, 2 * np.pi * BANDWIDTH)]), kp


def scenarios(only: tuple[str, ...] | None = None, laws: tuple[str, ...] = TRIED) -> ScenarioComparison:
    """A two-joint arm with rotors (0.6 and 0.1 kg m² at the joints) and friction in all scenarios, or in some."""
    plain = arm_of("planar2")
    rotors = [armdyn.Drive(rotor_inertia=x, gear_ratio=100.0) for x in (6e-5, 1e-5)]
    arm = plain.with_joints([replace(j, drive=d) for j, d in zip(plain.joints, rotors, strict=True)])
    sway = Sway.within(arm, 6.0)
    found = chosen_designs(arm, sway, 3.0, 1000.0, laws)
    return compare_scenarios(arm, found, sway, 1000.0, scenarios=only, every=5)


def scenarios_text() -> str:
    """The table, and which law to take when."""
    found = scenarios()
    head, *rows = found.table()
    said = "\n".join(f"* {line}" for line in found.advice().splitlines())
    return f"{table(head, rows)}\n\n{said}"


def heads() -> dict[str, list[str]]:
    loads = {name: [f"{load:g} kg" for load in values] for name, (values, _) in ARMS.items()}
    return {
        "compare": [
            "law",
            "RMS error [rad]",
            "largest error [rad]",
            "RMS torque [N m]",
            "parameter error, end / start",
        ],
        "seize-planar2": ["rate", "law", *loads["planar2"], "fails from"],
        "seize-puma560": ["rate", "law", *loads["puma560"], "fails from"],
        "schedule": ["arm", "law", "RMS error [mrad]", "LQR cost [thousandths]"],
        "eigenvalues": ["arm", "rate", "decay [1/s], 0 kg", "1 kg", "2.5 kg", "5 kg", "unstable from"],
    }


TABLES: dict[str, Callable[[], list[list[str]]]] = {
    "compare": compared,
    "seize-planar2": lambda: seized("planar2"),
    "seize-puma560": lambda: seized("puma560"),
    "schedule": scheduled,
    "eigenvalues": eigenvalues,
}


def write(names: list[str]) -> None:
    for name in names or ["scenarios", *TABLES]:
        text = scenarios_text() if name == "scenarios" else table(heads()[name], TABLES[name]())
        print(f"\n{name}\n{text}", flush=True)
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        page = PAGE.read_text()
        block = re.compile(f"{begin}.*?{end}", re.DOTALL)
        if not block.search(page):
            sys.exit(f"{PAGE.name} has no place for the table '{name}'")
        write_whole(PAGE, block.sub(f"{begin}\n{text}\n{end}", page))


def in_step() -> list[str]:
    """Rows of the page that differ from what is computed now; some of each table, those that take seconds."""
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("|")]
    shown = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    new = [
        *compared(only=("PD", "PD + gravity")),
        *scenarios(("free", "payload"), ("PD + gravity",)).table()[1:],
        *(row[:-1] for row in seized("planar2", (250.0,), limits=False)),
        *scheduled(("planar2",)),
        *eigenvalues(("planar2",), (60.0,)),
    ]
    return [" | ".join(row) for row in new if not any(_same(row, old) for old in shown)]


def _same(new: list[str], old: list[str]) -> bool:
    if len(old) < len(new):
        return False
    return all(a == b or _near(a, b) for a, b in zip(new, old, strict=False))


def _near(a: str, b: str) -> bool:
    try:
        x, y = (float(text.removesuffix(" kg")) for text in (a, b))
    except ValueError:
        return False
    return abs(x - y) <= CLOSE * max(abs(x), abs(y))


def main() -> None:
    if os.environ.get("ARMDYN_BENCHMARK") == "small":
        wrong = in_step()
        print("docs/control-compared.md is in step" if not wrong else "not on the page:\n" + "\n".join(wrong))
        sys.exit(bool(wrong))
    write(sys.argv[1:])


if __name__ == "__main__":
    main()
