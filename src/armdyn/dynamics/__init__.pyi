# Written by tools/write_stubs.py from the tables in __init__.py: change these, not this file.

from armdyn.dynamics.base.filtered_regressor import FilteredRegressor as FilteredRegressor
from armdyn.dynamics.base.filtered_regressor import LowPass as LowPass
from armdyn.dynamics.base.normal_equations import normal_equations as normal_equations
from armdyn.dynamics.base.parameters import BaseParameters as BaseParameters
from armdyn.dynamics.base.parameters import base_adaptive_regressor as base_adaptive_regressor
from armdyn.dynamics.base.parameters import base_parameters as base_parameters
from armdyn.dynamics.base.parameters import base_regressor as base_regressor
from armdyn.dynamics.base.physical import possible_range as possible_range
from armdyn.dynamics.base.physical import possible_theta as possible_theta
from armdyn.dynamics.base.regressor_derivatives import base_regressor_gradient as base_regressor_gradient
from armdyn.dynamics.base.regressor_derivatives import regressor_derivatives as regressor_derivatives
from armdyn.dynamics.base.regressor_derivatives import regressor_gradient as regressor_gradient
from armdyn.dynamics.constrained import ConstrainedMotion as ConstrainedMotion
from armdyn.dynamics.constrained import constrained_dynamics as constrained_dynamics
from armdyn.dynamics.constrained import constrained_torque as constrained_torque
from armdyn.dynamics.constrained import onto_constraint as onto_constraint
from armdyn.dynamics.constraint import Constraint as Constraint
from armdyn.dynamics.constraint import DirectionAngle as DirectionAngle
from armdyn.dynamics.constraint import PointAtDistance as PointAtDistance
from armdyn.dynamics.constraint import PointOnPlane as PointOnPlane
from armdyn.dynamics.constraint import at_point as at_point
from armdyn.dynamics.constraint import constraint_drift as constraint_drift
from armdyn.dynamics.constraint import constraint_jacobian as constraint_jacobian
from armdyn.dynamics.constraint import constraint_residual as constraint_residual
from armdyn.dynamics.constraint import on_circle as on_circle
from armdyn.dynamics.constraint import on_hinge as on_hinge
from armdyn.dynamics.constraint import on_line as on_line
from armdyn.dynamics.constraint import on_plane as on_plane
from armdyn.dynamics.coriolis import coriolis_matrix as coriolis_matrix
from armdyn.dynamics.coriolis import mass_matrix_rate as mass_matrix_rate
from armdyn.dynamics.drive import augmented_mass_matrix as augmented_mass_matrix
from armdyn.dynamics.drive import drive_torque as drive_torque
from armdyn.dynamics.drive import transmission_matrix as transmission_matrix
from armdyn.dynamics.energy import center_of_mass as center_of_mass
from armdyn.dynamics.energy import energy_rates as energy_rates
from armdyn.dynamics.energy import generalized_momentum as generalized_momentum
from armdyn.dynamics.energy import kinetic_energy as kinetic_energy
from armdyn.dynamics.energy import potential_energy as potential_energy
from armdyn.dynamics.forward_dynamics import forward_dynamics as forward_dynamics
from armdyn.dynamics.friction import breakaway_torque as breakaway_torque
from armdyn.dynamics.friction import friction_torque as friction_torque
from armdyn.dynamics.friction import lugre_step as lugre_step
from armdyn.dynamics.friction import lugre_torque as lugre_torque
from armdyn.dynamics.full import joint_acceleration as joint_acceleration
from armdyn.dynamics.full import joint_torque as joint_torque
from armdyn.dynamics.gravity import gravity_torque as gravity_torque
from armdyn.dynamics.lagrange import lagrange as lagrange
from armdyn.dynamics.linear.acceleration_derivatives import acceleration_derivatives as acceleration_derivatives
from armdyn.dynamics.linear.bending import Bending as Bending
from armdyn.dynamics.linear.bending import link_bending as link_bending
from armdyn.dynamics.linear.discretize import discretize as discretize
from armdyn.dynamics.linear.gramian import controllability as controllability
from armdyn.dynamics.linear.gramian import observability as observability
from armdyn.dynamics.linear.linearize import linearize as linearize
from armdyn.dynamics.linear.linearize import linearize_motion as linearize_motion
from armdyn.dynamics.linear.linearize import linearize_sensitivity as linearize_sensitivity
from armdyn.dynamics.linear.linearize import unit_payload as unit_payload
from armdyn.dynamics.linear.modes import eigenvalue_shift as eigenvalue_shift
from armdyn.dynamics.linear.modes import modes as modes
from armdyn.dynamics.linear.state_space import state_space as state_space
from armdyn.dynamics.linear.state_space import tip_output as tip_output
from armdyn.dynamics.linear.torque_derivatives import torque_derivatives as torque_derivatives
from armdyn.dynamics.linear.torque_derivatives import torque_second_derivatives as torque_second_derivatives
from armdyn.dynamics.link_jacobians import christoffel_symbols as christoffel_symbols
from armdyn.dynamics.link_jacobians import coriolis_coefficients as coriolis_coefficients
from armdyn.dynamics.link_jacobians import gravity_torque_jacobians as gravity_torque_jacobians
from armdyn.dynamics.link_jacobians import mass_matrix_jacobians as mass_matrix_jacobians
from armdyn.dynamics.mass_matrix import mass_matrix as mass_matrix
from armdyn.dynamics.movable import massless_joints as massless_joints
from armdyn.dynamics.newton_euler import inverse_dynamics as inverse_dynamics
from armdyn.dynamics.newton_euler import joint_wrenches as joint_wrenches
from armdyn.dynamics.newton_euler_base import inverse_dynamics_base as inverse_dynamics_base
from armdyn.dynamics.operational import operational_inertia as operational_inertia
from armdyn.dynamics.operational import tip_mobility as tip_mobility
from armdyn.dynamics.regressors.adaptive_regressor import adaptive_regressor as adaptive_regressor
from armdyn.dynamics.regressors.adaptive_regressor import adaptive_torque as adaptive_torque
from armdyn.dynamics.regressors.energy_regressor import energy_regressor as energy_regressor
from armdyn.dynamics.regressors.energy_regressor import lagrangian_regressor as lagrangian_regressor
from armdyn.dynamics.regressors.energy_regressor import momentum_regressor as momentum_regressor
from armdyn.dynamics.regressors.energy_regressor import power_regressor as power_regressor
from armdyn.dynamics.regressors.joint_columns import full_adaptive_regressor as full_adaptive_regressor
from armdyn.dynamics.regressors.joint_columns import full_regressor as full_regressor
from armdyn.dynamics.regressors.joint_columns import gain_columns as gain_columns
from armdyn.dynamics.regressors.joint_columns import joint_columns as joint_columns
from armdyn.dynamics.regressors.joint_columns import joint_parameters as joint_parameters
from armdyn.dynamics.regressors.regressor import forward_dynamics_regressor as forward_dynamics_regressor
from armdyn.dynamics.regressors.regressor import regressor as regressor
from armdyn.dynamics.regressors.regressor import wrench_columns as wrench_columns
from armdyn.dynamics.regressors.regressor16 import regressor16 as regressor16
from armdyn.dynamics.regressors.regressor16 import theta16 as theta16
from armdyn.dynamics.regressors.split import linear_parameters as linear_parameters
from armdyn.dynamics.regressors.split import unknown_mass as unknown_mass
from armdyn.dynamics.regressors.split import unknown_parameters as unknown_parameters
from armdyn.dynamics.regressors.split import unknown_payload as unknown_payload
from armdyn.dynamics.springs import spring_columns as spring_columns
from armdyn.dynamics.springs import spring_energy as spring_energy

