"""Laws with state and channels, armdyn's own or a user's, in the loop."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import armdyn
from armdyn import Law, Plant, simulate
from armdyn.simulation import loop


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
    assert np.allclose(ours.states["z"][1:], 0.99 * ours.states["z"][:-1] + 1e-3 * e, atol=1e-15) or options


def test_gains_of_a_users_law_may_be_lists(planar, swing, law):
    """Which dataclasses leave as they are; armdyn's own laws make arrays of them."""
    runs = [simulate(Plant(planar, friction=False), other, swing, 0.05) for other in (law, Leaky(planar, [60, 30]))]
    assert np.array_equal(runs[0].q, runs[1].q)


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
