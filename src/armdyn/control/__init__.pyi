# Written by tools/write_stubs.py from the tables in __init__.py: change these, not this file.

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

__all__ = [
    "Admittance",
    "Cascade",
    "CompositeSlotineLi",
    "ComputedTorque",
    "ConcurrentSlotineLi",
    "Craig",
    "DisturbanceObserver",
    "ElasticDamping",
    "ElasticLinearisation",
    "ElasticPD",
    "FeedforwardPD",
    "FilteredDerivative",
    "FrictionFeedforward",
    "GravityPD",
    "Guarded",
    "HybridForce",
    "Impedance",
    "Integral",
    "IterativeLearning",
    "KalmanVelocity",
    "Law",
    "Learnt",
    "MeasuredLQR",
    "ModifiedSlotineLi",
    "MomentumObserver",
    "NaturalSlotineLi",
    "ObservedVelocity",
    "OperationalSpace",
    "PD",
    "ParallelForce",
    "PathScaling",
    "PositionCommands",
    "PredictiveControl",
    "ProjectedSlotineLi",
    "Reference",
    "ShapedImpedance",
    "SlidingMode",
    "SlotineLi",
    "SuperTwisting",
    "Tool",
    "TrajectoryLQR",
    "VelocityPID",
    "adapt",
    "adaptation_gains",
    "arriving_command",
    "bryson",
    "closed_loop",
    "computed_torque",
    "continuous_lqr",
    "designs",
    "detection_delay",
    "discrete_lqr",
    "external_torque",
    "failed_assumptions",
    "finite_horizon_lqr",
    "fit_threshold",
    "gains_from_bandwidth",
    "gains_from_poles",
    "identify_tool",
    "law_code",
    "law_fmu",
    "noise_threshold",
    "optimal_pid",
    "pd_gains",
    "pd_torque",
    "pid",
    "pole_regions",
    "resolved_rate",
    "retuned",
    "robustness",
    "ros2_package",
    "run_law",
    "super_twisting",
    "traced_step",
]
