"""Parts of a plant, and the features that its formula has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypedDict

from numpy.typing import ArrayLike

from armdyn.dynamics.constraint import Constraint
from armdyn.frozen import PartOf
from armdyn.simulation.plant.contact import Contact, EndStops
from armdyn.simulation.plant.elasticity import Elasticity
from armdyn.simulation.plant.payload import Change
from armdyn.simulation.plant.servo import PositionServo
from armdyn.simulation.plant.wrist_sensor import WristSensor

Wrench = Callable[[float], ArrayLike] | ArrayLike
Wrenches = Wrench | Mapping[str, Wrench] | None  # at the tip, or at frames by name
BaseMotion = Callable[[float], Any] | None


@dataclass(frozen=True, eq=False)
class Actuators:
    """Drives of a plant; see `Plant`."""

    drive: bool = True
    motor_lag: ArrayLike = 0.0
    saturation: ArrayLike | str | None = None
    current_limit: ArrayLike | None = None
    elasticity: Elasticity | None = None
    servo: PositionServo | None = None


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Loads, contacts and motions from outside; see `Plant`."""

    changes: Sequence[Change] = ()
    wrench: Wrenches = None
    base_motion: BaseMotion = None
    contact: Contact | None = None
    stops: bool | EndStops = False
    wrist: WristSensor | None = None
    constraint: Constraint | None = None


@dataclass(frozen=True, eq=False)
class PlantNumbers:
    """Numbers instead of the arm's; see `Plant`."""

    theta: ArrayLike | None = None
    friction_data: ArrayLike | None = None
    drive_data: ArrayLike | None = None


class ActuatorKeywords(TypedDict, total=False):
    """`Actuators` one by one."""

    drive: bool
    motor_lag: ArrayLike
    saturation: ArrayLike | str | None
    current_limit: ArrayLike | None
    elasticity: Elasticity | None
    servo: PositionServo | None


class SurroundingsKeywords(TypedDict, total=False):
    """`Surroundings` one by one."""

    changes: Sequence[Change]
    wrench: Wrenches
    base_motion: BaseMotion
    contact: Contact | None
    stops: bool | EndStops
    wrist: WristSensor | None
    constraint: Constraint | None


class PlantKeywords(ActuatorKeywords, SurroundingsKeywords, total=False):
    """Actuators, surroundings and numbers of `Plant` one by one."""

    theta: ArrayLike | None
    friction_data: ArrayLike | None
    drive_data: ArrayLike | None


class ElasticFeatures(NamedTuple):
    """Features of springs between rotors and links."""

    joints: tuple[int, ...] = ()  # with a spring behind their rotor
    backlash: tuple[int, ...] = ()  # of those, joints with play
    motor_encoders: bool = False
    motor_friction: bool = False  # whether friction of elastic joints acts on rotors


class ContactFeatures(NamedTuple):
    """Features of what an arm touches and feels."""

    surfaces: tuple[str, ...] = ()  # kinds of the surfaces that points may touch
    touching: tuple[int | None, ...] = ()  # the link of each such point, None for the tip
    stops: bool = False
    wrist: bool = False  # whether the law feels forces


@dataclass(frozen=True)
class PlantFeatures:
    """Features of a plant's formula; all else is folded away."""

    friction: str  # "none"; "smooth": velocity decides alone; "dry": joints can stick; "blurred": dry, made smooth
    stribeck: bool
    rotors: bool
    lag: bool
    saturation: bool
    wrench: tuple[str, ...]  # frames at which wrenches act; "" is the tip
    base_motion: bool
    springs: ElasticFeatures
    contact: ContactFeatures
    constraint: Constraint | None = None
    servo: str = ""  # "spring", or "dead band" if some servo has one; empty: commands are torques

    elastic = PartOf[tuple[int, ...]]("springs.joints", "Joints with a spring behind their rotor.")
    backlash = PartOf[tuple[int, ...]]("springs.backlash", "Elastic joints with play.")
    motor_encoders = PartOf[bool]("springs.motor_encoders", "Whether encoders of elastic joints sit on rotors.")
    motor_friction = PartOf[bool]("springs.motor_friction", "Whether friction of elastic joints acts on rotors.")
    surfaces = PartOf[tuple[str, ...]]("contact.surfaces", "Kinds of the surfaces that points may touch.")
    touching = PartOf[tuple[int | None, ...]]("contact.touching", "The link of each such point, None for the tip.")
    stops = PartOf[bool]("contact.stops", "Whether joints run into springs at their limits.")
    wrist = PartOf[bool]("contact.wrist", "Whether the law feels forces.")

    def with_wrist(self, feels: bool) -> PlantFeatures:
        """The same with a law that feels forces, or does not."""
        return replace(self, contact=self.contact._replace(wrist=feels))
