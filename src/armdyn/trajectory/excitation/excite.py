"""Exciting motions: Fourier series that show an arm's parameters as well as its limits allow."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.blas import single_threaded
from armdyn.dynamics.base.parameters import BaseParameters, base_parameters
from armdyn.errors import LimitError
from armdyn.frozen import PartOf
from armdyn.keywords import with_keywords
from armdyn.model.arm import Arm
from armdyn.names import HintedAttributes, renamed_keywords
from armdyn.presentation import Reported
from armdyn.progress import reporting
from armdyn.trajectory.excitation.approach import check_home
from armdyn.trajectory.excitation.confinement import Confinement, advice_on, confinements, too_weak
from armdyn.trajectory.excitation.guarantees import JOINT_KINDS, Guarantee, joint_limits, omissions
from armdyn.trajectory.excitation.information import condition_numbers, least_seen
from armdyn.trajectory.excitation.multi_start import SearchCandidate, SearchOutcome, SearchProgress, multi_start
from armdyn.trajectory.excitation.options import (
    ExcitationKeywords,
    ObjectiveOptions,
    ProtectionOptions,
    SearchOptions,
    SeriesOptions,
    merge_options,
    require_positive,
    require_resolution,
)
from armdyn.trajectory.excitation.problem import REMEDIES, ExcitationProblem
from armdyn.trajectory.excitation.protection import Protection, protect, protected_velocity
from armdyn.trajectory.excitation.regressor import labels_of
from armdyn.trajectory.excitation.search import Run, search
from armdyn.trajectory.fourier import FourierSeries
from armdyn.trajectory.motion_limits import MotionLimits, violations

# A motion with a larger condition number (unit columns) does not show all parameters.
MAX_CONDITION = 1e4
GOOD_CONDITION = 100.0  # a usual bound, up to which noise in torques is not blown up much
MORE_MOTION = "allow larger velocities and accelerations, a longer duration or more harmonics"
# Part of the time budget kept for the final checks.
TIME_RESERVE_RATIO = 0.03


@dataclass(frozen=True, eq=False)
class Excitation(Reported, HintedAttributes):
    """An exciting motion and how good it is."""

    trajectory: FourierSeries
    problem: ExcitationProblem
    x: NDArray
    protection: Protection
    starts: int  # searches that went through
    seconds: float
    interrupted: bool  # by Ctrl-C

    base = PartOf[BaseParameters]("problem.base", "The parameters it is for.")
    limits = PartOf[MotionLimits]("problem.limits", "The limits it keeps.")

    @cached_property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """Everything that was checked, for what exactly, whether it holds, and what was left out."""
        with single_threaded():
            return self.protection.guarantees(self.trajectory, self.limits)

    @property
    def constraints(self) -> tuple[str, ...]:
        """Guarantees that hold at all times, besides the joints' limits, in words."""
        return tuple(str(one) for one in self.guarantees if one.holds and one.kind not in JOINT_KINDS)

    @property
    def always(self) -> tuple[str, ...]:
        """Guarantees that hold at all times, in words."""
        return (*joint_limits(self.guarantees), *self.constraints)

    @property
    def unchecked(self) -> tuple[str, ...]:
        """Checks that were left out, and those that fail, in words."""
        broken = [str(one) for one in self.guarantees if one.checked and not one.holds]
        return (*broken, *omissions(self.guarantees))

    @cached_property
    def lowest(self) -> str:
        """Lowest height that links come to, in words."""
        return str(self.protection.lowest(self.trajectory))

    @cached_property
    def confined(self) -> tuple[Confinement, ...]:
        """Joints that cannot use most of their range, because of what, and what may help."""
        return confinements(self.trajectory, self.limits, self.protection)

    @property
    def advice(self) -> str:
        """Changes that may determine the parameters better; empty where they are determined well."""
        if self.is_good:
            return ""
        if not self.confined:
            return "allow a longer duration or wider limits, or search longer"
        return advice_on(self.confined)

    @property
    def guarantee_summary(self) -> tuple[str, str]:
        """Guarantees that hold at all times, and checks that were left out: a sentence each."""
        return (
            f"At all times: {'; '.join(self.always)}.",
            f"Not checked: {'; '.join(self.unchecked) or 'nothing'}. {self.lowest.capitalize()}.",
        )

    @cached_property
    def information(self) -> NDArray:
        """W' W (c, c) of the base, viscous and Coulomb columns over the samples, rows over their noise."""
        return self.problem.information(self.x)

    @property
    def condition(self) -> float:
        """Condition number of W in SI units, base columns as `base` has them."""
        return self._condition(unit=False)[0]

    @property
    def condition_worst(self) -> float:
        """The same for the worst usual choice of base columns (its own alone unless designed to be robust)."""
        return self._condition(unit=False).max()

    @property
    def condition_unit(self) -> float:
        """Condition number with columns scaled to unit length."""
        return self._condition(unit=True)[0]

    @property
    def is_good(self) -> bool:
        """Whether it excites all parameters well, by the columns it was designed for."""
        return (self.condition_unit if self.problem.objective.unit_columns else self.condition) <= GOOD_CONDITION

    @cached_property
    def singular_values(self) -> NDArray:
        """Singular values of W, the largest first."""
        return np.sqrt(np.linalg.eigvalsh(self.information)[::-1])

    def __repr__(self) -> str:
        return f"<Excitation of '{self.base.name}': {self.trajectory.duration:g} s, condition {self.condition:.1f}>"

    def _condition(self, *, unit: bool) -> NDArray:
        return condition_numbers(self.information, self.problem.forms, unit)


