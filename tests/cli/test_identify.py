"""`armdyn identify`, `validate` and `payload`."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import armdyn
from armdyn.cli.app import app


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False, env={"COLUMNS": "160"})
    assert result.exit_code == 0
    return result.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("logs")
    arm = armdyn.arms.planar2()
    arm.save(path / "arm.urdf")
    t = np.arange(0, 20, 0.01)
    for name, carried, w in (("run", arm, 2.0), ("other", arm, 2.5), ("load", arm.with_payload(0.5, [0.1, 0, 0]), 2.0)):
        q = np.stack([np.sin(w * t), np.cos(3 * t)], axis=1)
        qd = np.stack([w * np.cos(w * t), -3 * np.sin(3 * t)], axis=1)
        qdd = np.stack([-w * w * np.sin(w * t), -9 * np.cos(3 * t)], axis=1)
        noise = 0.05 * np.random.default_rng(0).normal(size=q.shape)
        tau = armdyn.inverse_dynamics(carried, q, qd, qdd) + (0.3 * np.sign(qd) if name != "load" else 0.0) + noise
        head = "t,q1,q2,tau1,tau2"
        np.savetxt(path / f"{name}.csv", np.column_stack([t, q, tau]), delimiter=",", header=head, comments="")
    return path


def test_identify_writes_model_and_report(folder):
    arm, run_log, other = (str(folder / name) for name in ("arm.urdf", "run.csv", "other.csv"))
    model, page = folder / "model.urdf", folder / "report.html"
    text = run("identify", arm, run_log, "--validate", other, "--out", str(model), "--report", str(page))
    assert "on the validation log" in text
    assert page.read_text().startswith("<!doctype html>")
    data = json.loads(run("validate", str(model), other, "--json"))
    assert data["rel_error"] < 0.02
    assert "relative torque error" in run("validate", arm, other)


def test_json(folder):
    data = json.loads(run("identify", str(folder / "arm.urdf"), str(folder / "run.csv"), "--json"))
    assert data["rel_error"] < 0.02
    assert len(data["theta"]) == 20


def test_payload(folder):
    data = json.loads(run("payload", str(folder / "arm.urdf"), str(folder / "load.csv"), "--json"))
    assert len(data["com"]) == 3
    assert "centre" in run("payload", str(folder / "arm.urdf"), str(folder / "load.csv"))
