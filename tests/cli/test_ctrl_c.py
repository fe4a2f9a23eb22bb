"""Ctrl-C at several moments of every command that takes long: it ends within a second, and says how to go on.

What counts is the processor time after the signal: on a busy machine a second by the clock is no second of work.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import armdyn

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc, sends SIGINT")

MAX_S = 1.0  # processor time after Ctrl-C
EXCITE = "excite ur10 --time-budget 60 --out motion.csv"
HOME = "--home 0,-1.57,0,-1.57,0,0 --ros ros --urscript motion.script --report motion.html"
AGAIN = "nothing was written; run the command again to restart"
SAVED = "the run up to then is saved as run.(csv|npz)"
WHOLE = "writing run.npz; the log of the whole run is saved as run.npz|judging the run; run.npz is written"
# Command -> moments at which it is interrupted, by the processor time it has used [s], and what it says then.
COMMANDS = {
    EXCITE: ((0.6, 6.0), f"interrupted(; saved the best motion so far.*; try another --seed|$| while .*{AGAIN})"),
    "simulate arm.urdf --controller pd --duration 4000 --out run.csv": (
        (0.6, 3.0, 10.0), f"{SAVED}|interrupted($| while .*{AGAIN})",
    ),
    "compare puma560 --duration 60": ((3.0,), f"the controllers above had run; the others: -c|{AGAIN}"),
    "identify arm.urdf long.csv --out identified.urdf": ((0.8, 1.6), f"interrupted while .*; {AGAIN}"),
    "study study.toml": ((3.0,), f"finished cases are kept in study; continue with --resume|{AGAIN}"),
    "demo": ((3.0,), "interrupted while .*; earlier results are in armdyn-demo; run 'armdyn demo' again to restart"),
}  # fmt: skip
AT_NIGHT = {
    # Minutes of processor time after their start, files of some hundred megabytes.
    "simulate ur10 --controller pd --duration 2000 --out run.csv": ((20.0,), SAVED),
    "simulate ur10 --controller pd --duration 2000 --sensor tau_noise=0.1 --out run.npz": (
        (5.0, 8.0, 11.0), f"{SAVED}, a log|{WHOLE}|(planning|designing|simulating).*{AGAIN}",
    ),
    f"{EXCITE} {HOME}": ((1.5, 3.0, 5.0, 9.0), COMMANDS[EXCITE][1]),
    f"{EXCITE.replace('60', '3')} {HOME}": (
        (2.5, 3.0, 3.5, 4.0, 4.5, 5.0), f"(motion so far; motion.html was not written|.* are written|{AGAIN})",
    ),
    "compare puma560 -s all": ((2.0, 8.0), f"interrupted(; the results above are complete|$)|{AGAIN}"),
    "law puma560 lqr-measured --out c": ((1.0, 2.0), f"interrupted($| while .*; {AGAIN})"),
    "codegen panda acceleration_derivatives --out c": ((0.8,), f"interrupted($| while .*; {AGAIN})"),
    "reproduce all": ((2.0, 6.0), "complete in armdyn-reproductions: .*; 'armdyn reproduce .*' computes this one"),
    "validate arm.urdf long.csv": ((1.0,), f"interrupted($| while .*; {AGAIN})"),
}  # fmt: skip
STUDY = """
name = "study"
arm = "puma560"
[run]
rate = 1000.0
duration = 20.0
[[controllers]]
design = "computed torque"
[[references]]
kind = "sway"
[samples]
method = "sobol"
count = 4096
[parameters]
payload = { low = 0.0, high = 4.0 }
"""


class Ended(NamedTuple):
    """How a command that was interrupted ended."""

    code: int
    seconds: float  # of processor time after the signal
    said: str


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An arm, a log of it that takes seconds, and a study that takes minutes."""
    path = tmp_path_factory.mktemp("interrupted")
    arm = armdyn.arms.planar2()
    arm.save(path / "arm.urdf")
    (path / "study.toml").write_text(STUDY)
    t = np.arange(0, 400, 0.001)[:, None]
    w = np.array([2.0, 3.0])
    q, qd, qdd = np.sin(w * t), w * np.cos(w * t), -(w**2) * np.sin(w * t)
    rows = np.hstack([t, q, armdyn.inverse_dynamics(arm, q, qd, qdd)])
    np.savetxt(path / "long.csv", rows, delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    return path


def processor_time(pid: int) -> float | None:
    """Of a process [s]; None when it is gone."""
    try:
        user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    except OSError:
        return None
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def interrupt(line: str, moment: float, folder: Path) -> Ended | None:
    """The command, interrupted when it has used so much processor time; None if it ended before."""
    command = [sys.executable, "-m", "armdyn", *shlex.split(line)]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=folder, text=True, **pipes) as process:
        while (processor_time(process.pid) or 0.0) < moment:
            if process.poll() is not None:
                return None
            time.sleep(0.01)
        before = used = processor_time(process.pid) or 0.0
        process.send_signal(signal.SIGINT)
        while process.poll() is None:
            used = processor_time(process.pid) or used
            time.sleep(0.01)
        said = process.stderr.read() if process.stderr else ""
    return Ended(process.returncode, used - before, said)


def check(line: str, moments: tuple[float, ...], said: str, folder: Path) -> None:
    for moment in moments:
        ended = interrupt(line, moment, folder)
        # Python, while it ends after all is done, dies by the signal.
        if ended is None or (ended.code == -signal.SIGINT and not ended.said):
            assert moment != moments[0], "it ended before it was interrupted"
            return
        assert ended.code == 130, (moment, ended.said)
        assert "Traceback" not in ended.said, moment
        assert re.search(said, ended.said.strip()), (moment, ended.said)
        assert ended.seconds < MAX_S, (moment, ended.said)


@pytest.mark.parametrize("line", COMMANDS)
@pytest.mark.by_day(4)
def test_a_command_ends_within_a_second(line, folder):
    check(line, *COMMANDS[line], folder)
    if line == EXCITE:  # the last one came when there was a motion
        assert len(np.loadtxt(folder / "motion.csv", delimiter=",", skiprows=1)) == 10_001


def test_a_command_ends_though_what_it_calls_swallows_ctrl_c(tmp_path):
    """Simulations return what they have; who called them may go on."""
    (tmp_path / "study.toml").write_text(STUDY.replace("4096", "2").replace("20.0", "0.1"))
    program = """
import contextlib, signal, sys
import armdyn.study.spec as spec
from armdyn.cli import app
read = spec.read_study
def read_study(file):
    with contextlib.suppress(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    return read(file)
spec.read_study = read_study
sys.argv = ["armdyn", "study", "study.toml"]
app.main()
"""
    ended = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 130
    assert "interrupted while reading the study" in ended.stderr
    assert not (tmp_path / "study").exists()


@pytest.mark.slow
@pytest.mark.parametrize("line", AT_NIGHT)
def test_others_and_more_moments(line, folder):
    check(line, *AT_NIGHT[line], folder)
