"""Experiments: clear ways from home and back, files of their own, scripts that run where ROS 2 is."""

from __future__ import annotations

import re
import runpy
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import yaml
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError, LimitError
from armdyn.trajectory.excitation.options import ProtectionOptions
from armdyn.trajectory.excitation.protection import protect
from armdyn.trajectory.experiment.plan import plan_experiment
from armdyn.trajectory.experiment.ros import write_ros_folder
from armdyn.trajectory.experiment.urscript import urscript
from armdyn.trajectory.motion_limits import MotionLimits

HOME = [0.0, -1.2, 1.5, 0.0, 1.0, 0.0]
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the former takes a tenth of the latter's seconds


@pytest.fixture(scope="module")
def arm():
    return armdyn.arms.ur10()


@pytest.fixture(scope="module")
def experiment(arm):
    design = armdyn.excite(arm, 6.0, max_acceleration=8.0, home=HOME, steps=100, workers=1)
    return plan_experiment(design, HOME, count=2, rehearsal=0.2)


def test_what_was_checked_of_slow_parts_is_recorded(experiment):
    """Slow motion is not covered by what holds for the quick one: gravity alone may need more torque."""
    arm = experiment.design.base.source
    for name, some in experiment.guarantees.items():
        part = experiment.parts[name]
        q, qd, qdd = part(np.linspace(0.0, part.duration, 5000))
        kinds = {one.kind: one for one in some}
        tau = np.abs(armdyn.joint_torque(arm, q, qd, qdd))
        assert kinds["torque"].holds == bool((tau <= kinds["torque"].limit).all())
        assert kinds["velocity"].holds
        assert kinds["floor"].holds
        assert kinds["self"].holds
    alone = {"floor": False, "self_collision": False, "max_torque": 0.5 * tau.max(0)}
    weak = protect(arm, ProtectionOptions.of(margin=0.0, **alone)).guarantees(part, experiment.design.limits)
    assert not next(one for one in weak if one.kind == "torque").holds


def test_it_leads_from_home_through_the_motion_and_back(experiment, arm):
    whole = experiment.joined
    np.testing.assert_allclose(whole(0.0).q, HOME, atol=1e-9)
    np.testing.assert_allclose(whole(whole.duration).q, HOME, atol=1e-9)
    expected = 2 * experiment.approach.duration + 2 * experiment.motion.duration
    assert whole.duration == pytest.approx(expected)
    assert experiment.rehearsal.duration == pytest.approx(5 * experiment.motion.duration)
    t = np.linspace(0, experiment.approach.duration, 2001)
    assert np.abs(experiment.approach(t).qd).max() <= 0.3 + 1e-9  # slow
    limits = MotionLimits.of(arm, velocity=0.3, acceleration=1.0)
    clearance = experiment.design.protection.clearance
    for part in (experiment.approach, experiment.back):
        assert clearance.least(part, limits) > 0
        assert clearance.slack((part(np.linspace(0, part.duration, 5001)).q,) * 3).min() > 0


def test_a_detour_is_found_where_the_straight_way_is_blocked():
    arm = armdyn.arms.panda()
    from armdyn.shapes.bodies import bodies_of
    from armdyn.shapes.obstacles import Sphere, mounting_plane
    from armdyn.trajectory.excitation.approach import approach
    from armdyn.trajectory.excitation.clearance import Clearance

    ball = Sphere(np.array([0.55, 0.0, 0.5]), 0.15)
    clearance = Clearance(bodies_of(arm), (mounting_plane(arm), ball))
    one = np.array([1.0, 0.3, 0.0, -1.8, 0.0, 2.1, 0.0])
    two = one * [-1, 1, 1, 1, 1, 1, 1]
    straight = np.linspace(one, two, 200)
    assert clearance.worst(straight)[0] < 0
    way = approach(arm, clearance, one, two)
    assert len(way.parts) > 1
    assert clearance.slack((way(np.linspace(0, way.duration, 5001)).q,) * 3).min() > 0


