"""The report of a fit: self-contained, complete, and safe with any name."""

from __future__ import annotations

import dataclasses
import re
import shlex
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError
from armdyn.html import document
from armdyn.identification.fit.friction_band import friction_bands
from armdyn.identification.hypotheses.finding import Finding
from armdyn.identification.logs.corrections import LogCorrection
from armdyn.identification.logs.log import Log, LogFormat
from armdyn.identification.quality import JointVerdict, Level, Step, Verdict
from armdyn.report.advice import advice, next_command, next_step, which_joints
from armdyn.report.fit_tables import known_alone, links
from armdyn.report.friction import friction_figure


@pytest.fixture(scope="module")
def fit():
    arm = dataclasses.replace(armdyn.arms.planar2(), name="<script>alert(1)</script>")
    t = np.arange(0, 15, 0.01)
    q = np.stack([np.sin(2 * t), np.cos(3 * t)], axis=1)
    qd = np.stack([2 * np.cos(2 * t), -3 * np.sin(3 * t)], axis=1)
    qdd = np.stack([-4 * np.sin(2 * t), -9 * np.cos(3 * t)], axis=1)
    noise = 0.1 * np.random.default_rng(0).normal(size=q.shape)
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd) + 0.3 * np.sign(qd) + 0.2 * qd + noise
    log = Log(t, q, tau)
    return armdyn.identify(arm, log.part(0, 10), validation=log.part(10, 15))


def test_page_is_complete_and_offline(fit, tmp_path):
    text = armdyn.report(fit, tmp_path / "report.html").read_text()
    assert not re.search(r'(src|href)="?https?:', re.sub(r'xmlns[:a-z]*="[^"]*"', "", text))
    wanted = (
        "Measured and model torque",
        "validation log",
        "base parameters, estimated without any prior",
        "How to improve the model",
        "Fc2",
    )
    titles = ("Torque error before and after", "original model", "Residuals on the", "Data: log")
    for part in (*wanted, *titles, "max acc. [rad/s²]"):
        assert part in text
    assert "<script>alert" not in text
    assert text.count("<svg") > 4
    assert len(text) < 2_000_000


def test_function_and_package_share_a_name(fit, tmp_path):
    import armdyn.report as function

    assert function is armdyn.report
    assert function(fit, tmp_path / "a.html").exists()


