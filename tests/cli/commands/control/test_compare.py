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


def test_nothing_runs_towards_a_folder_that_is_not_there(tmp_path):
    result = CliRunner().invoke(app, ["compare", "planar2", "--report", str(tmp_path / "none" / "compare.html")])
    assert "there is no folder" in str(result.exception)
