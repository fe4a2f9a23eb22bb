"""Design studies: arms judged along one task by their own formulas."""

from __future__ import annotations

import numpy as np
import pytest

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
    with pytest.raises(armdyn.ArmdynError, match=r"cannot be reached|leaves the workspace"):
        study(text=DESIGN).case(0)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"planar2", ', '"planar9", ', "unknown arm 'planar9'"),
        ('["planar2", "lu_meng2"]', "[]", "arms: expected a list of names"),
        ('["planar2", "lu_meng2"]', '["planar2", "planar2"]', "expected every name once"),
        ("end = [0.5, 0.4, 0.0]", "end = [0.5, 0.2, 0.0]", "start and end are the same"),
        ("end = [0.5, 0.4, 0.0]", "end = [0.5, 0.4]", "end: expected 3 numbers"),
        ("[0.3, 1.0]", "[0.0, 1.0]", "expected positive values, got down to 0"),
        ("[0.3, 1.0]", "[0.3, 1e200]", "member.1.length: expected values up to 1e.06"),
        ('"member.1.length"', '"member.3.length"', "unknown parameter 'member.3.length'"),
        ('"energy"', '"beauty"', "rank_by: unknown 'beauty'"),
    ],
)
def test_bad_input(study, old, new, message):
    with pytest.raises(armdyn.ArmdynError, match=message):
        study({old: new}, DESIGN)
