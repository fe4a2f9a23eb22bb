"""The regressor of Lu and Meng (1993): sixteen parameters per link, moments about the centre of mass.

With the centre p of mass m and the inertia about it, a link's parameters are

    m, m p (3), m [px² py² pz² px py, px pz, py pz] (6), [Ixx Iyy Izz Ixy Ixz Iyz] (6)

where Ixy, Ixz, Iyz are products of inertia (+ integral of xy), opposite in sign to the tensor's
entries (erratum 6). The load may be counted as link n + 1, described in the tip frame.

Two derivations of one matrix, kept apart on purpose: the outward and inward iteration of section IV
(here), and the closed form from link Lagrangians of section III (`regressor16_closed`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armdyn.dynamics.newton_euler import LinkMotion, base_link_motion, outward
from armdyn.dynamics.regressors.regressor16_closed import closed_form, products_matrix
from armdyn.errors import ModelError, check_choice
from armdyn.kinematics.motion import Motion, motions
from armdyn.model.arm import Arm
from armdyn.model.mechanism import require_chain
from armdyn.model.quantities import Gravity, Q, Qd, Qdd
from armdyn.spatial import inertia as inertial
from armdyn.spatial.inertia import Inertia
from armdyn.trace.formula import Array, Symbol, ca, traced

NAMES = (
    *("m", "mpx", "mpy", "mpz", "mpxx", "mpyy", "mpzz", "mpxy", "mpxz", "mpyz"),
    *("Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz"),
)
SIZE = len(NAMES)
# Rows and columns of the six entries of a symmetric matrix, in the order of (106) and (112).
PAIRS = tuple(("xyz".index(row), "xyz".index(column)) for row, column in ((name[1], name[2]) for name in NAMES[-6:]))


def theta16(arm: Arm, load: Inertia | None = None) -> NDArray:
    """The arm's sixteen parameters per link: `inverse_dynamics = regressor16(...) @ theta16(arm)`.

    Parameters
    ----------
    arm : Arm
    load : Inertia, optional
        A load described in the tip frame, counted as link n + 1.

    Returns
    -------
    theta : ndarray, shape (16 n,) or (16 (n + 1),)

    Raises
    ------
    ModelError
        If a link has first moments without mass, and so no centre (as regrouped base parameters have).
    """
    bodies = [Inertia(row) for row in arm.trace_data("theta").reshape(arm.n, inertial.SIZE)]
    names = [f"link '{name}'" for name in arm.link_names]
    if load is not None:
        bodies, names = [*bodies, load], [*names, "load"]
    return np.concatenate([_theta16(body, name) for body, name in zip(bodies, names, strict=True)])


def _theta16(body: Inertia, name: str) -> NDArray:
    p, tensor = body.com, body.tensor_com
    if np.isnan(p).any():
        cause = f"{name} has first moments but no mass, so no centre of mass"
        raise ModelError(cause, where="theta16", remedy="use regressor")
    second = [body.mass * p[i] * p[k] for i, k in PAIRS]
    products = [tensor[i, k] if i == k else -tensor[i, k] for i, k in PAIRS]
    return np.array([body.mass, *body.first, *second, *products])


def parameter_names16(n: int, load: bool = False) -> list[str]:
    """Names of the entries of `theta16`: `m1, mpx1, ...`; a load has index n + 1."""
    return [f"{name}{i + 1}" for i in range(n + load) for name in NAMES]


def ten_from_sixteen() -> NDArray:
    """The matrix (10, 16) from a link's sixteen parameters to its ten of `arm.theta`."""
    L = np.zeros((inertial.SIZE, SIZE))
    L[inertial.MASS, 0] = 1.0
    L[inertial.FIRST, 1:4] = np.eye(3)
    for k, (i, j) in enumerate(PAIRS):
        entry = inertial.TENSOR[i, j]
        L[entry, 10 + k] = 1.0 if i == j else -1.0
        if i == j:  # Steiner: Ixx about the origin has m (py² + pz²) more
            L[entry, [4 + other for other in range(3) if other != i]] = 1.0
        else:
            L[entry, 4 + k] = -1.0
    return L


