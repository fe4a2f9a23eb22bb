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
from armdyn.progress import ProgressCallback, reporting, with_text
from armdyn.shapes.obstacles import HalfSpace
from armdyn.simulation.compare import Comparison, compare
from armdyn.simulation.metrics import CLEAR_RATIO
from armdyn.simulation.plant.contact import Contact
from armdyn.simulation.plant.elasticity import Elasticity
from armdyn.simulation.plant.plant import Plant
from armdyn.simulation.ranking import RankingEntry, failure_words, standing
from armdyn.simulation.sensors import REAL_SENSORS

# Part of the arm's mass that the payload has, part of the peak torque that drives have, eigenfrequency of elastic
# joints [Hz], stiffness of the wall [N/m], and the part of the tip's way that lies before it.
PAYLOAD_MASS_RATIO, WEAK_TORQUE_RATIO, ELASTIC_HZ, WALL_STIFFNESS, WAY_BEFORE_WALL = 0.05, 0.9, 15.0, 5e3, 0.9
MIN_WAY = 1e-3  # of the tip [m], below which there is no room for a wall
# Conditions of a scenario, in words.
WORDS = {
    "free": "the arm equals its model", "payload": "the model lacks a load at the tip",
    "contact": "a wall blocks the path of the tip", "saturation": "drives are 10 % too weak",
    "noise": "quantised positions and noisy velocities",
    "delay": "torques act one period late", "elastic": "the model lacks the elasticity of the joints",
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
    """A wall across the axis along which the tip goes farthest from its start, which is clear of it."""
    x = forward_kinematics(arm, motion.q)[:, :3, 3]
    ahead = np.concatenate([np.eye(3), -np.eye(3)])
    ways = ((x - x[0]) @ ahead.T).max(0)
    if not (way := ways.max()) > MIN_WAY:
        raise ArmdynError(f"scenario 'contact': the tip of arm '{arm.name}' does not leave its start")
    normal = -ahead[int(ways.argmax())]
    wall = HalfSpace(normal, float(normal @ x[0] - WAY_BEFORE_WALL * way))
    return Scenario(Plant(arm, contact=Contact([wall], WALL_STIFFNESS)), {})


def _saturation(arm: Arm, motion: Any, rate: float) -> Scenario:
    peak = np.abs(joint_torque(arm, motion.q, motion.qd, motion.qdd, width=0.01)).max(0)
    return Scenario(Plant(arm, saturation=WEAK_TORQUE_RATIO * peak), {})


def _noise(arm: Arm, motion: Any, rate: float) -> Scenario:
    return Scenario(Plant(arm), {"sensors": REAL_SENSORS, "seed": 0})


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
            raise ArmdynError(f"no scenario '{name}' was run; there are {', '.join(self.comparisons)}", names=(name,))
        return self.comparisons[name]

    @property
    def laws(self) -> list[str]:
        """Names of the laws."""
        return [row.name for row in next(iter(self.comparisons.values())).rows]

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it; the scenarios that had run are kept."""
        return any(comparison.interrupted for comparison in self.comparisons.values())

    @property
    def unit(self) -> str:
        """Unit of joint errors."""
        kinds = next(iter(self.comparisons.values())).unit.split(" or ")
        return " or ".join(kind.removeprefix("m") for kind in kinds)

    def standings(self, name: str) -> dict[str, RankingEntry]:
        """Every law's place in a scenario."""
        return {row.name: standing(row) for row in self[name].rows}

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

    def scores(self, name: str) -> dict[str, float]:
        """The number by which laws that count are ranked in a scenario, least first: their error, or their force.

        A wall blocks the reference: the law that follows it best presses hardest, which is no merit.
        """
        places = self.standings(name)
        numbers = self.forces(name) or self.errors(name)
        return {law: number for law, number in numbers.items() if not places[law].failure}

    def leaders(self, name: str) -> list[str]:
        """Laws that do not fail and are within `CLEAR_RATIO` of the best of a scenario, the best first."""
        scores = self.scores(name)
        most = CLEAR_RATIO * min(scores.values(), default=0.0)
        return sorted((law for law in scores if scores[law] <= most), key=scores.__getitem__)

    def table(self) -> list[list[str]]:
        """A head, then a law per row: its final RMS error in every scenario, and its largest force where it touches."""
        touching = [name for name in self.comparisons if self.forces(name)]
        rows = [[f"final RMS [{self.unit}]", *self.comparisons, *(f"{name} [N]" for name in touching)]]
        for law in self.laws:
            cells = [self._cell(name, law) for name in self.comparisons]
            forces = [self.forces(name).get(law) for name in touching]
            rows.append([law, *cells, *("" if x is None else f"{x:.0f}" for x in forces)])
        return rows

    def _cell(self, name: str, law: str) -> str:
        """A law's error in a scenario, marked where it fails."""
        place = self.standings(name)[law]
        if np.isnan(place.row.final_rms):
            return place.failure
        return f"{place.row.final_rms:.1e}{'!' * bool(place.failure)}"

    def __str__(self) -> str:
        lines = [f"{row[0]:28s}" + "".join(f"{cell:>12s}" for cell in row[1:]) for row in self.table()]
        lines += ["!: the law fails there, see below"] * any("!" in cell for row in self.table() for cell in row)
        return "\n".join([*lines, *(f"{name} left out: {why}" for name, why in self.left_out.items())])

    def markdown(self) -> str:
        """The same as a table of a page."""
        head, *rows = (f"| {' | '.join(row)} |" for row in self.table())
        return "\n".join([head, "|---" * len(self.table()[0]) + "|", *rows])

    def advice(self) -> str:
        """Return which law to take when, in sentences."""
        lines = [self._line(name) for name in self.comparisons]
        speeds = [text for _, text in next(iter(self.comparisons.values())).ranking.speeds()]
        return "\n".join([*lines, self._all_in_all(), *speeds])

    def _line(self, name: str) -> str:
        """The best law of a scenario, those within `CLEAR_RATIO` of it, and those that fail."""
        leaders, forces = self.leaders(name), self.forces(name)
        numbers = forces or self.errors(name)

        def scored(law: str) -> str:
            return f"{law} ({numbers[law]:.0f} N)" if forces else f"{law} ({numbers[law]:.1e} {self.unit})"

        parts = []
        if leaders:
            best, *others = leaders
            parts = [f"{'Smallest force' if forces else 'Best'}: {scored(best)}."]
            parts += [f"Within a factor of {CLEAR_RATIO:g}: {', '.join(map(scored, others))}."] if others else []
            hard = max(forces, key=forces.__getitem__) if forces else best
            parts += [f"Largest force: {scored(hard)}."] if hard != best else []
        failures = self._failures(name)
        parts += [f"Failed: {', '.join(failures)}."] if failures else []
        return f"{name} ({WORDS[name]}): {' '.join(parts)}"

    def _failures(self, name: str) -> list[str]:
        """Laws that fail in a scenario, each with the cause; those that lose the motion together."""
        failed = [place for place in self.standings(name).values() if place.failure]
        far = [place for place in failed if place.failure == "far"]
        texts = [f"{place.row.name} ({failure_words(place)})" for place in failed if place.failure != "far"]
        if far:
            names = "all laws" if len(far) == len(self.laws) else ", ".join(place.row.name for place in far)
            sizes = sorted(place.row.largest for place in far)
            span = " to ".join(dict.fromkeys(f"{size:.2g}" for size in (sizes[0], sizes[-1])))
            texts.append(f"{names} (largest joint error{'s' * (len(far) > 1)} {span} {self.unit})")
        return texts

    def _all_in_all(self) -> str:
        """The laws that fail nowhere and are among the best most often; what no law passes tells none apart."""
        tried = [name for name in self.comparisons if self.scores(name)]
        hopeless = [name for name in self.comparisons if name not in tried]
        but = f" (all laws fail in {', '.join(hopeless)})" if hopeless else ""
        passed = {law: sum(law in self.scores(name) for name in tried) for law in self.laws}
        sound = [law for law in self.laws if tried and passed[law] == len(tried)]
        if not sound:
            most = max(passed.values())
            names = ", ".join(law for law in self.laws if passed[law] == most)
            passing = f"; most passed: {names} ({most} of {len(self.comparisons)})" if most else ""
            return f"overall: no law passes every scenario{passing}{but}."
        good = {law: sum(law in self.leaders(name) for name in tried) for law in sound}
        most = max(good.values())
        names = ", ".join(law for law in sound if good[law] == most)
        return (
            f"overall: {names}: within a factor of {CLEAR_RATIO:g} of the best in {most} of {len(tried)} scenarios, "
            f"without failing in any{but}."
        )


def compare_scenarios(
    arm: Arm,
    laws: Mapping[str, Law],
    reference: Any,
    rate: float = 1000.0,
    *,
    scenarios: Sequence[str] | None = None,
    progress: ProgressCallback | bool | None = None,
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
    progress : callable or bool, optional
        True: show a bar with the time left. A function is called with (done, total, names of scenario and law)
        before every run.
    **options
        Further options of `simulate`.
    """
    asked = tuple(SCENARIOS) if scenarios is None else scenarios
    if not asked or isinstance(asked, str) or any(name not in SCENARIOS for name in asked):
        raise ArmdynError(where="compare_scenarios", expected=f"some of {', '.join(SCENARIOS)}", got=quote(scenarios))
    motion, comparisons, left_out = reference(np.linspace(0.0, reference.duration, 500)), {}, {}
    with reporting(progress, "compare_scenarios", with_text) as tell:
        for k, name in enumerate(asked):
            try:
                plant, more = SCENARIOS[name](arm, motion, rate)
            except ArmdynError as error:
                if scenarios is not None:
                    raise
                left_out[name] = str(error)
                continue

            def show(done: float, total: float, law: str, k: int = k, name: str = name) -> None:
                tell(k * total + done, len(asked) * total, f"{name}: {law}")

            try:
                comparisons[name] = compare(
                    plant, laws, reference, rate, about=name, progress=show, **{**options, **more}
                )
            except Exception as error:  # no law could run here; what ran before is worth having
                if not comparisons:
                    raise
                left_out[name] = str(error)
                continue
            if comparisons[name].interrupted:
                break
    return ScenarioComparison(comparisons, left_out)
