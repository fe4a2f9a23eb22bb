"""`armdyn base`: what it prints."""

from __future__ import annotations

import json

from tests.raising import raises
from typer.testing import CliRunner

from armdyn import Arm
from armdyn.cli.app import app
from armdyn.errors import ReadError


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["base", *arguments], catch_exceptions=False, env={"COLUMNS": "200"})
    assert result.exit_code == 0
    return result.stdout


def test_three_link_puma_with_rotors():
    text = run("puma3", "--rotors")
    assert "puma3: 16 base parameters, combinations of 33, act on the joint torques" in text
    assert "Izz1 + Iyy2 + x3^2 m3 + Iyy3 + Ia1" in text
    assert "Lengths [m]: x3 = 0.4318" in text
    assert "No effect at all: m1, mx1" in text


def test_json_for_gravity():
    data = json.loads(run("panda", "--gravity", "--json"))
    assert data["count"] == len(data["names"]) == len(data["formulas"]) == len(data["values"]) == 12
    assert data["formulas"][0] == "mx2"
    assert data["gap"]["strongest_dropped"] < 1e-12


def test_an_arm_of_unknown_inertia_has_no_values(tmp_path):
    Arm.from_dh([{"kind": "R", "a": 0.5}, {"kind": "R", "a": 0.3}], gravity=[0, -9.81, 0]).save(tmp_path / "arm.toml")
    data = json.loads(run(str(tmp_path / "arm.toml"), "--json"))
    assert data["count"] == 6
    assert data["values"] == [None] * 6


def test_unknown_arm():
    with raises(ReadError, names=("puma4",)):
        run("puma4")
