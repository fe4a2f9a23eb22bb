"""The panels without a browser: what a person's actions do to the arm and to what is shown."""

import asyncio
import dataclasses
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from armdyn import Limits, forward_kinematics
from armdyn.studio.app import Studio
from armdyn.studio.panels.compare import FEW
from armdyn.studio.panels.joint import slider_span
from armdyn.studio.server import start_server, stop_server
from armdyn.studio.tip import handle_pose

pytest.importorskip("viser", reason="the studio needs viser")


@pytest.fixture(scope="module")
def studio(arm):
    server = start_server(port=0)
    with Studio(server, arm) as page:
        yield page
    stop_server(server)


@pytest.fixture
def server():
    """For a page of its own."""
    server = start_server(port=0)
    yield server
    stop_server(server)


def act(handle, value=None, **more):
    """What viser does when a person sets an input or presses a button."""
    if value is not None:
        handle._impl.value = value
    for callback in handle._impl.update_cb:
        callback(SimpleNamespace(client=SimpleNamespace(**more), target=handle))


def said(panel):
    return panel.status.content


def test_sliders_move_joints_and_follow_them(studio):
    state = studio.page.state
    act(studio.joints.sliders[1], 30.0)
    assert state.moment.q[1] == pytest.approx(np.radians(30))
    state.rest_at([np.radians(12.34), 0.0])
    assert studio.joints.sliders[0].value == 12.3


@pytest.mark.parametrize(
    ("limits", "expected"),
    [((-10.04, 10.06), (-10.0, 10.0)), ((11.459, 11.459), (11.4, 11.5)), ((0.0, 0.0), (0.0, 0.1))],
)
def test_sliders_end_within_the_limits_or_around_a_fixed_joint(limits, expected):
    assert slider_span(*limits) == expected


def test_odd_limits_and_names_have_a_page(server, arm):
    odd = [
        dataclasses.replace(joint, name=name, limits=limits)
        for joint, name, limits in zip(
            arm.joints, ("<b>x</b>", "y/z"), (Limits(0.2, 0.2), Limits(-1e9, 1e9, 0, 0)), strict=True
        )
    ]
    with Studio(server, arm.with_joints(odd).with_gravity([0, 0, 0])) as page:
        page.page.state.move_joint(1, 0.5)
        assert "<b>x</b>" not in page.torques.html.content


def test_what_the_program_sets_is_not_taken_for_a_persons_wish(studio):
    state = studio.page.state
    state.rest_at([np.radians(12.34), 0.0])  # the slider shows 12.3; the joint stays
    assert state.moment.q[0] == np.radians(12.34)


def test_the_readout_follows(studio):
    studio.page.state.rest_at([0.4, 0.5])
    x = 1e3 * forward_kinematics(studio.page.state.arm, [0.4, 0.5])[0, 3]
    assert f">{x:.1f}<" in studio.tip.html.content


def drag(studio, T, phase):
    position, wxyz = handle_pose(T)
    target = SimpleNamespace(position=position, wxyz=wxyz)
    # In a thread of its own: a browser of other tests may keep a loop running in this one.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, studio.handle._on_drag(SimpleNamespace(phase=phase, target=target))).result()


def test_the_handle_pulls_the_arm_and_returns_to_the_tip(studio):
    state = studio.page.state
    state.rest_at([0.4, 0.5])
    goal = forward_kinematics(state.arm, [0.5, 0.7])
    for phase in ("start", "update"):
        drag(studio, goal, phase)
        assert studio.handle.dragged
    np.testing.assert_allclose(state.tip[:3, 3], goal[:3, 3], atol=1e-4)
    far = goal.copy()
    far[:3, 3] *= 10
    drag(studio, far, "update")
    assert "reach" in studio.handle.status.content
    drag(studio, far, "end")
    np.testing.assert_allclose(studio.handle.handle.position, state.tip[:3, 3])


def test_toggles_of_the_scene(studio):
    act(studio.view.ellipsoids, True)
    assert all(node.visible for node in studio.scene.ellipsoids)
    assert studio.scene.bodies[0].opacity is not None  # what is inside can be seen
    act(studio.view.ellipsoids, False)
    assert studio.scene.bodies[0].opacity is None
    act(studio.view.frames, True)
    assert all(frame.show_axes for frame in studio.scene.frames)


def test_a_load_shows_in_the_bars(studio):
    before = studio.torques.html.content
    act(studio.torques.payload, 5.0)
    assert studio.torques.html.content != before
    act(studio.torques.payload, 0.0)


def test_a_log_is_identified_and_adopted(studio, arm, log):
    light = arm.with_theta(0.7 * arm.theta)
    studio.adopt(light)
    studio.log.load(log)
    assert "model off by 30" in studio.log.about.content
    studio.log.identify.start()
    studio.log.identify.job.join(60)
    assert "Relative torque error" in said(studio.log.identify)
    assert studio.page.state.arm is not light
    assert studio.log.about.content.count("model off by 0.")
    studio.adopt(arm)


def test_controllers_are_compared_and_the_estimate_grows(studio):
    act(studio.compare.duration, 3.0)
    studio.compare.job.start()
    studio.compare.job.job.join(120)
    studio.page.player.pause()
    comparison = studio.compare.comparison
    assert tuple(row.name for row in comparison.rows) == FEW
    assert "Slotine-Li" in studio.compare.table.content
    estimate = studio.compare.estimate
    assert estimate.truth == studio.compare.payload.value
    assert abs(estimate.mass[-1] - estimate.truth) < abs(estimate.mass[0] - estimate.truth)
    studio.page.player.seek(1.0)
    shown = studio.compare.plot._handle.data[1]
    assert np.isnan(shown[-1])
    assert np.isfinite(shown[0])


def test_an_exciting_motion_is_found_and_cancelled_ones_keep_the_best(studio):
    act(studio.excite.budget, 60.0)
    panel = studio.excite.job
    panel.start()
    with pytest.raises(Exception, match="under way"):
        panel.start()
    deadline = [0.0]
    while "best" not in said(panel) and deadline[0] < 60:
        panel.job.join(0.1)
        deadline[0] += 0.1
    panel.job.cancel()
    panel.job.join(20)
    assert not panel.job.running
    assert "stopped early" in said(panel)
    assert studio.page.player.motion.name == "exciting motion"
    studio.page.player.pause()


def test_work_that_fails_says_why_and_leaves_the_buttons_ready(server, arm):
    with Studio(server, arm.with_theta(np.full(20, np.nan))) as page:
        page.compare.job.start()
        page.compare.job.job.join(60)
        assert "lacks all ten" in said(page.compare.job)
        assert not page.compare.job.start_button.disabled
        assert not page.compare.job.cancel_button.visible


def test_files_go_to_the_one_who_asked(studio):
    sent = []
    for button in (studio.export.urdf, studio.export.c):
        act(button, send_file_download=lambda name, data, save_immediately: sent.append(name))
    assert sent == ["planar2.urdf", "planar2_c.zip"]


def test_an_arm_without_inertia_has_a_page_too(server, arm):
    with Studio(server, arm.with_theta(np.full(20, np.nan))) as page:
        assert "unknown" in page.torques.html.content
        assert page.view.ellipsoids.disabled
