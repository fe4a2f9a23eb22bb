"""An arm moves for half a second and then rests: one law stops learning, the other goes on from what it recorded."""

import numpy as np

import armdyn

arm = armdyn.arms.planar2()
unknowns = armdyn.adapt(armdyn.unknown_parameters(arm, ["mx2", "my2", "Izz2"]))
truth = unknowns.phi + np.array([0.4, -0.3, 0.1])
plant = arm.with_theta(unknowns.theta(truth))

move = armdyn.point_to_point([0.0, 0.0], [0.8, -0.6], duration=0.5)
for kind in (armdyn.SlotineLi, armdyn.ConcurrentSlotineLi):
    law = kind(unknowns, lam=8.0, k=[60.0, 15.0], gain=1.0)
    run = armdyn.simulate(plant, law, move, 20.0, rate=2000, hold=True, check=False)
    wrong = np.linalg.norm(run.states["phi"] - truth, axis=-1)
    left = wrong / wrong[0]
    print(f"{kind.__name__}: {left[1000]:.1%} of the error left after the move, {left[-1]:.2%} at the end")
