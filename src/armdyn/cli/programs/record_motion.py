#!/usr/bin/env python3
"""Record a robot's joints to a CSV file: python3 record_motion.py log.csv, Ctrl-C when the motion is over.

Needs ROS 2 (rclpy), not armdyn. Says the rate it got, gaps, and whether velocities and efforts came. The file is for
`armdyn identify ROBOT log.csv`. (`ros2 bag record /joint_states` does as well: armdyn reads bags.)
"""

import argparse
import contextlib
import json
import sys
from pathlib import Path

JOINTS = json.loads((Path(__file__).resolve().parent / "robot.json").read_text())["joints"]
GAP = 3.0  # an interval longer than so many usual ones is a gap


class Recorder:
    """Lines of a CSV file, and what is missing in them."""

    def __init__(self, stream):
        self.stream, self.times, self.lacking = stream, [], set()
        n = len(JOINTS)
        kinds = ("q", "qd", "tau")
        stream.write(",".join(["t", *(f"{kind}{i + 1}" for kind in kinds for i in range(n))]) + "\n")

    def add(self, message):
        """One message; joints may come in any order, others among them."""
        place = {name: k for k, name in enumerate(message.name)}
        if not all(name in place for name in JOINTS):
            return
        stamp = message.header.stamp
        row = [stamp.sec + 1e-9 * stamp.nanosec]
        for what in ("position", "velocity", "effort"):
            values = getattr(message, what)
            if len(values) < len(message.name):
                self.lacking.add(what)
                values = [float("nan")] * len(message.name)
            row += [values[place[name]] for name in JOINTS]
        self.times.append(row[0])
        self.stream.write(",".join(f"{x:.9f}" if k == 0 else f"{x:.9g}" for k, x in enumerate(row)) + "\n")

    def summary(self):
        """Return sentences about what was recorded."""
        if len(self.times) < 2:
            return [f"nothing recorded: no message carried {', '.join(JOINTS)}"]
        steps = sorted(b - a for a, b in zip(self.times, self.times[1:], strict=False))
        usual = steps[len(steps) // 2]
        gaps = sum(step > GAP * usual for step in steps)
        lines = [
            f"{len(self.times)} samples in {self.times[-1] - self.times[0]:.1f} s, "
            f"{1 / max(usual, 1e-9):.0f} per second"
        ]
        lines.append(f"{gaps} gap{'' if gaps == 1 else 's'}, the longest {steps[-1]:.3f} s" if gaps else "no gaps")
        if steps[0] <= 0:
            lines.append("some samples have the same time as the one before, or an earlier one")
        for what in sorted(self.lacking):
            need = "; without it nothing can be identified" if what == "effort" else ""
            lines.append(f"missing: {what}{need}")
        return lines


def main(arguments=None):
    """Record until Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", help="CSV file to write")
    parser.add_argument("--joint-states", default="/joint_states", help="topic of the robot's state")
    options = parser.parse_args(arguments)
    import rclpy
    from sensor_msgs.msg import JointState

    rclpy.init()
    node = rclpy.create_node("armdyn_record_motion")
    with open(options.out, "w") as stream:
        recorder = Recorder(stream)
        node.create_subscription(JointState, options.joint_states, recorder.add, 1000)
        print("recording; Ctrl-C ends it", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            rclpy.spin(node)
    print("\n".join(recorder.summary()))
    node.destroy_node()
    rclpy.try_shutdown()
    return 0 if len(recorder.times) > 1 and "effort" not in recorder.lacking else 1


if __name__ == "__main__":
    sys.exit(main())
