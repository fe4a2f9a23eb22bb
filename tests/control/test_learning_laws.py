"""Composite adaptation, concurrent learning, projection to physically consistent bodies, each by what it promises."""

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.control.adaptive.body import BODY, pseudo_inertia
from armdyn.control.adaptive.body_laws import ProjectedSlotineLi
from armdyn.control.adaptive.composite import CompositeSlotineLi
from armdyn.control.adaptive.concurrent import RECORDS, ConcurrentSlotineLi
from armdyn.control.adaptive.slotine_li import SlotineLi
from armdyn.control.adaptive.unknowns import adapt
from armdyn.errors import ShapeError
from armdyn.simulation.simulate import simulate
from armdyn.spatial.inertia import Inertia

LAM, K = 8.0, [60.0, 15.0]


class OnceThenRest:
    """One short swing, then rest: nothing excites the unknowns any more."""

    n = 2

    def __init__(self, swing, moving, duration):
        self.swing, self.moving, self.duration = swing([0.4, -0.5], 1 / moving, moving), moving, duration

    def __call__(self, t):
        t = np.asarray(t, float)
        resting = (t >= self.moving)[..., None]
        q, qd, qdd = self.swing(np.minimum(t, self.moving))
        return q, np.where(resting, 0.0, qd), np.where(resting, 0.0, qdd)


@pytest.fixture(scope="module")
def three(planar):
    return adapt(armdyn.unknown_parameters(planar, ["mx2", "my2", "Izz2"]))


@pytest.fixture(scope="module")
def truth(three):
    return three.phi + np.array([0.4, -0.3, 0.1])


@pytest.fixture(scope="module")
def plant(planar, three, truth):
    return planar.with_theta(three.theta(truth))


def test_the_prediction_is_linear_in_the_truth(three, truth, plant, swing):
    """r = W phi_true along a run: the low-pass makes up for accelerations, to the square of the period."""
    law = CompositeSlotineLi(three, LAM, K, 0.0)
    worst = []
    for rate in (500, 1000):
        run = simulate(plant, law, swing([0.5, -0.9], [0.7, 1.1], 1.0), rate=rate, check=False)
        missed = run.states["r"] - run.states["W"] @ truth
        worst.append(np.abs(missed).max() / np.abs(run.states["r"]).max())
    assert worst[1] < 2e-3
    # Torques held over a period and positions of its middle agree to first order at least.
    assert worst[1] < 0.6 * worst[0]


@pytest.mark.parametrize("kind", [CompositeSlotineLi, ConcurrentSlotineLi])
def test_energy_falls_as_theory_says(kind, three, truth, plant, swing):
    """Tracking and predictions both take from V; 10 kHz stands for continuous time."""
    law = kind(three, LAM, K, 0.3)
    run = simulate(plant, law, swing([0.5, -0.9], [0.7, 1.1], 2.0), rate=10_000, q0=[0.1, 0.1], check=False)
    V, rate, _ = law.lyapunov(plant, truth, run)
    assert np.diff(V).max() < 1e-4 * V[0]
    assert np.isclose(V[-1] - V[0], np.trapezoid(rate, run.t), rtol=0.02)


def test_composite_learns_faster_than_tracking_alone(three, truth, plant, swing):
    left = {}
    for kind in (SlotineLi, CompositeSlotineLi):
        run = simulate(plant, kind(three, LAM, K, 0.2), swing([0.5, -0.9], [0.7, 1.1], 3.0), rate=2000, check=False)
        left[kind] = np.linalg.norm(run.states["phi"][-1] - truth)
    assert left[CompositeSlotineLi] < 0.3 * left[SlotineLi]


def test_concurrent_learning_converges_without_excitation(three, truth, plant, swing):
    """Half a second of motion, then rest: the others stop learning, records go on teaching."""
    reference = OnceThenRest(swing, 0.5, 20.0)
    left, rested = {}, {}
    for kind in (SlotineLi, CompositeSlotineLi, ConcurrentSlotineLi):
        run = simulate(plant, kind(three, LAM, K, 0.2), reference, rate=2000, every=10, check=False)
        wrong = np.linalg.norm(run.states["phi"] - truth, axis=-1)
        left[kind], rested[kind] = wrong[-1] / wrong[0], wrong[np.searchsorted(run.t, 10.0)] / wrong[0]
    assert left[ConcurrentSlotineLi] < 1e-5
    for kind in (SlotineLi, CompositeSlotineLi):
        assert left[kind] > 0.02
        assert np.isclose(left[kind], rested[kind], rtol=1e-3)


def test_the_memory_only_gets_better(three, plant, swing):
    """Merit never falls, sums are those of the records, and at rest nothing is exchanged."""
    law = ConcurrentSlotineLi(three, LAM, K, 0.2)
    run = simulate(plant, law, OnceThenRest(swing, 0.5, 4.0), rate=1000, check=False)
    assert (np.diff(run.states["merit"][:, 0]) >= 0).all()
    records = run.states["records"][-1].reshape(RECORDS, 2, 3)
    R = np.diag(1 / (RECORDS * np.array(K)))
    assert np.allclose(run.states["information"][-1], np.einsum("jiu,ik,jkv->uv", records, R, records), rtol=1e-9)
    assert np.linalg.eigvalsh(run.states["information"][-1]).min() > 0
    assert np.array_equal(run.states["records"][-1], run.states["records"][-501])  # fifty times round


