"""A folder with which a robot under ROS 2 makes an experiment: motions, a sender and a recorder."""

from __future__ import annotations

import json
import os
from pathlib import Path

from armdyn.files import read_text, require_folder, write_whole
from armdyn.trajectory.experiment.plan import Experiment
from armdyn.trajectory.save import ROS_RATE_HZ, save_trajectory

PROGRAMS = Path(__file__).parents[2] / "cli" / "programs"


def write_ros_folder(experiment: Experiment, folder: str | os.PathLike[str], rate: float = ROS_RATE_HZ) -> list[Path]:
    """Write CSV files of all parts, the joined motions as YAML, two programs and `robot.json`, which these read.

    Parameters
    ----------
    experiment : Experiment
    folder : path
        Made if it does not exist.
    rate : float
        Points per second.
    """
    folder, arm = require_folder(folder), experiment.design.base.source
    folder.mkdir(parents=True, exist_ok=True)
    parts = {"motion": experiment.motion, **experiment.parts}
    files = {f"{name}.csv": part for name, part in parts.items() if name != "repeated"}
    files |= {"motion.yaml": experiment.joined, "rehearsal.yaml": experiment.joined_rehearsal}
    written = [
        save_trajectory(part, folder / name, rate=rate, joint_names=arm.coordinate_names)
        for name, part in files.items()
    ]
    robot = {
        "joints": arm.coordinate_names, "home": [round(float(x), 9) for x in experiment.home],
        "count": experiment.count,
    }  # fmt: skip
    programs = {name: read_text(PROGRAMS / name) for name in ("send_motion.py", "record_motion.py")}
    texts = {"robot.json": json.dumps(robot, indent=1) + "\n", **programs}
    return written + [write_whole(folder / name, text) for name, text in texts.items()]
