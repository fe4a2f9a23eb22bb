"""A load at the tip that the description lacks, such as a tool: or one that is described and was taken off.

The torques that described bodies leave beside friction are explained by ten parameters more at the tip, or by all
bodies anew. Where the evidence is for the former and for a mass, one body is wrong and not the description.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from armdyn.identification.estimators.data import normal_equations
from armdyn.identification.fit.spread import determine
from armdyn.identification.hypotheses.finding import Finding, FindingKind
from armdyn.identification.hypotheses.regression import ScreeningRegression, beyond
from armdyn.identification.hypotheses.screening import MIN_EVIDENCE
from armdyn.identification.logs.log import SMALL_SHARE
from armdyn.model.arm import Arm
from armdyn.numerals import STD_OF_95_PERCENT
from armdyn.spatial import inertia as inertial
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.transform import inverse


def payload_findings(regression: ScreeningRegression) -> Iterator[Finding]:
    """Find the load at the tip by which the described arm differs from the measured one."""
    if regression.described is None:
        return
    d, arm = regression.design, regression.arm
    Y = d.rigid @ d.lift[:, inertial.entries(arm.tip_index)]
    rest = d.tau - d.rigid @ (d.lift @ regression.described.theta)
    both = beyond(d.terms, np.concatenate([rest[..., None], Y], axis=2))
    rest, Y = both[..., 0], both[..., 1:]
    load, std, left = _fit(regression, Y, rest)
    size, new, tau = (float(np.linalg.norm(x)) for x in (rest @ d.mix, left @ d.mix, regression.tau))
    if size**2 - new**2 < (SMALL_SHARE * tau) ** 2 or not np.isfinite(std):
        return
    evidence = _evidence(regression, rest, left, inertial.SIZE)
    of_all = _evidence(regression, left, regression.model.residual, regression.base.count - inertial.SIZE)
    if min(evidence, -float(log_ndtr(-abs(load.mass) / std))) > MIN_EVIDENCE and of_all < 0:
        yield _finding(arm, load.moved(inverse(arm.tool_pose)), std, evidence, 1 - new / size)


def _fit(regression: ScreeningRegression, Y: NDArray, rest: NDArray) -> tuple[Inertia, float, NDArray]:
    """Load in the link's frame, standard deviation of its mass (infinite if undetermined), and what it leaves."""
    left = rest
    for _ in range(3):
        weights = 1 / np.sqrt(regression.squares(left))
        A, b = normal_equations(Y, rest, weights)
        known = determine(A)
        x = known.inverse @ b
        left = rest - Y @ x
    share = float(np.mean(regression.counts(left))) / len(left)  # of samples that are independent
    variance = np.inf if known.lost[inertial.MASS] else known.inverse[inertial.MASS, inertial.MASS] / share
    return Inertia(x), float(np.sqrt(variance)), left


def _evidence(regression: ScreeningRegression, before: NDArray, after: NDArray, n_values: int) -> float:
    """Log evidence of a model with more parameters that leaves less."""
    ratios = np.log(regression.squares(before) / regression.squares(after))
    return float(0.5 * regression.counts(after) @ ratios - n_values / 2 * np.log(len(after)))


def _finding(arm: Arm, load: Inertia, std: float, evidence: float, reduction: float) -> Finding:
    """State the load in the tip's frame."""
    more, question = ("more", "mounted") if load.mass > 0 else ("less", "taken off")
    mass = f"{abs(load.mass):.3g} ± {STD_OF_95_PERCENT * std:.1g} kg"
    text = (
        f"the torques show {mass} {more} at the tip than the description of arm "
        f"'{arm.name}' has (with it the torque error, friction excluded, is {reduction:.0%} lower; log evidence "
        f"{evidence:.0f}): was a load {question}?"
    )
    com = ", ".join(f"{x:.2g}" for x in load.com)
    described = f"describe the load by arm.with_payload({load.mass:.3g}, ({com}))"
    hint = described if load.mass > 0 else "describe the arm as it was logged"
    return Finding("note", text, FindingKind.PAYLOAD, (), evidence, reduction, value=load.mass, hint=hint)
