"""All laws against a load and friction that their model lacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from armdyn.control.adaptive.estimate import Adaptive
from armdyn.control.design.designs import chosen_designs
from armdyn.control.protocol import Law
from armdyn.control.settings import one_number
from armdyn.control.theory.gains import slow_sampling
from armdyn.model.arm import Arm
from armdyn.model.joint import Friction
from armdyn.progress import ProgressCallback
from armdyn.simulation.compare import Comparison, Sway, compare, with_mismatch
from armdyn.simulation.plant.plant import Plant
from armdyn.simulation.sensors import REAL_SENSORS

DESIGN_S, DESIGN_POINTS = 10.0, 200  # motion for which laws are designed [s], and its samples


def swaying_designs(arm: Arm, bandwidth: float, rate: float, names: Sequence[str]) -> dict[str, Law]:
    """Laws by name, designed for a bandwidth [Hz] and a rate [Hz] about a motion within the arm's limits."""
    motion = Sway.within(arm, DESIGN_S)(np.linspace(0.0, DESIGN_S, DESIGN_POINTS))
    return chosen_designs(arm, motion, bandwidth, rate, names)


def mismatch_study(
    arm: Arm,
    payload: float = 2.5,
    friction: float = 1.25,
    rate: float = 1000.0,
    bandwidth: float = 3.0,
    duration: float = 12.0,
    motor_lag: float = 0.0,
    *,
    controllers: Sequence[str] | None = None,
    begin: Callable[[list[str]], None] | None = None,
    progress: ProgressCallback | bool | None = None,
) -> Comparison:
    """Compare a design of every law on an arm that differs from its model.

    Parameters
    ----------
    arm : Arm
        The model.
    payload : float
        Mass at the tip of the true arm [kg].
    friction : float
        True friction torques over the model's.
    rate : float
        Rate of the controllers [Hz].
    bandwidth : float
        Bandwidth of every joint [Hz].
    duration : float
        Duration of the run [s].
    motor_lag : float
        Time constant of the true drives [s].
    controllers : sequence of str, optional
        Names of the designs to compare (see `designs`); default all.
    begin : callable, optional
        Called once, with the names of all controllers that will run.
    progress : callable or bool, optional
        As of `compare`.

    Returns
    -------
    Comparison
    """
    payload = one_number(payload, "compare: payload", "a mass >= 0 in kg", zero=True)
    friction = one_number(friction, "compare: friction", "a factor >= 0", zero=True)
    duration = one_number(duration, "compare: duration", "a time > 0 in seconds")
    true = with_mismatch(arm, payload, friction)
    reference = Sway.within(arm, duration)
    motion = reference(np.linspace(0.0, duration, 400))
    laws = chosen_designs(arm, motion, bandwidth, rate, controllers)
    if begin is not None:
        begin(list(laws))
    rubs = any(joint.friction != Friction() for joint in arm.joints)
    more = f" and {friction:g} times the modelled friction" if rubs else " (the model has no friction)"
    about = f"{arm.name} with an unmodelled payload of {payload:g} kg{more}"
    about += f"; bandwidth {bandwidth:g} Hz, sampled at {rate:g} Hz"
    if slow := slow_sampling(bandwidth, rate):
        about += f" ({slow})"

    plant = Plant(true, motor_lag=motor_lag)
    # Of an odd number of samples one is kept, or torques that change at every sample would not show.
    every = max(int(rate // 200), 1) | 1
    truth = partial(true_unknowns, true=true, payload=payload)
    options = {"every": every, "sensors": REAL_SENSORS}
    return compare(plant, laws, reference, rate, truth=truth, about=about, progress=progress, **options)


def true_unknowns(law: Adaptive, true: Arm, payload: float) -> np.ndarray:
    """The unknowns as they are: a point mass at the tip, then friction term by term."""
    load = np.zeros(law.unknowns.S.shape[1])
    load[0] = payload
    friction = [[getattr(joint.friction, term) for joint in true.joints] for term in law.unknowns.friction]
    return np.concatenate([load, *friction])
