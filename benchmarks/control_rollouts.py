"""Closed loops a second of force laws, observers, estimators, robust and elastic laws, against Pinocchio in Python.

    python benchmarks/control_rollouts.py [--rollouts 200] [law ...]

Panda without friction, 1 kHz, Runge-Kutta of order four; force laws press on a wall of 1e4 N/m. The peer is the same
law and plant written with Pinocchio and NumPy as one would write them in Python; that both do the same is checked by
their last positions. Both take turns in one process on one thread. `ARMDYN_BENCHMARK=small` takes two laws and few
rollouts.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.linalg import expm

import armdyn
from armdyn import ComputedTorque, Drive, Friction, Plant, control, simulate
from armdyn.shapes.obstacles import HalfSpace
from armdyn.simulation import Contact, Elasticity
from armdyn.trajectory.protocol import JointMotion

SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"
RATE, DT, SECONDS = 1000.0, 1e-3, 0.2 if SMALL else 5.0
HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
W, AMPLITUDE = 2 * np.pi * 0.5, 0.3
WALL, START, PUSH = 1e4, 5.0, 15.0
KP, KD = 160.0, 25.0
# Springs on which links swing at about 10 Hz, and rotors of half their inertia.
SPRING, ROTOR = np.array([4e3, 5e3, 4e3, 4e3, 100, 100, 15]), np.array([0.5, 0.6, 0.4, 0.4, 0.02, 0.02, 0.003])
WORLD = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
Step = Callable[[NDArray, NDArray, NDArray], NDArray]
Calls = tuple[Callable[[], Any], Callable[[], Any], Callable[[], Any]]


class Sine:
    """All joints swing by 0.3 rad at 0.5 Hz about the home pose."""

    n, duration = 7, SECONDS

    def __call__(self, t: Any) -> Any:
        phase = W * np.asarray(t, float)[..., None] * np.ones(7)
        return HOME + AMPLITUDE * np.sin(phase), AMPLITUDE * W * np.cos(phase), -AMPLITUDE * W**2 * np.sin(phase)


class Peer:
    """The Panda in Pinocchio, its tip as a frame, and the wall before it."""

    def __init__(self, arm: armdyn.Arm) -> None:
        self.model = armdyn.to_pinocchio(arm)
        last = self.model.njoints - 1
        data = self.model.createData()
        pin.forwardKinematics(self.model, data, HOME)
        offset = data.oMi[last].inverse() * pin.SE3(armdyn.forward_kinematics(arm, HOME))
        self.tip = self.model.addFrame(pin.Frame("tip of arm", last, 0, offset, pin.FrameType.OP_FRAME))
        self.data = self.model.createData()
        self.x0 = armdyn.forward_kinematics(arm, HOME)[:3, 3]

    def at_tip(self, q: NDArray) -> tuple[NDArray, NDArray]:
        """Jacobian (3, n) and position of the tip."""
        J = pin.computeFrameJacobian(self.model, self.data, q, self.tip, WORLD)[:3]
        return J, self.data.oMf[self.tip].translation

    def wall(self, x: NDArray) -> NDArray:
        """Force on a tip at x."""
        return np.array([-WALL * max(x[0] - self.x0[0] + START / WALL, 0.0), 0.0, 0.0])

    def acceleration(self, q: NDArray, qd: NDArray, tau: NDArray, touches: bool) -> NDArray:
        """By the articulated-body algorithm."""
        if touches:
            J, x = self.at_tip(q)
            tau = tau + J.T @ self.wall(x)
        return pin.aba(self.model, self.data, q, qd, tau)

    def run(self, step: Step, motion: Any, q: NDArray, qd: NDArray, touches: bool) -> NDArray:
        """The last position after a closed loop."""
        log = np.empty((len(motion[0]) + 1, 3, len(q)))
        for k, ref in enumerate(zip(*motion, strict=True)):
            tau = step(q, qd, ref)
            log[k] = q, qd, tau
            a1 = self.acceleration(q, qd, tau, touches).copy()
            v2 = qd + DT / 2 * a1
            a2 = self.acceleration(q + DT / 2 * qd, v2, tau, touches).copy()
            v3 = qd + DT / 2 * a2
            a3 = self.acceleration(q + DT / 2 * v2, v3, tau, touches).copy()
            v4 = qd + DT * a3
            a4 = self.acceleration(q + DT * v3, v4, tau, touches)
            q = q + DT / 6 * (qd + 2 * (v2 + v3) + v4)
            qd = qd + DT / 6 * (a1 + 2 * (a2 + a3) + a4)
        return q

    # -- laws as one writes them -------------------------------------------------------------------------

    def computed(self, q: NDArray, qd: NDArray, ref: Any) -> NDArray:
        """Computed torque."""
        return pin.rnea(self.model, self.data, q, qd, ref[2] + KP * (ref[0] - q) + KD * (ref[1] - qd)).copy()

    def force_law(self, law: Any, name: str) -> Callable[[], Step]:
        """One of the four, at rest at its reference, with the posture."""
        p = {k: np.asarray(x)[:3] if np.ndim(x) == 1 else x for k, x in law.params.items()}
        posture, singular, one = np.asarray(law.posture), float(law.singular) * np.eye(3), np.eye(3)
        if name == "admittance":  # x, its rate and the force over the mass, after a period
            pairs = zip(p["give_stiffness"] / p["mass"], p["give_damping"] / p["mass"], strict=True)
            held = expm(DT * np.array([[[0, 1, 0], [-k, -d, 1], [0, 0, 0]] for k, d in pairs]))

        def fresh() -> Step:
            memory = {"integral": np.zeros(3), "x": np.zeros(3), "v": np.zeros(3)}

            def asked(e: NDArray, v: NDArray, f: NDArray, bias: NDArray, heavy: NDArray) -> NDArray:
                spring, push = p["stiffness"] * e - p["tip_damping"] * v, p["push"] + f
                if name == "impedance":
                    return heavy @ ((spring + push) / p["mass"] - bias) - f
                if name == "admittance":
                    x, rate = memory["x"], memory["v"]
                    state = np.column_stack([x, rate, push / p["mass"]])
                    memory["x"], later, _ = np.einsum("kij,kj->ik", held, state)
                    memory["v"] = later
                    give = p["stiffness"] * x + p["tip_damping"] * rate + (later - rate) / DT
                    return heavy @ (spring + give - bias)
                memory["integral"] = memory["integral"] + DT * push
                pressed = p["force_gain"] * push + p["ki"] * memory["integral"]
                if name == "parallel":
                    return heavy @ (spring - bias) + pressed
                S = law.selection
                return heavy @ ((one - S) @ (spring - bias) - S @ (p["force_damping"] * v)) + S @ (p["push"] + pressed)

            def step(q: NDArray, qd: NDArray, ref: Any) -> NDArray:
                pin.computeJointJacobiansTimeVariation(self.model, self.data, q, qd)
                pin.updateFramePlacement(self.model, self.data, self.tip)
                J = pin.getFrameJacobian(self.model, self.data, self.tip, WORLD)[:3]
                bias = pin.getFrameJacobianTimeVariation(self.model, self.data, self.tip, WORLD)[:3] @ qd
                x = self.data.oMf[self.tip].translation.copy()
                M = pin.crba(self.model, self.data, q)
                M = np.triu(M) + np.triu(M, 1).T
                heavy = np.linalg.inv(J @ np.linalg.solve(M, J.T) + singular)
                force = asked(self.x0 - x, J @ qd, self.wall(x), bias, heavy)
                back = posture * posture * (ref[0] - q) - 2 * posture * qd
                nle = pin.nonLinearEffects(self.model, self.data, q, qd)
                return nle + M @ back + J.T @ (force - heavy @ (J @ back))

            return step

        return fresh

    def observed(self, law: Any) -> Callable[[], Step]:
        """Computed torque watched by the momentum."""
        L = 2 * np.pi * np.asarray(law.bandwidth)

        def fresh() -> Step:
            memory: dict[str, Any] = {"p_hat": None}

            def step(q: NDArray, qd: NDArray, ref: Any) -> NDArray:
                tau = self.computed(q, qd, ref)
                M = pin.crba(self.model, self.data, q)
                p = (np.triu(M) + np.triu(M, 1).T) @ qd
                C = pin.computeCoriolisMatrix(self.model, self.data, q, qd)
                rate = C.T @ qd - pin.computeGeneralizedGravity(self.model, self.data, q)
                p_hat = p if memory["p_hat"] is None else memory["p_hat"]
                r = L * (p - p_hat)
                J = pin.computeFrameJacobian(self.model, self.data, q, self.tip, WORLD)
                JJ = J @ J.T
                wrench = np.linalg.solve(JJ + 1e-6 * np.diagonal(JJ).max() * np.eye(6), J @ r)
                memory.update(p_hat=p_hat + DT * (tau + rate + r), wrench=wrench, hit=np.abs(r).max())
                return tau

            return step

        return fresh

    def estimated(self, law: Any, name: str) -> Callable[[], Step]:
        """Computed torque with an estimate of the velocity."""

        def fresh() -> Step:
            m: dict[str, Any] = {}

            def step(q: NDArray, qd: NDArray, ref: Any) -> NDArray:
                if not m:
                    m.update(x=q, v=0 * q, a=0 * q, tau=0 * q)
                elif name == "filtered derivative":
                    kept, slope = np.exp(-2 * np.pi * law.cutoff * DT), (q - m["x"]) / DT
                    m.update(v=slope + kept * (m["v"] - slope), x=q)
                elif name == "Kalman":
                    g, v = gain, m["v"] + DT * m["a"]
                    x = m["x"] + DT * m["v"] + DT * DT / 2 * m["a"]
                    m.update(x=x + g[0] * (q - x), v=v + g[1] * (q - x), a=m["a"] + g[2] * (q - x))
                else:
                    w, rest = 2 * np.pi * law.cutoff, pin.nonLinearEffects(self.model, self.data, q, m["v"])
                    M = pin.crba(self.model, self.data, q)
                    v = m["v"] + DT * np.linalg.solve(np.triu(M) + np.triu(M, 1).T, m["tau"] - rest)
                    x = m["x"] + DT * v
                    m.update(v=v + DT * w * w * (q - x), x=x + DT * 2 * w * (q - x))
                m["tau"] = self.computed(q, m["v"], ref)
                return m["tau"]

            gain = law.kalman_gain if name == "Kalman" else None
            return step

        return fresh

    def sliding(self, law: Any, name: str) -> Callable[[], Step]:
        """Sliding mode and super-twisting."""

        def fresh() -> Step:
            memory = {"twist": np.zeros(7)}

            def step(q: NDArray, qd: NDArray, ref: Any) -> NDArray:
                e, ed = ref[0] - q, ref[1] - qd
                s = ed + law.lam * e
                if name == "sliding mode":
                    v, a = ref[1] + law.lam * e, ref[2] + law.lam * ed
                    C = pin.computeCoriolisMatrix(self.model, self.data, q, qd)
                    still = pin.rnea(self.model, self.data, q, 0 * q, a)
                    return still + C @ v + law.k * s + law.reach * np.clip(s / law.boundary, -1, 1)
                layer = (4 * DT) ** 2 * law.k2
                u = law.k1 * s / np.sqrt(np.maximum(np.abs(s), layer)) + memory["twist"]
                memory["twist"] = memory["twist"] + DT * law.k2 * np.clip(s / layer, -1, 1)
                return pin.rnea(self.model, self.data, q, qd, ref[2] + law.lam * ed + u).copy()

            return step

        return fresh

    def cascade(self, law: Any) -> Callable[[], Step]:
        """P, PI and the model's torques."""

        def fresh() -> Step:
            memory = {"integral": np.zeros(7)}

            def step(q: NDArray, qd: NDArray, ref: Any) -> NDArray:
                off = law.kv * (ref[0] - q) + ref[1] - qd
                tau = law.kp * off + memory["integral"] + pin.rnea(self.model, self.data, *ref)
                memory["integral"] = memory["integral"] + DT * law.ki * off
                return tau

            return step

        return fresh

    def scaled(self, law: Any) -> Callable[[], Step]:
        """Computed torque whose pace yields."""

        def fresh() -> Step:
            m = {"place": 0.0, "pace": 1.0}

            def step(q: NDArray, qd: NDArray, ref: Any) -> NDArray:
                place, pace = m["place"], m["pace"]
                k = min(np.searchsorted(law.begins, place, side="right") - 1, len(law.begins) - 1)
                c, x = law.polynomials[k].reshape(4, -1), place - law.begins[k]
                q_ref = c[0] + x * (c[1] + x * (c[2] + x * c[3]))
                slope, bend = c[1] + x * (2 * c[2] + 3 * x * c[3]), 2 * c[2] + 6 * x * c[3]
                asked = bend * pace**2 + law.kp * (q_ref - q) + law.kd * (slope * pace - qd)
                rest = pin.rnea(self.model, self.data, q, qd, asked).copy()
                M = pin.crba(self.model, self.data, q)
                a = (np.triu(M) + np.triu(M, 1).T) @ slope
                size = np.abs(a) + 1e-9
                middle, reach = -rest * a / size**2, law.limit / size
                u = max(min(law.catch_up * (1 - pace), (middle + reach).min()), (middle - reach).max(), -pace / DT)
                m.update(place=min(place + DT * pace + DT * DT / 2 * u, law.end), pace=pace + DT * u)
                return np.clip(rest + a * u, -law.limit, law.limit)

            return step

        return fresh

    # -- elastic joints ------------------------------------------------------------------------------------

    def run_elastic(self, step: Any, motion: Any, q: NDArray) -> NDArray:
        """The last position of the links after a closed loop on springs, from rest."""
        g = pin.computeGeneralizedGravity(self.model, self.data, q).copy()
        x, v = np.stack([q, q + g / SPRING]), np.zeros((2, len(q)))

        def slope(x: NDArray, v: NDArray, tau: NDArray) -> NDArray:
            s = SPRING * (x[1] - x[0])
            return np.stack([pin.aba(self.model, self.data, x[0], v[0], s), (tau - s) / ROTOR])

        log = np.empty((len(motion[0]) + 1, 3, len(q)))
        for k, ref in enumerate(zip(*motion, strict=True)):
            tau = step(x, v, ref, k)
            log[k] = x[0], v[0], tau
            a1 = slope(x, v, tau)
            v2 = v + DT / 2 * a1
            a2 = slope(x + DT / 2 * v, v2, tau)
            v3 = v + DT / 2 * a2
            a3 = slope(x + DT / 2 * v2, v3, tau)
            v4 = v + DT * a3
            a4 = slope(x + DT * v3, v4, tau)
            x, v = x + DT / 6 * (v + 2 * (v2 + v3) + v4), v + DT / 6 * (a1 + 2 * (a2 + a3) + a4)
        return x[0]

    def elastic(self, law: Any, name: str, more: Any) -> Callable[[], Any]:
        """The three laws of elastic joints; `more` are jerk and snap of the reference."""
        rnea, model, data = pin.rnea, self.model, self.data

        def pd(x: NDArray, v: NDArray, ref: Any, k: int) -> NDArray:
            g = pin.computeGeneralizedGravity(model, data, ref[0])
            return law.kp * (ref[0] + g / law.spring - x[1]) + law.kd * (ref[1] - v[1]) + g

        def damping(x: NDArray, v: NDArray, ref: Any, k: int) -> NDArray:
            asked = ref[2] + law.law.kp * (ref[0] - x[0]) + law.law.kd * (ref[1] - v[0])
            return rnea(model, data, x[0], v[0], asked) + ROTOR * asked + law.damping * (v[0] - v[1])

        def linearisation(x: NDArray, v: NDArray, ref: Any, k: int, h: float = 1e-4) -> NDArray:
            s = SPRING * (x[1] - x[0])
            a = pin.aba(model, data, x[0], v[0], s).copy()
            M = pin.crba(model, data, x[0])
            M = np.triu(M) + np.triu(M, 1).T

            def along(t: float, j: NDArray, snap: NDArray) -> NDArray:
                q = x[0] + t * (v[0] + t / 2 * (a + t / 3 * j))
                qd = v[0] + t * (a + t / 2 * j)
                return rnea(model, data, q, qd, a + t * (j + t / 2 * snap)).copy()

            none = 0 * a
            first = (along(h, none, none) - along(-h, none, none)) / (2 * h)
            j = np.linalg.solve(M, SPRING * (v[1] - v[0]) - first)
            asked = more[1][k] + law.k3 * (more[0][k] - j) + law.k2 * (ref[2] - a)
            asked = asked + law.k1 * (ref[1] - v[0]) + law.k0 * (ref[0] - x[0])
            second = (along(h, j, asked) + along(-h, j, asked) - 2 * s) / h**2
            return ROTOR * (a + second / SPRING) + s

        return lambda: {"elastic PD": pd, "elastic damping": damping, "elastic linearisation": linearisation}[name]


