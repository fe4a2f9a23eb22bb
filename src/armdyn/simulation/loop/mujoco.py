"""MuJoCo as the plant: the same loop on physics that armdyn did not write (extra `mujoco`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError, MissingExtraError, ModelError
from armdyn.model.arm import Arm
from armdyn.model.joint import Joint
from armdyn.simulation.loop.programs import plant_shapes
from armdyn.simulation.loop.record import RUNAWAY_VELOCITY, Runaway
from armdyn.simulation.loop.schedule import Schedule, Span
from armdyn.simulation.plant.elasticity import Elasticity, check_elastic
from armdyn.simulation.plant.plant import Plant
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.transform import inverse

# MuJoCo has no rods without thickness: moments of inertia below this part of their sum are raised by as much; and
# no bodies without mass, which descriptions have whose first link only turns [kg].
LEAST_MOMENT_RATIO = 1e-9
LEAST_MASS_KG = 1e-9
# Rotors of elastic joints, whose inertia is in their armature: as light as MuJoCo allows.
WEIGHTLESS = '<inertial mass="1e-12" pos="0 0 0" diaginertia="1e-12 1e-12 1e-12"/>'


def to_mjcf(
    arm: Arm, friction: bool = True, drive: bool = True, dt: float = 1e-3, elasticity: Elasticity | None = None
) -> str:
    """The arm as a MuJoCo model (MJCF), without shapes, so that nothing collides.

    Parameters
    ----------
    arm : Arm
    friction : bool
        Viscous friction as damping, Coulomb friction as `frictionloss`, which MuJoCo softens; offset and asymmetry,
        together a constant torque, as an actuator; no other kinds.
    drive : bool
        Rotors as `armature`, motor damping, springs; couplings of drives have no counterpart.
    dt : float
        Time step of its integrator, Runge-Kutta of order four [s].
    elasticity : Elasticity, optional
        Springs between rotors and links as tendons, play as their slack; rotors are bodies of their own, whose
        joints follow those of the arm.

    Raises
    ------
    ModelError
        If the arm has something that MuJoCo has not.
    """
    rows = np.tile([np.inf, 0.0, 0.0], (arm.n, 1)) if elasticity is None else check_elastic(arm, elasticity)
    _check_arm(arm, friction, drive, rows)
    elastic = np.flatnonzero(np.isfinite(rows[:, 0])).tolist()
    at_motor = elastic if elasticity is not None and elasticity.friction == "motor" else []
    body, base, rotors, tendons, constants = "", arm.base_pose, "", "", ""
    for i in reversed(range(arm.n)):
        joint, link = arm.joints[i], arm.links[i]
        pose = joint.before @ joint.after if i else base @ joint.before @ joint.after
        own, rotor = _numbers(joint, friction, drive, i in elastic, i in at_motor)
        inner = f"{_joint(joint, own)}{_inertial(link.inertia)}{body}"
        body = f"<body name={quoteattr(link.name)} {_pose(pose)}>{inner}</body>"
        if i in elastic:
            name = f"rotor of {joint.name}"
            rotors = f"<body><joint name={quoteattr(name)} {rotor}/>{WEIGHTLESS}</body>{rotors}"
            tendons = f"{_tendon(name, joint.name, rows[i])}{tendons}"
        if friction and (constant := joint.friction.offset + joint.friction.asymmetry):
            constants += _constant(f"rotor of {joint.name}" if i in at_motor else joint.name, -constant)
    numbers = f'gravity="{_text(arm.gravity)}" timestep="{dt!r}" integrator="RK4"'
    # Without a reset a run that bursts is seen to burst.
    option = f'<option {numbers}><flag autoreset="disable"/></option>'
    head = '<compiler angle="radian" autolimits="false"/>'
    world = f"<worldbody>{body}{rotors}</worldbody><tendon>{tendons}</tendon><actuator>{constants}</actuator>"
    return f"<mujoco model={quoteattr(arm.name)}>{head}{option}{world}</mujoco>"


def _check_arm(arm: Arm, friction: bool, drive: bool, springs: NDArray) -> None:
    """Reject what has no counterpart in MuJoCo."""
    if not arm.is_physical:
        raise ModelError(f"to_mjcf: MuJoCo simulates physically consistent bodies only, but {arm.is_physical}")
    if (drive or friction) and arm.coupling is not None:
        raise ModelError(
            f"to_mjcf: MuJoCo has no coupled drives, arm '{arm.name}' has; leave friction and drives out (False)"
        )
    for joint, (_, damping, backlash) in zip(arm.joints, springs, strict=True):
        if drive and joint.drive.balance:
            raise ModelError(
                f"to_mjcf: MuJoCo has no balancers, joint '{joint.name}' has; leave it out, or drive=False"
            )
        f = joint.friction
        others = {name: getattr(f, name) for name in ("viscous_asymmetry", "load")}
        others |= {"static": f.static is not None and f.static != f.coulomb, "harmonics": len(f.harmonics)}
        if friction and (wrong := [name for name, value in others.items() if value]):
            raise ModelError(
                f"to_mjcf: MuJoCo knows no such friction: joint '{joint.name}' has "
                f"{', '.join(wrong)}; leave it out, or friction=False"
            )
        if damping and backlash:
            raise ModelError(
                f"to_mjcf: MuJoCo's dampers act within the play, too, and teeth of joint '{joint.name}' would pull; "
                "leave its damping or its backlash out"
            )


def _numbers(joint: Joint, friction: bool, drive: bool, elastic: bool, friction_at_motor: bool) -> tuple[str, str]:
    """What acts at the link and, for elastic joints, at the rotor."""
    f, d = joint.friction, joint.drive
    rubbing = {"damping": f.viscous * friction, "frictionloss": f.coulomb * friction}
    motor = {"damping": d.reflected_damping * drive, "armature": d.reflected_inertia * drive}
    link = {"stiffness": d.stiffness * drive, "springref": d.rest * drive}
    rotor: dict[str, float] = {}
    for values, behind in ((rubbing, friction_at_motor), (motor, elastic)):
        side = rotor if behind else link
        for name, value in values.items():
            side[name] = side.get(name, 0.0) + value
    own, other = (" ".join(f'{name}="{_text([value])}"' for name, value in side.items()) for side in (link, rotor))
    return own, other


def _joint(joint: Joint, numbers: str) -> str:
    """The joint in the link's frame: its axis passes where `after` put it."""
    back = inverse(joint.after)
    kind = "hinge" if joint.kind == "revolute" else "slide"
    place = f'axis="{_text(back[:3, :3] @ joint.axis)}" pos="{_text(back[:3, 3])}"'
    return f'<joint name={quoteattr(joint.name)} type="{kind}" {place} {numbers}/>'


