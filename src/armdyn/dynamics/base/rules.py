"""Base parameters from the arm's geometry alone: no random states, no regressor.

The torques do not feel a change of parameters exactly when it changes neither the kinetic energy nor
(but for a constant) the potential energy at any state. Along a chain or a tree of free joints that can be
asked joint by joint. A change d of link i's parameters can be undone by one of its parent if

* it has no inertia along the joint: S'I(d) S = 0 and S'I(d) v = 0 for every velocity v of the parent,
* its energy at velocities of the parent does not depend on q_i: v'(dI/dq_i) v = 0, and
* neither does its potential energy.

Each condition is linear in d. What the parent can do enters only through three linear spans (of its
velocities v, of their products v v', of gravity in its axes), and turning or sliding a joint closes a
span under that joint's screw. So the dimension found for a link is the number of base parameters it
contributes, and its complement is carried to the parent. For a revolute joint in general position
that leaves Gautier and Khalil's (1990) seven, dropping m, m z and Ixx + Iyy in joint axes; for a
prismatic one four, dropping the tensor. The first links of a chain keep fewer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.base.reduction import (
    DEPENDENT_COLUMN_RATIO,
    Reduction,
    arm_size,
    eliminate,
    parameter_sizes,
    preference,
    reduce_null,
)
from armdyn.dynamics.regressors.joint_columns import TERMS
from armdyn.errors import ArmdynError, ModelError
from armdyn.model.arm import Arm, Segment
from armdyn.model.mechanism import require_free_joints
from armdyn.precision import NEGLIGIBLE
from armdyn.spatial import inertia as inertial
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.rotation import skew
from armdyn.spatial.transform import inverse, transform


@dataclass(frozen=True, eq=False)
class LinkReach:
    """Motions that a link can make: orthonormal columns that span its velocities [w, u], their products, gravity."""

    velocities: NDArray  # (6, a)
    products: NDArray  # (36, b)
    gravity: NDArray  # (3, c)


@dataclass(frozen=True, eq=False)
class LinkRule:
    """Parts of one link, in joint axes at the joint's point, that torques depend on, and those that they do not."""

    observed: NDArray  # (rank, 10 + 1): rows over the ten parameters and the rotor's inertia
    carried: NDArray  # (10 + 1, d): changes that the link before can undo


def link_rules(arm: Arm, terms: str = "full", rotors: bool = False) -> list[LinkRule]:
    """The rule of every link, from the base; without rotors the last entry of a change is zero."""
    base = LinkReach(np.zeros((6, 0)), np.zeros((36, 0)), _span([_exact_vector(arm.gravity)]))
    reaches: list[LinkReach] = []
    rules = []
    # In units of the arm's own size, so that a small arm's lengths are not taken for round-off.
    unit = arm_size(arm)
    for segment, parent in zip((_exact(segment, unit) for segment in arm.segments), arm.parents, strict=True):
        screw = np.array([0, 0, 1, 0, 0, 0.0] if segment.kind == "revolute" else [0, 0, 0, 0, 0, 1.0])
        carried = _across(segment, base if parent < 0 else reaches[parent], screw)
        rows = [_weight_row(g, screw) for g in carried.gravity.T]
        if terms == "full":
            rows += _energy_rows(carried, screw)
        if not rotors:
            rows.append(np.eye(inertial.SIZE + 1)[-1])
        rules.append(_rule(_span(rows).T, np.append(parameter_sizes(arm, unit)[: inertial.SIZE], unit**2)))
        reaches.append(_seen_from(_moved_by_joint(carried, screw), segment.R_after, segment.p_after))
    return rules


def null_directions(arm: Arm, terms: str = "full", rotors: bool = False) -> NDArray:
    """Directions of theta (and of the n rotor inertias behind it, if asked for) that move no torque.

    Columns: a change that a link carries off and the link before it undoes.
    """
    n, size = arm.n_joints, inertial.SIZE
    columns = []
    for i, (segment, rule) in enumerate(zip(arm.segments, link_rules(arm, terms, rotors), strict=True)):
        into_link = inverse(transform(segment.R_after, segment.p_after))
        into_parent = transform(segment.R_before, segment.p_before)
        for change in rule.carried.T:
            body = Inertia(change[:size])
            column = np.zeros((size + rotors) * n)
            column[inertial.entries(i)] = body.moved(into_link).theta
            if arm.parents[i] >= 0:
                column[inertial.entries(arm.parents[i])] = -body.moved(into_parent).theta
            if rotors:
                column[size * n + i] = change[size]
            columns.append(column)
    return np.array(columns).reshape(-1, (size + rotors) * n).T


