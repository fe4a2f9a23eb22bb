"""Stand-ins for logs of real robots, made from seeds: `python tests/data/make_logs.py FOLDER`.

What real logs have and clean simulations have not is in them: bodies and friction that the description does not know,
coarse encoders, noisy torques, stamps that jitter, samples logged twice, velocities from differences, units of drives.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import numpy as np

import armdyn


def motion(n: int, t: np.ndarray, rng: np.random.Generator, size: float) -> tuple[np.ndarray, ...]:
    """Five harmonics of 0.1 Hz a joint, from rest: q, qd, qdd."""
    q, qd, qdd = np.zeros((3, len(t), n))
    for k in range(1, 6):
        w = 2 * np.pi * 0.1 * k
        a, b = rng.normal(size=(2, n)) * size / np.sqrt(k)
        c, s = np.cos(w * t)[:, None], np.sin(w * t)[:, None]
        q += a * s - b * c
        qd += w * (a * c + b * s)
        qdd += w**2 * (-a * s + b * c)
    return q, qd, qdd


def as_built(arm: armdyn.Arm, rng: np.random.Generator, friction: np.ndarray, load: float = 0.0) -> armdyn.Arm:
    """The arm as it might really be: bodies other than described, friction, a little of everything."""
    theta = arm.theta.reshape(arm.n, 10) * rng.uniform(0.85, 1.15, (arm.n, 1))
    joints = [
        dataclasses.replace(
            joint,
            friction=armdyn.Friction(0.7 * f, f, 0.1 * f, static=1.3 * f, stribeck=0.05, asymmetry=0.05 * f, load=load),
            drive=armdyn.Drive(),
        )
        for joint, f in zip(arm.joints, friction, strict=True)
    ]
    return arm.with_theta(theta.ravel()).with_joints(joints)


def ur5(path: Path) -> armdyn.Arm:
    """A UR5 at 125 Hz as CSV: harmonic drives (friction with load), coarse encoders, stamps that jitter, rows twice."""
    rng, arm = np.random.default_rng(11), armdyn.arms.ur5()
    real = as_built(arm, rng, np.linspace(6, 1, 6), load=0.1)
    t = np.arange(0, 40, 1 / 125)
    q, qd, qdd = motion(6, t, rng, 0.35)
    tau = armdyn.joint_torque(real, q, qd, qdd)
    tau += rng.normal(size=tau.shape) * 0.03 * tau.std(axis=0)
    shown = np.round(q / 2e-5) * 2e-5
    stamps = t + 1.7e9 + 3e-4 * rng.normal(size=len(t))
    rows = np.column_stack([stamps, shown, np.gradient(shown, 1 / 125, axis=0), tau])
    rows = np.repeat(rows, np.where(rng.random(len(t)) < 0.01, 2, 1), axis=0)
    names = [f"{what}{k}" for what in ("q", "qd", "tau") for k in range(1, 7)]
    np.savetxt(path, rows, "%.9f", ",", header=",".join(["t", *names]), comments="")
    return arm


def panda(path: Path) -> armdyn.Arm:
    """A Panda at 250 Hz as NPZ: joint torque sensors, little friction, samples that repeat the one before."""
    rng, arm = np.random.default_rng(12), armdyn.arms.panda()
    real = as_built(arm, rng, np.full(7, 0.4))
    t = np.arange(0, 40, 1 / 250)
    q, qd, qdd = motion(7, t, rng, 0.25)
    q = q + np.array([0, -0.4, 0, -1.8, 0, 1.6, 0.6])
    tau = armdyn.joint_torque(real, q, qd, qdd) + 0.08 * rng.normal(size=q.shape)
    q = q + 1e-6 * rng.normal(size=q.shape)
    again = np.flatnonzero(rng.random(len(t) - 1) < 0.02) + 1
    q[again], tau[again] = q[again - 1], tau[again - 1]
    np.savez_compressed(path, t=t, q=q, tau=tau)
    return arm


SLIDE = {"mass": 80.0, "viscous": 150.0, "coulomb": 18.0, "offset": -2.5, "gain": 35.0}


def slide(path: Path) -> armdyn.Arm:
    """One horizontal slide at 1 kHz as CSV: position and the drive's voltage."""
    rng = np.random.default_rng(13)
    rows = [{"kind": "P", "a": 0, "alpha": 0, "d": 0, "theta": 0}]
    arm = armdyn.Arm.from_dh(rows, convention="standard", gravity=[0, -9.81, 0])
    t = np.arange(0, 20, 1e-3)
    q, qd, qdd = motion(1, t, rng, 0.03)
    force = SLIDE["mass"] * qdd + SLIDE["viscous"] * qd + SLIDE["coulomb"] * np.sign(qd) + SLIDE["offset"]
    voltage = force / SLIDE["gain"] + 0.03 * rng.normal(size=q.shape)
    shown = np.round(q / 1e-6) * 1e-6
    np.savetxt(path, np.column_stack([t, shown, voltage]), "%.9f", ",", header="t,position_m,drive_V", comments="")
    return arm


def main(folder: str) -> None:
    for make, name in ((ur5, "ur5.csv"), (panda, "panda.npz"), (slide, "slide.csv")):
        make(Path(folder) / name)
        print(Path(folder) / name)


if __name__ == "__main__":
    main(sys.argv[1])
