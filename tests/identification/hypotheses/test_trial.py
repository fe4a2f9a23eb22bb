"""The small regression in which suspicions are tried."""

from __future__ import annotations

import numpy as np

from armdyn.identification.hypotheses.trial import Piece, Trial
from armdyn.identification.motion.differentiate import SmoothedMotion


def test_noise_of_accelerations_stays_out_of_the_band(puma):
    """Samples are means of those that they stand for: picked out, they had the noise of all frequencies in the band.

    Slow motion by coarse encoders then looked as if inertia did not matter: as if the clock ran at another pace.
    """
    t = np.arange(0, 20, 0.001)
    rng = np.random.default_rng(0)
    smooth = np.sin(0.5 * t)[:, None] * np.ones(puma.n)
    noise = rng.normal(size=smooth.shape)
    motion = SmoothedMotion(smooth, smooth, smooth + noise, 100.0)
    part = Trial(puma, [Piece(t, 0.001, motion, rng.normal(size=smooth.shape))]).parts[0]
    expected = 1 / np.sqrt(20)  # of 20 samples at 1 kHz one is left at 50 Hz
    assert np.std(part.qdd - np.sin(0.5 * part.t)[:, None]) < 1.1 * expected
    np.testing.assert_allclose(part.q[:, 0], np.sin(0.5 * part.t), atol=1e-4)  # and stand where their means do