def base_counts(arm: Arm) -> list[int]:
    """Number of base parameters that each link contributes; their sum is `base_parameters(arm).count`."""
    return [len(rule.observed) - 1 for rule in link_rules(arm)]  # one row says that there is no rotor


def mayeda_count(arm: Arm) -> int:
    """Number of base parameters of a revolute arm of parallel and perpendicular axes: 7 n - 4 b.

    b is the number of joints in the first cluster of parallel axes; two fewer (all of them m x and m y
    of link 1) if gravity is along the first axis.

    Raises
    ------
    ModelError
        If a joint is prismatic or two successive axes are neither parallel nor perpendicular.

    References
    ----------
    Mayeda, Yoshida, Osuka (1990), as quoted by Kapadia (1995), section 2.3, with erratum 6.
    """
    axes = []
    R = np.eye(3)
    for joint, segment in zip(arm.joints, arm.segments, strict=True):
        if joint.kind != "revolute":
            cause = f"the rule is for revolute arms, but joint '{joint.name}' slides"
            raise ModelError(cause, where="mayeda_count", names=(joint.name,))
        R = R @ segment.R_before
        axes.append(R[:, 2])
        R = R @ segment.R_after
    turns = [np.arctan2(np.linalg.norm(np.cross(a, b)), abs(a @ b)) for a, b in pairwise(axes)]
    for joint, angle in zip(arm.joints[1:], turns, strict=True):
        if min(angle, np.pi / 2 - angle) > DEPENDENT_COLUMN_RATIO:
            cause = (
                f"joint '{joint.name}' is neither parallel nor perpendicular to the one before (angle "
                f"{np.degrees(angle):.3g} degrees)"
            )
            raise ModelError(cause, where="mayeda_count", names=(joint.name,))
    first = 1 + next((k for k, angle in enumerate(turns) if angle > 1), len(turns))
    weight = float(np.linalg.norm(arm.gravity))
    along = float(np.linalg.norm(np.cross(arm.gravity, axes[0]))) <= DEPENDENT_COLUMN_RATIO * weight
    return 7 * arm.n - 4 * first - (2 if along else 0)


def _exact_vector(v: NDArray) -> NDArray:
    """A vector without components that are zero but for rounding."""
    return np.where(np.abs(v) < DEPENDENT_COLUMN_RATIO * np.abs(v).max(), 0.0, v)


def _exact(segment: Segment, unit: float) -> Segment:
    """A segment with right angles made exact where files round them, lengths in the unit."""

    def snapped(R: NDArray) -> NDArray:
        near = np.round(R)
        return np.where(np.abs(R - near) < DEPENDENT_COLUMN_RATIO, near, R)

    kind, R_before, p_before, R_after, p_after = segment
    return Segment(kind, snapped(R_before), p_before / unit, snapped(R_after), p_after / unit)


# -- spans ---------------------------------------------------------------------------------------------------


def _span(vectors: list[NDArray]) -> NDArray:
    """Orthonormal columns spanning the vectors; round-off does not count."""
    columns = np.array([v.ravel() for v in vectors]).T
    length = np.linalg.norm(columns, axis=0)
    columns = columns[:, length > NEGLIGIBLE * length.max(initial=0.0)]
    U, s, _ = np.linalg.svd(columns, full_matrices=False)
    return U[:, s > NEGLIGIBLE * s.max(initial=0.0)]


def _close(vectors: NDArray, generator: Callable[[NDArray], NDArray]) -> NDArray:
    """The smallest span that contains the columns and is closed under the generator of a joint's motion."""
    if not vectors.shape[1]:
        return vectors
    span = _span(list(vectors.T))
    while True:
        grown = _span([*span.T, *(generator(v) for v in span.T)])
        if grown.shape[1] == span.shape[1]:
            return span
        span = grown


