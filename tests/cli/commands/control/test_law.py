"""`armdyn law`."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import armdyn
from armdyn.cli.app import app


def test_a_law_becomes_c(tmp_path):
    arguments = ["law", "planar2", "computed torque", "-o", str(tmp_path), "--prefix", "arm"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "wrote" in result.output
    assert {path.name for path in tmp_path.iterdir()} >= {"arm.c", "arm.h", "arm_selftest.c", "arm_update.c"}


def test_files_are_named_after_the_law(tmp_path):
    result = CliRunner().invoke(app, ["law", "planar2", "LQR(t)", "-o", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "planar2_lqr_t.h").exists()


def test_laws_are_listed_and_unknown_ones_named():
    for arguments in (["law", "list"], ["law", "planar2", "list"], ["codegen", "planar2", "--law", "list"]):
        listed = CliRunner().invoke(app, arguments).output.splitlines()
        assert any(line.startswith("Slotine-Li  ") for line in listed)
    arm = armdyn.arms.planar2()
    motion = armdyn.Sway.within(arm, 10.0)(np.linspace(0.0, 10.0, 50))
    assert list(json.loads(CliRunner().invoke(app, ["law", "list", "--json"]).output)) == [
        *armdyn.designs(arm, motion, 1.0, 1000.0)
    ]
    assert "unknown controller 'LQG'" in str(CliRunner().invoke(app, ["law", "planar2", "LQG"]).exception)


def test_any_spelling_of_a_name_will_do(tmp_path):
    for name in ("PD + gravity", "pd-gravity"):
        result = CliRunner().invoke(app, ["law", "planar2", name, "-o", str(tmp_path), "--json"])
        assert result.exit_code == 0, result.output


@pytest.mark.parametrize("arm", ["planar2", "gripper"])
def test_every_listed_law_becomes_c(arm, tmp_path):
    for name in json.loads(CliRunner().invoke(app, ["law", "list", "--json"]).output):
        result = CliRunner().invoke(app, ["law", arm, name, "-o", str(tmp_path), "--json"])
        if (arm, name) == ("gripper", "concurrent Slotine-Li"):
            assert "more unknowns than the arm's joints can tell" in str(result.exception)
            continue
        assert result.exit_code == 0, (name, result.output, result.exception)


def test_a_law_must_be_named():
    assert "shows all" in CliRunner().invoke(app, ["law", "planar2"]).output
