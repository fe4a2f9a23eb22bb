"""Files that lie, disks that are full and folders that cannot be written: nothing is lost, one sentence is said."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ReadError
from armdyn.files import read_arrays

LIMIT = 300  # bytes a file may have, less than any model or report


def bomb(path: Path, size: int = 300_000_000) -> Path:
    """An archive of zeros: some hundred kilobytes that unpack to `size`."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("q.npy", "w", force_zip64=True) as file,
    ):
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (size // 8,)})
        block = bytes(1_000_000)
        for _ in range(size // len(block)):
            file.write(block)
    return path


def test_an_archive_that_unpacks_to_far_more_is_rejected(tmp_path):
    path = bomb(tmp_path / "log.npz")
    assert path.stat().st_size < 1e6
    for read in (read_arrays, armdyn.SimulationResult.load, lambda p: armdyn.read_log(p, armdyn.arms.planar2())):
        with raises(ReadError, cause=re.compile("would unpack to 300 MB, which no measured data do")):
            read(path)


def test_matlab_and_parquet_files_that_unpack_to_far_more_are_rejected(tmp_path):
    from scipy.io import savemat

    arrow, parquet, h5py = map(pytest.importorskip, ("pyarrow", "pyarrow.parquet", "h5py"))
    zeros = np.zeros(14_000_000)
    savemat(tmp_path / "log.mat", {"q": zeros}, do_compression=True)
    parquet.write_table(arrow.table({"t": arrow.array(zeros)}), tmp_path / "log.parquet")
    with h5py.File(tmp_path / "log73.mat", "w", userblock_size=512) as file:
        file.create_dataset("t", data=zeros, compression="gzip", chunks=True)
    data = (tmp_path / "log73.mat").read_bytes()
    (tmp_path / "log73.mat").write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + data[128:])
    for name in ("log.mat", "log73.mat", "log.parquet"):
        assert (tmp_path / name).stat().st_size < 4e5
        with raises(ReadError, cause=re.compile("would unpack to 112 MB, which no measured data do")):
            armdyn.read_log(tmp_path / name, armdyn.arms.planar2())


def test_an_archive_that_claims_a_huge_array_is_rejected(tmp_path):
    with zipfile.ZipFile(tmp_path / "log.npz", "w") as archive, archive.open("q.npy", "w") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (10**14,)})
    with raises(ReadError, cause=re.compile("cannot be read as NumPy arrays")):
        read_arrays(tmp_path / "log.npz")


def test_objects_in_an_archive_are_never_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.system, (f"touch {tmp_path}/sprung",)

    np.savez(tmp_path / "log.npz", t=np.arange(5.0), q=np.array([Trap()], dtype=object))
    with raises(ReadError, cause=re.compile("pickle")):
        armdyn.read_log(tmp_path / "log.npz", armdyn.arms.planar2())
    assert not (tmp_path / "sprung").exists()


def run(
    command: list[str], folder: Path, environment: dict[str, str], first: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    """A finished process."""
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | environment,
        preexec_fn=first,
        timeout=120,
        check=False,
    )


def limited(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The command line in a process whose files may not grow beyond LIMIT, as on a disk that is full."""
    resource = pytest.importorskip("resource", reason="needs limits of a process")

    def shrink() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))

    return run(
        [sys.executable, "-m", "armdyn", *arguments], folder, {"ARMDYN_CACHE_DIR": str(folder / "cache")}, shrink
    )


def states(folder: Path) -> None:
    q = np.random.default_rng(0).normal(size=(50, 2))
    np.savetxt(folder / "states.csv", q, delimiter=",", header="q1,q2", comments="")


def test_a_full_disk_leaves_the_old_file_and_one_sentence(tmp_path):
    states(tmp_path)
    (tmp_path / "poses.csv").write_text("precious\n")
    done = limited("fk", "planar2", "--states", "states.csv", "--out", "poses.csv", folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "armdyn: poses.csv: File too large\n"
    assert (tmp_path / "poses.csv").read_text() == "precious\n"
    assert not list(tmp_path.glob(".*.tmp"))


def test_a_cache_that_cannot_be_written_only_costs_time(tmp_path):
    done = limited("torque", "planar2", "--q", "0.1 0.2", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert '"total"' in done.stdout


def test_a_missing_home_only_costs_time(tmp_path):
    nowhere = "/nonexistent/home"
    name_to_module = {"HOME": nowhere, "XDG_CACHE_HOME": "", "ARMDYN_CACHE_DIR": ""}
    done = run([sys.executable, "-m", "armdyn", "torque", "planar2", "--json"], tmp_path, name_to_module)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("arguments", [("info", "panda"), ("arms",), ("torque", "puma560", "--json")])
def test_a_reader_that_goes_away_is_no_error(tmp_path, arguments):
    command = f"{sys.executable} -m armdyn {' '.join(arguments)} | head -c 10"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path, timeout=120, check=False
    )
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
