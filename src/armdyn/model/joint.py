"""Joints: how one link moves against the one before it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.arrays import unit_vector
from armdyn.errors import ModelError, check_choice, quote
from armdyn.frozen import Frozen
from armdyn.spatial.transform import check_transform

KINDS = ("revolute", "prismatic")


def _check_number(value: object, what: str, *, infinite: bool = False, negative: bool = True) -> float:
    """`value` as a float, or a ModelError that says what it should have been."""
    try:
        if isinstance(value, bool | str):
            raise TypeError
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise ModelError(where=what, expected="a number", got=quote(value)) from None
    if np.isnan(number) or (np.isinf(number) and not infinite):
        raise ModelError(where=what, expected="a finite number", got=number)
    if number < 0 and not negative:
        raise ModelError(where=what, expected="a number >= 0", got=f"{number:g}")
    return number + 0.0  # no negative zero, which would be another text and another fingerprint


def _check_fields(data: Any, signed: Collection[str], infinite: bool = False) -> None:
    """Make numbers of the fields of limits, friction or a drive; those that are not `signed` may not be negative."""
    for f in fields(data):
        value = getattr(data, f.name)
        if value is not None and f.default != ():
            what = f"{type(data).__name__.lower()}: {f.name}"
            number = _check_number(value, what, infinite=infinite, negative=f.name in signed)
            object.__setattr__(data, f.name, number)


WAVE = ("order", "cosine", "sine")


def _rows(rows: Any, owner: str, name: str, columns: tuple[str, ...]) -> Any:
    """A table of numbers as a tuple of rows."""
    try:
        table = [[_check_number(x, f"{owner}: {name}") for x in row] for row in rows]
    except TypeError:
        table = [[]]
    if any(len(row) != len(columns) for row in table):
        raise ModelError(where=owner, expected=f"{name} as rows ({', '.join(columns)})", got=quote(rows))
    return tuple(tuple(row) for row in table)


@dataclass(frozen=True)
class Limits:
    """Limits of a joint [rad or m, /s, N m or N]; infinite where the source has none.

    Examples
    --------
    >>> limits = armdyn.Limits(lower=-1.5, upper=1.5, velocity=2.0, effort=40.0)
    >>> limits.upper
    1.5
    """

    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    effort: float = np.inf

    def __post_init__(self) -> None:
        _check_fields(self, signed=("lower", "upper"), infinite=True)
        if self.lower > self.upper:
            raise ModelError(f"lower {self.lower:g} is above upper {self.upper:g}", where="limits", remedy="reversed?")


STEEP_SPEED = 0.02  # rad/s or m/s: below it levels of the friction curve are dry friction, which makes joints stick
# Parameters of friction that, below zero, would drive the joint.
DISSIPATIVE = {"viscous", "coulomb", "static", "bristle_stiffness", "bristle_damping"}


@dataclass(frozen=True)
class Friction:
    """Friction of one joint, on the link side of the gear; zero means none.

    Where the drive is coupled (`Drive.coupling`) it acts at the drive's shaft, and v, q and tau are those of the shaft.

    At velocity v, joint torque tau and temperature T above the one at which the numbers hold, the drive
    must add (see `dynamics.friction`)

        (viscous + viscous_asymmetry sign v) (1 + temperature T) v + (level + asymmetry sign v) sign v + offset + curve
        level = coulomb + (static - coulomb) exp(-(v / stribeck)²) + load abs(tau) + sum of a cos kq + b sin kq
        curve = sum over levels of torque (tanh(v / speed) - dry sign v - slope v)

    `viscous` and `coulomb` are always the plain pair that comes closest to the whole curve below `top_speed`: of every
    level the line dry + slope v nearest to tanh(v / speed) there is taken off (see `plain_pair`). So programs that know
    nothing but the pair get the best one.

    Examples
    --------
    >>> friction = armdyn.Friction(viscous=0.5, coulomb=2.0)
    >>> friction.coulomb  # N m of a revolute joint
    2.0
    """

    viscous: float = 0.0  # N m s/rad or N s/m
    coulomb: float = 0.0  # N m or N
    offset: float = 0.0  # constant torque, e.g. a current sensor's zero
    static: float | None = None  # breakaway torque; None: equal to coulomb
    stribeck: float = 0.1  # velocity at which 63 % of the way from static to Coulomb friction is done
    asymmetry: float = 0.0  # half the difference of Coulomb friction for v > 0 and v < 0
    viscous_asymmetry: float = 0.0  # half the difference of viscous friction
    load: float = 0.0  # Coulomb friction a unit of joint torque, below 1
    temperature: float = 0.0  # relative change of viscous friction per kelvin
    bristle_stiffness: float = 0.0  # LuGre's sigma 0 [N m/rad or N/m]; zero: no presliding
    bristle_damping: float = 0.0  # LuGre's sigma 1 [N m s/rad or N s/m]
    harmonics: tuple[tuple[float, float, float], ...] = ()  # rows k [waves per turn, or rad/m], a, b [N m or N]
    # The friction curve: rows speed [rad/s or m/s], torque [N m or N] by which it departs from the plain pair.
    levels: tuple[tuple[float, float], ...] = ()
    top_speed: float = 1.0  # up to which viscous and coulomb are the best pair [rad/s or m/s]; for levels only
    # Presliding: rows travel [rad or m], torque [N m or N], the part of Coulomb friction that builds up over a travel.
    bristles: tuple[tuple[float, float], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "harmonics", _rows(self.harmonics, "friction", "harmonics", WAVE))
        for name, columns in (("levels", ("speed", "torque")), ("bristles", ("travel", "torque"))):
            rows = _rows(getattr(self, name), "friction", name, columns)
            if any(row[0] <= 0 for row in rows):
                raise ModelError(where=f"friction: {name}", expected=f"every {columns[0]} > 0", got=quote(rows))
            object.__setattr__(self, name, rows)
        # The pair nearest to a curve that falls with speed may have a negative part; the curve itself brakes.
        braking = DISSIPATIVE - ({"viscous", "coulomb", "static"} if self.levels else set())
        _check_fields(self, signed=set(FRICTION_NAMES) - braking)
        if self.stribeck <= 0:
            raise ModelError(where="friction", expected="a Stribeck velocity > 0", got=f"{self.stribeck:g}")
        if not self.top_speed > 0:
            raise ModelError(where="friction", expected="a top speed > 0", got=f"{self.top_speed:g}")
        if not -1 < self.load < 1:
            expected = "load between -1 and 1 (beyond, it locks)"
            raise ModelError(where="friction", expected=expected, got=f"{self.load:g}")

    @property
    def plain(self) -> tuple[float, float]:
        """(viscous, coulomb), neither negative, that come closest to the curve: what plain formats hold."""
        viscous, coulomb = self.viscous, self.coulomb
        if viscous < 0:
            return 0.0, max(coulomb + viscous * self.top_speed / 2, 0.0)
        return (max(viscous + 1.5 * coulomb / self.top_speed, 0.0), 0.0) if coulomb < 0 else (viscous, coulomb)

    def scaled(self, factor: float) -> Friction:
        """Friction whose torques are `factor` times as large at every motion; speeds and travels stay as they are."""
        changed: dict[str, Any] = {name: getattr(self, name) for name in FRICTION_NAMES if name not in UNSCALED}
        changed = {name: value if value is None else value * factor for name, value in changed.items()}
        for name in ("harmonics", "levels", "bristles"):
            changed[name] = [(row[0], *(factor * torque for torque in row[1:])) for row in getattr(self, name)]
        return replace(self, **changed)

    def numbers(self, harmonics: int, levels: int = 0) -> tuple[float, ...]:
        """The parameters in the order of `FRICTION_NAMES`, then rows of harmonics and of levels, missing ones zero.

        Levels are whole here: what `viscous` and `coulomb` have of them is taken off those.
        """
        value = {name: getattr(self, name) for name in FRICTION_NAMES}
        slope, dry = plain_pair(self.levels, self.top_speed)
        static = self.coulomb if self.static is None else self.static
        value |= {"viscous": self.viscous - slope, "coulomb": self.coulomb - dry, "static": static - dry}
        waves = [x for row in self.harmonics for x in row]
        curve = [x for row in self.levels for x in row] + [1.0, 0.0] * (levels - len(self.levels))
        return (*value.values(), *waves, *[0.0] * (3 * harmonics - len(waves)), *curve)


FRICTION_ROWS = ("harmonics", "levels", "bristles", "top_speed")  # not among the plain numbers
FRICTION_NAMES = tuple(f.name for f in fields(Friction) if f.name not in FRICTION_ROWS)
UNSCALED = ("stribeck", "temperature")  # plain numbers that are not proportional to friction torques


def plain_pair(levels: Iterable[tuple[float, float]], top_speed: float) -> tuple[float, float]:
    """(viscous, coulomb) of the plain friction nearest to levels (speed, torque), in the mean square up to a speed.

    Levels below `STEEP_SPEED` are dry friction: measured velocities do not tell more of them than a direction.
    """
    viscous = coulomb = 0.0
    for speed, torque in levels:
        dry, slope = (1.0, 0.0) if speed <= STEEP_SPEED else _nearest_line(speed / top_speed)
        viscous, coulomb = viscous + torque * slope / top_speed, coulomb + torque * dry
    return viscous, coulomb


@lru_cache(maxsize=256)
def _nearest_line(speed: float) -> tuple[float, float]:
    """(dry, slope) of dry + slope v nearest to tanh(v / speed), in the mean square over v from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(32)
    # Quadratic nodes resolve steep curves: v = u^2 with u from 0 to 1.
    u, weights = (nodes + 1) / 2, (nodes + 1) / 2 * weights
    A = np.column_stack([np.ones_like(u), u**2]) * np.sqrt(weights)[:, None]
    dry, slope = np.linalg.lstsq(A, np.tanh(u**2 / speed) * np.sqrt(weights), rcond=None)[0]
    return float(dry), float(slope)


