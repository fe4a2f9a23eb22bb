"""The zero-phase low-pass, against SciPy's."""

import numpy as np
import pytest

from armdyn.lowpass import lowpass


@pytest.mark.parametrize(("samples", "corner"), [(12, 1.0), (250, 5.0), (3000, 20.0)])
def test_the_low_pass_is_scipys(samples, corner):
    """To rounding: the same filter by products with blocks of samples, for SciPy's takes long to import."""
    from scipy.signal import butter, sosfiltfilt

    x, dt = np.random.default_rng(0).normal(size=(samples, 3)).cumsum(axis=0), 0.01
    sections, more = butter(4, 2 * corner * dt, output="sos"), min(samples - 1, int(3 / (corner * dt)))
    expected = sosfiltfilt(sections, x, axis=0, padlen=more)
    np.testing.assert_allclose(lowpass(x, dt, corner), expected, rtol=0, atol=1e-13 * np.abs(x).max())
