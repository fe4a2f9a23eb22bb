"""Control laws: traced formulas with named parameters and state."""

from armdyn.exports import export

export(
    __name__,
    {
        "adaptive.body_laws": "NaturalSlotineLi ProjectedSlotineLi",
        "adaptive.composite": "CompositeSlotineLi",
        "adaptive.concurrent": "ConcurrentSlotineLi",
        "adaptive.craig": "Craig",
        "adaptive.gains": "adaptation_gains retuned",
        "adaptive.modified_slotine_li": "ModifiedSlotineLi",
        "adaptive.slotine_li": "SlotineLi",
        "adaptive.unknowns": "adapt",
        "design.accuracy": "pole_regions",
        "design.assumptions": "failed_assumptions",
        "design.designs": "designs",
        "design.pid_design": "optimal_pid",
        "design.robustness": "closed_loop robustness",
        "export": "law_code",
        "fmu": "law_fmu",
        "laws.cascade": "Cascade",
        "laws.computed_torque": "computed_torque ComputedTorque",
        "laws.force": "Admittance HybridForce ParallelForce ShapedImpedance",
        "laws.guarded": "Guarded",
        "laws.integral": "Integral pid",
        "laws.lqr": "MeasuredLQR TrajectoryLQR",
        "laws.momentum": (
            "detection_delay DisturbanceObserver external_torque fit_threshold MomentumObserver noise_threshold"
        ),
        "laws.pd": "FeedforwardPD GravityPD PD pd_torque",
        "laws.position_commands": "arriving_command PositionCommands",
        "laws.tip_space": "Impedance OperationalSpace resolved_rate",
        "laws.velocity": "FilteredDerivative KalmanVelocity ObservedVelocity",
        "laws.wrapped": "FrictionFeedforward",
        "protocol": "Law Reference",
        "robust.elastic": "ElasticDamping ElasticLinearisation ElasticPD",
        "robust.learning": "IterativeLearning Learnt",
        "robust.path_scaling": "PathScaling",
        "robust.predictive": "PredictiveControl",
        "robust.sliding_mode": "SlidingMode super_twisting SuperTwisting",
        "ros2.package": "ros2_package",
        "step": "traced_step",
        "theory.gains": "bryson gains_from_bandwidth gains_from_poles pd_gains",
        "theory.riccati": "continuous_lqr discrete_lqr finite_horizon_lqr",
        "wrist": "identify_tool Tool",
    },
)
