"""Plants as FMUs (FMI 2.0, co-simulation): torques in, positions and velocities out."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import is_number
from armdyn.errors import ModelError, expect
from armdyn.model.arm import Arm
from armdyn.simulation.loop.programs import plant_shapes
from armdyn.simulation.loop.schedule import Clock
from armdyn.simulation.plant.advance import PlantStep
from armdyn.simulation.plant.data import plant_data
from armdyn.simulation.plant.plant import Plant
from armdyn.simulation.plant.step_length import substeps_for
from armdyn.trace.printers.c_code import c_code
from armdyn.trace.printers.fmu import Slave, vector, write_fmu
from armdyn.trace.symbols import ca
from armdyn.trace.traced import Traced

SHOW = """static void show(memory *m)
{{
    memcpy(m->value + {q}, m->state.q, sizeof m->state.q);
    memcpy(m->value + {qd}, m->state.qd, sizeof m->state.qd);
}}

"""


def plant_fmu(
    plant: Plant | Arm,
    path: str | os.PathLike[str],
    rate: float = 1000.0,
    *,
    q0: ArrayLike | None = None,
    substeps: int | None = None,
) -> Path:
    """Write an arm as an FMU for co-simulation: torques in, motion out, by the steps of `simulate`.

    Inputs are `tau[i]`, or commanded positions `q_command[i]` if the plant has servos, held over a communication step;
    outputs `q[i]` and `qd[i]`; parameters `q0[i]` and `qd0[i]`, the state at the start. Friction sticks, drives
    saturate and lag as in the plant. Every communication step must be a whole number of periods.

    Parameters
    ----------
    plant : Plant or Arm
        An arm alone stands for `Plant(arm)`. Springs behind rotors, contacts, payloads that change, wrenches and
        motions of the base cannot be in it.
    path : path
        Ends in `.fmu`.
    rate : float
        Periods a second [Hz].
    q0 : array_like, shape (n,), optional
        Start values of `q0[i]`; default zero.
    substeps : int, optional
        Steps of the integrator per period; default as many as `simulate` takes, which friction on light links needs.
    """
    plant = Plant(plant) if isinstance(plant, Arm) else plant
    _check(plant)
    n = plant.arm.n
    expect(is_number(rate) and rate > 0, "plant_fmu", "a rate > 0 in Hz", rate)
    start = np.zeros(n) if q0 is None else np.asarray(q0, float)
    expect(start.shape == (n,), "plant_fmu", f"q0 of shape ({n},)", start.shape)
    period = 1 / float(rate)
    count = substeps_for(plant, start[None], period) if substeps is None else int(substeps)
    subject = _Stepped(plant, Clock(period, 1, count, 0))
    variables = [
        *vector("q_command" if plant.kind.servo else "tau", n, "rad or m" if plant.kind.servo else "N m or N", "input"),
        *vector("q0", n, "rad or m", "parameter", list(start)),
        *vector("qd0", n, "rad/s or m/s", "parameter"),
        *vector("q", n, "rad or m", "output"),
        *vector("qd", n, "rad/s or m/s", "output"),
    ]
    slave = Slave(
        about=f"{plant.arm.name} as a plant, {count} steps of {1e3 * subject.clock.h:g} ms per period",
        identity=plant.arm.fingerprint + repr((plant.kind, period, count, start.tolist())) + subject.digest,
        period=period,
        variables=variables,
        header="plant.h",
        state=f"struct {{ {' '.join(f'double {name}[{n}];' for name in subject.state)} }}",
        begin=_begin(subject.state, n),
        step=_step(subject.state, count),
        after="show(m);",
        helpers=SHOW.format(q=3 * n, qd=4 * n),
    )

    def sources(folder: Path) -> None:
        c_code([subject.function()], subject, folder, prefix="plant", search=False).selftest.unlink()

    return write_fmu(path, slave, sources)


def _check(plant: Plant) -> None:
    kind = plant.kind
    features = {
        "springs behind rotors": kind.elastic,
        "contacts": kind.surfaces,
        "a constraint": kind.constraint,
        "payloads that change": plant.changes,
        "a wrench": kind.wrench,
        "a motion of the base": kind.base_motion,
        "MuJoCo's engine": plant.engine != "armdyn",
        "a batch of runs": any(plant.batches.values()),
    }
    listed = [name for name, there in features.items() if there]
    if listed:
        cause = f"cannot hold {' and '.join(listed)}"
        raise ModelError(cause, where="plant_fmu", remedy="leave it out of the plant", names=listed)


class _Stepped:
    """Subject of the function of a plant's step; all of the plant's numbers are constants of it."""

    trace_sizes: ClassVar[Mapping[str, int]] = {}  # all shapes are numbers already

    def __init__(self, plant: Plant, clock: Clock) -> None:
        self.plant, self.clock, self.name = plant, clock, plant.arm.name
        rows = plant_data(plant, plant.kind, clock.h, plant.own_theta[None])
        self.data = {name: row[0, 0] for name, row in rows.items()}
        self.state = tuple(plant_shapes(plant, plant.kind)[0])

    @property
    def digest(self) -> str:
        """All numbers of the plant, as text."""
        return repr({name: row.tolist() for name, row in self.data.items()})

    @property
    def trace_key(self) -> str:
        """Key of what decides the formula."""
        return repr((self.plant.arm.trace_key, self.plant.kind)) + self.digest

    def trace_data(self, name: str) -> NDArray:
        """Nothing is bound."""
        raise KeyError(name)

    def __repr__(self) -> str:
        return f"a step of {1e3 * self.clock.h:g} ms of {self.plant.arm!r}"

    def function(self) -> Any:
        """One step of the integrator as a traced function of the command and the state."""

        def step(subject: Any, **values: Any) -> Any:
            """One step of the plant under held torques, by Runge-Kutta of order four; joints can stick."""
            data = {name: ca.SX(ca.DM(row)) for name, row in subject.data.items()}
            state = {name: values[name] for name in subject.state}
            after = PlantStep(subject.plant.arm, subject.plant.kind, data).advance(state, values["command"])
            return tuple(after[name] for name in subject.state)

        kinds = inspect.Parameter
        names = ("subject", *self.state, "command")
        step.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [kinds(name, kinds.POSITIONAL_OR_KEYWORD) for name in names]
        )
        size = str(self.plant.arm.n)
        return Traced(step, dict.fromkeys(names[1:], size), dict.fromkeys(self.state, size)).public()


def _begin(state: tuple[str, ...], n: int) -> str:
    """C that starts the state where the parameters say: friction sees the velocity's direction, motors are at rest."""
    first = {"q": f"m->value[{n} + i]", "qd": f"m->value[{2 * n} + i]", "motor": "0.0"}
    first["direction"] = f"(double)((m->value[{2 * n} + i] > 0.0) - (m->value[{2 * n} + i] < 0.0))"
    lines = [f"        m->state.{name}[i] = {first[name]};" for name in state]
    return "\n".join(["    int i;", f"    for (i = 0; i < {n}; ++i) {{", *lines, "    }", "    show(m);"])


def _step(state: tuple[str, ...], count: int) -> str:
    """C of one period; outputs of generated functions may overlap inputs."""
    held = [f"m->state.{name}" for name in state]
    call = f"plant_step({', '.join([*held, 'm->value', *held])});"
    if count == 1:
        return call
    return f"int i;\n        for (i = 0; i < {count}; ++i) {{\n            {call}\n        }}"
