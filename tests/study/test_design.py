"""Design studies: arms judged along one task by their own formulas."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.study.run import run_study
from armdyn.study.variants import vary

DESIGN = """
kind = "design"
name = "reachers"
arms = ["planar2", "lu_meng2"]
rank_by = "energy"

[task]
start = [0.5, 0.2, 0.0]
end = [0.5, 0.4, 0.0]
duration = 1.0

[samples]
method = "grid"

[parameters]
"member.1.length" = { values = [0.3, 1.0] }
"""


@pytest.fixture
def puma():
    return armdyn.arms.puma560()


def test_a_stretched_member_is_a_longer_rod():
    arm = armdyn.arms.planar2()
    longer = vary(arm, {"member.1.length": 2.0})
    there, here = (armdyn.link_poses(a, [0.0, 0.0])[:, :3, 3] for a in (longer, arm))
    np.testing.assert_allclose(there[0], 2 * here[0])
    np.testing.assert_allclose(there[1] - there[0], here[1] - here[0])
    old, new = arm.links[0].inertia, longer.links[0].inertia
    assert new.mass == pytest.approx(2 * old.mass)
    np.testing.assert_allclose(new.com, 2 * old.com)


def test_the_last_member_ends_at_the_tip(puma):
    stretched = vary(puma.with_tool(np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.1], [0, 0, 0, 1.0]])),
                       {"member.6.length": 3.0})  # fmt: skip
    assert stretched.tool_pose[2, 3] == pytest.approx(0.3)


def test_dh_parameters_of_any_description(puma):
    q = np.array([0.3, -0.5, 0.8, 0.2, 0.6, -0.4])
    same = vary(puma, {"dh.2.a": 0.4318})
    np.testing.assert_allclose(armdyn.forward_kinematics(same, q), armdyn.forward_kinematics(puma, q), atol=1e-12)
    still = np.zeros(6)
    np.testing.assert_allclose(
        armdyn.inverse_dynamics(same, q, still, still), armdyn.inverse_dynamics(puma, q, still, still), atol=1e-9
    )
    longer = vary(puma, {"dh.2.a": 0.5318})
    away = armdyn.forward_kinematics(longer, still)[:3, 3] - armdyn.forward_kinematics(puma, still)[:3, 3]
    assert np.linalg.norm(away) == pytest.approx(0.1)


def test_masses_and_payloads(puma):
    heavy = vary(puma, {"member.3.mass": 1.5, "payload": 2.0})
    assert heavy.links[2].inertia.mass == pytest.approx(1.5 * puma.links[2].inertia.mass)
    assert heavy.links[5].inertia.mass == pytest.approx(2.0 + puma.links[5].inertia.mass)


def test_designs_are_judged_along_the_line(study, tmp_path):
    small = study(text=DESIGN)
    assert small.count == 4
    columns = run_study(small, tmp_path / "out")
    # The short planar arm does not get there; the others follow the line.
    assert columns["reason"].tolist()[0] == "reach"
    assert not columns["success"][0]
    assert np.isinf(columns["peak_torque"][0])
    run = small.case(1)
    tip = armdyn.forward_kinematics(run.arm, run.q)[:, :3, 3]
    np.testing.assert_allclose(tip[[0, -1]], [[0.5, 0.2, 0.0], [0.5, 0.4, 0.0]], atol=1e-4)
    np.testing.assert_allclose(run.tau, armdyn.joint_torque(run.arm, run.q, run.qd, run.qdd_ref), rtol=1e-9)
    assert columns["peak_torque"][1] == pytest.approx(np.abs(run.tau).max())
    # Bearings carry the arm's weight, more or less as it is accelerated.
    weight = 9.81 * sum(link.inertia.mass for link in run.arm.links)
    assert columns["reaction_force"][1] > 0.5 * weight
    # Links of 0.5 m and 0.25 m; the reach is that of sampled postures.
    assert 0.74 < columns["reach"][1] <= 0.75 + 1e-9
    mobility = np.abs(0.5 * 0.25 * np.sin(run.q[:, 1]))  # l1 l2 |sin q2|
    assert columns["manipulability"][1] == pytest.approx(mobility.min(), rel=1e-6)


def test_the_ranking_is_by_what_was_asked(study, tmp_path):
    small = study(text=DESIGN)
    columns = run_study(small, tmp_path / "out")
    summary = small.summary(columns)
    good = columns["success"]
    cases = columns["case"][good][np.argsort(columns["energy"][good])]
    assert summary.data["best"] == cases.tolist()
    assert summary.sections[0].title == "Best designs by work of the drives"
    assert summary.about == f"4 designs, of which {good.sum()} can do the task"


def test_a_design_that_cannot_be_shown_says_why(study):
    with raises(armdyn.ArmdynError, cause=re.compile(r"cannot be reached|leaves the workspace")):
        study(text=DESIGN).case(0)


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        (
            '"planar2", ',
            '"planar9", ',
            {"cause": "unknown arm 'planar9' (did you mean 'planar2'?)", "names": ("planar9",)},
        ),
        ('["planar2", "lu_meng2"]', "[]", {"where": "small.toml: arms", "expected": "a list of names"}),
        ('["planar2", "lu_meng2"]', '["planar2", "planar2"]', {"expected": "every name once"}),
        ("end = [0.5, 0.4, 0.0]", "end = [0.5, 0.2, 0.0]", {"cause": "start and end are the same"}),
        ("end = [0.5, 0.4, 0.0]", "end = [0.5, 0.4]", {"where": "small.toml: task: end", "expected": "3 numbers"}),
        ("[0.3, 1.0]", "[0.0, 1.0]", {"expected": "positive values", "got": "down to 0"}),
        (
            "[0.3, 1.0]",
            "[0.3, 1e200]",
            {"where": "small.toml: parameters: member.1.length", "expected": "values up to 1e+06"},
        ),
        (
            '"member.1.length"',
            '"member.3.length"',
            {
                "cause": "unknown parameter 'member.3.length' (did you mean 'member.2.length'?)",
                "names": ("member.3.length",),
            },
        ),
        ('"energy"', '"beauty"', {"where": "small.toml: rank_by", "cause": "unknown 'beauty'", "names": ("beauty",)}),
    ],
)
def test_bad_input(study, old, new, parts):
    with raises(armdyn.ArmdynError, **parts):
        study({old: new}, DESIGN)


TASKS = """
kind = "design"
name = "lifters"
arms = ["puma560"]
rank_by = "drive_mass"
drives = "drives.toml"

