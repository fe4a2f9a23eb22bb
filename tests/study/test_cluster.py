"""A Dask cluster whose workers are killed at any moment: the same bytes, or one sentence."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from armdyn.study import cluster as cluster_module
from armdyn.study.run import run_study
from armdyn.study.table import StudyError

distributed = pytest.importorskip("distributed", reason="clusters need the extra 'dask'")


def local(workers: int, **options) -> distributed.LocalCluster:
    return distributed.LocalCluster(
        n_workers=workers, threads_per_worker=1, dashboard_address=None, host="127.0.0.1", **options
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "parts").iterdir())}


@pytest.fixture
def expected(study, tmp_path):
    run_study(study(), tmp_path / "expected")
    return contents(tmp_path / "expected")


@contextlib.contextmanager
def killer(cluster: distributed.LocalCluster, rng: random.Random, kills: int, within: float) -> Iterator[list[int]]:
    """Kill so many workers, one after the other, each within some seconds of the last; the nannies start others."""
    killed: list[int] = []
    stop = threading.Event()

    def go() -> None:
        while len(killed) < kills and not stop.wait(rng.uniform(0, within)):
            worker = rng.choice(list(cluster.workers.values()))
            with contextlib.suppress(AttributeError, ProcessLookupError, TypeError):  # it is being started
                os.kill(worker.pid, signal.SIGKILL)
                killed.append(worker.pid)

    thread = threading.Thread(target=go)
    thread.start()
    try:
        yield killed
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize(("kills", "seed"), [(3, 1), pytest.param(20, 2, marks=pytest.mark.slow)])
def test_workers_killed_at_random_moments_change_no_byte(study, tmp_path, expected, kills, seed):
    """From the very beginning on, when workers are being told of the study, until the end of the last of several."""
    rng, runs, done = random.Random(seed), 0, 0
    with local(2) as cluster:
        while done < kills:
            folder = tmp_path / f"run{runs}"
            with killer(cluster, rng, kills - done, 1.0) as killed:
                run_study(study(), folder, dask=cluster.scheduler_address)
            assert contents(folder) == expected
            done, runs = done + len(killed), runs + 1


def test_all_workers_killed_at_the_first_part(study, tmp_path, expected):
    def kill_all(at) -> None:
        if at.computed and not killed:
            killed.extend(worker.pid for worker in cluster.workers.values())
            for pid in killed:
                os.kill(pid, signal.SIGKILL)

    killed: list[int] = []
    with local(2) as cluster:
        run_study(study(), tmp_path / "out", dask=cluster.scheduler_address, progress=kill_all)
    assert len(killed) == 2
    assert contents(tmp_path / "out") == expected


def test_a_cluster_without_workers_is_one_sentence(study, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_module, "PATIENCE", 0.2)
    with local(0) as cluster, pytest.raises(StudyError, match="the cluster has no workers; what is finished is kept"):
        run_study(study(), tmp_path / "out", dask=cluster.scheduler_address)


def test_workers_that_come_late_are_waited_for(study, tmp_path, expected):
    with local(0) as cluster:
        timer = threading.Timer(0.5, cluster.scale, [1])
        timer.start()
        run_study(study(), tmp_path / "out", dask=cluster.scheduler_address)
        timer.join()
    assert contents(tmp_path / "out") == expected


def test_a_part_that_kills_its_workers_ends_the_study(study, tmp_path, monkeypatch):
    def fatal(*_) -> None:
        os._exit(1)

    monkeypatch.setattr(cluster_module, "_compute", fatal)
    monkeypatch.setattr(cluster_module, "MOST_LOSSES", 0)
    with local(1) as cluster, pytest.raises(StudyError, match=r"gave up \(KilledWorker\); what is finished is kept"):
        run_study(study(), tmp_path / "out", dask=cluster.scheduler_address)


def test_a_scheduler_that_does_not_answer(study, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 0.3)
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        with pytest.raises(StudyError, match="no scheduler answers there"):
            run_study(study(), tmp_path / "out", resume=True, dask=address)


def test_a_lost_scheduler_is_one_sentence_and_what_is_finished_stays(study, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster_module, "CONNECT_SECONDS", 1.0)
    cluster = local(1, processes=False, protocol="tcp")

    def lose(at) -> None:
        if at.computed:
            cluster.close()

    begin = time.monotonic()
    with pytest.raises(StudyError, match=r"the cluster gave up \(\w+\); what is finished is kept, go on with --resume"):
        run_study(study(), tmp_path / "out", dask=cluster.scheduler_address, progress=lose)
    assert time.monotonic() - begin < 60
    assert contents(tmp_path / "out")
