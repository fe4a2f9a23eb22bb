"""What the drives of an arm give: links by armdyn's kernels; friction, rotors and structure by simple models."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import armdyn
from armdyn import Arm
from zoo.motion import Motion

RATE = 1000.0  # at which torques are computed [Hz]
STRUCTURES = ("spring", "hose", "parallelogram", "flexible", "backlash")


class Friction(NamedTuple):
    """Of the drives' shafts, all (n,)."""

    viscous: NDArray
    sublinear: NDArray  # times arctan(v / 0.3)
    coulomb: NDArray
    width: NDArray  # speed at which its direction has turned [rad/s or m/s]
    stribeck: NDArray
    asymmetry: NDArray
    load: NDArray
    harmonic: NDArray
    phase: NDArray
    offset: NDArray
    warm: float  # share of friction lost when warm

    def torque(self, q: NDArray, v: NDArray, rigid: NDArray, t: NDArray) -> NDArray:
        side = np.tanh(v / self.width)
        level = self.coulomb + self.stribeck * np.exp(-((v / 0.08) ** 2)) + self.load * np.abs(rigid)
        level = level + self.harmonic * np.cos(3 * q + self.phase)
        moving = self.viscous * v + self.sublinear * np.arctan(v / 0.3) + side * level
        cooler = 1 - self.warm * (1 - np.exp(-t / 40.0))
        return moving * cooler[:, None] + self.asymmetry * side**2 + self.offset


