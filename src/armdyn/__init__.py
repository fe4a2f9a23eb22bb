"""armdyn: robot arms from their description and logged motion to their model, controller and C code.

The public names are loaded when first used, so that `import armdyn` stays fast.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "armdyn.control.adaptive.natural_slotine_li": ("NaturalSlotineLi",),
    "armdyn.control.adaptive.projected_slotine_li": ("ProjectedSlotineLi",),
    "armdyn.control.adaptive.composite": ("CompositeSlotineLi",),
    "armdyn.control.adaptive.concurrent": ("ConcurrentSlotineLi",),
    "armdyn.control.design.robustness": ("closed_loop", "robustness"),
    "armdyn.control.design.accuracy": ("pole_regions",),
    "armdyn.control.design.assumptions": ("failed_assumptions",),
    "armdyn.control.design.pid_design": ("optimal_pid",),
    "armdyn.control.laws.tip_space": ("Impedance", "OperationalSpace", "resolved_rate"),
    "armdyn.simulation.mismatch_study": ("mismatch_study",),
    "armdyn.simulation.compare": ("Comparison", "compare"),
    "armdyn.control.design.designs": ("designs",),
    "armdyn.control.adaptive.gains": ("adaptation_gains", "retuned"),
    "armdyn.control.export": ("law_code",),
    "armdyn.control.laws.lqr": ("TrajectoryLQR",),
    "armdyn.control.laws.measured_lqr": ("MeasuredLQR",),
    "armdyn.control.design.riccati": ("continuous_lqr", "discrete_lqr", "finite_horizon_lqr"),
    "armdyn.control.adaptive.craig": ("Craig",),
    "armdyn.control.adaptive.modified_slotine_li": ("ModifiedSlotineLi",),
    "armdyn.control.adaptive.slotine_li": ("SlotineLi",),
    "armdyn.control.adaptive.unknowns": ("adapt",),
    "armdyn.control.laws.guarded": ("Guarded",),
    "armdyn.control.laws.disturbance_observer": ("DisturbanceObserver",),
    "armdyn.control.laws.friction_feedforward": ("FrictionFeedforward",),
    "armdyn.control.laws.feedforward": ("FeedforwardPD",),
    "armdyn.control.laws.gravity_pd": ("GravityPD",),
    "armdyn.control.laws.integral": ("Integral", "pid"),
    "armdyn.control.design.gains": ("bryson", "gains_from_bandwidth", "gains_from_poles", "pd_gains"),
    "armdyn.control.laws.computed_torque": ("ComputedTorque", "computed_torque"),
    "armdyn.control.laws.pd": ("PD", "pd_torque"),
    "armdyn.control.protocol": ("Law", "Reference"),
    "armdyn.dynamics.linear.acceleration_derivatives": ("acceleration_derivatives",),
    "armdyn.dynamics.regressors.adaptive_regressor": ("adaptive_regressor", "adaptive_torque"),
    "armdyn.dynamics.base.parameters": (
        "BaseParameters",
        "base_adaptive_regressor",
        "base_parameters",
        "base_regressor",
    ),
    "armdyn.dynamics.base.physical": ("possible_range", "possible_theta"),
    "armdyn.dynamics.coriolis": ("coriolis_matrix", "mass_matrix_rate"),
    "armdyn.dynamics.drive": ("augmented_mass_matrix", "drive_torque", "transmission_matrix"),
    "armdyn.dynamics.energy": ("energy_rates", "kinetic_energy", "potential_energy"),
    "armdyn.dynamics.regressors.forward_by_regressor": ("forward_dynamics_regressor",),
    "armdyn.dynamics.regressors.filtered_regressor": ("FilteredRegressor", "LowPass"),
    "armdyn.dynamics.forward_dynamics": ("forward_dynamics",),
    "armdyn.dynamics.friction": ("breakaway_torque", "friction_torque"),
    "armdyn.dynamics.full": ("joint_acceleration", "joint_torque"),
    "armdyn.dynamics.gravity": ("gravity_torque",),
    "armdyn.dynamics.joint_wrenches": ("joint_wrenches",),
    "armdyn.dynamics.lagrange": ("lagrange",),
    "armdyn.dynamics.link_jacobians": (
        "christoffel_symbols",
        "coriolis_coefficients",
        "gravity_torque_jacobians",
        "mass_matrix_jacobians",
    ),
    "armdyn.dynamics.lugre": ("lugre_step", "lugre_torque"),
    "armdyn.dynamics.mass_matrix": ("mass_matrix",),
    "armdyn.dynamics.regressors.joint_columns": (
        "full_adaptive_regressor",
        "full_regressor",
        "gain_columns",
        "joint_columns",
        "joint_parameters",
    ),
    "armdyn.dynamics.linear.linearize": ("linearize",),
    "armdyn.dynamics.linear.discretize": ("discretize",),
    "armdyn.dynamics.linear.gramian": ("controllability", "observability"),
    "armdyn.dynamics.linear.sensitivity": ("linearize_sensitivity", "unit_payload"),
    "armdyn.dynamics.linear.modes": ("eigenvalue_shift", "modes"),
    "armdyn.dynamics.momentum": ("center_of_mass", "generalized_momentum"),
    "armdyn.dynamics.movable": ("massless_joints",),
    "armdyn.dynamics.newton_euler_base": ("inverse_dynamics_base",),
    "armdyn.dynamics.operational": ("operational_inertia", "tip_mobility"),
    "armdyn.dynamics.linear.tip_output": ("tip_output",),
    "armdyn.dynamics.linear.motion": ("linearize_motion",),
    "armdyn.dynamics.linear.plot": ("plot_modes",),
    "armdyn.dynamics.linear.state_space": ("state_space",),
    "armdyn.dynamics.newton_euler": ("inverse_dynamics",),
    "armdyn.dynamics.regressors.energy_regressor": (
        "energy_regressor",
        "lagrangian_regressor",
        "momentum_regressor",
        "power_regressor",
    ),
    "armdyn.dynamics.regressors.normal_equations": ("normal_equations",),
    "armdyn.dynamics.regressors.regressor": ("regressor",),
    "armdyn.dynamics.regressors.regressor16": ("regressor16", "theta16"),
    "armdyn.dynamics.regressors.regressor_derivatives": (
        "base_regressor_gradient",
        "regressor_derivatives",
        "regressor_gradient",
    ),
    "armdyn.dynamics.regressors.split": (
        "linear_parameters",
        "unknown_mass",
        "unknown_parameters",
        "unknown_payload",
    ),
    "armdyn.dynamics.linear.torque_derivatives": ("torque_derivatives",),
    "armdyn.dynamics.linear.torque_second_derivatives": ("torque_second_derivatives",),
    "armdyn.errors": ("ArmdynError", "ArmdynWarning"),
    "armdyn.identification.checks.check": ("check_log",),
    "armdyn.identification.motion.differentiate": ("differentiate",),
    "armdyn.identification.fit.result": ("Fit",),
    "armdyn.identification.identify": ("identify",),
    "armdyn.identification.logs.log": ("Log",),
    "armdyn.identification.drive_gains": ("DriveGains", "identify_drive_gains"),
    "armdyn.identification.payload": ("identify_payload",),
    "armdyn.identification.logs.read_log": ("read_log",),
    "armdyn.identification.fit.validation": ("validate",),
    "armdyn.kinematics.forward": ("forward_kinematics", "link_poses"),
    "armdyn.kinematics.closed.form": ("closed_form",),
    "armdyn.kinematics.closed.srs": ("swivel_angle",),
    "armdyn.kinematics.inverse": ("inverse_kinematics",),
    "armdyn.kinematics.jacobian": ("jacobian", "jacobian_rate"),
    "armdyn.kinematics.manipulability": ("dexterity", "manipulability"),
    "armdyn.kinematics.velocity": ("add_angular_velocities", "point_acceleration", "point_velocity"),
    "armdyn.model.arm": ("Arm", "Link"),
    "armdyn.model.dh_frames": ("as_dh", "dh_frames", "dh_parameters"),
    "armdyn.model.diagnosis": ("diagnose",),
    "armdyn.model.io": ("load",),
    "armdyn.model.joint": ("Drive", "Friction", "Joint", "Limits"),
    "armdyn.model.pinocchio_bridge": ("from_pinocchio", "to_pinocchio"),
    "armdyn.report.registry": ("report",),
    "armdyn.simulation.plant.elasticity": ("Elasticity", "resonances"),
    "armdyn.simulation.plant.mujoco": ("to_mjcf",),
    "armdyn.simulation.plant.payload": ("Drop", "PickUp"),
    "armdyn.simulation.plant.plant": ("Plant",),
    "armdyn.simulation.plot": ("plot_run",),
    "armdyn.simulation.readings": ("Readings",),
    "armdyn.simulation.result": ("SimulationResult",),
    "armdyn.simulation.sensors": ("Sensors",),
    "armdyn.simulation.simulate": ("simulate",),
    "armdyn.spatial.inertia": ("Inertia",),
    "armdyn.study.run": ("run_study",),
    "armdyn.study.spec": ("read_study",),
    "armdyn.trace.printers.c_code": ("c_code",),
    "armdyn.trace.printers.latex": ("latex",),
    "armdyn.trace.numeric": ("kernel",),
    "armdyn.trace.printers.sympy_form": ("sympy_expression",),
    "armdyn.trajectory.excitation.excite": ("Excitation", "excite"),
    "armdyn.trajectory.fourier": ("FourierSeries",),
    "armdyn.trajectory.tip.from_tip": ("joint_trajectory",),
    "armdyn.trajectory.motion_limits": ("MotionLimits",),
    "armdyn.trajectory.excitation.multistage": ("Multistage", "improve_motion"),
    "armdyn.trajectory.excitation.multistage_start": ("heuristic_start",),
    "armdyn.trajectory.point_to_point": ("PointToPoint", "point_to_point"),
    "armdyn.trajectory.excitation.quality": ("predict_quality", "tracking_loss"),
    "armdyn.trajectory.retime": ("Retimed", "scale_to_limits"),
    "armdyn.trajectory.s_curve": ("SCurve",),
    "armdyn.trajectory.sequence": ("concatenate", "repeat"),
    "armdyn.trajectory.spline": ("read_trajectory", "sampled", "spline"),
    "armdyn.trajectory.save": ("save_trajectory",),
    "armdyn.trajectory.timing": ("ConstantAcceleration", "Cubic", "Quintic", "Trapezoid"),
    "armdyn.trajectory.tip.motion": ("TipMotion", "lift"),
    "armdyn.trajectory.tip.path": ("Circle", "Line"),
    "armdyn.trace.traced": ("traced",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = ("arms",)

__all__ = sorted([*_HOME_OF, *_MODULES])


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"armdyn.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'armdyn' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
