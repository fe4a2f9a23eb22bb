"""What an adaptive law does not know: inertial parameters of a split, and friction of the joints.

torques = Y phi + known,  phi = [unknowns of the split, friction term by term]
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.formula import Arm, Reference, Symbol, Values, ca
from armdyn.control.laws.model import MODELS, exerts_torque, with_friction
from armdyn.control.settings import one_number
from armdyn.dynamics.base.parameters import BaseParameters
from armdyn.dynamics.drive import drive_torque
from armdyn.dynamics.friction import direction
from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.dynamics.regressors.adaptive_regressor import adaptive_regressor, adaptive_torque
from armdyn.dynamics.regressors.regressor import regressor
from armdyn.dynamics.regressors.split import Split
from armdyn.dynamics.shafts import at_shafts, joint_torques
from armdyn.errors import ArmdynError, check_choice, quote
from armdyn.frozen import PartOf
from armdyn.model.joint import FRICTION_NAMES

FRICTION = ("viscous", "coulomb", "asymmetry", "offset")


@dataclass(frozen=True, eq=False)
class AdaptiveParameters:
    """`theta = theta_known + S phi` and unknown friction; make it with `adapt`."""

    arm: Arm
    S: NDArray  # (10 n, columns of the split)
    theta_known: NDArray  # (10 n,)
    friction: tuple[str, ...]
    width: float
    names: tuple[str, ...]
    phi: NDArray  # (u,) the arm's own values
    known_friction: NDArray  # (n, k + 3 h) friction that the law knows and compensates

    name = PartOf[str]("arm.name", "The arm's name.")

    @property
    def count(self) -> int:
        """Number of unknowns."""
        return len(self.phi)

    def theta(self, phi: ArrayLike) -> NDArray:
        """Inertial parameters (..., 10 n) for unknowns (..., u)."""
        return self.theta_known + np.asarray(phi, float)[..., : self.S.shape[1]] @ self.S.T

    @cached_property
    def knows_friction(self) -> bool:
        """Whether there is friction that is not unknown."""
        return exerts_torque(self.known_friction)

    @property
    def without_friction(self) -> AdaptiveParameters:
        """The same unknowns, with known friction left to others."""
        return replace(self, known_friction=np.zeros_like(self.known_friction))

    @property
    def trace_sizes(self) -> Mapping[str, int]:
        """Sizes that shapes may mention."""
        return {**self.arm.trace_sizes, "u": self.count}

    @property
    def trace_key(self) -> str:
        """Key of its kernels."""
        digest = hashlib.sha256(self.S.tobytes()).hexdigest()
        return f"{self.arm.trace_key} unknown {digest} {self.friction} {self.width!r} {self.knows_friction}"

    def trace_data(self, name: str) -> NDArray:
        """The data input `name` bound to these unknowns."""
        if name == "friction":
            return self.known_friction
        if name != "theta":
            return self.arm.trace_data(name)
        return self._known_arm.trace_data("theta")

    @cached_property
    def _known_arm(self) -> Arm:
        """The arm without what is unknown."""
        return self.arm.with_theta(self.theta_known)

    def __repr__(self) -> str:
        return f"<Unknowns of {self.arm!r}: {', '.join(self.names)}>"

    # -- symbols ------------------------------------------------------------------------------------------

    def estimate(self, theta: Symbol, phi: Symbol) -> Symbol:
        """Inertial parameters with the estimate of what is unknown."""
        return theta + ca.mtimes(ca.sparsify(ca.DM(self.S)), phi[: self.S.shape[1]])

    def torque(self, q: Any, qd: Any, a: Any, data: Values, v: Any = None, ref: Reference | None = None) -> Any:
        """Columns Y (n, u) and the known torques of M a + C qd + g, or of M a + C v + g if v is given.

        Known friction is that of the motion itself, or, with `ref`, what laws compensate: see `law_friction`.
        """
        arm, S = self.arm, ca.sparsify(ca.DM(self.S))
        theta, gravity = data["theta"], data["gravity"]
        if v is None:
            Y = regressor(arm, q, qd, a, gravity=gravity)
            known = inverse_dynamics(arm, q, qd, a, theta=theta, gravity=gravity)
        else:
            Y = adaptive_regressor(arm, q, qd, v, a, gravity=gravity)
            known = adaptive_torque(arm, q, qd, v, a, theta=theta, gravity=gravity)
        # Rotors follow the desired acceleration, motor damping and friction the true velocity (ECE470, section 3.3).
        known = known + drive_torque(arm, q, qd, a, drive=data["drive"])
        if self.knows_friction:
            known = with_friction(arm, known, data["friction"], q, qd, Reference(q, qd, a) if ref is None else ref)
        speed = at_shafts(arm, qd)
        sign = direction(speed, self.width)
        columns = {"viscous": speed, "coulomb": sign, "asymmetry": sign * sign, "offset": ca.SX.ones(arm.n_joints)}
        blocks = (joint_torques(arm, ca.diag(columns[term])) for term in self.friction)
        return ca.horzcat(ca.mtimes(Y, S), *blocks), known


def adapt(
    what: Split | BaseParameters | Arm, friction: tuple[str, ...] = (), width: float = 0.02, model: str = "full"
) -> AdaptiveParameters:
    """The unknowns of an adaptive law.

    Parameters
    ----------
    what : Split, BaseParameters or Arm
        What is unknown of the links: a split such as `unknown_payload(arm)`, all base parameters, or nothing (an arm).
    friction : tuple of str
        Unknown friction of every joint, some of "viscous", "coulomb", "asymmetry", "offset".
    width : float
        Velocity below which dry friction fades out [rad/s or m/s]: tanh(qd / width) stands for its sign, so that
        the compensation does not chatter at rest.
    model : {"full", "rigid"}
        Whether friction of the arm that is not unknown is compensated.
    """
    check_choice("adapt", "model", model, MODELS)
    terms = (friction,) if isinstance(friction, str) else friction
    if not (isinstance(terms, tuple | list) and set(map(str, terms)) <= {*FRICTION} and len({*terms}) == len(terms)):
        raise ArmdynError(where="adapt", expected=f"some of {', '.join(FRICTION)} once each", got=quote(friction))
    friction, width = tuple(terms), one_number(width, "adapt: width", "a velocity > 0")
    arm, S, known, names, phi = _links(what)
    values = [[getattr(joint.friction, term) for joint in arm.joints] for term in friction]
    names = (*names, *(f"{term} {joint}" for term in friction for joint in arm.joint_names))
    if not names:
        raise ArmdynError("nothing is unknown", where="adapt", remedy="name friction terms or give a split")
    unknowns = AdaptiveParameters(
        arm, S, known, friction, width, names, np.concatenate([phi, *values]), _rest(arm, friction)
    )
    return unknowns if model == "full" else unknowns.without_friction


def _rest(arm: Arm, friction: tuple[str, ...]) -> NDArray:
    """Friction numbers of the arm without those terms that are unknown; what breakaway adds to Coulomb's stays."""
    table = np.array(arm.trace_data("friction"))
    columns = {name: table[:, k] for k, name in enumerate(FRICTION_NAMES)}
    if "coulomb" in friction:
        columns["static"] -= [joint.friction.coulomb for joint in arm.joints]
    for name in friction:
        columns[name][:] -= [getattr(joint.friction, name) for joint in arm.joints]
    return table


def _links(what: Any) -> tuple[Arm, NDArray, NDArray, tuple[str, ...], NDArray]:
    if isinstance(what, Split):
        return what.arm, what.S, what.theta_known, what.names, what.phi
    if isinstance(what, Arm):
        return what, np.zeros((10 * what.n_joints, 0)), what.trace_data("theta"), (), np.zeros(0)
    if isinstance(what, BaseParameters):
        if what.joint_terms or what.terms != "full":
            expected = "base parameters of the links alone"
            raise ArmdynError(where="adapt", expected=expected, remedy="name friction terms with friction=")
        S = np.eye(10 * what.source.n_joints)[:, list(what.columns)]
        return what.source, S, np.zeros(len(S)), what.names, what.theta
    raise ArmdynError(where="adapt", expected="a split, base parameters or an arm", got=quote(what))
