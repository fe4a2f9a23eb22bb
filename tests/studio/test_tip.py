"""The tip's readout and handle."""

import numpy as np

from armdyn import arms, forward_kinematics
from armdyn.studio.tip import handle_pose, pose_html, reach_for


def test_the_pose_is_in_millimetres_and_degrees(arm):
    T = np.eye(4)
    T[:3, 3] = 0.5, -0.25, -1e-9
    html = pose_html(arm.tip_name, T)
    assert ">500.0<" in html
    assert ">-250.0<" in html
    assert "-0.0" not in html.replace("-250.0", "")


def test_a_name_from_a_file_cannot_become_markup(arm):
    assert "<script>" not in pose_html("<script>", np.eye(4))


def test_the_arm_follows_the_handle():
    arm = arms.puma560()
    q = np.array([0.3, -0.5, 0.4, 0.2, 0.6, -0.1])
    T = forward_kinematics(arm, q)
    position, wxyz = handle_pose(T)
    goal = position + np.array([0.02, -0.01, 0.03])
    found = reach_for(arm, goal, wxyz, q, turn=True)
    assert found.success
    moved = forward_kinematics(arm, found.q)
    np.testing.assert_allclose(moved[:3, 3], goal, atol=1e-5)
    np.testing.assert_allclose(moved[:3, :3], T[:3, :3], atol=1e-5)
    assert np.abs(found.q - q).max() < 0.3  # no jump to another posture


def test_out_of_reach_it_goes_as_far_as_it_can(arm):
    found = reach_for(arm, [50.0, 0.0, 0.0], [1, 0, 0, 0], np.array([0.1, 0.2]), turn=False)
    assert not found.success
    assert "reach" in found.message
    assert np.isfinite(found.q).all()
