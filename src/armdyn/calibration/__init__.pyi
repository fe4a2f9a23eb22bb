# Written by tools/write_stubs.py from the tables in __init__.py: change these, not this file.

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

__all__ = [
    "Calibration",
    "CalibrationVerdict",
    "PoseMistake",
    "Poses",
    "PosesCheck",
    "calibrate",
    "calibrated_kinematics",
    "calibration_poses",
    "check_poses",
    "command_steps",
    "deflection_regressor",
    "geometry_regressor",
    "read_poses",
]