def _tendon(rotor: str, link: str, spring: NDArray) -> str:
    """The spring that acts on the difference of a rotor's position and its link's."""
    stiffness, damping, backlash = spring
    ends = "".join(f'<joint joint={quoteattr(name)} coef="{sign}"/>' for name, sign in ((rotor, 1), (link, -1)))
    numbers = f'stiffness="{_text([stiffness])}" damping="{_text([damping])}"'
    return f'<fixed {numbers} springlength="{_text([-backlash / 2, backlash / 2])}">{ends}</fixed>'


def _constant(joint: str, torque: float) -> str:
    """An actuator that exerts a constant torque: its bias alone."""
    return f'<general joint={quoteattr(joint)} gainprm="0" biastype="affine" biasprm="{_text([torque])}"/>'


def _inertial(inertia: Inertia) -> str:
    I = inertia.tensor_com
    if np.linalg.eigvalsh(I)[0] < LEAST_MOMENT_RATIO * np.trace(I):
        I = I + LEAST_MOMENT_RATIO * np.trace(I) * np.eye(3)
    entries = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
    mass = _text([max(inertia.mass, LEAST_MASS_KG)])
    return f'<inertial mass="{mass}" pos="{_text(inertia.com)}" fullinertia="{_text(entries)}"/>'


def _pose(T: NDArray) -> str:
    axes = " ".join(_text(T[:3, k]) for k in (0, 1))
    return f'pos="{_text(T[:3, 3])}" xyaxes="{axes}"'


