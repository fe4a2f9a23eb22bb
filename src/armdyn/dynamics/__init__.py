"""How arms respond to torques, and what torques motions need."""

from armdyn.exports import export

export(
    __name__,
    {
        "base.filtered_regressor": "FilteredRegressor LowPass",
        "base.normal_equations": "normal_equations",
        "base.parameters": "base_adaptive_regressor base_parameters base_regressor BaseParameters",
        "base.physical": "possible_range possible_theta",
        "base.regressor_derivatives": "base_regressor_gradient regressor_derivatives regressor_gradient",
        "constrained": "constrained_dynamics constrained_torque ConstrainedMotion onto_constraint",
        "constraint": (
            "at_point Constraint constraint_drift constraint_jacobian constraint_residual DirectionAngle on_circle "
            "on_hinge on_line on_plane PointAtDistance PointOnPlane"
        ),
        "coriolis": "coriolis_matrix mass_matrix_rate",
        "drive": "augmented_mass_matrix drive_torque transmission_matrix",
        "energy": "center_of_mass energy_rates generalized_momentum kinetic_energy potential_energy",
        "forward_dynamics": "forward_dynamics",
        "friction": "breakaway_torque friction_torque lugre_step lugre_torque",
        "full": "joint_acceleration joint_torque",
        "gravity": "gravity_torque",
        "lagrange": "lagrange",
        "linear.acceleration_derivatives": "acceleration_derivatives",
        "linear.bending": "Bending link_bending",
        "linear.discretize": "discretize",
        "linear.gramian": "controllability observability",
        "linear.linearize": "linearize linearize_motion linearize_sensitivity unit_payload",
        "linear.modes": "eigenvalue_shift modes",
        "linear.state_space": "state_space tip_output",
        "linear.torque_derivatives": "torque_derivatives torque_second_derivatives",
        "link_jacobians": "christoffel_symbols coriolis_coefficients gravity_torque_jacobians mass_matrix_jacobians",
        "mass_matrix": "mass_matrix",
        "movable": "massless_joints",
        "newton_euler": "inverse_dynamics joint_wrenches",
        "newton_euler_base": "inverse_dynamics_base",
        "operational": "operational_inertia tip_mobility",
        "regressors.adaptive_regressor": "adaptive_regressor adaptive_torque",
        "regressors.energy_regressor": "energy_regressor lagrangian_regressor momentum_regressor power_regressor",
        "regressors.joint_columns": (
            "full_adaptive_regressor full_regressor gain_columns joint_columns joint_parameters"
        ),
        "regressors.regressor": "forward_dynamics_regressor regressor wrench_columns",
        "regressors.regressor16": "regressor16 theta16",
        "regressors.split": "linear_parameters unknown_mass unknown_parameters unknown_payload",
        "springs": "spring_columns spring_energy",
    },
)
