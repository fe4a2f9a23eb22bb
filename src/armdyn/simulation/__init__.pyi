# Written by tools/write_stubs.py from the tables in __init__.py: change these, not this file.

from armdyn.simulation.compare import Comparison as Comparison
from armdyn.simulation.compare import Sway as Sway
from armdyn.simulation.compare import compare as compare
from armdyn.simulation.learn import Learning as Learning
from armdyn.simulation.learn import learn as learn
from armdyn.simulation.loop.mujoco import to_mjcf as to_mjcf
from armdyn.simulation.loop.plan import SimulationNumerics as SimulationNumerics
from armdyn.simulation.loop.plan import SimulationSettings as SimulationSettings
from armdyn.simulation.loop.plan import SimulationTiming as SimulationTiming
from armdyn.simulation.mismatch_study import mismatch_study as mismatch_study
from armdyn.simulation.plant.contact import Contact as Contact
from armdyn.simulation.plant.contact import EndStops as EndStops
from armdyn.simulation.plant.elasticity import Elasticity as Elasticity
from armdyn.simulation.plant.elasticity import resonances as resonances
from armdyn.simulation.plant.payload import Drop as Drop
from armdyn.simulation.plant.payload import PickUp as PickUp
from armdyn.simulation.plant.plant import Plant as Plant
from armdyn.simulation.plant.servo import PositionServo as PositionServo
from armdyn.simulation.plant.servo import servo_torque as servo_torque
from armdyn.simulation.plant.wrist_sensor import WristSensor as WristSensor
from armdyn.simulation.plant_fmu import plant_fmu as plant_fmu
from armdyn.simulation.readings import Readings as Readings
from armdyn.simulation.result import SimulationResult as SimulationResult
from armdyn.simulation.scenarios import compare_scenarios as compare_scenarios
from armdyn.simulation.sensors import Sensors as Sensors
from armdyn.simulation.simulate import simulate as simulate
from armdyn.simulation.simulated_robot import SimulatedRobot as SimulatedRobot

__all__ = [
    "Comparison",
    "Contact",
    "Drop",
    "Elasticity",
    "EndStops",
    "Learning",
    "PickUp",
    "Plant",
    "PositionServo",
    "Readings",
    "Sensors",
    "SimulatedRobot",
    "SimulationNumerics",
    "SimulationResult",
    "SimulationSettings",
    "SimulationTiming",
    "Sway",
    "WristSensor",
    "compare",
    "compare_scenarios",
    "learn",
    "mismatch_study",
    "plant_fmu",
    "resonances",
    "servo_torque",
    "simulate",
    "to_mjcf",
]
