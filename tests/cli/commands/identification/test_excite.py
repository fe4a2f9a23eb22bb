"""`armdyn excite`: files, exit codes, interruption."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from tests.raising import raises
from typer.testing import CliRunner

import armdyn
from armdyn.cli.app import app
from armdyn.errors import ArmdynError, ArmdynWarning, LimitError, ReadError


def run(*arguments: str):
    return CliRunner().invoke(app, ["excite", *arguments], catch_exceptions=False)


def test_it_writes_the_motion_and_says_how_good_it_is(tmp_path):
    out = tmp_path / "t.csv"
    report = tmp_path / "t.html"
    result = run(
        "panda", "--duration", "10", "--time-budget", "1", "--rate", "100", "--out", str(out), "--report", str(report)
    )  # fmt: skip
    assert result.exit_code == 0
    assert "(43 inertial + 14 friction parameters)" in result.stdout
    page = report.read_text()
    assert page.count("<svg") == 4
    assert "Not checked</h2>" in page
    assert "Lowest point" in result.stdout
    assert "</ul>\n<p>Lowest point" in page  # it was checked: not among what was not
    assert f"wrote {report}" in result.stdout
    assert re.search(r"(src|href|url)\W{1,2}http", page) is None  # nothing is fetched from elsewhere
    assert "Izz1" in page
    data = np.loadtxt(out, delimiter=",", skiprows=1)
    assert data.shape == (1001, 22)
    assert np.abs(data[:, 15:]).max() <= 8 + 1e-9
    np.testing.assert_allclose(data[[0, -1], 8:], 0, atol=1e-9)


def test_json(tmp_path):
    out = tmp_path / "t.npz"
    result = run("panda", "--time-budget", "4", "--periodic", "--out", str(out), "--json")
    data = json.loads(result.stdout)
    assert data["columns"] == 57
    assert 1 < data["condition"] <= data["condition_worst_choice"] * (1 + 1e-12)
    assert not data["interrupted"]
    assert out.exists()


def test_a_limit_a_joint_and_units(tmp_path):
    out = tmp_path / "t.csv"
    limits = ("--max-acceleration", "8,7,6,5,4,3,2", "--max-velocity", "1", "--max-torque", "80")
    result = run("panda", "--time-budget", "1", *limits, "--unit-row", "--rate", "100", "--out", str(out))
    assert result.exit_code == 0
    header, units = out.read_text().splitlines()[:2]
    assert header.startswith("t,q1,q2")
    assert units.startswith("# s,rad,rad")
    data = np.loadtxt(out, delimiter=",", skiprows=1)
    assert (np.abs(data[:, 15:]).max(0) <= np.arange(8, 1, -1) + 1e-9).all()
    assert np.abs(data[:, 8:15]).max() <= 1 + 1e-9
    tau = armdyn.joint_torque(armdyn.arms.panda(), *np.split(data[:, 1:], 3, axis=1))
    assert np.abs(tau).max() <= 80


def test_errors_name_options_as_the_command_line_does(tmp_path):
    command = [sys.executable, "-m", "armdyn", "excite", "stanford", "--out", str(tmp_path / "max_velocity.csv")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "no velocity limit of joint 1" in result.stderr
    assert "give --max-velocity" in result.stderr
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_for_an_arm_without_limits(tmp_path):
    with raises(
        LimitError, cause=re.compile("no velocity limit of joint 1 'joint1'"), remedy=re.compile("^give max_velocity")
    ):
        run("stanford", "--out", str(tmp_path / "t.csv"))
    assert list(tmp_path.iterdir()) == []


def test_files_that_cannot_be_written_are_noticed_before_the_search(tmp_path):
    path, absent = tmp_path / "t.xls", tmp_path / "no" / "t.csv"
    with raises(ArmdynError, cause=re.compile("there is no folder"), names=(str(absent), str(absent.parent))):
        run("panda", "--out", str(absent))
    cause = f"cannot write '{path}': unknown ending"
    with raises(ArmdynError, cause=cause, expected="one of .csv, .npz, .json, .yaml", names=(str(path),)):
        run("panda", "--out", str(path))


def test_home_makes_files_around_the_motion(tmp_path):
    out = tmp_path / "m.csv"
    settings = ("--duration", "6", "--time-budget", "1", "--rate", "50", "--out", str(out))
    home = ("--home", "0,-1.2,1.5,0,1,0", "--repeat", "2", "--ros", str(tmp_path / "run"))
    result = run("ur10", *settings, *home, "--urscript", str(tmp_path / "m.script"))
    assert result.exit_code == 0
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {
        "m.csv", "m-approach.csv", "m-rehearsal.csv", "m-repeated.csv", "m-return.csv", "m.script", "run"
    }  # fmt: skip
    assert len(out.read_text().splitlines()) == 302  # the exciting part alone
    assert "send_motion.py" in result.stdout


def test_files_for_robots_need_a_home_pose(tmp_path):
    result = run("ur10", "--ros", str(tmp_path / "run"), "--out", str(tmp_path / "m.csv"))
    assert result.exit_code == 2
    assert "need --home" in result.stderr
    with raises(
        LimitError,
        where="home",
        cause=re.compile(
            r"the pose q = 0, 0\.6, 0\.3, 0, 0, 0 misses the clearance between wrist_2_link and the floor by"
        ),
    ):
        run("ur10", "--home", "0,0.6,0.3,0,0,0", "--out", str(tmp_path / "m.csv"))
    assert list(tmp_path.iterdir()) == []


def test_a_link_that_nothing_keeps_off_the_floor_is_said_everywhere(tmp_path):
    """The sentence, the banner, JSON and the exit code come from one record: none says more than the others."""
    out, report = tmp_path / "t.csv", tmp_path / "t.html"
    settings = ("--max-velocity", "2", "--time-budget", "0.5", "--rate", "50", "--out", str(out))
    raised = ("puma3", "--floor", "0.3", *settings)
    told = run(*raised, "--report", str(report))
    assert told.exit_code == 3
    assert out.exists()
    kept, lost = told.stdout.split("Not checked:")
    assert re.search(r"^  link3 (at least \d+ mm )?above the floor", kept, re.MULTILINE)
    assert "link2" not in kept
    assert "collisions of link2 and the floor (their shapes touch in nearly all poses)" in lost
    assert "Give --floor HEIGHT if the floor is elsewhere, or --no-floor if there is none." in told.stderr
    assert re.search(r"Lowest point \d+ mm (above|below) the floor", lost)
    page = report.read_text()
    banner = re.search(r'<p class="big (\w+)">(.*?)</p>', page, re.DOTALL)
    assert banner[1] == "warn"
    assert "link2 and the floor were not checked" in banner[2]
    assert "--floor HEIGHT" in banner[2]
    data = run(*raised, "--json")
    assert data.exit_code == 3
    (floor,) = (one for one in json.loads(data.stdout)["guarantees"] if one["kind"] == "floor")
    assert floor["links"] == ["link3"]
    assert floor["pairs"] == [["link3", "floor"]]
    assert floor["left_out"] == [["overlap", [["link2", "floor"]], []]]
    assert floor["holds"]
    assert floor["rate"] == 500
    free = run("puma3", "--no-floor", *settings)
    assert free.exit_code == 0
    assert "the floor (switched off)" in free.stdout
    assert "the floor" not in free.stdout.split("Not checked:")[0]


def test_a_coarse_file_is_warned_of():
    with pytest.warns(ArmdynWarning, match="--rate of at least 10 Hz"), raises(ReadError, cause="no such file"):
        run("panda", "--rate", "2", "--given", "absent.csv")
