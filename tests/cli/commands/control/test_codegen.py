"""`armdyn codegen`: C code from the command line."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.raising import raises
from typer.testing import CliRunner

from armdyn.cli.app import app
from armdyn.cli.commands.control.codegen import exportable
from armdyn.errors import ArmdynError


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["codegen", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_files_and_counts(tmp_path: Path) -> None:
    text = run("planar2", "gravity_torque", "jacobian", "--out", str(tmp_path / "c"), "--prefix", "arm", "--float")
    assert "gravity_torque: 2 multiplications, 2 additions, 2 sin/cos pairs" in text
    assert "jacobian: " in text
    assert sorted(path.name for path in (tmp_path / "c").iterdir()) == ["arm.c", "arm.h", "arm_selftest.c"]
    assert "void arm_gravity_torque(const float q[2], float tau[2]);" in (tmp_path / "c" / "arm.h").read_text()


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.parametrize("what", [["gravity_torque"], ["--law", "pd"]])
def test_the_printed_command_runs_the_self_test(what: list[str], tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in (".", "my c"):
        line = run("planar2", *what, "--out", folder).splitlines()[-1]
        assert line.startswith("try:  cc ")
        subprocess.run(line.removeprefix("try:  "), shell=True, check=True, capture_output=True)


def test_json(tmp_path: Path) -> None:
    data = json.loads(run("planar2", "inverse_dynamics", "-o", str(tmp_path), "--input", "theta", "--json"))
    assert Path(data["files"][0]).exists()
    assert data["operations"]["inverse_dynamics"]["sincos"] == 2


def test_a_law_by_the_same_command(tmp_path: Path) -> None:
    assert "wrote" in run("planar2", "--law", "PD + gravity", "--out", str(tmp_path), "--prefix", "arm")
    assert "void arm_step(" in (tmp_path / "arm.h").read_text()


def test_gains_of_a_law_can_stay_arguments(tmp_path: Path) -> None:
    run("planar2", "--law", "pd", "--out", str(tmp_path), "--prefix", "arm", "--input", "kp")
    assert "const double kp[2]" in (tmp_path / "arm.h").read_text()


def test_laws_are_listed() -> None:
    names = [line.split("  ")[0] for line in run("planar2", "--law", "list").splitlines()]
    assert {"PD", "LQR(measured)", "Craig"} <= set(names)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "expected names of functions ('list' shows all), --law LAW, --ros2 FOLDER, or --fmu FILE"),
        (("gravity_torque", "--law", "PD"), "functions (gravity_torque) and --law cannot be written by one command"),
        (("gravity_torque", "--fmu", "a.fmu"), "functions (gravity_torque) and --fmu cannot be written by one command"),
    ],
)
def test_functions_or_a_law(arguments: tuple[str, ...], said: str) -> None:
    result = CliRunner().invoke(app, ["codegen", "planar2", *arguments])
    assert result.exit_code == 2
    assert said in result.output


def test_the_list_has_a_line_for_each_function_and_fits_a_terminal() -> None:
    lines = run("planar2", "list").splitlines()
    named = {line.split()[0]: line.split(maxsplit=1)[1] for line in lines if line.startswith("  ")}
    assert {"inverse_dynamics", "mass_matrix", "forward_kinematics"} <= named.keys() <= exportable().keys()
    assert all(named.values())
    assert max(map(len, lines)) < 80
    assert json.loads(run("planar2", "list", "--json")) == list(named)
    assert "trace" not in exportable()  # a folder that has a name of that kind


def test_every_listed_function_can_be_exported(tmp_path: Path) -> None:
    names = json.loads(run("planar2", "list", "--json"))
    assert json.loads(run("planar2", *names, "--out", str(tmp_path), "--json"))["operations"].keys() == set(names)
    assert "load" not in names


def test_unknown_function() -> None:
    with raises(
        ArmdynError,
        cause="no function 'inverse_dynamic' to export",
        remedy="did you mean inverse_dynamics or inverse_dynamics_base or constrained_dynamics?",
        names=("inverse_dynamic",),
    ):
        run("planar2", "inverse_dynamic")


def test_every_public_formula_can_be_exported() -> None:
    """Also those that the list leaves out."""
    names = exportable()
    assert {"inverse_dynamics", "inverse_dynamics_base", "tip_mobility", "regressor16", "lugre_torque"} <= names.keys()
    assert len(names) >= 60


def test_a_ros2_package(tmp_path: Path) -> None:
    text = run("planar2", "--ros2", str(tmp_path / "package"), "--law", "pd + gravity", "--rate", "500")
    assert "colcon build --packages-select package\n" in text
    assert "<name>package</name>" in (tmp_path / "package" / "package.xml").read_text()
    renamed = run("planar2", "--ros2", str(tmp_path / "Not A Package"))
    assert "--packages-select planar2_dynamics" in renamed
    assert "named planar2_dynamics, as 'Not A Package' cannot be the name of a ROS 2 package" in renamed
    assert "GravityPD in Guarded of planar2 at 500 Hz" in (tmp_path / "package" / "controller_plugin.xml").read_text()