def test_without_a_path_the_page_is_named_after_the_kind_of_result(fit, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert fit.report() == Path("fit.html")
    assert armdyn.report(fit.checks[0]) == Path("data-check.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data-check.html", "fit.html"]


def test_unknown_results(tmp_path):
    with raises(ArmdynError, cause="no page for a dict"):
        armdyn.report({}, tmp_path / "a.html")


def test_an_arm_of_which_nothing_was_known(fit, tmp_path):
    unknown = fit.with_fields(source=fit.source.with_theta(np.full(20, np.nan)), compare_source=None)
    text = armdyn.report(unknown, tmp_path / "a.html").read_text()
    assert 'original model"' not in text
    assert "nan" not in re.sub(r"<(svg|script).*?</\1>", "", text, flags=re.DOTALL).lower()


def test_gravity_from_poses_has_a_page(tmp_path):
    from armdyn.identification.gravity_poses import fit_poses
    from armdyn.identification.motion.track import Filters
    from armdyn.identification.poses import HeldPoses

    arm = armdyn.arms.planar2()
    q = np.random.default_rng(0).uniform(-1, 1, (20, 2))
    poses = HeldPoses(np.arange(20.0), q, armdyn.gravity_torque(arm, q), 0.5, 0 * q)
    fit = fit_poses(arm, poses, (), None, Filters(5.0, None, "butterworth"))
    assert "static poses" in armdyn.report(fit, tmp_path / "a.html").read_text()


def test_numbers_people_came_for_stand_before_base_parameters_which_fold_away(fit, tmp_path):
    text = armdyn.report(fit, tmp_path / "a.html").read_text()
    titles = ("Links", "Joints", "Torque error before and after", "Details")
    order = [text.index(f"<h2>{title}</h2>") for title in titles]
    assert order == sorted(order)
    folded = text[order[-1] :]
    assert folded.index("<details>") < folded.index("without any prior</summary>") < folded.index("parameter (SI)")


def test_the_foot_holds_what_the_page_was_made_from(fit, tmp_path, monkeypatch):
    """Date, version, command, and the hash of each file, by `sha256sum`'s definition."""
    import hashlib

    path = tmp_path / "a log.csv"
    path.write_bytes(b"t,q1\n")
    monkeypatch.setattr("sys.argv", ["/usr/bin/armdyn", "identify", "my arm.urdf", "a log.csv"])
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    text = document("title", "<p>body</p>", files=[path, None, tmp_path / "absent.csv", path])
    foot = text[text.index("<footer>") :]
    assert f"Made with armdyn {armdyn.__version__} on 1970-01-02 00:00 UTC." in foot
    assert "<pre>armdyn identify &#x27;my arm.urdf&#x27; &#x27;a log.csv&#x27;</pre>" in foot
    assert foot.count(hashlib.sha256(b"t,q1\n").hexdigest()) == 1
    assert "absent" not in foot
    assert "<script" not in text  # no curves, no library
    monkeypatch.setattr("sys.argv", ["/x/ipykernel_launcher.py", "-f", "secret.json"])
    assert "secret" not in document("title")


def test_intervals_are_those_of_the_logs_alone(fit, tmp_path):
    text = armdyn.report(fit, tmp_path / "a.html").read_text()
    for j in range(2):
        value, half = fit.friction.coulomb[j], 1.96 * fit.friction.std[1, j]
        assert f"<td>{value:.3f} ± {half:.3f}</td>" in text  # two digits of the interval, as many of the value
    sure = known_alone(fit)
    assert {"Fv1", "Fc2", "F01"} <= set(sure)
    assert not {"m1", "m2"} & set(sure)  # no torque tells the mass of a link of a planar arm by itself
    names = dict(zip(fit.base.labels, fit.base.names, strict=True))
    assert all(names[label] == label for label in sure)  # nothing that stands in a sum


def test_a_description_that_explains_the_logs_better_than_the_fit_is_kept(fit):
    assert "keep the description" not in next_step(fit)
    as_good, better = (
        fit.with_fields(compare_source=partial(fit.training._replace, rel_error=error))
        for error in (fit.rel_error, fit.rel_error / 2)
    )
    assert "keep the description" not in next_step(as_good)
    assert "keep the description" in next_step(better)


def test_the_first_line_says_for_which_joints_the_model_is_good(fit, tmp_path):
    good, care = JointVerdict(Level.GOOD, ""), JointVerdict(Level.CARE, "31% is unexplained")
    mixed = fit.with_fields(verdict=Verdict(Level.GOOD, (good, care), ()))
    text = armdyn.report(mixed, tmp_path / "a.html").read_text()
    assert "Good for joint 1; 2 usable with care: about " in text
    whole = fit.with_fields(verdict=Verdict(Level.GOOD, (good, good), ()))
    assert ">Good: about " in armdyn.report(whole, tmp_path / "b.html").read_text()
    bad = JointVerdict(Level.NOT_USABLE, "70% is unexplained")
    assert which_joints(fit.with_fields(verdict=Verdict(Level.CARE, (care, bad), ()))) == " for joint 1; 2 not usable"
    assert which_joints(fit.with_fields(verdict=Verdict(Level.NOT_USABLE, (bad, bad), ()))) == ""


class TestAdvice:
    def test_weak_and_undetermined_parameters_name_their_joints(self, fit):
        weak = np.where(np.array(fit.base.labels) == "Fv1", 2.0, 0.1) * np.abs(fit.base.theta)
        base = dataclasses.replace(fit.base, std=weak)
        poor = fit.with_fields(undetermined=("Izz2", "F02"), base=base)
        first, second, *_ = advice(poor)
        assert first == "Move joint 2: the logs do not determine Izz2, F02."
        assert "motion of joint 1 together" in second

    def test_timid_joints(self, fit):
        slow = [dataclasses.replace(j, limits=armdyn.Limits(velocity=10.0)) for j in fit.source.joints]
        held_back = fit.with_fields(source=fit.source.with_joints(slow))
        assert any("little of their speed limits: 1 (20%), 2 (30%)" in line for line in advice(held_back))
        assert not any("speed limits" in line for line in advice(fit))

    def test_the_command_runs_as_it_is_printed(self, fit, tmp_path, monkeypatch):
        from typer.testing import CliRunner

        from armdyn.cli.app import app

        monkeypatch.chdir(tmp_path)
        arm = armdyn.arms.planar2()
        limits = [dataclasses.replace(j, limits=armdyn.Limits(-2, 2, 3, 50)) for j in arm.joints]
        (tmp_path / "my robot").mkdir()
        arm.with_joints(limits).save("my robot/arm.toml")
        log = fit.checks[0].log
        np.savez("my robot/run.npz", t=log.t, q=log.q, tau=log.tau)
        described = armdyn.load("my robot/arm.toml")
        check = fit.checks[0]._replace(log=armdyn.read_log("my robot/run.npz", described))
        line = next_command(fit.with_fields(source=described, checks=(check,)))
        assert line == ("armdyn excite 'my robot/arm.toml' --duration 20 --given 'my robot/run.npz' --out next.csv")
        result = CliRunner().invoke(app, [*shlex.split(line)[1:], "--time-budget", "3"])
        assert result.exit_code == 0, result.output
        assert (tmp_path / "next.csv").exists()

    def test_logs_that_are_no_files_are_not_named(self, fit):
        made = fit.checks[0]._replace(log=dataclasses.replace(fit.checks[0].log, path=None))
        line = next_command(fit.with_fields(checks=(made,)))
        assert re.sub("--max-velocity [0-9.,]+ ", "", line) == (
            f"armdyn excite {shlex.quote(fit.source.name)} --duration 20 --out next.csv"
        )

    def test_an_arm_without_velocity_limits_gets_those_of_the_log(self, fit, tmp_path, monkeypatch):
        """As of every MJCF: without them no motion is designed."""
        from typer.testing import CliRunner

        from armdyn.cli.app import app

        monkeypatch.chdir(tmp_path)
        rods = armdyn.arms.planar2()
        thick = 0.01 * np.tile([0, 0, 0, 0, 1, 0, 0, 0, 0, 0], 2)  # MuJoCo wants inertia about all axes
        rods.with_theta(rods.theta + thick).save("arm.xml")
        described = armdyn.load("arm.xml")
        assert not np.isfinite([joint.limits.velocity for joint in described.joints]).any()
        line = next_command(fit.with_fields(source=described))
        given = [float(x) for x in re.search(r"--max-velocity ([0-9.,]+) ", line)[1].split(",")]
        np.testing.assert_allclose(given, fit.checks[0].joints.speed, rtol=0.05)  # two digits
        line = re.sub("--given [^ ]+ ", "", line)
        result = CliRunner().invoke(app, [*shlex.split(line)[1:], "--time-budget", "1"])
        assert result.exit_code == 0, result.output
        stands = fit.checks[0].joints._replace(speed=np.array([2.0, 0.0]))
        still = fit.with_fields(source=described, checks=(fit.checks[0]._replace(joints=stands),))
        assert "--max-velocity 2,2 " in next_command(still)
        mixed = described.with_joints(
            [dataclasses.replace(described.joints[0], limits=armdyn.Limits(velocity=0.5)), described.joints[1]]
        )
        assert "--max-velocity 0.5,2 " in next_command(dataclasses.replace(still, source=mixed))

    def test_how_late_torques_were_is_said_where_it_counts(self, fit):
        late = fit.filters._replace(delay=0.005)
        log = dataclasses.replace(fit.checks[0].log, path=Path("run.csv"), format=LogFormat(angle="deg"))
        log = log.corrected(LogCorrection(delay=0.005))
        told = fit.with_fields(filters=late, other=None, checks=(fit.checks[0]._replace(log=log),))
        assert next_command(told).endswith("--given run.csv --degrees --out next.csv")
        told = dataclasses.replace(told, verdict=told.verdict._replace(level=Level.GOOD, step=Step()))
        assert next_step(told).endswith("(armdyn validate)")  # the file says so
        assert next_step(told, Path("out.urdf")).endswith(": armdyn validate out.urdf OTHER.csv --degrees")

    def test_the_command_reads_the_logs_as_they_were_read(self, fit, tmp_path, monkeypatch):
        from typer.testing import CliRunner

        from armdyn.cli.app import app

        monkeypatch.chdir(tmp_path)
        arm = armdyn.arms.planar2()
        arm.with_joints([dataclasses.replace(j, limits=armdyn.Limits(-2, 2, 3, 50)) for j in arm.joints]).save("a.toml")
        log, described = fit.checks[0].log, armdyn.load("a.toml")
        rows = np.column_stack([log.t, np.degrees(log.q) * 50 - 900, log.tau / 2])
        np.savetxt("run.csv", rows, delimiter=",", header="clock,a,b,c,d", comments="")
        columns = {"t": "clock", "q": ["a", "b"], "tau": ["c", "d"]}
        reading = {"angle": "deg", "gear_ratio": 50, "drive_gain": [0.04, 0.04], "offset": np.radians([18, 18])}
        read = armdyn.read_log("run.csv", described, columns=columns, **reading)
        np.testing.assert_allclose(read.q, log.q, atol=1e-9)
        plain = fit.checks[0]._replace(log=dataclasses.replace(log, path=tmp_path / "other.csv"))
        checks = (fit.checks[0]._replace(log=read.part(0, 5)), plain)  # no command could read both
        line = next_command(fit.with_fields(source=described, checks=checks))
        assert line == (
            "armdyn excite a.toml --duration 20 --given run.csv --degrees --gear-ratio 50 --drive-gain 0.04,0.04 "
            "--offset 18,18 --columns t=clock --columns q=a,b --columns tau=c,d --out next.csv"
        )
        result = CliRunner().invoke(app, [*shlex.split(line)[1:], "--time-budget", "2"])
        assert result.exit_code == 0, result.output


def test_the_first_screen_names_a_drive_of_two_joints_and_a_next_step(fit, tmp_path):
    found = Finding("note", "joints 1 and 2 share a drive: q1 + q2", kind="coupling")
    good = Verdict(Level.GOOD, fit.verdict.joints, ())
    alone = fit.with_fields(verdict=good, findings=(found,), other=None)
    text = armdyn.report(alone, tmp_path / "a.html").read_text()
    first = text[: text.index(">Links<")]
    assert "<p>Joints 1 and 2 share a drive: q1 + q2.</p>" in first
    assert "Next: use the model, or test it first on a log of a different motion (armdyn validate)." in first
    assert next_step(fit.with_fields(verdict=good, other=fit.other or fit.training)) == "use the model"


def test_friction_curves_have_bands_that_hold(puma_fit_and_truth):
    fit, viscous, coulomb = puma_fit_and_truth
    for band, v, c in zip(friction_bands(fit), viscous, coulomb, strict=True):
        fast = np.abs(band.speed) > 0.1 * band.speed.max()
        wanted = v * band.speed + c * np.sign(band.speed)
        off = np.abs(band.torque - wanted)[fast]
        # Plain friction: a curve of many terms is within its band but for a small share, and close to it everywhere.
        assert off.max() < 0.1 * np.abs(wanted).max()
        assert (band.std[fast] > 0).all()
    assert friction_figure(fit) is not None


@pytest.fixture(scope="module")
def puma_fit_and_truth():
    arm = armdyn.arms.puma560()
    viscous, coulomb = np.linspace(4.0, 1.0, 6), np.linspace(6.0, 1.0, 6)
    friction = [armdyn.Friction(v, c) for v, c in zip(viscous, coulomb, strict=True)]
    pairs = zip(arm.joints, friction, strict=True)
    true = arm.with_joints([dataclasses.replace(j, friction=f, drive=armdyn.Drive()) for j, f in pairs])
    rng, t = np.random.default_rng(0), np.arange(0, 20, 0.005)
    q = sum(0.3 * np.sin(2 * np.pi * f * t[:, None] + rng.uniform(0, 6, 6)) for f in (0.1, 0.23, 0.37, 0.5))
    qd = np.gradient(q, t, axis=0)
    tau = armdyn.joint_torque(true, q, qd, np.gradient(qd, t, axis=0)) + 0.2 * rng.normal(size=q.shape)
    return armdyn.identify(true, armdyn.Log(t, q, tau)), viscous, coulomb


def test_what_logs_do_not_determine_is_marked(puma_fit_and_truth, tmp_path):
    fit = puma_fit_and_truth[0]
    assert not fit.determined.all()
    assert 'class="unknown"' in fit.report(tmp_path / "fit.html").read_text()
    fit.save(tmp_path / "fit.urdf")
    assert any("not determined by the logs" in note for note in armdyn.load(tmp_path / "fit.urdf").notes)


def test_a_centre_known_no_better_than_the_size_of_its_body_is_grey(puma_fit_and_truth):
    fit = puma_fit_and_truth[0]
    wide = dataclasses.replace(fit.base, std=np.where(np.isfinite(fit.base.std), 1e3, np.inf))
    numbers = re.compile(r"<td[^>]*>(<span class=\"unknown\"[^>]*>)?[^<]*±")
    assert any(not mark for mark in numbers.findall(links(fit)[0]))
    assert all(numbers.findall(links(fit.with_fields(base=wide, determined=0 * fit.determined > 0))[0]))
