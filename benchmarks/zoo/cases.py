"""Tasks of the zoo: an arm, its description, logs to fit and a log of another motion, all drawn from one seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn import Arm
from zoo.arms import GEOMETRIES, MOUNTS, describe, family, make_arm, random_bodies
from zoo.motion import KINDS, make_motion
from zoo.plant import Plant, make_plant
from zoo.sensors import Table, make_logger


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


def make_case(seed: int) -> Case:
    """The task of that number."""
    rng = np.random.default_rng([19, seed])
    geometry = seed % GEOMETRIES
    mount = str(rng.choice(list(MOUNTS), p=[0.6, 0.15, 0.15, 0.1]))
    bare = make_arm(geometry, 9.81 * np.array(MOUNTS[mount], float))
    true = bare.with_theta(random_bodies(bare, rng))
    sensor = bool(rng.random() < 0.4)
    kind = str(rng.choice(KINDS, p=[0.4, 0.25, 0.2, 0.15]))
    turning = np.array([joint.kind == "revolute" for joint in true.joints])
    pace = float(np.exp(rng.uniform(np.log(0.15), np.log(2.5))))
    pace = min(pace, 0.5) if kind == "teach" else pace
    hardly = bool(rng.random() < 0.08)
    reach = np.where(turning, rng.uniform(0.6, 2.0), 0.15) * rng.uniform(0.6, 1.0, true.n) * (0.15 if hardly else 1)
    speed = pace * np.where(turning, 1.0, 0.25) * rng.uniform(0.6, 1.4, true.n)
    count = 1 + int(rng.random() < 0.25)
    duration = float(np.exp(rng.uniform(np.log(6), np.log(70)))) / count
    duration = 120.0 if rng.random() < 0.04 and true.n < 7 else max(duration, 5.0)
    motions = [make_motion(kind, reach, speed, duration, rng) for _ in range(count)]
    other = str(rng.choice(KINDS[:3])) if rng.random() < 0.4 else kind
    last = make_motion(other, reach * rng.uniform(0.7, 1.0), speed * rng.uniform(0.7, 1.3), 20.0, rng)
    plant = make_plant(true, motions[0], duration, sensor, rng)
    logger = make_logger(true.n, plant.sizes, sensor, max(duration, 20.0), rng)
    tables = [logger.record(plant, m, k * duration, duration, rng) for k, m in enumerate(motions)]
    test = logger.record(plant, last, count * duration + 10.0, float(rng.uniform(10, 20)), rng)
    arm, description = describe(true, rng)
    excited = kind != "teach" and pace > 0.4 and not hardly and count * duration >= 15 and logger.noise < 0.03
    tags = dict(
        seed=seed, family=family(geometry), n=true.n, mount=mount, description=description, sensor=sensor, motion=kind,
        pace=round(pace, 3), hardly=hardly, logs=count, duration=round(duration, 1), rate=logger.rate,
        late=round(float(logger.late), 4), repeated=round(float(logger.repeated), 3), structure=plant.structure,
        excited=bool(excited and not plant.structure),
    )  # fmt: skip
    return Case(f"zoo-{seed}", arm, tuple(tables), test, tags, plant)
