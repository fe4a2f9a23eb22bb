"""The whole way on stand-ins for real logs (`tests/data/make_logs.py`), for machines without those of real robots."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError


@pytest.fixture(scope="module")
def logs():
    path = Path(__file__).parents[1] / "data" / "make_logs.py"
    spec = importlib.util.spec_from_file_location("make_logs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def halves(log):
    middle = log.t[0] + 0.6 * log.duration
    return log.part(log.t[0], middle), log.part(middle, log.t[-1])


@pytest.fixture(scope="module")
def ur5(logs, tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "ur5.csv"
    arm = logs.ur5(path)
    return arm, armdyn.read_log(path, arm)


def test_a_log_as_robots_write_them_is_repaired(ur5):
    _, log = ur5
    assert log.dt == pytest.approx(1 / 125, rel=1e-2)
    assert log.qd is not None
    assert any("jitter" in note for note in log.notes)
    assert any("dropped" in note for note in log.notes)


def test_nothing_speaks_against_it_but_against_another_arms(ur5):
    """As in `test_real_logs.py`."""
    arm, log = ur5
    check = armdyn.check_log(arm, log)
    assert check.ok, str(check)
    assert np.all(check.joints.condition < 10)
    kinds = ("other_arm", "exchange", "sign", "gravity", "gain", "zero")
    other = armdyn.check_log(armdyn.arms.ur10(), armdyn.Log(log.t, log.q, log.tau))
    assert any(finding.kind in kinds for finding in other.findings)


@pytest.mark.filterwarnings("ignore::armdyn.errors.ArmdynWarning")
def test_a_ur5_predicts_the_rest_of_its_log(ur5):
    """Noise of the torques is 3 %; the description, 15 % off in every body and without friction, errs by far more."""
    arm, log = ur5
    fitted, rest = halves(log)
    fit = armdyn.identify(arm, fitted)
    assert fit.arm.is_physical
    error = fit.validate(rest).rel_error
    assert error < 0.06
    described = np.linalg.norm(armdyn.inverse_dynamics(arm, rest.q, rest.qd, 0 * rest.q) - rest.tau)
    assert error < 0.5 * described / np.linalg.norm(rest.tau)


@pytest.mark.filterwarnings("ignore::armdyn.errors.ArmdynWarning")
def test_a_slide_has_the_parameters_it_was_made_with(logs, tmp_path):
    arm = logs.slide(tmp_path / "slide.csv")
    names = {"q": ["position_m"], "tau": ["drive_V"]}
    log = armdyn.read_log(tmp_path / "slide.csv", arm, columns=names, drive_gain=logs.SLIDE["gain"])
    fit = armdyn.identify(arm, log)
    assert fit.base.theta[0] == pytest.approx(logs.SLIDE["mass"], rel=0.01)
    assert fit.friction.viscous[0] == pytest.approx(logs.SLIDE["viscous"], rel=0.03)
    assert fit.friction.coulomb[0] == pytest.approx(logs.SLIDE["coulomb"], rel=0.05)
    assert fit.friction.offset[0] == pytest.approx(logs.SLIDE["offset"], rel=0.1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::armdyn.errors.ArmdynWarning")
def test_a_panda_predicts_the_rest_of_its_log(logs, tmp_path):
    arm = logs.panda(tmp_path / "panda.npz")
    log = armdyn.read_log(tmp_path / "panda.npz", arm)
    assert any("repeat the measurement" in note for note in log.notes)
    fitted, rest = halves(log)
    fit = armdyn.identify(arm, fitted)
    assert fit.arm.is_physical
    assert fit.validate(rest).rel_error < 0.03


@pytest.mark.parametrize("spoil", ["sign", "degrees"])
def test_a_spoilt_log_is_rejected(ur5, spoil):
    arm, log = ur5
    q, tau = (log.q, -log.tau) if spoil == "sign" else (np.degrees(log.q), log.tau)
    with pytest.raises(ArmdynError):
        armdyn.identify(arm, armdyn.Log(log.t, q, tau))
