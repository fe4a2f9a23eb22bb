"""The numbers of a plant's formula, by name."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armdyn.simulation.plant.parts import PlantFeatures
from armdyn.simulation.plant.plant import Plant
from armdyn.simulation.plant.wrist_sensor import WristSensor


def plant_data(plant: Plant, kind: PlantFeatures, h: float, theta: NDArray) -> dict[str, NDArray]:
    """All but disturbances, for steps of h [s], each (1 or lanes, 1, ...); `theta` is (1 or lanes, 10 n)."""
    data = {"dt": np.full((1, 1, 1), h), "theta": theta[:, None, :], "gravity": plant.arm.gravity[None, None]}
    if kind.friction != "none":
        data["friction"] = _lanes(plant.own_friction, 2)
    if kind.rotors:
        data["drive"] = _lanes(plant.own_drive, 2)
    if kind.lag:
        data["decay"] = _lanes(_decays(np.asarray(plant.motor_lag), h), 2)
    if kind.saturation:
        data["limit"] = _lanes(plant.torque_limits, 1)
    if plant.servo is not None:
        data["servo"] = _lanes(plant.servo.rows(plant.arm.n), 2)
    if kind.elastic:
        data["springs"] = plant.springs[list(kind.elastic)][None, None]
    if plant.contact is not None:
        places = plant.contact.places(plant.arm)
        data["surfaces"], data["points"] = plant.contact.rows[None, None], places[None, None]
    if kind.stops:
        data["stops"] = plant.stop_rows[None, None]
    if kind.wrist:
        data["wrist"] = (plant.wrist or WristSensor()).tool.numbers[None, None, :4]
    return {name: np.array(array, order="C") for name, array in data.items()}


def _lanes(array: NDArray, core: int) -> NDArray:
    """An array (..., core axes) as (1 or lanes, 1, core axes)."""
    return array.reshape(-1, 1, *array.shape[array.ndim - core :])


def _decays(lag: NDArray, h: float) -> NDArray:
    """Return what is left of a motor's old torque at the three instants of a step, (..., 3, n); nothing without a
    lag.
    """
    lag = lag[..., None, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        left = np.exp(-np.array([0.0, 0.5, 1.0])[:, None] * h / lag)
    return np.where(lag > 0, left, 0.0)