@dataclass(frozen=True)
class Drive:
    """The motor and gear behind one joint; the defaults mean a direct, weightless drive.

    Examples
    --------
    >>> drive = armdyn.Drive(gear_ratio=100, rotor_inertia=1e-4)
    >>> drive.reflected_inertia  # kg m² at the joint
    1.0
    """

    rotor_inertia: float = 0.0  # at the motor shaft [kg m²]
    gear_ratio: float = 1.0  # motor turns per joint turn (or rad per m); may be negative
    damping: float = 0.0  # viscous, at the motor shaft [N m s/rad]
    torque_constant: float | None = None  # motor torque per ampere [N m/A]
    stiffness: float = 0.0  # spring from the link to ground at the joint [N m/rad]
    rest: float = 0.0  # joint position at which that spring is free
    # Turns of the drive's shaft (the gear's output) per turn of every joint, where it moves several (wrists of PUMA
    # 560, TX40): a row of the coupling matrix. Rotor and friction act there. Empty: its own joint alone.
    coupling: tuple[float, ...] = ()
    # How the joint yields under gravity: its compliance times mass and first moments of every link, four numbers a link
    # [rad/(N m) or m/N times kg, kg m]; see `calibration.kinematics`. Empty: it does not.
    deflection: tuple[float, ...] = ()
    # Balancers (gas springs, hydraulics): rows k [waves per turn, or rad/m], a, b [N m or N] of the torque
    # a cos kq + b sin kq that the drive must give against them; negative where they help.
    balance: tuple[tuple[float, float, float], ...] = ()
    # A position servo inside the drive; stiffness zero: none, what is sent are torques.
    servo_stiffness: float = 0.0  # torque per error of position [N m/rad or N/m]
    servo_damping: float = 0.0  # torque per velocity of the joint [N m s/rad or N s/m]
    servo_delay: float = 0.0  # from sending a position to its torque [s]
    servo_dead_band: float = 0.0  # error of position up to which it exerts nothing [rad or m]

    def __post_init__(self) -> None:
        for name in ("coupling", "deflection"):
            numbers = getattr(self, name)
            try:
                row = tuple(_check_number(x, f"drive: {name}") for x in numbers)
            except TypeError:
                raise ModelError(where="drive", expected=f"{name} as a row of numbers", got=quote(numbers)) from None
            object.__setattr__(self, name, row)
        object.__setattr__(self, "balance", _rows(self.balance, "drive", "balance", WAVE))
        _check_fields(self, signed=("gear_ratio", "rest"))
        if self.gear_ratio == 0:
            raise ModelError(where="drive", expected="a gear ratio other than 0")

    @property
    def reflected_inertia(self) -> float:
        """Rotor inertia seen at the joint: ratio² times that at the shaft."""
        return self.rotor_inertia * self.gear_ratio**2

    @property
    def reflected_damping(self) -> float:
        """Motor damping seen at the joint."""
        return self.damping * self.gear_ratio**2

    @property
    def numbers(self) -> tuple[float, ...]:
        """The parameters in the order of `DRIVE_NAMES`."""
        return (self.reflected_inertia, self.reflected_damping, self.stiffness, self.rest)


