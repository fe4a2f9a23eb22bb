"""Wrong commands: what each prints, the remedy in it, and the exit code. No traceback, and nothing is written."""

import re
import sys
import warnings

import numpy as np
import pytest

import armdyn
from armdyn.cli.app import main

# What is typed -> exit code and what must be said. `arm.urdf` and `log.csv` are good, the others are not.
WRONG = [
    ("", 2, "Usage"),
    ("identfy arm.urdf log.csv", 2, "No such command 'identfy'.*identify"),
    ("info", 2, "Missing argument 'ARM'"),
    ("info absent.urdf", 1, "absent.urdf: no such file"),
    ("info .", 1, r"\.: is a folder; expected a file: \.urdf, \.xml"),
    ("info pand", 1, "unknown arm 'pand' .did you mean 'panda'"),
    ("info notes.md", 1, r"unknown kind of file '\.md'; expected \.urdf"),
    ("info broken.urdf", 1, "broken.urdf: not well-formed XML"),
    ("info log.csv", 1, r"log.csv: unknown column 't', .* \(a log\? an arm is expected here\)"),
    (
        "convert forked.urdf out.xml",
        1,
        "link 'a' cannot be written as MJCF: unknown parameters",
    ),
    (
        "info panda --tip hand",
        1,
        "--base and --tip choose a chain of a file, and 'panda' is a library arm; .*armdyn convert",
    ),
    ("info arm.urdf --tip nowhere", 1, "there is no link 'nowhere'; links: "),
    ("info arm.urdf --tip linc2", 1, r"there is no link 'linc2'; did you mean 'link2'\? links: "),
    ("info arm.urdf --xacro-arg a:=1", 1, r"^armdyn: --xacro-arg and --package-path are for \.xacro files"),
    ("info robot.xacro --xacro-arg a", 1, "--xacro-arg: expected name:=value, got 'a'"),
    ("fk arm.urdf --q 1", 2, "expected 2 numbers, got 1"),
    ("fk arm.urdf --q one,two", 2, "expected 2 numbers such as"),
    ("fk arm.urdf --q 90,45", 0, r"up to 90 rad are more than two turns. If the angles are degrees, give --degrees"),
    ("fk arm.urdf --states absent.csv", 1, "absent.csv: no such file"),
    ("ik arm.urdf", 2, "--position|--pose"),
    ("torque nomass.urdf", 1, "link 'b' lacks all ten; 'armdyn identify' finds them from a log"),
    ("torque arm.urdf --q 1,nan", 2, "expected finite numbers"),
    ("identify log.csv arm.urdf", 1, "'log.csv' looks like a log and 'arm.urdf' like an arm: the arm comes first"),
    ("identify log.csv ur5e", 1, "'log.csv' looks like a log and 'ur5e' like an arm"),
    ("validate log.csv arm.urdf", 1, "the arm comes first"),
    ("payload log.csv arm.urdf", 1, "the arm comes first"),
    ("identify arm.urdf", 2, "Missing argument 'LOG...'"),
    ("identify arm.urdf log.csv --cutoff abc", 2, "Invalid value for '--cutoff': expected a valid number, got 'abc'"),
    ("identify arm.urdf log.csv --down up", 2, "--down: expected x, -x, y, -y, z, -z, none or three numbers X,Y,Z"),
    ("identify arm.urdf absent.csv", 1, "absent.csv: no such file"),
    ("identify arm.urdf foreign.csv", 1, "no columns of joint positions.*--columns q=NAME,NAME"),
    (
        "identify arm.urdf letters.csv",
        1,
        r"no columns of joint positions and torques.*--columns q=NAME,NAME,\.\. --columns tau=NAME,NAME,\.\. "
        r"--columns t=NAME, got zeit, pos_a, pos_b",
    ),
    (
        "identify arm.urdf many.csv",
        1,
        "more columns than the 2 joints of arm 'planar2' .q: q1, q2, q3; tau: tau1, tau2, tau3.; say which .* "
        "--columns q=q1,q2 --columns tau=tau1,tau2$",
    ),
    (
        "simulate arm.urdf --resonance 50",
        1,
        "^armdyn: elasticity: joint 'joint1' has no rotor .*--resonance out$",
    ),
    (
        "identify arm.urdf half.csv",
        1,
        r"no column of positions for joint 2 of arm 'planar2'; the file has q1; name them with --columns",
    ),
    (
        "identify panda log.csv",
        1,
        r"no column of positions for joints 3, .* of arm 'panda'; the file has .* \(a log of an arm with 2 joints\?\)",
    ),
    ("compare arm.urdf -c pd,foo", 1, "unknown controller 'foo'; expected one of: pd, pid"),
    ("identify arm.urdf log.csv --columns x=q1", 2, "--columns.*expected one of t, q, qd, tau"),
    ("identify arm.urdf log.csv --columns q=a,b", 1, "no column 'a' for q; there are t, q1"),
    ("identify arm.urdf log.csv --report r.pdf", 1, r"--report: expected a file that ends in \.html, got 'r.pdf'"),
    ("identify arm.urdf log.csv --out absent/x.urdf", 1, "there is no folder 'absent'"),
    (
        "identify arm.urdf log.csv --out x.pdf",
        1,
        r"--out: expected a file that ends in \.urdf, \.xml, \.toml, \.csv, got",
    ),
    ("payload arm.urdf log.csv --out x.pdf", 1, r"--out: expected a file that ends in \.urdf"),
    (
        "identify arm.urdf degrees.csv",
        1,
        "positions reach 90 rad: degrees, .*For degrees give --degrees, .*--radians, for motors --gear-r",
    ),
    ("identify arm.urdf flipped.csv", 1, "torque of all joints has the wrong sign.*\\? Remedy: --drive-gain -1$"),
    # Of two joints either may be the one that is reversed against the other.
    ("identify arm.urdf second.csv", 1, "torque of joint 2 .*has the wrong sign.*\\? Remedy: --drive-gain 1,-1$"),
    ("identify arm.urdf log.csv --drive-gain one", 2, "--drive-gain.*expected numbers with commas between"),
    ("identify arm.urdf notes.md", 1, r"notes.md: expected a log that ends in \.csv"),
    ("identify arm.urdf .", 1, "folder"),
    ("simulate arm.urdf --controller foo", 1, "foo.*expected|unknown.*foo"),
    ("simulate arm.urdf --report x.txt", 1, r"--report: expected a file that ends in \.html"),
    ("compare arm.urdf -c foo", 1, "foo"),
    ("compare arm.urdf --report x.pdf", 1, r"--report: expected a file that ends in \.html"),
    ("compare arm.urdf --figure x.txt", 1, r"--figure: expected a file that ends in \.png, \.svg, \.pdf, got 'x.txt'"),
    ("excite arm.urdf --out motion.txt", 1, r"cannot write 'motion.txt': unknown ending; expected one of \.csv"),
    ("excite arm.urdf --ros folder", 2, "--ros, --urscript and --repeat need --home"),
    # Told before the search, which would take for ever.
    ("excite arm.urdf --home 0,0 --repeat 0 --time-budget 1e9", 1, "repetitions: expected a whole number >= 1, got 0"),
    ("excite arm.urdf --home 0,0 --rehearsal 2 --time-budget 1e9", 1, "rehearsal: expected a speed from 0.1 to 0.3"),
    (
        "excite arm.urdf --home 0,0 --periodic --time-budget 1e9",
        1,
        "a periodic motion .*; leave --periodic out$",
    ),
    ("excite arm.urdf --home 0,0 --ros log.csv --time-budget 1e9", 1, "cannot write to 'log.csv': it is a file"),
    ("excite arm.urdf --home 0,0 --urscript m.script --time-budget 1e9", 1, "expected an arm of six joints, got 2"),
    ("excite arm.urdf --rate 0 --time-budget 1e9", 1, "^armdyn: --rate: expected a rate > 0, got 0"),
    ("excite arm.urdf", 1, "no velocity limit of joint 1 .*; give --max-velocity"),
    ("simulate arm.urdf --sensor foo=1", 2, "expected one of resolution, .*got 'foo=1'"),
    ("simulate arm.urdf --reference foreign.csv", 1, "expected a first line with columns t, q1, q2"),
    ("simulate arm.urdf --payload heavy", 2, "expected MASS or MASS@TIME such as 2.5@1, got 'heavy'"),
    ("convert arm.urdf", 2, "Missing argument 'FILE'"),
    ("study arm.urdf", 1, "arm.urdf: not a TOML file"),
    ("study .", 1, "is a folder; expected a file$"),
    ("base arm.urdf --foo", 2, "No such option:? .?--foo"),
    ("convert arm.urdf arm.json", 1, r"unknown kind of file '\.json' in 'arm.json'; expected \.urdf"),
    ("convert nomass.urdf x.xml", 1, "link 'b' cannot be written as MJCF: unknown parameters"),
    ("codegen arm.urdf nothing --out c", 1, "nothing"),
    ("study absent.toml", 1, "absent.toml: no such file"),
    ("law arm.urdf foo --out c", 1, "foo"),
    ("law arm.urdf pd --out log.csv", 1, "cannot write to 'log.csv': it is a file, expected a folder"),
    ("codegen arm.urdf mass_matrix --out log.csv", 1, "cannot write to 'log.csv': it is a file, expected a folder"),
    ("codegen arm.urdf", 2, "expected names of functions .'list' shows all., --law LAW"),
    (
        "codegen arm.urdf mass_matrix --law pd",
        2,
        r"functions \(mass_matrix\) and --law cannot be written by one command; give one of them",
    ),
    ("codegen arm.urdf mass_matrix --fmu a.fmu", 2, r"functions \(mass_matrix\) and --fmu cannot be written by one"),
    (
        "identify arm.urdf amperes.csv",
        1,
        r"columns actual_current_0 \.\. actual_current_1 are motor currents by name, not torques; give --drive-gain, "
        "the N m of the joint per ampere",
    ),
    (
        "validate arm.urdf amperes.csv --columns tau=actual_current_0,actual_current_1",
        1,
        "are motor currents by name, not torques; give --drive-gain",
    ),
    ("identify arm.urdf log.csv --columns tau=i1,q2", 1, "no column 'i1' for tau"),
    ("reproduce nobody", 2, "expected one of .*or all, got 'nobody'"),
]
MANY = "t,q1,q2,q3,tau1,tau2,tau3"
JOINT = (
    '<joint name="{0}" type="continuous"><parent link="base"/><child link="{0}"/><axis xyz="0 0 1"/></joint>'
    '<link name="{0}"/>'
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("wrong")
    armdyn.arms.planar2().save(path / "arm.urdf")
    rows = np.column_stack([np.arange(20) / 100, np.random.default_rng(0).normal(size=(20, 4))])
    for name, header in (
        ("log", "t,q1,q2,tau1,tau2"),
        ("foreign", "t,x,y,u,w"),
        ("half", "t,q1,foo,tau1,tau2"),
        ("letters", "zeit,pos_a,pos_b,moment_a,moment_b"),
    ):
        np.savetxt(path / f"{name}.csv", rows, delimiter=",", header=header, comments="")
    np.savetxt(path / "many.csv", rows[:, [0, 1, 2, 3, 1, 2, 3]], delimiter=",", header=MANY, comments="")
    _write_logs(path)
    (path / "notes.md").write_text("notes")
    (path / "broken.urdf").write_text("<robot><link")
    (path / "robot.xacro").write_text("<robot/>")
    (path / "nomass.urdf").write_text(f'<robot name="n"><link name="base"/>{JOINT.format("b")}</robot>')
    forked = JOINT.format("a") + JOINT.format("b")
    (path / "forked.urdf").write_text(f'<robot name="f"><link name="base"/>{forked}</robot>')
    return path


def _write_logs(path):
    """Logs that are good but for degrees, the sign of all torques, or that of one, or that are of currents."""
    t = np.arange(0, 10, 0.01)[:, None]
    w, a = np.array([2.0, 3.0]), np.array([1.0, 0.8])
    q, qd, qdd = a * np.sin(w * t), a * w * np.cos(w * t), -a * w**2 * np.sin(w * t)
    noise = 0.02 * np.random.default_rng(0).normal(size=q.shape)
    tau = armdyn.inverse_dynamics(armdyn.arms.planar2(), q, qd, qdd) + 2 * qd + 3 * np.sign(qd) + noise
    degrees = 90 * np.sin(w * t)
    for name, positions, torques in (("degrees", degrees, tau), ("flipped", q, -tau), ("second", q, tau * [1, -1])):
        rows = np.hstack([t, positions, torques])
        np.savetxt(path / f"{name}.csv", rows, delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    header = "t,actual_q_0,actual_q_1,actual_current_0,actual_current_1"
    np.savetxt(path / "amperes.csv", np.hstack([t, q, tau / 10]), delimiter=",", header=header, comments="")


@pytest.mark.filterwarnings("default::armdyn.errors.ArmdynWarning")  # shown, not raised, as on a terminal
@pytest.mark.parametrize(("line", "code", "said"), WRONG, ids=[line or "nothing" for line, *_ in WRONG])
def test_the_answer_says_what_to_do(folder, monkeypatch, capsys, line, code, said):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["armdyn", *line.split()])
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # put back what `main` sets
    before = sorted(folder.iterdir())
    with pytest.raises(SystemExit) as end:
        main()
    out, err = capsys.readouterr()
    text = " ".join((out + err).split())
    assert (end.value.code or 0) == code, text
    assert "Traceback" not in text
    assert re.search(said, text), text
    if code:
        assert sorted(folder.iterdir()) == before  # nothing was written
