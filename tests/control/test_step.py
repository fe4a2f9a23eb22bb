"""A law's step over symbols computes with arrays, one sample or a batch."""

from dataclasses import dataclass
from typing import Any, ClassVar

import casadi
import numpy as np

import armdyn
from armdyn import Law, Reference
from armdyn.control.step import traced_step


@dataclass(frozen=True, eq=False)
class Saturating(Law):
    """A user's law written over symbols alone."""

    shapes: ClassVar = {"k": "n, n"}
    arm: Any
    k: Any

    def init(self):
        return {"count": np.zeros(1)}

    def channels(self, t, motion):
        return {"nominal": armdyn.gravity_torque(self.arm, motion.q)}

    @traced_step
    def step(self, arm, params, state, q, qd, ref, dt):
        error = casadi.mtimes(params["k"], ref.q - q)
        return ref.channels["nominal"] + casadi.fmin(error, 1.0), {"count": state["count"] + dt}


def test_a_step_over_symbols_computes_with_arrays_and_batches(planar):
    law = Saturating(planar, np.array([[5.0, 1.0], [0.0, 3.0]]))
    rng = np.random.default_rng(0)
    q, qd, q_ref, nominal = rng.normal(size=(4, 7, 2))
    ref = Reference(q_ref, q_ref, q_ref, {"nominal": nominal})
    tau, state = law.step(planar, law.params, law.init(), q, qd, ref, 0.1)
    expected = nominal + np.minimum((q_ref - q) @ law.k.T, 1.0)
    assert np.allclose(tau, expected, rtol=1e-14)
    assert np.allclose(state["count"], 0.1)
    one = Reference(*(x[3] for x in (q_ref, q_ref, q_ref)), {"nominal": nominal[3]})
    tau, state = law.step(planar, law.params, state, q[3], qd[3], one, 0.1)
    assert np.allclose(tau, expected[3], rtol=1e-14)
    assert np.allclose(state["count"], 0.2)


def test_laws_of_other_gains_share_no_numbers(planar):
    """Gains are inputs of the function; each call uses those it is given."""
    at = Reference(*np.array([[0.3, 0.1], [0.0, 0.0], [0.0, 0.0]]), {"nominal": np.zeros(2)})
    torques = [
        law.step(planar, law.params, law.init(), np.zeros(2), np.zeros(2), at, 0.1)[0]
        for law in (Saturating(planar, np.eye(2)), Saturating(planar, 2 * np.eye(2)))
    ]
    assert np.allclose(2 * torques[0], torques[1], rtol=1e-14)
