"""Motions over time, of joints and of the tip."""

from armdyn.exports import export

export(
    __name__,
    {
        "excitation.excite": "Excitation excite",
        "excitation.guarantees": "Guarantee",
        "excitation.multistage": "heuristic_start improve_motion Multistage",
        "excitation.options": "ObjectiveOptions ProtectionOptions SearchOptions SeriesOptions TorqueCheck",
        "excitation.quality": "predict_quality tracking_loss",
        "experiment.plan": "Experiment plan_experiment",
        "experiment.ros": "write_ros_folder",
        "experiment.urscript": "urscript",
        "fourier": "FourierSeries",
        "motion_limits": "MotionLimits",
        "point_to_point": "point_to_point PointToPoint",
        "retime": "Retimed scale_to_limits",
        "save": "save_trajectory",
        "sequence": "concatenate repeat",
        "spline": "read_trajectory sampled spline",
        "time_optimal": "JointPath time_optimal TimeOptimal",
        "timing": "ConstantAcceleration Cubic Quintic SCurve Trapezoid",
        "tip.from_tip": "joint_trajectory",
        "tip.motion": "lift TipMotion",
        "tip.path": "Circle Line",
    },
)