__all__ = [
    "BaseParameters",
    "Bending",
    "ConstrainedMotion",
    "Constraint",
    "DirectionAngle",
    "FilteredRegressor",
    "LowPass",
    "PointAtDistance",
    "PointOnPlane",
    "acceleration_derivatives",
    "adaptive_regressor",
    "adaptive_torque",
    "at_point",
    "augmented_mass_matrix",
    "base_adaptive_regressor",
    "base_parameters",
    "base_regressor",
    "base_regressor_gradient",
    "breakaway_torque",
    "center_of_mass",
    "christoffel_symbols",
    "constrained_dynamics",
    "constrained_torque",
    "constraint_drift",
    "constraint_jacobian",
    "constraint_residual",
    "controllability",
    "coriolis_coefficients",
    "coriolis_matrix",
    "discretize",
    "drive_torque",
    "eigenvalue_shift",
    "energy_rates",
    "energy_regressor",
    "forward_dynamics",
    "forward_dynamics_regressor",
    "friction_torque",
    "full_adaptive_regressor",
    "full_regressor",
    "gain_columns",
    "generalized_momentum",
    "gravity_torque",
    "gravity_torque_jacobians",
    "inverse_dynamics",
    "inverse_dynamics_base",
    "joint_acceleration",
    "joint_columns",
    "joint_parameters",
    "joint_torque",
    "joint_wrenches",
    "kinetic_energy",
    "lagrange",
    "lagrangian_regressor",
    "linear_parameters",
    "linearize",
    "linearize_motion",
    "linearize_sensitivity",
    "link_bending",
    "lugre_step",
    "lugre_torque",
    "mass_matrix",
    "mass_matrix_jacobians",
    "mass_matrix_rate",
    "massless_joints",
    "modes",
    "momentum_regressor",
    "normal_equations",
    "observability",
    "on_circle",
    "on_hinge",
    "on_line",
    "on_plane",
    "onto_constraint",
    "operational_inertia",
    "possible_range",
    "possible_theta",
    "potential_energy",
    "power_regressor",
    "regressor",
    "regressor16",
    "regressor_derivatives",
    "regressor_gradient",
    "spring_columns",
    "spring_energy",
    "state_space",
    "theta16",
    "tip_mobility",
    "tip_output",
    "torque_derivatives",
    "torque_second_derivatives",
    "transmission_matrix",
    "unit_payload",
    "unknown_mass",
    "unknown_parameters",
    "unknown_payload",
    "wrench_columns",
]
