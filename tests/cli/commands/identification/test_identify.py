"""`armdyn identify`, `validate` and `payload`."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import re
import shlex
import sys
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from tests.raising import raises
from typer.testing import CliRunner

import armdyn
from armdyn.cli.app import app
from armdyn.cli.app import command as function_of
from armdyn.identification.hypotheses.finding import Finding
from armdyn.identification.logs.corrections import ColumnOrder, LogCorrection
from armdyn.report.options import correction_words, remedy


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
    assert "torques do not determine the mass of each link" in text
    assert page.read_text().startswith("<!doctype html>")
    data = json.loads(run("validate", str(model), other, "--json"))
    assert data["rel_error"] < 0.02
    assert "relative torque error" in run("validate", arm, other)


@pytest.mark.parametrize("suffix", [".toml", ".urdf"])
def test_validate_prints_the_error_that_identify_printed(folder, suffix):
    """Torques that come 4 ms late: the delay is in the file."""
    arm, model, logs = str(folder / "arm.urdf"), str(folder / f"late{suffix}"), []
    for name in ("run", "other"):
        with (folder / f"{name}.csv").open() as file:
            head, rows = file.readline().strip(), np.loadtxt(file, delimiter=",")
        rows[:, 3:] = np.stack([np.interp(rows[:, 0] - 0.004, rows[:, 0], column) for column in rows[:, 3:].T], axis=1)
        logs.append(str(folder / f"late_{name}.csv"))
        np.savetxt(logs[-1], rows, delimiter=",", header=head, comments="")
    data = json.loads(run("identify", arm, logs[0], "--validate", logs[1], "--out", model, "--json"))
    assert data["delay"] == pytest.approx(0.004, abs=1.5e-3)
    read = [json.loads(run("validate", model, log, "--json"))["rel_error"] for log in logs]
    assert [f"{error:.6%}" for error in read] == [f"{data[key]:.6%}" for key in ("rel_error", "validation")]
    with open(logs[0], "a") as file:
        file.write("5.0,0,0,0,0\n")
    text = run("identify", arm, logs[0])
    assert f"torques lag positions by {1e3 * data['delay']:.0f} ms; the fit corrects this delay" in text
    assert "log repaired: 1 of 2001 rows have a time that is not later than that of the row before: dropped" in text
    text = run("validate", model, logs[1])
    assert f"relative torque error {data['validation']:.2%} below 5 Hz" in text
    assert f"torques {1e3 * data['delay']:.3g} ms later than positions" in text
    assert json.loads(run("info", model, "--json"))["preprocessing"] == {"delay": data["delay"]}
    assert "the treatment of logs (torques" in run("identify", arm, logs[0], "--out", str(folder / "late.xml"))


def test_json(folder):
    data = json.loads(run("identify", str(folder / "arm.urdf"), str(folder / "run.csv"), "--json"))
    assert data["rel_error"] < 0.02
    assert len(data["theta"]) == 20


@pytest.fixture(scope="module")
def shared(folder):
    """A log of the arm whose second drive turns with both joints."""
    rubbing = armdyn.Friction(0.2, 0.5)
    joints = [dataclasses.replace(joint, friction=rubbing) for joint in armdyn.arms.planar2().joints]
    arm, t = armdyn.arms.planar2().with_joints(joints).with_coupling("1+2"), np.arange(0, 20, 0.01)
    w, phase = np.array([2.0, 3.1]), np.array([0.0, 1.0])
    angle = t[:, None] * w + phase
    q, qd, qdd = np.sin(angle), w * np.cos(angle), -(w**2) * np.sin(angle)
    tau = armdyn.joint_torque(arm, q, qd, qdd) + 0.02 * np.random.default_rng(0).normal(size=q.shape)
    head = "t,q1,q2,tau1,tau2"
    np.savetxt(folder / "shared.csv", np.column_stack([t, q, tau]), delimiter=",", header=head, comments="")
    return str(folder / "shared.csv")


def test_a_shared_drive_is_told_and_declared(folder, shared):
    arm, said = str(folder / "arm.urdf"), "joints 1 and 2 share a drive: q1 + q2"
    text = run("identify", arm, shared)
    assert said in text
    assert "--coupling 1+2 declares it" in text
    declared, without = (
        json.loads(run("identify", arm, shared, "--coupling", x, "--json")) for x in ("joint1+joint2", "none")
    )
    assert "coupling" not in [finding["kind"] for finding in declared["findings"] + without["findings"]]
    assert "coupling" in [finding["kind"] for finding in json.loads(run("identify", arm, shared, "--json"))["findings"]]
    assert declared["rel_error"] < 0.5 * without["rel_error"]
    wrong = CliRunner().invoke(app, ["identify", arm, shared, "--coupling", "1+3"])
    assert wrong.exit_code != 0
    assert "has joints 1 to 2" in str(wrong.exception) + wrong.output


def test_json_has_all_that_was_found(folder):
    files = [str(folder / name) for name in ("arm.urdf", "run.csv", "other.csv")]
    data = json.loads(run("identify", *files, "--validate", files[2], "--validate", files[1], "--json"))
    assert data["validation"] < 0.02
    assert data["residuals"]["validation"]["rel_error"] == data["validation"]
    assert len(data["residuals"]["logs"]["rmse"]) == len(data["residuals"]["logs"]["whiteness"]) == 2
    assert len(data["held_out_logs"]) == 2
    assert data["condition"] > data["condition_scaled"] > 1
    base = data["base"]
    assert len(base["theta"]) == len(base["std"]) == len(base["intervals"]) == len(base["bound"]) == len(base["names"])


def test_options_reach_the_fit(folder):
    arm, log = str(folder / "arm.urdf"), str(folder / "run.csv")
    options = [
        "--friction-terms",
        "simple",
        "--rotors",
        "--prior",
        "10",
        "--mass-bounds",
        "0.5",
        "100",
        "--cutoff",
        "20",
    ]
    options += ["--method", "kalman", "--form", "filtered"]
    data = json.loads(run("identify", arm, log, *options, "--balancer", "joint1", "--json"))
    assert data["prior_strength"] == 10
    assert data["structure"][0] == ["viscous", "coulomb", "offset", "balancer"]
    for wrong, said in (
        ("--method", "is not one of 'auto'"),
        ("--form", "is not one of 'torque'"),
        ("--balancer", "has no joint"),
    ):
        result = CliRunner().invoke(app, ["identify", arm, log, wrong, "none"])
        assert result.exit_code != 0
        assert said in str(result.exception) + result.output


def test_drive_gains(folder):
    """Torques in newton metres are currents of drives with unit gains."""
    files = [str(folder / name) for name in ("arm.urdf", "run.csv", "load.csv")]
    data = json.loads(run("drive-gains", *files, "--mass", "0.5", "--com", "0.1", "0", "0", "--json"))
    assert np.all(np.abs(np.array(data["gains"]) - 1.0) < np.maximum(4 * np.array(data["std"]), 0.01))
    assert "joint 2: " in run("drive-gains", *files, "--mass", "0.5")


def test_payload(folder):
    data = json.loads(run("payload", str(folder / "arm.urdf"), str(folder / "load.csv"), "--json"))
    assert len(data["com"]) == 3
    assert data["frame"] == "tip"
    assert "m in the frame of 'tip'" in run("payload", str(folder / "arm.urdf"), str(folder / "load.csv"))


class TestCheck:
    def test_words_json_and_page(self, folder):
        arm, log, page = str(folder / "arm.urdf"), str(folder / "run.csv"), folder / "check.html"
        assert "2000 samples of 2 joints" in run("identify", arm, log, "--check", "--report", str(page))
        assert "Data check of run.csv" in page.read_text()
        (data,) = json.loads(run("identify", arm, log, "--check", "--json"))
        assert data["ok"]
        assert data["rate"] == pytest.approx(100.0)
        assert len(data["joints"]["speed"]) == 2

    def test_bad_logs_fail(self, folder):
        lines = (folder / "run.csv").read_text().splitlines()
        dead = [lines[0], *(",".join([*line.split(",")[:4], "0"]) for line in lines[1:])]
        (folder / "dead.csv").write_text("\n".join(dead))
        result = CliRunner().invoke(app, ["identify", str(folder / "arm.urdf"), str(folder / "dead.csv"), "--check"])
        assert result.exit_code == 1
        assert "sensor dead?" in result.stdout


def test_motor_side_logs(folder):
    t, *columns = np.loadtxt(folder / "run.csv", delimiter=",", skiprows=1).T
    q, tau = np.array(columns[:2]), np.array(columns[2:])
    motor = np.column_stack([t, np.degrees(q[0] - 0.5) * 100, np.degrees(q[1]) * -50, tau[0] / 100, tau[1] / -50])
    np.savetxt(folder / "motor.csv", motor, delimiter=",", header="t,q1,q2,current1,current2", comments="")
    options = ("--degrees", "--gear-ratio", "100,-50", "--drive-gain", "1", "--offset", f"{np.degrees(0.5)},0")
    arm = str(folder / "arm.urdf")
    found, plain = (
        json.loads(run("validate", arm, str(folder / name), *more, "--json"))
        for name, more in (("motor.csv", options), ("run.csv", ()))
    )
    assert found["rel_error"] == pytest.approx(plain["rel_error"], rel=1e-6)


def test_validate_judges(folder):
    """A conclusion first, the remedy with the finding, and an exit code as `identify --check` has."""
    arm = str(folder / "arm.urdf")
    assert ": good; relative torque error" in run("validate", arm, str(folder / "load.csv")).splitlines()[0]
    log = np.loadtxt(folder / "run.csv", delimiter=",", skiprows=1)
    log[:, 4] *= -1
    flipped = str(folder / "flipped.csv")
    np.savetxt(flipped, log, delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    for command in (("validate", arm, flipped), ("identify", arm, flipped, "--check")):
        result = CliRunner().invoke(app, list(command), env={"COLUMNS": "160"})
        assert result.exit_code == 1
        assert "reversed? Remedy: --drive-gain 1,-1" in " ".join(result.stdout.split())
        assert ("correct the log first" in result.stdout) == (command[0] == "validate")
    assert run("validate", arm, flipped, "--drive-gain", "1,-1")
    weightless = armdyn.load(arm).with_theta(0.1 * armdyn.load(arm).theta)
    weightless.save(folder / "light.urdf")
    command = ["validate", str(folder / "light.urdf"), str(folder / "run.csv"), "--drive-gain", "1,1"]
    lines = CliRunner().invoke(app, command).stdout.splitlines()
    assert lines[-2] == "next: identify the arm from its logs"
    assert lines[-1] == f"try:  armdyn identify {folder / 'light.urdf'} {folder / 'run.csv'} --drive-gain 1,1"


def test_validate_has_a_row_per_log(folder):
    arm, logs = str(folder / "arm.urdf"), [str(folder / name) for name in ("run.csv", "load.csv")]
    rows = [line.split() for line in run("validate", arm, *logs).splitlines()]
    for name in ("run.csv", "load.csv"):
        (row,) = (words for words in rows if words[:1] == [name])
        assert row[1] == "good"
    told = json.loads(run("validate", arm, *logs, "--json"))
    assert [one["log"] for one in told] == ["run.csv", "load.csv"]
    alone = json.loads(run("validate", arm, logs[0], "--json"))
    assert alone == told[0]
    assert told[0]["rel_error"] != told[1]["rel_error"]


def test_what_was_put_right_in_a_log_is_said_to_the_next_command(folder):
    arm, log = str(folder / "arm.urdf"), str(folder / "run.csv")
    page = folder / "corrected.html"
    run("identify", arm, log, "--time-scale", "1.001", "--zero", "joint1=0.001", "--report", str(page))
    (line,) = re.findall("armdyn excite [^<]*", page.read_text())
    assert f"--given {log} --time-scale 1.001 --zero joint1=0.001 --out next.csv" in line
    shorter = ("--time-budget", "2", "--max-velocity", "3", "--out", str(folder / "next.csv"))
    assert "Saved as" in run(*shlex.split(line)[1:-2], *shorter)


def test_remedies_for_clock_and_mount_work(folder):
    log = np.loadtxt(folder / "run.csv", delimiter=",", skiprows=1)
    slow, model = folder / "slow.csv", folder / "slow.urdf"
    np.savetxt(slow, log * [2, 1, 1, 1, 1], delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    text = run("identify", str(folder / "arm.urdf"), str(slow), "--time-scale", "0.5", "--out", str(model))
    fast = run("identify", str(folder / "arm.urdf"), str(folder / "run.csv"), "--out", str(model))
    assert text == fast.replace(str(folder / "run.csv"), str(slow)).replace("OTHER.csv", "OTHER.csv --time-scale 0.5")
    hung = armdyn.load(folder / "arm.urdf")
    hung = dataclasses.replace(hung, gravity=-hung.gravity)
    hung.save(folder / "hung.toml")
    down = ",".join(f"{x:.3g}" for x in -hung.gravity)
    as_described = json.loads(run("identify", str(folder / "arm.urdf"), str(folder / "run.csv"), "--json"))
    data = json.loads(run("identify", str(folder / "hung.toml"), str(folder / "run.csv"), f"--down={down}", "--json"))
    assert data["rel_error"] == pytest.approx(as_described["rel_error"], rel=0.05)
    page = folder / "down.html"
    run("identify", str(folder / "hung.toml"), str(folder / "run.csv"), f"--down={down}", "--report", str(page))
    (line,) = re.findall("armdyn excite [^<]*", page.read_text())
    line = re.sub(r"--max-velocity [\d.,]+ ", "", line)
    assert f"excite {folder / 'hung.toml'} --down={down} --duration 20 --given {folder / 'run.csv'} --out" in line
    shorter = ("--time-budget", "2", "--max-velocity", "3", "--out", str(folder / "next.csv"))
    assert "Saved as" in run(*shlex.split(line)[1:-2], *shorter)
    wrong = CliRunner().invoke(app, ["validate", str(folder / "hung.toml"), str(folder / "run.csv")])
    assert wrong.exit_code == 1
    assert ": good;" in run("validate", str(folder / "hung.toml"), str(folder / "run.csv"), f"--down={down}")


def test_remedies_work_in_every_command_that_prints_them(folder):
    arm, log = str(folder / "arm.urdf"), np.loadtxt(folder / "load.csv", delimiter=",", skiprows=1)
    head = "t,q1,q2,tau1,tau2"
    for name, changed in (
        ("slow", log * [2, 1, 1, 1, 1]),
        ("turned", log + np.array([0, 0.35, 0, 0, 0])),
        ("late", np.column_stack([log[9:, :3], log[:-9, 3:]])),
    ):
        np.savetxt(folder / f"{name}.csv", changed, delimiter=",", header=head, comments="")
    mended = {"slow": ("--time-scale", "0.5"), "turned": ("--zero", "joint1=0.35"), "late": ("--delay", "0.09")}
    for command, expected in (("payload", 0.02), ("validate", 0.3)):
        for name, words in mended.items():
            data = json.loads(run(command, arm, str(folder / f"{name}.csv"), *words, "--down=-y", "--json"))
            assert data["rel_error"] < expected, (command, name)


def test_a_finding_is_told_once(folder):
    log = np.loadtxt(folder / "load.csv", delimiter=",", skiprows=1) + np.array([0, 0.35, 0, 0, 0])
    np.savetxt(folder / "off.csv", log, delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        told = run("identify", str(folder / "arm.urdf"), str(folder / "off.csv"))
    text = "\n".join([told, *(str(one.message) for one in caught)])
    reasons = [line.strip() for line in told.splitlines() if line.startswith("  ")]
    assert reasons
    assert [text.count(reason) for reason in reasons] == [1] * len(reasons)
    with pytest.warns(armdyn.ArmdynWarning):  # which tells scripts that read JSON
        run("identify", str(folder / "arm.urdf"), str(folder / "off.csv"), "--json")


def test_options_of_remedies_exist_in_every_command_that_checks_logs():
    arm = armdyn.arms.planar2()
    every = LogCorrection(
        gear_ratio=(1, -1), drive_gain=(-1, 1), zero=(0.1, 0.0), time_scale=0.5, delay=0.1, degrees=True,
        gravity=(0, 0, 0),
    )  # fmt: skip
    words = [
        *correction_words(arm, every),
        *remedy(arm, Finding("warn", "?", correction=LogCorrection(ColumnOrder((1, 0))))).split(),
    ]
    named = {word.partition("=")[0] for word in words if re.match("--[a-z]", word)}
    assert named >= {"--time-scale", "--zero", "--down", "--delay", "--degrees", "--drive-gain", "--columns"}
    for command in ("identify", "payload", "validate"):
        known = {f"--{name.replace('_', '-')}" for name in inspect.signature(function_of(command)).parameters}
        assert named <= known, command


def test_nothing_below_report_names_options_of_findings():
    """Corrections are data; the command line puts them into its words."""
    folder = Path(armdyn.__file__).parent / "identification" / "hypotheses"
    for path in [*folder.glob("*.py"), folder.parent / "quality.py", folder.parent / "logs" / "corrections.py"]:
        texts = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
        assert not [text for text in texts if isinstance(text, str) and re.search("--[a-z]", text)], path


def test_a_payload_on_a_log_with_a_fault_is_told(folder):
    log = np.loadtxt(folder / "load.csv", delimiter=",", skiprows=1)
    path, head = folder / "somewhat_late.csv", "t,q1,q2,tau1,tau2"
    np.savetxt(path, np.column_stack([log[2:, :3], log[:-2, 3:]]), delimiter=",", header=head, comments="")
    with pytest.warns(armdyn.ArmdynWarning, match="lag positions by 20 ms"):
        data = json.loads(run("payload", str(folder / "arm.urdf"), str(path), "--json"))
    assert data["verdict"] == "usable with care"
    assert any("by 20 ms" in text and text.endswith("remedy: --delay 0.02") for text in data["findings"])
    assert json.loads(run("payload", str(folder / "arm.urdf"), str(folder / "load.csv"), "--json"))["verdict"] == "good"


def test_interrupted(folder, monkeypatch):
    """Ctrl-C says where it was and leaves no file, whole or half."""

    def interrupted(*_, progress, **__):
        progress(0.4, 1.0, "choosing terms")
        raise KeyboardInterrupt

    import_module("armdyn.identification.identify")
    monkeypatch.setattr(sys.modules["armdyn.identification.identify"], "identify", interrupted)
    out = folder / "never.urdf"
    arguments = ["identify", str(folder / "arm.urdf"), str(folder / "run.csv"), "--out", str(out)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 130
    assert "interrupted while choosing terms; nothing was written" in result.stderr
    assert not out.exists()


def test_nothing_is_computed_towards_a_file_that_cannot_be_written(folder):
    out = folder / "nowhere" / "model.urdf"
    names = (str(out), str(out.parent))
    with raises(armdyn.errors.ArmdynError, cause=re.compile("there is no folder"), names=names):
        run("identify", "planar2", str(folder / "run.csv"), "--out", str(out))


def test_columns_that_cannot_be_guessed(folder):
    text = (folder / "run.csv").read_text().replace("tau1,tau2", "left,right", 1)
    (folder / "odd.csv").write_text(text)
    arm, log = str(folder / "arm.urdf"), str(folder / "odd.csv")
    assert "relative torque error" in run("validate", arm, log, "--columns", "tau=left,right")
    result = CliRunner().invoke(app, ["validate", arm, log, "--columns", "torque:left"])
    assert result.exit_code == 2
    assert "expected one of t, q, qd, tau, current" in result.stderr


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """A folder with an arm, a good log and one of noise."""
    path = tmp_path_factory.mktemp("answer")
    arm = armdyn.arms.planar2()
    arm.save(path / "arm.urdf")
    t = np.arange(0, 20, 0.01)
    w = np.array([2.0, 3.1])
    q = np.sin(w * t[:, None]) + 0.4 * np.sin(2.3 * w * t[:, None])
    qd = w * np.cos(w * t[:, None]) + 0.4 * 2.3 * w * np.cos(2.3 * w * t[:, None])
    qdd = -(w**2) * np.sin(w * t[:, None]) - 0.4 * (2.3 * w) ** 2 * np.sin(2.3 * w * t[:, None])
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd) + 0.5 * np.sign(qd) + 0.3 * qd
    noise = np.random.default_rng(0).normal(size=tau.shape)
    header = "t,q1,q2,tau1,tau2"
    for name, torques in (("good", tau + 0.02 * noise), ("noise", 5 * noise)):
        rows = np.column_stack([t, q, torques])
        np.savetxt(path / f"{name}.csv", rows, delimiter=",", header=header, comments="")
    return path


class TestTheAnswer:
    """What a person reads: verdict, errors, files, the next command."""

    def run(self, answers, monkeypatch, *words):
        monkeypatch.chdir(answers)
        return CliRunner().invoke(app, ["identify", *words])

    def test_a_good_log(self, answers, monkeypatch):
        written = ("--out", "out.urdf", "--report", "out.html")
        done = self.run(answers, monkeypatch, "arm.urdf", "good.csv", *written, "--strict")
        assert done.exit_code == 0, done.output
        lines = done.stdout.splitlines()
        assert len(lines) <= 25
        assert lines[0] == "planar2: good"
        assert re.fullmatch(r"expected torque error on a new motion: about [\d.]+%, at most [\d.]+%", lines[1])
        (error,) = (line.split()[2] for line in lines if line.startswith("torque error: "))
        assert f"{error} on held-out data" in (answers / "out.html").read_text()
        assert "wrote out.urdf" in lines
        step = "next: use the model, or test it first on a log of a different motion: "
        assert lines[-2] == f"{step}armdyn validate out.urdf OTHER.csv"
        assert lines[-1] == "try:  armdyn compare out.urdf"  # one next step; what would make it better is on the page
        page = (answers / "out.html").read_text()
        assert re.search(
            r"armdyn excite arm.urdf --duration 20 --max-velocity [\d.,]+ --given good.csv --out next.csv", page
        )

    @pytest.mark.filterwarnings("ignore::armdyn.errors.ArmdynWarning")
    def test_a_log_of_noise_is_written_only_by_force(self, answers, monkeypatch):
        done = self.run(answers, monkeypatch, "arm.urdf", "noise.csv", "--out", "bad.urdf")
        assert done.exit_code == 1
        assert not (answers / "bad.urdf").exists()
        forced = self.run(answers, monkeypatch, "arm.urdf", "noise.csv", "--out", "bad.urdf", "--force", "--strict")
        assert forced.exit_code == 3, forced.output
        assert forced.stdout.startswith("planar2: not usable")
        assert (answers / "bad.urdf").exists()

    def test_the_verdict_is_in_the_json(self, answers, monkeypatch):
        done = self.run(answers, monkeypatch, "arm.urdf", "good.csv", "--json")
        assert json.loads(done.stdout)["verdict"]["word"] == "good"
