"""Programs of armdyn that run in a process of their own, since what they are given may be hostile: bounded in time and
memory, with a bare environment, and without modules from the current folder."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

MAX_SECONDS = 8  # the largest descriptions take one or two
MAX_BYTES = 2_000_000_000  # of memory
# Where packages of ROS lie, and what Windows needs to start a program.
ENVIRONMENT = ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH", "SYSTEMROOT")


class Failure(Exception):
    """The process was ended or failed; the message is its last line, if it left one."""


def run_guarded(program: Path, task: Mapping[str, Any], libraries: list[Any]) -> dict[str, Any]:
    """Return what the function `answer` of a file of Python makes of a task in a process of its own.

    `-I` and a working folder of Python's own: nothing is imported from the folder that the user is in, but from the
    folders of the modules `libraries`. It has `MAX_SECONDS` of the processor.

    Raises
    ------
    Failure
        If it gives no answer.
    TimeoutError
        If it takes too long.
    """
    folders = [str(Path(module.__file__).resolve().parents[1]) for module in libraries]
    job = {
        "program": str(program),
        "task": task,
        "libraries": folders,
        "bounds": [MAX_SECONDS, MAX_BYTES],
    }
    environment = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
    options: dict[str, Any] = {"capture_output": True, "timeout": MAX_SECONDS, "env": environment, "cwd": sys.prefix}
    command = [sys.executable, "-I", "-X", "utf8", __file__]
    try:
        done = subprocess.run(command, input=json.dumps(job).encode(), **options)
    except subprocess.TimeoutExpired:
        raise TimeoutError(f"{program.name} did not end within {MAX_SECONDS} s") from None
    if done.returncode == 0:
        return dict(json.loads(done.stdout))
    lines = [line.strip() for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    raise Failure(lines[-1] if lines else "it was ended (memory or time)")


def _bound(seconds: int, n_bytes: int) -> None:
    """Bound the time and the memory of this process."""
    try:
        import resource
    except ImportError:  # not on Windows, where only time is bounded
        return
    resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def _work() -> None:
    """Do the job on stdin: what runs in the process of its own."""
    job = json.loads(sys.stdin.buffer.read())
    _bound(*job["bounds"])
    sys.path[:0] = [folder for folder in job["libraries"] if folder not in sys.path]
    answer = runpy.run_path(job["program"])["answer"](job["task"])
    sys.stdout.buffer.write(json.dumps(answer).encode())


if __name__ == "__main__":
    _work()
