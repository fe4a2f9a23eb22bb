"""A small arm, and a log of it."""

import numpy as np
import pytest

from armdyn import Log, arms, joint_torque


@pytest.fixture(scope="session")
def arm():
    return arms.planar2()


@pytest.fixture(scope="session")
def log(arm):
    """Four seconds of smooth motion, torques exact."""
    t = np.arange(0, 4, 0.005)
    w = 2 * np.pi * np.array([0.5, 0.75])
    x = t[:, None] * w
    q, qd, qdd = 0.6 * np.sin(x), 0.6 * w * np.cos(x), -0.6 * w**2 * np.sin(x)
    return Log(t, q, joint_torque(arm, q, qd, qdd), qd, "swing.csv")


@pytest.fixture(scope="session")
def log_csv(log):
    """The same as the text of a file."""
    head = "t,q1,q2,tau1,tau2"
    return "\n".join([head, *(",".join(map(repr, row)) for row in np.column_stack([log.t, log.q, log.tau]).tolist())])
