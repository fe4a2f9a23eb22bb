"""Payloads found on a known arm."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.errors import DataError


def test_mass_centre_and_inertia(puma, make_log):
    tensor = np.diag([0.02, 0.03, 0.025])
    loaded = puma.with_payload(2.0, [0.05, -0.02, 0.1], tensor)
    found = armdyn.identify_payload(puma, make_log(loaded, duration=30.0, noise=0.2))
    assert abs(found.mass - 2.0) < 4 * found.mass_std
    assert found.mass_std < 0.05
    assert np.all(np.abs(found.com - [0.05, -0.02, 0.1]) < 4 * found.com_std + 1e-3)
    np.testing.assert_allclose(found.inertia, tensor, atol=0.02)
    assert np.linalg.eigvalsh(found.inertia).min() > 0
    np.testing.assert_allclose(found.arm.theta[:50], puma.theta[:50])
    assert found.rel_error < 0.03


def test_nothing_is_carried(puma, make_log):
    with pytest.raises(DataError, match="no payload is felt"):
        armdyn.identify_payload(puma, make_log(puma))
