"""What a law's theory asks for, checked before it runs."""

from __future__ import annotations

import numpy as np

from armdyn.control.adaptive.craig import Craig
from armdyn.control.adaptive.slotine_li import SlotineLi
from armdyn.control.laws.computed_torque import ComputedTorque
from armdyn.control.laws.tip_space import OperationalSpace
from armdyn.control.protocol import Law, nested_laws
from armdyn.control.settings import one_number
from armdyn.control.theory.gains import commute, slow_sampling
from armdyn.errors import expect


def failed_assumptions(law: Law, rate: float) -> tuple[str, ...]:
    """Assumptions of a law's theory that do not hold, in sentences; empty if all do.

    Gains that are not positive (definite) are rejected when a law is made. Whether a loop is stable at its rate
    with a given plant and motion is what `simulate` checks.

    Parameters
    ----------
    law : Law
        Wrappers are looked through.
    rate : float
        Rate at which it will run [Hz].
    """
    expect(isinstance(law, Law), "failed_assumptions", "a control law", law)
    rate = one_number(rate, "failed_assumptions", "a rate > 0 in Hz")
    failures = []
    inner = nested_laws(law)[-1]
    bandwidth = _bandwidth(inner)
    if bandwidth is not None and (slow := slow_sampling(round(bandwidth, 3), rate)):
        failures.append(f"{type(inner).__name__}: {slow}")
    if isinstance(inner, SlotineLi) and not commute(np.asarray(inner.lam), np.asarray(inner.k)):
        failures.append(
            f"{type(inner).__name__}: Lambda and K do not commute, so that of the two Lyapunov functions only that of "
            "Slotine and Li proves stability, not that of ECE470, section 3.3"
        )
    return tuple(failures)


def _bandwidth(law: Law) -> float | None:
    """The fastest error that a law is designed for [Hz]; None where its gains alone do not tell."""
    if isinstance(law, ComputedTorque | Craig):
        return float(np.sqrt(np.max(law.kp))) / (2 * np.pi)
    if isinstance(law, OperationalSpace):
        return float(np.sqrt(np.max(law.stiffness))) / (2 * np.pi)
    if hasattr(law, "lam"):
        lam = np.asarray(law.lam)  # of each joint, or a matrix
        rates = lam if lam.ndim == 1 else np.linalg.eigvals(lam).real
        return float(rates.max()) / (2 * np.pi)
    return None
