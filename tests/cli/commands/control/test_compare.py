"""`armdyn compare`."""

import json

from typer.testing import CliRunner

from armdyn.cli.app import app


def test_controllers_are_compared(tmp_path):
    """Some of them: their kernels take long to compile, and tests/control runs every one."""
    picture, some = tmp_path / "picture.svg", ["PD", "computed torque", "LQR(t)", "Slotine-Li"]
    options = ["--duration", "0.5", "--rate", "500", "--payload", "0.5", "--json", "-f", str(picture)]
    options += [word for name in some for word in ("-c", name)]
    result = CliRunner().invoke(app, ["compare", "planar2", *options])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    names = [row["name"] for row in found["controllers"]]
    assert names == some
    assert all(row["rms"] is not None for row in found["controllers"])
    assert all(row["failure"] in ("", "far", "rough") for row in found["controllers"])
    assert "has the smallest error at the end" in found["conclusion"][0]
    assert picture.stat().st_size > 1000


def test_an_unknown_controller_is_named():
    result = CliRunner().invoke(app, ["compare", "planar2", "-c", "LQG"])
    assert "LQG" in str(result.exception)


def test_a_page_is_written_and_said(tmp_path):
    page = tmp_path / "compare.html"
    options = ["--duration", "0.5", "--rate", "500", "-c", "PD", "--report", str(page)]
    result = CliRunner().invoke(app, ["compare", "planar2", *options])
    assert result.exit_code == 0, result.output
    assert f"wrote {page}" in result.output
    assert "Controllers compared" in page.read_text()
    assert "has the smallest error at the end" in result.output  # the terminal concludes as the page does
    assert "has the smallest error at the end" in page.read_text()


def test_nothing_runs_towards_a_folder_that_is_not_there(tmp_path):
    result = CliRunner().invoke(app, ["compare", "planar2", "--report", str(tmp_path / "none" / "compare.html")])
    assert "there is no folder" in str(result.exception)


def test_scenarios_say_which_controller_to_take():
    options = ["--duration", "0.5", "--rate", "500", "-c", "PD", "-c", "computed torque"]
    result = CliRunner().invoke(app, ["compare", "planar2", *options, "-s", "free", "-s", "delay"])
    assert result.exit_code == 0, result.output
    assert "free (the arm equals its model): Best: computed torque (" in result.output
    assert "overall: computed torque" in result.output
    every = CliRunner().invoke(app, ["compare", "planar2", *options, "-s", "all", "--json"])
    found = json.loads(every.stdout)
    assert set(found["scenarios"]) == {"free", "payload", "contact", "saturation", "noise", "delay"}
    assert "without a rotor" in found["left out"]["elastic"]
    assert any(line.startswith("overall: ") for line in found["advice"])


def test_scenarios_draw_no_figure(tmp_path):
    result = CliRunner().invoke(app, ["compare", "planar2", "-s", "free", "-f", str(tmp_path / "a.png")])
    assert "--figure and --report are for one comparison" in str(result.exception)
