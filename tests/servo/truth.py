"""A small arm with position servos, and logs of it that MuJoCo alone makes."""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

# Five joints and a jaw, as large and heavy as the printed arms with hobby servos that many people own.
XML = """
<mujoco model="printed_arm">
  <compiler angle="radian"/>
  <option timestep="0.001" integrator="implicitfast"/>
  <worldbody>
    <body name="shoulder" pos="0 0 0.055">
      <inertial pos="0.001 0.003 0.035" mass="0.12" diaginertia="6e-5 5.5e-5 4e-5"/>
      <joint name="pan" axis="0 0 1" range="-1.9 1.9"/>
      <body name="upper_arm" pos="0 0.03 0.06">
        <inertial pos="0.002 0.01 0.075" mass="0.165" diaginertia="2.2e-4 2.1e-4 5e-5"/>
        <joint name="lift" axis="1 0 0" range="-1.8 1.8"/>
        <body name="forearm" pos="0 0.02 0.115">
          <inertial pos="-0.003 0.06 0.005" mass="0.15" diaginertia="1.4e-4 4.5e-5 1.5e-4"/>
          <joint name="elbow" axis="1 0 0" range="-1.7 1.7"/>
          <body name="wrist" pos="0 0.135 0">
            <inertial pos="0 0.035 0.002" mass="0.07" diaginertia="3.5e-5 2e-5 3.5e-5"/>
            <joint name="flex" axis="1 0 0" range="-1.7 1.7"/>
            <body name="hand" pos="0 0.06 0">
              <inertial pos="0.006 0.03 0.001" mass="0.11" diaginertia="6e-5 3e-5 6e-5"/>
              <joint name="roll" axis="0 1 0" range="-2.8 2.8"/>
              <site name="grip" pos="0 0.09 0"/>
            </body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="pan" joint="pan"/>
    <position name="lift" joint="lift"/>
    <position name="elbow" joint="elbow"/>
    <position name="flex" joint="flex"/>
    <position name="roll" joint="roll"/>
  </actuator>
</mujoco>
"""
JOINTS = ("pan", "lift", "elbow", "flex", "roll")
TICK = 2 * np.pi / 4096  # of a 12-bit encoder


class Truth(NamedTuple):
    """What the servos really are, per joint."""

    kp: NDArray
    kv: NDArray
    armature: NDArray
    coulomb: NDArray
    viscous: NDArray
    delay: float = 0.013  # [s]
    stribeck: float = 0.0  # static friction above Coulomb's, in parts of it
    load: float = 0.0  # friction per torque of the servo
    dead_band: float = 0.0  # [rad]


def truth(rng: np.random.Generator, **more: float) -> Truth:
    """Servos that differ by some 15 % from joint to joint."""

    def near(value: float) -> NDArray:
        return value * rng.uniform(0.85, 1.15, 5)

    return Truth(near(18.0), near(0.7), near(0.028), near(0.06), near(0.1), **more)


def commands(rng: np.random.Generator, t: NDArray) -> NDArray:
    """A sum of sines per joint, 0.1 to 1.5 Hz, that begins where it is."""
    q = np.zeros((len(t), 5))
    for j in range(5):
        f = rng.uniform(0.1, 1.5, 6)
        phase, size = rng.uniform(0, 2 * np.pi, 6), rng.uniform(0.3, 1.0, 6) / (0.5 + f)
        wave = (size * np.sin(2 * np.pi * f * t[:, None] + phase)).sum(1)
        q[:, j] = 0.8 * wave / np.abs(wave).max()
    return q + np.array([0.0, 0.3, -0.2, 0.2, 0.0])


def record(servo: Truth, t: NDArray, command: NDArray, tick: float = TICK, payload: float = 0.0) -> NDArray:
    """Encoder readings (N, 5) at the times at which the commands are sent, from MuJoCo at 1 kHz."""
    model = mujoco.MjModel.from_xml_string(XML)
    model.actuator_gainprm[:, 0] = servo.kp
    model.actuator_biasprm[:, 1], model.actuator_biasprm[:, 2] = -servo.kp, -servo.kv
    model.dof_armature[:], model.dof_damping[:] = servo.armature, servo.viscous
    model.dof_frictionloss[:] = servo.coulomb
    hand = model.body("hand").id
    if payload:  # a point at the grip
        add_point(model, hand, payload, np.array([0.0, 0.09, 0.0]))
    data = mujoco.MjData(model)
    mujoco.mj_setConst(model, data)  # how soft MuJoCo's friction is depends on inertia
    h = model.opt.timestep
    data.qpos[:], readings, sent = command[0], np.empty_like(command), 0
    for _ in range(round(3.0 / h)):  # come to rest at the first command
        data.ctrl[:] = command[0]
        mujoco.mj_step(model, data)
    for k in range(len(t)):
        while data.time - 3.0 < t[k] - h / 2:
            now = data.time - 3.0
            while sent + 1 < len(t) and t[sent + 1] + servo.delay <= now + h / 2:
                sent += 1
            advance(model, data, servo, command[sent])
        readings[k] = data.qpos
    return np.round(readings / tick) * tick if tick else readings


def advance(model: mujoco.MjModel, data: mujoco.MjData, servo: Truth, command: NDArray) -> None:
    """One step of MuJoCo, with what its own servos and friction do not have."""
    error = command - data.qpos
    slack = np.clip(error, -servo.dead_band, servo.dead_band)
    data.ctrl[:] = data.qpos + error - slack
    if servo.stribeck or servo.load:
        torque = servo.kp * (error - slack) - servo.kv * data.qvel
        curve = 1 + servo.stribeck * np.exp(-((data.qvel / 0.1) ** 2))
        model.dof_frictionloss[:] = servo.coulomb * curve + servo.load * np.abs(torque)
    mujoco.mj_step(model, data)


def add_point(model: mujoco.MjModel, body: int, mass: float, at: NDArray) -> None:
    """A point mass on a body whose axes are principal ones."""
    own, com = float(model.body_mass[body]), model.body_ipos[body].copy()
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, model.body_iquat[body])
    R = R.reshape(3, 3)
    total = own + mass
    new = (own * com + mass * at) / total

    def shifted(m: float, d: NDArray) -> NDArray:
        return m * (d @ d * np.eye(3) - np.outer(d, d))

    I = R @ np.diag(model.body_inertia[body]) @ R.T + shifted(own, com - new) + shifted(mass, at - new)
    values, axes = np.linalg.eigh(I)
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1
    quaternion = np.zeros(4)
    mujoco.mju_mat2Quat(quaternion, axes.ravel())
    model.body_mass[body], model.body_ipos[body] = total, new
    model.body_iquat[body], model.body_inertia[body] = quaternion, values
