"""Elementary functions in native code: accuracy in units in the last place, and special values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from armdyn.trace.graphs.graph import Graph
from armdyn.trace.llvm.compile import compile_graph
from armdyn.trace.llvm.native import LoadedKernel
from armdyn.trace.program import Port

INF, NAN, TINY, HUGE = np.inf, np.nan, 5e-324, 1.7e308


def native(op: str, arity: int = 1) -> Callable[..., np.ndarray]:
    """One operation as a native function of arrays."""
    graph = Graph(op, tuple(Port(f"x{k}", (1,)) for k in range(arity)), (Port("y", (1,)),))
    graph.results = [[graph.add(op, *(graph.add("input", value=(k, 0)) for k in range(arity)))]]
    loaded = LoadedKernel(compile_graph(graph, frozenset()))
    return lambda *args: loaded.gufunc(*(np.asarray(a, float)[:, None] for a in args))[:, 0]


def ulps(got: np.ndarray, reference: np.ndarray) -> float:
    """Largest distance from an 80-bit reference in units in the last place of the double nearest to it."""
    exact = reference.astype(float)
    finite = np.isfinite(exact)
    assert np.array_equal(np.isnan(got), np.isnan(exact))
    assert np.array_equal(got[~finite & ~np.isnan(exact)], exact[~finite & ~np.isnan(exact)])
    return float(np.max(np.abs((got[finite] - reference[finite]) / np.spacing(np.abs(exact[finite])))))


def wide(seed: int, count: int = 20_000, low: float = -12, high: float = 3) -> np.ndarray:
    """Numbers of both signs over many orders of magnitude."""
    rng = np.random.default_rng(seed)
    return rng.choice([-1.0, 1.0], count) * 10 ** rng.uniform(low, high, count)


has_long_double = pytest.mark.skipif(
    np.finfo(np.longdouble).nmant < 63, reason="needs an 80-bit long double as reference"
)

# What the module promises, in ulp; the C library's functions are within 1 ulp of the true value.
PROMISED = {"sin": 2, "cos": 2, "exp": 2, "tanh": 3, "log": 1, "sqrt": 0.51}


@has_long_double
@pytest.mark.parametrize("op", PROMISED)
@pytest.mark.by_day(8)
def test_accuracy_over_the_range(op: str, width: int) -> None:
    x = {
        "sin": np.concatenate([wide(0, high=5), np.arange(-400, 400) * np.pi / 2, np.linspace(-7, 7, 9001)]),
        "exp": np.concatenate([wide(1, high=2.84), np.linspace(-745, 709.7, 9001)]),
        "tanh": np.concatenate([wide(2, high=2), np.linspace(-25, 25, 9001)]),
        "log": np.abs(wide(3, low=-300, high=300)),
        "sqrt": np.abs(wide(4, low=-300, high=300)),
    }[op if op != "cos" else "sin"]
    with np.errstate(all="ignore"):
        reference = getattr(np, op)(x.astype(np.longdouble))
    assert ulps(native(op)(x), reference) <= PROMISED[op]


@has_long_double
@pytest.mark.parametrize("op", ["sin", "cos"])
def test_very_large_angles_are_reduced_exactly(op: str, width: int) -> None:
    x = np.concatenate([wide(5, 400, 5, 300), [1e22, -1e22, 2.0**1000, HUGE]])
    assert ulps(native(op)(x), getattr(np, op)(x.astype(np.longdouble))) <= 1


@pytest.mark.parametrize("op", ["sin", "cos"])
@pytest.mark.parametrize("huge", [1e6, -1e6, 1e300, INF, NAN])
@pytest.mark.by_day(10)
def test_a_very_large_angle_does_not_change_its_neighbours(op: str, huge: float, width: int) -> None:
    x = wide(6, 4000, -3, 5)
    x = x[np.abs(x) < 1e5][:3200]
    alone = native(op)(x)
    spoilt = x.copy()
    spoilt[::5] = huge  # every lane has one in turn
    got = native(op)(spoilt)
    kept = np.arange(len(x)) % 5 != 0
    np.testing.assert_array_equal(got[kept], alone[kept])


@pytest.mark.parametrize(
    ("op", "x", "y"),
    [
        ("sin", [0.0, -0.0, INF, -INF, NAN, TINY], [0.0, -0.0, NAN, NAN, NAN, TINY]),
        ("cos", [0.0, -0.0, INF, NAN, TINY], [1.0, 1.0, NAN, NAN, 1.0]),
        ("exp", [0.0, -0.0, INF, -INF, NAN, 800, -800, TINY], [1.0, 1.0, INF, 0.0, NAN, INF, 0.0, 1.0]),
        ("tanh", [0.0, -0.0, INF, -INF, NAN, HUGE, TINY, -TINY], [0.0, -0.0, 1.0, -1.0, NAN, 1.0, TINY, -TINY]),
        ("log", [0.0, 1.0, INF, -1.0, NAN], [-INF, 0.0, INF, NAN, NAN]),
        ("sqrt", [0.0, -0.0, 4.0, INF, -1.0, NAN], [0.0, -0.0, 2.0, INF, NAN, NAN]),
        ("sign", [0.0, -0.0, 3.0, -INF, TINY, NAN], [0.0, -0.0, 1.0, -1.0, 1.0, NAN]),
        ("fabs", [-0.0, -INF, -2.5, NAN], [0.0, INF, 2.5, NAN]),
        ("floor", [1.5, -1.5, -0.0], [1.0, -2.0, -0.0]),
        ("not", [0.0, 1.0, -2.0], [1.0, 0.0, 0.0]),
    ],
)
@pytest.mark.by_day(10)
def test_special_values(op: str, x: list[float], y: list[float], width: int) -> None:
    got = native(op)(x)
    np.testing.assert_array_equal(got, y)
    np.testing.assert_array_equal(np.signbit(got)[~np.isnan(y)], np.signbit(y)[~np.isnan(y)])


BINARY: dict[str, tuple[Any, list[float], list[float]]] = {
    "atan2": (
        np.arctan2,
        [0, -0.0, 1, -1, INF, -INF, 3, -3, NAN, 1, 0.0],
        [0, -0.0, 0, 0, INF, -INF, -4, -4, 1, NAN, -1],
    ),
    "fmin": (np.fmin, [1, NAN, 2, -INF], [2, 5, NAN, 0]),
    "fmax": (np.fmax, [1, NAN, 2, -INF], [2, 5, NAN, 0]),
    "pow": (np.power, [2, 0, 4, NAN, 1], [10, 0, 0.5, 0, NAN]),
    "lt": (np.less, [1, 2, NAN, 1], [2, 1, 1, 1]),
    "le": (np.less_equal, [1, 2, NAN, 1], [2, 1, 1, 1]),
    "eq": (np.equal, [1, 2, NAN, 0.0], [1, 1, NAN, -0.0]),
    "ne": (np.not_equal, [1, 2, NAN, 0.0], [1, 1, NAN, -0.0]),
    "and": (np.logical_and, [1, 0, 2], [1, 1, 0]),
    "or": (np.logical_or, [1, 0, 0], [1, 1, 0]),
    "if_else_zero": (lambda c, x: np.where(c != 0, x, 0.0), [1, 0, 0], [3, 4, NAN]),
    "copysign": (np.copysign, [1, -2, 3], [-0.0, 1, -5]),
    "fmod": (np.fmod, [5.5, -5.5], [2, 2]),
}


@pytest.mark.parametrize("op", BINARY)
@pytest.mark.by_day(12)
def test_functions_of_two_arguments(op: str, width: int) -> None:
    reference, x, y = BINARY[op]
    np.testing.assert_array_max_ulp(
        native(op, 2)(x, y), reference(np.array(x, float), np.array(y, float)).astype(float), 2
    )


@has_long_double
def test_atan2_over_all_quadrants(width: int) -> None:
    y, x = wide(6), wide(7)
    reference = np.arctan2(y.astype(np.longdouble), x.astype(np.longdouble))
    assert ulps(native("atan2", 2)(y, x), reference) <= 2
