# Written by tools/write_stubs.py from the tables in __init__.py: change these, not this file.

__version__: str

from armdyn import arms as arms
from armdyn import calibration as calibration
from armdyn import control as control
from armdyn import dynamics as dynamics
from armdyn import identification as identification
from armdyn import kinematics as kinematics
from armdyn import model as model
from armdyn import reproduce as reproduce
from armdyn import servo as servo
from armdyn import shapes as shapes
from armdyn import simulation as simulation
from armdyn import spatial as spatial
from armdyn import studio as studio
from armdyn import study as study
from armdyn import trace as trace
from armdyn import trajectory as trajectory
from armdyn.calibration.calibrate import calibrate as calibrate
from armdyn.calibration.check import PoseMistake as PoseMistake
from armdyn.calibration.check import PosesCheck as PosesCheck
from armdyn.calibration.check import check_poses as check_poses
from armdyn.calibration.design import calibration_poses as calibration_poses
from armdyn.calibration.held_out import CalibrationVerdict as CalibrationVerdict
from armdyn.calibration.kinematics import calibrated_kinematics as calibrated_kinematics
from armdyn.calibration.kinematics import command_steps as command_steps
from armdyn.calibration.kinematics import deflection_regressor as deflection_regressor
from armdyn.calibration.kinematics import geometry_regressor as geometry_regressor
from armdyn.calibration.poses import Poses as Poses
from armdyn.calibration.read_poses import read_poses as read_poses
from armdyn.calibration.result import Calibration as Calibration
from armdyn.control.adaptive.body_laws import NaturalSlotineLi as NaturalSlotineLi
from armdyn.control.adaptive.body_laws import ProjectedSlotineLi as ProjectedSlotineLi
from armdyn.control.adaptive.composite import CompositeSlotineLi as CompositeSlotineLi
from armdyn.control.adaptive.concurrent import ConcurrentSlotineLi as ConcurrentSlotineLi
from armdyn.control.adaptive.craig import Craig as Craig
from armdyn.control.adaptive.gains import adaptation_gains as adaptation_gains
from armdyn.control.adaptive.gains import retuned as retuned
from armdyn.control.adaptive.modified_slotine_li import ModifiedSlotineLi as ModifiedSlotineLi
from armdyn.control.adaptive.slotine_li import SlotineLi as SlotineLi
from armdyn.control.adaptive.unknowns import adapt as adapt
from armdyn.control.design.accuracy import pole_regions as pole_regions
from armdyn.control.design.assumptions import failed_assumptions as failed_assumptions
from armdyn.control.design.designs import designs as designs
from armdyn.control.design.pid_design import optimal_pid as optimal_pid
from armdyn.control.design.robustness import closed_loop as closed_loop
from armdyn.control.design.robustness import robustness as robustness
from armdyn.control.export import law_code as law_code
from armdyn.control.fmu import law_fmu as law_fmu
from armdyn.control.laws.cascade import Cascade as Cascade
from armdyn.control.laws.computed_torque import ComputedTorque as ComputedTorque
from armdyn.control.laws.computed_torque import computed_torque as computed_torque
from armdyn.control.laws.force import Admittance as Admittance
from armdyn.control.laws.force import HybridForce as HybridForce
from armdyn.control.laws.force import ParallelForce as ParallelForce
from armdyn.control.laws.force import ShapedImpedance as ShapedImpedance
from armdyn.control.laws.guarded import Guarded as Guarded
from armdyn.control.laws.integral import Integral as Integral
from armdyn.control.laws.integral import VelocityPID as VelocityPID
from armdyn.control.laws.integral import pid as pid
from armdyn.control.laws.lqr import MeasuredLQR as MeasuredLQR
from armdyn.control.laws.lqr import TrajectoryLQR as TrajectoryLQR
from armdyn.control.laws.momentum import DisturbanceObserver as DisturbanceObserver
from armdyn.control.laws.momentum import MomentumObserver as MomentumObserver
from armdyn.control.laws.momentum import detection_delay as detection_delay
from armdyn.control.laws.momentum import external_torque as external_torque
from armdyn.control.laws.momentum import fit_threshold as fit_threshold
from armdyn.control.laws.momentum import noise_threshold as noise_threshold
from armdyn.control.laws.pd import PD as PD
from armdyn.control.laws.pd import FeedforwardPD as FeedforwardPD
from armdyn.control.laws.pd import GravityPD as GravityPD
from armdyn.control.laws.pd import pd_torque as pd_torque
from armdyn.control.laws.position_commands import PositionCommands as PositionCommands
from armdyn.control.laws.position_commands import arriving_command as arriving_command
from armdyn.control.laws.tip_space import Impedance as Impedance
from armdyn.control.laws.tip_space import OperationalSpace as OperationalSpace
from armdyn.control.laws.tip_space import resolved_rate as resolved_rate
from armdyn.control.laws.velocity import FilteredDerivative as FilteredDerivative
from armdyn.control.laws.velocity import KalmanVelocity as KalmanVelocity
from armdyn.control.laws.velocity import ObservedVelocity as ObservedVelocity
from armdyn.control.laws.wrapped import FrictionFeedforward as FrictionFeedforward
from armdyn.control.protocol import Law as Law
from armdyn.control.protocol import Reference as Reference
from armdyn.control.real_time import run_law as run_law
from armdyn.control.robust.elastic import ElasticDamping as ElasticDamping
from armdyn.control.robust.elastic import ElasticLinearisation as ElasticLinearisation
from armdyn.control.robust.elastic import ElasticPD as ElasticPD
from armdyn.control.robust.learning import IterativeLearning as IterativeLearning
from armdyn.control.robust.learning import Learnt as Learnt
from armdyn.control.robust.path_scaling import PathScaling as PathScaling
from armdyn.control.robust.predictive import PredictiveControl as PredictiveControl
from armdyn.control.robust.sliding_mode import SlidingMode as SlidingMode
from armdyn.control.robust.sliding_mode import SuperTwisting as SuperTwisting
from armdyn.control.robust.sliding_mode import super_twisting as super_twisting
from armdyn.control.ros2.package import ros2_package as ros2_package
from armdyn.control.step import traced_step as traced_step
from armdyn.control.theory.gains import bryson as bryson
from armdyn.control.theory.gains import gains_from_bandwidth as gains_from_bandwidth
from armdyn.control.theory.gains import gains_from_poles as gains_from_poles
from armdyn.control.theory.gains import pd_gains as pd_gains
from armdyn.control.theory.riccati import continuous_lqr as continuous_lqr
from armdyn.control.theory.riccati import discrete_lqr as discrete_lqr
from armdyn.control.theory.riccati import finite_horizon_lqr as finite_horizon_lqr
from armdyn.control.wrist import Tool as Tool
from armdyn.control.wrist import identify_tool as identify_tool
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
from armdyn.errors import ArmdynError as ArmdynError
from armdyn.errors import ArmdynWarning as ArmdynWarning
from armdyn.identification.drive_gains import DriveGains as DriveGains
from armdyn.identification.drive_gains import identify_drive_gains as identify_drive_gains
from armdyn.identification.fit.result import Fit as Fit
from armdyn.identification.fit.validation import validate as validate
from armdyn.identification.hypotheses.check import check_log as check_log
from armdyn.identification.hypotheses.finding import Finding as Finding
from armdyn.identification.hypotheses.finding import FindingKind as FindingKind
from armdyn.identification.identify import identify as identify
from armdyn.identification.logs.corrections import LogCorrection as LogCorrection
from armdyn.identification.logs.log import Log as Log
from armdyn.identification.logs.read_log import read_log as read_log
from armdyn.identification.motion.differentiate import differentiate as differentiate
from armdyn.identification.options import CorrectionOptions as CorrectionOptions
from armdyn.identification.options import ModelOptions as ModelOptions
from armdyn.identification.options import SmoothingOptions as SmoothingOptions
from armdyn.identification.payload import identify_payload as identify_payload
from armdyn.identification.springs import Springs as Springs
from armdyn.identification.springs import identify_springs as identify_springs
from armdyn.identification.wrench import subtract_wrench as subtract_wrench
from armdyn.kinematics.closed.form import closed_form as closed_form
from armdyn.kinematics.closed.srs import swivel_angle as swivel_angle
from armdyn.kinematics.forward import forward_kinematics as forward_kinematics
from armdyn.kinematics.forward import link_poses as link_poses
from armdyn.kinematics.inverse import inverse_kinematics as inverse_kinematics
from armdyn.kinematics.jacobian import jacobian as jacobian
from armdyn.kinematics.jacobian import jacobian_rate as jacobian_rate
from armdyn.kinematics.manipulability import dexterity as dexterity
from armdyn.kinematics.manipulability import manipulability as manipulability
from armdyn.kinematics.velocity import add_angular_velocities as add_angular_velocities
from armdyn.kinematics.velocity import point_acceleration as point_acceleration
from armdyn.kinematics.velocity import point_velocity as point_velocity
from armdyn.model.arm import Arm as Arm
from armdyn.model.arm import Link as Link
from armdyn.model.dh_frames import as_dh as as_dh
from armdyn.model.dh_frames import dh_frames as dh_frames
from armdyn.model.dh_frames import dh_parameters as dh_parameters
from armdyn.model.diagnosis import diagnose as diagnose
from armdyn.model.io import load as load
from armdyn.model.joint import Drive as Drive
from armdyn.model.joint import Friction as Friction
from armdyn.model.joint import Joint as Joint
from armdyn.model.joint import Limits as Limits
from armdyn.model.mechanism import Frame as Frame
from armdyn.model.mechanism import Spring as Spring
from armdyn.model.pinocchio_bridge import from_pinocchio as from_pinocchio
from armdyn.model.pinocchio_bridge import to_pinocchio as to_pinocchio
from armdyn.model.preprocessing import Preprocessing as Preprocessing
from armdyn.model.tool_data import tool_data as tool_data
from armdyn.report.modes import plot_modes as plot_modes
from armdyn.report.registry import report as report
from armdyn.report.run import plot_run as plot_run
from armdyn.servo.identify import identify_servo as identify_servo
from armdyn.servo.log import ServoLog as ServoLog
from armdyn.servo.read_log import read_servo_log as read_servo_log
from armdyn.servo.result import ServoFit as ServoFit
from armdyn.shapes.bodies import Bodies as Bodies
from armdyn.shapes.bodies import bodies_of as bodies_of
from armdyn.shapes.obstacles import Box as Box
from armdyn.shapes.obstacles import HalfSpace as HalfSpace
from armdyn.shapes.obstacles import Sphere as Sphere
from armdyn.shapes.obstacles import mounting_plane as mounting_plane
from armdyn.shapes.obstacles import read_obstacles as read_obstacles
from armdyn.simulation.compare import Comparison as Comparison
from armdyn.simulation.compare import Sway as Sway
from armdyn.simulation.compare import compare as compare
from armdyn.simulation.learn import Learning as Learning
from armdyn.simulation.learn import learn as learn
from armdyn.simulation.loop.mujoco import to_mjcf as to_mjcf
from armdyn.simulation.loop.plan import SimulationNumerics as SimulationNumerics
from armdyn.simulation.loop.plan import SimulationSettings as SimulationSettings
from armdyn.simulation.loop.plan import SimulationTiming as SimulationTiming
from armdyn.simulation.mismatch_study import mismatch_study as mismatch_study
from armdyn.simulation.plant.contact import Contact as Contact
from armdyn.simulation.plant.contact import EndStops as EndStops
from armdyn.simulation.plant.elasticity import Elasticity as Elasticity
from armdyn.simulation.plant.elasticity import resonances as resonances
from armdyn.simulation.plant.payload import Drop as Drop
from armdyn.simulation.plant.payload import PickUp as PickUp
from armdyn.simulation.plant.plant import Plant as Plant
from armdyn.simulation.plant.servo import PositionServo as PositionServo
from armdyn.simulation.plant.servo import servo_torque as servo_torque
from armdyn.simulation.plant.wrist_sensor import WristSensor as WristSensor
from armdyn.simulation.plant_fmu import plant_fmu as plant_fmu
from armdyn.simulation.readings import Readings as Readings
from armdyn.simulation.result import SimulationResult as SimulationResult
from armdyn.simulation.scenarios import compare_scenarios as compare_scenarios
from armdyn.simulation.sensors import Sensors as Sensors
from armdyn.simulation.simulate import simulate as simulate
from armdyn.simulation.simulated_robot import SimulatedRobot as SimulatedRobot
from armdyn.spatial.inertia import Inertia as Inertia
from armdyn.study.run import run_study as run_study
from armdyn.study.spec import read_study as read_study
from armdyn.trace.numeric import kernel as kernel
from armdyn.trace.pool import trim as trim
from armdyn.trace.printers.c_code import c_code as c_code
from armdyn.trace.printers.latex import latex as latex
from armdyn.trace.printers.sympy_form import sympy_expression as sympy_expression
from armdyn.trace.to_jax import to_jax as to_jax
from armdyn.trace.traced import traced as traced
from armdyn.trajectory.excitation.excite import Excitation as Excitation
from armdyn.trajectory.excitation.excite import excite as excite
from armdyn.trajectory.excitation.guarantees import Guarantee as Guarantee
from armdyn.trajectory.excitation.multistage import Multistage as Multistage
from armdyn.trajectory.excitation.multistage import heuristic_start as heuristic_start
from armdyn.trajectory.excitation.multistage import improve_motion as improve_motion
from armdyn.trajectory.excitation.options import ObjectiveOptions as ObjectiveOptions
from armdyn.trajectory.excitation.options import ProtectionOptions as ProtectionOptions
from armdyn.trajectory.excitation.options import SearchOptions as SearchOptions
from armdyn.trajectory.excitation.options import SeriesOptions as SeriesOptions
from armdyn.trajectory.excitation.options import TorqueCheck as TorqueCheck
from armdyn.trajectory.excitation.quality import predict_quality as predict_quality
from armdyn.trajectory.excitation.quality import tracking_loss as tracking_loss
from armdyn.trajectory.experiment.plan import Experiment as Experiment
from armdyn.trajectory.experiment.plan import plan_experiment as plan_experiment
from armdyn.trajectory.experiment.ros import write_ros_folder as write_ros_folder
from armdyn.trajectory.experiment.urscript import urscript as urscript
from armdyn.trajectory.fourier import FourierSeries as FourierSeries
from armdyn.trajectory.motion_limits import MotionLimits as MotionLimits
from armdyn.trajectory.point_to_point import PointToPoint as PointToPoint
from armdyn.trajectory.point_to_point import point_to_point as point_to_point
from armdyn.trajectory.retime import Retimed as Retimed
from armdyn.trajectory.retime import scale_to_limits as scale_to_limits
from armdyn.trajectory.save import save_trajectory as save_trajectory
from armdyn.trajectory.sequence import concatenate as concatenate
from armdyn.trajectory.sequence import repeat as repeat
from armdyn.trajectory.spline import read_trajectory as read_trajectory
from armdyn.trajectory.spline import sampled as sampled
from armdyn.trajectory.spline import spline as spline
from armdyn.trajectory.time_optimal import JointPath as JointPath
from armdyn.trajectory.time_optimal import TimeOptimal as TimeOptimal
from armdyn.trajectory.time_optimal import time_optimal as time_optimal
from armdyn.trajectory.timing import ConstantAcceleration as ConstantAcceleration
from armdyn.trajectory.timing import Cubic as Cubic
from armdyn.trajectory.timing import Quintic as Quintic
from armdyn.trajectory.timing import SCurve as SCurve
from armdyn.trajectory.timing import Trapezoid as Trapezoid
from armdyn.trajectory.tip.from_tip import joint_trajectory as joint_trajectory
from armdyn.trajectory.tip.motion import TipMotion as TipMotion
from armdyn.trajectory.tip.motion import lift as lift
from armdyn.trajectory.tip.path import Circle as Circle
from armdyn.trajectory.tip.path import Line as Line