@traced(returns={"Y": "n, 16*n + 16*load"})
def regressor16(
    arm: Arm, q: Q, qd: Qd, qdd: Qdd, load: bool = False, form: str = "iteration", *, gravity: Gravity = None
) -> Array:
    """Torque regressor of Lu and Meng's sixteen parameters per link.

    Parameters
    ----------
    load : bool
        Whether sixteen columns for a load in the tip frame are appended, as link n + 1.
    form : {"iteration", "closed"}
        Outward and inward iteration, or closed form from link Lagrangians: equal numbers, and far more
        operations in the closed form.

    Returns
    -------
    Y : ndarray, shape (..., n, 16 n) or (..., n, 16 (n + 1))
        Columns in the order of `theta16`.

    References
    ----------
    Lu and Meng (1993), equations (66)-(85) with erratum 1; (30)-(48), (127)-(129) with errata 3-5.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> q, qd, qdd = np.ones((3, 2))
    >>> armdyn.regressor16(arm, q, qd, qdd).shape
    (2, 32)
    """
    forms = {"iteration": iteration, "closed": closed_form}
    check_choice("regressor16", "form", form, forms)
    return forms[form](arm, q, qd, qdd, load, gravity)


# -- outward iteration: what each parameter adds to a link's force and moment ------------------------------


def second_moment_matrix(H: Symbol) -> Symbol:
    """(110)-(114): m p x (H p) = Psi m [px² py² pz² px py, px pz, py pz]'."""
    Psi = ca.SX(3, 6)
    for k, (i, j) in enumerate(PAIRS):
        for a, b in {(i, j), (j, i)}:  # the monomial pa pb: p x (H p) takes e_a x (column b of H)
            Psi[:, k] += ca.cross(ca.SX(np.eye(3)[a]), H[:, b])
    return Psi


def force_columns(link: LinkMotion) -> Symbol:
    """(66)-(68), erratum 1: F = [vd, H] [m, m p], with H = [wd]x + w w' - |w|² 1, as 3 x 16."""
    return ca.horzcat(link.a, link.U, ca.SX(3, 12))


def moment_columns(link: LinkMotion) -> Symbol:
    """(75): N + p x F = [0, Phi, E] theta, with (70) E = B(wd) + [w]x B(w) and (73) Phi = [-[vd]x, Psi]."""
    E = products_matrix(link.wd) + ca.mtimes(ca.skew(link.w), products_matrix(link.w))
    return ca.horzcat(ca.SX(3, 1), -ca.skew(link.a), second_moment_matrix(link.U), E)


# -- inward iteration --------------------------------------------------------------------------------------


def iteration(arm: Arm, q: Symbol, qd: Symbol, qdd: Symbol, load: bool, gravity: Symbol) -> Symbol:
    """(66)-(85): carry force and moment columns inward; each joint takes what acts along its axis."""
    require_chain(arm, "regressor16")
    joints = motions(arm, q)
    links = outward(joints, qd, qdd, base_link_motion(gravity, None))
    F, N = _load_columns(arm, links[-1]) if load else (ca.SX(3, 0), ca.SX(3, 0))
    rows = []
    for m, link in zip(reversed(joints), reversed(links), strict=True):
        # (82), (84): the link's own columns stand before those of the links beyond it
        F, N = ca.horzcat(force_columns(link), F), ca.horzcat(moment_columns(link), N)
        rows.append(_along_joint(m, F, N))
        F, N = _to_parent(m, F, N)
    width = SIZE * (arm.n + load)
    return ca.vertcat(*(ca.horzcat(ca.SX(1, width - row.shape[1]), row) for row in reversed(rows)))


def _load_columns(arm: Arm, last: LinkMotion) -> tuple[Symbol, Symbol]:
    """Force and moment columns of a load in the tip frame, at the last link's origin in its axes (71)."""
    R, p = arm.tool
    tip = LinkMotion(*(ca.mtimes(R.T, x) for x in (last.w, last.wd, last.a + ca.mtimes(last.U, p))))
    F, N = ca.mtimes(R, force_columns(tip)), ca.mtimes(R, moment_columns(tip))
    return F, N + ca.mtimes(ca.skew(ca.SX(p)), F)


def _along_joint(m: Motion, F: Symbol, N: Symbol) -> Symbol:
    """(85): z N at the joint's point of a revolute joint, z F of a prismatic one."""
    axis = ca.SX(m.axis).T
    if not m.is_revolute:
        return ca.mtimes(axis, F)
    return ca.mtimes(axis, N + ca.mtimes(ca.skew(ca.SX(m.after)), F))


def _to_parent(m: Motion, F: Symbol, N: Symbol) -> tuple[Symbol, Symbol]:
    """(82), (84): rotate the columns into the parent's axes and move the moments to its origin."""
    N = N + ca.mtimes(ca.skew(m.offset), F)
    F, N = (ca.horzcat(*(m.to_parent(column) for column in ca.horzsplit(X))) for X in (F, N))
    return F, N + ca.mtimes(ca.skew(ca.SX(m.before)), F)
