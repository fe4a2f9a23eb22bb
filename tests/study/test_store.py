"""The folder of a study: whole parts, a manifest that survives everything, one writer."""

from __future__ import annotations

import errno
import json
import os
import re

import numpy as np
import pytest
from tests.raising import raises

from armdyn.study import store as store_module
from armdyn.study.run import run_study
from armdyn.study.store import Store
from armdyn.study.table import StudyError


@pytest.fixture
def computed(study, tmp_path):
    small = study()
    return small, tmp_path / "out", run_study(small, tmp_path / "out")


def same(one, two):
    assert list(one) == list(two)
    for name in one:
        np.testing.assert_array_equal(one[name], two[name])


def counting(small, monkeypatch):
    """Parts that are computed from here on."""
    seen, compute = [], type(small).compute
    monkeypatch.setattr(type(small), "compute", lambda self, cases: seen.append(cases.start) or compute(self, cases))
    return seen


def test_all_cases_are_stored_once_and_in_order(computed):
    small, folder, columns = computed
    np.testing.assert_array_equal(columns["case"], np.arange(400))
    same(columns, Store.of(folder, small).columns())
    lines = (folder / "manifest.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["fingerprint"] == small.fingerprint
    assert sorted(json.loads(line)["part"] for line in lines[1:]) == list(range(8))


def test_parts_are_ordinary_parquet(computed):
    parquet = pytest.importorskip("pyarrow.parquet")
    _, folder, columns = computed
    table = parquet.read_table(folder / "parts")
    assert table.num_rows == 400
    assert table.column_names == list(columns)


def test_results_are_not_overwritten(computed):
    small, folder, _ = computed
    with raises(
        StudyError, cause="holds results already", remedy="continue with resume=True, or choose another folder"
    ):
        run_study(small, folder)


def test_a_finished_study_is_not_computed_again(computed, monkeypatch):
    small, folder, columns = computed
    seen = counting(small, monkeypatch)
    same(columns, run_study(small, folder, resume=True))
    assert seen == []


def test_lost_spoiled_and_unlisted_parts_are_computed_again(computed, monkeypatch):
    small, folder, columns = computed
    parts = folder / "parts"
    (parts / "part-000001.parquet").unlink()
    (parts / "part-000002.parquet").write_bytes(b"spoiled")
    manifest = folder / "manifest.jsonl"
    lines = manifest.read_text().splitlines(keepends=True)
    kept = [line for line in lines if '"part": 5' not in line]
    manifest.write_text("".join(kept) + '{"part": 5, "cas')  # torn by a kill
    seen = counting(small, monkeypatch)
    same(columns, run_study(small, folder, resume=True))
    assert seen == [64, 128, 264]


def test_a_manifest_of_nonsense(computed):
    small, folder, columns = computed
    manifest = folder / "manifest.jsonl"
    head = manifest.read_text().splitlines()[0]
    manifest.write_text(head + '\n{"part": -1}\n{"part": "../../x", "sha256": 3}\n[]\nnull\n\x00\n{"part": 99}\n')
    same(columns, run_study(small, folder, resume=True))
    manifest.write_text("{}")
    with raises(StudyError, cause="not the manifest of a study"):
        run_study(small, folder, resume=True)


def test_a_line_nested_without_end_does_not_count(computed):
    small, folder, columns = computed
    with (folder / "manifest.jsonl").open("a") as stream:
        stream.write("[" * 200_000 + "\n")
    same(columns, run_study(small, folder, resume=True))
    (folder / "manifest.jsonl").write_text('{"a":' * 100_000)
    with raises(StudyError, cause="not the manifest of a study"):
        run_study(small, folder, resume=True)


@pytest.mark.skipif(os.name != "posix", reason="needs the pipes of Unix")
def test_a_pipe_in_place_of_a_part_is_computed_again(computed):
    small, folder, columns = computed
    part = sorted((folder / "parts").iterdir())[0]
    part.unlink()
    os.mkfifo(part)
    with raises(StudyError, cause="part 0 cannot be written (No such device or address)"):
        run_study(small, folder, resume=True)
    part.unlink()
    same(columns, run_study(small, folder, resume=True))


def test_a_changed_file_is_not_resumed(computed, study):
    _, folder, _ = computed
    changed = study({"max_error = 0.05": "max_error = 0.06"})
    cause = re.compile("^was computed from another file, arm or version")
    with raises(StudyError, where=str(folder), cause=cause, remedy="undo the change, or choose another folder"):
        run_study(changed, folder, resume=True)


def test_a_folder_of_something_else_is_left_alone(study, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("x")
    for resume in (False, True):
        with raises(StudyError, cause="the folder is not empty and holds no study"):
            run_study(study(), tmp_path / "out", resume=resume)
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["thesis.tex"]


def test_a_study_killed_before_its_manifest_can_begin_again(study, tmp_path):
    folder = tmp_path / "out"
    (folder / "parts").mkdir(parents=True)
    for torn in (".lock", ".manifest.jsonl.k3j.tmp", "parts/.part-000000.parquet.x7.tmp", "case-3.html"):
        (folder / torn).write_text("torn")
    for resume in (False, True):
        run_study(study(), folder, resume=resume)
    assert not list(folder.rglob("*.tmp"))
    assert (folder / "case-3.html").exists()


def test_a_place_that_cannot_be_a_folder_is_told(study, tmp_path):
    (tmp_path / "file").write_text("in the way")
    for place in ("file", "file/out"):
        with raises(StudyError, cause="cannot be used for results (Not a directory)"):
            run_study(study(), tmp_path / place)


@pytest.mark.parametrize("where", ["part", "manifest"])
def test_a_full_disk_keeps_what_was_finished(study, tmp_path, monkeypatch, where):
    small, folder = study(), tmp_path / "out"
    expected = run_study(small, tmp_path / "other")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    def stop(at):
        if at.computed == 128:
            monkeypatch.setattr(store_module, "write_whole", full) if where == "part" else None
            monkeypatch.setattr(store_module.os, "fsync", full) if where == "manifest" else None

    with raises(
        StudyError,
        cause=re.compile(r"cannot be written \(No space left on device\)"),
        remedy="128 of 400 cases are kept; continue with resume=True",
    ):
        run_study(small, folder, progress=stop)
    monkeypatch.undo()
    same(expected, run_study(small, folder, resume=True))


def test_one_writer_at_a_time(study, tmp_path):
    pytest.importorskip("fcntl")
    small = study()
    with (
        Store.open(tmp_path / "out", small, resume=False),
        raises(StudyError, cause="another process is computing this study"),
        Store.open(tmp_path / "out", small, resume=True),
    ):
        pass
