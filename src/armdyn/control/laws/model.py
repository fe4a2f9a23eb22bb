"""The torques of a law's model: links and drives together, and the friction of the joints that a law compensates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from armdyn.control.formula import Arm, Array, Law, Reference, Symbol, Values, ca, check_setting, traced
from armdyn.dynamics.drive import drive_torque
from armdyn.dynamics.friction import direction, joint_frictions
from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.dynamics.shafts import at_drives, drive_torques, joint_torques, shaft_torques
from armdyn.errors import ShapeError, check_choice, expect
from armdyn.model.joint import FRICTION_NAMES
from armdyn.model.quantities import FRICTION_NUMBERS, DriveData, Gravity, Q, Qd, Qdd, Theta

# Data of the model that laws take as parameters, so that a wrong model is a matter of numbers.
MODEL_SHAPES: dict[str, Any] = {"theta": "10*joints", "gravity": "3", "drive": "joints, 4"}
FRICTION_SHAPE: dict[str, Any] = {"friction": FRICTION_NUMBERS}
MODELS = ("full", "rigid")
# Velocity below which dry friction fades out of what laws compensate and observers expect [rad/s or m/s].
FRICTION_WIDTH = 0.01
# Friction numbers that exert no torque by themselves, or none in steady motion.
SILENT_FRICTION = ("stribeck", "temperature", "bristle_stiffness", "bristle_damping")


@traced(returns={"tau": "n"})
def model_torque(
    arm: Arm, q: Q, qd: Qd, qdd: Qdd, *, theta: Theta = None, gravity: Gravity = None, drive: DriveData = None
) -> Array:
    """Torques of links and drives (rotors, motor damping, springs) in a motion; friction of the joints left out."""
    rigid = inverse_dynamics(arm, q, qd, qdd, theta=theta, gravity=gravity)
    return rigid + drive_torque(arm, q, qd, qdd, drive=drive)


def model_data(params: Values) -> dict[str, Any]:
    """Return what `model_torque` takes of a law's parameters."""
    return {name: params[name] for name in MODEL_SHAPES}


def exerts_torque(friction: NDArray) -> bool:
    """Whether friction numbers (..., n, k + 3 h) of some joint exert a torque."""
    rest = np.ones(friction.shape[-1], bool)
    rest[[FRICTION_NAMES.index(name) for name in SILENT_FRICTION]] = False
    return bool(friction[..., rest].any())


def law_friction(arm: Arm, friction: Symbol, q: Symbol, qd: Symbol, ref: Reference, load: Symbol) -> Symbol:
    """Friction that a law compensates: viscous of the measured velocity, dry of the desired one.

    Viscous compensation from measurements is what gives errors their designed damping. Dry friction from measured
    velocities would change its sign with every reversal of a small error, and chatter; of the desired ones it closes
    no loop. `load` are the joint torques, for friction that grows with them.
    """
    torques = []
    wanted, measured = joint_frictions(arm, ref.q, ref.qd, friction, load), joint_frictions(arm, q, qd, friction)
    for desired, actual in zip(wanted, measured, strict=True):
        sign = direction(desired.v, FRICTION_WIDTH)
        viscous = actual.smooth(direction(actual.v, FRICTION_WIDTH))
        torques.append(viscous + desired.dry(sign) + desired.curve(sign, FRICTION_WIDTH))
    return joint_torques(arm, ca.vertcat(*torques))


def with_friction(arm: Arm, tau: Symbol, friction: Symbol, q: Symbol, qd: Symbol, ref: Reference) -> Symbol:
    """Torques of links and drives with `law_friction` added: the solution of total = tau + law_friction(total)."""
    rest = shaft_torques(arm, tau + law_friction(arm, friction, q, qd, ref, ca.SX.zeros(q.shape[0])))
    speeds = ca.vertsplit(at_drives(arm, ref.qd))
    load_factor = friction[list(arm.coordinate_indices), FRICTION_NAMES.index("load")]
    load = load_factor * ca.vertcat(*(direction(v, FRICTION_WIDTH) for v in speeds))
    return drive_torques(arm, rest / (1 - load * ca.sign(rest)))  # |load| < 1 keeps the sign


class ModelBased(Law):
    """Base of laws with gains and a model, whose friction they may compensate."""

    gain_shapes: ClassVar[Mapping[str, str]] = {}

    @property
    def shapes(self) -> Mapping[str, str]:  # type: ignore[override]
        """Gains, the model, and its friction if it is compensated."""
        return {**self.gain_shapes, **MODEL_SHAPES, **(FRICTION_SHAPE if self.compensates_friction else {})}

    def friction_part(self, params: Values, tau: Symbol, q: Symbol, qd: Symbol, ref: Reference) -> Symbol:
        """Friction that is part of the torques tau."""
        if not self.compensates_friction:
            return super().friction_part(params, tau, q, qd, ref)
        return law_friction(self.arm, params["friction"], q, qd, ref, tau)


class ModelLaw(ModelBased):
    """Base of laws whose torques come from a model, with fields `arm` and `model`.

    With `model="full"`, the default, torques compensate all that the arm has: rotors, springs, balancers, and friction
    of the joints (see `law_friction`). With `"rigid"` friction is left out.
    """

    signed: ClassVar[frozenset[str]] = frozenset()  # gains that may be negative
    above_zero: ClassVar[frozenset[str]] = frozenset()  # gains that may not be zero either
    model: str

    def __post_init__(self) -> None:
        check_choice(type(self).__name__, "model", self.model, MODELS, ShapeError)
        for name in self.gain_shapes:
            if getattr(self, name, None) is not None:
                check_setting(self, name, positive=name not in self.signed)
                fits = name not in self.above_zero or (np.asarray(getattr(self, name)) > 0).all()
                expect(fits, f"{type(self).__name__}: {name}", "numbers > 0", got=getattr(self, name))

    @cached_property
    def compensates_friction(self) -> bool:
        """Whether the model is the full one and has friction."""
        return self.model == "full" and exerts_torque(self.arm.trace_data("friction"))

    def without_friction(self) -> Law:
        """The same law of the rigid model."""
        return replace(self, model="rigid") if self.compensates_friction else self  # type: ignore[type-var]

    def add_friction(self, params: Values, tau: Symbol, q: Symbol, qd: Symbol, ref: Reference) -> Symbol:
        """Torques of links and drives, friction added if it is to be."""
        return with_friction(self.arm, tau, params["friction"], q, qd, ref) if self.compensates_friction else tau
