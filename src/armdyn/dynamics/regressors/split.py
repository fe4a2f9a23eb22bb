"""Known and unknown parameters: regressors of what is to be estimated, torques of what is known.

In general the inertial parameters are theta = theta_known + S phi with a few unknown numbers phi. Lu and
Meng's split (equations 15-18) into known and unknown entries of theta is the case where S picks entries;
a mass at a known centre, or the ten parameters of a payload at the tip, are others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.dynamics.regressors.adaptive_regressor import adaptive_regressor, adaptive_torque
from armdyn.dynamics.regressors.regressor import regressor
from armdyn.errors import ArmdynError, ShapeError, check_choice
from armdyn.frozen import PartOf
from armdyn.model.arm import Arm
from armdyn.model.quantities import A, Gravity, Q, Qd, Qdd, Theta, TipWrench, V
from armdyn.spatial import inertia as inertial
from armdyn.spatial.inertia import Inertia
from armdyn.trace.formula import Array, Vector, ca, traced

# Physical quantities of a link and the entries of theta that contain them: mass and centre enter first and
# second moments, as those are about the frame's origin; J are the moments about the centre of mass.
PHYSICAL = {
    "mass": inertial.NAMES,
    "px": ("mx", "Iyy", "Izz", "Ixy", "Ixz"),
    "py": ("my", "Ixx", "Izz", "Ixy", "Iyz"),
    "pz": ("mz", "Ixx", "Iyy", "Ixz", "Iyz"),
    **{f"J{pair}": (f"I{pair}",) for pair in ("xx", "yy", "zz", "xy", "xz", "yz")},
}


@dataclass(frozen=True, eq=False)
class Split:
    """`theta = theta_known + S phi`: what is known of an arm, and the directions of what is not.

    `phi` is the arm's own value of the unknowns, NaN where the arm does not know.
    """

    arm: Arm
    names: tuple[str, ...]
    S: NDArray  # (10 n, u)
    theta_known: NDArray  # (10 n,)
    phi: NDArray  # (u,)

    name = PartOf[str]("arm.name", "The arm's name.")

    def theta(self, phi: ArrayLike) -> NDArray:
        """Inertial parameters (..., 10 n) for unknowns (..., u)."""
        values = np.asarray(phi, float)
        if values.shape[-1:] != self.phi.shape:
            raise ShapeError(where="split", expected=f"phi of shape (..., {len(self.phi)})", got=values.shape)
        return self.theta_known + values @ self.S.T

    def regressor(self, q: Any, qd: Any, qdd: Any, **options: Any) -> Any:
        """`Y` (..., n, u) and `tau` (..., n) with inverse_dynamics = Y @ phi + tau; a `wrench=` is in tau."""
        return split_regressor(self, q, qd, qdd, **options)

    def adaptive_regressor(self, q: Any, qd: Any, v: Any, a: Any, **options: Any) -> Any:
        """`Y` (..., n, u) and `tau` (..., n) with M a + C v + g = Y @ phi + tau; a `wrench=` is in tau."""
        return split_adaptive_regressor(self, q, qd, v, a, **options)

    def __and__(self, other: Split) -> Split:
        """Both splits of one arm together: the unknowns of one, then of the other."""
        if other.arm is not self.arm:
            raise ArmdynError(where="split", expected="two splits of the same arm")
        S, phi = np.hstack([self.S, other.S]), np.concatenate([self.phi, other.phi])
        if np.linalg.matrix_rank(S) < S.shape[1]:
            both = ", ".join([*self.names, *other.names])
            cause = f"the unknowns {both} are not independent"
            raise ArmdynError(cause, where="split", remedy="is one of them named twice?")
        # What the other counts as known still contains what this one does not know.
        known = self.theta_known + other.theta_known - self.arm.theta
        unknown = np.isnan(self.arm.theta)
        known[unknown] = np.where(np.isnan(self.theta_known), other.theta_known, self.theta_known)[unknown]
        return Split(self.arm, (*self.names, *other.names), S, known, phi)

    def __repr__(self) -> str:
        return f"<Split of {self.arm!r}: unknown {', '.join(self.names)}>"

    # -- what traced functions ask of it (see `armdyn.trace.traced.Subject`) -----------------------------

    @property
    def trace_sizes(self) -> Mapping[str, int]:
        """Sizes that shapes may mention."""
        return {**self.arm.trace_sizes, "u": len(self.phi)}

    @property
    def trace_key(self) -> str:
        """Key of its kernels."""
        return f"{self.arm.trace_key} split {hashlib.sha256(self.S.tobytes()).hexdigest()}"

    def trace_data(self, name: str) -> NDArray:
        """The data input `name` bound to this split."""
        if name != "theta":
            return self.arm.trace_data(name)
        return self.arm.with_theta(self.theta_known).trace_data("theta")


class SplitRegressor(NamedTuple):
    """Columns of the unknown parameters, and torques of the known ones."""

    Y: Annotated[Array, "n, u"]
    tau: Vector


@traced()
def split_regressor(
    split: Split, q: Q, qd: Qd, qdd: Qdd, wrench: TipWrench = None, *, theta: Theta = None, gravity: Gravity = None
) -> SplitRegressor:
    """Regressor of the unknown parameters and torque of the known ones.

    Parameters
    ----------
    theta
        Known parameters instead of the split's.

    Returns
    -------
    tau
        `inverse_dynamics = Y @ phi + tau`.

    References
    ----------
    Lu and Meng (1993), equations (3)-(5), (15)-(18).
    """
    Y = ca.mtimes(regressor(split.arm, q, qd, qdd, gravity=gravity), ca.sparsify(ca.DM(split.S)))
    return SplitRegressor(Y, inverse_dynamics(split.arm, q, qd, qdd, wrench=wrench, theta=theta, gravity=gravity))


@traced()
def split_adaptive_regressor(
    split: Split, q: Q, qd: Qd, v: V, a: A, wrench: TipWrench = None, *, theta: Theta = None, gravity: Gravity = None
) -> SplitRegressor:
    """Slotine-Li regressor of the unknown parameters and torque of the known ones.

    Parameters
    ----------
    q, qd
        Measured joint positions and velocities [rad or m, /s].
    theta
        Known parameters instead of the split's.

    Returns
    -------
    tau
        `M a + C v + g = Y @ phi + tau`.
    """
    Y = ca.mtimes(adaptive_regressor(split.arm, q, qd, v, a, gravity=gravity), ca.sparsify(ca.DM(split.S)))
    return SplitRegressor(Y, adaptive_torque(split.arm, q, qd, v, a, wrench=wrench, theta=theta, gravity=gravity))


# -- ways to split -----------------------------------------------------------------------------------------


def linear_parameters(arm: Arm, S: ArrayLike, theta_known: ArrayLike, names: Sequence[str] | None = None) -> Split:
    """Unknowns phi of any linear map theta = theta_known + S phi.

    Parameters
    ----------
    arm : Arm
    S : array_like, shape (10 n, u)
        Independent columns.
    theta_known : array_like, shape (10 n,)
    names : sequence of str, optional
        `phi1, phi2, ...` if left out.
    """
    size = inertial.SIZE * arm.n_joints
    S, known = np.array(S, float), np.array(theta_known, float)
    if S.ndim != 2 or S.shape[0] != size or known.shape != (size,):
        expected = f"S of shape ({size}, u) and theta_known of ({size},) for arm '{arm.name}'"
        raise ShapeError(where="linear_parameters", expected=expected, got=f"{S.shape} and {known.shape}")
    if np.linalg.matrix_rank(S) < S.shape[1]:
        cause = "the columns of S are not independent"
        raise ArmdynError(cause, where="linear_parameters", remedy="leave out what others determine")
    names = tuple(names) if names is not None else tuple(f"phi{k + 1}" for k in range(S.shape[1]))
    if len(names) != S.shape[1]:
        raise ShapeError(where="linear_parameters", expected=f"{S.shape[1]} names", got=len(names))
    return Split(arm, names, S, known, np.linalg.pinv(S) @ (arm.theta - known))


def unknown_parameters(arm: Arm, names: Iterable[str]) -> Split:
    """Unknown entries of theta, the others known from the arm (Lu and Meng, equations 15-18).

    Parameters
    ----------
    arm : Arm
    names : iterable of str
        Entries such as `Ixx2`; a link's name for all ten; or physical quantities, which stand for every
        entry that contains them: `mass2`, `px2`, `py2`, `pz2` (centre), `Jxx2` ... `Jyz2` (about the centre).
    """
    every = inertial.parameter_names(arm.n_joints)
    names = [names] if isinstance(names, str) else names
    entries = sorted({every.index(e) for name in names for e in _entries(arm, name, every)})
    if not entries:
        raise ArmdynError(where="unknown_parameters", expected="at least one name", got="none")
    S = np.eye(len(every))[:, entries]
    known = arm.theta.copy()
    known[entries] = 0.0
    return Split(arm, tuple(every[k] for k in entries), S, known, arm.theta[entries])


def _entries(arm: Arm, name: str, every: list[str]) -> list[str]:
    """The entries of theta that a name stands for."""
    if name in every:
        return [name]
    if name in arm.link_names:
        i = arm.link_names.index(name) + 1
        return [f"{entry}{i}" for entry in inertial.NAMES]
    quantity = name.rstrip("0123456789")
    index = name[len(quantity) :]
    if quantity in PHYSICAL and index and 1 <= int(index) <= arm.n_joints:
        return [f"{entry}{int(index)}" for entry in PHYSICAL[quantity]]
    cause = f"arm '{arm.name}' has no parameter {name!r}"
    expected = (
        f"{', '.join(inertial.NAMES)} or {', '.join(PHYSICAL)} with a link's number 1 to "
        f"{arm.n_joints}, or a link: {', '.join(arm.link_names)}"
    )
    raise ArmdynError(cause, where="unknown_parameters", expected=expected, names=(name,))


def unknown_mass(arm: Arm, centre: ArrayLike, link: str | None = None, mass: float = 0.0) -> Split:
    """One unknown: the mass of a body at a known centre (Lu and Meng's case study, section V-B).

    Parameters
    ----------
    arm : Arm
    centre : array_like, shape (3,)
        The body's centre in the frame of the link, or of the tip if no link is named [m].
    link : str, optional
        The link that carries it; left out, it is a load at the tip.
    mass : float
        How much of the arm's own inertia is this body [kg], to be replaced by the unknown: zero for a load
        that the arm's parameters do not contain.
    """
    if link is not None and link not in arm.link_names:
        cause = f"arm '{arm.name}' has no link {link!r}"
        raise ArmdynError(cause, where="unknown_mass", remedy=f"links: {', '.join(arm.link_names)}", names=(link,))
    unit = Inertia.from_com(1.0, centre)
    i = arm.tip_index if link is None else arm.link_names.index(link)
    column = np.zeros(inertial.SIZE * arm.n_joints)
    column[inertial.entries(i)] = (unit.moved(arm.tool_pose) if link is None else unit).theta
    name = "load mass" if link is None else f"mass on {link}"
    return Split(arm, (name,), column[:, None], arm.theta - mass * column, np.array([float(mass)]))


def unknown_payload(arm: Arm, shape: str = "any", axis: str = "x") -> Split:
    """Unknown parameters of a load, about the tip in tip axes; the arm itself is known.

    Parameters
    ----------
    arm : Arm
    shape : {"any", "principal"}
        All ten parameters; or those of a body whose principal axes are parallel to the tip's and whose centre lies on
        one of them: mass, one first moment and three moments of inertia.
    axis : {"x", "y", "z"}
        On which axis of the tip the centre of a "principal" body lies.

    References
    ----------
    Lu and Meng (1993), equations (50)-(59). Their six parameters m, m p, m p², Ixx, Iyy, Izz are about the centre;
    m p² acts as much inertia about the other two axes, so that five about the tip's origin are independent.
    """
    check_choice("unknown_payload", "shape", shape, ("any", "principal"))
    check_choice("unknown_payload", "axis", axis, "xyz")
    names = inertial.NAMES if shape == "any" else ("m", f"m{axis}", "Ixx", "Iyy", "Izz")
    units = [Inertia(np.eye(inertial.SIZE)[inertial.NAMES.index(name)]).moved(arm.tool_pose).theta for name in names]
    S = np.zeros((inertial.SIZE * arm.n_joints, len(names)))
    S[inertial.entries(arm.tip_index)] = np.column_stack(units)
    return Split(arm, tuple(f"{name} of load" for name in names), S, arm.theta, np.zeros(len(names)))
