"""Design an exciting motion for a Panda, and predict how well it determines the parameters."""

import armdyn

arm = armdyn.arms.panda()
design = armdyn.excite(arm, 10.0, max_acceleration=8.0, time_budget=5)
print(f"condition number {design.condition:.1f} of {design.base.count} + {2 * arm.n} columns")

print(
    *(f"holds: {line}" for line in design.constraints), *(f"not checked: {line}" for line in design.unchecked), sep="\n"
)
print(design.lowest)

quality = armdyn.predict_quality(design, noise=0.5)
for name, std in list(zip(quality.names, quality.std, strict=True))[:5]:
    print(f"{name}: known within {std:.1e}")

path = armdyn.save_trajectory(design.trajectory, "exciting_motion.csv")
experiment = armdyn.plan_experiment(design, home=[0, -0.8, 0, -2.3, 0, 1.6, 0.8], count=2)
print("saved as", path, *experiment.save(path))
