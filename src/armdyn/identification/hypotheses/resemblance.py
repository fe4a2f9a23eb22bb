"""Whether measured torques resemble those of the arm as described: signs, units, order of columns, another arm.

Friction is in no description, so it is taken away first: what plain friction and an offset explain is removed
from both sides, joint by joint, and the remainders are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.hypotheses.finding import Finding, FindingKind, joint_name, reversing
from armdyn.identification.logs.corrections import LogCorrection
from armdyn.model.arm import Arm

COMPARED_TORQUE = 0.3  # a model's torque of at least this share of the measured one should resemble it
CERTAIN_TORQUE = 0.05  # of the largest torque: descriptions of joints with less are often wrong
STRANGE_LIKENESS = 0.5  # likeness below which a main joint's torque is not even of the described course
REVERSED_CORRELATION = -0.5  # correlation from which on a sign is wrong
ALIKE_CORRELATION = 0.8  # correlation from which on a factor between the two sides means something
UNEXPLAINED_SHARE = 0.5  # share of the torque beyond friction that the description may leave unexplained
MAIN_TORQUE = 0.2  # joints whose torque is a smaller share of the largest do not tell units
UNITS = ((1e3, "mN m instead of N m"), (1e-3, "kN m instead of N m"), (100.0, "N cm instead of N m"))
MOVING_SPEED = 0.05  # share of a joint's top speed, below which it may stand still
# Measured over described torque: currents and kN m are smaller, mN m and N cm far larger; descriptions in CAD are often
# of plastic instead of steel.
SMALL_FACTOR, TINY_FACTOR, HUGE_FACTOR = 0.5, 0.2, 20.0
CERTAIN_LIKENESS = 0.9  # likeness from which on such a factor is certain
UNIT_SLACK = 1.6  # a factor this far from a unit's is something else


class Samples(NamedTuple):
    """Motion and torques, all (N, n), through the same low-pass."""

    qd: NDArray
    direction: NDArray  # signs of velocities
    tau: NDArray

    @property
    def top(self) -> NDArray:
        """Speeds (n,) that each joint exceeds for a hundredth of the time."""
        return np.percentile(np.abs(self.qd), 99, axis=0)

    @property
    def moving(self) -> NDArray:
        """Mask (N, n) of joints that move: else dry friction may hold any torque."""
        return np.abs(self.qd) > MOVING_SPEED * self.top


class Resemblance(NamedTuple):
    """Measured against model torque beyond friction, joint by joint."""

    likeness: NDArray  # (n, n) correlation of the model's torque i with the measured torque j
    slopes: NDArray  # (n,) measured over model torque; nan where the model has none
    strong: NDArray  # (n,) of bool: joints whose model torque is not negligible
    sizes: NDArray  # (n,) rms of the measured torque beyond friction
    unexplained: float  # norm(measured - model) / norm(measured) over all joints


def resemblance(model: NDArray, samples: Samples) -> Resemblance:
    """Compare torques (N, n) of the described arm with measured ones, where joints move."""
    a, b = _beyond_friction(np.stack([model, samples.tau]), samples)
    squares = np.sum(a**2, axis=0)
    slopes = np.divide(np.sum(a * b, axis=0), squares, out=np.full(len(squares), np.nan), where=squares > 0)
    return Resemblance(
        correlations(a, b),
        slopes,
        a.std(axis=0) > COMPARED_TORQUE * b.std(axis=0),
        b.std(axis=0),
        float(np.linalg.norm(b - a)) / max(float(np.linalg.norm(b)), 1e-300),
    )


# Measured against model torque where the axes of joints have signs (n,).
Turned = Callable[[NDArray], Resemblance]


def objections(arm: Arm, compare: Turned) -> list[Finding]:
    """Return the findings against the log being one of this arm, if its description is right."""
    resemblance = compare(np.ones(arm.n))
    return _factor(arm, resemblance) or _unlike(arm, resemblance, compare)


def _factor(arm: Arm, resemblance: Resemblance) -> list[Finding]:
    """A factor that the main joints share: other units, or currents."""
    main = (np.diag(resemblance.likeness) > ALIKE_CORRELATION) & (
        resemblance.sizes > MAIN_TORQUE * resemblance.sizes.max()
    )
    if not main.any() or not main[int(np.argmax(resemblance.sizes))]:
        return []
    factor = float(np.exp(np.average(np.log(resemblance.slopes[main]), weights=resemblance.sizes[main])))
    if SMALL_FACTOR < factor < HUGE_FACTOR:
        return []
    units = [unit_name for unit, unit_name in UNITS if 1 / UNIT_SLACK < factor / unit < UNIT_SLACK]
    alike = float(np.average(np.diag(resemblance.likeness)[main], weights=resemblance.sizes[main]))
    sure = not TINY_FACTOR < factor < HUGE_FACTOR and alike > CERTAIN_LIKENESS
    text = (
        f"torques have the shape of those of arm '{arm.name}' as described, but {factor:.3g} times its size: "
        f"{units[0] if units else 'amperes, or another unit'}?"
    )
    correction = LogCorrection(drive_gain=(1 / factor,) * arm.n)
    hint = "of currents give the gain of each drive: one number for all is right on average alone"
    level = "reject" if sure else "warn"
    return [Finding(level, text, FindingKind.GAIN, correction=correction, value=factor, hint=hint)]


def _unlike(arm: Arm, resemblance: Resemblance, compare: Turned) -> list[Finding]:
    """Joints that are opposite to a description which the others follow; and descriptions of something else.

    A description that is merely wrong does not speak against a log that bodies of some kind explain.
    """
    likeness = np.diag(resemblance.likeness)
    main = resemblance.strong & (resemblance.sizes > CERTAIN_TORQUE * resemblance.sizes.max())
    if main.sum() > 1 and (likeness[main] < REVERSED_CORRELATION).all():
        text = (
            "the torques of all joints are opposite to the model's: does the arm hang where it is described to stand, "
            "or are all signs reversed?"
        )
        up = LogCorrection(gravity=tuple(0.0 - arm.gravity))
        return [Finding("reject", text, FindingKind.GRAVITY, correction=up, hint="or reverse all torques")]
    for j in np.flatnonzero(main & (likeness < REVERSED_CORRELATION)).tolist():
        others = main & (np.arange(arm.n) != j)
        if np.abs(likeness[others]).min(initial=1.0) > ALIKE_CORRELATION:
            text = (
                f"the torque of {joint_name(arm, j)} is opposite to the model's (correlation {likeness[j]:.2f}): sign "
                "reversed, or another arm?"
            )
            turned = np.diag(compare(np.where(np.arange(arm.n) == j, -1.0, 1.0)).likeness)
            axis = arm.coupling is None and turned[main].sum() > likeness[others].sum() - likeness[j]
            side = reversing(arm.n, [j])
            correction = LogCorrection(gear_ratio=side) if axis else LogCorrection(drive_gain=side)
            # A description that is off may have the other sign where weights nearly balance: the fit must tell.
            return [Finding("warn", text, FindingKind.SIGN, (j,), correction=correction)]
    if resemblance.unexplained <= UNEXPLAINED_SHARE:
        return []
    j = int(np.argmax(resemblance.sizes))
    strange = bool(
        (
            likeness[resemblance.strong & (resemblance.sizes > MAIN_TORQUE * resemblance.sizes.max())]
            < STRANGE_LIKENESS
        ).any()
    )
    text = (
        f"arm '{arm.name}' as described leaves {min(resemblance.unexplained, 99):.0%} of the torque beyond friction "
        f"unexplained (joint {j + 1} has {resemblance.slopes[j]:.2g} times its torque): "
        f"{'another arm, other columns, or' if strange else 'a payload, or'} a wrong description?"
    )
    level = "warn" if strange else "note"
    return [Finding(level, text, FindingKind.OTHER_ARM, hint="check which arm the log is of")]


def _beyond_friction(tau: NDArray, samples: Samples) -> NDArray:
    """Return the part of torques (k, N, n) that viscous and Coulomb friction and an offset cannot explain; zero for
    joints at rest.
    """
    left = np.zeros_like(tau)
    for j, k in enumerate(samples.moving.T):
        columns = np.stack([samples.qd[k, j], samples.direction[k, j], np.ones(np.count_nonzero(k))])
        length = np.sqrt(np.diag(columns @ columns.T))
        length[length == 0] = 1.0
        gram, pull = columns @ columns.T / np.outer(length, length), columns @ tau[:, k, j].T / length[:, None]
        shares = np.linalg.lstsq(gram, pull, rcond=1e-12)[0] / length[:, None]
        left[:, k, j] = tau[:, k, j] - shares.T @ columns
    return left


def correlations(a: NDArray, b: NDArray) -> NDArray:
    """Correlation (n, n) of every column of a with every column of b; zero for constants."""
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    size = np.outer(np.linalg.norm(a, axis=0), np.linalg.norm(b, axis=0))
    return np.divide(a.T @ b, size, out=np.zeros_like(size), where=size > 0)


def samples_of(parts: Iterable[Samples]) -> Samples:
    """Samples of several stretches together."""
    return Samples(*(np.vstack(columns) for columns in zip(*parts, strict=True)))
