"""MJCF models that may be far larger than their text (replicas, grids, height fields, reserved sizes) are compiled in a
bounded process first: MuJoCo can neither be interrupted nor told a limit while it compiles."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import armdyn
from armdyn.errors import ReadError, import_extra
from armdyn.model.guarded import MAX_BYTES, MAX_SECONDS, Failure, run_guarded
from armdyn.model.urdf.xml import parse_xml

# Elements that stand for no more than they say. What others are, and what later versions of MuJoCo add, is tried apart.
PLAIN = frozenset(
    re.findall(
        r"\w+",
        """mujoco mujocoinclude include compiler option flag statistic visual global quality headlight map scale rgba
        default worldbody body frame inertial joint freejoint geom site camera light asset mesh material texture contact
        pair exclude equality connect weld tendon spatial fixed pulley actuator general motor position velocity
        intvelocity damper cylinder muscle adhesion sensor keyframe key""",
    )
)
COUNTING = frozenset(("builtin", "actdim", "nsample", "count"))  # attributes of plain elements that multiply
NO_MEMORY = ("Could not allocate memory", "Caught an unknown exception")  # what MuJoCo says then
DROPPED = frozenset(("sensor", "texture", "material"))  # before anything is made of them


def require_bounded(main: Path, files: Mapping[Path, bytes]) -> None:
    """Raise unless MuJoCo compiles a model within bounds of time and memory."""
    if all(_is_plain(parse_xml(data, file.name)) for file, data in files.items()):
        return
    mujoco = import_extra("mujoco", "MJCF files are read with MuJoCo, which is not installed", "mujoco")
    task = {"main": str(main), "files": {str(file): data.decode("latin-1") for file, data in files.items()}}
    try:
        error = run_guarded(Path(__file__), task, [armdyn, mujoco])["error"]
    except (TimeoutError, Failure):
        error = NO_MEMORY[0]
    if any(words in error for words in NO_MEMORY):
        cause = f"MuJoCo needs more than {MAX_SECONDS} s or {MAX_BYTES / 1e9:.0f} GB to compile it"
        remedy = "lower the counts of <replicate>, <flexcomp>, <composite> or <hfield>, and the numbers in <size>"
        raise ReadError(cause, where=main.name, remedy=remedy)
    if error:
        raise ReadError(error)


def _is_plain(root: Element) -> bool:
    """Whether every element stands for no more than it says."""
    waiting = [root]
    while waiting:
        element = waiting.pop()
        if element.tag in DROPPED:
            continue
        if element.tag not in PLAIN or not COUNTING.isdisjoint(element.keys()):
            return False
        waiting += element
    return True


def answer(task: Mapping[str, Any]) -> dict[str, str]:
    """Compile a model, in the bounded process, and return the error if it fails: elsewhere it might succeed."""
    from armdyn.model.mjcf.source import compile_here

    try:
        compile_here(Path(task["main"]), {Path(file): text.encode("latin-1") for file, text in task["files"].items()})
    except ReadError as error:
        return {"error": str(error)}
    return {"error": ""}
