"""A folder with which a robot under ROS 2 makes an experiment: motions, a sender and a recorder."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from armdyn.files import read_text, require_folder, write_whole
from armdyn.trajectory.experiment.plan import Experiment
from armdyn.trajectory.save import ROS_RATE_HZ, save_trajectory

HERE = Path(__file__).parent


def write_ros_folder(experiment: Experiment, folder: str | os.PathLike[str], rate: float = ROS_RATE_HZ) -> list[Path]:
    """Write CSV files of all parts, the joined motions as YAML, `send_motion.py` and `record_motion.py`.

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
    values = {
        "JOINTS": json.dumps(list(arm.coordinate_names)),
        "HOME": json.dumps([round(float(x), 9) for x in experiment.home]),
        "COUNT": str(experiment.count),
    }
    for script in ("send_motion.py", "record_motion.py"):
        text = read_text(HERE / script)
        for name, value in values.items():
            # Names of joints may hold backslashes, which a pattern's replacement would take for its own.
            line = f"{name} = {value}".replace("\\", r"\\")
            text = re.sub(rf"^{name} = (\[.*?\]|\d+)", line, text, flags=re.MULTILINE)
        written.append(write_whole(folder / script, text))
    return written
