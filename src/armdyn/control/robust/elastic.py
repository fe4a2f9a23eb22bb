"""Laws of arms whose joints are springs between rotor and link: on motors alone, with damping, linearised in full.

    M(q) qdd + C qd + g = spring (theta - q),    B theta'' + d theta' + spring (theta - q) = tau

theta are the rotors, counted at the gear's output (Spong 1987). Encoders sit at the motors: q and qd of `step` are
theirs; laws that see links too get them as the channel `links` (2n,), positions first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armdyn.control.formula import Answer, Arm, Law, Reference, Symbol, Values, ca, traced_step
from armdyn.control.laws.model import ModelLaw
from armdyn.control.laws.wrapped import Wrapped
from armdyn.dynamics.bodies.ltdl import factorize
from armdyn.dynamics.gravity import gravity_torque
from armdyn.dynamics.mass_matrix import mass_matrix
from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.errors import ShapeError
from armdyn.model.joint import DRIVE_NAMES
from armdyn.trajectory.protocol import JointMotion

INERTIA, DAMPING = DRIVE_NAMES.index("inertia"), DRIVE_NAMES.index("damping")


@dataclass(frozen=True, eq=False)
class ElasticPD(ModelLaw):
    """PD of the motors, with gravity of the desired pose and the springs' sag under it.

        theta_ref = q_ref + g(q_ref) / spring,   tau = kp (theta_ref - theta) + kd (qd_ref - theta') + g(q_ref)

    Motor encoders suffice. The desired pose is globally asymptotically stable if springs and kp outweigh gravity's
    slope (Tomei 1991): V, the sum of the kinetic energy, of the springs', of kp's and of gravity's about the pose,
    falls as -theta' kd theta', theta' being the motors' velocities.

    Parameters
    ----------
    arm : Arm
        The model.
    spring : array_like, shape (..., n)
        Stiffness of the joints [N m/rad].
    kp, kd : array_like, shape (..., n)
        [N m/rad, N m s/rad]
    model : {"full", "rigid"}
        Whether friction of the joints is compensated.

    References
    ----------
    Tomei (1991), A simple PD controller for robots with elastic joints.
    """

    gain_shapes: ClassVar = {"spring": "n", "kp": "n", "kd": "n"}
    above_zero: ClassVar = frozenset(("spring",))
    arm: Arm
    spring: ArrayLike
    kp: ArrayLike
    kd: ArrayLike
    model: str = "full"

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; q and qd are the motors'."""
        g = gravity_torque(arm, ref.q, theta=params["theta"], gravity=params["gravity"])
        tau = params["kp"] * (ref.q + g / params["spring"] - q) + params["kd"] * (ref.qd - qd) + g
        return self.add_friction(params, tau, q, qd, ref), state


@dataclass(frozen=True, eq=False)
class ElasticDamping(Wrapped):
    """Any law of the links, with damping of the springs added: tau = law(q, qd) + damping (qd - theta').

    The slow motion is that of the rigid arm, for which the law inside is made, the fast one that of the springs, which
    the law would excite: singular perturbation, first order. Springs must be several times faster than the law; softer
    ones need `ElasticLinearisation`. `damping` = 2 ratio sqrt(spring B) gives rotors before fixed links that ratio.

    Parameters
    ----------
    law : Law
        Law for the rigid arm; it sees the links.
    damping : array_like, shape (n,)
        [N m s/rad]

    References
    ----------
    Spong (1987), Modeling and control of elastic joint robots, section IV.
    """

    own_shapes: ClassVar = {"damping": "n"}
    positive: ClassVar = {"damping": "numbers"}
    law: Law
    damping: ArrayLike = 1.0

    @property
    def senses(self) -> tuple[str, ...]:  # type: ignore[override]
        """Links, and what the inner law feels."""
        return ("links", *self.law.senses)

    def channels(self, t: NDArray, motion: JointMotion) -> dict[str, NDArray]:
        """The inner law's, and room for the links."""
        return {**super().channels(t, motion), "links": np.zeros((len(t), 2 * self.arm.n))}

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; q and qd are the motors'."""
        links = ref.channels["links"]
        x, v = links[: arm.n], links[arm.n :]
        tau, after = self.inner(params, state, x, v, ref, dt)
        return tau + params["damping"] * (v - qd), after


@dataclass(frozen=True, eq=False)
class ElasticLinearisation(ModelLaw):
    """Feedback linearisation of elastic joints: the links' error obeys e'''' + k3 e''' + k2 e'' + k1 e' + k0 e = 0.

    Accelerations and jerks of the links follow from positions and velocities of links and motors, by the model; the
    fourth derivative is what torques decide. Springs have no damping of their own here. `from_bandwidth` puts all four
    poles at one place. Jerk and snap of the reference are differences of its accelerations.

    Parameters
    ----------
    arm : Arm
        The model, with rotors.
    spring : array_like, shape (..., n)
        Stiffness of the joints [N m/rad].
    k0, k1, k2, k3 : array_like, shape (..., n)
        [1/s⁴, 1/s³, 1/s², 1/s]
    model : {"full", "rigid"}
        Whether friction of the motors is compensated.

    References
    ----------
    Spong (1987), Modeling and control of elastic joint robots, section III.
    """

    gain_shapes: ClassVar = {"spring": "n", "k0": "n", "k1": "n", "k2": "n", "k3": "n"}
    above_zero: ClassVar = frozenset(("spring",))
    senses: ClassVar = ("links",)
    arm: Arm
    spring: ArrayLike
    k0: ArrayLike
    k1: ArrayLike
    k2: ArrayLike
    k3: ArrayLike
    model: str = "full"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.arm.trace_data("drive")[:, INERTIA] > 0).all() or self.arm.coupling is not None:
            raise ShapeError(where="ElasticLinearisation", expected="an arm with a rotor of its own behind every joint")

    @classmethod
    def from_bandwidth(cls, arm: Arm, spring: ArrayLike, bandwidth: float, model: str = "full") -> ElasticLinearisation:
        """Four poles at -2 pi bandwidth [Hz]."""
        w = 2 * np.pi * float(bandwidth)
        return cls(arm, spring, w**4, 4 * w**3, 6 * w**2, 4 * w, model)

    def channels(self, t: NDArray, motion: JointMotion) -> dict[str, NDArray]:
        """Room for the links, and jerk and snap of the reference."""
        a = np.asarray(motion.qdd)
        jerk = np.gradient(a, t, axis=0) if len(t) > 1 else np.zeros_like(a)
        snap = np.gradient(jerk, t, axis=0) if len(t) > 1 else np.zeros_like(a)
        return {"links": np.zeros((len(t), 2 * self.arm.n)), "jerk": jerk, "snap": snap}

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; q and qd are the motors'."""
        n, K, links = arm.n, params["spring"], ref.channels["links"]
        x, v = links[:n], links[n:]
        model = {name: params[name] for name in ("theta", "gravity")}
        M = factorize(mass_matrix(arm, x, theta=params["theta"]))
        a = M.solve(K * (q - x) - inverse_dynamics(arm, x, v, 0 * x, **model))
        # K (theta' - v) = M j + what M a + C v + g changes with x, v alone, and once more.
        first, second = _changes(arm, x, v, a, model)
        j = M.solve(K * (qd - v) - first(0 * x))
        asked = (ref.channels["snap"] + params["k3"] * (ref.channels["jerk"] - j) + params["k2"] * (ref.qdd - a)
                 + params["k1"] * (ref.qd - v) + params["k0"] * (ref.q - x))  # fmt: skip
        speeding = a + second(j, asked) / K  # of the motors
        drive = params["drive"]
        tau = drive[:, INERTIA] * speeding + drive[:, DAMPING] * qd + K * (q - x)
        return self.add_friction(params, tau, q, qd, ref), state


def _changes(arm: Arm, x: Symbol, v: Symbol, a: Symbol, model: Mapping[str, Symbol]) -> tuple[Any, Any]:
    """First and second derivative in time of h = M a + C v + g, as functions of the jerk, and of jerk and snap."""
    symbols = [ca.SX.sym(name, arm.n) for name in ("x", "v", "a", "j", "s")]
    theta, gravity = (ca.SX.sym(name, *model[name].shape) for name in ("theta", "gravity"))
    X, V, A, J, S = symbols
    h = inverse_dynamics(arm, X, V, A, theta=theta, gravity=gravity)
    h1 = ca.jtimes(h, ca.vertcat(X, V, A), ca.vertcat(V, A, J))
    h2 = ca.jtimes(h1, ca.vertcat(X, V, A, J), ca.vertcat(V, A, J, S))
    one = ca.Function("h1", [*symbols[:4], theta, gravity], [h1])
    two = ca.Function("h2", [*symbols, theta, gravity], [h2])
    parameters = model["theta"], model["gravity"]
    return lambda j: one(x, v, a, j, *parameters), lambda j, s: two(x, v, a, j, s, *parameters)
