"""`armdyn simulate`."""

import json
import sys
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from tests.raising import raises
from typer.testing import CliRunner

import armdyn
from armdyn.cli.app import app
from armdyn.errors import ArmdynError, ArmdynWarning
from armdyn.model.joint import Friction
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


def test_a_reference_for_another_arm_is_rejected(tmp_path):
    path = tmp_path / "motion.csv"
    path.write_text("t,q1,q2,q3\n0,0,0,0\n0.5,0.1,0.1,0.1\n1,0,0,0\n")
    with raises(ArmdynError, where=str(path), cause="a motion of 3 joints, but arm 'planar2' has 2"):
        run("planar2", "--reference", str(path))


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
    ("arguments", "parts"),
    [
        (
            ["--controller", "fuzzy"],
            {
                "cause": "unknown controller 'fuzzy'",
                "expected": (
                    "one of: pd, pid, pd-gravity, cascade, feedforward-pd, computed-torque, "
                    "computed-torque-observer, lqr-t, lqr-measured, operational-space, impedance, "
                    "sliding-mode, super-twisting, slotine-li, composite-slotine-li, "
                    "concurrent-slotine-li, natural-slotine-li, projected-slotine-li, "
                    "modified-slotine-li, craig"
                ),
                "names": ("fuzzy",),
            },
        ),
        (
            ["--resonance", "10"],
            {"cause": "joint 'joint1' has no rotor inertia to move against its spring", "names": ("joint1",)},
        ),
        (["--reference", "missing.csv"], {"where": "missing.csv"}),
        (["--sensor", "lost=2"], {"where": "Sensors: lost", "expected": "a probability below 1", "got": "2"}),
        (["--payload", "-3"], {"cause": "the payload is not physically consistent: mass is negative (-3 kg)"}),
        (["--motor-lag", "-1"], {"where": "Plant: motor_lag", "expected": "times >= 0 in seconds"}),
        (
            ["--engine", "mujoco", "--motor-lag", "0.01"],
            {
                "cause": (
                    "engine 'mujoco' does not simulate motor_lag: it holds torques over a step, "
                    "has no forces that change within one, and takes friction from the arm"
                ),
                "names": ("motor_lag",),
            },
        ),
    ],
)
def test_what_cannot_be_simulated_is_one_sentence(arguments, parts):
    with raises(ArmdynError, **parts):
        run("planar2", *arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--backlash", "0.01"], "needs a --resonance too"),
        (["--resonance", "-1"], "expected a frequency > 0 in Hz"),
        (["--payload", "heavy"], "expected MASS or MASS@TIME"),
        (["--rate", "-1"], "expected a rate > 0"),
        (["--sensor", "weight=3"], "expected one of resolution, q_noise,"),
        (["--sensor", "lost"], "and a number, got 'lost'"),
        (["--out", "run.doc"], "expected a file that ends in .npz or .csv, got 'run.doc'"),
    ],
)
def test_wrong_usage_says_what_was_expected(arguments, message):
    answer = run("planar2", *arguments)
    assert answer.exit_code == 2
    assert message in " ".join(answer.stderr.split())


def test_a_log_of_sensors(tmp_path):
    """All that they do is in the CSV, which `read_log` repairs."""
    out = tmp_path / "log.csv"
    faults = ("resolution=1e-4", "tau_noise=0.1", "jitter=2e-5", "lost=0.05", "doubled=0.05", "delay=1")
    options = [word for fault in faults for word in ("--sensor", fault)]
    assert run("planar2", "--duration", "1", "--out", str(out), *options, "--json").exit_code == 0
    log = armdyn.read_log(out, armdyn.arms.planar2())
    assert len(log) == pytest.approx(950, abs=25)
    assert any("dropped" in note for note in log.notes)
    assert any("jitter" in note for note in log.notes)
    assert np.allclose(log.q / 1e-4, np.round(log.q / 1e-4), atol=1e-6)


def test_payloads_of_both_kinds(tmp_path):
    """One is there from the start, one at rest until it is seized: velocities jump, momentum stays."""
    runs = {}
    for name, payload in (("carried", "1"), ("seized", "1@0.5")):
        out = tmp_path / f"{name}.npz"
        assert run("planar2", "--payload", payload, "--duration", "0.6", "--out", str(out)).exit_code == 0
        runs[name] = SimulationResult.load(out)
    jumps = {name: np.abs(np.diff(result.qd, axis=0))[499].max() for name, result in runs.items()}
    assert jumps["seized"] > 20 * jumps["carried"]
    result, (light, heavy) = runs["seized"], (armdyn.arms.planar2(), armdyn.arms.planar2().with_payload(1.0))
    before, after = (
        armdyn.generalized_momentum(arm, result.q[k], result.qd[k]) for arm, k in ((light, 499), (heavy, 500))
    )
    assert after == pytest.approx(before, rel=0.01)  # but for what a sample of 1 ms adds


