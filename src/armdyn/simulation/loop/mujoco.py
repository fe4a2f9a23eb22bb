"""MuJoCo as the plant: the same loop on physics that armdyn did not write (extra `mujoco`)."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError, ModelError, import_extra
from armdyn.model.arm import Arm
from armdyn.model.joint import Joint
from armdyn.model.mechanism import require_free_joints
from armdyn.model.mjcf.write import body_element, inertial_attributes, joint_element
from armdyn.model.urdf.xml import text
from armdyn.precision import NEGLIGIBLE
from armdyn.simulation.loop.programs import plant_shapes
from armdyn.simulation.loop.python_loop import PlantRun
from armdyn.simulation.loop.record import RUNAWAY_VELOCITY, Runaway
from armdyn.simulation.loop.schedule import PayloadInterval, Schedule
from armdyn.simulation.plant.elasticity import Elasticity, check_elastic
from armdyn.simulation.plant.plant import Plant
from armdyn.spatial.inertia import Inertia

# Rotors of elastic joints, whose inertia is in their armature: as light as MuJoCo allows.
WEIGHTLESS = {"mass": "1e-12", "pos": "0 0 0", "diaginertia": "1e-12 1e-12 1e-12"}


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
    rows = np.tile([np.inf, 0.0, 0.0], (arm.n_joints, 1)) if elasticity is None else check_elastic(arm, elasticity)
    _check_arm(arm, friction, drive, rows)
    friction_at_motor = elasticity is not None and elasticity.friction == "motor"
    root = Element("mujoco", model=arm.name)
    SubElement(root, "compiler", angle="radian", autolimits="false")
    option = SubElement(root, "option", gravity=text(arm.gravity), timestep=repr(dt), integrator="RK4")
    SubElement(option, "flag", autoreset="disable")  # else a run that bursts is not seen to burst
    world, tendons, constants = (SubElement(root, name) for name in ("worldbody", "tendon", "actuator"))
    bodies: list[Element] = []
    for joint, link, spring, carrier in zip(arm.joints, arm.links, rows, arm.parents, strict=True):
        elastic, name = bool(np.isfinite(spring[0])), joint.name
        attributes, rotor = _numbers(joint, friction, drive, elastic, elastic and friction_at_motor)
        T = arm.base_pose if carrier < 0 else np.eye(4)
        parent = body_element(world if carrier < 0 else bodies[carrier], link.name, T @ joint.before @ joint.after)
        bodies.append(parent)
        joint_element(parent, joint, attributes)
        SubElement(parent, "inertial", inertial_attributes(_thicken(link.inertia)))
        if elastic:
            behind = SubElement(world, "body")
            name = f"rotor of {joint.name}"
            SubElement(behind, "joint", {"name": name, **{key: text([value]) for key, value in rotor.items()}})
            SubElement(behind, "inertial", WEIGHTLESS)
            _add_tendon(tendons, name, joint.name, spring)
        if friction and (constant := joint.friction.offset + joint.friction.asymmetry):
            rubbing = name if friction_at_motor else joint.name
            # Its bias alone: an actuator that exerts a constant torque.
            bias = {"gainprm": "0", "biastype": "affine", "biasprm": text([-constant])}
            SubElement(constants, "general", {"joint": rubbing, **bias})
    return tostring(root, "unicode")


def _check_arm(arm: Arm, friction: bool, drive: bool, springs: NDArray) -> None:
    """Reject what has no counterpart in MuJoCo."""
    require_free_joints(arm, "to_mjcf", "MuJoCo's equalities yield; use armdyn's own engine")
    if drive and arm.springs:
        cause = f"arm '{arm.name}' has springs between links"
        raise ModelError(cause, where="to_mjcf", remedy="leave them out, or drive=False")
    if not arm.is_physical:
        raise ModelError(f"MuJoCo simulates physically consistent bodies only, but {arm.is_physical}", where="to_mjcf")
    if (drive or friction) and arm.coupling is not None:
        cause = f"MuJoCo has no coupled drives, arm '{arm.name}' has"
        raise ModelError(cause, where="to_mjcf", remedy="leave friction and drives out (False)")
    for joint, (_, damping, backlash) in zip(arm.joints, springs, strict=True):
        if drive and joint.drive.balance:
            cause = f"MuJoCo has no balancers, joint '{joint.name}' has"
            raise ModelError(cause, where="to_mjcf", remedy="leave it out, or drive=False", names=(joint.name,))
        f = joint.friction
        others = {name: getattr(f, name) for name in ("viscous_asymmetry", "load")}
        others |= {"static": f.static is not None and f.static != f.coulomb}
        others |= {"harmonics": len(f.harmonics), "levels": len(f.levels)}
        if friction and (wrong := [name for name, value in others.items() if value]):
            cause = f"MuJoCo has no such friction: joint '{joint.name}' has {', '.join(wrong)}"
            raise ModelError(cause, where="to_mjcf", remedy="leave it out, or friction=False", names=(joint.name,))
        if damping and backlash:
            cause = f"MuJoCo's dampers act within the play, too, and teeth of joint '{joint.name}' would pull"
            remedy = "leave its damping or its backlash out"
            raise ModelError(cause, where="to_mjcf", remedy=remedy, names=(joint.name,))


def _numbers(
    joint: Joint, friction: bool, drive: bool, elastic: bool, friction_at_motor: bool
) -> tuple[dict[str, float], dict[str, float]]:
    """Return what acts at the link and, for elastic joints, at the rotor."""
    f, d = joint.friction, joint.drive
    rubbing = {"damping": f.viscous * friction, "frictionloss": f.coulomb * friction}
    motor = {"damping": d.reflected_damping * drive, "armature": d.reflected_inertia * drive}
    link = {"stiffness": d.stiffness * drive, "springref": d.rest * drive}
    rotor: dict[str, float] = {}
    for values, behind in ((rubbing, friction_at_motor), (motor, elastic)):
        side = rotor if behind else link
        for name, value in values.items():
            side[name] = side.get(name, 0.0) + value
    return link, rotor


def _add_tendon(tendons: Element, rotor: str, link: str, spring: NDArray) -> None:
    """The spring that acts on the difference of a rotor's position and its link's."""
    stiffness, damping, backlash = spring
    numbers = {"stiffness": text([stiffness]), "damping": text([damping])}
    tendon = SubElement(tendons, "fixed", numbers, springlength=text([-backlash / 2, backlash / 2]))
    for name, sign in ((rotor, "1"), (link, "-1")):
        SubElement(tendon, "joint", joint=name, coef=sign)


def _thicken(inertia: Inertia) -> Inertia:
    """A body that MuJoCo takes."""
    I, size = inertia.tensor_com, np.trace(inertia.tensor_com)
    # MuJoCo has no rods without thickness, and no bodies without mass, which descriptions have.
    thin = np.linalg.eigvalsh(I)[0] < NEGLIGIBLE * size
    if not thin and inertia.mass >= NEGLIGIBLE:
        return inertia
    return Inertia.from_com(max(inertia.mass, NEGLIGIBLE), inertia.com, I + thin * NEGLIGIBLE * size * np.eye(3))


class MujocoRun(PlantRun):
    """MuJoCo's fixed steps."""

    def __init__(self, schedule: Schedule, q0: NDArray, qd0: NDArray) -> None:
        check_engine(schedule.plant)
        mujoco = import_extra("mujoco", "simulate: MuJoCo is not installed", "mujoco")
        n, kind = schedule.plant.arm.n, schedule.plant.kind
        states = plant_shapes(schedule.plant, kind)[0]
        shapes = {name: shape for name, shape in states.items() if name not in ("direction", "motor")}
        super().__init__(schedule, q0, qd0, {**shapes, "tau": (n,)})
        self._mujoco, self._limit, self._at = mujoco, self.plant.torque_limits, 0
        self._driven = [n + kind.elastic.index(i) if i in kind.elastic else i for i in range(n)]

    def carry(self, span: PayloadInterval) -> None:
        """Begin or go on with what the arm carries now."""
        super().carry(span)
        plant, rows = self.plant, {name: self.rows[name][0, span.first] for name in self.states}
        arm = plant.arm.with_theta(span.theta)
        try:
            text = to_mjcf(arm, plant.friction, plant.drive, self.clock.h, plant.elasticity)
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
        handler = self._mujoco.get_mju_user_warning()
        self._mujoco.set_mju_user_warning(_silent)  # else MuJoCo writes a file about a run that bursts
        try:
            for _ in range(self.clock.substeps):
                self._advance(self._at)
                self._at += 1
        finally:
            self._mujoco.set_mju_user_warning(handler)

    def _advance(self, k: int) -> None:
        data, n = self._data, self.plant.arm.n
        tau = np.clip(self.command[0, k], -self._limit, self._limit)
        data.qfrc_applied[self._driven] = tau
        self._mujoco.mj_step(self._model, data)
        after = {"q": data.qpos[:n], "qd": data.qvel[:n], "rotor_q": data.qpos[n:], "rotor_qd": data.qvel[n:]}
        self.rows["tau"][0, k] = tau
        self.write(k + 1, after)
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
        cause = (
            f"engine 'mujoco' does not simulate {', '.join(wrong)}: it holds torques over a step, has no "
            "forces that change within one, and takes friction from the arm"
        )
        raise ModelError(cause, where="Plant", names=wrong)
