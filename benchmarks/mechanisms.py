"""Identification of mechanisms against their chains: `python benchmarks/mechanisms.py [--seeds 5]`.

A palletizer (parallelogram, balancer, friction at joints that follow), a robot of two arms, and a gripper whose jaws
mimic each other, with bodies, friction and motions drawn from seeds, noise on positions and torques. Each is identified
with its mechanism, without any number of it, and as a tool for chains would have it: the palletizer with coupled
drives, the two arms one by one, the gripper with one jaw. Errors are of consistent models on another motion.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import armdyn
from armdyn import Arm, Drive, Friction, Joint, Link, Log, Spring
from armdyn.errors import ArmdynError
from armdyn.identification.logs.corrections import of_joints
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.transform import transform

Y, Z = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
NOISE = 0.01  # of torques, as a share of their deviation
ENCODER = 2e-5  # of positions [rad or m]
RATE, SECONDS = 200.0, 25.0
SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"


class ChainPart(NamedTuple):
    """A chain in the place of a mechanism: its arm, its log, and the torques of the mechanism that it explains."""

    arm: Arm
    log: NDArray  # (n, coordinates) positions of the chain per coordinate
    rows: list[int]  # torques of the mechanism


class Mechanism(NamedTuple):
    """A mechanism whose truth is known, and its chains."""

    arm: Arm
    chains: list[ChainPart]


def at(x: float, y: float = 0.0, z: float = 0.0) -> NDArray:
    return transform(None, [x, y, z])


def body(rng: np.random.Generator, mass: float, x: float) -> Inertia:
    """About a rod of some mass with its centre at x."""
    mass, length = mass * np.exp(0.3 * rng.normal()), max(abs(x), 0.05)
    com = np.array([x, 0, 0]) + 0.2 * length * rng.normal(size=3)
    return Inertia.from_com(mass, com, mass * length**2 * np.diag(rng.uniform([0.05, 0.3, 0.3], [0.15, 0.5, 0.5])))


def rough(rng: np.random.Generator, size: float) -> Friction:
    return Friction(viscous=size * rng.uniform(0.3, 1.0), coulomb=size * rng.uniform(0.5, 1.5))


def palletizer(rng: np.random.Generator) -> Mechanism:
    """A waist, a shoulder with a balancer, and an elbow behind a crank and a rod."""
    past_shoulder = (("crank", 1.0), ("shoulder", -1.0))
    back, reach = -rng.uniform(0.15, 0.25), rng.uniform(0.6, 1.0)
    joints = (
        Joint("waist", axis=Z, friction=rough(rng, 6), drive=Drive(rotor_inertia=1.0)),
        Joint("shoulder", axis=Y, before=at(0.2, 0, 0.5), friction=rough(rng, 6), drive=Drive(rotor_inertia=1.0)),
        Joint("crank", axis=Y, before=at(0.2, 0, 0.5), parent="column", friction=rough(rng, 5)),
        Joint("elbow", axis=Y, before=at(reach), parent="beam", follows=past_shoulder, friction=rough(rng, 4)),
        Joint("rod", axis=Y, before=at(back), parent="crank link", follows=(("shoulder", 1.0), ("crank", -1.0))),
    )
    sizes = {"column": (30, 0.1), "beam": (20, reach / 2), "crank link": (8, back), "forearm": (15, 0.3)}
    links = [Link(name, body(rng, *size)) for name, size in {**sizes, "long rod": (10, reach / 2)}.items()]
    points = ((0.25, 0.0, 0.62), (rng.uniform(0.1, 0.2), 0.0, 0.0))
    spring = Spring("balancer", ("column", "beam"), points, rng.uniform(2e4, 5e4), rng.uniform(0.02, 0.08))
    arm = Arm(joints, tuple(links), name="palletizer", tip_link="forearm", tool_pose=at(0.7), springs=(spring,))
    C = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 1.0]])  # the drives' shafts, from waist, shoulder and elbow
    free = dataclasses.replace(joints[3], follows=(), parent=None)
    serial = Arm((*joints[:2], free), (*links[:2], links[3]), name="chain", tool_pose=at(0.7)).with_coupling(C)
    return Mechanism(arm, [ChainPart(serial, np.linalg.inv(C), [0, 1, 2])])


def two_arms(rng: np.random.Generator) -> Mechanism:
    """Two arms of three joints on a torso that turns and tilts; a chain has one of them, and the other at rest."""
    joints = [Joint("turn", axis=Z, friction=rough(rng, 2)), Joint("tilt", axis=Y, friction=rough(rng, 3))]
    links = [Link("pelvis", body(rng, 5, 0.0)), Link("trunk", body(rng, 8, 0.05))]
    for side, y in (("left", 0.2), ("right", -0.2)):
        for name, axis, before, mass in (
            ("lift", Y, at(0.05, y, 0.4), 3.0), ("roll", (1, 0, 0), at(0.1), 2.0), ("elbow", Y, at(0.2), 2.0),
        ):  # fmt: skip
            parent = "trunk" if name == "lift" else None
            joints.append(Joint(f"{side} {name}", axis=axis, before=before, parent=parent, friction=rough(rng, 1.0)))
            links.append(Link(f"{side} {name} link", body(rng, mass, 0.15)))
    arm = Arm(tuple(joints), tuple(links), name="two arms", tool_pose=at(0.25))
    chains = []
    for k in (2, 5):
        some = [0, 1, *range(k, k + 3)]
        serial = tuple(dataclasses.replace(joints[i], parent=None) for i in some)
        name = f"{joints[k].name.split()[0]} arm"
        chains.append(ChainPart(Arm(serial, tuple(links[i] for i in some), name=name), np.eye(8)[some], some))
    return Mechanism(arm, chains)


def gripper(rng: np.random.Generator) -> Mechanism:
    """A wrist and two heavy jaws, of which one mimics the other with its own friction."""
    joints = (
        Joint("lift", axis=Y, friction=rough(rng, 0.3)),
        Joint("roll", axis=(1, 0, 0), before=at(0.1), friction=rough(rng, 0.1)),
        Joint("jaw", axis=Y, before=at(0.1, 0, 0.03), friction=rough(rng, 0.03)),
        Joint("other jaw", axis=Y, before=at(0.1, 0, -0.03), parent="palm", follows=(("jaw", -1.0),)),
    )
    sizes = {"wrist": (0.8, 0.05), "palm": (0.6, 0.05), "left": (0.5, 0.06), "right": (0.5, 0.06)}
    links = tuple(Link(name, body(rng, *size)) for name, size in sizes.items())
    arm = Arm(joints, links, name="gripper", tip_link="palm")
    return Mechanism(arm, [ChainPart(Arm(joints[:3], links[:3], name="one jaw"), np.eye(3), [0, 1, 2])])


MECHANISMS = {"palletizer": palletizer, "two arms": two_arms, "gripper": gripper}


def record(arm: Arm, rng: np.random.Generator) -> Log:
    """A motion of sums of sines, with noise."""
    t = np.arange(0, SECONDS, 1 / RATE)
    w, phase = 2 * np.pi * rng.uniform(0.1, 0.6, (4, arm.n)), rng.uniform(0, 6, (4, arm.n))
    size = rng.uniform(0.3, 0.7, arm.n)
    angle = t[:, None, None] * w + phase
    q = size * np.sin(angle).sum(1) / 2
    qd, qdd = size * (w * np.cos(angle)).sum(1) / 2, -size * (w**2 * np.sin(angle)).sum(1) / 2
    tau = armdyn.joint_torque(arm, q, qd, qdd, width=0.003)
    noisy = tau + NOISE * tau.std(0) * rng.normal(size=tau.shape)
    return Log(t, q + ENCODER * rng.normal(size=q.shape), noisy)


def unknown(arm: Arm) -> Arm:
    """The mechanism without inertia, friction and stiffness."""
    joints = [dataclasses.replace(j, friction=Friction(), drive=Drive(coupling=j.drive.coupling)) for j in arm.joints]
    springs = tuple(dataclasses.replace(spring, stiffness=1.0) for spring in arm.springs)
    blank = dataclasses.replace(arm.with_joints(joints), springs=springs)
    return blank.with_theta(np.full(10 * arm.n_joints, np.nan))


def of_chain(part: ChainPart, log: Log) -> Log:
    """The mechanism's log as one of the chain; its joints and the mechanism's have the same power."""
    square = part.log.shape[0] == part.log.shape[1]
    torque = log.tau @ np.linalg.inv(part.log) if square else log.tau[:, part.rows]
    return Log(log.t, log.q @ part.log.T, torque)


def errors(mechanism: Mechanism, train: Log, test: Log) -> tuple[armdyn.Fit, float, float]:
    """The mechanism's fit, its error, and that of its chains, relative to all torques; the mean where two have one."""
    fit = armdyn.identify(unknown(mechanism.arm), train)
    squares, counts = np.zeros((2, mechanism.arm.n))
    for part in mechanism.chains:
        log, tested = of_chain(part, train), of_chain(part, test)
        try:
            serial = armdyn.identify(unknown(part.arm), log)
        except ArmdynError as error:
            serial = getattr(error, "fit", None)
        left = tested.tau if serial is None else rest(serial, tested)
        left = left @ part.log if len(part.log) == mechanism.arm.n else left
        squares[part.rows] += (left**2).sum(0)
        counts[part.rows] += 1
    whole = float((test.tau**2).sum())
    return fit, float(np.sqrt((rest(fit, test) ** 2).sum() / whole)), float(np.sqrt((squares / counts).sum() / whole))


