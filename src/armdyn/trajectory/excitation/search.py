"""The search for an exciting motion: many quick descents, of which those that promise most are brought to their end.

From the best of some random series, then again and again from the best motion so far with another part for one
joint. Criteria are blunt at first (p-norms of low power) and sharp at the end. A quick descent ends some per cent above
the minimum that it would reach in ten times as many steps, and tells well enough whether these are worth it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.trajectory.excitation.interior_point import minimize_inside
from armdyn.trajectory.excitation.multi_start import SearchCandidate, SharedBest
from armdyn.trajectory.excitation.problem import ExcitationProblem


class SearchStage(NamedTuple):
    """A part of a descent."""

    power: float  # of the soft maxima
    barrier: float  # weight of the joints' own limits
    rigor: float  # weight of other constraints
    gain: float = 1e-4  # least gain, in the logarithm of the criterion,
    patience: int = 1  # of so many steps
    steps: int = 100  # at most


QUICK = (
    SearchStage(3.0, 0.2, 1e1),
    SearchStage(6.0, 0.06, 1e2),
    SearchStage(12.0, 0.02, 1e3),
    SearchStage(30.0, 6e-3, 1e4),
    SearchStage(60.0, 2e-3, 1e5),
)
THOROUGH = (
    SearchStage(60.0, 1e-3, 1e5, 1e-6, 10, 600),
    SearchStage(120.0, 5e-4, 1e6, 1e-5, 10, 200),
    SearchStage(300.0, 2e-4, 1e6, 1e-4, 10),
    SearchStage(300.0, 1e-4, 1e6, 1e-4, 10),
)
SERIES_TRIED = 4  # random series from which a search begins, the best of which it goes on with
MAX_HOPS = 40  # times that a search begins anew from its best motion
FIRST_CHOICES = 2  # worst choices of base columns that a descent begins with; the worst of the others joins them
STEPS_PER_PART = 40  # after so many steps, if it is worse
# How far above the quick descent to the best motion, in the logarithm of the criterion:
PROMISING_EXCESS = 0.015  # a descent may end to be worth a thorough one
HOPELESS_EXCESS, EARLY_POWER = 0.06, 12.0  # it is given up after the stage of this power


class Descent(NamedTuple):
    """End of a descent, the criterion's logarithm there, the curvature it has learned and the choices it saw."""

    x: NDArray
    loss: float = np.inf
    hessian: NDArray | None = None
    choices: tuple[int, ...] = ()  # of base columns


@dataclass
class Run:
    """A search in a race, with so many steps of descent to go at most."""

    race: SharedBest
    steps: float = np.inf

    def stopped(self) -> bool:
        """Whether to end: the race is over, or no step is left."""
        return self.steps <= 0 or self.race.stopped()


def search(problem: ExcitationProblem, rng: np.random.Generator, k: int, run: Run) -> None:
    """Offer ever better motions, from the k-th random series on, until the run is stopped or MAX_HOPS are made."""

    def offer(x: NDArray) -> SearchCandidate:
        feasible = problem.repaired(x, run.race.interrupted)
        candidate = (
            SearchCandidate(np.inf, k, x) if feasible is None else SearchCandidate(problem.score(feasible), k, feasible)
        )
        run.race.offer(candidate)
        return candidate

    start = problem.random_start(rng)
    offer(start)  # so that there is something whenever the time is up
    quick = descend(problem, Descent(start), QUICK, run)
    best = offer(quick.x)
    for _ in range(SERIES_TRIED - 1):
        if run.stopped():
            return
        other = descend(problem, Descent(problem.random_start(rng)), QUICK, run, quick.loss + HOPELESS_EXCESS)
        if other.loss < quick.loss and not run.stopped():
            quick, best = other, offer(other.x)
    curvature = quick.hessian
    for hop in range(MAX_HOPS + 1):
        if run.stopped():
            return
        if hop:
            x = best.x.copy()
            i = rng.integers(len(x))
            x[i] = problem.random_start(rng)[i]
            # What the best motion's descent has learned of the curvature serves near it, too.
            descent = descend(problem, Descent(x, hessian=curvature), QUICK[1:], run, quick.loss + HOPELESS_EXCESS)
            if descent.loss > quick.loss + PROMISING_EXCESS or run.stopped():
                continue
        else:
            descent = quick
        end = descend(problem, descent, THOROUGH, run)
        candidate = offer(end.x)
        if candidate.score < best.score:
            best, quick, curvature = candidate, descent, end.hessian


def descend(
    problem: ExcitationProblem, start: Descent, stages: tuple[SearchStage, ...], run: Run, hopeless: float = np.inf
) -> Descent:
    """The minimum that stages lead to; as much as is reached of it, with an infinite loss, if that is hopeless."""
    here = start
    for stage in stages:
        steps = stage.steps
        while steps > 0 and not run.stopped():
            here, taken = _part(problem, here, stage, min(steps, STEPS_PER_PART), run)
            steps = steps - taken if taken == STEPS_PER_PART else 0
        if stage.power == EARLY_POWER and problem.loss(here.x) > hopeless:
            return here
    return here._replace(loss=problem.loss(here.x))


def _part(problem: ExcitationProblem, here: Descent, stage: SearchStage, steps: int, run: Run) -> tuple[Descent, int]:
    """A part of a stage, and how many steps it took: fewer than allowed if it came to its end."""
    worst = problem.worst_choices(here.x)
    choices = here.choices or tuple(worst[:FIRST_CHOICES])
    if worst[0] not in choices:
        choices = (*choices, worst[0])
    forms = problem.forms[list(choices)]
    minimum = minimize_inside(
        lambda x: problem.value(x, forms, stage.power, stage.rigor),
        here.x, problem.bounds, weight=stage.barrier, steps=int(min(steps, run.steps)), tolerance=stage.gain,
        patience=stage.patience, hessian=here.hessian, stop=run.stopped, tell=lambda x: run.race.note(x, problem.score),
    )  # fmt: skip
    run.steps -= minimum.steps
    return Descent(minimum.x, np.inf, minimum.hessian, choices), minimum.steps
