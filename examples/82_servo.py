"""Servos of an arm that measures no torque, from what was commanded and where the joints were.

Run: python examples/82_servo.py
"""

import warnings
from dataclasses import replace

import numpy as np

import armdyn

arm = armdyn.arms.planar2()
t = np.arange(0, 15, 0.02)  # 50 rows a second
command = 0.5 * np.sin(2 * np.pi * np.array([0.23, 0.41]) * t[:, None]) + 0.1 * np.sin(
    2 * np.pi * np.array([1.3, 1.7]) * t[:, None]
)

# The arm as it is, which nobody knows: servos, rotors, friction, a delay of 20 ms, encoders of 12 bits.
joints = [replace(j, drive=armdyn.Drive(0.4), friction=armdyn.Friction(coulomb=1.5)) for j in arm.joints]
plant = armdyn.Plant(arm.with_joints(joints), servo=armdyn.PositionServo([220.0, 90.0], [25.0, 9.0]))
sent = armdyn.PositionCommands(arm, t, command, delay=0.020)
run = armdyn.simulate(plant, sent, command[0], duration=t[-1], rate=1000, every=20)
tick = 2 * np.pi / 4096
log = armdyn.ServoLog(t, np.round(run.q / tick) * tick, command)

with warnings.catch_warnings():
    warnings.simplefilter("ignore", armdyn.ArmdynWarning)  # printed below
    fit = armdyn.identify_servo(arm, log)

print(fit)
for j, name in enumerate(arm.joint_names):
    print(f"{name}: kp {fit.stiffness[j]:.1f} N m/rad, kd + fv {fit.damping[j]:.2f} N m s/rad,", end=" ")
    print(f"rotor {fit.armature[j]:.3f} kg m², Coulomb {fit.coulomb[j]:.2f} N m, delay {1e3 * fit.delay[j]:.1f} ms")
    one = fit.estimate("compliance", j)
    print(f"    1/kp {one.value:.5f} rad/(N m), {one.low:.5f} to {one.high:.5f} explain the log as well: {one.word}")
for text in fit.warnings:
    print(f"note: {text}")
