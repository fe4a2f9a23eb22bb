"""The panels without a browser: what a person's actions do to the arm and to what is shown."""

import asyncio
import dataclasses
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
from tests.raising import raises

from armdyn import ArmdynError, Limits, arms, forward_kinematics
from armdyn.studio.app import Studio
from armdyn.studio.panels.compare import THREE_LAWS
from armdyn.studio.panels.excite import DescentCurve
from armdyn.studio.panels.joint import slider_span
from armdyn.studio.server import start_server, stop_server
from armdyn.studio.tip import handle_pose

pytest.importorskip("viser", reason="the studio needs viser")


@contextmanager
def studio_of(arm, **options):
    """A studio on a server of its own."""
    server = start_server(port=0)
    try:
        with Studio(server, arm, **options) as studio:
            yield studio
    finally:
        stop_server(server)


@pytest.fixture(scope="module")
def tab(arm, opened):
    """One tab for most tests."""
    with studio_of(arm) as studio, opened(studio) as tab:
        yield tab


@pytest.fixture
def another(opened):
    """`with another(arm) as tab`: of a studio of its own."""

    @contextmanager
    def tab_of(arm, **options):
        with studio_of(arm, **options) as studio, opened(studio) as tab:
            yield tab

    return tab_of


def act(handle, value=None, **more):
    """What viser does when a person sets an input or presses a button."""
    if value is not None:
        handle._impl.value = value
    for callback in handle._impl.update_cb:
        callback(SimpleNamespace(client=SimpleNamespace(**more), target=handle))


def said(panel):
    return panel.status.content


def test_sliders_move_joints_and_follow_them(tab):
    state = tab.state
    act(tab.joints.sliders[1], 30.0)
    assert state.moment.q[1] == pytest.approx(np.radians(30))
    state.rest_at([np.radians(12.34), 0.0])
    assert tab.joints.sliders[0].value == 12.3


@pytest.mark.parametrize(
    ("limits", "expected"),
    [((-10.04, 10.06), (-10.0, 10.0)), ((11.459, 11.459), (11.4, 11.5)), ((0.0, 0.0), (0.0, 0.1))],
)
def test_sliders_end_within_the_limits_or_around_a_fixed_joint(limits, expected):
    assert slider_span(*limits) == expected


def test_odd_limits_and_names_have_a_page(another, arm):
    odd = [
        dataclasses.replace(joint, name=name, limits=limits)
        for joint, name, limits in zip(
            arm.joints, ("<b>x</b>", "y/z"), (Limits(0.2, 0.2), Limits(-1e9, 1e9, 0, 0)), strict=True
        )
    ]
    with another(arm.with_joints(odd).with_gravity([0, 0, 0])) as page:
        page.state.move_joint(1, 0.5)
        assert "<b>x</b>" not in page.torques.html.content


def test_what_the_program_sets_is_not_taken_for_a_persons_wish(tab):
    state = tab.state
    state.rest_at([np.radians(12.34), 0.0])  # the slider shows 12.3; the joint stays
    assert state.moment.q[0] == np.radians(12.34)


def test_the_readout_follows(tab):
    tab.state.rest_at([0.4, 0.5])
    x = 1e3 * forward_kinematics(tab.state.arm, [0.4, 0.5])[0, 3]
    assert f">{x:.1f}<" in tab.tip.html.content


def drag(tab, T, phase):
    position, wxyz = handle_pose(T)
    target = SimpleNamespace(position=position, wxyz=wxyz)
    # In a thread of its own: a browser of other tests may keep a loop running in this one.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, tab.handle._on_drag(SimpleNamespace(phase=phase, target=target))).result()


def test_the_handle_pulls_the_arm_and_returns_to_the_tip(tab):
    state = tab.state
    state.rest_at([0.4, 0.5])
    goal = forward_kinematics(state.arm, [0.5, 0.7])
    for phase in ("start", "update"):
        drag(tab, goal, phase)
        assert tab.handle.dragged
    np.testing.assert_allclose(state.now.tip[:3, 3], goal[:3, 3], atol=1e-4)
    far = goal.copy()
    far[:3, 3] *= 10
    drag(tab, far, "update")
    assert "reach" in tab.handle.status.content
    drag(tab, far, "end")
    np.testing.assert_allclose(tab.handle.handle.position, state.now.tip[:3, 3])