[[tasks]]
start = [0.45, 0.15, 0.1]
end = [0.45, 0.15, 0.3]
duration = 1.0
load = 2.0

[[tasks]]
start = [0.5, -0.1, 0.1]
end = [0.5, 0.1, 0.1]
rpy = [0.0, 0.0, 0.0]
axis = "z"
duration = 0.8

[samples]
method = "grid"

[parameters]
"vector.3.y" = { values = [-0.4331, -0.41] }
"""
DRIVES = """
[[drive]]
name = "small"
peak_torque = 12.0
continuous_torque = 6.0
speed = 8.0
rotor_inertia = 1e-5
gear_ratio = 60.0
stiffness = 3e3
mass = 0.6

[[drive]]
name = "large"
peak_torque = 300.0
continuous_torque = 150.0
speed = 6.0
rotor_inertia = 3e-4
gear_ratio = 120.0
stiffness = 8e4
mass = 5.5
"""


@pytest.fixture(scope="module")
def lifters(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lifters")
    (folder / "lifters.toml").write_text(TASKS)
    (folder / "drives.toml").write_text(DRIVES)
    study = armdyn.read_study(folder / "lifters.toml")
    return study, run_study(study, folder / "out")


def test_drives_of_a_catalogue_carry_the_loads_of_all_tasks(lifters):
    study, columns = lifters
    assert (columns["reason"] == "").all()
    drives = {drive.name: drive for drive in study.catalogue}
    _, _, arm = study.arm(0)
    bare = arm.with_joints([dataclasses.replace(joint, drive=armdyn.Drive()) for joint in arm.joints])
    chosen = [drives[name] for name in str(columns["drives"][0]).split(", ")]
    rotors = np.array([drive.reflected_inertia for drive in chosen])
    peak, energy, frequency = 0.0, 0.0, np.inf
    for task in study.tasks:
        path = armdyn.joint_trajectory(bare, task.motion, task=task.kind, tolerance=1e-5)
        t = np.linspace(0, task.duration, 201)
        carrying = bare.with_payload(task.load) if task.load else bare
        q, qd, qdd = path(t)
        tau = armdyn.joint_torque(carrying, q, qd, qdd) + rotors * qdd
        assert (np.abs(tau).max(0) <= [drive.peak_torque for drive in chosen]).all()
        assert (np.sqrt((tau**2).mean(0)) <= [drive.continuous_torque for drive in chosen]).all()
        peak = max(peak, np.abs(tau).max())
        energy += np.trapezoid(np.abs(tau * qd).sum(-1), t)
        for M in armdyn.mass_matrix(carrying, q[::20]):
            values = np.linalg.eigvals(np.linalg.solve(M, np.diag([drive.stiffness for drive in chosen])))
            frequency = min(frequency, np.sqrt(values.real.min()) / (2 * np.pi))
    assert columns["peak_torque"][0] == pytest.approx(peak)
    assert columns["energy"][0] == pytest.approx(energy)
    assert columns["natural_frequency"][0] == pytest.approx(frequency, rel=1e-9)
    assert columns["drive_mass"][0] == pytest.approx(sum(drive.mass for drive in chosen))


def test_the_summary_names_drives_and_draws_designs_side_by_side(lifters):
    import matplotlib.pyplot as plt

    study, columns = lifters
    summary = study.summary(columns)
    assert "drives" in summary.sections[0].columns
    figure = summary.figures["parallel"]()
    assert len(figure.axes[0].lines) >= 2
    plt.close(figure)


def test_a_vector_of_another_length_moves_what_comes_after_it(puma):
    q = np.array([0.3, -0.5, 0.8, 0.2, 0.6, -0.4])
    frames = armdyn.link_poses(puma, q)
    moved = armdyn.link_poses(vary(puma, {"vector.3.y": -0.5}), q)
    vector = frames[2, :3, :3].T @ (frames[3, :3, 3] - frames[2, :3, 3])
    other = moved[2, :3, :3].T @ (moved[3, :3, 3] - moved[2, :3, 3])
    np.testing.assert_allclose(other, [vector[0], -0.5, vector[2]], atol=1e-12)
    np.testing.assert_allclose(moved[:3], frames[:3], atol=1e-12)
    tip = vary(puma, {"vector.6.z": 0.1})
    assert tip.tool_pose[2, 3] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("study", "drives", "parts"),
    [
        (
            TASKS,
            DRIVES.replace("300.0", "100.0"),
            {
                "where": "bad.toml: drives: drives.toml: drive 2: drive 'large'",
                "cause": "the continuous torque 150 is above the peak 100",
            },
        ),
        (TASKS, DRIVES.replace("large", "small"), {"cause": "small is listed more than once", "names": ("small",)}),
        (TASKS, "", {"where": "bad.toml: drives: drives.toml", "expected": "'drive'"}),
        (
            TASKS,
            DRIVES.replace("speed = 8.0", "speed = 0"),
            {"where": "bad.toml: drives: drives.toml: drive 1: speed", "expected": "a number > 0"},
        ),
        (
            TASKS.replace("rpy = [0.0, 0.0, 0.0]\n", ""),
            DRIVES,
            {"where": "bad.toml: tasks 2: axis", "expected": "an orientation too", "remedy": "give rpy"},
        ),
        (
            TASKS.replace("values = [-0.4331, -0.41]", "low = 0.5, high = 0.2, count = 3"),
            DRIVES,
            {"cause": re.compile("the range .* is empty")},
        ),
        (
            TASKS.replace("vector.3.y", "vector.9.y"),
            DRIVES,
            {"cause": "unknown parameter 'vector.9.y' (did you mean 'vector.6.y'?)", "names": ("vector.9.y",)},
        ),
        (
            TASKS.replace("load = 2.0", "load = -1.0"),
            DRIVES,
            {"where": "bad.toml: tasks 1: load", "expected": "a number >= 0"},
        ),
    ],
)
def test_bad_files_are_one_sentence(tmp_path, study, drives, parts):
    (tmp_path / "bad.toml").write_text(study)
    (tmp_path / "drives.toml").write_text(drives)
    with raises(armdyn.ArmdynError, **parts):
        armdyn.read_study(tmp_path / "bad.toml")


def test_a_design_without_a_drive_says_which_joint_lacks_it(tmp_path):
    (tmp_path / "weak.toml").write_text(TASKS)
    (tmp_path / "drives.toml").write_text(DRIVES.split('[[drive]]\nname = "large"')[0])
    study = armdyn.read_study(tmp_path / "weak.toml")
    row = study.row(0)
    assert row["reason"].startswith("no drive for joint")
    assert not row["success"]
