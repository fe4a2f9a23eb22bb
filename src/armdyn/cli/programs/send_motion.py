#!/usr/bin/env python3
"""Let a robot run a motion through ros2_control: python3 send_motion.py --rehearse, then python3 send_motion.py.

Needs ROS 2 (rclpy, control_msgs), not armdyn. The robot must stand at its home pose, or goes there with --go-home.
A goal is cancelled, and the robot stops, when a joint leaves the motion by more than --deviation, and by Ctrl-C.
"""

import argparse
import csv
import json
import math
import sys
import time
from pathlib import Path

HOME_SPEED = 0.1  # on the way home [rad/s or m/s]
FOLDER = Path(__file__).resolve().parent
ROBOT = json.loads((FOLDER / "robot.json").read_text())
JOINTS, HOME = ROBOT["joints"], ROBOT["home"]  # names, and their positions [rad or m]


def read_motion(path):
    """Rows (t, q, qd, qdd) of a CSV file."""
    n = len(JOINTS)
    with open(path, newline="") as stream:
        lines = list(csv.reader(stream))
    if lines[0][: n + 1] != ["t", *(f"q{i + 1}" for i in range(n))]:
        raise SystemExit(f"{path}: expected columns t, q1 .. q{n}, got {', '.join(lines[0][:8])}")
    rows = [[float(x) for x in line] for line in lines[1:] if not line[0].startswith("#")]
    return [(row[0], row[1 : n + 1], row[n + 1 : 2 * n + 1], row[2 * n + 1 : 3 * n + 1]) for row in rows]


def join_motions(parts):
    """Motions one after the other; each begins where the one before ends."""
    rows: list = []
    offset = 0.0
    for part in parts:
        rows += [(offset + row[0], *row[1:]) for row in (part[1:] if rows else part)]
        offset = rows[-1][0]
    return rows


def way_home(present):
    """Plan the straight way home from where the robot is, at rest at both ends."""
    distance = max(abs(a - b) for a, b in zip(present, HOME, strict=False))
    zero = [0.0] * len(HOME)
    return [(0.0, present, zero, zero), (max(2.0, 2 * distance / HOME_SPEED), HOME, zero, zero)]


def options(arguments=None):
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rehearse", action="store_true", help="the slow motion, once")
    parser.add_argument(
        "--go-home", action="store_true", help="go home first, straight and slowly: nobody checked that way"
    )
    parser.add_argument("--controller", default="/joint_trajectory_controller", help="name of the controller")
    parser.add_argument("--joint-states", default="/joint_states", help="topic of the robot's state")
    parser.add_argument(
        "--deviation", type=float, default=0.1, help="largest error of a joint, half of it at home [rad or m]"
    )
    return parser.parse_args(arguments)


class Sender:
    """One robot, one goal after the other."""

    def __init__(self, node, options):
        from control_msgs.action import FollowJointTrajectory
        from rclpy.action import ActionClient
        from sensor_msgs.msg import JointState

        self.node, self.options, self.present, self.strayed = node, options, None, ""
        self.action = FollowJointTrajectory
        self.client = ActionClient(node, FollowJointTrajectory, f"{options.controller}/follow_joint_trajectory")
        node.create_subscription(JointState, options.joint_states, self.see, 10)

    def see(self, message):
        """Store the robot's position; joints may come in any order, others among them."""
        place = dict(zip(message.name, message.position, strict=False))
        if all(name in place for name in JOINTS):
            self.present = [place[name] for name in JOINTS]

    def wait_for_robot(self, seconds=10.0):
        """The robot's pose, or an end with a reason."""
        import rclpy

        if not self.client.wait_for_server(timeout_sec=seconds):
            cause = f"no action server {self.options.controller}/follow_joint_trajectory; is the controller active?"
            raise SystemExit(cause)
        end = time.monotonic() + seconds
        while self.present is None and time.monotonic() < end:
            rclpy.spin_once(self.node, timeout_sec=0.1)
        if self.present is None:
            raise SystemExit(f"{self.options.joint_states} does not carry {', '.join(JOINTS)}")
        return self.present

    def goal(self, rows):
        """The message for a motion."""
        from builtin_interfaces.msg import Duration
        from trajectory_msgs.msg import JointTrajectoryPoint

        goal = self.action.Goal()
        goal.trajectory.joint_names = list(JOINTS)
        for t, q, qd, qdd in rows:
            seconds = math.floor(t)
            stamp = Duration(sec=seconds, nanosec=min(round((t - seconds) * 1e9), 999_999_999))
            goal.trajectory.points.append(
                JointTrajectoryPoint(positions=q, velocities=qd, accelerations=qdd, time_from_start=stamp)
            )
        return goal

    def watch(self, feedback):
        """Note a joint that leaves the motion."""
        message = feedback.feedback
        for name, error in zip(message.joint_names, message.error.positions, strict=False):
            if abs(error) > self.options.deviation:
                self.strayed = f"joint {name} is {error:.3f} off the motion"

    def run(self, name, rows):
        """Send a motion and see it through."""
        import rclpy

        print(f"{name}: {rows[-1][0]:.1f} s, {len(rows)} points", flush=True)
        sent = self.client.send_goal_async(self.goal(rows), feedback_callback=self.watch)
        rclpy.spin_until_future_complete(self.node, sent)
        handle = sent.result()
        if not handle.accepted:
            raise SystemExit(f"{name}: the controller rejected the motion")
        done = handle.get_result_async()
        try:
            while not done.done() and not self.strayed:
                rclpy.spin_once(self.node, timeout_sec=0.05)
        except KeyboardInterrupt:
            self.strayed = "interrupted"
        if self.strayed:
            rclpy.spin_until_future_complete(self.node, handle.cancel_goal_async())
            raise SystemExit(f"{name}: cancelled, {self.strayed}")
        result = done.result().result
        if result.error_code != 0:
            raise SystemExit(f"{name}: the controller stopped it (error {result.error_code} {result.error_string})")


def main(arguments=None):
    """Home, approach, motion, return."""
    chosen = options(arguments)
    part = {name: read_motion(FOLDER / f"{name}.csv") for name in ("approach", "rehearsal", "motion", "return")}
    import rclpy

    rclpy.init()
    node = rclpy.create_node("armdyn_send_motion")
    try:
        sender = Sender(node, chosen)
        present = sender.wait_for_robot()
        if max(abs(a - b) for a, b in zip(present, HOME, strict=False)) > chosen.deviation / 2:
            if not chosen.go_home:
                here, home = (", ".join(f"{x:.3f}" for x in pose) for pose in (present, HOME))
                cause = f"the robot is not at home: at {here}; home is {home}; move it there, or add --go-home"
                raise SystemExit(cause)
            sender.run("way home", way_home(present))
        if chosen.rehearse:
            sender.run("rehearsal", join_motions([part["approach"], part["rehearsal"], part["return"]]))
        else:
            sender.run("motion", join_motions([part["approach"], *[part["motion"]] * ROBOT["count"], part["return"]]))
        print("done")
    finally:
        node.destroy_node()
        rclpy.shutdown()


if __name__ == "__main__":
    sys.exit(main())