def cases(arm: armdyn.Arm, peer: Peer) -> dict[str, tuple[Any, Callable[[], Step], bool]]:
    """Laws, their peers, and whether they touch the wall."""
    push, free = [PUSH, 0, 0, 0, 0, 0], np.array([0.0, 1, 1, 1, 1, 1])
    how: dict[str, Any] = {"task": "position"}
    computed = ComputedTorque(arm, KP, KD)
    forces = {
        "hybrid": control.HybridForce(arm, 400.0, 40.0, [1.0, 0, 0], push, **how),
        "parallel": control.ParallelForce(arm, 100 + 300 * free, 40.0, push, **how),
        "impedance": control.ShapedImpedance(arm, 2e3 * free, 250.0, 4.0, push, **how),
        "admittance": control.Admittance(arm, 4900.0, 210.0, 5.0, 300.0, 5e3 * free, push, **how),
    }
    estimators = {
        "filtered derivative": control.FilteredDerivative(computed, 100.0),
        "Kalman": control.KalmanVelocity(computed, RATE),
        "observed velocity": control.ObservedVelocity(computed),
    }
    slides = {
        "sliding mode": control.SlidingMode(arm, 12.0, 5.0, 8.0, 0.1),
        "super-twisting": control.SuperTwisting.from_bound(arm, 12.0, 500.0),
    }
    watched = control.MomentumObserver(computed, 1e6, 20.0, "none")
    found: dict[str, tuple[Any, Callable[[], Step], bool]] = {
        name: (law, peer.force_law(law, name), True) for name, law in forces.items()
    }
    found["momentum observer"] = (watched, peer.observed(watched), False)
    found |= {name: (law, peer.estimated(law, name), False) for name, law in estimators.items()}
    found |= {name: (law, peer.sliding(law, name), False) for name, law in slides.items()}
    hurried = control.PathScaling(arm, Sine(), KP, KD, limit=100.0)
    drives = control.Cascade.from_bandwidth(arm, 3.0, HOME)
    found["cascade"] = (drives, peer.cascade(drives), False)
    return found | {"path scaling": (hurried, peer.scaled(hurried), False)}