@renamed_keywords
@with_keywords(ExcitationKeywords, SeriesOptions(), ObjectiveOptions(), ProtectionOptions(), SearchOptions())
def excite(
    arm: Arm,
    duration: float,
    *,
    max_acceleration: ArrayLike,
    max_velocity: ArrayLike | None = None,
    position: tuple[ArrayLike, ArrayLike] | None = None,
    series: SeriesOptions | None = None,
    objective: ObjectiveOptions | None = None,
    protection: ProtectionOptions | None = None,
    search: SearchOptions | None = None,
    **keywords: Unpack[ExcitationKeywords],
) -> Excitation:
    """Find the Fourier series that excites the arm's base and friction parameters best.

    Many searches start from random series; each follows the exact gradient of the criterion within the
    limits, which hold at all times, not at samples alone. The best of them counts. Coulomb friction is
    smoothed (tanh).

    The robot is spared by default: links 2 to n stay on the arm's side of its mounting plane, links that are no
    neighbours keep apart, and the arm's limits of torque and velocity are kept with a margin. `result.constraints` and
    `result.unchecked` say what was checked and what was not.

    Parameters
    ----------
    arm : Arm
        Its limits of position and velocity are kept; its inertia is not needed.
    duration : float
        [s].
    max_acceleration : float or array_like, shape (n,)
        [rad/s² or m/s²].
    max_velocity : float or array_like, shape (n,), optional
        Tightens the arm's own limits, or stands in for them [rad/s or m/s].
    position : pair of array_like, optional
        Lower and upper positions that tighten the arm's own [rad or m].
    series : SeriesOptions, optional
        harmonics, frequency, at_rest.
    objective : ObjectiveOptions, optional
        criterion ("condition", "log-det", "min-singular", "kalman"), unit_columns, robust, noise, samples, prior_logs.
    protection : ProtectionOptions, optional
        margin, max_torque, torque_check, floor, floor_check, self_collision, obstacles, tip_box, radius, home.
    search : SearchOptions, optional
        time_budget, starts, steps, seed, workers, progress.
    **keywords
        Fields of these options, one by one: `excite(arm, 10, max_acceleration=8, starts=2, floor=-0.1)`. Besides,
        `max_torque=True` requires the arm's own limits, `max_torque=False` and `floor=False` leave the checks out, and
        `boxes` are further obstacles.

    Returns
    -------
    Excitation
        With trajectory (`q, qd, qdd = result.trajectory(t)`), condition, base, singular_values.

    Raises
    ------
    LimitError
        If limits are missing or leave no room, or no motion within them excites the parameters.

    References
    ----------
    Swevers, Ganseman, Tükel, de Schutter, Van Brussel (1997), Optimal robot excitation and identification.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> motion = armdyn.excite(arm, 4.0, max_acceleration=10.0, max_velocity=3.0, steps=60)
    >>> bool(motion.condition < 100)
    True
    """
    begin = time.monotonic()
    require_positive(duration=duration)
    parts = (series or SeriesOptions(), objective or ObjectiveOptions(), protection or ProtectionOptions())
    form, goal, spare, effort = merge_options(dict(keywords), (*parts, search or SearchOptions()))
    require_resolution(duration, form, goal)
    velocity = protected_velocity(arm, max_velocity, spare.margin)
    limits = MotionLimits.of(arm, acceleration=max_acceleration, velocity=velocity, position=position)
    limits.check_room("excite", [joint.kind for joint in arm.coordinate_joints])
    with single_threaded():
        guard = protect(arm, spare)
        problem = ExcitationProblem.of(base_parameters(arm), limits, float(duration), form, goal)
        problem = replace(problem, constraints=guard.constraints)
        if spare.home is not None:
            check_home(arm, guard.clearance, spare.home)
        if problem.constraints:
            _ = problem.free_poses  # says it if there is none
        outcome = _search(problem, effort, begin)
        best = _usable(outcome, problem)
        excitation = Excitation(
            problem.series(best.x), problem, best.x, guard, outcome.starts, 0.0, outcome.interrupted
        )
        _check_result(excitation)
    return replace(excitation, seconds=time.monotonic() - begin)


