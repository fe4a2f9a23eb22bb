"""`armdyn simulate`."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from armdyn.cli.app import app
from armdyn.errors import ArmdynError
from armdyn.simulation.result import SimulationResult


def run(*arguments):
    return CliRunner().invoke(app, ["simulate", *arguments], catch_exceptions=False)


def test_a_run_is_judged_and_saved(tmp_path):
    out = tmp_path / "run.npz"
    answer = run("planar2", "--controller", "pd", "--payload", "1@0.5", "--duration", "1", "--out", str(out), "--json")
    data = json.loads(answer.stdout)
    assert answer.exit_code == 0
    assert data["complete"]
    assert data["samples"] == 1001
    saved = SimulationResult.load(out)
    assert np.allclose(saved.metrics.rms_error, data["rms_error"])


def test_the_table_names_the_joints():
    answer = run("planar2", "--duration", "0.2")
    assert "joint2" in answer.stdout
    assert "Tip error" in answer.stdout


def test_a_reference_from_a_file(tmp_path):
    t = np.linspace(0, 1, 101)[:, None]
    q = 0.2 * (1 - np.cos(2 * np.pi * t)) * [1, -1]
    path = tmp_path / "motion.csv"
    np.savetxt(path, np.hstack([t, q]), delimiter=",", header="t,q1,q2", comments="")
    data = json.loads(run("planar2", "--reference", str(path), "--json").stdout)
    assert data["duration"] == pytest.approx(1.0)
    assert max(data["max_error"]) < 1e-2


@pytest.mark.parametrize("name", ["PD + gravity", "lqr-t", "slotine-li", "operational-space"])
def test_every_design_is_a_controller(name):
    data = json.loads(run("planar2", "--controller", name, "--duration", "0.1", "--json").stdout)
    assert data["complete"]
    assert max(data["max_error"]) < 0.05


def test_elastic_joints_and_coarse_encoders():
    """Both show in the errors, and the seed in the noise."""
    plain, soft = (
        json.loads(run("puma3", "--controller", "pd", "--duration", "0.2", "--no-friction", "--json", *more).stdout)
        for more in ([], ["--resonance", "15", "--backlash", "0.001", "--resolution", "1e-4", "--noise", "1e-3"])
    )
    assert soft["complete"]
    assert np.abs(np.subtract(soft["rms_error"], plain["rms_error"])).max() > 1e-4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--controller", "fuzzy"], "unknown controller 'fuzzy'; expected one of: pd, pid, pd-gravity, "),
        (["--backlash", "0.01"], "give the teeth a stiffness with --resonance"),
        (["--resonance", "10"], "joint 'joint1' has no rotor inertia"),
        (["--resonance", "-1"], "expected a frequency > 0 in Hz"),
        (["--payload", "heavy"], "expected MASS or MASS@TIME"),
        (["--rate", "-1"], "expected a rate > 0"),
        (["--engine", "bullet"], "unknown engine"),
        (["--reference", "missing.csv"], "missing.csv"),
    ],
)
def test_bad_usage_is_one_sentence(arguments, message):
    with pytest.raises(ArmdynError, match=message):
        run("planar2", *arguments)