def test_toggles_of_the_scene(tab):
    act(tab.view.ellipsoids, True)
    assert all(node.visible for node in tab.scene.ellipsoids)
    assert tab.scene.bodies[0].opacity is not None  # what is inside can be seen
    act(tab.view.ellipsoids, False)
    assert tab.scene.bodies[0].opacity is None
    act(tab.view.frames, True)
    assert all(frame.show_axes for frame in tab.scene.frames)


def test_a_load_shows_in_the_bars(tab):
    before = tab.torques.html.content
    act(tab.torques.payload, 5.0)
    assert tab.torques.html.content != before
    act(tab.torques.payload, 0.0)


def test_a_log_is_identified_and_shown_beside_the_description(another, arm, log):
    light = arm.with_theta(0.7 * arm.theta)
    with another(light) as tab:
        tab.log.load(log)
        assert "torque error of the arm as described: 30" in tab.log.about.content
        tab.identify.job.start()
        tab.identify.job.job.join(60)
        state = tab.state.now
        assert state.arm is state.fit.arm
        verdict = tab.identify.verdict.content
        assert state.fit.verdict.word.capitalize() in verdict
        assert "the arm as described has 30" in verdict
        assert "as described:" not in tab.log.about.content  # one set of figures, the fit's own
        assert set(tab.curves.plot._curves) == {"measured", "model", "as described"}
        off = np.abs(state.motion.described - state.motion.measured).max()
        assert np.abs(state.motion.predicted - state.motion.measured).max() < 0.1 * off
        assert tab.scene.before
        _, identified, high, low = tab.curves.friction._handle.data
        assert tab.curves.friction._handle.visible
        assert (low <= identified).all()
        assert (identified <= high).all()
        assert "together" in tab.curves.masses.content
        act(tab.identify.back)
        assert not tab.curves.friction._handle.visible
        assert tab.curves.masses.content == ""
        assert tab.state.arm is light
        assert tab.identify.verdict.content == ""
        assert not tab.scene.before


def test_controllers_are_compared_and_the_estimate_grows(tab):
    act(tab.compare.duration, 3.0)
    tab.compare.job.start()
    tab.compare.job.job.join(120)
    tab.page.player.pause()
    comparison = tab.state.now.comparison
    assert tuple(row.name for row in comparison.rows) == THREE_LAWS
    assert "Slotine-Li" in tab.compare.table.content
    estimate = tab.compare.estimate
    assert estimate.truth == tab.compare.payload.value
    assert abs(estimate.mass[-1] - estimate.truth) < abs(estimate.mass[0] - estimate.truth)
    tab.page.player.seek(1.0)
    shown = tab.compare.plot._handle.data[1]
    assert np.isnan(shown[-1])
    assert np.isfinite(shown[0])


def test_an_exciting_motion_is_found_and_cancelled_ones_keep_the_best(tab):
    act(tab.excite.budget, 60.0)
    panel = tab.excite.job
    panel.start()
    with raises(Exception, cause="this is under way already"):
        panel.start()
    deadline = [0.0]
    while "best" not in said(panel) and deadline[0] < 60:
        panel.job.join(0.1)
        deadline[0] += 0.1
    panel.job.cancel()
    panel.job.join(20)
    assert not panel.job.running
    assert "Stopped early" in said(panel)
    assert "At all times" in tab.excite.result.content
    assert "Not checked" in tab.excite.result.content
    assert tab.page.player.motion.name == "exciting motion"
    tab.page.player.pause()


def test_the_axis_of_a_search_has_its_whole_time():
    descent = DescentCurve()
    for elapsed, best in ((0.5, np.inf), (1.0, 80.0), (2.0, 60.0)):
        descent.add(SimpleNamespace(elapsed=elapsed, best=best, current=90.0 / elapsed))
    t, curves = descent.curves(20.0)
    assert (t[0], t[-1]) == (0.0, 20.0)
    assert np.isnan([curves["best so far"][k] for k in (0, 1, -1)]).all()
    assert curves["best so far"][3] == 60.0


def test_work_that_fails_says_why_and_leaves_the_buttons_ready(another, arm):
    with another(arm.with_theta(np.full(20, np.nan))) as page:
        page.compare.job.start()
        page.compare.job.job.join(60)
        assert "lacks all ten" in said(page.compare.job)
        assert not page.compare.job.start_button.disabled
        assert not page.compare.job.cancel_button.visible


def test_files_go_to_the_one_who_asked(tab):
    sent = []
    for button in (tab.export.arms[".urdf"], tab.export.arms[".toml"], tab.export.c, tab.export.law_c):
        act(button, send_file_download=lambda name, data, save_immediately: sent.append(name))
    assert sent == ["planar2.urdf", "planar2.toml", "planar2_c.zip", "planar2_computed_torque_c.zip"]
    assert not tab.export.c.disabled


