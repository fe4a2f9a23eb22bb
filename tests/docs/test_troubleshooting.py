"""The page on bad data quotes what is really said."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.errors import DataError, ReadError

PAGE = Path(__file__).parents[2] / "docs" / "troubleshooting.md"
QUOTES = [line.split("|")[1].strip() for line in PAGE.read_text().splitlines() if line.startswith("| ")][1:]
T = np.arange(0, 10, 0.01)


def quoted(text: str) -> str | None:
    """The page's row for a message, found by its words."""
    for quote in QUOTES:
        if re.search(re.escape(quote).replace("…", ".+?"), text):
            return quote
    return None


@pytest.fixture(scope="module")
def arm():
    return armdyn.arms.planar2()


def moved(arm: armdyn.Arm) -> armdyn.Log:
    """A log of an arm whose joints sway, each at its own frequency."""
    w = np.linspace(2.0, 3.0, arm.n)
    q, qd, qdd = np.sin(w * T[:, None]), w * np.cos(w * T[:, None]), -(w**2) * np.sin(w * T[:, None])
    return armdyn.Log(T, q, armdyn.inverse_dynamics(arm, q, qd, qdd), qd)


@pytest.fixture(scope="module")
def log(arm):
    return moved(arm)


def changed(values: np.ndarray, joint: int, column: np.ndarray | float) -> np.ndarray:
    out = values.copy()
    out[:, joint] = column
    return out


def one_way(log: armdyn.Log) -> dict[str, np.ndarray]:
    return {"q": changed(log.q, 0, 0.1 * T + 0.01 * np.sin(T)), "qd": None}


BAD = {
    "opposite": lambda log: {"tau": -log.tau},
    "millinewton": lambda log: {"tau": 1e3 * log.tau},
    "dead": lambda log: {"tau": changed(log.tau, 1, 0.0)},
    "clipped": lambda log: {"tau": np.clip(log.tau, -40, 40)},
    "rest": lambda log: {"q": np.zeros_like(log.q), "qd": None},
    "locked": lambda log: {"q": changed(log.q, 1, 0.3), "qd": None},
    "little": lambda log: {"q": changed(log.q, 1, 0.01 * log.q[:, 1]), "qd": None},
    "one way": one_way,
    "triangle": lambda log: {"t": 8 * log.t, "q": changed(log.q, 1, 0.2 * np.abs(T - 5.0)), "qd": None},
    "degrees": lambda log: {"q": np.degrees(log.q), "qd": None},
    "mixed": lambda log: {"qd": np.degrees(log.qd)},
    "backward": lambda log: {"qd": -log.qd},
    "velocities": lambda log: {"qd": log.qd[:, ::-1]},
    "dies": lambda log: {"tau": changed(log.tau, 1, np.where(T < 5, log.tau[:, 1], 0.3))},
    "milliseconds": lambda log: {"t": 1e3 * log.t, "qd": None},
    "kiloseconds": lambda log: {"t": 1e-3 * log.t, "qd": None},
    "motor": lambda log: {"t": 1e-2 * np.arange(len(T)), "q": 12 * np.sin(9 * np.outer(T, [1, 1.2])), "qd": None},
    "driven": lambda log: {"tau": -log.tau - 5 * log.qd, "qd": None},
    "reversed": lambda log: {"tau": log.tau * [1, -1] - [[5, 0]] * log.qd, "qd": None},
}


def test_what_check_log_says_is_on_the_page(arm, log):
    limits = armdyn.Limits(lower=-0.2, upper=0.2)
    narrow = arm.with_joints([dataclasses.replace(joint, limits=limits) for joint in arm.joints])
    puma = armdyn.arms.puma560()
    shuffled = moved(puma)
    shuffled = dataclasses.replace(shuffled, tau=shuffled.tau[:, [1, 2, 0, 3, 4, 5]])
    cases = [(arm, dataclasses.replace(log, **change(log))) for change in BAD.values()]
    found = set()
    strange = dataclasses.replace(moved(armdyn.arms.ur10()), qd=None)
    small = armdyn.arms.puma3()
    mirrored = small.with_theta((small.theta.reshape(-1, 10) * ([1] + 3 * [-1] + 6 * [1])).ravel())  # centres of mass
    brief = moved(small)  # too little to tell without known inertia
    brief = dataclasses.replace(brief, tau=brief.tau[:, ::-1]).part(0.0, 4.0)
    turned = moved(puma)  # likewise
    turned = dataclasses.replace(turned, tau=turned.tau * [1, -1, 1, 1, 1, 1], qd=None).part(0.0, 2.0)
    for whose, bad in [
        *cases,
        (narrow, log),
        (mirrored, moved(small)),
        (puma, shuffled),
        (small, brief),
        (puma, strange),
        (puma, turned),
    ]:
        findings = armdyn.check_log(whose, bad).findings
        assert findings, bad
        for finding in findings:
            quote = quoted(finding.text)
            assert quote is not None, finding.text
            found.add(quote)
    assert set(QUOTES[:20]) - found == set()


def test_what_rejects_to_be_read_is_on_the_page(arm, tmp_path):
    rows = np.column_stack([T, np.sin(T), np.cos(T), T, T])
    path = tmp_path / "log.csv"
    np.savetxt(path, rows, delimiter=",", header="t,a,b,c,d", comments="")
    with pytest.raises(ReadError) as rejected:
        armdyn.read_log(path, arm)
    assert quoted(str(rejected.value))
    far = rows * [1, 50, 50, 1, 1]
    np.savetxt(path, far, delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    with pytest.raises(ReadError) as rejected:
        armdyn.read_log(path, arm)
    assert quoted(str(rejected.value))
    rows[500:, 0] -= 5.0
    np.savetxt(path, rows, delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    with pytest.raises(ReadError) as rejected:
        armdyn.read_log(path, arm)
    assert quoted(str(rejected.value))


def test_noise_instead_of_torque_is_on_the_page(arm, log):
    noise = np.random.default_rng(0).normal(size=log.tau.shape)
    with pytest.raises(DataError) as rejected:
        armdyn.identify(arm.with_theta(np.full(20, np.nan)), dataclasses.replace(log, tau=noise))
    assert quoted(str(rejected.value))