__all__ = [
    "Arm",
    "ArmdynError",
    "ArmdynWarning",
    "Calibration",
    "ComputedTorque",
    "Drive",
    "Fit",
    "Friction",
    "GravityPD",
    "Joint",
    "Limits",
    "Link",
    "Log",
    "Plant",
    "Sensors",
    "SimulationResult",
    "SlotineLi",
    "TrajectoryLQR",
    "adaptive_regressor",
    "arms",
    "base_parameters",
    "c_code",
    "calibrate",
    "calibration",
    "calibration_poses",
    "check_log",
    "check_poses",
    "compare",
    "control",
    "coriolis_matrix",
    "diagnose",
    "dynamics",
    "excite",
    "forward_dynamics",
    "forward_kinematics",
    "friction_torque",
    "gravity_torque",
    "identification",
    "identify",
    "identify_payload",
    "identify_servo",
    "inverse_dynamics",
    "inverse_kinematics",
    "jacobian",
    "joint_acceleration",
    "joint_torque",
    "kernel",
    "kinematics",
    "kinetic_energy",
    "lagrange",
    "latex",
    "law_code",
    "linearize",
    "link_poses",
    "load",
    "mass_matrix",
    "model",
    "plot_modes",
    "plot_run",
    "point_to_point",
    "potential_energy",
    "read_log",
    "read_poses",
    "read_servo_log",
    "read_study",
    "read_trajectory",
    "regressor",
    "regressor16",
    "report",
    "reproduce",
    "servo",
    "shapes",
    "simulate",
    "simulation",
    "spatial",
    "studio",
    "study",
    "to_jax",
    "trace",
    "traced",
    "trajectory",
    "validate",
]
