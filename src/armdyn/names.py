"""What names of other toolboxes and of textbooks are here: `docs/names.md` as data, and the error that uses it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

# Pinocchio, Robotics Toolbox for Python, MATLAB's Robotics System Toolbox, armdyn; blanks separate names.
TOOLBOXES = (
    ("buildModelFromUrdf", "Robot.URDF", "importrobot", "load"),
    ("", "DHRobot", "setFixedTransform", "Arm.from_dh"),
    (
        "forwardKinematics updateFramePlacements",
        "fkine fkine_all",
        "getTransform",
        "forward_kinematics link_poses",
    ),
    ("computeFrameJacobian", "jacob0 jacobe", "geometricJacobian", "jacobian"),
    ("getFrameJacobianTimeVariation", "jacob0_dot", "", "jacobian_rate"),
    ("", "ikine_LM ikine_a", "inverseKinematics analyticalInverseKinematics", "inverse_kinematics"),
    ("", "manipulability", "", "manipulability dexterity"),
    ("rnea", "rne", "inverseDynamics", "inverse_dynamics"),
    ("aba", "accel", "forwardDynamics", "forward_dynamics"),
    ("crba", "inertia", "massMatrix", "mass_matrix"),
    ("computeCoriolisMatrix", "coriolis", "velocityProduct", "coriolis_matrix"),
    ("computeGeneralizedGravity", "gravload", "gravityTorque", "gravity_torque"),
    ("computeKineticEnergy computePotentialEnergy", "", "", "kinetic_energy potential_energy"),
    ("computeRNEADerivatives", "", "", "torque_derivatives linearize"),
    ("computeABADerivatives", "", "", "acceleration_derivatives linearize"),
    ("computeJointTorqueRegressor", "", "", "regressor base_regressor"),
    ("centerOfMass", "", "centerOfMass", "center_of_mass"),
    ("", "friction", "", "friction_torque joint_torque"),
    ("", "payload", "", "Arm.with_payload"),
    ("", "jtraj mstraj", "quinticpolytraj trapveltraj", "Quintic Trapezoid spline"),
    ("", "fdyn", "", "simulate"),
)

# MuJoCo, adam, brax (generalized pipeline), armdyn. Names that are words of their own elsewhere are given with theirs.
SIMULATORS = (
    ("MjModel.from_xml_path", "KinDynComputations", "mjcf.load", "load"),
    ("mj_saveLastXML", "", "", "Arm.save"),
    ("mj_kinematics", "forward_kinematics", "kinematics.forward", "forward_kinematics link_poses"),
    ("mj_jac mj_jacBody mj_jacSite", "jacobian", "", "jacobian"),
    ("mj_jacDot", "jacobian_dot", "", "jacobian_rate"),
    ("mj_inverse", "", "dynamics.inverse", "joint_torque inverse_dynamics"),
    ("mj_rne qfrc_bias", "bias_force", "", "inverse_dynamics"),
    ("mj_forward mj_forwardSkip", "aba", "dynamics.forward", "joint_acceleration forward_dynamics"),
    ("mj_fullM mj_mulM", "mass_matrix", "mass.matrix", "mass_matrix"),
    ("", "coriolis_term", "", "coriolis_matrix"),
    ("", "gravity_term", "", "gravity_torque"),
    ("mj_energyPos mj_energyVel", "", "", "potential_energy kinetic_energy"),
    ("mjd_inverseFD", "", "", "torque_derivatives"),
    ("mjd_transitionFD", "", "", "acceleration_derivatives linearize"),
    ("subtree_com", "CoM_position", "", "center_of_mass"),
    ("mj_step", "", "pipeline.step", "simulate"),
    ("mujoco.sysid", "", "", "identify identify_servo"),
)

# What people look for on an arm, and what to write instead.
ON_AN_ARM = {
    "M": "armdyn.mass_matrix(arm, q)",
    "C": "armdyn.coriolis_matrix(arm, q, qd)",
    "g": "armdyn.gravity_torque(arm, q)",
    "J": "armdyn.jacobian(arm, q)",
    "T": "armdyn.forward_kinematics(arm, q)",
    "fk": "armdyn.forward_kinematics(arm, q)",
    "ik": "armdyn.inverse_kinematics(arm, pose)",
    "dof": "arm.n",
    "ndof": "arm.n",
    "nq": "arm.n",
    "nv": "arm.n",
    "njoints": "arm.n",
    "qlim": "arm.position_limits",
    "base": "arm.base_pose",
    "tool": "arm.tool_pose",
    "params": "arm.theta",
}


class UnknownName(AttributeError):
    """A name that does not exist; the message says what it is called here, or what is spelt alike."""

    def __init__(self, owner: str, name: str, known: Callable[[], Iterable[str]]) -> None:
        super().__init__(owner, name)
        self.owner, self.missing, self.known = owner, name, known

    def __str__(self) -> str:
        """The text is made when somebody reads it: most of these errors answer `hasattr`."""
        return f"{self.owner} has no attribute '{self.missing}'{self._hint()}"

    def _hint(self) -> str:
        name, ours = self.missing, here(self.missing)
        if name in ON_AN_ARM:
            return f"; write {ON_AN_ARM[name]}"
        if self.owner == "an arm" and (ours or name in public_functions()):
            return f"; write {' or '.join(_call(one) for one in ours or [name])}"
        if ours:
            return f"; here it is called {' or '.join(ours)}"
        from difflib import get_close_matches  # 2 ms

        near = get_close_matches(name, list(self.known()), n=2, cutoff=0.75)
        return f"; did you mean {' or '.join(near)}?" if near else ""

    def __reduce__(self) -> tuple[type[AttributeError], tuple[str]]:
        return AttributeError, (str(self),)


def here(name: str) -> list[str]:
    """What a name of another toolbox is called here; empty if it is not known."""
    for *others, ours in (*TOOLBOXES, *SIMULATORS):
        if name in " ".join(others).replace(".", " ").split():
            return ours.split()
    return []


def public_functions() -> list[str]:
    """The functions that armdyn lists: they take an arm, and are not its methods."""
    return [name for name in getattr(sys.modules.get("armdyn"), "__all__", ()) if name.islower()]


def _call(name: str) -> str:
    owner, _, method = name.rpartition(".")
    return f"arm.{method}(...)" if owner == "Arm" and method.startswith("with") else f"armdyn.{name}(arm, ...)"
