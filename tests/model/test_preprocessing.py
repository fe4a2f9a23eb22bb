"""The treatment of logs travels with the arm: through TOML and URDF bit by bit, and is named where it cannot."""

from __future__ import annotations

import dataclasses
import re

import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError, ModelError, ReadError
from armdyn.model.convert import lost_names, not_held
from armdyn.model.preprocessing import Preprocessing
from armdyn.model.toml_format import arm_from_toml, toml_text

CHOSEN = Preprocessing(band=4.0, cutoff=7.3, method="spline", measured_velocities=True, delay=0.1 / 3, rests=True)


@pytest.fixture
def treated() -> armdyn.Arm:
    return dataclasses.replace(armdyn.arms.planar2(), preprocessing=CHOSEN)


@pytest.mark.parametrize("suffix", [".toml", ".urdf"])
def test_files_hold_it(treated, tmp_path, suffix):
    treated.save(tmp_path / f"arm{suffix}")
    assert armdyn.load(tmp_path / f"arm{suffix}").preprocessing == CHOSEN


def test_it_is_kept_in_a_urdf_whose_frames_were_edited(treated, tmp_path):
    path = tmp_path / "arm.urdf"
    treated.save(path)
    path.write_text(path.read_text().replace('<origin xyz="0.5 0 0"', '<origin xyz="0.625 0 0"'))
    arm = armdyn.load(path)
    assert any("frames were edited" in note for note in arm.notes)
    assert arm.preprocessing == CHOSEN


def test_the_standard_treatment_is_not_written():
    arm = armdyn.arms.planar2()
    assert arm.preprocessing == Preprocessing()
    assert "preprocessing" not in toml_text(arm)
    assert not lost_names(arm, ".xml")


def test_formats_without_a_place_for_it_say_so(treated):
    words = "torques 33.3 ms later than positions, measured velocities, averages over rests, positions smoothed"
    for suffix in (".xml", ".csv"):
        assert any(words in line for line in not_held(treated, suffix))
        assert any(words in name for name in lost_names(treated, suffix))
    assert any("kept in <armdyn>" in line for line in not_held(treated, ".urdf") if words in line)
    assert not any(words in name for name in (*lost_names(treated, ".urdf"), *lost_names(treated, ".toml")))
    assert not_held(treated, ".toml") == []


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ("preprocessing = 3", ReadError),
        ("preprocessing = { lateness = 1 }", ReadError),
        ("preprocessing = { band = 0 }", ModelError),
        ("preprocessing = { cutoff = inf }", ModelError),
        ("preprocessing = { delay = nan }", ModelError),
        ('preprocessing = { delay = "soon" }', ModelError),
        ("preprocessing = { method = 1 }", ModelError),
        ("preprocessing = { measured_velocities = 1 }", ModelError),
    ],
)
def test_wrong_tables_are_rejected(wrong, error):
    head, joints = toml_text(armdyn.arms.planar2()).split("\n[[joint]]", 1)
    with raises(error, where=re.compile("preprocessing")):
        arm_from_toml(f"{head}\n{wrong}\n[[joint]]{joints}")


def test_arms_take_nothing_else():
    with raises(ArmdynError, expected="a Preprocessing", got="{'delay': 0.1}"):
        dataclasses.replace(armdyn.arms.planar2(), preprocessing={"delay": 0.1})  # type: ignore[arg-type]
