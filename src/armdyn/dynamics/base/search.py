"""The two ways to base parameters: by numbers and by rules."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.reduction import Reduction, arm_size, parameter_sizes, preference, reduce_columns, reduce_null
from armdyn.dynamics.base.rules import null_directions
from armdyn.dynamics.regressors.joint_columns import TERMS, full_regressor
from armdyn.errors import ArmdynError
from armdyn.model.arm import STANDARD_GRAVITY, Arm
from armdyn.model.mechanism import require_free_joints
from armdyn.spatial import inertia as inertial
from armdyn.trace.backend import interpreting


def by_numbers(arm: Arm, terms: str, joint_terms: tuple[str, ...], tolerance: float) -> Reduction:
    """The reduction of regressors at random states, one above the other, all in units of the arm's size."""
    unit = arm_size(arm)
    Y = _random_rows(arm, terms, joint_terms, unit)
    length = np.linalg.norm(Y, axis=0)
    sizes = parameter_sizes(arm, unit)
    # What a joint's own parameters weigh is not for the arm's size to say: as much as a link's.
    joints = length[len(sizes) :]
    longest = (length[: len(sizes)] * sizes).max() or 1.0
    sizes = np.concatenate([sizes, np.divide(longest, joints, out=np.ones_like(joints), where=joints > 0)])
    what = f"base parameters of arm '{arm.name}'"
    return reduce_columns(Y, sizes, preference(arm, len(joint_terms)), tolerance, what)


def _random_rows(arm: Arm, terms: str, joint_terms: tuple[str, ...], unit: float) -> NDArray:
    """Regressors (rows, 10 n + n k) of random states, rows of sliding joints as moments at the arm's size."""
    # Forty states give at least four times as many rows as there are columns a joint can tell apart.
    states = 40 + 2 * arm.n
    rng = np.random.default_rng(0)
    slides = np.array([joint.kind == "prismatic" for joint in arm.coordinate_joints])
    span = np.where(slides, unit, 1.0)
    q = rng.uniform(-1, 1, (states, arm.n)) * np.where(slides, unit, np.pi)
    # Rates at which inertia and gravity weigh the same; none if gravity alone counts.
    rate = np.sqrt(np.linalg.norm(STANDARD_GRAVITY) / unit) * (terms == "full")
    qd, qdd = rng.uniform(-1, 1, (2, states, arm.n)) * span * np.array([rate, rate**2])[:, None, None]
    with interpreting():  # so few states are done before a compiler would be
        Y = full_regressor(arm, q, qd, qdd, terms=joint_terms) * span[:, None]
    return Y.reshape(-1, Y.shape[-1])


def by_rules(arm: Arm, terms: str, joint_terms: tuple[str, ...]) -> Reduction:
    """The reduction of the directions that the geometric rules call unidentifiable."""
    require_free_joints(arm, "base_parameters by rules", "use method='numeric'")
    if "rotor" in joint_terms and arm.coupling is not None:
        cause = f"the rules do not cover coupled drives, as arm '{arm.name}' has"
        raise ArmdynError(cause, where="base_parameters", remedy="use method='numeric'")
    links = inertial.SIZE * arm.n_joints
    N = null_directions(arm, terms, rotors="rotor" in joint_terms)
    every = np.zeros((links + arm.n_joints * len(joint_terms), N.shape[1]))
    every[:links] = N[:links]
    unfelt = []
    for k, term in enumerate(joint_terms):
        block = range(links + arm.n_joints * k, links + arm.n * (k + 1))
        if term == "rotor":
            every[block] = N[links:]
        elif terms == "gravity" and not TERMS[term].at_rest:
            unfelt += [np.eye(len(every))[i] for i in block]
    return reduce_null(np.column_stack([every, *unfelt]), preference(arm, len(joint_terms)))
