"""Joint terms: friction before sliding."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import armdyn
from armdyn.identification.fit.terms import presliding_share


class TestPresliding:
    @pytest.mark.slow
    def test_agrees_with_the_bristles_of_lugre(self):
        friction = armdyn.Friction(coulomb=2.0, bristle_stiffness=2.0 / 0.01)
        arm = armdyn.arms.planar2()
        arm = arm.with_joints([dataclasses.replace(j, friction=friction) for j in arm.joints])
        t = np.arange(0, 4, 1e-4)
        q = np.stack([0.1 * np.sin(3 * t), 0.3 * np.cos(2 * t)], axis=1)
        qd = np.gradient(q, t, axis=0)
        share = presliding_share(q, np.full(2, 0.01))
        z, found = share[0] * 0.01, np.empty_like(q)
        for k in range(len(t)):
            found[k] = armdyn.lugre_torque(arm, q[k], qd[k], z)[0] if k % 200 == 0 else np.nan
            z = armdyn.lugre_step(arm, q[k], qd[k], z, 1e-4)
        some = slice(2000, None, 200)
        np.testing.assert_allclose(2.0 * share[some], found[some], atol=0.02)

    def test_limits(self):
        q = np.cos(np.linspace(0, 20, 2000))[:, None]
        v = np.gradient(q[:, 0])
        sharp = presliding_share(q, np.array([1e-9]))[:, 0]
        far = np.abs(v) > 1e-3
        np.testing.assert_allclose(sharp[far][1:], np.sign(v)[far][1:], atol=1e-6)
        assert np.all(presliding_share(np.zeros((50, 1)), np.array([0.1])) == 0)