def test_an_arm_without_inertia_has_a_page_too(another, arm):
    with another(arm.with_theta(np.full(20, np.nan))) as page:
        assert "unknown" in page.torques.html.content
        assert page.view.ellipsoids.disabled


OBSTACLES = """
[[box]]
name = "cabinet"
center = [5.0, 0.0, 0.0]
size = [0.4, 1.0, 0.8]

[[sphere]]
name = "lamp"
center = [0.3, 0.3, 1.5]
radius = 0.2
"""


def test_floor_and_obstacles_are_shown_and_told(tab, tmp_path):
    (tmp_path / "room.toml").write_text(OBSTACLES)
    tab.around.open(tmp_path / "room.toml")
    assert len(tab.scene.around.obstacles) == 4  # each with its name
    assert "cabinet, lamp" in tab.excite.around.content
    act(tab.around.clear)
    assert tab.state.now.obstacles == ()
    assert tab.scene.around.obstacles == []
    act(tab.around.height, -0.5)
    act(tab.around.own, True)
    assert tab.state.now.floor == -0.5
    assert tab.scene.around.table
    assert not tab.excite.off_plane.disabled
    act(tab.around.own, False)
    assert tab.state.now.floor is None


def test_a_collision_is_told(tab, tmp_path, arm):
    x, y, z = forward_kinematics(arm, [0.1, 0.2])[:3, 3]
    (tmp_path / "in_the_way.toml").write_text(f'[[sphere]]\nname = "post"\ncenter = [{x}, {y}, {z}]\nradius = 0.1\n')
    tab.state.rest_at([0.1, 0.2])
    tab.around.open(tmp_path / "in_the_way.toml")
    assert "the post overlap by" in tab.clearance.html.content
    tab.state.rest_at([0.1 + np.pi, 0.2])
    assert "mm apart" in tab.clearance.html.content
    act(tab.around.clear)


def test_broken_obstacles_change_nothing(tab, tmp_path):
    (tmp_path / "room.toml").write_text("[[cone]]\n")
    with raises(ArmdynError, cause="room.toml: expected tables [[box]], [[half_space]] or [[sphere]], got cone"):
        tab.around.open(tmp_path / "room.toml")
    assert tab.state.now.obstacles == ()


def test_another_arm_is_chosen_from_the_library_and_from_a_file(another, arm, tmp_path):
    with another(arm) as tab:
        tab.state.change(payload=2.0)
        old = tab.page
        act(tab.arm.library, "puma3")
        assert tab.state.arm.name == "puma3"
        assert old.closed
        assert tab.state.now.payload == 0
        assert len(tab.joints.sliders) == tab.state.arm.n
        act(tab.arm.library, "no such arm")
        assert tab.state.arm.name == "puma3"
        arm.save(tmp_path / "mine.urdf")
        tab.arm.open(tmp_path / "mine.urdf")
        assert tab.state.arm.n == 2
        assert tab.subject.source == tmp_path / "mine.urdf"
        (tmp_path / "broken.urdf").write_text("<robot")
        with raises(ArmdynError, cause=re.compile(r"^broken\.urdf: not well-formed")):
            tab.arm.open(tmp_path / "broken.urdf")


def test_a_rejected_log_can_be_accepted_anyway(another, arm, log):
    backwards = dataclasses.replace(log, tau=-log.tau)
    with another(arm) as tab:
        tab.log.load(backwards)
        assert not tab.identify.force.visible
        tab.identify.job.start()
        tab.identify.job.job.join(60)
        assert tab.state.now.fit is None
        assert tab.identify.force.visible
        act(tab.identify.force, True)
        tab.identify.job.start()
        tab.identify.job.job.join(60)
        assert tab.state.now.fit is not None
        tab.log.load(log)
        assert not tab.identify.force.visible


def test_a_path_is_opened_when_asked_not_while_it_is_typed(another, arm, log_csv, tmp_path):
    (tmp_path / "swing.csv").write_text(log_csv)
    with another(arm) as tab:
        act(tab.log.choice.path, str(tmp_path / "swing.csv"))
        assert tab.state.now.log is None
        act(tab.log.choice.button)
        assert tab.state.now.log.path == tmp_path / "swing.csv"
    with another(arm, local=False) as tab:
        assert not hasattr(tab.log.choice, "path")


