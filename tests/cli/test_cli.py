"""The command line as a person meets it, in an empty folder."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import armdyn
from armdyn.cli.app import main
from armdyn.cli.resolve import library, resolve
from armdyn.cli.show import print_table


@pytest.fixture
def process(tmp_path):
    """`process("info", "panda")`: the finished process, run in an empty folder."""

    def call(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "armdyn", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=400, check=False)
        assert done.returncode == code, done.stderr + done.stdout
        return done

    return call


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    """The same without a process of its own: what the program writes, in an empty folder."""

    def call(*arguments: str, code: int = 0) -> SimpleNamespace:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["armdyn", *arguments])
        monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # put back what `main` sets
        with pytest.raises(SystemExit) as end:
            main()
        out, err = capsys.readouterr()
        assert (end.value.code or 0) == code, err + out
        return SimpleNamespace(stdout=out, stderr=err)

    return call


def test_version_and_help(process):
    assert process("--version").stdout.strip() == f"armdyn {armdyn.__version__}"
    text = process("--help").stdout
    for command in ("demo", "info", "arms"):
        assert command in text


def test_help_loads_nothing_heavy():
    code = (
        "import sys; sys.argv = ['armdyn', '--help']\n"
        "from armdyn.cli.app import main\n"
        "try:\n    main()\n"
        "except SystemExit:\n    pass\n"
        "print('loaded', *(m for m in ('casadi', 'scipy', 'matplotlib', 'llvmlite') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1].strip() == "loaded"


def test_arms_lists_the_library(cli):
    entries = {entry["name"]: entry for entry in json.loads(cli("arms", "--json").stdout)}
    assert set(entries) == set(library())
    assert entries["stanford"]["kinds"] == "RRPRRR"
    assert entries["panda"]["n"] == 7
    text = cli("arms").stdout
    assert "puma560:standard" in text
    assert "Armstrong" in text


def test_info_shows_limits_in_degrees_and_what_is_missing(cli):
    text = cli("info", "ur10").stdout
    assert "-360 .. 360 deg" in text
    assert "330 N m" in text
    assert "28.43 kg" in text
    assert "no rotor inertia" in text
    assert "Assumed: Ixx of wrist_3" in text


def test_info_labels_prismatic_joints_in_metres(cli):
    text = cli("info", "scara").stdout
    assert "0 .. 0.3 m" in text
    assert "300 N" in text


def test_info_as_json_is_complete_and_valid(cli):
    data = json.loads(cli("info", "sarcos", "--json").stdout, parse_constant=pytest.fail)
    assert data["n"] == 7
    assert data["gravity"] == [0.0, 6.93567, -6.93567]
    assert data["joints"][0]["limits"]["effort"] is None  # unlimited: JSON has no infinity
    assert {"topic", "where", "text"} == set(data["findings"][0])
    arm = armdyn.arms.sarcos()
    assert data["fingerprint"] == arm.fingerprint
    np.testing.assert_array_equal(data["links"][3]["com"], arm.links[3].inertia.com)


def test_info_reads_files(process, tmp_path):
    armdyn.arms.planar2().save(tmp_path / "two.toml")
    armdyn.arms.planar2().save(tmp_path / "two.urdf")
    for name in ("two.toml", "two.urdf"):
        assert json.loads(process("info", name, "--json").stdout)["n"] == 2


def test_info_survives_names_with_markup_and_unknown_inertias(cli, tmp_path):
    row = {"kind": "R", "a": 0.3, "name": "[bold]j", "link": "[/x]"}
    armdyn.Arm.from_dh([row], name="[red]odd").save(tmp_path / "odd.toml")
    text = cli("info", "odd.toml").stdout
    assert "[bold]j" in text
    assert "[red]odd" in text
    assert "unknown" in text


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("info", "puma506"), "did you mean 'puma560'?"),
        (("info", "nothing-like-it"), "expected a file or one of: cylindrical,"),
        (("info", "missing.urdf"), "missing.urdf"),
        (("info", "panda", "--tip", "x"), "--base and --tip choose a chain of a file"),
        (("info", "."), "expected"),
    ],
)
def test_errors_are_one_sentence_on_stderr(cli, arguments, expected):
    done = cli(*arguments, code=1)
    assert done.stdout == ""
    assert done.stderr.startswith("armdyn: ")
    assert expected in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_errors_name_options_as_they_are_typed(cli, tmp_path):
    (tmp_path / "six.csv").write_text("t,q1,q2,q3,tau1,tau2,tau3\n" + "0,0,0,0,0,0,0\n" * 3)
    assert "such as --columns q=q1,q2 --columns tau=tau1,tau2" in cli("validate", "planar2", "six.csv", code=1).stderr


def test_library_names_win_over_folders(cli, tmp_path):
    (tmp_path / "panda").mkdir()
    assert json.loads(cli("info", "panda", "--json").stdout)["n"] == 7


def test_warnings_are_one_line_without_code(tmp_path):
    code = (
        "import sys, warnings; sys.argv = ['armdyn', '--version']\n"
        "from armdyn.cli.app import main\n"
        "from armdyn.errors import ArmdynWarning\n"
        "try:\n    main()\n"
        "except SystemExit:\n    warnings.warn('slow today', ArmdynWarning)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == "armdyn: warning: slow today\n"


def test_debug_shows_the_traceback(process):
    for arguments in (("--debug", "info", "nosuch"), ("info", "nosuch", "--debug")):
        assert "Traceback" in process(*arguments, code=1).stderr


@pytest.mark.parametrize("arguments", [("info",), ("info", "panda", "--colour"), ("fly",)])
def test_wrong_usage_exits_with_2(cli, arguments):
    assert "Usage" in cli(*arguments, code=2).stderr


def test_every_library_name_resolves_to_its_arm():
    for name in library():
        assert resolve(name).name == name.replace(":", "_")


@pytest.mark.parametrize("name", ["motion", "task"])
def test_the_demo_finds_the_same_motions_on_a_slow_machine(monkeypatch, name):
    """A clock that runs a thousand times faster is a machine that is a thousand times slower."""
    import time

    from armdyn.cli.demo import study

    monkeypatch.setattr(study, "DESIGN_STEPS", 60)
    monkeypatch.setattr(study, "TASK_STEPS", 40)
    quiet, clock = getattr(study.DemoStudy(armdyn.arms.puma560()), name), time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: 1000 * clock())
    busy = getattr(study.DemoStudy(armdyn.arms.puma560()), name)
    t = np.linspace(0.0, study.MOTION_S, 50)
    quiet, busy = (motion.trajectory if name == "motion" else motion for motion in (quiet, busy))
    np.testing.assert_array_equal(busy(t).q, quiet(t).q)


@pytest.mark.slow
def test_demo_leaves_a_folder_that_holds_what_it_says(cli, tmp_path):
    text = cli("demo").stdout
    folder = tmp_path / "armdyn-demo"
    assert {path.name for path in folder.iterdir()} == {
        "c",
        "demo.png",
        "exciting_motion.csv",
        "log.csv",
        "puma560.urdf",
        "puma560_identified.urdf",
        "report.html",
    }
    achieved = [line for line in text.splitlines() if line.startswith("- ")]
    assert len(achieved) == 5
    assert "report.html" in text.splitlines()[-1]
    assert (folder / "demo.png").read_bytes().startswith(b"\x89PNG")
    # The load that was not described: 2 kg on the last link, to a tenth.
    before, after = (armdyn.load(folder / f"puma560{suffix}.urdf") for suffix in ("", "_identified"))
    q = np.random.default_rng(0).uniform(-1, 1, (100, 6))
    real = armdyn.gravity_torque(before.with_payload(2.0, com=(0, 0, 0.08)), q)
    wrong = [np.abs(armdyn.gravity_torque(arm, q) - real).max() for arm in (before, after)]
    assert wrong[1] < 0.2 * wrong[0]
    page = (folder / "report.html").read_text()
    assert "adaptive, as described" in page
    assert "Identification of puma560" in page
    commands = re.findall(r"armdyn excite puma560 [^<]*", page)
    assert commands
    for command in commands:  # what it names is there
        assert (tmp_path / command.split("--given ")[1].split()[0]).is_file()
    assert re.search(r"(src|href|url)\W{1,2}http", page) is None  # nothing is fetched from elsewhere


def test_demo_says_why_it_cannot_write(process, tmp_path):
    (tmp_path / "taken").write_text("a file")
    done = process("demo", "--out", "taken", code=1)
    assert done.stderr.strip() == "armdyn: taken: File exists"


def test_names_are_whole_in_tables_of_any_width(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    names = ["shoulder_lift_joint", "a_joint_with_a_name_that_is_wider_than_the_table_it_stands_in_by_far_and_more"]
    print_table("Joints", ("joint", "error rms ", "torque max "), [(name, "1.234e-05", "12345.6") for name in names])
    lines = capsys.readouterr().out.splitlines()
    assert any(names[0] in line for line in lines)
    assert names[1] in "".join(line.split()[0] for line in lines[3:] if line.strip())
    assert "…" not in "".join(lines)


def test_errors_are_json_where_results_would_be(cli):
    failed = cli("info", "absent.urdf", "--json", code=1)
    assert json.loads(failed.stdout)["error"]["kind"] == "ReadError"
    assert "absent.urdf" in json.loads(failed.stdout)["error"]["message"]
    assert failed.stderr.startswith("armdyn: absent.urdf")
    wrong = cli("info", "--json", code=2)
    assert json.loads(wrong.stdout)["error"]["message"] == "Missing argument 'ARM'."
    assert cli("info", "absent.urdf", code=1).stdout == ""


def test_help_groups_commands(cli):
    text = cli("--help").stdout
    groups = ("Look", "Identify", "Control and simulate", "Export", "Machine and reproductions")
    places = [text.index(f"{group}:") for group in groups]
    assert places == sorted(places)
