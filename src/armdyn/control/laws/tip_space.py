"""Control of the tip: operational space, impedance, resolved rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

from numpy.typing import ArrayLike

from armdyn.control.formula import Answer, Arm, Array, Reference, Symbol, Values, ca, traced, traced_step
from armdyn.control.laws.model import ModelLaw, model_data, model_torque
from armdyn.control.theory.gains import gains_from_bandwidth
from armdyn.dynamics.bodies.ltdl import Factors, factorize
from armdyn.dynamics.drive import augmented_mass_matrix
from armdyn.errors import ShapeError, check_choice
from armdyn.kinematics.error import pose_error
from armdyn.kinematics.forward import forward_kinematics, tip_frame
from armdyn.kinematics.jacobian import jacobian, jacobian_rate
from armdyn.model.quantities import Number, Pose, Q

ROWS = {"pose": 6, "position": 3}


class TipKinematics(NamedTuple):
    """The tip at one sample, as symbols, in base axes: its errors and what moves it."""

    J: Symbol  # (rows, n)
    error: Symbol  # of the pose; of the orientation 2 sin(angle / 2) along its axis
    error_rate: Symbol
    acceleration: Symbol  # desired, less that of the joints' velocities
    M: Symbol  # (n, n), rotors included
    mobility: Factors  # of J M^-1 J' + singular


@dataclass(frozen=True, eq=False)
class TipSpace(ModelLaw):
    """Base of laws of the tip, with a field `model` besides.

    References
    ----------
    Khatib (1987), A unified approach for motion and force control of robot manipulators; Hogan (1985), Impedance
    control.
    """

    gain_shapes: ClassVar[Mapping[str, str]] = {"stiffness": "6", "tip_damping": "6", "posture": "n", "singular": ""}
    formula_options: ClassVar = ("task",)
    arm: Arm
    stiffness: ArrayLike
    tip_damping: ArrayLike
    posture: ArrayLike = 5.0
    task: str = "pose"
    singular: ArrayLike = 1e-4

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(type(self).__name__, "task", self.task, ROWS, ShapeError)

    def tip(self, params: Values, q: Symbol, qd: Symbol, ref: Reference) -> TipKinematics:
        """The tip at a sample; the desired joint motion is seen there."""
        arm, rows = self.arm, ROWS[self.task]
        J, J_ref = jacobian(arm, q)[:rows, :], jacobian(arm, ref.q)[:rows, :]
        error = pose_error(*tip_frame(arm, q), forward_kinematics(arm, ref.q), self.task)
        error_rate = ca.mtimes(J_ref, ref.qd) - ca.mtimes(J, qd)
        rate_ref = jacobian_rate(arm, ref.q, ref.qd)[:rows, :]
        acceleration = ca.mtimes(J_ref, ref.qdd) + ca.mtimes(rate_ref, ref.qd)
        acceleration = acceleration - ca.mtimes(jacobian_rate(arm, q, qd)[:rows, :], qd)
        M = augmented_mass_matrix(arm, q, theta=params["theta"], drive=params["drive"])
        factors = factorize(M)
        inverse_J = ca.horzcat(*(factors.solve(J[i, :].T) for i in range(rows)))  # M^-1 J'
        mobility = factorize(ca.mtimes(J, inverse_J) + params["singular"] * ca.SX.eye(rows))
        return TipKinematics(J, error, error_rate, acceleration, M, mobility)

    def spring(self, params: Values, tip: TipKinematics) -> Symbol:
        """Stiffness and damping (rows,) on the tip's errors."""
        rows = ROWS[self.task]
        return params["stiffness"][:rows] * tip.error + params["tip_damping"][:rows] * tip.error_rate

    def torques(
        self, params: Values, tip: TipKinematics, force: Symbol, q: Symbol, qd: Symbol, ref: Reference
    ) -> Symbol:
        """Joint torques of a wrench (rows,) that the law gives the tip, of its model, and of the posture."""
        model = model_torque(self.arm, q, qd, ca.SX.zeros(self.arm.n), **model_data(params))
        tau = ca.mtimes(tip.J.T, force) + model
        # Accelerations of the posture, less what of them the tip would feel.
        posture = params["posture"]
        back = posture * posture * (ref.q - q) + 2 * posture * (ref.qd - qd)
        tau = tau + ca.mtimes(tip.M, back) - ca.mtimes(tip.J.T, tip.mobility.solve(ca.mtimes(tip.J, back)))
        return self.add_friction(params, tau, q, qd, ref)


