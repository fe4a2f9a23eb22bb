"""Logs as people have them: without names, without times, in several files, in JSON, measured beside commanded."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.raising import raises
from typer.testing import CliRunner

import armdyn
from armdyn.cli.app import app
from armdyn.errors import ArmdynError, ReadError

RATE = 200.0


def motion(n: int, seed: int = 0, count: int = 600):
    """Times, positions, velocities and torques that have noise."""
    rng = np.random.default_rng(seed)
    t = np.arange(count) / RATE
    w, phase = rng.uniform(1, 4, n), rng.uniform(0, 6, n)
    q, qd = np.sin(w * t[:, None] + phase), w * np.cos(w * t[:, None] + phase)
    return t, q, qd, 5 * q + np.sign(qd) + 0.1 * rng.normal(size=q.shape)


def save(path, *columns, head=""):
    np.savetxt(path, np.column_stack(columns), delimiter=",", header=head, comments="")
    return path


@pytest.fixture(scope="module")
def puma():
    return armdyn.arms.puma560()


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n=st.sampled_from([2, 3, 6]),
    groups=st.permutations(["q", "qd", "tau"]).map(tuple) | st.permutations(["q", "tau"]).map(tuple),
    counter=st.booleans(),
)
def test_files_without_names(tmp_path_factory, seed, n, groups, counter):
    arm = {2: armdyn.arms.planar2, 3: armdyn.arms.puma3, 6: armdyn.arms.puma560}[n]()
    t, q, qd, tau = motion(n, seed)
    by_role = {"q": q, "qd": qd, "tau": tau}
    lead = [np.arange(len(t)), t] if counter else [t]
    path = save(tmp_path_factory.mktemp("logs") / "log.csv", *lead, *(by_role[role] for role in groups))
    log = armdyn.read_log(path, arm)
    np.testing.assert_allclose(log.q, q)
    np.testing.assert_allclose(log.tau, tau)
    np.testing.assert_allclose(log.t, t)
    assert ("qd" in groups) == (log.qd is not None)
    assert log.format.guess.startswith("no names of columns; guessed")
    assert log.format.guess in log.notes


def test_rows_a_second(tmp_path, puma):
    t, q, _, tau = motion(6)
    path = save(tmp_path / "log.csv", q, tau)
    log = armdyn.read_log(path, puma, rate=RATE)
    np.testing.assert_allclose(log.t, t)
    counted = armdyn.read_log(save(tmp_path / "counted.csv", np.arange(len(t)), q, tau), puma, rate=RATE)
    np.testing.assert_allclose(counted.t, t)
    with raises(ReadError, cause=re.compile("counts rows"), remedy="give rate, the samples per second"):
        armdyn.read_log(tmp_path / "counted.csv", puma)
    with raises(
        ReadError,
        cause="no column of times",
        expected=re.compile(r"t or time \[s\], columns=\{'t': \[...\]\}, or rate"),
    ):
        armdyn.read_log(path, puma)
    with raises(ArmdynError, expected="rate > 0 [Hz]", got="-1.0"):
        armdyn.read_log(path, puma, rate=-1.0)


@pytest.mark.parametrize("first", [0, 1])
def test_a_line_that_counts_columns_names_none(tmp_path, puma, first):
    t, q, _, tau = motion(6)
    head = ",".join(str(first + k) for k in range(13))
    log = armdyn.read_log(save(tmp_path / "log.csv", t, q, tau, head=head), puma)
    np.testing.assert_allclose(log.q, q)


@pytest.mark.parametrize("rate", [None, 1.0])
def test_velocities_without_names_are_no_torques(tmp_path, puma, rate):
    """In a file of positions and velocities alone the second group would pass for torques."""
    t, q, qd, _ = motion(6)
    blocks = (t, q, qd) if rate is None else (q, qd)
    with raises(ReadError, cause=re.compile("are the velocities of columns .*, and no columns of torques are left")):
        armdyn.read_log(save(tmp_path / "log.csv", *blocks), puma, rate=rate and 1 / (t[1] - t[0]))


def test_columns_that_cannot_be_told_apart(tmp_path, puma):
    t, q, _, tau = motion(6)
    with raises(
        ReadError,
        cause="14 columns without names do not divide among 6 joints",
        expected="times, then 12 columns of positions and torques, or 18 with velocities",
        remedy=re.compile("name them by number"),
    ):
        armdyn.read_log(save(tmp_path / "log.csv", t, q, tau, t * 0), puma)
    with raises(
        ReadError,
        cause="12 columns without names do not divide among 6 joints",
        expected="times, then 12 columns of positions and torques, or 18 with velocities",
    ):
        armdyn.read_log(save(tmp_path / "short.csv", t, q, tau[:, :5]), puma)
    names = {"t": ["1"], "q": [str(k) for k in range(2, 8)], "tau": [str(k) for k in range(8, 14)]}
    np.testing.assert_allclose(armdyn.read_log(tmp_path / "log.csv", puma, columns=names).tau, tau)


@pytest.mark.parametrize("form", ["{}_{}", "{}[{}]", "{}.{}", "{}{}", "/robot/{}/{}"])
@pytest.mark.parametrize("first", [0, 1])
def test_stems(tmp_path, puma, form, first):
    t, q, _, tau = motion(6)
    names = [form.format(stem, first + k) for stem in ("position", "my_drive") for k in range(6)]
    path = save(tmp_path / "log.csv", t, q, tau, head=",".join(["t", *names]))
    stem = form.format("my_drive", "")
    stem = stem[: stem.index("my_drive") + len("my_drive")]
    log = armdyn.read_log(path, puma, columns={"tau": [stem]})
    np.testing.assert_allclose(log.q, q)
    np.testing.assert_allclose(log.tau, tau)


@pytest.mark.parametrize("other", ["tau_cmd", "tau_desired", "tau_feedback", "torque", "tau_ff", "effort_command"])
@pytest.mark.parametrize("swapped", [False, True])
def test_measured_values_are_preferred(tmp_path, puma, other, swapped):
    t, q, _, tau = motion(6)
    arrays = {"t": t, "theta": q, other: 0 * tau + 1, "tau_measured": tau}
    np.savez(tmp_path / "log.npz", **dict(reversed(arrays.items()) if swapped else arrays.items()))
    log = armdyn.read_log(tmp_path / "log.npz", puma)
    np.testing.assert_allclose(log.tau, tau)
    assert any(f"not of {other}_1" in note for note in log.notes)


def test_commanded_torques_are_taken_for_want_of_others(tmp_path, puma):
    t, q, _, tau = motion(6)
    np.savez(tmp_path / "log.npz", t=t, q=q, tau_cmd=tau)
    log = armdyn.read_log(tmp_path / "log.npz", puma)
    assert any("commanded ones" in note for note in log.notes)
    np.savez(tmp_path / "log.npz", t=t, q_des=q, tau=tau)
    with raises(ReadError, cause="no columns of joint positions for the 6 joints"):
        armdyn.read_log(tmp_path / "log.npz", puma)


@pytest.mark.parametrize("kind", ["records", "arrays", "lines", "nested"])
def test_json(tmp_path, puma, kind):
    t, q, _, tau = motion(6, count=80)
    records = [{"t": a, "q": b, "tau": c} for a, b, c in zip(t.tolist(), q.tolist(), tau.tolist(), strict=True)]
    records[7]["tau"] = None
    text = {
        "records": json.dumps(records),
        "arrays": json.dumps({"t": t.tolist(), "q": q.tolist(), "tau": tau.tolist()}),
        "lines": "\n".join(map(json.dumps, records)) + '\n{"t": 1.',
        "nested": json.dumps([{"stamp": r["t"], "state": {"q": r["q"], "tau": r["tau"]}} for r in records]),
    }[kind]
    (tmp_path / "log.json").write_text(text)
    log = armdyn.read_log(tmp_path / "log.json", puma)
    assert len(log) == 80 - (kind != "arrays")
    np.testing.assert_allclose(log.q[0], q[0])


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", {"cause": re.compile("cannot be read as JSON")}),
        ("3", {"expected": "a list of records or an object of arrays"}),
        ('[{"q": [1, 2]}, {"q": [1]}]', {"cause": "lists in 'q' have different lengths", "names": ("q",)}),
        ("[" * 100_000, {"cause": re.compile("cannot be read as JSON")}),
        (
            '{"a":' * 100 + "1" + "}" * 100,
            {"cause": re.compile("nested more than")},
        ),
        ('{"t": [1, 2]}', {"cause": "no columns of joint positions and torques for the 6 joints"}),
    ],
)
def test_bad_json(tmp_path, puma, text, parts):
    (tmp_path / "log.json").write_text(text)
    with raises(ReadError, **parts):
        armdyn.read_log(tmp_path / "log.json", puma)


def test_files_of_one_run(tmp_path, puma):
    t, q, _, tau = motion(6)
    positions = save(tmp_path / "q.csv", t, q, head=",".join(["time", *(f"joint{k}" for k in range(1, 7))]))
    late = np.r_[t[100:], t[-1] + np.arange(1, 100) / RATE]
    torques = save(tmp_path / "tau.csv", late, np.vstack([tau[100:], tau[:99]]))
    log = armdyn.read_log([positions, torques], puma)
    np.testing.assert_allclose(log.q, q[100:])
    np.testing.assert_allclose(log.tau, tau[100:], atol=1e-9)
    assert any("q.csv and tau.csv joined on time" in note for note in log.notes)
    elsewhere = save(tmp_path / "tau2.csv", t + 1e6, tau)
    with raises(ReadError, cause=re.compile("no time in common")):
        armdyn.read_log([positions, elsewhere], puma)
    with raises(ReadError, file="tau.csv", cause="no column of times to join on with q.csv"):
        armdyn.read_log([positions, save(tmp_path / "tau.csv", tau[:50])], puma)


def test_joints_that_turn_often(tmp_path):
    arm = armdyn.Arm.from_dh([{"kind": "R", "a": 0.3, "alpha": 0.0, "d": 0.0, "theta": 0.0, "mass": 1.0,
                               "com": [0.15, 0, 0], "inertia": np.eye(3) * 0.01}])  # fmt: skip
    arm = arm.with_gravity([0, -9.81, 0])
    t = np.arange(0, 20, 0.01)
    q = (14 * np.sin(0.5 * t) + np.sin(3 * t))[:, None]
    qd, qdd = np.gradient(q, t, axis=0), np.gradient(np.gradient(q, t, axis=0), t, axis=0)
    tau = armdyn.joint_torque(arm, q, qd, qdd) + 0.1 * np.tanh(qd / 0.02)
    path = save(tmp_path / "log.csv", t, q, tau, head="t,q1,tau1")
    with raises(ReadError, cause=re.compile("joints that really turn that far angle='rad'")):
        armdyn.read_log(path, arm)
    assert armdyn.identify(arm, armdyn.read_log(path, arm, angle="rad")).rel_error < 0.05
    named = save(tmp_path / "named.csv", t, q, tau, head="t,q1_rad,tau1")
    assert armdyn.identify(arm, named).rel_error < 0.05


def test_command(tmp_path):
    arm = armdyn.arms.planar2()
    arm.save(tmp_path / "arm.urdf")
    rng = np.random.default_rng(0)
    t, q, _, _ = motion(2, count=4000)
    qd, qdd = np.gradient(q, t, axis=0), np.gradient(np.gradient(q, t, axis=0), t, axis=0)
    tau = armdyn.joint_torque(arm, q, qd, qdd) + 0.01 * rng.normal(size=q.shape)
    a, b = save(tmp_path / "q.csv", t, q), save(tmp_path / "tau.csv", t, tau)
    words = ["identify", str(tmp_path / "arm.urdf"), str(a), "--join", str(b), "--check"]
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert "joined on time" in result.output
    path = save(tmp_path / "log.csv", q, tau)
    result = CliRunner().invoke(app, ["validate", str(tmp_path / "arm.urdf"), str(path), "--rate", "200"])
    assert result.exit_code == 0, result.output


def test_how_a_log_was_read_is_data(tmp_path, puma):
    t, q, _, tau = motion(6)
    path = save(tmp_path / "log.csv", t, np.degrees(q), tau, head=",".join(["t", *(f"x_{k}" for k in range(12))]))
    names = {"q": [f"x_{k}" for k in range(6)], "tau": [f"x_{k}" for k in range(6, 12)]}
    log = armdyn.read_log(path, puma, columns=names, angle="deg", drive_gain=2.0)
    assert log.format.angle == "deg"
    assert log.format.drive_gain == (2.0,)
    assert dict(log.format.columns)["q"] == tuple(names["q"])
