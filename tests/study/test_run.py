"""The same numbers from one process, a pool and a cluster; killed workers and killed studies lose nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from armdyn.study import run as run_module
from armdyn.study.run import Progress, run_study
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


def test_a_dask_cluster_gives_the_same_bits(study, tmp_path, expected):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        same(expected, run_study(study(), tmp_path / "dask", dask=cluster.scheduler_address))


def test_a_scheduler_that_does_not_answer(study, tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(run_module, "CONNECT_SECONDS", 0.3)
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        with pytest.raises(StudyError, match="no scheduler answers there"):
            run_study(study(), tmp_path / "out", resume=True, dask=address)


def test_a_killed_worker_is_replaced(study, tmp_path, expected):
    killed = []

    def kill_one(at: Progress) -> None:
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
    with pytest.raises(StudyError, match="worker processes died 4 times in a row"):
        run_study(study(), tmp_path / "out", workers=2)


def started(small, folder, workers):
    """The command in a process of its own."""
    file = str(small.head.file)
    command = [sys.executable, "-m", "armdyn", "study", file, "--out", str(folder), "--workers", str(workers)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_study_killed_at_any_moment_resumes(study, tmp_path, workers):
    """SIGKILL on the real command; then nothing is lost, nothing is there twice, and little was done again."""
    small = study({"count = 200": "count = 4000", "part = 64": "part = 128"})
    folder = tmp_path / "out"
    process = started(small, folder, workers)
    manifest, deadline = folder / "manifest.jsonl", time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if manifest.exists() and len(manifest.read_text().splitlines()) > 8:
            break
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    finished = len(manifest.read_text().splitlines()) - 1
    if finished >= len(small.parts):
        pytest.skip("the study was faster than the kill")
    seen: list[Progress] = []
    columns = run_study(small, folder, resume=True, progress=seen.append)
    np.testing.assert_array_equal(columns["case"], np.arange(small.count))
    # Every part that the manifest listed is kept: what is computed again was not finished, two parts in 64 at most.
    assert seen[0].done >= 128 * (finished - 2)
    assert seen[-1].computed == small.count - seen[0].done
    alone = small.compute(small.parts[3])
    for name, column in alone.items():
        np.testing.assert_array_equal(columns[name][small.parts[3].start : small.parts[3].stop], column)


def test_workers_do_not_outlive_a_killed_study(study, tmp_path):
    psutil = pytest.importorskip("psutil")
    small = study({"count = 200": "count = 200000"})
    process = started(small, tmp_path / "out", 2)
    watched, deadline, children = psutil.Process(process.pid), time.monotonic() + 60, []
    while time.monotonic() < deadline and not (tmp_path / "out" / "parts" / "part-000000.parquet").exists():
        time.sleep(0.02)
    children = watched.children(recursive=True)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert len(children) >= 2
    _, alive = psutil.wait_procs(children, timeout=20)
    assert alive == []


def test_progress_tells_rate_and_time_left():
    at = Progress(done=300, total=1000, computed=100, seconds=10.0)
    assert at.rate == 10.0
    assert at.left == 70.0
    assert Progress(0, 10, 0, 0.0).left == float("inf")
