"""Tool data in the formats of controllers, read back as their manuals define them."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tests.raising import raises

from armdyn.errors import ArmdynError, ModelError
from armdyn.model.tool_data import tool_data

COM = np.array([0.01, -0.02, 0.05])


def tensor(seed: int) -> np.ndarray:
    """A consistent tensor about the centre, with principal axes that are turned."""
    axes = Rotation.random(random_state=seed).as_matrix()
    return axes @ np.diag([0.002, 0.003, 0.004]) @ axes.T


def numbers(text: str) -> list[float]:
    return [float(x) for x in re.findall(r"-?\d+\.?\d*(?:e[-+]?\d+)?", text)]


def test_franka_has_the_tensor_by_columns():
    data = json.loads(tool_data(1.25, COM, tensor(0), "franka"))
    assert data["mass"] == 1.25
    np.testing.assert_allclose(data["F_x_Cload"], COM)
    np.testing.assert_allclose(np.reshape(data["load_inertia"], (3, 3), order="F"), tensor(0), atol=1e-9)


def test_ur_has_the_moments_in_its_order():
    text = tool_data(1.25, COM, tensor(1), "ur")
    mass, *rest = numbers(text)
    xx, yy, zz, xy, xz, yz = rest[3:]
    assert text.startswith("set_target_payload(")
    assert mass == 1.25
    np.testing.assert_allclose([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], tensor(1), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_kuka_has_principal_axes_by_angles_about_z_y_x(seed):
    mass, x, y, z, a, b, c, *moments = numbers(tool_data(1.25, COM, tensor(seed), "kuka"))
    axes = Rotation.from_euler("ZYX", [a, b, c], degrees=True).as_matrix()
    assert mass == 1.25
    np.testing.assert_allclose([x, y, z], 1000 * COM)
    np.testing.assert_allclose(axes @ np.diag(moments) @ axes.T, tensor(seed), atol=2e-6)  # printed to 1e-6


def test_bad_input_is_named():
    with raises(ArmdynError, expected="one of: franka, ur, kuka"):
        tool_data(1.0, COM, tensor(0), "abb")
    with raises(ArmdynError, got="shapes (2,) and (3, 3)"):
        tool_data(1.0, COM[:2], tensor(0), "ur")
    with raises(ModelError, remedy="the log does not determine the load"):
        tool_data(np.nan, COM, tensor(0), "ur")
