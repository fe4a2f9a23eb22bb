"""The sensor at a wrist: what a tool adds to its reading, and what is left of it."""

import casadi as ca
import numpy as np

from armdyn.control.wrist import Tool, free_reading, outside_wrench
from armdyn.spatial.rotation import from_axis_angle

TOOL = Tool(1.3, (0.02, -0.05, 0.11), (0.5, -0.2, 0.3, 0.01, 0.02, -0.03))
GRAVITY = np.array([0.4, -0.3, -9.7])


def numbers(x):
    return np.array(ca.evalf(x)).ravel()


def test_a_tool_weighs_at_its_centre_and_what_is_left_came_from_outside():
    """Force m g and moment c x m g in tip axes; a wrench from outside comes back in base axes."""
    R = from_axis_angle([0.6, 0.0, 0.8], 0.9) @ from_axis_angle([0.0, 1.0, 0.0], -0.4)
    weight = TOOL.mass * R.T @ GRAVITY
    expected = np.r_[weight, np.cross(TOOL.com, weight)] + TOOL.bias
    symbols = ca.SX(TOOL.numbers), ca.SX(R), ca.SX(GRAVITY)
    assert np.allclose(numbers(free_reading(*symbols)), expected, rtol=1e-12)
    force, moment = np.array([3.0, -1.0, 2.0]), np.array([0.2, 0.5, -0.4])
    reading = expected + np.r_[R.T @ force, R.T @ moment]
    found = numbers(outside_wrench(symbols[0], ca.SX(reading), *symbols[1:]))
    assert np.allclose(found, np.r_[force, moment], rtol=1e-12)
