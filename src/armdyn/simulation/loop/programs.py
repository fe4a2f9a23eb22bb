"""The formulas of a run as programs: the plant's step alone, or controller and plant together.

Inputs and outputs of the same name are state. A program with a law samples the controller where `sample` is 1
and lets its command reach the drives where `apply` is 1; a run without sub-steps and delay has neither.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from armdyn.control.protocol import Law, Reference
from armdyn.errors import ArmdynError, ModelError, ShapeError, expect, quote
from armdyn.simulation.plant.advance import PlantStep
from armdyn.simulation.plant.data import plant_data
from armdyn.simulation.plant.elasticity import at_encoders
from armdyn.simulation.plant.parts import PlantFeatures
from armdyn.simulation.plant.plant import Plant
from armdyn.simulation.sensing import NoiseSample, Sensing, reading
from armdyn.trace.program import Port, Program
from armdyn.trace.recent import kernels
from armdyn.trace.rollout import Rollout, make_rollout
from armdyn.trace.symbols import ca

Shapes = dict[str, tuple[int, ...]]
# Outputs that are not fed back: torques, and what the controller saw through its sensors.
MEASURED = ("measured.q", "measured.qd")
OUTPUTS = frozenset(("tau", "contact", "multipliers", *MEASURED))


class LoopTiming(NamedTuple):
    """Interleaving of controller and integrator: `held` if a step may lack a sample, `delayed` if commands wait."""

    held: bool = False
    delayed: bool = False


def plant_shapes(plant: Plant, kind: PlantFeatures) -> tuple[Shapes, Shapes]:
    """State and data of a plant's step."""
    n, e = plant.arm.n, len(kind.elastic)
    state: Shapes = {"q": (n,), "qd": (n,)}
    if kind.friction == "dry":
        state["direction"] = (n,)
    if kind.lag:
        state["motor"] = (n,)
    if e:
        state |= {"rotor_q": (e,), "rotor_qd": (e,)}
    numbers = plant_data(plant, kind, 0.0, plant.own_theta.reshape(-1, 10 * plant.arm.n_joints))
    data: Shapes = {name: array.shape[2:] for name, array in numbers.items()}
    if kind.wrench:
        data["wrench"] = (3, 6 * len(kind.wrench))
    if kind.base_motion:
        data["base_motion"] = (3, 3, 3)
    return state, data


def plant_program(plant: Plant, kind: PlantFeatures) -> Program:
    """One step of the plant under the input `command`."""
    state, data = plant_shapes(plant, kind)
    inputs = {**state, "command": (plant.arm.n,), **data}

    def formula(values: Mapping[str, Any]) -> dict[str, Any]:
        step = PlantStep(plant.arm, kind, {name: values[name] for name in data})
        return step.advance({name: values[name] for name in state}, values["command"])

    return program_of("plant", inputs, {**state, **exerted_shapes(plant, kind)}, formula)


def exerted_shapes(plant: Plant, kind: PlantFeatures) -> Shapes:
    """Return the shapes of what a plant's step shows besides its state: torques of the drives, forces of contacts and
    of a constraint.
    """
    contact = {"contact": (len(kind.touching), 3)} if kind.surfaces else {}
    constraint = {} if kind.constraint is None else {"multipliers": (len(kind.constraint),)}
    return {"tau": (plant.arm.n,), **contact, **constraint}


class LawShapes(NamedTuple):
    """Shapes that a law brings into the loop, by name."""

    params: Shapes
    state: Shapes
    channels: Shapes

    @classmethod
    def of(cls, law: Law, channels: Mapping[str, Any]) -> LawShapes:
        """The shapes of one law; `channels` are (T, ...)."""
        return cls(
            {name: law.core_shape(name) for name in law.shapes},
            {name: _array_of(law, name, array).shape for name, array in law.init().items()},
            {name: array.shape[1:] for name, array in channels.items()},
        )


def _array_of(law: Law, name: str, value: Any) -> np.ndarray:
    fits = isinstance(value, np.ndarray) and value.ndim
    expect(fits, f"{type(law).__name__}.init", f"'{name}' as an array with an axis", value)
    return value


def sensor_shapes(sensing: Sensing, n: int) -> tuple[Shapes, Shapes]:
    """State and data of what the controller sees through."""
    data: Shapes = {"noise": (2, n)} if sensing.noisy else {}
    if sensing.quantised:
        data["resolution"] = (n,)
    if sensing.lossy:
        data["lost"] = (1,)
    return _prefix("sensor", dict.fromkeys(sensing.states, (n,))), data