def _search(problem: ExcitationProblem, options: SearchOptions, begin: float) -> SearchOutcome:
    """The best motion that so many searches, or the time since `begin`, lead to."""
    steps = np.inf if options.steps is None else options.steps
    starts = 1 if options.starts is None and options.steps is not None else options.starts
    latest: list[SearchProgress] = []

    def show(standing: SearchProgress) -> None:
        latest[:] = [standing]
        tell(standing.starts if starts else standing.elapsed, starts or options.time_budget, f"{standing}")

    with reporting(options.progress, "excite", lambda one: lambda *_: one(latest[0]), renamed=False) as tell:
        return multi_start(
            lambda k, race: search(problem, np.random.default_rng([options.seed, k]), k, Run(race, steps)),
            starts=starts, workers=options.workers, progress=show,
            deadline=begin + (1 - TIME_RESERVE_RATIO) * options.time_budget if starts is None else np.inf,
        )  # fmt: skip


def _usable(outcome: SearchOutcome, problem: ExcitationProblem) -> SearchCandidate:
    """The best candidate, or an error that says why there is none."""
    if outcome.best is not None and np.isfinite(outcome.best.score):
        return outcome.best
    if outcome.interrupted:
        raise KeyboardInterrupt
    _require_strength(problem)
    if problem.constraints and outcome.best is not None:
        slack, worst = problem.worst_slack(outcome.best.x)
        if worst is not None and slack < 0:
            missed = worst.describe(problem.series(outcome.best.x)(problem.times))
            cause = f"no motion within the time budget keeps all constraints; the last one {missed}"
            remedy = REMEDIES.get(worst.name, "move the floor or obstacles")
            raise LimitError(cause, where="excite", remedy=f"{remedy}, or allow more time")
    least = "" if outcome.best is None else f" (least of all {_least_seen(problem, outcome.best.x)})"
    cause = f"no motion within the limits and the time budget determines all parameters{least}"
    raise LimitError(cause, where="excite", remedy=f"{MORE_MOTION}, or more time")


def _require_strength(problem: ExcitationProblem) -> None:
    """Reject torque limits that gravity alone exceeds."""
    if weak := too_weak(problem.limits, problem.constraints):
        raise LimitError(weak, where="excite", remedy=REMEDIES["torque"])


def _least_seen(problem: ExcitationProblem, x: NDArray) -> str:
    """Names of parameters that a motion hardly determines."""
    labels = labels_of(problem.base)
    return ", ".join(labels[k] for k in least_seen(problem.information(x)))


def _check_result(excitation: Excitation) -> None:
    """Reject a motion that breaks a limit anywhere, or that does not determine the parameters."""
    broken = violations(excitation.trajectory, excitation.limits)
    if broken:
        cause = f"the motion found breaks limits ({broken}); this should not happen, please report it"
        raise LimitError(cause, where="excite")
    if excitation.condition_unit > MAX_CONDITION:
        _require_strength(excitation.problem)
        cause = (
            f"the best motion within the limits has condition number {excitation.condition_unit:.1e} "
            "(unit columns), so it does not determine all parameters, least of all "
            f"{_least_seen(excitation.problem, excitation.x)}"
        )
        raise LimitError(cause, where="excite", remedy=MORE_MOTION)