def test_a_run_that_diverges_is_kept_and_fails(tmp_path):
    out, page = tmp_path / "run.npz", tmp_path / "run.html"
    options = [
        "--controller",
        "computed-torque",
        "--rate",
        "20",
        "--bandwidth",
        "20",
        "--out",
        str(out),
        "--report",
        str(page),
    ]
    with pytest.warns(ArmdynWarning, match="the run diverged"), pytest.warns(ArmdynWarning, match="unstable at 20 Hz"):
        answer = run("planar2", *options)
    assert answer.exit_code == 1
    assert not SimulationResult.load(out).complete
    assert "the run diverged, first at t = " in page.read_text()


def test_ctrl_c_keeps_the_run_up_to_then(tmp_path, monkeypatch):
    @contextmanager
    def impatient(*_, **__):
        def tell(done, total, text, has_result=False):
            if text == "simulating" and 0 < done < total:
                assert has_result  # so the watch waits until it is written
                raise KeyboardInterrupt

        yield tell

    monkeypatch.setattr(sys.modules["armdyn.cli.commands.control.simulate"], "progress_bar", impatient)
    monkeypatch.setattr("armdyn.simulation.loop.batch.STEPS_PER_BLOCK", 100)
    out, page = tmp_path / "run.npz", tmp_path / "run.html"
    with pytest.warns(ArmdynWarning, match=r"interrupted at t = 0\.1 s; what was computed is kept"):
        answer = run("planar2", "--controller", "pd", "--duration", "2", "--out", str(out), "--report", str(page))
    assert answer.exit_code == 130
    assert f"interrupted at 0.099 s; the run up to then is saved as {out}; {page} was not drawn" in answer.stderr
    assert len(SimulationResult.load(out).t) == 100
    assert not page.exists()
    assert "run the command again to restart" in answer.stderr


SHAKY = ["jitter=1e-5", "lost=0.05", "doubled=0.05", "tau_noise=0.1", "q_noise=1e-4"]


@pytest.mark.parametrize("ending", ["csv", "npz"])
@pytest.mark.parametrize("sensors", [[], [word for text in SHAKY for word in ("--sensor", text)]])
def test_the_log_of_a_long_run_grows_with_it(ending, sensors, tmp_path, monkeypatch):
    """It is the same log, whether it was written at once, in parts, or in parts until Ctrl-C."""
    whole, grown, broken = (tmp_path / f"{name}.{ending}" for name in ("whole", "grown", "broken"))
    line = ["planar2", "--controller", "pd", "--duration", "2", *sensors, "--out"]
    assert run(*line, str(whole)).exit_code == 0
    monkeypatch.setattr("armdyn.simulation.loop.batch.STEPS_PER_BLOCK", 100)
    monkeypatch.setattr(sys.modules["armdyn.simulation.simulate"], "MAX_NUMBERS", 10)
    assert run(*line, str(grown)).exit_code == 0
    if ending == "csv":
        assert grown.read_bytes() == whole.read_bytes()

    @contextmanager
    def until(*_, **__):
        def tell(done, total, text, has_result=False):
            if 0.5 < done / (total or 1) < 1:
                raise KeyboardInterrupt

        yield tell

    monkeypatch.setattr(sys.modules["armdyn.cli.commands.control.simulate"], "progress_bar", until)
    with pytest.warns(ArmdynWarning, match=r"interrupted at t = 1\.1 s; what was computed is kept"):
        answer = run(*line, str(broken))
    assert answer.exit_code == 130
    assert f"interrupted at 1.099 s; the run up to then is saved as {broken}" in answer.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in (whole, grown, broken))
    arm = armdyn.arms.planar2()
    first, all_rows = armdyn.read_log(broken, arm), armdyn.read_log(grown, arm)
    rows = len(first.t)
    assert 1000 < rows <= 1100
    if ending == "csv":
        assert whole.read_text().startswith(broken.read_text())
    for name in ("q", "qd", "tau") if not sensors else ():
        np.testing.assert_array_equal(getattr(first, name), getattr(all_rows, name)[:rows])


def test_a_run_that_diverges_is_written_without_what_follows(tmp_path, monkeypatch):
    line = ["planar2", "--controller", "computed-torque", "--rate", "20", "--bandwidth", "20", "--out"]
    logs = []
    for steps in (1, 100_000):
        monkeypatch.setattr("armdyn.simulation.loop.batch.STEPS_PER_BLOCK", steps)
        out = tmp_path / f"{steps}.csv"
        with pytest.warns(ArmdynWarning):
            assert run(*line, str(out)).exit_code == 1
        logs.append(out.read_text())
    assert logs[0] == logs[1]
    assert len(list(tmp_path.iterdir())) == 2


def test_a_plant_without_friction_has_a_law_without_friction(tmp_path):
    """Compensated friction that does not act would push joints on: a law for the identified arm would diverge."""
    arm = armdyn.arms.planar2()
    sticky = arm.with_joints([replace(joint, friction=Friction(viscous=50.0)) for joint in arm.joints])
    path = tmp_path / "sticky.toml"
    sticky.save(path)
    with_friction, without = (
        json.loads(run(str(path), "--controller", "computed-torque", "--duration", "1", "--json", *more).stdout)
        for more in ((), ("--no-friction",))
    )
    assert with_friction["complete"]
    assert without["complete"]
    assert max(without["rms_error"]) < 1e-3  # rad: the model is exact
