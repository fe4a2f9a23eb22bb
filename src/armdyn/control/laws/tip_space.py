"""Control of the tip: operational space, impedance, resolved rates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from numpy.typing import ArrayLike

from armdyn.control.design.gains import gains_from_bandwidth
from armdyn.control.laws.model import MODEL, MODEL_SHAPES, model_torque
from armdyn.control.protocol import Answer, Law, Reference, Values, checked
from armdyn.dynamics.bodies.ltdl import factorized
from armdyn.dynamics.drive import drive_inertia
from armdyn.dynamics.mass_matrix import mass_matrix
from armdyn.errors import ShapeError
from armdyn.kinematics.error import pose_error
from armdyn.kinematics.forward import forward_kinematics, tip_frame
from armdyn.kinematics.jacobian import jacobian, jacobian_rate
from armdyn.model.arm import Arm
from armdyn.model.quantities import DriveData, Gravity, Number, Pose, Q, Qd, Theta, Vec
from armdyn.trace.shapes import Array
from armdyn.trace.symbols import ca
from armdyn.trace.traced import traced

ROWS = {"pose": 6, "position": 3}


@traced(returns={"tau": "n"})
def tip_space_torque(
    arm: Arm,
    q: Q,
    qd: Qd,
    q_ref: Vec,
    qd_ref: Vec,
    qdd_ref: Vec,
    stiffness: Annotated[Any, "6"],
    tip_damping: Annotated[Any, "6"],
    posture: Vec,
    singular: Number,
    push: Annotated[Any, "6"] = None,
    task: str = "pose",
    shaped: bool = True,
    *,
    theta: Theta = None,
    gravity: Gravity = None,
    drive: DriveData = None,
) -> Array:
    """Torques that move the tip as wanted; see `OperationalSpace` and `Impedance`.

    Parameters
    ----------
    q, qd, q_ref, qd_ref, qdd_ref
        Measured and wanted joint motion; the wanted one is seen at the tip.
    stiffness, tip_damping
        Gains along and about the base's axes, linear first: of accelerations [1/s², 1/s] if shaped, else of
        forces [N/m, N m/rad and so on].
    posture
        Natural frequencies with which what the tip does not feel returns to q_ref [1/s].
    singular
        Mobility [1/kg] below which directions of the tip count as singular and are given up smoothly.
    push
        Force and moment that the tip exerts besides [N, N m], in base axes.
    task : {"pose", "position"}
    shaped : bool
        Whether gains multiply the tip's inertia.
    theta, gravity, drive
        Instead of the model's.

    References
    ----------
    Khatib (1987), A unified approach for motion and force control of robot manipulators; Hogan (1985), Impedance
    control.
    """
    rows = ROWS[task]
    J = jacobian(arm, q)[:rows, :]
    e = pose_error(*tip_frame(arm, q), forward_kinematics(arm, q_ref), task)
    J_ref, rate_ref = jacobian(arm, q_ref)[:rows, :], jacobian_rate(arm, q_ref, qd_ref)[:rows, :]
    ed = ca.mtimes(J_ref, qd_ref) - ca.mtimes(J, qd)
    wanted = ca.mtimes(J_ref, qdd_ref) + ca.mtimes(rate_ref, qd_ref)
    wanted = wanted - ca.mtimes(jacobian_rate(arm, q, qd)[:rows, :], qd)
    spring = stiffness[:rows] * e + tip_damping[:rows] * ed
    M = mass_matrix(arm, q, theta=theta) + drive_inertia(arm, drive)
    factors = factorized(M)
    inverse_J = ca.horzcat(*(factors.solve(J[i, :].T) for i in range(rows)))  # M^-1 J'
    mobility = factorized(ca.mtimes(J, inverse_J) + singular * ca.SX.eye(rows))
    force = mobility.solve(wanted + spring) if shaped else mobility.solve(wanted) + spring
    force = force if push is None else force + push[:rows]
    tau = ca.mtimes(J.T, force) + model_torque(
        arm, q, qd, ca.SX.zeros(arm.n), theta=theta, gravity=gravity, drive=drive
    )
    # Accelerations of the posture, less what of them the tip would feel.
    back = posture * posture * (q_ref - q) + 2 * posture * (qd_ref - qd)
    return tau + ca.mtimes(M, back) - ca.mtimes(J.T, mobility.solve(ca.mtimes(J, back)))


class _TipSpace(Law):
    """What both laws have in common."""

    shapes: ClassVar = {"stiffness": "6", "tip_damping": "6", "posture": "n", "singular": "", **MODEL_SHAPES}
    task: str
    shaped: ClassVar[bool]

    def __post_init__(self) -> None:
        if not isinstance(self.task, str) or self.task not in ROWS:
            raise ShapeError(f"{type(self).__name__}: unknown task {self.task!r}; expected {' or '.join(ROWS)}")
        for name in ("stiffness", "tip_damping", "posture", "singular"):
            checked(self, name)

    @property
    def trace_key(self) -> str:
        """The task decides the formula."""
        return f"{self.arm.trace_key} {self.task}"

    def step(self, arm: Arm, params: Values, state: Values, q: Any, qd: Any, ref: Reference, dt: Any) -> Answer:
        """One sample; see `tip_space_torque`."""
        own = (params[name] for name in ("stiffness", "tip_damping", "posture", "singular"))
        model = {name: params[name] for name in MODEL}
        options: dict[str, Any] = {"task": self.task, "shaped": self.shaped}
        options |= {"push": params["push"]} if "push" in self.shapes else {}
        return tip_space_torque(arm, q, qd, ref.q, ref.qd, ref.qdd, *own, **options, **model), state


@dataclass(frozen=True, eq=False)
class OperationalSpace(_TipSpace):
    """Computed torque at the tip: its pose error x obeys x'' + tip_damping x' + stiffness x = 0.

        tau = J' Lambda (a_ref + tip_damping v_err + stiffness x_err - J_rate qd) + C qd + g + posture

    Lambda = (J M^-1 J' + singular)^-1. Under a perfect model and away from singular positions the tip's directions
    decouple; a redundant arm's remaining motion follows `posture` without the tip feeling it.

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
    """

    arm: Arm
    stiffness: ArrayLike
    tip_damping: ArrayLike
    posture: ArrayLike = 5.0
    task: str = "pose"
    singular: ArrayLike = 1e-4
    shaped: ClassVar[bool] = True

    @classmethod
    def from_bandwidth(cls, arm: Arm, bandwidth: float, damping: float = 1.0, **options: Any) -> OperationalSpace:
        """Gains of a bandwidth [Hz] in all directions of the tip."""
        kp, kd, _ = gains_from_bandwidth(bandwidth, damping)
        return cls(arm, kp, kd, **options)


@dataclass(frozen=True, eq=False)
class Impedance(_TipSpace):
    """The tip as a mass on springs and dampers, that yields to forces on it.

        Lambda x'' + tip_damping x' + stiffness x = f + push,  x the displacement under the wrench f on the tip

    tau = J' (Lambda (a_ref - J_rate qd) + tip_damping v_err + stiffness x_err + push) + C qd + g + posture. The inertia
    is the arm's own, so no force sensor is needed. Passive for constant gains and resting references.

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
        Mobility below which a direction's inertia is not made up for [1/kg].
    push : array_like, shape (..., 6)
        Wrench that the tip exerts on what it touches, besides that of the springs [N, N m], in base axes; exported with
        `inputs=["push"]` it may change at every sample.
    """

    shapes: ClassVar = {**_TipSpace.shapes, "push": "6"}
    arm: Arm
    stiffness: ArrayLike
    tip_damping: ArrayLike
    posture: ArrayLike = 5.0
    task: str = "pose"
    singular: ArrayLike = 1e-4
    push: ArrayLike = 0.0
    shaped: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        checked(self, "push", positive=False)


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
        Wanted pose of the tip.
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
    return ca.mtimes(J.T, factorized(ca.mtimes(J, J.T) + damping**2 * ca.SX.eye(rows)).solve(wanted))
