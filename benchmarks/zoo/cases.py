"""Tasks of the zoo: an arm, its description, logs to fit and a log of another motion, all drawn from one seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from armdyn import Arm
from zoo.arms import GEOMETRIES, MOUNTS, describe, family, make_arm, random_bodies
from zoo.motion import KINDS, make_motion
from zoo.plant import Plant, make_plant
from zoo.sensors import MOST, Table, make_logger


@dataclass(frozen=True)
class Case:
    """What is given to identification, and the truth behind it (absent for real arms)."""

    name: str
    arm: Arm  # as described
    train: tuple[Table, ...]
    test: Table
    tags: dict[str, Any]
    plant: Plant | None = None

    @property
    def coupled(self) -> tuple[int, int, int] | None:
        """The joints of a coupled drive, from 0, and the sign between them."""
        if self.plant is None:
            return None
        off = self.plant.coupling - np.eye(self.arm.n)
        found = np.argwhere(off)
        return (int(found[0, 1]), int(found[0, 0]), int(off[tuple(found[0])])) if len(found) else None


class Kind(NamedTuple):
    """What the tasks of a kind have in common; the rest is drawn, as everything is where nothing is said (None)."""

    family: str | None = None
    mount: str | None = None
    sensor: bool | None = None
    motion: str | None = None
    pace: float | None = None  # rad/s
    hardly: bool | None = None
    logs: int | None = None
    structure: str | None = None
    coupled: bool | None = None
    description: str | None = None
    measured: dict[str, float] = {}  # fields of Logger  # noqa: RUF012

    def geometry(self, seed: int) -> int:
        """The number of the geometry of a seed."""
        own = [k for k in range(GEOMETRIES) if self.family in (None, family(k))]
        return own[seed % len(own)]


KINDS_OF_TASKS = {
    "any": Kind(),
    "industrial drives": Kind(
        "industrial", sensor=False, description="missing", measured=dict(rate=1000.0, digits=0.02)
    ),
    "slow cobot": Kind("cobot6", sensor=False, pace=0.15, description="missing", measured=dict(rate=167.0)),
    "repeated readings": Kind("cobot7", measured=dict(rate=97.0, repeated=0.23)),
    "one log at a wall": Kind("cobot7", mount="wall", sensor=True, logs=1, measured=dict(rate=50.0)),
    "parallelogram": Kind("polar", structure="parallelogram"),
    "coupled wrist": Kind("industrial", sensor=False, coupled=True, measured=dict(rate=5000.0)),
    "cobot currents": Kind("cobot6", sensor=False, measured=dict(rate=100.0)),
    "hardly excited": Kind("cobot7", hardly=True),
}


def make_case(seed: int, name: str = "any") -> Case:
    """The task of that number, of a kind."""
    kind_of_task = KINDS_OF_TASKS[name]

    def given(field: str, drawn: Any) -> Any:
        value = getattr(kind_of_task, field)
        return drawn if value is None else value

    number = list(KINDS_OF_TASKS).index(name)
    rng = np.random.default_rng([19, seed, number] if number else [19, seed])
    geometry = kind_of_task.geometry(seed)
    mount = given("mount", str(rng.choice(list(MOUNTS), p=[0.6, 0.15, 0.15, 0.1])))
    bare = make_arm(geometry, 9.81 * np.array(MOUNTS[mount], float))
    true = bare.with_theta(random_bodies(bare, rng))
    sensor = given("sensor", bool(rng.random() < 0.4))
    kind = given("motion", str(rng.choice(KINDS, p=[0.4, 0.25, 0.2, 0.15])))
    turning = np.array([joint.kind == "revolute" for joint in true.joints])
    pace = given("pace", float(np.exp(rng.uniform(np.log(0.15), np.log(2.5)))))
    pace = min(pace, 0.5) if kind == "teach" else pace
    hardly = given("hardly", bool(rng.random() < 0.08))
    reach = np.where(turning, rng.uniform(0.6, 2.0), 0.15) * rng.uniform(0.6, 1.0, true.n) * (0.15 if hardly else 1)
    speed = pace * np.where(turning, 1.0, 0.25) * rng.uniform(0.6, 1.4, true.n)
    count = given("logs", 1 + int(rng.random() < 0.25))
    duration = float(np.exp(rng.uniform(np.log(6), np.log(70)))) / count
    duration = 120.0 if rng.random() < 0.04 and true.n < 7 else max(duration, 5.0)
    duration = min(duration, 2 * MOST / kind_of_task.measured.get("rate", 1.0))
    motions = [make_motion(kind, reach, speed, duration, rng) for _ in range(count)]
    other = str(rng.choice(KINDS[:3])) if rng.random() < 0.4 else kind
    last = make_motion(other, reach * rng.uniform(0.7, 1.0), speed * rng.uniform(0.7, 1.3), 20.0, rng)
    plant = make_plant(true, motions[0], duration, sensor, rng, kind_of_task.coupled, kind_of_task.structure)
    logger = make_logger(true.n, plant.sizes, sensor, max(duration, 20.0), rng)._replace(**kind_of_task.measured)
    tables = [logger.record(plant, m, k * duration, duration, rng) for k, m in enumerate(motions)]
    test = logger.record(plant, last, count * duration + 10.0, float(rng.uniform(10, 20)), rng)
    arm, description = describe(true, rng, kind_of_task.description)
    excited = kind != "teach" and pace > 0.4 and not hardly and count * duration >= 15 and logger.noise < 0.03
    tags = dict(
        seed=seed, family=family(geometry), n=true.n, mount=mount, description=description, sensor=sensor, motion=kind,
        pace=round(pace, 3), hardly=hardly, logs=count, duration=round(duration, 1), rate=logger.rate,
        late=round(float(logger.late), 4), repeated=round(float(logger.repeated), 3), structure=plant.structure,
        excited=bool(excited and not plant.structure),
    )  # fmt: skip
    if name != "any":
        tags["kind"] = name
    return Case(f"zoo-{seed}" if name == "any" else f"{name}-{seed}", arm, tuple(tables), test, tags, plant)
