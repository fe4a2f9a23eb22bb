"""Whatever finite numbers a log has, `identify` ends in a fit of finite numbers or in a `DataError` that says why."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import armdyn
from armdyn.errors import DataError, ReadError
from armdyn.identification.logs.log import Log

ARMS = ("planar2", "scara", "stanford", "puma3")


def spoilt(seed: int) -> tuple[armdyn.Arm, Log]:
    """A random arm on a motion that excites it badly."""
    rng = np.random.default_rng(seed)
    arm = getattr(armdyn.arms, ARMS[seed % len(ARMS)])()
    if rng.random() < 0.5:
        arm = arm.with_theta(np.full(10 * arm.n, np.nan))
    described = getattr(armdyn.arms, ARMS[seed % len(ARMS)])()
    rate, duration = rng.choice([20.0, 50.0, 200.0]), rng.choice([2.0, 6.0, 20.0])
    t = np.arange(max(50, int(duration * rate))) / rate
    w = rng.uniform(0.2, 6.0, arm.n)
    size = 10.0 ** rng.uniform(-6, 0.3, arm.n)
    q = size * np.sin(np.outer(t, w) + rng.uniform(0, 6, arm.n))
    qd, qdd = (np.gradient(x, t, axis=0) for x in (q, np.gradient(q, t, axis=0)))
    tau = armdyn.joint_torque(described, q, qd, qdd)
    kind = rng.integers(7)
    if kind == 0:  # some joints stand still
        q[:, rng.random(arm.n) < 0.6] = 0.3
    elif kind == 1:  # one joint moves
        q[:, np.arange(arm.n) != rng.integers(arm.n)] = 0.0
    elif kind == 2:  # huge offsets
        tau = tau + 10.0 ** rng.uniform(2, 12, arm.n)
    elif kind == 3:  # friction is all there is
        tau = np.sign(qd) * 10.0 ** rng.uniform(-3, 3, arm.n)
    elif kind == 4:  # noise is all there is
        tau = rng.normal(size=tau.shape) * 10.0 ** rng.uniform(-9, 9)
    elif kind == 5:  # torques of any size
        tau = tau * 10.0 ** rng.uniform(-12, 12, arm.n)
    return arm, Log(t, q, tau + 1e-3 * rng.normal(size=tau.shape), name=f"seed {seed}")


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(
    "seeds", [pytest.param(range(6), id="6"), pytest.param(range(6, 200), id="194", marks=pytest.mark.slow)]
)
def test_bad_logs_end_in_a_fit_or_a_reason(seeds, force):
    fits, reasons = 0, []
    for seed in seeds:
        try:
            arm, log = spoilt(seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", armdyn.errors.ArmdynWarning)
                fit = armdyn.identify(arm, log, force=force)
        except (DataError, ReadError) as error:
            reasons.append(str(error))
            continue
        fits += 1
        assert np.isfinite(fit.theta).all(), seed
        assert np.isfinite(fit.base.theta).all(), seed
        assert np.isfinite(fit.rel_error), seed
        assert all(abs(j.friction.load) < 1 for j in fit.arm.joints), seed
        for model in ("best", "consistent", "free"):
            assert np.isfinite(fit.predict(log, model).tau).all(), (seed, model)
        assert fit.verdict.word in ("good", "usable with care", "not usable")
    assert fits > 0
    assert all(len(reason) > 20 for reason in reasons)