def _text(values: Iterable[Any]) -> str:
    return " ".join(repr(float(x)) for x in values)


class MujocoRun:
    """A plant of `Plant(arm, engine="mujoco")` between samples; the same interface as `python_loop.Run`."""

    def __init__(self, schedule: Schedule, q0: NDArray, qd0: NDArray) -> None:
        try:
            import mujoco
        except ImportError:
            raise MissingExtraError("simulate: MuJoCo is not installed", "mujoco") from None
        self._mujoco, self._plant, self._clock = mujoco, schedule.plant, schedule.clock
        n, steps, kind = schedule.plant.arm.n, schedule.clock.steps, schedule.plant.kind
        states = plant_shapes(schedule.plant, kind)[0]
        self.shapes = {name: shape for name, shape in states.items() if name not in ("direction", "motor")}
        self.shapes["tau"] = (n,)
        self.rows = {name: np.empty((1, steps + (name != "tau"), *shape)) for name, shape in self.shapes.items()}
        start = schedule.plant.start(q0, qd0)
        for name in self.shapes.keys() - {"tau"}:
            self.rows[name][0, 0] = start[name]
        self.command = np.zeros((1, steps, n))
        self._limit, self._at = schedule.plant.torque_limits, 0
        self._driven = [n + kind.elastic.index(i) if i in kind.elastic else i for i in range(n)]

    def carry(self, span: Span) -> None:
        """Begin or go on with what the arm carries now."""
        span.seize(self._plant, self.rows)
        plant, rows = self._plant, {name: row[0, span.first] for name, row in self.rows.items() if name != "tau"}
        arm = plant.arm.with_theta(span.theta)
        try:
            text = to_mjcf(arm, plant.friction, plant.drive, self._clock.h, plant.elasticity)
            self._model = self._mujoco.MjModel.from_xml_string(text)
        except ValueError as error:
            if isinstance(error, ArmdynError):
                raise
            raise ModelError(f"MuJoCo rejects arm '{arm.name}': {' '.join(str(error).split())}") from None
        self._data = self._mujoco.MjData(self._model)
        for target, name in ((self._data.qpos, "q"), (self._data.qvel, "qd")):
            target[:] = np.concatenate([rows[name], rows.get(f"rotor_{name}", [])])

    def period(self) -> None:
        """All steps of one period."""
        told = self._mujoco.get_mju_user_warning()
        self._mujoco.set_mju_user_warning(_silent)  # else MuJoCo writes a file about a run that bursts
        try:
            for _ in range(self._clock.substeps):
                self._advance(self._at)
                self._at += 1
        finally:
            self._mujoco.set_mju_user_warning(told)

    def _advance(self, k: int) -> None:
        data, n = self._data, self._plant.arm.n
        tau = np.clip(self.command[0, k], -self._limit, self._limit)
        data.qfrc_applied[self._driven] = tau
        self._mujoco.mj_step(self._model, data)
        after = {"q": data.qpos[:n], "qd": data.qvel[:n], "rotor_q": data.qpos[n:], "rotor_qd": data.qvel[n:]}
        self.rows["tau"][0, k] = tau
        for name in self.shapes.keys() - {"tau"}:
            self.rows[name][0, k + 1] = after[name]
        if not np.abs(data.qvel).max() < RUNAWAY_VELOCITY:
            raise Runaway(k)


def _silent(text: str) -> None:
    """Ignore a warning of MuJoCo's."""


def check_engine(plant: Plant) -> None:
    """Reject what MuJoCo is not asked to do here."""
    asked = {
        "motor_lag": np.any(plant.motor_lag),
        "wrench": plant.wrench is not None,
        "contact": plant.contact is not None,
        "stops": bool(plant.stops),
        "base_motion": plant.base_motion is not None,
        "friction_data": plant.friction_data is not None,
    }
    if wrong := [name for name, is_asked in asked.items() if is_asked]:
        raise ModelError(
            f"Plant: engine 'mujoco' does not simulate {', '.join(wrong)}: it holds torques over a step, has no forces "
            "that change within one, and takes friction from the arm"
        )