def rest(fit: armdyn.Fit, log: Log) -> NDArray:
    """Torques (N, n) that the consistent model leaves, at the times of its prediction."""
    told = fit.predict(log, model="consistent")
    measured = np.column_stack([np.interp(told[0], log.t, tau) for tau in log.tau.T])
    return np.asarray(measured - told[1])


def rows(name: str, seeds: int) -> Iterator[tuple[float, float, str]]:
    for seed in range(seeds):
        rng = np.random.default_rng([41, list(MECHANISMS).index(name), seed])
        mechanism = MECHANISMS[name](rng)
        train, test = record(mechanism.arm, rng), record(mechanism.arm, rng)
        fit, own, chain = errors(mechanism, train, test)
        words = []
        for spring, truth in zip(fit.arm.springs, mechanism.arm.springs, strict=True):
            length = spring.rest_length / truth.rest_length - 1
            words.append(f"stiffness {spring.stiffness / truth.stiffness - 1:+.1%}, rest length {length:+.1%}")
        if name == "palletizer":
            encoders = ("waist", "shoulder", "elbow")
            R = np.linalg.inv(of_joints(mechanism.arm, encoders).maps.positions)
            check = armdyn.check_log(unknown(mechanism.arm), dataclasses.replace(train, q=train.q @ R.T))
            found = [str(f.kind) for f in check.findings if f.level != "note"]
            words.append(f"elbow's encoder for the crank's: {', '.join(found) or 'not noticed'}")
        yield own, chain, "; ".join(words)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1 if SMALL else 5)
    seeds = parser.parse_args().seeds
    warnings.simplefilter("ignore")
    print("| mechanism | seed | consistent error | as chains | ratio | |\n|---|---|---|---|---|---|")
    for name in list(MECHANISMS)[: 1 if SMALL else None]:
        for seed, (own, chain, words) in enumerate(rows(name, seeds)):
            print(f"| {name} | {seed} | {own:.2%} | {chain:.2%} | {own / chain:.2f} | {words} |", flush=True)


if __name__ == "__main__":
    main()
