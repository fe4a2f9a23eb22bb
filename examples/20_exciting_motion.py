"""Design a motion that shows a Panda's parameters, and say what it will tell."""

import armdyn

arm = armdyn.arms.panda()
design = armdyn.excite(arm, 10.0, max_acceleration=8.0, time_budget=5)
print(f"condition number {design.condition:.1f} of {design.base.count} + {2 * arm.n} columns")

quality = armdyn.predict_quality(design, noise=0.5)
for name, std in list(zip(quality.names, quality.std, strict=True))[:5]:
    print(f"{name}: known within {std:.1e}")

path = armdyn.save_trajectory(design.trajectory, "exciting_motion.csv")
print(f"saved as {path}")
