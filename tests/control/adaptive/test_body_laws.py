"""The natural gradient keeps bodies possible, and V falls."""

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.control.adaptive.body import pseudo_inertia
from armdyn.control.adaptive.body_laws import NaturalSlotineLi
from armdyn.control.adaptive.unknowns import adapt
from armdyn.errors import ShapeError
from armdyn.simulation.simulate import simulate
from armdyn.spatial.inertia import Inertia

LOAD = Inertia.from_com(1.5, (0.05, 0.02, 0.0), 0.004 * np.eye(3)).theta


def law(planar, natural_gain=3.0, **options):
    unknowns = adapt(armdyn.unknown_payload(planar), ("viscous",))
    return NaturalSlotineLi(unknowns, 8.0, [60.0, 15.0], natural_gain, **options)


def test_pseudo_inertia_is_the_matrix_of_moments():
    """Of point masses: the sum of m [r; 1] [r; 1]'."""
    rng = np.random.default_rng(0)
    points, masses = rng.normal(size=(5, 3)), rng.uniform(0.1, 1, 5)
    theta = sum(Inertia.from_com(m, r).theta for m, r in zip(masses, points, strict=True))
    x = np.column_stack([points, np.ones(5)])
    assert np.allclose(pseudo_inertia(theta), (x.T * masses) @ x)


@pytest.mark.slow
def test_energy_falls_and_the_load_stays_possible(planar, swing):
    """10 kHz stands for continuous time."""
    loaded = planar.with_payload(1.5, (0.05, 0.02, 0.0), 0.004 * np.eye(3))
    controller = law(planar)
    reference = swing([0.5, -0.8], [0.8, 1.3], 3.0)
    run = simulate(loaded, controller, reference, rate=10_000, q0=[0.1, -0.1], check=False)
    V, rate, _ = controller.lyapunov(loaded, [*LOAD, 0.0, 0.0], run)
    assert np.diff(V).max() < 1e-4 * V[0]
    assert V[-1] - V[0] < 0.99 * np.trapezoid(rate, run.t)  # the projection lowers it further
    assert np.linalg.eigvalsh(pseudo_inertia(run.states["phi"][..., :10])).min() > 0
    assert np.abs(run.error[-1]).max() < 5e-3


def test_overshooting_estimates_stay_possible_too(planar, swing):
    """A gain at which the mass overshoots: still positive mass and moments."""
    run = simulate(
        planar.with_payload(1.5), law(planar, 30.0), swing([0.5, -0.8], [0.8, 1.3], 1.0), rate=5000, check=False
    )
    phi = run.states["phi"][..., :10]
    assert phi[:, 0].max() > 2.5
    assert np.linalg.eigvalsh(pseudo_inertia(phi)).min() > 0


def test_saturated_drives_leave_the_estimate_bounded(planar, swing):
    """Errors that no estimate can mend drive it for ever: it ends at its bounds instead of escaping."""
    reference = swing([0.9, -0.8], [0.8, 1.3], 3.0)
    controller = law(planar, 30.0, heaviest=50.0)
    plant = armdyn.Plant(planar.with_payload(1.5), saturation=[20.0, 4.0])
    run = simulate(plant, controller, reference, rate=1000, check=False, quiet=True)
    assert run.complete
    length = np.array([10, 10, 10, 1.0])
    values = np.linalg.eigvalsh(pseudo_inertia(run.states["phi"][..., :10]) * np.outer(length, length))
    assert values.max() == pytest.approx(50.0)
    assert values.min() > 0.99e-4


def test_it_learns_a_load_no_slower_than_slotine_and_li(planar, swing):
    """With gains that learn the mass alike where nothing is known yet."""
    reference, loaded = swing([0.5, -0.8], [0.8, 1.3], 2.0), planar.with_payload(2.5)
    unknowns = adapt(armdyn.unknown_payload(planar))
    plain = armdyn.SlotineLi(unknowns, 8.0, [60.0, 15.0], np.r_[1.0, np.full(9, 1e-2)])
    natural = NaturalSlotineLi(unknowns, 8.0, [60.0, 15.0], 1.0)
    errors = [
        np.sqrt((simulate(loaded, one, reference, rate=1000, check=False).error ** 2).mean())
        for one in (natural, plain)
    ]
    assert errors[0] < errors[1]


def test_impossible_bodies_and_other_unknowns_are_rejected(planar):
    with raises(ShapeError, expected="a physically consistent body, with mass and extent in all directions"):
        law(planar, body=np.zeros(10))
    with raises(ShapeError, expected="adapt(unknown_payload(arm), ...), whose load is a body"):
        NaturalSlotineLi(adapt(armdyn.unknown_mass(planar, (0, 0, 0))), 8.0, 10.0, 1.0)
