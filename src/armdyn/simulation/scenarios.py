"""Controllers compared where they are tried: free, loaded, in contact, saturated, noisy, late, elastic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from armdyn.control.protocol import Law
from armdyn.dynamics.drive import augmented_mass_matrix
from armdyn.dynamics.full import joint_torque
from armdyn.errors import ArmdynError, shown
from armdyn.kinematics.forward import forward_kinematics
from armdyn.model.arm import Arm
from armdyn.model.joint import DRIVE_NAMES
from armdyn.shapes.obstacles import HalfSpace
from armdyn.simulation.compare import Comparison, compare
from armdyn.simulation.plant.contact import Contact
from armdyn.simulation.plant.elasticity import Elasticity
from armdyn.simulation.plant.plant import Plant
from armdyn.simulation.sensors import Sensors

# Part of the arm's mass that the payload has, part of the peak torque that drives have, eigenfrequency of elastic
# joints [Hz], stiffness of the wall [N/m], and the part of the tip's way that lies before it.
PAYLOAD, WEAK, ELASTIC, WALL, BEFORE_WALL = 0.05, 0.9, 15.0, 5e3, 0.9
# Sensors of the noisy scenario [rad, rad/s].
POSITION_NOISE, VELOCITY_NOISE = 1e-5, 0.02
# A law is as good as the best up to this factor.
AS_GOOD = 1.5


class Scenario(NamedTuple):
    """A plant, and what `simulate` takes besides."""

    plant: Plant
    options: Mapping[str, Any]


def _free(arm: Arm, motion: Any, rate: float) -> Scenario:
    return Scenario(Plant(arm), {})


def _payload(arm: Arm, motion: Any, rate: float) -> Scenario:
    mass = PAYLOAD * sum(float(link.inertia.mass) for link in arm.links)
    return Scenario(Plant(arm.with_payload(mass)), {})


def _contact(arm: Arm, motion: Any, rate: float) -> Scenario:
    x = forward_kinematics(arm, motion.q)[:, :3, 3]
    axis = int(np.argmax(np.ptp(x, axis=0)))
    place = x[:, axis].min() + BEFORE_WALL * np.ptp(x[:, axis])
    return Scenario(Plant(arm, contact=Contact([HalfSpace(-np.eye(3)[axis], -place)], WALL)), {})


def _saturation(arm: Arm, motion: Any, rate: float) -> Scenario:
    peak = np.abs(joint_torque(arm, motion.q, motion.qd, motion.qdd, width=0.01)).max(0)
    return Scenario(Plant(arm, saturation=WEAK * peak), {})


def _noise(arm: Arm, motion: Any, rate: float) -> Scenario:
    return Scenario(Plant(arm), {"sensors": Sensors(q_noise=POSITION_NOISE, qd_noise=VELOCITY_NOISE), "seed": 0})


def _delay(arm: Arm, motion: Any, rate: float) -> Scenario:
    return Scenario(Plant(arm), {"delay": 1 / rate})


def _elastic(arm: Arm, motion: Any, rate: float) -> Scenario:
    rotors = arm.trace_data("drive")[:, DRIVE_NAMES.index("inertia")]
    if not (rotors > 0).all() or arm.coupling is not None:
        raise ArmdynError(f"scenario 'elastic': arm '{arm.name}' has joints without a rotor of their own")
    links = np.diagonal(augmented_mass_matrix(arm, motion.q).mean(0)) - rotors
    reduced = links * rotors / (links + rotors)
    stiffness = reduced * (2 * np.pi * ELASTIC) ** 2
    return Scenario(Plant(arm, elasticity=Elasticity(stiffness, 0.02 * stiffness / (2 * np.pi * ELASTIC))), {})


SCENARIOS: dict[str, Callable[[Arm, Any, float], Scenario]] = {
    "free": _free, "payload": _payload, "contact": _contact, "saturation": _saturation, "noise": _noise,
    "delay": _delay, "elastic": _elastic,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class ScenarioComparison:
    """One comparison a scenario, and what they say together."""

    comparisons: Mapping[str, Comparison]

    def __getitem__(self, name: str) -> Comparison:
        """The comparison of a scenario."""
        if name not in self.comparisons:
            raise ArmdynError(f"no scenario '{name}' was run; there are {', '.join(self.comparisons)}")
        return self.comparisons[name]

    @property
    def laws(self) -> list[str]:
        """Names of the laws."""
        return [row.name for row in next(iter(self.comparisons.values())).rows]

    def __str__(self) -> str:
        """Final RMS errors, a law a line, a scenario a column."""
        lines = [f"{'final rms [rad or m]':28s}" + "".join(f"{name:>12s}" for name in self.comparisons)]
        for law in self.laws:
            found = [comparison[law].final_rms for comparison in self.comparisons.values()]
            lines.append(f"{law:28s}" + "".join(f"{'diverged' if np.isnan(x) else f'{x:.1e}':>12s}" for x in found))
        return "\n".join(lines)

    def markdown(self) -> str:
        """The same as a table of a page."""
        lines = ["| law | " + " | ".join(self.comparisons) + " |", "|---" * (len(self.comparisons) + 1) + "|"]
        for law in self.laws:
            found = [comparison[law].final_rms for comparison in self.comparisons.values()]
            lines.append(f"| {law} | " + " | ".join("diverged" if np.isnan(x) else f"{x:.1e}" for x in found) + " |")
        return "\n".join(lines)

    def advice(self) -> str:
        """Which law to take when, in sentences."""
        lines, good = [], dict.fromkeys(self.laws, 0)
        for name, comparison in self.comparisons.items():
            errors = {row.name: row.final_rms for row in comparison.rows if not np.isnan(row.final_rms)}
            if not errors:
                lines.append(f"{name}: every law diverged.")
                continue
            best = min(errors, key=lambda law: errors[law])
            equals = [law for law in errors if errors[law] <= AS_GOOD * errors[best]]
            for law in equals:
                good[law] += 1
            others = f"; as good: {', '.join(law for law in equals if law != best)}" if len(equals) > 1 else ""
            lost = [law for law in self.laws if law not in errors]
            failed = f"; diverged: {', '.join(lost)}" if lost else ""
            lines.append(f"{name}: {best} ({errors[best]:.1e}){others}{failed}.")
        most = max(good.values())
        leaders = ", ".join(law for law in good if good[law] == most)
        return "\n".join(
            [*lines, f"all in all: {leaders}, among the best in {most} of {len(self.comparisons)} scenarios."]
        )


def compare_scenarios(
    arm: Arm,
    laws: Mapping[str, Law],
    reference: Any,
    rate: float = 1000.0,
    *,
    scenarios: Sequence[str] = tuple(SCENARIOS),
    progress: Callable[[str], None] | None = None,
    **options: Any,
) -> ScenarioComparison:
    """Run every controller in several scenarios: the arm they believe in, and what reality adds.

    Parameters
    ----------
    arm : Arm
        The model of the laws, and the plant but for what a scenario changes.
    laws : mapping of str to Law
        By name, such as `designs` makes them.
    reference : Trajectory
    rate : float
        [Hz]
    scenarios : sequence of str
        Some of "free", "payload" (5 % of the arm's mass), "contact" (a wall of 5e3 N/m in the last tenth of the tip's
        way), "saturation" (drives with 90 % of the peak torque), "noise", "delay" (a period) and "elastic" (joints
        with 15 Hz; needs rotors).
    progress : callable, optional
        Called with the name of every scenario before it runs.
    **options
        What `simulate` takes besides.
    """
    unknown = [name for name in scenarios if name not in SCENARIOS]
    if unknown or not scenarios or isinstance(scenarios, str):
        raise ArmdynError(f"compare_scenarios: expected some of {', '.join(SCENARIOS)}, got {shown(scenarios)}")
    motion, found = reference(np.linspace(0.0, reference.duration, 500)), {}
    for name in scenarios:
        if progress is not None:
            progress(name)
        plant, more = SCENARIOS[name](arm, motion, rate)
        found[name] = compare(plant, laws, reference, rate, about=name, **{**options, **more})
    return ScenarioComparison(found)
