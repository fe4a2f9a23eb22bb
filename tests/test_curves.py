"""Curves of figures as data."""

from __future__ import annotations

import base64

import numpy as np
from matplotlib.figure import Figure

from armdyn.curves import curve_data, description


def _unpack(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), "<f4")


def test_curves_bands_and_lines_are_those_of_the_figure() -> None:
    t, y = np.linspace(0, 1, 7), np.array([0.0, 1, 4, np.nan, 16, 25, 36])
    figure = Figure()
    above, below = figure.subplots(2, 1)
    above.plot(t, y, label="measured", color="#14375e")
    above.fill_between(t, t - 1, t + 1, color="red", label="band")
    above.axhline(2.0)
    above.axvline(0.5)
    below.semilogy(t, t + 1, "--")
    below.set(xlabel="time [s]", ylabel="speed\n[rad/s]", ylim=(0.5, 3))
    data = curve_data(figure)
    assert data is not None
    first, second = data["panels"]
    (curve,), (band,) = first["curves"], first["bands"]
    assert curve["name"] == "measured"
    assert curve["t"] == band["t"] == second["curves"][0]["t"]  # times are packed once
    np.testing.assert_array_equal(_unpack(data["arrays"][curve["y"]]), y.astype("f4"))
    np.testing.assert_allclose(_unpack(data["arrays"][band["low"]]), t - 1, atol=1e-7)
    np.testing.assert_allclose(_unpack(data["arrays"][band["high"]]), t + 1, atol=1e-7)
    assert [sorted(line) for line in first["lines"]] == [["colour", "y"], ["colour", "x"]]
    assert (second["log"], second["range"]) == (True, [0.5, 3.0])
    assert (second["title"], second["y"]) == ("speed", "[rad/s]")  # names beside low diagrams would be cut
    assert second["curves"][0]["dashed"]
    words = description(figure)
    assert all(word in words for word in ("measured", "band", "speed [rad/s]", "over time [s]"))


def test_figures_of_other_things_stay_as_they_are() -> None:
    bars, path, space = Figure(), Figure(), Figure()
    bars.subplots().bar([1, 2], [3, 4])
    path.subplots().plot([0, 1, 0], [0, 1, 2])  # back along its axis
    space.add_subplot(projection="3d").plot([0, 1], [0, 1], [0, 1])
    assert [curve_data(figure) for figure in (bars, path, space, Figure())] == [None] * 4
