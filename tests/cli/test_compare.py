"""`armdyn compare`."""

import json

from typer.testing import CliRunner

from armdyn.cli.app import app


def test_all_controllers_are_compared(tmp_path):
    picture = tmp_path / "picture.svg"
    options = ["--duration", "0.5", "--rate", "500", "--payload", "0.5", "--json", "-f", str(picture)]
    result = CliRunner().invoke(app, ["compare", "planar2", *options])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    names = [row["name"] for row in found["controllers"]]
    assert {"PD", "PID", "PD + gravity", "computed torque", "LQR(t)", "Slotine-Li", "Craig"} <= set(names)
    assert all(row["rms"] is not None for row in found["controllers"])
    assert picture.stat().st_size > 1000
