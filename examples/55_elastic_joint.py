"""Joints that are springs: motors alone, damping, full linearisation; the springs identified. Writes elastic.png."""

import os

import matplotlib

matplotlib.use("Agg")
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np

import armdyn
from armdyn.control import ElasticDamping, ElasticLinearisation, ElasticPD
from armdyn.identification import identify_springs
from armdyn.simulation import Elasticity, Sway

planar = armdyn.arms.planar2()
drives = armdyn.Drive(rotor_inertia=6e-5, gear_ratio=100.0), armdyn.Drive(rotor_inertia=1e-5, gear_ratio=100.0)
arm = planar.with_joints([replace(j, drive=d) for j, d in zip(planar.joints, drives, strict=True)])
plant = armdyn.Plant(arm, elasticity=Elasticity([9000.0, 2500.0], [1.0, 0.3]))

# A motion under a law that takes the joints for stiff, seen by encoders at links and motors, tells the springs.
stiff = ElasticPD(arm, 1e6, [900.0, 250.0], [90.0, 20.0])
record = armdyn.simulate(plant, stiff, Sway.within(arm, 3.0), rate=1000, check=False)
springs = identify_springs(arm, record.t, record.q, record.states["rotor_q"])
print("springs:", ", ".join(f"{k:.0f} +- {s:.0f} N m/rad" for k, s in zip(springs.stiffness, springs.std, strict=True)))

rotors = np.array([joint.drive.reflected_inertia for joint in arm.joints])
laws = {
    "rigid PD on motors": armdyn.GravityPD(arm, [900.0, 250.0], [90.0, 20.0]),
    "elastic PD on motors": ElasticPD(arm, springs.stiffness, [900.0, 250.0], [90.0, 20.0]),
    "computed torque with damping": ElasticDamping(
        armdyn.ComputedTorque.from_bandwidth(arm, 2.0), 1.4 * np.sqrt(springs.stiffness * rotors)
    ),
    "linearisation": ElasticLinearisation.from_bandwidth(arm, springs.stiffness, 3.0),
}
if os.environ.get("ARMDYN_BENCHMARK") == "small":  # fewer kernels to compile
    laws = {name: laws[name] for name in ("elastic PD on motors", "linearisation")}
move = armdyn.point_to_point([-0.5, 0.3], [0.6, -0.4], duration=0.8)
figure, axis = plt.subplots(figsize=(7, 4))
for name, law in laws.items():
    run = armdyn.simulate(plant, law, move, 2.0, 4000, hold=True, check=False)
    error = 1e3 * np.linalg.norm(run.q_ref - run.q, axis=1)
    print(f"{name}: links at most {error.max():.1f} mrad off on the way, {error[-1]:.3f} mrad at the end")
    axis.semilogy(run.t, error, label=name)
axis.set(xlabel="time [s]", ylabel="error of the links [mrad]", ylim=(1e-3, 1e3))
axis.legend()
figure.savefig("elastic.png", dpi=120)