def elastic_cases(arm: armdyn.Arm) -> dict[str, Any]:
    """Laws of elastic joints."""
    return {
        "elastic PD": control.ElasticPD(arm, SPRING, 0.3 * SPRING, 0.02 * SPRING),
        "elastic damping": control.ElasticDamping(ComputedTorque(arm, 40.0, 12.0), 1.4 * np.sqrt(SPRING * ROTOR)),
        "elastic linearisation": control.ElasticLinearisation.from_bandwidth(arm, SPRING, 2.0),
    }


def loop(peer: Peer, fresh: Callable[[], Step], motion: Any, qd0: NDArray, touches: bool) -> NDArray:
    """The peer's run, from a fresh state of its law."""
    return peer.run(fresh(), motion, HOME, qd0, touches)


def elastic_loop(peer: Peer, fresh: Callable[[], Any], motion: Any) -> NDArray:
    """The peer's run on springs."""
    return peer.run_elastic(fresh(), motion, HOME)


def seconds(call: Callable[[], Any]) -> float:
    """Of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rollouts", type=int, default=16 if SMALL else 200)
    options.add_argument("--rounds", type=int, default=1 if SMALL else 3)
    options.add_argument("laws", nargs="*")
    given = options.parse_args()
    warnings.simplefilter("ignore", armdyn.ArmdynWarning)
    full = armdyn.arms.panda()
    arm = full.with_joints(dataclasses.replace(joint, drive=Drive(), friction=Friction()) for joint in full.joints)
    peer, sine, steps = Peer(arm), Sine(), round(RATE * SECONDS)
    wall = HalfSpace(np.array([-1.0, 0, 0]), -(peer.x0[0] - START / WALL))
    spread = np.random.default_rng(0).normal(size=(given.rollouts, 7)) * 1e-5
    few = ("hybrid", "super-twisting") if SMALL else tuple(given.laws)
    print(
        "| law or part of a law | Python [us per step] | armdyn, one run | ratio | "
        f"armdyn, {given.rollouts} runs | ratio | difference |"
    )
    print("|---|---|---|---|---|---|---|")
    runs: list[tuple[str, Calls]] = []
    for name, (law, fresh, touches) in cases(arm, peer).items():
        plant = Plant(arm, contact=Contact([wall], WALL, 0.0) if touches else None)
        reference: Any = HOME if touches else sine
        motion = (np.tile(HOME, (steps, 1)), *np.zeros((2, steps, 7))) if touches else sine(np.arange(steps) * DT)
        theirs = partial(loop, peer, fresh, motion, motion[1][0], touches)
        runs.append((name, calls(plant, law, reference, motion[1][0], theirs, spread)))
    drives = [Drive(rotor_inertia=x / 1e4, gear_ratio=100.0) for x in ROTOR]
    geared = arm.with_joints(dataclasses.replace(j, drive=d) for j, d in zip(arm.joints, drives, strict=True))
    soft, motion = Plant(geared, elasticity=Elasticity(SPRING)), sine(np.arange(steps) * DT)
    for name, law in elastic_cases(geared).items():
        given_more = law.channels(np.arange(steps) * DT, JointMotion(*motion))
        fresh = peer.elastic(law, name, (given_more.get("jerk"), given_more.get("snap")))
        theirs = partial(elastic_loop, peer, fresh, motion)
        runs.append((name, calls(soft, law, sine, np.zeros(7), theirs, spread)))
    for name, found in runs:
        if few and name not in few:
            continue
        print(row(name, found, steps, given.rounds, given.rollouts), flush=True)


def calls(
    plant: Plant, law: Any, reference: Any, qd0: NDArray, theirs: Callable[[], NDArray], spread: NDArray
) -> Calls:
    """The peer's run, ours, and ours in a batch."""
    how: dict[str, Any] = {"qd0": qd0, "substeps": 1, "check": False}
    return (
        theirs,
        partial(simulate, plant, law, reference, SECONDS, RATE, q0=HOME, **how),
        partial(simulate, plant, law, reference, SECONDS, RATE, q0=HOME + spread, every=100, **how),
    )


def row(name: str, found: Calls, steps: int, rounds: int, rollouts: int) -> str:
    """A row of the table: the best times of some rounds."""
    differ = np.abs(found[1]().q[-1] - found[0]()).max()
    found[2]()
    times = np.array([[seconds(call) for call in found] for _ in range(rounds)]).min(0) / steps * 1e6
    times[2] /= rollouts
    ratios = times[0] / times[1:]
    ours = f"{times[1]:.2f} us | {ratios[0]:.0f} | {times[2]:.2f} us | {ratios[1]:.0f}"
    return f"| {name} | {times[0]:.0f} | {ours} | {differ:.0e} rad |"


if __name__ == "__main__":
    main()