@dataclass(frozen=True)
class Plant:
    """An arm with its drives; `coupling @ q` are the turns of their shafts."""

    arm: Arm
    friction: Friction
    rotors: NDArray
    coupling: NDArray
    structure: str = ""  # one of STRUCTURES, or none
    joint: int = 0  # which has it
    size: float = 0.0  # of the structure's torque, or rad of play
    phase: float = 0.0
    sizes: NDArray = field(default_factory=lambda: np.empty(0))  # of the torques of the first motion

    def torque(self, q: NDArray, v: NDArray, a: NDArray, t: NDArray) -> NDArray:
        """At the joints [N m or N]."""
        rigid = armdyn.inverse_dynamics(self.arm, q, v, a)
        if self.structure in ("flexible", "backlash"):
            q, v, a = self._link(q, v, a, rigid)
            rigid = armdyn.inverse_dynamics(self.arm, q, v, a)
        G = self.coupling
        shafts = self.friction.torque(q @ G.T, v @ G.T, rigid, t) + self.rotors * (a @ G.T)
        tau = rigid + shafts @ G
        return tau + self._structure(q, a)

    def _link(self, q: NDArray, v: NDArray, a: NDArray, rigid: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """Where the link of the joint is behind a soft gear or play."""
        from scipy.signal import butter, sosfiltfilt

        twist = rigid[:, self.joint] / self.sizes[self.joint]
        twist = twist if self.structure == "flexible" else np.tanh(5 * twist)
        lag = -self.size * sosfiltfilt(butter(2, 12.0, fs=RATE, output="sos"), twist)
        out = [x.copy() for x in (q, v, a)]
        for x in out:
            x[:, self.joint] += lag
            lag = np.gradient(lag, 1 / RATE)
        return out[0], out[1], out[2]

    def _structure(self, q: NDArray, a: NDArray) -> NDArray:
        tau = np.zeros_like(q)
        j = self.joint
        if self.structure == "spring":
            tau[:, j] = self.size * q[:, j]
        elif self.structure == "hose":
            tau[:, j] = self.size * (np.sin(q[:, j] + self.phase) + 0.5 * np.cos(2 * q[:, j]))
        elif self.structure == "parallelogram":
            other = j - 1 if j else 1
            pull = self.size * (np.cos(q[:, j] + q[:, other] + self.phase) + 0.02 * (a[:, j] + a[:, other]))
            tau[:, j] += pull
            tau[:, other] += pull
        return tau


def make_plant(
    arm: Arm,
    motion: Motion,
    duration: float,
    sensor: bool,
    rng: np.random.Generator,
    coupled: bool | None = None,
    structure: str | None = None,
) -> Plant:
    """Drives and friction in proportion to the torques that a motion needs; a coupled wrist and structure if asked."""
    t = np.arange(0, duration, 0.02)
    q, v, a = motion(t)
    rigid = armdyn.inverse_dynamics(arm, q, v, a)
    own = np.sqrt(np.mean(rigid**2, axis=0))
    near = np.convolve(np.pad(own, 1, "edge"), [1 / 3] * 3, "valid")
    sizes = np.sqrt(np.maximum(own, 0.02 * own.max()) * (0.3 * own + 0.7 * near))
    n = arm.n
    share = rng.uniform(0.01, 0.06) if sensor else np.exp(rng.uniform(np.log(0.05), np.log(0.35)))
    top = np.maximum(np.abs(v).max(axis=0), 1e-3)

    def some(chance: float, least: float, most: float) -> NDArray:
        return (rng.random() < chance) * share * sizes * rng.uniform(least, most, n)

    friction = Friction(
        viscous=share * sizes * rng.uniform(0.1, 1.0, n) / np.maximum(top, 0.3),
        sublinear=some(0.4, 0.1, 0.6),
        coulomb=share * sizes * rng.uniform(0.4, 1.2, n),
        width=np.exp(rng.uniform(np.log(0.002), np.log(0.02))) * np.ones(n),
        stribeck=some(0.4, 0.1, 0.6),
        asymmetry=some(0.3, -0.2, 0.2),
        load=(rng.random() < 0.4) * (not sensor) * rng.uniform(0.02, 0.15, n),
        harmonic=some(0.2, 0.05, 0.3),
        phase=rng.uniform(-3, 3, n),
        offset=some(0.6, -0.5, 0.5),
        warm=(rng.random() < 0.3) * rng.uniform(0.05, 0.3),
    )
    M = np.asarray(armdyn.mass_matrix(arm, q[:: max(1, len(q) // 50)]))
    inertia = np.einsum("kii->ki", M).mean(0)
    rotors = np.zeros(n) if sensor else inertia * rng.uniform(0.05, 1.5, n)
    coupling = np.eye(n)
    if n == 6 and not sensor:
        coupling, friction, sizes = _wrist(friction, sizes, top, rng, coupled)
    drawn = str(rng.choice(STRUCTURES)) if rng.random() < 0.15 else ""
    structure = drawn if structure is None else structure
    turning = [j for j, joint in enumerate(arm.joints) if joint.kind == "revolute"]
    j = int(rng.choice(turning))
    size = rng.uniform(0.003, 0.02) if structure in ("flexible", "backlash") else sizes[j] * rng.uniform(0.1, 0.4)
    return Plant(arm, friction, rotors, coupling, structure, j, size, rng.uniform(-3, 3), sizes)


def _wrist(
    friction: Friction, sizes: NDArray, top: NDArray, rng: np.random.Generator, coupled: bool | None
) -> tuple[NDArray, Friction, NDArray]:
    """One in three wrists is coupled: a drive turns with two neighbours, and its friction acts on both."""
    n = len(sizes)
    coupling = np.eye(n)
    drawn = bool(rng.random() < 0.35)
    if not (drawn if coupled is None else coupled):
        return coupling, friction, sizes
    i = int(rng.choice([4, 4, 3]))
    coupling[i + 1, i] = rng.choice([-1.0, 1.0])
    k = np.isin(np.arange(n), [i, i + 1])
    sizes = np.where(k, np.maximum(sizes, 0.05 * sizes.max()), sizes)
    friction = friction._replace(
        coulomb=np.where(k, sizes * rng.uniform(0.25, 0.6, n), friction.coulomb),
        viscous=np.where(k, sizes * rng.uniform(0.1, 0.4, n) / np.maximum(top, 0.3), friction.viscous),
    )
    return coupling, friction, sizes