def test_bad_homes_and_counts_are_rejected(experiment, arm):
    design = experiment.design
    with raises(LimitError, where="home", expected="6 joint positions", got="[0.0, 1.0]"):
        plan_experiment(design, [0.0, 1.0])
    with raises(
        LimitError,
        where="home",
        cause=re.compile(
            r"the pose q = 0, 0\.6, 0\.3, 0, 0, 0 misses the clearance between wrist_2_link and the floor by"
        ),
    ):
        plan_experiment(design, [0.0, 0.6, 0.3, 0.0, 0.0, 0.0])
    with raises(
        LimitError,
        where="home",
        cause=re.compile(r"joint 2 'shoulder_lift_joint' at 90 is outside \[.*, .*\]; positions are in rad or m"),
        names=("shoulder_lift_joint",),
    ):
        plan_experiment(design, [0.0, 90.0, 0.0, 0.0, 0.0, 0.0])
    with raises(ArmdynError, where="repetitions", expected="a whole number >= 1", got="0"):
        plan_experiment(design, HOME, count=0)
    with raises(ArmdynError, where="rehearsal", expected="a speed from 0.1 to 0.3 of the motion's", got="1.0"):
        plan_experiment(design, HOME, rehearsal=1.0)
    with raises(LimitError, cause=re.compile("and the floor by")):
        armdyn.excite(arm, 6.0, max_acceleration=8.0, home=[0.0, 0.6, 0.3, 0.0, 0.0, 0.0], time_budget=30)


def test_parts_are_files_of_their_own(experiment, tmp_path):
    written = experiment.save(tmp_path / "m.csv", 100.0)
    assert [path.name for path in written] == ["m-approach.csv", "m-rehearsal.csv", "m-repeated.csv", "m-return.csv"]
    approach, _, repeated, back = (armdyn.read_trajectory(path) for path in written)
    np.testing.assert_allclose(approach(approach.duration).q, experiment.motion(0.0).q, atol=1e-9)
    np.testing.assert_allclose(back(back.duration).q, HOME, atol=1e-9)
    assert repeated.duration == pytest.approx(12.0)


def test_the_program_for_ur_controllers(experiment):
    lines = urscript(experiment.joined, experiment.home).splitlines()
    assert lines[0] == "def armdyn_motion():"
    assert lines[-1] == "end"
    first = next(line for line in lines if "servoj" in line)
    q = np.array([float(x) for x in first.split("[")[1].split("]")[0].split(",")])
    np.testing.assert_allclose(q, HOME, atol=1e-6)
    moves = sum("servoj" in line for line in lines)
    assert moves == pytest.approx(experiment.joined.duration / 0.008, abs=1)
    with raises(ArmdynError, expected="an arm of six joints", got="1"):
        urscript(armdyn.point_to_point([0.0], [1.0], duration=1.0), np.zeros(1))


# -- a robot that is not there: what the scripts use of ROS 2 ----------------------------------------------------------


class Done:
    """A future that has its result."""

    def __init__(self, result):
        self._result = result

    def result(self):
        return self._result

    def done(self):
        return True


class Robot:
    """Executes every goal at once, `off` by so much, and tells where it is."""

    def __init__(self, names, q, off=0.0):
        self.names, self.q, self.off = names, list(q), off
        self.goals, self.cancelled, self.callback = [], False, None

    def state(self):
        names = [*self.names[::-1], "gripper"]  # in another order, with others among them
        stamp = SimpleNamespace(sec=0, nanosec=0)
        position = [*self.q[::-1], 0.5]
        return SimpleNamespace(
            name=names, position=position, velocity=[0.0] * len(names), effort=[], header=SimpleNamespace(stamp=stamp)
        )

    def send_goal_async(self, goal, feedback_callback):
        self.goals.append(goal.trajectory)
        error = SimpleNamespace(positions=[self.off] * len(self.names))
        feedback_callback(SimpleNamespace(feedback=SimpleNamespace(joint_names=self.names, error=error)))
        self.q = list(goal.trajectory.points[-1].positions)
        finished = SimpleNamespace(result=SimpleNamespace(error_code=0, error_string=""))
        handle = SimpleNamespace(accepted=True, get_result_async=lambda: Done(finished), cancel_goal_async=self.cancel)
        return Done(handle)

    def cancel(self):
        self.cancelled = True
        return Done(None)

    def wait_for_server(self, timeout_sec):
        return True


