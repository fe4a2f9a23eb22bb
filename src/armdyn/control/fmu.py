"""Control laws as FMUs (FMI 2.0, co-simulation)."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from armdyn.control.export import law_code
from armdyn.control.protocol import Law
from armdyn.control.step import MOTION, StepSubject
from armdyn.trace.printers.fmu import Slave, vector, write_fmu

UNITS = {"q": "rad or m", "qd": "rad/s or m/s", "q_ref": "rad or m", "qd_ref": "rad/s or m/s", "tau": "N m or N"}


def law_fmu(law: Law, path: str | os.PathLike[str], rate: float, *, search: bool = False) -> Path:
    """Write a control law as an FMU for co-simulation, whole or not at all.

    Inputs are `q[i]`, `qd[i]`, `q_ref[i]`, `qd_ref[i]`, `qdd_ref[i]` and what else the law's reference carries; outputs
    are `tau[i]`. Every communication step must be a whole number of periods of the law. A generic master sees torques
    one communication step late.

    Parameters
    ----------
    law : Law
        Not one of a batch.
    path : path
        Ends in `.fmu`.
    rate : float
        Rate at which the law runs inside [Hz].
    search : bool
        Search for the fewest operations; see `law_code`.
    """
    subject = StepSubject(law, 1 / float(rate))
    names = (*MOTION, *subject.channels)
    sizes = {name: int(np.prod(subject.shapes[name])) for name in names}
    variables = [v for name in names for v in vector(name, sizes[name], UNITS.get(name, ""), "input")]
    variables += vector("tau", law.arm.n, UNITS["tau"], "output")
    draft = Slave(
        about=f"{type(law).__name__} for {law.arm.name} at {rate:g} Hz",
        identity=law.arm.fingerprint + repr(law),
        period=subject.period,
        variables=variables,
        header="law.h",
        state="law_state",
        begin="    law_init(&m->state);",
        step="",
    )
    passed = [f"m->value + {draft.place(x)}" if subject.shapes[x] else f"m->value[{draft.place(x)}]" for x in names]
    arguments = ", ".join([*passed, f"m->value + {draft.place('tau')}"])

    def sources(folder: Path) -> None:
        law_code(law, folder, rate, prefix="law", search=search).selftest.unlink()

    return write_fmu(path, replace(draft, step=f"law_step(&m->state, {arguments});"), sources)