def test_columns_that_cannot_be_guessed_are_listed_and_mapped(tab, log_csv, tmp_path):
    (tmp_path / "odd.csv").write_text(log_csv.replace("t,q1,q2,tau1,tau2", "stamp,A1,A2,M1,M2"))
    with raises(ArmdynError, cause="no columns of joint positions and torques for the 2 joints"):
        tab.log.open(tmp_path / "odd.csv")
    assert "Its columns are: stamp, A1, A2, M1, M2." in tab.log.about.content
    for role, names in {"t": "stamp", "q": "A1, A2", "tau": "M1, M2"}.items():
        act(tab.log.columns[role], names)
    tab.log.read_again()
    assert len(tab.state.now.log) == 800
    assert "odd.csv: 800 samples" in tab.log.about.content
    for role in ("t", "q", "tau"):
        act(tab.log.columns[role], "")


def test_notices_go_away(tab, monkeypatch):
    shown = []
    monkeypatch.setattr(tab.client, "add_notification", lambda title, text, **how: shown.append(how))
    tab.page.complain("no")
    tab.page.say("Note", "yes")
    assert all(0 < how["auto_close_seconds"] < 30 for how in shown)
    assert len(shown) == 2


def test_reports_are_offered_when_there_is_something_to_report(tab):
    assert tab.export.reports["fit"].disabled == (tab.state.now.fit is None)
    assert not tab.export.reports["excitation"].disabled  # of the test above
    sent = {}
    for button in (tab.export.reports["excitation"], tab.export.reports["comparison"], tab.export.trajectory):
        act(button, send_file_download=lambda name, data, save_immediately: sent.update({name: data}))
    assert set(sent) == {"excitation.html", "comparison.html", "motion.csv"}
    assert b"Not checked" in sent["excitation.html"]
    assert sent["motion.csv"].startswith(b"t,q1,q2,qd1")


def test_tabs_do_not_touch_each_other_and_reloading_goes_on(arm, opened):
    with studio_of(arm) as studio:
        with opened(studio) as one, opened(studio) as two:
            one.state.rest_at([0.1, 0.2])
            two.state.rest_at([-0.3, 0.4])
            two.state.change(payload=3.0)
            assert one.joints.sliders[0].value == 5.7
            assert two.joints.sliders[0].value == -17.2
            assert one.torques.payload.value == 0.0
            studio.rest_at([0.5, 0.5])  # as Python may ask
            assert one.state.moment.q[0] == two.state.moment.q[0] == 0.5
        with opened(studio) as again:  # `one` was closed last
            assert again.state.moment.q[0] == 0.5
            assert again.state.now.payload == 0.0


def test_measured_poses_calibrate_the_arm(another, tmp_path, until):
    """A PUMA 560 with one pose 30 mm off: named, red, and a choice of where to go."""
    arm, rng = arms.puma560(), np.random.default_rng(1)
    q = rng.uniform(-1.5, 1.5, (24, 6))
    tips = forward_kinematics(arm, q + rng.normal(0, 4e-3, 6))
    points = tips[:, :3, 3] + 0.1 * tips[:, :3, 0] + (2, -1, 0.5) + rng.normal(0, 5e-5, (24, 3))
    points[7, 1] += 0.03
    names = [f"q{k + 1}" for k in range(6)] + ["x", "y", "z"]
    for name, table in (("good.csv", q), ("degrees.csv", np.degrees(q))):
        rows = np.column_stack([table, points])
        np.savetxt(tmp_path / name, rows, delimiter=",", header=",".join(names), comments="")
    with another(arm) as tab:
        panel = tab.calibrate
        with raises(ArmdynError, cause="degrees.csv: joint positions are in degrees; correct the file, or its units"):
            panel.open(tmp_path / "degrees.csv")
        assert "joint positions are in degrees" in panel.about.content
        assert not panel.job.start_button.visible
        panel.open(tmp_path / "good.csv")
        act(panel.job.start_button)
        until(lambda: panel.row.visible, 60.0)
        assert "Doubtful poses: 8 (red arrows)" in panel.verdict.content
        assert "At poses that were left out: base and tool" in panel.verdict.content
        assert panel.row.options[1].startswith("8 (")
        act(panel.row, panel.row.options[1])
        np.testing.assert_allclose(tab.state.moment.q, q[7], atol=1e-12)
        sent = []
        for button in panel.files:
            act(button, send_file_download=lambda name, data, **_: sent.append((name, len(data))))
        assert [name for name, _ in sent] == ["puma560_calibrated.urdf", "calibration.html"]
        assert panel._arrows.points.shape == (24, 2, 3)
