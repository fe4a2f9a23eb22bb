"""Xacro files: expanded without ROS, and under guard."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError, ArmdynWarning, ReadError
from armdyn.model.xacro import expand_xacro
from armdyn.model.xacro_guard import guard
from armdyn.report.options import xacro_words

pytest.importorskip("xacrodoc")

ROBOT = '<robot name="a" xmlns:xacro="http://www.ros.org/wiki/xacro">{}</robot>'
LINKS = """<xacro:arg name="length" default="0.5"/><link name="base"/>
<xacro:macro name="part" params="name parent z"><link name="${name}"><inertial><mass value="${2 * 1.5}"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="to_${name}" type="continuous"><origin xyz="0 0 ${z}"/><parent link="${parent}"/><child link="${name}"/>
<axis xyz="0 1 0"/></joint></xacro:macro>
<xacro:part name="upper" parent="base" z="$(arg length)"/>"""


def write(path, body):
    path.write_text(ROBOT.format(body))
    return path


def test_macros_expressions_and_arguments(tmp_path):
    path = write(tmp_path / "a.urdf.xacro", LINKS)
    arm = armdyn.load(path, args={"length": 0.7})
    assert arm.source is not None
    assert arm.source.xacro == (("length:=0.7",), ())
    assert xacro_words(arm) == ["--xacro-arg", "length:=0.7"]  # for commands that are printed
    assert arm.joint_names == ("to_upper",)
    assert arm.joints[0].before[2, 3] == 0.7
    assert arm.links[0].inertia.mass == 3.0
    assert armdyn.load(path).joints[0].before[2, 3] == 0.5


def test_packages_are_found_where_they_are_named(tmp_path):
    package = tmp_path / "packages" / "parts"
    package.mkdir(parents=True)
    (package / "package.xml").write_text("<package><name>parts</name><version>1.0.0</version></package>")
    write(package / "parts.xacro", LINKS)
    (tmp_path / "robot").mkdir()
    path = write(tmp_path / "robot" / "b.xacro", '<xacro:include filename="$(find parts)/parts.xacro"/>')
    for folder in (package.parent, package):
        assert armdyn.load(path, packages=[folder]).n == 1
    with raises(
        ReadError, cause=re.compile(r"^the xacro needs ROS package '.*parts.*', .* give packages=\['FOLDER'\]")
    ):
        armdyn.load(path)


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        (
            '<link name="$(arg side)"/>',
            {"cause": re.compile("^the xacro needs an argument .*side.*; give args={'name': 'value'}$")},
        ),
        (
            '<xacro:include filename="/etc/passwd"/>',
            {"cause": "the xacro failed: '/etc/passwd' lies outside the folders that the xacro may read"},
        ),
        (
            """<link name="${xacro.load_yaml('/etc/hostname')}"/>""",
            {"cause": ("the xacro failed: '/etc/hostname' lies outside the folders that the xacro may read")},
        ),
        ('<link name="${open(1)}"/>', {"cause": re.compile("failed")}),
        ('<link name="${().__class__.__base__.__subclasses__()}"/>', {"cause": re.compile("failed")}),
        ("<xacro:nothing/>", {"cause": re.compile("^the xacro failed: ")}),
    ],
)
def test_what_a_xacro_may_not(tmp_path, body, parts):
    with raises(ReadError, **parts):
        armdyn.load(write(tmp_path / "bad.xacro", body))


ATTEMPTS = """
import os, sys
from armdyn.model.xacro_guard import guard
from armdyn.report.options import xacro_words
folder, denied = sys.argv[1], []
sys.addaudithook(guard([folder], denied))
own = os.path.join(folder, "own.txt")
attempts = {
    "write": lambda: open(own, "w"), "append": lambda: open(own, "a"), "make": lambda: open(own + "2", "x"),
    "update": lambda: open(own, "r+"), "descriptor": lambda: os.open(own, os.O_WRONLY),
    "both": lambda: os.open(own, os.O_RDWR), "remove": lambda: os.remove(own), "start": lambda: os.system("true"),
    "rename": lambda: os.rename(own, own + "2"), "folder": lambda: os.mkdir(own + "2"),
    "elsewhere": lambda: open(os.path.join(folder, "..", "other.txt")),
    "link": lambda: open(os.path.join(folder, "link.txt")),
}
print(open(own).read())
for name, attempt in attempts.items():
    try:
        attempt()
    except PermissionError:
        continue
    print(name)
