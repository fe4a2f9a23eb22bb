"""Arms that are easily taken for each other: those of the library, and lengths of others that are sold beside them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from armdyn.errors import ArmdynError, ignore_warnings
from armdyn.model.arm import Arm

# Lengths d1, a2, a3, d4, d5, d6 of UR arms that the library lacks, from the maker's tables of DH parameters [m].
UR_LENGTHS = {
    "ur3": (0.1519, -0.24365, -0.21325, 0.11235, 0.08535, 0.0819),
    "ur3e": (0.15185, -0.24355, -0.2132, 0.13105, 0.08535, 0.0921),
    "ur10e": (0.1807, -0.6127, -0.57155, 0.17415, 0.11985, 0.11655),
    "ur16e": (0.1807, -0.4784, -0.36, 0.17415, 0.11985, 0.11655),
}


def sister_arms(arm: Arm) -> Iterator[tuple[str, Arm]]:
    """Yield names and arms with the same kinds of joints, all that are known."""
    kinds = [joint.kind for joint in arm.joints]
    for name, other in _known_arms():
        if [joint.kind for joint in other.joints] == kinds and other.n == arm.n:
            yield name, other


def _known_arms() -> Iterator[tuple[str, Arm]]:
    from armdyn import arms

    for name in arms.__all__:
        try:
            with ignore_warnings():
                other = getattr(arms, name)()
        except (ArmdynError, TypeError):
            continue
        if isinstance(other, Arm):
            yield name, other
    yield from ((name, ur_arm(name)) for name in UR_LENGTHS)


def ur_arm(name: str) -> Arm:
    """The frames of a UR arm, without bodies."""
    d1, a2, a3, d4, d5, d6 = UR_LENGTHS[name]
    turns = np.array([1, 0, 0, 1, -1, 0]) * np.pi / 2
    rows = zip((0.0, a2, a3, 0.0, 0.0, 0.0), turns, (d1, 0.0, 0.0, d4, d5, d6), strict=True)
    table = [{"kind": "R", "a": a, "alpha": float(alpha), "d": d, "theta": 0.0} for a, alpha, d in rows]
    return Arm.from_dh(table, name=name)
