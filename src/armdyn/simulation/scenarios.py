"""Controllers compared where they are tried: free, loaded, in contact, saturated, noisy, late, elastic."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from armdyn.control.protocol import Law
from armdyn.dynamics.drive import augmented_mass_matrix
from armdyn.dynamics.full import joint_torque
from armdyn.errors import ArmdynError, quote
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
PAYLOAD_MASS_RATIO, WEAK_TORQUE_RATIO, ELASTIC_HZ, WALL_STIFFNESS, WAY_BEFORE_WALL = 0.05, 0.9, 15.0, 5e3, 0.9
# Sensors of the noisy scenario [rad, rad/s].
POSITION_NOISE, VELOCITY_NOISE = 1e-5, 0.02
# A law is as good as the best up to this factor.
AS_GOOD_RATIO = 1.5
# What is so in a scenario, in words.
WORDS = {
    "free": "the arm as its model says", "payload": "an unknown load at the tip",
    "contact": "a wall in the way", "saturation": "drives that are a tenth too weak", "noise": "noisy velocities",
    "delay": "torques that come a period late", "elastic": "elastic joints that the model lacks",
}  # fmt: skip


class Scenario(NamedTuple):
    """A plant, and what `simulate` takes besides."""

    plant: Plant
    options: Mapping[str, Any]


def _free(arm: Arm, motion: Any, rate: float) -> Scenario:
    return Scenario(Plant(arm), {})


def _payload(arm: Arm, motion: Any, rate: float) -> Scenario:
    mass = PAYLOAD_MASS_RATIO * sum(float(link.inertia.mass) for link in arm.links)
    return Scenario(Plant(arm.with_payload(mass)), {})


def _contact(arm: Arm, motion: Any, rate: float) -> Scenario:
    x = forward_kinematics(arm, motion.q)[:, :3, 3]
    axis = int(np.argmax(np.ptp(x, axis=0)))
    place = x[:, axis].min() + WAY_BEFORE_WALL * np.ptp(x[:, axis])
    return Scenario(Plant(arm, contact=Contact([HalfSpace(-np.eye(3)[axis], -place)], WALL_STIFFNESS)), {})


def _saturation(arm: Arm, motion: Any, rate: float) -> Scenario:
    peak = np.abs(joint_torque(arm, motion.q, motion.qd, motion.qdd, width=0.01)).max(0)
    return Scenario(Plant(arm, saturation=WEAK_TORQUE_RATIO * peak), {})


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
    stiffness = reduced * (2 * np.pi * ELASTIC_HZ) ** 2
    return Scenario(Plant(arm, elasticity=Elasticity(stiffness, 0.02 * stiffness / (2 * np.pi * ELASTIC_HZ))), {})


SCENARIOS: dict[str, Callable[[Arm, Any, float], Scenario]] = {
    "free": _free, "payload": _payload, "contact": _contact, "saturation": _saturation, "noise": _noise,
    "delay": _delay, "elastic": _elastic,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class ScenarioComparison:
    """One comparison a scenario, what they say together, and why scenarios were left out."""

    comparisons: Mapping[str, Comparison]
    left_out: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Comparison:
        """The comparison of a scenario."""
        if name not in self.comparisons:
            raise ArmdynError(f"no scenario '{name}' was run; there are {', '.join(self.comparisons)}")
        return self.comparisons[name]

    @property
    def laws(self) -> list[str]:
        """Names of the laws."""
        return [row.name for row in next(iter(self.comparisons.values())).rows]

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it; the scenarios that had run are kept."""
        return any(comparison.interrupted for comparison in self.comparisons.values())

    def errors(self, name: str) -> dict[str, float]:
        """Final RMS errors [rad or m] in a scenario, of laws that did not diverge."""
        return {row.name: row.final_rms for row in self[name].rows if not np.isnan(row.final_rms)}

    def forces(self, name: str) -> dict[str, float]:
        """Largest contact forces [N] in a scenario, of laws that did not diverge; none without contact."""
        runs = {law: self[name].results[law] for law in self.errors(name)}
        return {
            law: float(np.linalg.norm(run.states["contact"], axis=-1).max())
            for law, run in runs.items()
            if "contact" in run.states
        }

    def table(self) -> list[list[str]]:
        """A head, then a law per row: its final RMS error in every scenario, and its largest force where it touches."""
        touching = [name for name in self.comparisons if self.forces(name)]
        rows = [["final rms [rad or m]", *self.comparisons, *(f"{name} [N]" for name in touching)]]
        for law in self.laws:
            found = [self.errors(name).get(law) for name in self.comparisons]
            cells = ["diverged" if x is None else f"{x:.1e}" for x in found]
            forces = [self.forces(name).get(law) for name in touching]
            rows.append([law, *cells, *("" if x is None else f"{x:.0f}" for x in forces)])
        return rows

    def __str__(self) -> str:
        lines = [f"{row[0]:28s}" + "".join(f"{cell:>12s}" for cell in row[1:]) for row in self.table()]
        return "\n".join([*lines, *(f"{name} left out: {why}" for name, why in self.left_out.items())])

    def markdown(self) -> str:
        """The same as a table of a page."""
        head, *rows = (f"| {' | '.join(row)} |" for row in self.table())
        return "\n".join([head, "|---" * len(self.table()[0]) + "|", *rows])

    def advice(self) -> str:
        """Which law to take when, in sentences."""
        lines, good = [], dict.fromkeys(self.laws, 0)
        for name in self.comparisons:
            errors = self.errors(name)
            if not errors:
                lines.append(f"{name}: every law diverged.")
                continue
            best = min(errors, key=errors.__getitem__)
            equals = [law for law in errors if errors[law] <= AS_GOOD_RATIO * errors[best]]
            for law in equals:
                good[law] += 1
            others = f"; as good: {', '.join(law for law in equals if law != best)}" if len(equals) > 1 else ""
            lost = [law for law in self.laws if law not in errors]
            failed = f"; diverged: {', '.join(lost)}" if lost else ""
            more = f"{others}{failed}{self._gentle(name)}{self._smooth(name)}"
            lines.append(f"{name}: {best} ({errors[best]:.1e}), with {WORDS[name]}{more}.")
        most = max(good.values())
        leaders = ", ".join(law for law in good if good[law] == most)
        return "\n".join(
            [*lines, f"all in all: {leaders}, among the best in {most} of {len(self.comparisons)} scenarios."]
        )

    def _smooth(self, name: str) -> str:
        """Whose torques shake the drives most where readings are noisy."""
        if name != "noise":
            return ""
        jumps = {law: np.diff(self[name].results[law].tau, axis=0).std() for law in self.errors(name)}
        smooth, rough = (pick(jumps, key=jumps.__getitem__) for pick in (min, max))
        return f"; torques of {rough} are {jumps[rough] / jumps[smooth]:.0f} times as rough as those of {smooth}"

    def _gentle(self, name: str) -> str:
        """Who presses least, where laws touch something."""
        forces = self.forces(name)
        if not forces:
            return ""
        least, hard = (pick(forces, key=forces.__getitem__) for pick in (min, max))
        return f"; {least} presses least ({forces[least]:.0f} N), {hard} most ({forces[hard]:.0f} N)"


