"""The same numbers from one process, a pool and a cluster; killed workers and killed studies lose nothing."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from tests.raising import raises

from armdyn.study import run as run_module
from armdyn.study.run import StudyProgress, run_study
from armdyn.study.store import Store
from armdyn.study.table import StudyError


def same(one, two):
    for name in one:
        np.testing.assert_array_equal(one[name], two[name])


@pytest.fixture
def expected(study, tmp_path):
    return run_study(study(), tmp_path / "expected")


def test_a_pool_gives_the_same_bits(study, tmp_path, expected):
    seen = []
    same(expected, run_study(study(), tmp_path / "pool", workers=2, progress=seen.append))
    assert [at.done for at in seen] == sorted({at.done for at in seen})
    assert seen[-1].done == seen[-1].total == 400


def test_a_killed_worker_is_replaced(study, tmp_path, expected):
    killed = []

    def kill_one(at: StudyProgress) -> None:
        if at.computed and not killed:
            import multiprocessing

            # The queue holds further parts, so that the worker dies with work in its hands or waiting.
            worker = multiprocessing.active_children()[0]
            os.kill(worker.pid, signal.SIGKILL)
            killed.append(worker.pid)

    same(expected, run_study(study(), tmp_path / "out", workers=2, progress=kill_one))
    assert killed


def test_workers_that_always_die_end_the_study(study, tmp_path, monkeypatch):
    from concurrent.futures.process import BrokenProcessPool

    def broken(*_):
        raise BrokenProcessPool
        yield

    monkeypatch.setattr(run_module, "_pool_parts", broken)
    with raises(StudyError, cause=re.compile("worker processes died 4 times in a row")):
        run_study(study(), tmp_path / "out", workers=2)


def started(small, folder, workers, stderr=subprocess.DEVNULL):
    """The command in a process of its own."""
    file = str(small.head.file)
    command = [sys.executable, "-m", "armdyn", "study", file, "--out", str(folder), "--workers", str(workers)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr)


def wait_for_parts(folder, count):
    """Until the manifest lists so many parts."""
    manifest, deadline = folder / "manifest.jsonl", time.monotonic() + 120
    while not (manifest.exists() and manifest.read_bytes().count(b"\n") > count):
        assert time.monotonic() < deadline, "the study did not get going"
        time.sleep(0.005)


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.slow), 2])
@pytest.mark.slow
def test_a_study_killed_at_any_moment_resumes(study, tmp_path, workers):
    """SIGKILL on the real command; then nothing is lost, nothing is there twice, and little was done again."""
    small = study({"count = 200": "count = 4000", "part = 64": "part = 128"})
    folder = tmp_path / "out"
    process = started(small, folder, workers)
    wait_for_parts(folder, 8)
    process.send_signal(signal.SIGKILL)
    process.wait()
    finished = len((folder / "manifest.jsonl").read_text().splitlines()) - 1
    if finished >= len(small.parts):
        pytest.skip("the study was faster than the kill")
    seen: list[StudyProgress] = []
    columns = run_study(small, folder, resume=True, progress=seen.append)
    np.testing.assert_array_equal(columns["case"], np.arange(small.count))
    # Every part that the manifest listed is kept: what is computed again was not finished, two parts in 64 at most.
    assert seen[0].done >= 128 * (finished - 2)
    assert seen[-1].computed == small.count - seen[0].done
    alone = small.compute(small.parts[3])
    for name, column in alone.items():
        np.testing.assert_array_equal(columns[name][small.parts[3].start : small.parts[3].stop], column)


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_ctrl_c_keeps_what_is_finished(study, tmp_path, workers):
    small = study({"count = 200": "count = 200000"})
    folder = tmp_path / "out"
    process = started(small, folder, workers, stderr=subprocess.PIPE)
    wait_for_parts(folder, 3)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"continue with --resume" in said
    assert b"Traceback" not in said
    assert Store.of(folder, small).done >= 3 * 64


@pytest.mark.slow
def test_workers_do_not_outlive_a_killed_study(study, tmp_path):
    psutil = pytest.importorskip("psutil")
    small = study({"count = 200": "count = 200000"})
    process = started(small, tmp_path / "out", 2)
    watched = psutil.Process(process.pid)
    wait_for_parts(tmp_path / "out", 1)
    children = watched.children(recursive=True)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert len(children) >= 2
    _, alive = psutil.wait_procs(children, timeout=20)
    assert alive == []


def test_progress_tells_rate_and_time_left():
    at = StudyProgress(done=300, total=1000, computed=100, seconds=10.0)
    assert at.rate == 10.0
    assert at.left == 70.0
    assert StudyProgress(0, 10, 0, 0.0).left == float("inf")
