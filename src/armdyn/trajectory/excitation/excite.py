"""Exciting motions: Fourier series that show an arm's parameters as well as its limits allow."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import row_of
from armdyn.blas import single_threaded
from armdyn.dynamics.base.parameters import BaseParameters, base_parameters
from armdyn.errors import ArmdynError, LimitError, check_choice
from armdyn.model.arm import Arm
from armdyn.names import HintedAttributes, renamed_keywords
from armdyn.presentation import Reported
from armdyn.trajectory.excitation.approach import check_home
from armdyn.trajectory.excitation.confinement import Confinement, confinements, too_weak
from armdyn.trajectory.excitation.guarantees import JOINT_KINDS, Guarantee, joint_limits, omissions
from armdyn.trajectory.excitation.held_information import held_information
from armdyn.trajectory.excitation.information import CRITERIA, condition_numbers, least_seen
from armdyn.trajectory.excitation.multi_start import SearchCandidate, SearchOutcome, SearchProgress, multi_start
from armdyn.trajectory.excitation.problem import ExcitationProblem
from armdyn.trajectory.excitation.protection import Protection, obstacles_of, protect, protected_velocity
from armdyn.trajectory.excitation.regressor import labels_of
from armdyn.trajectory.excitation.search import Run, search
from armdyn.trajectory.fourier import FourierSeries
from armdyn.trajectory.motion_limits import MotionLimits, violations

# A motion with a larger condition number (unit columns) does not show all parameters.
LARGEST_CONDITION = 1e4
GOOD_CONDITION = 100.0  # a usual bound, up to which noise in torques is not blown up much
# Part of the arm's own limits of velocity and torque that is left free.
LIMIT_MARGIN = 0.05
# Part of the time budget kept for the final checks.
TIME_RESERVE_RATIO = 0.03
WHOLE_SETTINGS = ("harmonics", "samples", "starts", "steps", "seed", "workers")  # settings that are counted


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

    @property
    def base(self) -> BaseParameters:
        """The parameters it is for."""
        return self.problem.base

    @property
    def limits(self) -> MotionLimits:
        """The limits it keeps."""
        return self.problem.limits

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
        return self.protection.lowest(self.trajectory)

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
            return "search longer (--time-budget), or allow a longer --duration or wider limits"
        remedies = dict.fromkeys(one.remedy for one in self.confined)
        return f"{'; '.join(map(str, self.confined))}. {'; '.join(remedies)}"

    @property
    def guarantee_summary(self) -> tuple[str, str]:
        """Guarantees that hold at all times, and checks that were left out: a sentence each."""
        return (
            f"At all times: {'; '.join(self.always)}.",
            f"Not checked: {'; '.join(self.unchecked) or 'nothing'}; {self.lowest}.",
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
        return (self.condition_unit if self.problem.unit_columns else self.condition) <= GOOD_CONDITION

    @cached_property
    def singular_values(self) -> NDArray:
        """Singular values of W, the largest first."""
        return np.sqrt(np.linalg.eigvalsh(self.information)[::-1])

    def __repr__(self) -> str:
        return f"<Excitation of '{self.base.name}': {self.trajectory.duration:g} s, condition {self.condition:.1f}>"

    def _condition(self, *, unit: bool) -> NDArray:
        return condition_numbers(self.information, self.problem.forms, unit)


@renamed_keywords
def excite(
    arm: Arm,
    duration: float,
    *,
    max_acceleration: ArrayLike,
    max_velocity: ArrayLike | None = None,
    position: tuple[ArrayLike, ArrayLike] | None = None,
    harmonics: int = 5,
    frequency: float | None = None,
    at_rest: bool = True,
    criterion: str = "condition",
    unit_columns: bool = False,
    robust: bool | None = None,
    noise: ArrayLike | None = None,
    samples: int = 200,
    prior_logs: Any = (),
    max_torque: ArrayLike | bool | None = None,
    margin: float = LIMIT_MARGIN,
    floor: float | bool | None = None,
    self_collision: bool = True,
    obstacles: Any = (),
    tip_box: tuple[ArrayLike, ArrayLike] | None = None,
    radius: ArrayLike | None = None,
    boxes: ArrayLike = (),
    home: ArrayLike | None = None,
    time_budget: float = 20.0,
    starts: int | None = None,
    steps: int | None = None,
    seed: int = 0,
    workers: int | None = None,
    progress: Callable[[SearchProgress], None] | None = None,
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
    harmonics : int
        Of the series.
    frequency : float, optional
        Of the first harmonic [Hz]; default one period in the duration.
    at_rest : bool
        Start and end with zero velocity and acceleration; otherwise the motion is periodic only.
    criterion : {"condition", "log-det", "min-singular", "kalman"}
        Condition number, volume of uncertainty (D-optimal), the least singular value of the correlation
        matrix, or the slowest time constant of the minimum-variance (Kalman) estimator of parameters that
        all drift alike; the last two have the same optimum.
    unit_columns : bool
        Judge the regressor with its columns scaled to unit length instead of in SI units.
    robust : bool, optional
        Design for the worst of the usual choices of base columns (the default in SI units), or for those of
        `base_parameters` alone (the default with unit columns, for which no motion suits all choices).
    noise : array_like, shape (n,), optional
        Standard deviations of the joints' torques; rows are weighted by their inverse. Default: equal.
    samples : int
        Samples over the duration at which the criterion is computed.
    prior_logs : log or iterable of logs, optional
        Motions that exist already, with `t` and `q` (a log), or trajectories: what counts is all together.
    max_torque : bool, float or array_like, shape (n,), optional
        Torques by the present model stay below these [N m or N]. Default: a margin below the arm's own, where these
        and its inertia are known; True insists on them, False does not check.
    margin : float
        Part of the arm's own limits of velocity and torque that is left free.
    floor : float or False, optional
        Height of the mounting plane along z of the base axes [m]; default the arm's own, False: none.
    self_collision : bool
        Whether links keep apart, as capsules around the URDF's collision shapes, else along the arm's frames.
    obstacles : path or sequence of Box, HalfSpace, Sphere
        What links 2 to n keep clear of; a TOML file, see `read_obstacles`.
    tip_box : pair of array_like, shape (3,), optional
        Lower and upper corner of the tip's room in base axes [m]; infinite where open. Above a table of
        height h: `((-inf, -inf, h), (inf, inf, inf))`.
    radius : float or array_like, shape (n + 1,), optional
        Of capsules along the arm's frames, from the base, in place of all other shapes [m].
    boxes : array_like, shape (B, 2, 3), optional
        Lower and upper corners of more obstacles in base axes [m].
    home : array_like, shape (n,), optional
        Pose in which the robot waits [rad or m]; it must be clear, which is checked before the search. See
        `plan_experiment` for the way from there and back.
    time_budget : float
        [s]; the best motion found until then is returned. Without effect where `starts` or `steps` are given.
    starts : int, optional
        Number of searches, which alone decide then when to end: the result is the same on every run, however busy
        the machine. A search takes some minutes on an arm of seven joints.
    steps : int, optional
        Of descent in each search, at most; of one search, unless `starts` says of how many. The result is the same on
        every run, too.
    seed : int
        Of the random starts.
    workers : int, optional
        Threads; default one per core.
    progress : callable, optional
        Called about ten times per second with a `Standing` (elapsed, best, starts, current). What it raises ends the
        search; KeyboardInterrupt, as Ctrl-C, with the best motion so far.

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
    if isinstance(margin, bool) or not isinstance(margin, int | float | np.number) or not 0 <= margin < 1:
        raise ArmdynError(f"excite: expected margin from 0 to below 1, got {margin!r}")
    limits = MotionLimits.of(
        arm, acceleration=max_acceleration, velocity=protected_velocity(arm, max_velocity, margin), position=position
    )
    limits.check_room("excite", [joint.kind for joint in arm.coordinate_joints])
    _check_numbers(
        duration=duration, harmonics=harmonics, frequency=frequency, samples=samples, time_budget=time_budget,
        starts=starts, steps=steps, seed=seed, workers=workers,
    )  # fmt: skip
    check_choice("excite", "criterion", criterion, CRITERIA)
    with single_threaded():
        base = base_parameters(arm)
        deviations = row_of(1.0 if noise is None else noise, arm.n, "excite: noise", sign=">", finite=True)
        protection = protect(
            arm, margin=margin, max_torque=max_torque, floor=floor, self_collision=self_collision,
            obstacles=(*obstacles_of(obstacles), *obstacles_of(boxes)), tip_box=tip_box, radius=radius,
        )  # fmt: skip
        problem = ExcitationProblem(
            base, limits, float(duration), harmonics, frequency or 1 / duration, at_rest, samples,
            deviations, criterion, unit_columns, (not unit_columns) if robust is None else robust,
            constraints=protection.constraints,
        )  # fmt: skip
        if home is not None:
            check_home(arm, protection.clearance, home)
        if problem.constraints:
            _ = problem.free_poses  # says it if there is none
        held = held_information(problem, prior_logs)
        if held is not None:
            problem = replace(problem, prior_information=held)

        if steps is not None:
            starts = starts or 1
        outcome = multi_start(
            lambda k, race: search(problem, np.random.default_rng([seed, k]), k, Run(race, steps or np.inf)),
            starts=starts, workers=workers, progress=progress,
            deadline=begin + (1 - TIME_RESERVE_RATIO) * time_budget if starts is None else np.inf,
        )  # fmt: skip
        best = _usable(outcome, problem)
        excitation = Excitation(
            problem.series(best.x), problem, best.x, protection, outcome.starts, 0.0, outcome.interrupted
        )
        _check_result(excitation)
    return replace(excitation, seconds=time.monotonic() - begin)


def _usable(outcome: SearchOutcome, problem: ExcitationProblem) -> SearchCandidate:
    """The best candidate, or an error that says why there is none."""
    if outcome.best is not None and np.isfinite(outcome.best.score):
        return outcome.best
    if outcome.interrupted:
        raise KeyboardInterrupt
    weak = too_weak(problem.limits, problem.constraints)
    if problem.constraints and outcome.best is not None:
        slack, worst = problem.worst_slack(outcome.best.x)
        if worst is not None and slack < 0:
            missed = worst.describe(problem.series(outcome.best.x)(problem.times))
            raise LimitError(
                f"excite: no motion was found that keeps all constraints; the last one misses {missed}; "
                + (f"{weak}: allow more" if weak else "relax it, or allow more time")
            )
    least = "" if outcome.best is None else f" (least of all {_least_seen(problem, outcome.best.x)})"
    remedy = "allow a longer duration, more harmonics, wider limits or more time"
    raise LimitError(
        f"excite: no motion that shows all parameters{least} was found within the limits and the time budget; "
        + (f"{weak}: allow more" if weak else remedy)
    )


def _least_seen(problem: ExcitationProblem, x: NDArray) -> str:
    """Names of parameters that a motion hardly shows."""
    labels = labels_of(problem.base)
    return ", ".join(labels[k] for k in least_seen(problem.information(x)))


def _check_result(excitation: Excitation) -> None:
    """Reject a motion that breaks a limit anywhere, or that does not show the parameters."""
    broken = violations(excitation.trajectory, excitation.limits)
    if broken:
        raise LimitError(f"excite: the motion found breaks limits ({broken}); this should not happen, please report it")
    if excitation.condition_unit > LARGEST_CONDITION:
        weak = too_weak(excitation.limits, excitation.problem.constraints)
        remedy = f"{weak}: allow more" if weak else "allow a longer duration, more harmonics or wider limits"
        raise LimitError(
            f"excite: the best motion within the limits has condition number {excitation.condition_unit:.1e} (unit "
            f"columns), so it does not show all parameters, least of all "
            f"{_least_seen(excitation.problem, excitation.x)}; {remedy}"
        )


def _check_numbers(**settings: float | None) -> None:
    """Reject settings that mean nothing; None stands for a default."""
    for name, value in settings.items():
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise ArmdynError(f"excite: expected {name} as a number, got {value!r}")
        if not (np.isfinite(value) and (value > 0 or (name == "seed" and value == 0))):
            raise ArmdynError(f"excite: expected {name} {'>=' if name == 'seed' else '>'} 0, got {value:g}")
        if name in WHOLE_SETTINGS and value != int(value):
            raise ArmdynError(f"excite: expected {name} as a whole number, got {value:g}")
