"""Statements about faults that a log does not have derive from records of the tests that were made."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import armdyn
from armdyn.cli.app import app
from armdyn.identification.hypotheses.fault_test import FaultOutcome, FaultTest, outcome_lines
from armdyn.identification.hypotheses.finding import FindingKind
from armdyn.identification.logs.log import Log


@pytest.fixture(scope="module")
def log(puma, make_log):
    return make_log(puma)


def records(check) -> dict[str, FaultTest]:
    return {test.fault: test for test in check.tests}


def test_a_fault_that_the_log_would_not_show_is_not_called_absent(puma, log):
    """The first axis is vertical: bodies turned about it explain the torques as well, whatever its zero."""
    check = armdyn.check_log(puma, log)
    zeros = records(check)["zeros of joints"]
    assert zeros.outcome == FaultOutcome.ABSENT
    assert 0 in zeros.undecided
    assert 1 in zeros.joints
    assert len(zeros.bounds) == len(zeros.joints)
    assert not zeros.passed
    (note,) = (f for f in check.findings if f.kind == FindingKind.ZERO)
    for j, bound in zip(zeros.joints, zeros.bounds, strict=True):
        assert f"±{bound:.2g} rad (joint {j + 1})" in note.text
    assert "rad (joint 1)" not in note.text


def test_every_absent_fault_was_tested_and_every_present_one_is_reported(puma, log):
    reversed_torque = dataclasses.replace(log, tau=log.tau * np.array([1, -1, 1, 1, 1, 1]))
    check = armdyn.check_log(puma, reversed_torque)
    signs = records(check)["signs"]
    assert signs.outcome == FaultOutcome.PRESENT
    assert [f.kind for f in check.findings if f.level == "reject"] == [FindingKind.SIGN]
    assert "signs" not in outcome_lines(check.tests)[0]
    assert records(armdyn.check_log(puma, log))["signs"].outcome == FaultOutcome.ABSENT


def test_what_cannot_be_compared_is_untested(puma, log):
    """Less than a second has fewer rows than parameters, and no velocities were measured."""
    short = Log(log.t[:130], log.q[:130], log.tau[:130], name="short")
    tests = records(armdyn.check_log(puma, short))
    for fault in ("signs", "order of columns", "zeros of joints", "gravity", "velocities unlike positions"):
        assert tests[fault].outcome == FaultOutcome.UNTESTED, fault
    assert ", velocities unlike positions, signs, order of columns, " in "\n".join(outcome_lines(tests.values()))


def test_measured_velocities_decide_about_the_time_scale(puma, log):
    qd = np.gradient(log.q, log.t, axis=0)
    check = armdyn.check_log(puma, dataclasses.replace(log, qd=qd))
    assert [test.outcome for test in check.tests if test.fault == "time scale"] == [FaultOutcome.ABSENT]
    assert records(check)["velocities unlike positions"].passed


def test_a_joint_without_torque_is_no_witness(puma, log):
    tau = log.tau.copy()
    tau[:, 3] = np.nan
    tests = records(armdyn.check_log(puma, dataclasses.replace(log, tau=tau)))
    for fault in ("dead torque sensors", "clipped torques", "spikes of torque"):
        assert tests[fault].undecided == (3,), fault
    assert 3 not in tests["signs"].joints
    assert 3 not in tests["gain of one drive"].joints


@pytest.mark.parametrize(("passed", "text"), [(True, " by 2 tests."), (False, ": 1 of 2 tests are conclusive.")])
def test_the_verdict_counts_conclusive_tests(puma, log, passed, text):
    check = armdyn.check_log(puma, log)
    tests = (
        FaultTest("a", FindingKind.SIGN, FaultOutcome.ABSENT, (0, 1)),
        FaultTest("b", FindingKind.ZERO, FaultOutcome.ABSENT, (0,), () if passed else (1,)),
    )
    assert check._replace(tests=tests).verdict == f"No fault found in this log{text}"
    assert outcome_lines(tests)[0] == ("tested, absent: a, b" if passed else "tested, absent: a, b (joint 1)")
    assert outcome_lines(tests)[1:] == (() if passed else ("not shown by this log: b (joint 2)",))


def test_json_and_page_have_the_records(puma, log, tmp_path):
    puma.save(tmp_path / "puma.toml")
    names = ["t", *(f"q{j}" for j in range(1, 7)), *(f"tau{j}" for j in range(1, 7))]
    table = np.column_stack([log.t, log.q, log.tau])
    np.savetxt(tmp_path / "log.csv", table, delimiter=",", header=",".join(names), comments="")
    words = ["identify", str(tmp_path / "puma.toml"), str(tmp_path / "log.csv"), "--check", "--json"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    (data,) = json.loads(result.output)
    written = {test["fault"]: test for test in data["tests"]}
    assert written["signs"]["outcome"] == "absent"
    assert 0 in written["zeros of joints"]["undecided"]
    page = armdyn.check_log(puma, log).report(tmp_path / "check.html").read_text()
    assert "Tested, absent: " in page
    assert "Not shown by this log: " in page
