"""What theory asks for is checked."""

import numpy as np

import armdyn
from armdyn.control.adaptive.slotine_li import SlotineLi
from armdyn.control.adaptive.unknowns import adapt
from armdyn.control.design.assumptions import failed_assumptions
from armdyn.control.laws.computed_torque import ComputedTorque
from armdyn.control.laws.momentum import DisturbanceObserver
from armdyn.control.laws.pd import PD


def test_rates_too_low_for_a_bandwidth_are_told(planar):
    law = DisturbanceObserver(ComputedTorque.from_bandwidth(planar, 5.0), 5.0)
    assert failed_assumptions(law, 1000.0) == ()
    (said,) = failed_assumptions(law, 60.0)
    assert said == "ComputedTorque: a rate of 60 Hz is low for a bandwidth of 5 Hz; expected at least 100 Hz"
    assert failed_assumptions(PD(planar, 1.0, 1.0), 60.0) == ()


def test_gains_that_do_not_commute_are_told(planar):
    unknowns = adapt(armdyn.unknown_mass(planar, (0, 0, 0)))
    good = SlotineLi(unknowns, 8.0, [[60.0, 5.0], [5.0, 15.0]], 1.0)
    bad = SlotineLi(unknowns, [8.0, 4.0], [[60.0, 5.0], [5.0, 15.0]], 1.0)
    assert failed_assumptions(good, 1000.0) == ()
    assert "do not commute" in failed_assumptions(bad, 1000.0)[0]
    slow = SlotineLi(unknowns, 2 * np.pi * 10.0, 60.0, 1.0)
    assert "bandwidth of 10 Hz" in failed_assumptions(slow, 100.0)[0]
