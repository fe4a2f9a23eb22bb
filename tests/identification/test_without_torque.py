"""Joints whose torques were not measured: all else is identified, and their friction and rotors stay as described."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from tests.raising import raises
from typer.testing import CliRunner

import armdyn
from armdyn.cli.app import app
from armdyn.errors import ArmdynError, DataError, ReadError
from armdyn.identification.hypotheses.check import check_log
from armdyn.identification.hypotheses.finding import FindingKind
from armdyn.identification.logs.log import Log


def silenced(log: Log, *joints: int) -> Log:
    tau = log.tau.copy()
    tau[:, list(joints)] = np.nan
    return dataclasses.replace(log, tau=tau)


def write(path, log, names=None):
    """A CSV of a log, without the torques that are missing if `names` is given."""
    n = log.n
    kept = range(n) if names is None else names
    head = ["t", *(f"q{j + 1}" for j in range(n)), *(f"tau{j + 1}" for j in kept)]
    table = np.column_stack([log.t, log.q, log.tau[:, list(kept)]])
    path.write_text("\n".join([",".join(head), *(",".join(f"{x:.9g}" for x in row) for row in table)]))
    return path


@pytest.fixture(scope="module")
def fit(puma, make_log):
    return armdyn.identify(puma, make_log(puma), without_torque=("joint6",))


def test_what_other_joints_show_is_identified(puma, make_log, fit):
    q = make_log(puma).q[::50]
    wanted = armdyn.gravity_torque(puma, q)
    assert np.abs(armdyn.gravity_torque(fit.arm, q) - wanted).max() < 0.02 * np.abs(wanted).max()
    true = [joint.friction.viscous for joint in puma.joints[:5]]
    np.testing.assert_allclose(fit.friction.viscous[:5], true, rtol=0.1)


def test_nothing_is_said_of_the_joint_itself(puma, fit):
    assert fit.without_torque == (5,)
    assert fit.arm.joints[5].friction == puma.joints[5].friction
    assert fit.arm.joints[5].drive == puma.joints[5].drive
    assert np.isnan(fit.friction.viscous[5])
    assert np.isinf(fit.friction.std[:, 5]).all()
    assert fit.verdict.level == "good"
    assert fit.verdict.joints[5].level == "not usable"
    assert any("'joint6'" in note and "friction" in note for note in fit.notes)
    assert any("'joint6'" in note and "no torque" in note for note in fit.arm.notes)
    assert np.isnan(fit.training.rel_error_joints).tolist() == [False] * 5 + [True]


def test_its_column_does_not_matter(puma, make_log, fit):
    log = make_log(puma)
    noise = dataclasses.replace(log, tau=log.tau + 100 * np.eye(6)[5] * np.sin(9 * log.t)[:, None])
    other = armdyn.identify(puma, noise, without_torque=("joint6",))
    np.testing.assert_array_equal(other.theta, fit.theta)
    nothing = armdyn.identify(puma, silenced(log, 5))
    np.testing.assert_array_equal(nothing.theta, fit.theta)


def test_a_joint_without_torque_in_one_log_has_none_in_all(puma, make_log):
    fit = armdyn.identify(puma, [make_log(puma), silenced(make_log(puma, motion=3), 5)])
    assert fit.without_torque == (5,)


def test_of_a_shared_drive_both_are_without(puma, make_log):
    coupled = puma.with_coupling("5+6")
    fit = armdyn.identify(coupled, make_log(coupled), without_torque=("joint6",), rotors=False)
    # The torque of joint 6 drives the shaft of 5, too: of both shafts nothing is known.
    assert not np.isnan(fit.theta).any()
    assert fit.training.rel_error < 0.05


def test_gravity_from_poses(puma):
    rng = np.random.default_rng(0)
    q = rng.uniform(-2, 2, (80, 6))
    tau = armdyn.gravity_torque(puma, q) + 0.01 * rng.normal(size=q.shape)
    tau[:, 5] = np.nan
    fit = armdyn.identify(puma, Log(np.arange(80.0), q, tau, still=True), terms="gravity", force=True)
    wanted = armdyn.gravity_torque(puma, q)
    assert np.abs(armdyn.gravity_torque(fit.arm, q) - wanted).max() < 0.02 * np.abs(wanted).max()
    assert fit.without_torque == (5,)
    assert fit.verdict.joints[5].level == "not usable"


def test_a_dead_sensor_is_corrected_by_leaving_its_torque_out(puma, make_log):
    log = make_log(puma)
    dead = dataclasses.replace(log, tau=log.tau * (np.arange(6) != 3))
    (finding,) = (f for f in check_log(puma, dead).findings if f.level == "reject")
    assert finding.joints == finding.correction.without_torque == (3,)
    corrected = dead.corrected(finding.correction)
    assert check_log(puma, corrected).ok
    np.testing.assert_array_equal(corrected.measured, np.arange(6) != 3)


def test_check_and_validation(puma, make_log):
    log = silenced(make_log(puma), 5)
    kinds = {finding.kind: finding.joints for finding in check_log(puma, log).findings}
    assert kinds[FindingKind.NO_TORQUE] == (5,)
    assert armdyn.validate(puma, log).rel_error < 0.02


@pytest.mark.parametrize("absent", [False, True])
def test_files(puma, make_log, tmp_path, absent):
    log = silenced(make_log(puma), 5)
    read = armdyn.read_log(write(tmp_path / "log.csv", log, range(5) if absent else None), puma)
    assert read.measured.tolist() == [True] * 5 + [False]
    assert any("no torques of joint 6 'joint6'" in note for note in read.notes)
    np.testing.assert_allclose(read.tau[:, :5], log.tau[:, :5], rtol=1e-6)


def test_command(puma, make_log, tmp_path):
    puma.save(tmp_path / "arm.urdf")
    log, out, page = write(tmp_path / "log.csv", make_log(puma)), tmp_path / "out.urdf", tmp_path / "page.html"
    words = ["identify", str(tmp_path / "arm.urdf"), str(log), "--without-torque", "joint6"]
    result = CliRunner().invoke(app, [*words, "--out", str(out), "--report", str(page)], catch_exceptions=False)
    assert result.exit_code == 0
    assert "joint 6 'joint6': not usable: its torque was not measured" in result.output
    assert "nan" not in result.output
    assert any("no torque" in note for note in armdyn.load(out).notes)
    assert "its torque was not measured" in page.read_text()
    assert ">nan" not in page.read_text()
    result = CliRunner().invoke(app, [*words, "--json"], catch_exceptions=False)
    assert json.loads(result.stdout)["rel_error_joints"][5] is None


def test_bad_input(puma, make_log):
    log = make_log(puma)
    with raises(ArmdynError, cause="arm 'puma560' has no joint 'elbow'", names=("elbow",)):
        armdyn.identify(puma, log, without_torque=("elbow",))
    with raises(ArmdynError, expected="torques of at least one joint of arm 'puma560'", got="none"):
        armdyn.identify(puma, log, without_torque=puma.joint_names)
    with raises(ReadError, expected="torques of at least one joint", got="none"):
        silenced(log, *range(6))
    with raises(ReadError, cause="tau has values that are not finite numbers"):
        dataclasses.replace(log, tau=np.where(np.arange(len(log))[:, None] == 7, np.nan, log.tau))
    with raises(DataError, cause="no torques of joint 6, but the form of energy needs those of all"):
        armdyn.identify(puma, log, without_torque=("joint6",), form="energy")
    with raises(DataError, cause="no torques of joint 6, but identify_payload needs those of all"):
        armdyn.identify_payload(puma, silenced(log, 5))
