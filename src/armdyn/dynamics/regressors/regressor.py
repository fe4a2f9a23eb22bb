"""The torque regressor: tau = Y(q, qd, qdd) theta, ten columns per link.

The wrench that accelerates a link is linear in its ten parameters; joint i feels it through its own
screw. So the screws of joints 1..j are carried into the axes of link j, where the parameters are
constant: one twist crosses each joint instead of ten wrenches (Atkeson, An, Hollerbach 1986, with
the roles of motion and force exchanged).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from armdyn.dynamics.bodies.ltdl import factorize
from armdyn.dynamics.bodies.velocity import Twist
from armdyn.dynamics.movable import require_movable
from armdyn.dynamics.newton_euler import LinkMotion, base_link_motion, outward
from armdyn.kinematics.dependents import coordinate_torques, joint_rates
from armdyn.kinematics.jacobian import jacobian
from armdyn.kinematics.motion import Motion, motions
from armdyn.model.arm import Arm
from armdyn.model.quantities import Gravity, Q, Qd, Qdd, Tau, Theta
from armdyn.spatial import inertia as inertial
from armdyn.trace.formula import Array, Matrix, Symbol, Vector, ca, traced


@dataclass(frozen=True, eq=False)
class AccelerationField:
    """Accelerations a + U p of a link's points p, in link axes: U = [wd]x + S - trace(S) 1 with S = w w'.

    `products` are the entries yz, xz, xy of the symmetric S.
    """

    a: Symbol
    wd: Symbol
    U: Symbol
    products: tuple[Symbol, Symbol, Symbol]

    @classmethod
    def of(cls, link: LinkMotion) -> AccelerationField:
        """The field of a link in motion."""
        w = link.w
        return cls(link.a, link.wd, link.U, (w[1] * w[2], w[0] * w[2], w[0] * w[1]))

    @cached_property
    def moments(self) -> dict[tuple[int, int], Symbol]:
        """Contribution of each tensor entry to the moment about the origin, the integral of r x (U r)."""
        wd, U = self.wd, self.U
        yz, xz, xy = self.products
        return {
            (0, 0): ca.vertcat(wd[0], xz, -xy),
            (1, 1): ca.vertcat(-yz, wd[1], xy),
            (2, 2): ca.vertcat(yz, -xz, wd[2]),
            (0, 1): ca.vertcat(-U[2, 0], U[2, 1], U[0, 0] - U[1, 1]),
            (0, 2): ca.vertcat(U[1, 0], U[2, 2] - U[0, 0], -U[1, 2]),
            (1, 2): ca.vertcat(U[1, 1] - U[2, 2], -U[0, 1], U[0, 2]),
        }

    def wrench(self, theta: Symbol) -> tuple[Symbol, Symbol]:
        """Force and moment about the origin that accelerate a body with the ten parameters `theta`."""
        m, h = theta[inertial.MASS], theta[inertial.FIRST]
        n = ca.cross(h, self.a)
        for (i, k), moment in self.moments.items():
            n += theta[int(inertial.TENSOR[i, k])] * moment
        return m * self.a + ca.mtimes(self.U, h), n

    def row(self, screw: Twist) -> Symbol:
        """The power that the link's inertial wrench does on a screw, by parameter: one row of ten.

        f = m a + U h and n = h x a + (tensor terms), so u.f + w.n = m u.a + h.(U'u + a x w) + ...
        """
        w, u = screw
        row = ca.SX.zeros(1, inertial.SIZE)
        row[inertial.MASS] = ca.dot(u, self.a)
        row[inertial.FIRST] = (ca.mtimes(self.U.T, u) + ca.cross(self.a, w)).T
        for (i, k), moment in self.moments.items():
            row[int(inertial.TENSOR[i, k])] = ca.dot(w, moment)
        return row


def own_screw(m: Motion) -> Twist:
    """Return how a link moves, in link axes, when its own joint moves at unit rate."""
    axis = ca.SX(m.axis)
    if m.is_revolute:
        return Twist(axis, ca.cross(axis, ca.SX(m.after)))
    return Twist(ca.SX.zeros(3), axis)


def carry_twist(m: Motion, screw: Twist) -> Twist:
    """A twist of the parent link, seen in and at the origin of the next link."""
    w = m.to_link(screw.w)
    return Twist(w, m.to_link(screw.u + ca.cross(screw.w, m.before)) + ca.cross(w, m.offset))


def screws(joints: list[Motion]) -> Iterator[dict[int, Twist]]:
    """For every link in turn the screws of the joints that move it, by joint."""
    links: list[dict[int, Twist]] = []
    for j, m in enumerate(joints):
        parent = links[m.parent] if m.parent >= 0 else {}
        links.append({i: carry_twist(m, screw) for i, screw in parent.items()} | {j: own_screw(m)})
        yield links[-1]


def regressor_matrix(joints: list[Motion], rows: Iterable[Callable[[Twist], Symbol]]) -> Symbol:
    """The N x 10 N matrix of each link's rows of ten, by screw; a joint does not feel links that it does not move."""
    Y = ca.SX(len(joints), inertial.SIZE * len(joints))
    for j, (row, path_screws) in enumerate(zip(rows, screws(joints), strict=True)):
        for i, screw in path_screws.items():
            Y[i, inertial.entries(j)] = row(screw)
    return Y


@traced(returns={"Y": "n, 10*joints"})
def regressor(arm: Arm, q: Q, qd: Qd, qdd: Qdd, *, gravity: Gravity = None) -> Array:
    """Torque regressor: `inverse_dynamics(arm, q, qd, qdd) = Y @ arm.theta`.

    The rigid arm only: `full_regressor` appends columns of friction, rotors, springs and offsets. A wrench on the tip
    adds `wrench_columns(arm, q) @ wrench`.

    Returns
    -------
    Y
        Columns in the order of `arm.theta`. Columns 10 j to 10 j + 9 are exactly zero in the rows of
        the joints beyond link j.

    Examples
    --------
    >>> arm = armdyn.arms.planar2()
    >>> q, qd, qdd = np.ones((3, 2))
    >>> Y = armdyn.regressor(arm, q, qd, qdd)
    >>> bool(np.allclose(Y @ arm.theta, armdyn.inverse_dynamics(arm, q, qd, qdd)))
    True
    """
    joints = motions(arm, q)
    links = outward(joints, joint_rates(arm, qd), joint_rates(arm, qdd), base_link_motion(gravity, None))
    return coordinate_torques(arm, regressor_matrix(joints, [AccelerationField.of(link).row for link in links]))


class ForwardDynamicsRegressor(NamedTuple):
    """Result of `forward_dynamics_regressor`."""

    qdd: Vector
    M: Matrix


@traced(check=require_movable)
def forward_dynamics_regressor(
    arm: Arm, q: Q, qd: Qd, tau: Tau, *, theta: Theta = None, gravity: Gravity = None
) -> ForwardDynamicsRegressor:
    """Joint accelerations and mass matrix from the regressor and (estimated) parameters.

    The way of Lu and Meng, whose point is that an adaptive controller has the regressor at hand;
    `forward_dynamics` is the one to use otherwise.

    Parameters
    ----------
    theta
        Inertial parameters instead of the arm's, such as an estimate.

    References
    ----------
    Lu and Meng (1993), section V-B, steps 1-4.
    """
    n = arm.n

    def torque(qdd: Any) -> Any:
        return ca.mtimes(regressor(arm, q, qd, qdd, gravity=gravity), theta)

    bias = torque(ca.SX.zeros(n))  # step 1
    M = ca.horzcat(*(torque(ca.SX.eye(n)[:, i]) - bias for i in range(n)))  # steps 2, 3
    return ForwardDynamicsRegressor(factorize(M).solve(tau - bias), M)  # step 4


@traced(returns={"W": "n, 6"})
def wrench_columns(arm: Arm, q: Q) -> Array:
    """Columns of a wrench on the tip: `inverse_dynamics(..., wrench=w) = regressor(...) @ theta + W @ w`.

    The non-zero boundary conditions of Lu and Meng's inward iteration: where the load touches something, a measured
    wrench is a known torque W @ w, an unknown constant one has six parameters more.

    Returns
    -------
    W
        -J' in tip axes.

    References
    ----------
    Lu and Meng (1993), section IV-B.
    """
    return -jacobian(arm, q, axes="tip").T
