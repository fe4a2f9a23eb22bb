# Written by tools/write_stubs.py from the tables in __init__.py: change these, not this file.

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
    "Circle",
    "ConstantAcceleration",
    "Cubic",
    "Excitation",
    "Experiment",
    "FourierSeries",
    "Guarantee",
    "JointPath",
    "Line",
    "MotionLimits",
    "Multistage",
    "ObjectiveOptions",
    "PointToPoint",
    "ProtectionOptions",
    "Quintic",
    "Retimed",
    "SCurve",
    "SearchOptions",
    "SeriesOptions",
    "TimeOptimal",
    "TipMotion",
    "TorqueCheck",
    "Trapezoid",
    "concatenate",
    "excite",
    "heuristic_start",
    "improve_motion",
    "joint_trajectory",
    "lift",
    "plan_experiment",
    "point_to_point",
    "predict_quality",
    "read_trajectory",
    "repeat",
    "sampled",
    "save_trajectory",
    "scale_to_limits",
    "spline",
    "time_optimal",
    "tracking_loss",
    "urscript",
    "write_ros_folder",
]
