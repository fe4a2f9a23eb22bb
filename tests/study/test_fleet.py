"""A fleet of arms from one factory, one of which carries something it should not."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.identification.fit.result import Fit
from armdyn.study.fleet import fleet_table
from armdyn.study.run import run_study
from armdyn.study.spec import read_study
from armdyn.study.table import StudyError

FLEET = """
kind = "fleet"
name = "line-3"
arm = "arm.toml"
logs = "logs/*.csv"

[identify]
friction = "simple"
"""
ROBOTS = 6
ODD = 4  # has a heavier second link and a worn first joint


@pytest.fixture(scope="module")
def cell(tmp_path_factory):
    """A folder with an arm and the logs of six robots."""
    folder = tmp_path_factory.mktemp("cell")
    nominal = armdyn.arms.planar2()
    joints = [dataclasses.replace(j, friction=armdyn.Friction(viscous=0.4, coulomb=0.5)) for j in nominal.joints]
    arm = nominal.with_joints(joints)
    arm.save(folder / "arm.toml")
    (folder / "logs").mkdir()
    t = np.arange(0.0, 6.0, 0.005)[:, None]
    w, a = 2 * np.pi * np.array([0.4, 0.7]), np.array([0.8, 0.9])
    q, qd, qdd = a * np.sin(w * t), a * w * np.cos(w * t), -a * w**2 * np.sin(w * t)
    rng = np.random.default_rng(5)
    for k in range(ROBOTS):
        robot = arm.with_theta(arm.theta * (1 + 0.005 * rng.standard_normal(20)))
        if k == ODD:
            worn = dataclasses.replace(joints[0], friction=armdyn.Friction(viscous=0.8, coulomb=0.5))
            robot = robot.with_payload(0.5, (-0.5, 0.0, 0.0)).with_joints([worn, joints[1]])
        tau = armdyn.joint_torque(robot, q, qd, qdd) + 0.02 * rng.standard_normal(q.shape)
        rows = np.column_stack([t, q + 1e-5 * rng.standard_normal(q.shape), tau])
        np.savetxt(folder / "logs" / f"r{k}.csv", rows, delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    (folder / "fleet.toml").write_text(FLEET)
    return folder


@pytest.fixture(scope="module")
def fleet(cell):
    return read_study(cell / "fleet.toml")


@pytest.fixture(scope="module")
def columns(fleet, cell):
    return run_study(fleet, cell / "out")


def test_the_odd_robot_is_found(fleet, columns):
    _, strange = fleet_table(columns)
    assert {item.robot for item in strange[:3]} == {f"r{ODD}"}
    assert any("viscous" in item.parameter.lower() or "fv" in item.parameter.lower() for item in strange[:5])
    summary = fleet.summary(columns)
    assert summary.sections[0].title == "Outliers"
    assert summary.sections[0].rows[0][0] == f"r{ODD}"
    assert summary.data["robots"] == ROBOTS


def test_logs_of_one_name_in_folders_of_their_own(cell):
    for robot in ("a", "b"):
        (cell / "runs" / robot).mkdir(parents=True)
        (cell / "runs" / robot / "run.csv").write_bytes((cell / "logs" / "r1.csv").read_bytes())
    (cell / "runs.toml").write_text(FLEET.replace("logs/*.csv", "runs/*/run.csv"))
    assert [robot.name for robot in read_study(cell / "runs.toml").robots] == ["runs/a/run", "runs/b/run"]


def test_parameters_are_those_of_identify(fleet, columns):
    fit = fleet.case(1)
    assert isinstance(fit, Fit)
    own = columns["robot"] == "r1"
    np.testing.assert_array_equal(columns["value"][own][2:], fit.base.theta)
    assert fleet.row(1)["rel_error"] == fit.rel_error < 0.05


def test_a_spoiled_log_is_noted_and_the_others_go_on(fleet, cell, columns):
    (cell / "logs" / "r0.csv").rename(cell / "r0.csv")
    try:
        (cell / "logs" / "r0.csv").write_text("t,q1,q2,tau1,tau2\n" + "0,0,0,0,0\n" * 3)
        spoiled = read_study(cell / "fleet.toml")
        assert spoiled.fingerprint != fleet.fingerprint
        found = spoiled.compute(range(0, 2))
        assert found["note"][0]
        assert np.isnan(found["value"][0])
        assert (found["note"][1:] == "").all()
        merged = {name: np.concatenate([found[name][:1], columns[name][columns["case"] > 0]]) for name in found}
        assert "1 could not be identified" in spoiled.summary(merged).about
    finally:
        (cell / "r0.csv").rename(cell / "logs" / "r0.csv")


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        (
            '"logs/*.csv"',
            '"nowhere/*.csv"',
            {"cause": re.compile("no file matches 'nowhere"), "names": ("nowhere/*.csv",)},
        ),
        ('"logs/*.csv"', '"/etc/*.csv"', {"expected": "a pattern relative to the study's file"}),
        ('logs = "logs/*.csv"', "", {"expected": "'robots'"}),
        (
            'logs = "logs/*.csv"',
            '[[robots]]\nname = "a"\nlogs = ["absent.csv"]',
            {"file": "absent.csv", "cause": "no such file"},
        ),
        ('logs = "logs/*.csv"', 'robots = [{name = "a"}]', {"where": "small.toml: robots 1", "expected": "'logs'"}),
        ('"simple"', '"rough"', {"where": "small.toml: identify: friction", "names": ("rough",)}),
    ],
)
def test_bad_input(study, cell, old, new, parts, tmp_path):
    armdyn.arms.planar2().save(tmp_path / "arm.toml")
    (tmp_path / "logs").symlink_to(cell / "logs")
    with raises(armdyn.ArmdynError, **parts):
        study({old: new}, FLEET)


def test_few_robots_have_no_outliers():
    columns = {
        "robot": np.array(["a", "b", "c"]), "arm": np.array(["x"] * 3), "parameter": np.array(["m"] * 3),
        "value": np.array([1.0, 1.0, 9.0]), "std": np.zeros(3), "note": np.array([""] * 3),
    }  # fmt: skip
    usual, strange = fleet_table(columns)
    assert usual[0].median == 1.0
    assert strange == []


def test_robots_listed_one_by_one(study, cell, tmp_path):
    armdyn.arms.planar2().save(tmp_path / "arm.toml")
    (tmp_path / "a.csv").write_text((cell / "logs" / "r2.csv").read_text())
    listed = study({'logs = "logs/*.csv"': '[[robots]]\nname = "left"\nlogs = ["a.csv"]'}, FLEET)
    assert [robot.name for robot in listed.robots] == ["left"]
    twice = '[[robots]]\nname = "left"\nlogs = ["a.csv"]\n' * 2
    with raises(StudyError, expected="every name once"):
        study({'logs = "logs/*.csv"': twice}, FLEET)