@pytest.fixture
def ros(monkeypatch):
    """Modules of ROS 2 around one robot."""

    def install(robot):
        def module(name, **names):
            made = ModuleType(name)
            made.__dict__.update(names)
            monkeypatch.setitem(sys.modules, name, made)

        class Goal:
            def __init__(self):
                self.trajectory = SimpleNamespace(joint_names=[], points=[])

        node = SimpleNamespace(destroy_node=lambda: None)
        node.create_subscription = lambda kind, topic, callback, depth: setattr(robot, "callback", callback)
        module(
            "rclpy", init=lambda: None, shutdown=lambda: None, try_shutdown=lambda: None,
            create_node=lambda name: node, spin_until_future_complete=lambda node, future: None,
            spin_once=lambda node, timeout_sec: robot.callback(robot.state()), spin=lambda node: None,
        )  # fmt: skip
        module("rclpy.action", ActionClient=lambda node, kind, name: robot)
        module("control_msgs")
        module("control_msgs.action", FollowJointTrajectory=SimpleNamespace(Goal=Goal))
        for package, kinds in (
            ("sensor_msgs", ("JointState",)),
            ("trajectory_msgs", ("JointTrajectoryPoint",)),
            ("builtin_interfaces", ("Duration",)),
        ):
            module(package)
            module(f"{package}.msg", **dict.fromkeys(kinds, SimpleNamespace))
        return robot

    return install


@pytest.fixture
def folder(experiment, tmp_path):
    write_ros_folder(experiment, tmp_path / "run")
    return tmp_path / "run"


def test_the_folder_for_ros(folder, experiment, arm):
    names = {path.name for path in folder.iterdir()}
    assert names == {
        "approach.csv", "rehearsal.csv", "motion.csv", "return.csv", "motion.yaml", "rehearsal.yaml", "send_motion.py",
        "record_motion.py", "robot.json",
    }  # fmt: skip
    message = yaml.load((folder / "motion.yaml").read_text(), Loader=LOADER)
    assert message["joint_names"] == list(arm.joint_names)
    points = message["points"]
    np.testing.assert_allclose(points[0]["positions"], HOME, atol=1e-6)
    np.testing.assert_allclose(points[-1]["positions"], HOME, atol=1e-6)
    stamps = [p["time_from_start"]["sec"] + 1e-9 * p["time_from_start"]["nanosec"] for p in points]
    assert (np.diff(stamps) > 0).all()
    assert stamps[-1] == pytest.approx(experiment.joined.duration, abs=1e-6)


def test_the_sender_goes_home_approaches_moves_and_returns(folder, experiment, arm, ros, capsys):
    main = runpy.run_path(str(folder / "send_motion.py"))["main"]
    robot = ros(Robot(list(arm.joint_names), HOME))
    main(["--rehearse"])
    main([])
    rehearsal, motion = robot.goals
    ends = [point.time_from_start.sec + 1e-9 * point.time_from_start.nanosec for point in motion.points]
    assert (np.diff(ends) > 0).all()
    assert ends[-1] == pytest.approx(experiment.joined.duration, abs=1e-6)
    assert rehearsal.points[-1].time_from_start.sec == int(experiment.joined_rehearsal.duration)
    np.testing.assert_allclose(motion.points[-1].positions, HOME, atol=1e-9)
    assert "done" in capsys.readouterr().out
    away = ros(Robot(list(arm.joint_names), np.add(HOME, 0.3)))
    with pytest.raises(SystemExit, match=r"not at home.*--go-home"):
        main([])
    assert away.goals == []
    main(["--go-home"])
    np.testing.assert_allclose(away.goals[0].points[-1].positions, HOME)
    assert away.goals[0].points[-1].time_from_start.sec >= 6


def test_the_sender_cancels_a_motion_that_strays(folder, arm, ros):
    main = runpy.run_path(str(folder / "send_motion.py"))["main"]
    robot = ros(Robot(list(arm.joint_names), HOME, off=0.2))
    with pytest.raises(SystemExit, match=r"cancelled, joint .* is 0.200 off the motion"):
        main([])
    assert robot.cancelled


def test_the_recorder_tells_rate_gaps_and_what_is_missing(folder, arm):
    script = runpy.run_path(str(folder / "record_motion.py"))
    import io

    stream = io.StringIO()
    recorder = script["Recorder"](stream)
    robot = Robot(list(arm.joint_names), HOME)
    for k in [*range(100), *range(150, 200)]:
        message = robot.state()
        message.header.stamp = SimpleNamespace(sec=k // 100, nanosec=k % 100 * 10_000_000)
        recorder.add(message)
    recorder.add(SimpleNamespace(name=["other"], position=[0.0]))
    summary = "\n".join(recorder.summary())
    assert "150 samples in 2.0 s, 100 per second" in summary
    assert "1 gap, the longest 0.510 s" in summary
    assert "missing: effort; without it nothing can be identified" in summary
    header, first = stream.getvalue().splitlines()[:2]
    assert header.startswith("t,q1,q2,q3,q4,q5,q6,qd1")
    np.testing.assert_allclose([float(x) for x in first.split(",")[1:7]], HOME)