"""


def test_a_guarded_process_reads_its_folder_and_no_more(tmp_path):
    """Whatever an expression reaches: nothing is written, removed or started, and no link leads outside."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "own.txt").write_text("as it was")
    (tmp_path / "other.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "other.txt")
    done = subprocess.run([sys.executable, "-c", ATTEMPTS, folder], capture_output=True, text=True)
    assert (done.stdout.split("\n"), done.stderr) == (["as it was", ""], "")
    assert sorted(path.name for path in folder.iterdir()) == ["link.txt", "own.txt"]
    assert (folder / "own.txt").read_text() == "as it was"


def test_endless_expressions_end(tmp_path, monkeypatch):
    monkeypatch.setattr("armdyn.model.guarded.MAX_SECONDS", 3)
    with raises(ReadError, cause=re.compile(r"did not end within|ended .memory or time")):
        armdyn.load(write(tmp_path / "bad.xacro", '<link name="${2**2**40}"/>'))


def test_memory_is_bounded(tmp_path, monkeypatch):
    """A text of 700 MB in a process that may take 500."""
    monkeypatch.setattr("armdyn.model.guarded.MAX_BYTES", 500_000_000)
    small, large = (
        write(tmp_path / f"{n}.xacro", f"""<link name="${{len('x' * {n})}}"/>""") for n in (7_000, 700_000_000)
    )
    assert b"7000" in expand_xacro(small)
    with raises(ReadError, cause=re.compile(r"evaluating expression|ended .memory or time")):
        expand_xacro(large)


def test_nothing_of_the_current_folder_is_imported(tmp_path, monkeypatch):
    """Python looks for modules where it is started; a downloaded folder may hold one of any name."""
    path = write(tmp_path / "a.xacro", LINKS)
    trap = f"open({str(tmp_path / 'was_run')!r}, 'a').write(__name__)\nraise SystemExit(__name__)"
    for name in ("json", "xacro", "xacrodoc", "yaml", "rospkg", "sitecustomize", "usercustomize", "armdyn", "re"):
        (tmp_path / f"{name}.py").write_text(trap)
    monkeypatch.chdir(tmp_path)
    for search_path in ("", ".", f"{os.pathsep}{tmp_path}"):  # an empty entry is the current folder too
        monkeypatch.setenv("PYTHONPATH", search_path)
        assert armdyn.load(path).n == 1
    monkeypatch.setenv("PYTHONPATH", str(Path(armdyn.__file__).parents[1]))
    done = subprocess.run([sys.executable, "-P", "-m", "armdyn", "info", "a.xacro"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "was_run").exists()


ENVIRONMENT = '<link name="$(env ARMDYN_SECRET)"/>', '<link name="${1}$(optenv ARMDYN_SECRET none)"/>'


def test_what_the_guard_denies(tmp_path):
    """Each in the guarded process's own hook: expressions of xacros reach none of these, as far as is known."""
    inside, outside = str(tmp_path / "home" / "a"), str(tmp_path / "other" / "a")
    denied: list[str] = []
    hook = guard([str(tmp_path / "home")], denied)
    hook("open", (inside, "r", os.O_RDONLY))
    hook("import", ("json", None, None))
    for event, arguments in [
        ("open", (outside, "r", os.O_RDONLY)),
        ("open", (inside + "/../../other/a", "rb", os.O_RDONLY)),
        *(("open", (inside, mode, os.O_RDONLY)) for mode in ("w", "a", "x", "r+", "wb")),
        *(("open", (inside, None, flags)) for flags in (os.O_WRONLY, os.O_RDWR | os.O_CREAT)),
        *((event, (inside,)) for event in ("os.remove", "os.mkdir", "os.system", "subprocess.Popen", "socket.connect")),
    ]:
        n = len(denied)
        with pytest.raises(PermissionError):
            hook(event, arguments)
        assert len(denied) == n + 1, event


def test_the_environment_is_withheld_and_said_so(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMDYN_SECRET", "do-not-tell")
    required, optional = (write(tmp_path / f"{k}.xacro", body + LINKS) for k, body in enumerate(ENVIRONMENT))
    with raises(
        ReadError,
        cause=(
            "the xacro asks for the environment variable 'ARMDYN_SECRET', which armdyn does not pass "
            "on; give the value as the argument of the xacro that has this name"
        ),
    ) as error:
        armdyn.load(required)
    assert "do-not-tell" not in str(error.value)
    with pytest.warns(ArmdynWarning, match=r"'ARMDYN_SECRET', which armdyn does not pass on.*its default is used"):
        text = expand_xacro(optional)
    assert b'"1none"' in text
    for path in (required, optional):  # as an argument it is passed on, and nothing warns
        assert b"meant-for-it" in expand_xacro(path, {"ARMDYN_SECRET": "meant-for-it"})
    monkeypatch.delenv("ARMDYN_SECRET")
    assert b'"1none"' in expand_xacro(optional)  # nothing is withheld that is not there


def test_no_variable_of_the_environment_reaches_a_xacro(tmp_path, monkeypatch):
    names = [f"ARMDYN_TOKEN_{k}" for k in range(5)] + ["HOME", "PATH", "USER", "PYTHONPATH"]
    for name in names:
        monkeypatch.setenv(name, os.environ.get(name, "x") if name == "PATH" else "do-not-tell")
    seen = "".join(f'<link name="{name}=$(optenv {name} withheld)"/>' for name in names)
    with pytest.warns(ArmdynWarning, match="does not pass on") as caught:
        text = expand_xacro(write(tmp_path / "a.xacro", seen)).decode()
    assert len(caught) == len(names)
    assert "do-not-tell" not in text
    assert text.count("=withheld") == len(names)


def test_arguments_are_for_xacros_alone(tmp_path):
    armdyn.arms.planar2().save(tmp_path / "a.urdf")
    with raises(ArmdynError, cause=re.compile(r"args and packages are for \.xacro files")):
        armdyn.load(tmp_path / "a.urdf", args={"a": 1})
