"""Control laws: traced formulas with named parameters and state."""

from armdyn.exports import export

export(
    __name__,
    {
        "adaptive.composite": "CompositeSlotineLi",
        "adaptive.concurrent": "ConcurrentSlotineLi",
        "adaptive.craig": "Craig",
        "adaptive.gains": "adaptation_gains retuned",
        "adaptive.modified_slotine_li": "ModifiedSlotineLi",
        "adaptive.natural_slotine_li": "NaturalSlotineLi",
        "adaptive.projected_slotine_li": "ProjectedSlotineLi",
        "adaptive.slotine_li": "SlotineLi",
        "adaptive.unknowns": "adapt",
        "design.accuracy": "pole_regions",
        "design.assumptions": "failed_assumptions",
        "design.designs": "designs",
        "design.gains": "bryson gains_from_bandwidth gains_from_poles pd_gains",
        "design.pid_design": "optimal_pid",
        "design.riccati": "continuous_lqr discrete_lqr finite_horizon_lqr",
        "design.robustness": "closed_loop robustness",
        "export": "law_code",
        "laws.computed_torque": "computed_torque ComputedTorque",
        "laws.disturbance_observer": "DisturbanceObserver",
        "laws.feedforward": "FeedforwardPD",
        "laws.friction_feedforward": "FrictionFeedforward",
        "laws.gravity_pd": "GravityPD",
        "laws.guarded": "Guarded",
        "laws.integral": "Integral pid",
        "laws.lqr": "TrajectoryLQR",
        "laws.measured_lqr": "MeasuredLQR",
        "laws.pd": "PD pd_torque",
        "laws.tip_space": "Impedance OperationalSpace resolved_rate",
        "protocol": "Law Reference",
        "step": "traced_step",
    },
)