def loop_program(
    plant: Plant, kind: PlantFeatures, law: Law, shapes: LawShapes, timing: LoopTiming, sensing: Sensing | None
) -> Program:
    """One step of controller and plant."""
    n = plant.arm.n
    plant_state, plant_data = plant_shapes(plant, kind)
    state = {**plant_state, **_prefix("law", shapes.state)}
    seen_state, seen_data = ({}, {}) if sensing is None else sensor_shapes(sensing, n)
    state |= seen_state
    if timing.held:
        state["command"] = (n,)
    if timing.delayed:
        state["pending"] = (n,)
    inputs = {
        **state,
        **plant_data,
        **seen_data,
        "period": (1,),
        "ref": (3, n),
        **_prefix("channel", shapes.channels),
        **_prefix("param", shapes.params),
        **({"flags": (2,)} if timing.held else {}),
    }

    def formula(values: Mapping[str, Any]) -> dict[str, Any]:
        memory, before = _strip_prefix("law", values), _strip_prefix("sensor", values)
        q, qd, qdd = (values["ref"][k, :].T for k in range(3))
        ref = Reference(q, qd, qdd, _strip_prefix("channel", values))
        params = _strip_prefix("param", values)
        q_seen, qd_seen, readings = _sense(kind, sensing, values)
        step = PlantStep(plant.arm, kind, {name: values[name] for name in plant_data})
        if kind.wrist:
            wrench = ref.channels["wrench"] + step.wrist(values["q"], values["qd"])
            ref = ref._replace(channels={**ref.channels, "wrench": wrench})
        if "links" in law.senses:
            links = ca.vertcat(values["q"], values["qd"])
            ref = ref._replace(channels={**ref.channels, "links": links})
        u, after = _answer(law, shapes.state, (params, memory, q_seen, qd_seen, ref, values["period"]))
        memory, after = (
            {**_prefix("law", a), **_prefix("sensor", b)} for a, b in ((memory, before), (after, readings))
        )
        command, held = _hold(timing, values, u, memory, after)
        moved = step.advance({name: values[name] for name in plant_state}, command)
        return {**moved, **held, **dict(zip(MEASURED, (q_seen, qd_seen), strict=True))}

    outputs = {**exerted_shapes(plant, kind), **({} if sensing is None else dict.fromkeys(MEASURED, (n,)))}
    return program_of("loop", inputs, {**state, **outputs}, formula)


def _answer(law: Law, states: Shapes, asked: tuple[Any, ...]) -> tuple[Any, Mapping[str, Any]]:
    """Return what a law's step gives for symbols, checked: the formula may be a user's."""
    who, n = f"{type(law).__name__}.step", law.arm.n
    try:
        answer = law.step(law.arm, *asked)
    except ArmdynError:
        raise
    except Exception as error:  # a user's formula may raise anything
        why = " ".join(str(error).split())
        remedy = "write it with traced formulas and CasADi's functions, or run it as Python with native=False"
        raise ModelError(f"{who} cannot become a kernel ({type(error).__name__}: {why})", remedy=remedy) from error
    if not (isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], Mapping)):
        raise ShapeError(where=who, expected="a pair of torques and a state", got=quote(answer))
    u = ca.vertcat(*answer[0]) if isinstance(answer[0], list | tuple) else ca.SX(answer[0])
    expect(u.shape == (n, 1), who, f"{n} torques", got=f"shape {u.shape}")
    for name, shape in states.items():
        if name not in answer[1] or ca.SX(answer[1][name]).numel() != prod(shape):
            raise ShapeError(where=who, expected=f"the state '{name}' of shape {shape}, as `init` gives it")
    return u, {name: answer[1][name] for name in states}


def _sense(kind: PlantFeatures, sensing: Sensing | None, values: Mapping[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """Position and velocity as the controller sees them, and the sensors' state after it."""
    q, qd = (
        at_encoders(kind.elastic, values[name], values[f"rotor_{name}"]) if kind.motor_encoders else values[name]
        for name in ("q", "qd")
    )
    if sensing is None:
        return q, qd, {}
    noise = [values["noise"][k, :].T for k in range(2)] if sensing.noisy else [0, 0]
    draw = NoiseSample(noise[0], noise[1], values["lost"] if sensing.lossy else 0)
    memory = _strip_prefix("sensor", values)
    return reading(sensing, memory, (q, qd), draw, values.get("resolution"), values["period"], ca.floor)


def _hold(timing: LoopTiming, values: Mapping[str, Any], u: Any, memory: Any, after: Any) -> tuple[Any, dict[str, Any]]:
    """The command that acts in this step, and what is kept of command, law and sensors for the next."""
    if not timing.held:
        return u, after
    sample, apply = values["flags"][0] > 0.5, values["flags"][1] > 0.5
    held = {name: ca.if_else(sample, after[name], memory[name]) for name in after}
    # A delay of a whole period applies the last command as the next is being computed.
    arriving = values["pending"] if timing.delayed else u
    if timing.delayed:
        held["pending"] = ca.if_else(sample, u, arriving)
    held["command"] = ca.if_else(apply, arriving, values["command"])
    return held["command"], held


def program_of(name: str, inputs: Shapes, outputs: Shapes, formula: Any) -> Program:
    """A program from a formula between values by name."""

    def flat(*symbols: Any) -> list[Any]:
        results = formula(dict(zip(inputs, symbols, strict=True)))
        return [results[key] for key in outputs]

    def ports(shapes: Shapes) -> tuple[Port, ...]:
        return tuple(Port(key, shape) for key, shape in shapes.items())

    return Program(name, ports(inputs), ports(outputs), flat)


def _prefix(prefix: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{prefix}.{name}": value for name, value in values.items()}


def _strip_prefix(prefix: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {name[len(prefix) + 1 :]: value for name, value in values.items() if name.startswith(prefix + ".")}


# -- compiled ------------------------------------------------------------------------------------------------

# A user's law may hold anything that its formula depends on: its kernels live and die with the object.
_users: WeakKeyDictionary[Law, dict[tuple[Any, ...], Rollout]] = WeakKeyDictionary()


def keyed_rollout(
    key: tuple[Any, ...], program: Callable[[], Program], shared: frozenset[str], single: bool = False,
    law: Law | None = None,
) -> Rollout:  # fmt: skip
    """A program compiled, or as compiled before; one with a law of a user's is known by its graph."""
    whole = ("rollout", *key, shared, single, _backend())
    if law is None or law.is_known:
        return kernels.find(whole, lambda: make_rollout(program, shared, repr(key), single))
    rollouts = _users.setdefault(law, {})
    if whole not in rollouts:
        rollouts[whole] = make_rollout(program, shared, None, single)
    return rollouts[whole]


def _backend() -> str:
    from armdyn.trace import backend

    return backend.current()