DRIVE_NAMES = ("inertia", "damping", "stiffness", "rest")  # the first two seen at the gear's output


@dataclass(frozen=True, eq=False)
class Joint(Frozen):
    """`T_parent_link(q) = before @ motion(axis, q) @ after`.

    A joint that follows others is at `offset` plus the sum of ratio times their positions: a mimic joint, or one of a
    parallelogram. It is no coordinate of the arm.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> arm.joints[0].name, arm.joints[0].kind
    ('joint1', 'revolute')
    """

    name: str
    kind: str = "revolute"
    axis: NDArray = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    before: NDArray = field(default_factory=lambda: np.eye(4))
    after: NDArray = field(default_factory=lambda: np.eye(4))
    limits: Limits = field(default_factory=Limits)
    friction: Friction = field(default_factory=Friction)
    drive: Drive = field(default_factory=Drive)
    parent: str | None = None  # link that carries the joint; None: the link before, of the first joint the base
    follows: tuple[tuple[str, float], ...] = ()  # names of the joints that it follows, and ratios
    offset: float = 0.0  # position where those that it follows are at zero [rad or m]

    def __repr__(self) -> str:
        """Name, kind and range, in one line; the fields have the rest."""
        span = f"{self.limits.lower:.4g} .. {self.limits.upper:.4g} {'rad' if self.kind == 'revolute' else 'm'}"
        return f"<Joint '{self.name}': {self.kind}, {span}>"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError(where="joint", expected="a name", got=quote(self.name))
        where = f"joint '{self.name}'"
        check_choice(where, "kind", self.kind, KINDS, ModelError)
        object.__setattr__(self, "axis", unit_vector(self.axis, f"{where}: the axis"))
        for name in ("before", "after"):
            object.__setattr__(self, name, check_transform(getattr(self, name), f"{where}: {name}"))
        for name, kind in (("limits", Limits), ("friction", Friction), ("drive", Drive)):
            if not isinstance(getattr(self, name), kind):
                got = getattr(self, name)
                raise ModelError(where=f"{where}: {name}", expected=f"{kind.__name__}(...)", got=quote(got))
        if self.parent is not None and (not isinstance(self.parent, str) or not self.parent):
            raise ModelError(where=where, expected="the name of a link as parent", got=quote(self.parent))
        object.__setattr__(self, "follows", _leaders(self.follows, where))
        object.__setattr__(self, "offset", _check_number(self.offset, f"{where}: offset"))
        if self.offset and not self.follows:
            cause = "an offset is for a joint that follows others"
            raise ModelError(cause, where=where, remedy="move its frame with before")


def _leaders(rows: Any, where: str) -> tuple[tuple[str, float], ...]:
    """Names and ratios of the joints that a joint follows."""
    try:
        pairs = [(name, _check_number(ratio, f"{where}: ratio to {quote(name)}")) for name, ratio in rows]
    except (TypeError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        pairs = [("", 0.0)]
    if any(not isinstance(name, str) or not name for name, _ in pairs):
        raise ModelError(where=where, expected="follows as pairs of a joint's name and a ratio", got=quote(rows))
    if idle := [name for name, ratio in pairs if ratio == 0]:
        cause = f"follows '{idle[0]}' with a ratio of 0"
        raise ModelError(cause, where=where, expected="another number, or no such pair", names=(idle[0],))
    if len({name for name, _ in pairs}) < len(pairs):
        raise ModelError("follows one joint twice", where=where, remedy="add the ratios")
    return tuple(pairs)
