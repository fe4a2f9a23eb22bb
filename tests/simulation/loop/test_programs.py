"""Laws with state and channels, armdyn's own or a user's, in the loop."""

import re
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn import Law, Plant, simulate
from armdyn.errors import ArmdynError, SimulationError
from armdyn.simulation.loop import programs as loop


@dataclass(frozen=True, eq=False)
class Leaky(Law):
    """A law of a user: feedforward from a channel, plus a leaky integral of the error."""

    shapes: ClassVar = {"k": "n"}
    arm: Any
    k: Any

    def init(self):
        return {"z": np.zeros(self.arm.n)}

    def channels(self, t, motion):
        return {"tau_ff": armdyn.inverse_dynamics(self.arm, *motion)}

    def step(self, arm, params, state, q, qd, ref, dt):
        e = ref.q - q
        z = 0.99 * state["z"] + dt * e
        return ref.channels["tau_ff"] + params["k"] * (e + 5 * z + 0.2 * (ref.qd - qd)), {"z": z}


@pytest.fixture
def law(planar):
    return Leaky(planar, np.array([60.0, 30.0]))


@pytest.mark.parametrize("options", [{}, {"substeps": 4, "delay": 0.25e-3}])
def test_a_users_law_runs_in_the_kernel(planar, swing, law, options):
    """State and channels go through both paths alike (round-off); the state is part of the result."""
    plant = Plant(planar, friction=False)
    ours, plain = (simulate(plant, law, swing, 0.3, q0=[0.1, -0.1], native=n, **options) for n in (True, False))
    assert np.abs(ours.q - plain.q).max() < 1e-12
    assert ours.states["z"].shape == (301, 2)
    e = (ours.q_ref - ours.q)[:-1]
    assert np.allclose(ours.states["z"][1:], 0.99 * ours.states["z"][:-1] + 1e-3 * e, atol=1e-15)


def test_gains_of_a_users_law_may_be_lists(planar, swing, law):
    """Which dataclasses leave as they are; armdyn's own laws make arrays of them."""
    runs = [simulate(Plant(planar, friction=False), other, swing, 0.05) for other in (law, Leaky(planar, [60, 30]))]
    assert np.array_equal(runs[0].q, runs[1].q)


@dataclass(frozen=True, eq=False)
class Wrong(Law):
    """A user's law with a fault."""

    shapes: ClassVar = {"k": "n"}
    arm: Any
    answer: Any
    start: Any = None
    k: Any = (1.0, 1.0)

    def init(self):
        return self.start or {}

    def step(self, arm, params, state, q, qd, ref, dt):
        return self.answer(params, state, q)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (
            {"answer": lambda p, s, q: (q[0], {})},
            {"where": "Wrong.step", "expected": "2 torques", "got": "shape (1, 1)"},
        ),
        ({"answer": lambda p, s, q: q}, {"where": "Wrong.step", "expected": "a pair of torques and a state"}),
        (
            {"answer": lambda p, s, q: (q if q[0] > 0 else -q, {})},
            {
                "cause": re.compile(r"Wrong\.step cannot become a kernel"),
                "remedy": (
                    "write it with traced formulas and CasADi's functions, or run it as Python with native=False"
                ),
            },
        ),
        (
            {"answer": lambda p, s, q: (q, {}), "start": {"z": np.zeros(2)}},
            {"expected": "the state 'z' of shape (2,), as `init` gives it"},
        ),
        (
            {"answer": lambda p, s, q: (q, s), "start": {"z": 0.0}},
            {"where": "Wrong.init", "expected": "'z' as an array with an axis"},
        ),
        (
            {"answer": lambda p, s, q: (q, {}), "k": np.ones(3)},
            {"where": "simulate: Wrong", "expected": "k of shape (..., 2)", "got": "(3,)"},
        ),
    ],
)
def test_faults_of_a_users_law_are_named(planar, options, parts):
    with raises(ArmdynError, **parts):
        simulate(Plant(planar, friction=False), Wrong(planar, **options), [0.0, 0.0], 0.05, check=False)


def test_torques_of_a_users_law_may_be_a_list(planar):
    law = Wrong(planar, lambda p, s, q: ([-3 * q[0], -2 * q[1]], {}))
    runs = [simulate(planar, law, [0.1, 0.1], 0.05, native=native, check=False) for native in (True, False)]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-13


def test_a_users_law_that_raises_keeps_what_was_computed(planar):
    calls = []

    def answer(params, state, q):
        calls.append(q)
        return -q / (1 / (20 - len(calls))), {}

    with raises(SimulationError, cause=re.compile(r"raised ZeroDivisionError at t = 0\.019 s")) as caught:
        simulate(planar, Wrong(planar, answer), [0.1, 0.1], 0.05, native=False, check=False)
    assert len(caught.value.result.t) == 19


def test_kernels_of_a_users_law_live_with_it(planar, swing, law, monkeypatch):
    simulate(Plant(planar, friction=False), law, swing, 0.01)
    made = []
    monkeypatch.setattr(loop, "make_rollout", lambda *a: made.append(a))
    simulate(Plant(planar, friction=False), law, swing, 0.01)
    assert not made


def test_batches_of_a_users_law(planar, swing):
    k = np.array([[60.0, 30.0], [80.0, 40.0], [10.0, 10.0]])
    batch = simulate(Plant(planar, friction=False), Leaky(planar, k), swing, 0.2, q0=[0.1, 0.0])
    for i in range(3):
        single = simulate(Plant(planar, friction=False), Leaky(planar, k[i]), swing, 0.2, q0=[0.1, 0.0])
        assert np.abs(batch.run(i).q - single.q).max() < 1e-12
        assert np.abs(batch.run(i).states["z"] - single.states["z"]).max() < 1e-12