def compare_scenarios(
    arm: Arm,
    laws: Mapping[str, Law],
    reference: Any,
    rate: float = 1000.0,
    *,
    scenarios: Sequence[str] | None = None,
    progress: Callable[[str], None] | None = None,
    **options: Any,
) -> ScenarioComparison:
    """Run every controller in scenarios: free, payload, contact, saturation, noise, delay, elastic joints.

    Parameters
    ----------
    arm : Arm
        The model of the laws, and the plant but for what a scenario changes.
    laws : mapping of str to Law
        By name, such as `designs` makes them.
    reference : Trajectory
    rate : float
        [Hz]
    scenarios : sequence of str, optional
        Default all that the arm can be tried in: "free", "payload" (5 % of the arm's mass), "contact" (a wall of
        5e3 N/m in the last tenth of the tip's way), "saturation" (drives with 90 % of the peak torque), "noise",
        "delay" (a period) and "elastic" (joints with 15 Hz; needs rotors).
    progress : callable, optional
        Called with the names of scenario and law before every run.
    **options
        Further options of `simulate`.
    """
    asked = tuple(SCENARIOS) if scenarios is None else scenarios
    if not asked or isinstance(asked, str) or any(name not in SCENARIOS for name in asked):
        raise ArmdynError(f"compare_scenarios: expected some of {', '.join(SCENARIOS)}, got {quote(scenarios)}")
    motion, found, left_out = reference(np.linspace(0.0, reference.duration, 500)), {}, {}
    for name in asked:
        try:
            plant, more = SCENARIOS[name](arm, motion, rate)
        except ArmdynError as error:
            if scenarios is not None:
                raise
            left_out[name] = str(error)
            continue
        tell = None if progress is None else lambda law, name=name: progress(f"{name}: {law}")
        found[name] = compare(plant, laws, reference, rate, about=name, progress=tell, **{**options, **more})
        if found[name].interrupted:
            break
    return ScenarioComparison(found, left_out)