def _commutator(screw: NDArray) -> NDArray:
    """The matrix (6, 6) of the motion cross product with a screw [w, u]."""
    W, U = skew(screw[:3]), skew(screw[3:])
    return np.block([[W, np.zeros((3, 3))], [U, W]])


def _seen_from(reach: LinkReach, R: NDArray, p: NDArray) -> LinkReach:
    # Twists at a frame's origin, seen from another frame at p with axes R.
    X = np.block([[R.T, np.zeros((3, 3))], [-R.T @ skew(p), R.T]])
    products = [(X @ w.reshape(6, 6) @ X.T).ravel() for w in reach.products.T]
    return LinkReach(X @ reach.velocities, np.array(products).reshape(-1, 36).T, R.T @ reach.gravity)


def _across(segment: Segment, parent: LinkReach, screw: NDArray) -> LinkReach:
    """Return the motions of the parent, from the joint's moving side at every joint position."""
    moved = _seen_from(parent, segment.R_before, segment.p_before)
    D = _commutator(screw)
    return LinkReach(
        _close(moved.velocities, lambda v: D @ v),
        _close(moved.products, lambda w: _rate(D, w)),
        _close(moved.gravity, lambda g: D[:3, :3] @ g),
    )


def _rate(D: NDArray, product: NDArray) -> NDArray:
    """Return how a product v v' changes with the joint's position."""
    half = D @ product.reshape(6, 6)
    return (half + half.T).ravel()


def _moved_by_joint(reach: LinkReach, screw: NDArray) -> LinkReach:
    """Return the motions of the link itself: its joint adds its own screw."""
    mixed = [_symmetric(v, screw) for v in reach.velocities.T]
    return LinkReach(
        _span([*reach.velocities.T, screw]),
        _span([*reach.products.T, *mixed, np.outer(screw, screw)]),
        reach.gravity,
    )


def _symmetric(a: NDArray, b: NDArray) -> NDArray:
    return np.outer(a, b) + np.outer(b, a)


# -- conditions on a change of parameters ----------------------------------------------------------------------


def _energy_rows(reach: LinkReach, screw: NDArray) -> list[NDArray]:
    """Rows that must vanish for a change to have no kinetic effect along the joint."""
    D = _commutator(screw)
    row = _energy_row(np.outer(screw, screw))
    row[-1] = 1.0  # a rotor adds its inertia to the link's along the joint
    coupled = [_energy_row(_symmetric(v, screw)) for v in reach.velocities.T]
    return [row, *coupled, *(_energy_row(_rate(D, w).reshape(6, 6)) for w in reach.products.T)]


def _energy_row(W: NDArray) -> NDArray:
    """v'I(d) v as a row over d, for a symmetric W = v v' of twists: m u.u + 2 h.(u x w) + w.I w."""
    row = np.zeros(inertial.SIZE + 1)
    row[inertial.MASS] = np.trace(W[3:, 3:])
    B = W[3:, :3]
    row[inertial.FIRST] = 2 * np.array([B[1, 2] - B[2, 1], B[2, 0] - B[0, 2], B[0, 1] - B[1, 0]])
    np.add.at(row, inertial.TENSOR, W[:3, :3])
    return row


def _weight_row(g: NDArray, screw: NDArray) -> NDArray:
    """Rate of the potential energy along the joint, as a row over d."""
    row = np.zeros(inertial.SIZE + 1)
    row[inertial.MASS] = screw[3:] @ g
    row[inertial.FIRST] = np.cross(g, screw[:3])
    return row


def _rule(rows: NDArray, sizes: NDArray) -> LinkRule:
    """Row space and kernel in echelon form, so that the changes are as simple as they can be."""
    # From the right: Izz and the products become pivots, so the changes are in m, m z and Ixx + Iyy.
    observed, pivots = eliminate(rows, reversed(range(rows.shape[1])))
    observed[np.abs(observed) < 1e-11] = 0.0
    observed = observed * sizes[pivots][:, None] / sizes
    free = [k for k in range(rows.shape[1]) if k not in pivots]
    carried = np.zeros((rows.shape[1], len(free)))
    carried[free, range(len(free))] = 1.0
    carried[pivots] = -observed[:, free]
    return LinkRule(observed, carried)


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
