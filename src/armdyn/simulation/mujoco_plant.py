"""MuJoCo as the plant: the same loop on physics that armdyn did not write (extra `mujoco`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import MissingExtraError, ModelError
from armdyn.model.arm import Arm
from armdyn.model.joint import Joint
from armdyn.simulation.plant import Plant
from armdyn.simulation.schedule import Schedule
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.transform import inverse

# MuJoCo has no rods without thickness: moments of inertia below this part of their sum are raised by as much.
THINNEST = 1e-9


def to_mjcf(arm: Arm, friction: bool = True, drive: bool = True, dt: float = 1e-3) -> str:
    """The arm as a MuJoCo model (MJCF), without shapes, so that nothing collides.

    Parameters
    ----------
    arm : Arm
    friction : bool
        Viscous friction as damping, Coulomb friction as `frictionloss`, which MuJoCo softens.
    drive : bool
        Rotors as `armature`, motor damping, springs; couplings of drives have no counterpart.
    dt : float
        Time step of its integrator, Runge-Kutta of order four [s].

    Raises
    ------
    ModelError
        If a link is not a possible body, which MuJoCo refuses, or drives are coupled.
    """
    if not arm.is_physical:
        raise ModelError(f"to_mjcf: MuJoCo simulates possible bodies only, but {arm.is_physical}")
    if drive and arm.coupling is not None:
        raise ModelError(f"to_mjcf: MuJoCo has no coupled drives, arm '{arm.name}' has")
    body, base = "", arm.base_pose
    for i in reversed(range(arm.n)):
        joint, link = arm.joints[i], arm.links[i]
        pose = joint.before @ joint.after if i else base @ joint.before @ joint.after
        inner = f"{_joint(joint, friction, drive)}{_inertial(link.inertia)}{body}"
        body = f"<body name={quoteattr(link.name)} {_pose(pose)}>{inner}</body>"
    option = f'<option gravity="{_text(arm.gravity)}" timestep="{dt!r}" integrator="RK4"/>'
    head = '<compiler angle="radian" autolimits="false"/>'
    return f"<mujoco model={quoteattr(arm.name)}>{head}{option}<worldbody>{body}</worldbody></mujoco>"


def _joint(joint: Joint, friction: bool, drive: bool) -> str:
    """The joint in the link's frame: its axis passes where `after` put it."""
    back = inverse(joint.after)
    f, d = joint.friction, joint.drive
    values = {
        "damping": (f.viscous if friction else 0.0) + (d.reflected_damping if drive else 0.0),
        "frictionloss": f.coulomb if friction else 0.0,
        "armature": d.reflected_inertia if drive else 0.0,
        "stiffness": d.stiffness if drive else 0.0,
        "springref": d.rest if drive else 0.0,
    }
    kind = "hinge" if joint.kind == "revolute" else "slide"
    numbers = " ".join(f'{name}="{value!r}"' for name, value in values.items())
    place = f'axis="{_text(back[:3, :3] @ joint.axis)}" pos="{_text(back[:3, 3])}"'
    return f'<joint name={quoteattr(joint.name)} type="{kind}" {place} {numbers}/>'


def _inertial(inertia: Inertia) -> str:
    I = inertia.tensor_com
    if np.linalg.eigvalsh(I)[0] < THINNEST * np.trace(I):
        I = I + THINNEST * np.trace(I) * np.eye(3)
    entries = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
    return f'<inertial mass="{float(inertia.mass)!r}" pos="{_text(inertia.com)}" fullinertia="{_text(entries)}"/>'


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
            raise MissingExtraError("simulate: MuJoCo is not installed; pip install 'armdyn[mujoco]'") from None
        plant, self._clock = schedule.plant, schedule.clock
        n, steps = plant.arm.n, schedule.clock.steps
        arm = plant.arm.with_theta(plant.own_theta)
        try:
            text = to_mjcf(arm, plant.friction, plant.drive, schedule.clock.h)
            self._model = mujoco.MjModel.from_xml_string(text)
        except ValueError as error:
            raise ModelError(f"MuJoCo refuses arm '{arm.name}': {' '.join(str(error).split())}") from None
        self._data, self._step = mujoco.MjData(self._model), mujoco.mj_step
        self._data.qpos[:], self._data.qvel[:] = q0, qd0
        self.shapes: dict[str, tuple[int, ...]] = {"q": (n,), "qd": (n,), "tau": (n,)}
        self.rows = {name: np.empty((1, steps + (name != "tau"), n)) for name in self.shapes}
        self.q, self.qd = self.rows["q"][0], self.rows["qd"][0]
        self.q[0], self.qd[0] = q0, qd0
        self.command = np.zeros((1, steps, n))
        self._limit = plant.torque_limits
        self._at = 0

    def at_encoders(self, step: int) -> tuple[NDArray, NDArray]:
        """Positions and velocities (n,) where encoders sit."""
        return self.q[step].copy(), self.qd[step].copy()

    def period(self) -> None:
        """All steps of one period."""
        for k in range(self._at, self._at + self._clock.substeps):
            tau = np.clip(self.command[0, k], -self._limit, self._limit)
            self._data.qfrc_applied[:] = tau
            self._step(self._model, self._data)
            self.rows["tau"][0, k], self.q[k + 1], self.qd[k + 1] = tau, self._data.qpos, self._data.qvel
        self._at += self._clock.substeps

    def set_theta(self, step: int, theta: NDArray, blow: bool) -> None:
        """The model is fixed: `Plant` refuses payload changes."""


def check_engine(plant: Plant) -> None:
    """Refuse what MuJoCo is not asked to do here."""
    asked = {
        "motor_lag": np.any(plant.motor_lag),
        "elasticity": plant.elasticity is not None,
        "friction_data": plant.friction_data is not None,
        "changes": len(plant.changes) > 0,
        "wrench": plant.wrench is not None,
        "base_motion": plant.base_motion is not None,
    }
    if wrong := [name for name, is_asked in asked.items() if is_asked]:
        raise ModelError(
            f"Plant: engine 'mujoco' simulates the arm, its friction and its drives, not {', '.join(wrong)}"
        )
