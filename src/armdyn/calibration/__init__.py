"""Geometric calibration: base, tool, joint frames, zeros and deflection under gravity, from measured poses."""

from armdyn.exports import export

export(
    __name__,
    {
        "calibrate": "calibrate",
        "check": "check_poses PoseMistake PosesCheck",
        "design": "calibration_poses",
        "held_out": "CalibrationVerdict",
        "kinematics": "calibrated_kinematics command_steps deflection_regressor geometry_regressor",
        "poses": "Poses",
        "read_poses": "read_poses",
        "result": "Calibration",
    },
)
