"""Simulation: a believable arm in a closed loop, from one run to thousands."""

from armdyn.exports import export

export(
    __name__,
    {
        "compare": "compare Comparison Sway",
        "learn": "learn Learning",
        "loop.mujoco": "to_mjcf",
        "loop.plan": "SimulationNumerics SimulationSettings SimulationTiming",
        "mismatch_study": "mismatch_study",
        "plant.contact": "Contact EndStops",
        "plant.elasticity": "Elasticity resonances",
        "plant.payload": "Drop PickUp",
        "plant.plant": "Plant",
        "plant.servo": "PositionServo servo_torque",
        "plant.wrist_sensor": "WristSensor",
        "plant_fmu": "plant_fmu",
        "readings": "Readings",
        "result": "SimulationResult",
        "scenarios": "compare_scenarios",
        "sensors": "Sensors",
        "simulate": "simulate",
        "simulated_robot": "SimulatedRobot",
    },
)