def test_strong_data_at_a_low_rate_do_not_shake_the_estimate(three, truth, plant, swing):
    """Predictions a thousand times too strong for the period: the normalised step stays a contraction."""
    law = CompositeSlotineLi(three, LAM, K, 1.0, weight=1000.0)
    run = simulate(plant, law, swing([0.5, -0.9], [0.7, 1.1], 4.0), rate=200, substeps=5, check=False)
    wrong = np.linalg.norm(run.states["phi"] - truth, axis=-1)
    assert wrong.max() < 2 * wrong[0]
    assert wrong[-1] < 0.1 * wrong[0]


def test_leak_and_dead_zone_bound_the_estimate_where_it_would_drift(planar):
    """Arm at rest, velocities read 0.1 rad/s: d phi/dt = -gain bias² without end, so an estimate of friction drifts."""
    unknowns, bias = adapt(planar, ("viscous",)), np.full(2, 0.1)
    still = armdyn.Reference(*np.zeros((3, 2)))
    found = {}
    for name, options in {"plain": {}, "leak": {"leak": 2.0}, "dead": {"dead_zone": 0.2}}.items():
        law = SlotineLi(unknowns, LAM, K, 10.0, **options)
        state = law.init()
        for _ in range(500):
            _, state = law.step(planar, law.params, state, np.zeros(2), bias, still, 0.1)
        found[name] = state["phi"]
    assert np.allclose(found["plain"], -10.0 * 0.1**2 * 50.0)
    assert np.allclose(found["leak"], -10.0 * 0.1**2 / 2.0, rtol=1e-6)  # gain Y's / leak
    assert not found["dead"].any()


# -- physically consistent bodies ----------------------------------------------------------------------------------


def projected(planar, body_gain, **options):
    return ProjectedSlotineLi(adapt(armdyn.unknown_payload(planar), ("viscous",)), LAM, K, body_gain, **options)


@pytest.mark.parametrize("body_gain", [3.0, 300.0])
def test_projection_keeps_bodies_possible_and_energy_falling(planar, swing, body_gain):
    """The projection is made at most samples, and takes energy besides: V' <= -s'Ks. 10 kHz is continuous time."""
    load = Inertia.from_com(1.5, (0.05, 0.02, 0.0), 0.004 * np.eye(3)).theta
    loaded = planar.with_payload(1.5, (0.05, 0.02, 0.0), 0.004 * np.eye(3))
    law = projected(planar, body_gain)
    run = simulate(loaded, law, swing([0.5, -0.8], [0.8, 1.3], 2.0), rate=10_000, q0=[0.1, -0.1], check=False)
    V, rate, _ = law.lyapunov(loaded, [*load, 0.0, 0.0], run)
    assert np.diff(V).max() < 1e-4 * V[0]
    assert V[-1] - V[0] < 0.99 * np.trapezoid(rate, run.t)
    scale = np.diag([10.0, 10.0, 10.0, 1.0])  # the law's size is 0.1 m
    least = np.linalg.eigvalsh(scale @ pseudo_inertia(run.states["phi"][..., :BODY]) @ scale)[:, 0]
    assert least.min() >= law.least * (1 - 1e-9)
    assert np.isclose(least.min(), law.least)
    assert np.abs(run.error[-1]).max() < 5e-3


def test_projection_is_the_nearest_possible_body(planar):
    """Against an eigenvalue decomposition by LAPACK; a physically consistent body is left as it is, to the last bit."""
    import casadi

    from armdyn.control.adaptive.body import within

    rng = np.random.default_rng(3)
    P = casadi.SX.sym("P", 4, 4)
    project = casadi.Function("project", [P], [within(P, 0.1, np.inf)])
    for _ in range(20):
        A = rng.normal(size=(4, 4)) * 10 ** rng.uniform(-2, 2, (4, 1))
        A = A + A.T
        values, vectors = np.linalg.eigh(A)
        nearest = vectors @ np.diag(np.maximum(values, 0.1)) @ vectors.T
        assert np.allclose(np.array(project(A)), nearest, rtol=0, atol=1e-12 * np.abs(A).max())
        good = A @ A.T + np.eye(4)
        assert np.array_equal(np.array(project(good)), good)


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (
            lambda arm, u: CompositeSlotineLi(u, 1.0, 1.0, 1.0, weight=-1.0),
            {"where": "CompositeSlotineLi: weight", "expected": "gains >= 0", "got": "-1 for joint '?'"},
        ),
        (
            lambda arm, u: CompositeSlotineLi(u, 1.0, 1.0, 1.0, smoothing=np.nan),
            {"where": "CompositeSlotineLi: smoothing", "expected": "finite numbers", "got": "nan"},
        ),
        (
            lambda arm, u: ConcurrentSlotineLi(
                adapt(armdyn.unknown_parameters(arm, ["link1", "link2"]), ("viscous",)), 1.0, 1.0, 1.0
            ),
            {"expected": "at most 20 unknowns, which 10 records can determine", "got": "22"},
        ),
        (
            lambda arm, u: ProjectedSlotineLi(u, 1.0, 1.0, 1.0),
            {"expected": "adapt(unknown_payload(arm), ...), whose load is a body"},
        ),
        (
            lambda arm, u: projected(arm, 1.0, size=0.0),
            {"where": "ProjectedSlotineLi: size", "expected": "a length > 0 in metres"},
        ),
    ],
)
def test_nonsense_is_rejected(planar, three, make, parts):
    with raises(ShapeError, **parts):
        make(planar, three)