@dataclass(frozen=True, eq=False)
class OperationalSpace(TipSpace):
    """Computed torque at the tip: its pose error x obeys x'' + tip_damping x' + stiffness x = 0.

        tau = J' Lambda (a_ref + tip_damping v_err + stiffness x_err - J_rate qd) + C qd + g + posture

    Lambda = (J M^-1 J' + singular)^-1. The error of the orientation is 2 sin(angle / 2) along the axis of the turn: as
    good as the angle for small ones, largest at half a turn. Under a perfect model and away from singular positions the
    tip's directions decouple; a redundant arm's remaining motion follows `posture` without the tip feeling it.

    Parameters
    ----------
    arm : Arm
        The model.
    stiffness, tip_damping : array_like, shape (..., 6)
        [1/s², 1/s], linear first.
    posture : array_like, shape (..., n)
        Natural frequency of the redundant motion [1/s].
    task : {"pose", "position"}
        Whether the orientation counts.
    singular : float
        Mobility below which a direction is given up [1/kg].
    model : {"full", "rigid"}
        Whether friction of the joints is compensated.
    """

    model: str = "full"

    @classmethod
    def from_bandwidth(cls, arm: Arm, bandwidth: float, damping: float = 1.0, **options: Any) -> OperationalSpace:
        """Gains of a bandwidth [Hz] in all directions of the tip."""
        kp, kd, _ = gains_from_bandwidth(bandwidth, damping)
        return cls(arm, kp, kd, **options)

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample."""
        tip = self.tip(params, q, qd, ref)
        force = tip.mobility.solve(tip.acceleration + self.spring(params, tip))
        return self.torques(params, tip, force, q, qd, ref), state


@dataclass(frozen=True, eq=False)
class Impedance(TipSpace):
    """The tip as a mass on springs and dampers, that yields to forces on it.

        Lambda x'' + tip_damping x' + stiffness x = f + push,  x the displacement under the wrench f on the tip

    tau = J' (Lambda (a_ref - J_rate qd) + tip_damping v_err + stiffness x_err + push) + C qd + g + posture. The inertia
    is the arm's own, so no force sensor is needed. The error of the orientation is 2 sin(angle / 2) along the axis of
    the turn. With constant gains and a resting reference the springs and Lambda store no more than f and push give, but
    for v' Lambda' v / 2 where the arm's inertia changes on the way; strictly passive is `GravityPD`.

    Parameters
    ----------
    arm : Arm
        The model.
    stiffness, tip_damping : array_like, shape (..., 6)
        [N/m, N s/m; N m/rad, N m s/rad], linear first, in base axes.
    posture : array_like, shape (..., n)
        Natural frequency of the redundant motion [1/s].
    task : {"pose", "position"}
        Whether the orientation counts.
    singular : float
        Mobility below which a direction's inertia is not compensated [1/kg].
    push : array_like, shape (..., 6)
        Wrench that the tip exerts on what it touches, besides that of the springs [N, N m], in base axes; exported with
        `inputs=["push"]` it may change at every sample.
    model : {"full", "rigid"}
        Whether friction of the joints is compensated.
    """

    gain_shapes: ClassVar = {**TipSpace.gain_shapes, "push": "6"}
    signed: ClassVar = frozenset(("push",))
    push: ArrayLike = 0.0
    model: str = "full"

    @traced_step
    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample."""
        tip = self.tip(params, q, qd, ref)
        force = tip.mobility.solve(tip.acceleration) + self.spring(params, tip) + params["push"][: ROWS[self.task]]
        return self.torques(params, tip, force, q, qd, ref), state


@traced(returns={"qd": "n"})
def resolved_rate(
    arm: Arm,
    q: Q,
    pose: Pose,
    twist: Annotated[Any, "6"],
    gain: Annotated[Any, "6"],
    damping: Number,
    task: str = "pose",
) -> Array:
    """Joint velocities that lead the tip to a moving pose: J+ (twist + gain error), damped near singular positions.

    Parameters
    ----------
    pose
        Desired pose of the tip.
    twist
        Its velocity, linear first, in base axes [m/s, rad/s].
    gain
        Rate at which errors decay [1/s].
    damping
        Of the least-squares solution [m or rad]; 0 is exact and fails at singular positions.
    task : {"pose", "position"}

    References
    ----------
    Whitney (1969), Resolved motion rate control; Nakamura and Hanafusa (1986) for the damping.
    """
    rows = ROWS[task]
    J = jacobian(arm, q)[:rows, :]
    wanted = twist[:rows] + gain[:rows] * pose_error(*tip_frame(arm, q), pose, task)
    return ca.mtimes(J.T, factorize(ca.mtimes(J, J.T) + damping**2 * ca.SX.eye(rows)).solve(wanted))
