"""The thesis's PUMA 560 with three joints: our estimates against its Table 7.3, on a simulated log."""

from __future__ import annotations

import dataclasses

import numpy as np

import armdyn
from armdyn.identification.estimators.data import Data
from armdyn.identification.estimators.least_squares import LeastSquares
from armdyn.identification.estimators.significance import Significance
from armdyn.identification.motion.differentiate import differentiate
from armdyn.lowpass import lowpass
from reproductions.kapadia_tables import BATCH, ELIMINATION, INERTIAL, STANDARD

# Of the 15 standard values 11 can be reproduced: all but Jzz1, Jzz2, Jxx2, Jzz3.
REPRODUCIBLE = [1, 2, 5, 6, 7, 8, 9, 11, 12, 13, 14]


def test_errors_are_below_those_of_the_thesis():
    friction = [armdyn.Friction(coulomb=c) for c in (11.2, 11.8, 5.0)]  # P16-P18 of the table
    plain = armdyn.arms.puma3()
    arm = plain.with_joints([dataclasses.replace(j, friction=f) for j, f in zip(plain.joints, friction, strict=True)])
    base = armdyn.base_parameters(arm, joint_terms=("rotor", "coulomb"))
    assert base.count == 16 + 3  # Ia3 is the sixteenth
    rng, dt = np.random.default_rng(0), 0.005
    t = np.arange(0, 20, dt)[:, None]
    w = 2 * np.pi * np.array([0.31, 0.37, 0.43])
    q = 1.0 * np.sin(w * t) + 0.5 * np.sin(2.3 * w * t)
    qd = w * np.cos(w * t) + 0.5 * 2.3 * w * np.cos(2.3 * w * t)
    qdd = -(w**2) * np.sin(w * t) - 0.5 * (2.3 * w) ** 2 * np.sin(2.3 * w * t)
    step = 1e-4  # encoder
    tau = armdyn.joint_torque(arm, q, qd, qdd) + 1.0 * rng.normal(size=q.shape)
    m = differentiate(np.round(q / step) * step, dt)
    Y = lowpass(base.regressor(m.q, m.qd, m.qdd), dt, 8.0)[200:-200:10]
    data = Data(Y, lowpass(tau, dt, 8.0)[200:-200:10])
    own, labels = base.project(base.own_parameters), list(base.labels)
    where = [labels.index(name) for name in INERTIAL]
    error = np.abs(LeastSquares().fit(data).x - own)[where]
    for table in (BATCH, ELIMINATION):
        printed = np.abs(table[:15] - STANDARD)
        assert np.all(error[REPRODUCIBLE] < printed[REPRODUCIBLE])
    # Leaving out the two weakest directions, as the thesis does, improves the condition as it says.
    assert Significance(condition=20).fit(data).condition <= 20 < LeastSquares().fit(data).condition
