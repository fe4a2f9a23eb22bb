# Written by tools/write_stubs.py from the tables in __init__.py: change these, not this file.

from armdyn.servo.identify import identify_servo as identify_servo
from armdyn.servo.log import ServoLog as ServoLog
from armdyn.servo.read_log import read_servo_log as read_servo_log
from armdyn.servo.result import ServoFit as ServoFit

__all__ = [
    "ServoFit",
    "ServoLog",
    "identify_servo",
    "read_servo_log",
]
