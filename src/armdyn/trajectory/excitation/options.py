"""Options of `excite` in four parts, which Python and the command line share, and its single keywords."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from armdyn.arrays import is_number
from armdyn.errors import ArmdynError, check_choice, expect
from armdyn.frozen import Frozen
from armdyn.keywords import Parts, merge_keywords
from armdyn.progress import ProgressCallback
from armdyn.shapes.obstacles import Obstacle, obstacles_of
from armdyn.trajectory.excitation.information import CRITERIA
from armdyn.trajectory.excitation.multi_start import SearchProgress

Corners = tuple[ArrayLike, ArrayLike]


class TorqueCheck(str, Enum):  # noqa: UP042 (as other enums of results)
    """Whether torques keep to limits: where limits and inertia are known, in any case, or not at all."""

    IF_KNOWN = "if known"
    REQUIRED = "required"
    OFF = "off"


@dataclass(frozen=True)
class SeriesOptions:
    """Form of the motion.

    Parameters
    ----------
    harmonics : int
        Number of harmonics of the series.
    frequency : float, optional
        Frequency of the first harmonic [Hz]; default one period in the duration.
    at_rest : bool
        Start and end with zero velocity and acceleration; otherwise the motion is periodic only.
    """

    harmonics: int = 5
    frequency: float | None = None
    at_rest: bool = True

    def __post_init__(self) -> None:
        require_whole(harmonics=self.harmonics)
        require_positive(frequency=self.frequency)


@dataclass(frozen=True, eq=False)
class ObjectiveOptions:
    """Goal of the search.

    Parameters
    ----------
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
    """

    criterion: str = "condition"
    unit_columns: bool = False
    robust: bool | None = None
    noise: ArrayLike | None = None
    samples: int = 200
    prior_logs: Any = ()

    def __post_init__(self) -> None:
        check_choice("excite", "criterion", self.criterion, CRITERIA)
        require_whole(samples=self.samples)


@dataclass(frozen=True, eq=False)
class ProtectionOptions(Frozen):
    """Conditions that spare the robot and its surroundings.

    Parameters
    ----------
    margin : float
        Part of the arm's own limits of velocity and torque that is left free.
    max_torque : float or array_like, shape (n,), optional
        Torques by the present model stay below these [N m or N]; default the arm's own less the margin.
    torque_check : TorqueCheck
        Whether they do: by default where limits and the arm's inertia are known.
    floor : float, optional
        Height of the mounting plane along z of the base axes [m]; default the arm's own.
    floor_check : bool
        Whether links 2 to n stay on the arm's side of it.
    self_collision : bool
        Whether links keep apart, as capsules around the URDF's collision shapes, else along the arm's frames.
    obstacles : path or sequence of Box, HalfSpace, Sphere, or corners (2, 3) of boxes
        What links 2 to n keep clear of; a TOML file, see `read_obstacles`.
    tip_box : pair of array_like, shape (3,), optional
        Lower and upper corner of the tip's room in base axes [m]; infinite where open. Above a table of
        height h: `((-inf, -inf, h), (inf, inf, inf))`.
    radius : float or array_like, shape (n + 1,), optional
        Radius of capsules along the arm's frames, from the base, in place of all other shapes [m].
    home : array_like, shape (n,), optional
        Pose in which the robot waits [rad or m]; it must be clear, which is checked before the search. See
        `plan_experiment` for the way from there and back.
    """

    margin: float = 0.05
    max_torque: ArrayLike | None = None
    torque_check: TorqueCheck = TorqueCheck.IF_KNOWN
    floor: float | None = None
    floor_check: bool = True
    self_collision: bool = True
    obstacles: Any = ()
    tip_box: Corners | None = None
    radius: ArrayLike | None = None
    home: ArrayLike | None = None

    def __post_init__(self) -> None:
        fits = is_number(self.margin) and 0 <= self.margin < 1
        expect(fits, "excite", "margin from 0 to below 1", self.margin, ArmdynError)
        self._set(obstacles=obstacles_of(self.obstacles))

    @classmethod
    def of(cls, **keywords: Any) -> ProtectionOptions:
        """Take the keywords of `excite`."""
        (options,) = merge_options(keywords, (cls(),))
        return options


@dataclass(frozen=True)
class SearchOptions:
    """Extent of the search.

    Parameters
    ----------
    time_budget : float
        [s]; the best motion found until then is returned. Without effect where `starts` or `steps` are given.
    starts : int, optional
        Number of searches, which alone decide then when to end: the result is the same on every run, however busy
        the machine. A search takes some minutes on an arm of seven joints.
    steps : int, optional
        Steps of descent in each search, at most; of one search, unless `starts` gives a number. The result is the same
        on every run, too.
    seed : int
        Seed of the random starts.
    workers : int, optional
        Threads; default one per core.
    progress : callable or bool, optional
        True: show a bar with the time left. A function is called about ten times per second with (done, total, text);
        one of a single argument with a `SearchProgress` (elapsed, best, starts, current). What it raises ends the
        search; KeyboardInterrupt, as Ctrl-C, with the best motion so far.
    """

    time_budget: float = 20.0
    starts: int | None = None
    steps: int | None = None
    seed: int = 0
    workers: int | None = None
    progress: ProgressCallback | Callable[[SearchProgress], object] | bool | None = None

    def __post_init__(self) -> None:
        require_positive(time_budget=self.time_budget)
        require_whole(starts=self.starts, steps=self.steps, workers=self.workers)
        require_whole(0, seed=self.seed)


class DesignKeywords(TypedDict, total=False):
    """Fields of `SeriesOptions` and `ObjectiveOptions`."""

    harmonics: int
    frequency: float | None
    at_rest: bool
    criterion: str
    unit_columns: bool
    robust: bool | None
    noise: ArrayLike | None
    samples: int
    prior_logs: Any


class ProtectionKeywords(TypedDict, total=False):
    """Fields of `ProtectionOptions`, some with more meanings than one."""

    max_torque: ArrayLike | bool | None  # True: `TorqueCheck.REQUIRED`, False: `.OFF`
    margin: float
    floor: float | bool | None  # False: no `floor_check`
    self_collision: bool
    obstacles: Any
    tip_box: Corners | None
    radius: ArrayLike | None
    boxes: Sequence[ArrayLike] | ArrayLike  # more `obstacles`
    home: ArrayLike | None


class ExcitationKeywords(DesignKeywords, ProtectionKeywords, total=False):
    """Single keywords of `excite`: fields of its options, here those of `SearchOptions`."""

    time_budget: float
    starts: int | None
    steps: int | None
    seed: int
    workers: int | None
    progress: ProgressCallback | Callable[[SearchProgress], object] | bool | None


def merge_options(keywords: dict[str, Any], parts: Parts) -> Parts:
    """Options with the values that keywords give to their fields."""
    return merge_keywords("excite", ExcitationKeywords, _with_one_meaning(keywords, parts), parts)


def _with_one_meaning(keywords: dict[str, Any], parts: tuple[Any, ...]) -> dict[str, Any]:
    """Keywords in terms of the fields."""
    rest = dict(keywords)
    if isinstance(torque := rest.get("max_torque"), bool):
        rest |= {"max_torque": None, "torque_check": TorqueCheck.REQUIRED if torque else TorqueCheck.OFF}
    if isinstance(floor := rest.get("floor"), bool):
        rest |= {"floor": None, "floor_check": floor}
    if "boxes" in rest:
        around: tuple[Obstacle, ...] = sum((one.obstacles for one in parts if isinstance(one, ProtectionOptions)), ())
        rest["obstacles"] = (*obstacles_of(rest.get("obstacles", around)), *obstacles_of(rest.pop("boxes")))
    return rest


def require_resolution(duration: float, series: SeriesOptions, objective: ObjectiveOptions) -> None:
    """Reject harmonics that the samples of the search do not resolve (sampling theorem)."""
    frequency = 1 / duration if series.frequency is None else series.frequency
    highest, resolved = series.harmonics * frequency, objective.samples / (2 * duration)
    if highest > resolved:
        reach = f"{series.harmonics} harmonics of {frequency:g} Hz reach {highest:g} Hz"
        cause = f"{reach}, but the {objective.samples} samples of the search resolve {resolved:g} Hz"
        raise ArmdynError(cause, where="excite", expected=f"harmonics <= {int(resolved / frequency)}")


def require_positive(**settings: float | None) -> None:
    """Reject numbers that are not above zero; None stands for a default."""
    for name, value in settings.items():
        if value is not None:
            _require_number(name, value)
            expect(np.isfinite(value) and value > 0, "excite", f"{name} > 0", error=ArmdynError, got=f"{value:g}")


def require_whole(least: int = 1, **settings: float | None) -> None:
    """Reject what is not a whole number from the least on; None stands for a default."""
    for name, value in settings.items():
        if value is not None:
            _require_number(name, value)
            fits = np.isfinite(value) and value >= least
            expect(fits, "excite", f"{name} {'>' if least else '>='} 0", error=ArmdynError, got=f"{value:g}")
            expect(value == int(value), "excite", f"{name} as a whole number", error=ArmdynError, got=f"{value:g}")


def _require_number(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise ArmdynError(where="excite", expected=f"{name} as a number", got=f"{value!r}")
