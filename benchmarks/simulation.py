"""Closed loops per second: computed torque on the Panda, 1 kHz, Runge-Kutta of order four, against Pinocchio in Python.

    python benchmarks/simulation.py [--seconds 10] [--rollouts 1000]

All candidates do the same steps (one inverse and four forward dynamics per sample) in one process on one thread, and
take turns, so that a busy machine slows them alike. The ratios are to Pinocchio's time per rollout.
`ARMDYN_BENCHMARK=small` makes it quick.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import time
import warnings

import numpy as np
import pinocchio as pin

import armdyn
from armdyn import ComputedTorque, Drive, Friction, Plant, simulate

SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"
W, AMPLITUDE = 2 * np.pi * 0.5, 0.3


class Sine:
    """All joints swing by 0.3 rad at 0.5 Hz."""

    def __init__(self, n: int, duration: float) -> None:
        self.n, self.duration = n, duration

    def __call__(self, t):
        sine, cosine = (f(W * np.asarray(t))[..., None] * np.ones(self.n) for f in (np.sin, np.cos))
        return AMPLITUDE * sine, AMPLITUDE * W * cosine, -AMPLITUDE * W**2 * sine


def pinocchio_loop(model, motion, q, qd, kp, kd, dt, steps):
    """The loop as users of Pinocchio write it; returns the last position and velocity."""
    data = model.createData()
    aba, rnea = pin.aba, pin.rnea
    log = np.empty((steps + 1, 3, len(q)))
    for k in range(steps):
        q_ref, qd_ref, qdd_ref = motion[0][k], motion[1][k], motion[2][k]
        tau = rnea(model, data, q, qd, qdd_ref + kp * (q_ref - q) + kd * (qd_ref - qd)).copy()
        log[k] = q, qd, tau
        a1 = aba(model, data, q, qd, tau).copy()
        v2 = qd + dt / 2 * a1
        a2 = aba(model, data, q + dt / 2 * qd, v2, tau).copy()
        v3 = qd + dt / 2 * a2
        a3 = aba(model, data, q + dt / 2 * v2, v3, tau).copy()
        v4 = qd + dt * a3
        a4 = aba(model, data, q + dt * v3, v4, tau)
        q = q + dt / 6 * (qd + 2 * (v2 + v3) + v4)
        qd = qd + dt / 6 * (a1 + 2 * (a2 + a3) + a4)
    return q, qd


def best(candidates, rounds):
    """The best time of each, in turns."""
    times = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, call in candidates.items():
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    return {name: min(found) for name, found in times.items()}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=1.0 if SMALL else 10.0)
    options.add_argument("--rollouts", type=int, default=20 if SMALL else 1000)
    options.add_argument("--rounds", type=int, default=1 if SMALL else 3)
    given = options.parse_args()
    warnings.simplefilter("error")
    full = armdyn.arms.panda()
    arm = full.with_joints(dataclasses.replace(joint, drive=Drive(), friction=Friction()) for joint in full.joints)
    plant = Plant(arm)
    law = ComputedTorque.from_bandwidth(arm, 2.0)
    reference, steps = Sine(arm.n, given.seconds), round(1000 * given.seconds)
    motion = reference(np.arange(steps) * 1e-3)
    q0, qd0 = np.full(arm.n, 0.1), np.zeros(arm.n)
    model = armdyn.to_pinocchio(arm)
    data = model.createData()

    def controller(t, q, qd, ref):
        return pin.rnea(model, data, q, qd, ref.qdd + law.kp * (ref.q - q) + law.kd * (ref.qd - qd))

    spread = np.random.default_rng(0).normal(size=(given.rollouts, arm.n)) * 0.05

    def ours(q0=q0, **how):
        return simulate(plant, how.pop("controller", law), reference, q0=q0, qd0=qd0, **how)

    start = time.perf_counter()
    one = ours()
    print(f"first call, tracing and compiling if not cached: {time.perf_counter() - start:.1f} s")
    end = pinocchio_loop(model, motion, q0, qd0, law.kp, law.kd, 1e-3, steps)
    print(f"largest difference of final positions: {np.abs(one.q[-1] - end[0]).max():.1e} rad\n")
    candidates = {
        "Pinocchio, Python loop": lambda: pinocchio_loop(model, motion, q0, qd0, law.kp, law.kd, 1e-3, steps),
        "one kernel, one rollout": lambda: ours(check=False),
        f"one kernel, {given.rollouts} rollouts": lambda: ours(q0 + spread, every=100, check=False),
        "Python controller (pin.rnea)": lambda: ours(controller=controller),
        "with rotors and dry friction": lambda: simulate(full, law, reference, q0=q0, qd0=qd0, check=False),
    }
    for call in candidates.values():
        call()
    times = best(candidates, given.rounds)
    peer = times["Pinocchio, Python loop"]
    print(f"{'':34s}{'us per step':>12s}{'ratio':>9s}")
    for name, seconds in times.items():
        each = seconds / given.rollouts if "rollouts" in name else seconds
        print(f"{name:34s}{each / steps * 1e6:12.3f}{peer / each:9.1f}")


if __name__ == "__main__":
    main()
