"""Which motion to log next: what it would add to the logs, and the error to expect in the arm's range afterwards.

A motion adds the information Y'WY of its equations to that of the logs, as `predict_quality` adds up a design's; here
the parameters' posterior is what is known before, and their covariance is carried on to torques. Motion in the arm's
range is like that of the logs, but every joint goes through half of its limits' range or more. Tried are motions in
which one joint does so while the others move as they did, and one in which all do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from armdyn.identification.fit.novel_motion import wide_motion
from armdyn.identification.fit.uncertainty import Uncertainty
from armdyn.identification.logs.log import SMALL_SHARE
from armdyn.identification.motion.track import BAND_HZ, Track
from armdyn.model.arm import Arm

WORTHWHILE_SHARE = 0.25  # of an error by which another log must lower it to be worth it; less may be forgone


class NextMotion(NamedTuple):
    """A motion that is worth a log; errors are relative, to expect in the arm's range."""

    joints: tuple[int, ...]  # that go further, from 0
    now: float
    after: float
    seconds: float


def next_motion(uncertainty: Uncertainty, tracks: Iterable[Track], arm: Arm) -> NextMotion | None:
    """The motion that leaves the least error, of one joint where that does nearly as well as of all.

    It lasts as long as the logs do on average; None where the error is small as it is, or no motion lowers it much.
    """
    several, everything = list(tracks), tuple(range(arm.n))
    seconds = sum(track.dt * len(track.t) for track in several) / len({track.log for track in several})
    target = wide_motion(several, arm, everything)
    now = uncertainty.error(target)
    if now < SMALL_SHARE:
        return None

    def tried(joints: tuple[int, ...]) -> NextMotion:
        return NextMotion(
            joints, now, _after(uncertainty, wide_motion(several, arm, joints), seconds).error(target), seconds
        )

    whole = tried(everything)
    if whole.after >= (1 - WORTHWHILE_SHARE) * now:
        return None
    best = min((tried((j,)) for j in everything), key=lambda motion: motion.after)
    return best if now - best.after >= (1 - WORTHWHILE_SHARE) * (now - whole.after) else whole


def _after(uncertainty: Uncertainty, along: Track, seconds: float) -> Uncertainty:
    """Return the information once a motion was logged for some seconds, too."""
    counted = seconds * BAND_HZ / len(along.t)  # low-passed torques tell something new once a period
    gram = np.eye(uncertainty.root.shape[1])
    for j, Y in enumerate(uncertainty.model.columns(along)):
        if np.isnan(uncertainty.noise[j]):  # the next log has no torque of it either
            continue
        rows = Y @ uncertainty.root[uncertainty.model.columns_of(j)]
        gram += counted / max(float(uncertainty.noise[j]) ** 2, 1e-300) * rows.T @ rows
    values, vectors = np.linalg.eigh(gram)
    values = np.maximum(values, 1.0)  # round-off, where the noise is next to nothing
    left = (vectors / values) @ vectors.T  # of an error along each direction of the posterior
    jackknife = uncertainty.jackknife @ np.linalg.pinv(uncertainty.root).T @ left @ uncertainty.root.T
    return uncertainty._replace(jackknife=jackknife, root=uncertainty.root @ (vectors / np.sqrt(values)))
