"""The arm that is simulated: all that acts on it, as frozen data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.arrays import as_floats, finite_array
from armdyn.dynamics.constraint import Constraint, constraint_jacobian
from armdyn.dynamics.movable import require_movable, require_movable_with_rotors
from armdyn.dynamics.shafts import at_drives
from armdyn.errors import ModelError, ShapeError, check_choice, expect, quote
from armdyn.frozen import PartOf
from armdyn.model.arm import Arm
from armdyn.model.joint import FRICTION_NAMES
from armdyn.simulation.plant.contact import Contact, EndStops
from armdyn.simulation.plant.elasticity import Elasticity, at_encoders, check_elastic, start_of_rotors
from armdyn.simulation.plant.parts import (
    Actuators,
    BaseMotion,
    ContactFeatures,
    ElasticFeatures,
    PlantFeatures,
    PlantKeywords,
    PlantNumbers,
    Surroundings,
    Wrench,
)
from armdyn.simulation.plant.payload import Change, Drop, PickUp, after_grip
from armdyn.simulation.plant.servo import PositionServo
from armdyn.simulation.plant.wrist_sensor import WristSensor

ENGINES = ("armdyn", "mujoco")
ACTUATORS, SURROUNDINGS, NUMBERS = Actuators(), Surroundings(), PlantNumbers()  # of a plain arm
# The part of a plant in which each of its fields is.
PART_OF = {
    name: part
    for part, kind in (("actuators", Actuators), ("surroundings", Surroundings), ("numbers", PlantNumbers))
    for name in kind.__dataclass_fields__
}
# Fields that may be left out, and of what kind they are.
KINDS: dict[str, type] = {
    "elasticity": Elasticity, "contact": Contact, "wrist": WristSensor, "servo": PositionServo,
    "constraint": Constraint,
}  # fmt: skip


@dataclass(frozen=True, eq=False, init=False)
class Plant:
    """An arm with what drives, loads and disturbs it.

    Parameters
    ----------
    arm : Arm
    actuators : Actuators
        `drive` to `elasticity` and `servo` below, in one; each may be given by itself.
    surroundings : Surroundings
        `changes` to `wrist`, `base_motion` and `constraint` below, in one.
    numbers : PlantNumbers
        `theta`, `friction_data` and `drive_data` below, in one.
    friction, drive : bool
        Whether the joints' friction (with true sticking) and their drives (rotors, damping, springs) act.
    motor_lag : array_like, shape (..., n)
        Time constant with which torques follow commands [s]; zero: at once.
    saturation : array_like, shape (..., n), or "limits", optional
        Largest torque of each drive [N m or N]; "limits": the joints' effort limits.
    current_limit : array_like, shape (..., n), optional
        Largest current of each amplifier [A]; commands are cut off at the torque that the drive's torque constant and
        gear make of it.
    elasticity : Elasticity, optional
        Springs and play between rotors and links.
    changes : sequence of PickUp or Drop
        Payloads picked up and dropped.
    wrench : callable or array_like, shape (6,), or mapping, optional
        [force, moment] ON the arm at the tip, in tip axes [N, N m], as a function of the time [s] or constant; or
        several, each at a frame or link by name and in its axes, such as `{"left_hand": [0, 0, -10, 0, 0, 0]}`.
    contact : Contact, optional
        Surfaces that the tip, or other points, may touch.
    stops : bool or EndStops
        Whether joints run into springs at their limits of position.
    wrist : WristSensor, optional
        The wrist sensor that laws read; default a perfect one, without a tool.
    base_motion : callable, optional
        From the time to (omega, omega_dot, acc), each (3,), of the base in base axes, gravity not included.
    theta : array_like, shape (..., 10 n), optional
        Inertial parameters instead of the arm's; leading axes here and below are a batch of rollouts.
    friction_data : array_like, shape (..., n, f), optional
        Friction numbers instead of the arm's, rows and columns as in `arm.trace_data("friction")`.
    drive_data : array_like, shape (..., n, 4), optional
        Numbers of the drives instead of the arm's, columns as in `arm.trace_data("drive")`: reflected rotor inertia and
        damping, stiffness and rest of the joints' springs.
    servo : PositionServo, optional
        Servos inside the drives, for arms that are commanded positions instead of torques.
    constraint : Constraint, optional
        Conditions that the tip, or other frames, keep, such as `on_plane(...)`; see `constrained_dynamics`. Dry
        friction is smooth then, below 0.01 rad/s or m/s.
    engine : {"armdyn", "mujoco"}
        What computes the motion. MuJoCo takes arm, friction, drives and saturation; its dry friction is smooth.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> plant = armdyn.Plant(arm.with_payload(1.0))  # the law's model lacks the payload
    >>> law = armdyn.ComputedTorque.from_bandwidth(arm, 3.0)
    >>> run = armdyn.simulate(plant, law, [0.4, 0.2], 1.0, 500)
    >>> run.complete
    True
    """

    arm: Arm
    friction: bool = True
    actuators: Actuators = ACTUATORS
    surroundings: Surroundings = SURROUNDINGS
    numbers: PlantNumbers = NUMBERS
    engine: str = "armdyn"

    def __init__(
        self,
        arm: Arm,
        friction: bool = True,
        *,
        actuators: Actuators = ACTUATORS,
        surroundings: Surroundings = SURROUNDINGS,
        numbers: PlantNumbers = NUMBERS,
        engine: str = "armdyn",
        **keywords: Unpack[PlantKeywords],
    ) -> None:
        parts = {"actuators": actuators, "surroundings": surroundings, "numbers": numbers}
        for name, value in {"arm": arm, "friction": friction, "engine": engine, **parts}.items():
            object.__setattr__(self, name, value)
        if unknown := keywords.keys() - PART_OF.keys():
            raise TypeError(f"Plant() got an unexpected keyword argument '{min(unknown)}'")
        for name, value in keywords.items():
            self._set(name, value)
        self._check()

    drive = PartOf[bool]("actuators.drive", "Whether drives act.")
    motor_lag = PartOf[ArrayLike]("actuators.motor_lag", "Time constants (..., n) of torques [s].")
    saturation = PartOf[NDArray | None]("actuators.saturation", "Largest torques (..., n) [N m or N].")
    current_limit = PartOf[NDArray | None]("actuators.current_limit", "Largest currents (..., n) [A].")
    elasticity = PartOf[Elasticity | None]("actuators.elasticity", "Springs and play between rotors and links.")
    servo = PartOf[PositionServo | None]("actuators.servo", "Servos inside the drives.")
    changes = PartOf[tuple[Change, ...]]("surroundings.changes", "Payloads picked up and dropped, in their order.")
    wrench = PartOf[Any]("surroundings.wrench", "Force and moment on the tip, or on frames by name.")
    base_motion = PartOf[BaseMotion]("surroundings.base_motion", "Motion of the base.")
    contact = PartOf[Contact | None]("surroundings.contact", "Surfaces that points may touch.")
    stops = PartOf[bool | EndStops]("surroundings.stops", "Springs at the limits of position.")
    wrist = PartOf[WristSensor | None]("surroundings.wrist", "The wrist sensor that laws read.")
    constraint = PartOf[Constraint | None]("surroundings.constraint", "Conditions that frames keep.")
    theta = PartOf[Any]("numbers.theta", "Inertial parameters (..., 10 n) instead of the arm's.")
    friction_data = PartOf[Any]("numbers.friction_data", "Friction numbers (..., n, f) instead of the arm's.")
    drive_data = PartOf[Any]("numbers.drive_data", "Numbers of the drives (..., n, 4) instead of the arm's.")

    def _check(self) -> None:
        expect(isinstance(self.arm, Arm), "Plant", "an Arm", self.arm, ModelError)
        n = self.arm.n
        lag = _per_joint(self.motor_lag, n, "motor_lag")
        self._set("motor_lag", lag)
        if (lag < 0).any() or not np.isfinite(lag).all():
            raise ModelError(where="Plant: motor_lag", expected="times >= 0 in seconds", got=quote(self.motor_lag))
        if self.saturation is not None:
            self._set("saturation", self._saturation())
        if self.current_limit is not None:
            self._set("current_limit", self._positive(self.current_limit, "current_limit", "currents"))
            self._check_currents()
        for name, kind in KINDS.items():
            if (part := getattr(self, name)) is not None and not isinstance(part, kind):
                raise ModelError(where=f"Plant: {name}", expected=f"{kind.__name__}(...)", got=quote(part))
        if self.elasticity is not None:
            self._check_elasticity(self.elasticity)
        listed = isinstance(self.changes, Sequence) and all(isinstance(x, PickUp | Drop) for x in self.changes)
        expect(listed, "Plant: changes", "a list of PickUp(...) and Drop(...)", self.changes, ModelError)
        self._set("changes", tuple(sorted(self.changes, key=lambda change: change.t)))
        if isinstance(self.wrench, Mapping):
            names = {name: "" if name in ("tip", self.arm.tip_name) else name for name in self.wrench}
            _ = [self.arm.frame(name) for name in names.values() if name]  # check that they exist
            self._set("wrench", {names[name]: _checked_wrench(one, name) for name, one in self.wrench.items()} or None)
        elif self.wrench is not None:
            self._set("wrench", _checked_wrench(self.wrench))
        if self.base_motion is not None and not callable(self.base_motion):
            raise ModelError(where="Plant: base_motion", expected="a function of time", got=quote(self.base_motion))
        for name in ("theta", "friction_data", "drive_data"):
            if getattr(self, name) is not None:
                self._set(name, self._numbers(name))
        if self.drive_data is not None:
            self._check_drive_data()
        if self.servo is not None:
            self._check_servo(self.servo)
        self._check_contact()
        if self.constraint is not None:
            self._check_constraint(self.constraint)
        check_choice("Plant", "engine", self.engine, ENGINES, ModelError)
        (require_movable_with_rotors if self.drive else require_movable)(
            self.arm, () if self.theta is not None else ("theta", "drive")
        )

    def _set(self, name: str, value: Any) -> None:
        part = PART_OF[name]
        object.__setattr__(self, part, replace(getattr(self, part), **{name: value}))

    def _saturation(self) -> NDArray:
        if isinstance(self.saturation, str):
            expect(self.saturation == "limits", "Plant: saturation", "numbers or 'limits'", self.saturation, ModelError)
            return self.arm.effort_limits
        return self._positive(self.saturation, "saturation", "torques")

    def _positive(self, value: Any, name: str, what: str) -> NDArray:
        array = _per_joint(value, self.arm.n, name)
        if not (array > 0).all():
            still = ~(array > 0).reshape(-1, self.arm.n).all(0)
            names = ", ".join(np.array(self.arm.coordinate_names)[still])
            raise ModelError(where=f"Plant: {name}", expected=f"{what} > 0, else nothing moves joint {names}")
        return array

    @property
    def left_out(self) -> tuple[str, ...]:
        """Messages about effects that its arm has and it does not simulate."""
        lugre = self.own_friction[..., FRICTION_NAMES.index("bristle_stiffness")].reshape(-1, self.arm.n_joints).any(0)
        bristles = np.logical_or(lugre, [bool(joint.friction.bristles) for joint in self.arm.joints])
        if not (self.friction and bristles.any()):
            return ()
        names = ", ".join(np.array(self.arm.joint_names)[bristles])
        return (f"presliding (bristles) is not simulated: dry friction of {names} sticks without giving way first",)

    def _check_contact(self) -> None:
        if self.contact is not None:
            self.contact.links(self.arm)
        if not isinstance(self.stops, bool | EndStops):
            raise ModelError(where="Plant: stops", expected="True, False or EndStops(...)", got=quote(self.stops))
        if self.stops and not np.isfinite(self.stop_rows[:, :2]).any():
            raise ModelError(f"arm '{self.arm.name}' has no position limits", where="Plant: stops")

    @property
    def stop_rows(self) -> NDArray:
        """Numbers of the end stops, (n, 4)."""
        return (self.stops if isinstance(self.stops, EndStops) else EndStops()).rows(self.arm)

    def _check_currents(self) -> None:
        if self.arm.coupling is not None:
            cause = f"arm '{self.arm.name}' has coupled drives"
            raise ModelError(cause, where="Plant: current_limit", remedy="give saturation instead")
        limited = np.isfinite(np.asarray(self.current_limit)).reshape(-1, self.arm.n).any(0)
        for joint in np.array(self.arm.coordinate_joints, object)[limited]:
            if not joint.drive.torque_constant:
                cause = f"the drive of joint '{joint.name}' has no torque_constant [N m/A]"
                raise ModelError(cause, where="Plant: current_limit", names=(joint.name,))

    def _check_elasticity(self, elasticity: Elasticity) -> None:
        check_elastic(self.arm, elasticity)
        if not self.drive:
            raise ModelError("springs need the drives' rotors", where="Plant: elasticity", remedy="leave drive=True")

    def _numbers(self, name: str) -> NDArray:
        """Numbers given instead of the arm's, with leading axes of batches."""
        core = self.arm.trace_data(name.removesuffix("_data")).shape
        return finite_array(getattr(self, name), core, f"Plant: {name}", ModelError).copy()

    def _check_drive_data(self) -> None:
        if not self.drive or self.elasticity is not None or self.changes:
            cause = "drive_data goes with drive=True, and neither with elasticity nor with changes"
            raise ModelError(cause, where="Plant")
        if (np.asarray(self.drive_data)[..., :3] < 0).any():
            raise ModelError(where="Plant: drive_data", expected="inertia, damping and stiffness >= 0")

    def _check_servo(self, servo: PositionServo) -> None:
        servo.rows(self.arm.n)
        if self.elasticity is not None or np.any(self.motor_lag) or self.engine != ENGINES[0]:
            cause = "position servos go with rigid joints, no motor_lag and armdyn's own engine"
            raise ModelError(cause, where="Plant: servo")

    def _check_constraint(self, constraint: Constraint) -> None:
        constraint_jacobian(self.arm, np.zeros(self.arm.n), constraint)  # raises for frames that are not there
        if self.engine != ENGINES[0] or any(isinstance(x, PickUp) and x.at_rest for x in self.changes):
            cause = "constraint goes with armdyn's own engine, and not with bodies at rest that are seized"
            raise ModelError(cause, where="Plant", remedy="leave engine='armdyn' and give PickUp(at_rest=False)")

    # -- what the loop asks -----------------------------------------------------------------------------

    @cached_property
    def kind(self) -> PlantFeatures:
        """Terms that the plant has; those whose numbers are all zero it has not."""
        numbers = self.own_friction
        table = dict(zip(FRICTION_NAMES, np.moveaxis(numbers, -1, 0), strict=False))
        friction = "none"
        if self.friction and numbers.any(where=self._matters):
            dry = ("coulomb", "static", "asymmetry", "load")
            rows = self.arm.trace_sizes["h"] + self.arm.trace_sizes["l"]
            is_dry = any(table[name].any() for name in dry) or rows > 0
            blurs = self.constraint is not None or self._has_dry_followers
            friction = "smooth" if not is_dry else "blurred" if blurs else "dry"
        return PlantFeatures(
            friction,
            friction in ("dry", "blurred") and bool((table["static"] != table["coulomb"]).any()),
            self.drive and (bool(self.own_drive.any()) or self._has_balancers),
            bool(np.any(self.motor_lag)),
            bool(np.isfinite(self.torque_limits).any()),
            tuple(self._wrenches),
            self.base_motion is not None,
            self._elastic_features(),
            ContactFeatures(
                () if self.contact is None else self.contact.kinds,
                () if self.contact is None else self.contact.links(self.arm),
                bool(self.stops),
            ),
            self.constraint,
            "" if self.servo is None else "dead band" if np.any(self.servo.dead_band) else "spring",
        )

    def _elastic_features(self) -> ElasticFeatures:
        stiffness, _, backlash = self.springs.T
        elastic = tuple(np.flatnonzero(np.isfinite(stiffness)).tolist())
        if not elastic or self.elasticity is None:
            return ElasticFeatures()
        at_motor = (side == "motor" for side in (self.elasticity.encoders, self.elasticity.friction))
        return ElasticFeatures(elastic, tuple(i for i in elastic if backlash[i] > 0), *at_motor)

    @property
    def springs(self) -> NDArray:
        """Stiffness, damping and backlash of all joints, (n, 3); rigid ones have infinite stiffness."""
        n = self.arm.n
        return np.tile([np.inf, 0.0, 0.0], (n, 1)) if self.elasticity is None else self.elasticity.rows(n)

    @property
    def torque_limits(self) -> NDArray:
        """Largest torques of the drives, (..., n): the lower of their torque limits and what their currents allow."""
        limits = np.full(self.arm.n, np.inf) if self.saturation is None else np.asarray(self.saturation, float)
        if self.current_limit is None:
            return limits
        drives = [joint.drive for joint in self.arm.coordinate_joints]
        per_ampere = np.array([abs((d.torque_constant or 1.0) * d.gear_ratio) for d in drives])
        return np.minimum(limits, per_ampere * self.current_limit)

    @property
    def _has_balancers(self) -> bool:
        """Whether something besides the drives' numbers acts: springs between links, or balancers."""
        return bool(self.arm.springs) or any(joint.drive.balance for joint in self.arm.joints)

    @property
    def _has_dry_followers(self) -> bool:
        """Whether dry friction acts at joints that follow others: several at one coordinate, so that none sticks."""
        followers = [i for i, joint in enumerate(self.arm.joints) if joint.follows]
        columns = [FRICTION_NAMES.index(name) for name in ("coulomb", "static", "asymmetry")]
        curved = any(self.arm.joints[i].friction.harmonics or self.arm.joints[i].friction.levels for i in followers)
        return curved or bool(self.own_friction[..., followers, :][..., columns].any())

    @property
    def _matters(self) -> NDArray:
        """Friction numbers that exert a torque by themselves; the Stribeck velocity alone does not."""
        silent = [FRICTION_NAMES.index(name) for name in ("stribeck", "temperature")]
        mask = np.ones(self.arm.trace_data("friction").shape, bool)
        mask[:, silent] = False
        return mask

    @property
    def own_theta(self) -> NDArray:
        """Parameters of the plant before any change, (..., 10 n)."""
        return self.arm.trace_data("theta") if self.theta is None else np.asarray(self.theta)

    @property
    def own_drive(self) -> NDArray:
        """Numbers of the drives (..., n, 4), zero where they do not act."""
        numbers = self.arm.trace_data("drive") if self.drive_data is None else np.asarray(self.drive_data)
        return numbers if self.drive else np.zeros_like(numbers)

    @property
    def own_friction(self) -> NDArray:
        """Friction numbers of the plant, (..., n, f)."""
        return self.arm.trace_data("friction") if self.friction_data is None else np.asarray(self.friction_data)

    @property
    def batches(self) -> dict[str, tuple[int, ...]]:
        """Batch axes of all that may have some, by name."""
        shapes = {"plant.theta": self.own_theta.shape[:-1], "plant.motor_lag": np.shape(self.motor_lag)[:-1]}
        shapes["plant.friction_data"] = self.own_friction.shape[:-2]
        shapes["plant.drive_data"] = self.own_drive.shape[:-2]
        if self.servo is not None:
            shapes["plant.servo"] = self.servo.rows(self.arm.n).shape[:-2]
        limits = {name: np.shape(getattr(self, name))[:-1] for name in ("saturation", "current_limit")}
        return {**shapes, **{f"plant.{name}": shape for name, shape in limits.items()}}

    def start(self, q: NDArray, qd: NDArray) -> dict[str, NDArray]:
        """The state of the plant's formula at rest but for positions and velocities (n,) or (lanes, n)."""
        elastic = self.kind.elastic
        state = {"q": q, "qd": qd, "direction": np.sign(at_drives(self.arm, qd)), "motor": np.zeros_like(q)}
        if elastic:
            springs = self.springs[list(elastic)]
            theta = self.own_theta if q.ndim == 1 else self.own_theta.reshape(-1, 10 * self.arm.n_joints)
            state["rotor_q"] = start_of_rotors(self.arm, elastic, springs, q, theta)
            state["rotor_qd"] = qd[..., elastic]
        return state

    def grip(self, state: Mapping[str, NDArray], grips: Sequence[tuple[NDArray, NDArray]]) -> dict[str, NDArray]:
        """Return what the impact of a grasp changes of a state: velocities, and the directions in which friction sees
        joints slide.

        `grips` are the parameters (..., 10 n) before and after each body at rest that is seized.
        """
        kind, qd = self.kind, state["qd"]
        for before, after in grips:
            qd = after_grip(self.arm, state["q"], qd, before, after, kind.rotors, kind.elastic)
        if "direction" not in state or not grips:
            return {"qd": qd}
        direction = np.sign(at_drives(self.arm, qd))
        if kind.motor_friction:  # rotors behind springs do not feel the blow
            direction[..., kind.elastic] = state["direction"][..., kind.elastic]
        return {"qd": qd, "direction": direction}

    def at_encoders(self, state: Mapping[str, NDArray]) -> tuple[NDArray, NDArray]:
        """Positions and velocities (..., n) where encoders sit."""
        kind = self.kind
        if not kind.motor_encoders:
            return state["q"], state["qd"]
        q, qd = (at_encoders(kind.elastic, state[name], state[f"rotor_{name}"]) for name in ("q", "qd"))
        return q, qd

    @property
    def _wrenches(self) -> Mapping[str, Wrench]:
        """Wrenches by frame, "" for the tip."""
        if self.wrench is None:
            return {}
        return self.wrench if isinstance(self.wrench, Mapping) else {"": self.wrench}

    def wrenches(self, t: NDArray) -> NDArray:
        """The wrenches at times (T,), one after the other: (T, 6 frames)."""
        columns = []
        for wrench in self._wrenches.values():
            if callable(wrench):
                columns.append(np.array([_shape(wrench(float(x)), (6,), f"wrench at t = {x:g} s") for x in t]))
            else:
                columns.append(np.tile(np.asarray(wrench), (len(t), 1)))
        return np.concatenate(columns, axis=1)

    def base_motions(self, t: NDArray) -> NDArray:
        """The base's motion at times (T,): (T, 3, 3)."""
        at = self.base_motion or (lambda t: np.zeros((3, 3)))
        return np.array([_shape(at(float(x)), (3, 3), f"base_motion at t = {x:g} s") for x in t])


def _per_joint(value: Any, n: int, what: str) -> NDArray:
    """`value` as n numbers; a single one serves all joints."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(where=f"Plant: {what}", expected="a number per joint", got=quote(value)) from None
    if array.ndim and array.shape[-1] != n:
        raise ModelError(where=f"Plant: {what}", expected=f"one number or {n}", got=f"shape {array.shape}")
    return np.full(n, array) if array.ndim == 0 else array


def _checked_wrench(wrench: Any, name: str = "") -> Wrench:
    return wrench if callable(wrench) else _shape(wrench, (6,), f"wrench{name and f' at {name!r}'}")  # type: ignore[no-any-return]


def _shape(value: Any, shape: tuple[int, ...], what: str) -> NDArray:
    array = as_floats(value)
    if array.shape != shape or not np.isfinite(array).all():
        raise ShapeError(where=f"Plant: {what}", expected=f"finite numbers of shape {shape}", got=quote(value))
    return array
