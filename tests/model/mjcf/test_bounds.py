"""MJCF models that are far larger than their text: one sentence, in bounded time and memory."""

import re
import signal
import subprocess
import sys
import time

import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ReadError
from armdyn.model import guarded
from armdyn.model.guarded import Failure
from armdyn.model.mjcf import bounds
from armdyn.model.mjcf.source import included_files

pytest.importorskip("mujoco")

MODEL = """<mujoco><asset>{asset}</asset>{top}<worldbody><body name="b"><joint name="j" axis="0 1 0"/>
<inertial pos=".1 0 0" mass="1" diaginertia=".01 .01 .01"/>{body}</body></worldbody></mujoco>"""
ENDLESS = {
    "replicas": {"body": '<replicate count="1000000000"><geom size="1"/></replicate>'},
    "nested replicas": {"body": '<replicate count="2000">' * 3 + "<site/>" + "</replicate>" * 3},
    "key frames": {"top": '<size nkey="1000000000"/>'},
}
HUGE = {
    "height field": {"asset": '<hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/>'},
    "grid": {"body": '<flexcomp name="f" type="grid" count="9999 9999 99" spacing="1 1 1" radius=".1" dim="3"/>'},
    "mesh": {
        "asset": '<mesh name="h" builtin="supersphere" params="50000 1 1"/>',
        "body": '<geom type="mesh" mesh="h"/>',
    },
    "numbers of the user": {"top": '<size nuser_body="1000000000"/>'},
    "activations": {"top": '<actuator><general joint="j" dyntype="user" actdim="2000000000"/></actuator>'},
}
BOUNDED = {
    "replicas": {"body": '<replicate count="3" offset="0 0 1"><geom size=".1"/></replicate>'},
    "height field": {"asset": '<hfield name="h" nrow="10" ncol="10" size="1 1 1 1"/>'},
    "sizes": {"top": '<size njmax="500" nconmax="100"/>'},
    "many contacts": {"top": '<size njmax="80000" nconmax="40000"/>'},
    "a texture that is never made": {
        "asset": '<texture name="t" type="2d" builtin="checker" width="100000" height="100000"/>'
    },
}


def write(path, pieces):
    path.write_text(MODEL.format(**{"asset": "", "top": "", "body": "", **pieces}))
    return path


@pytest.mark.parametrize("name", [*HUGE, *ENDLESS])
def test_models_far_larger_than_their_text(tmp_path, name, monkeypatch):
    for module in (guarded, bounds):
        monkeypatch.setattr(module, "MAX_SECONDS", 1)
    path = write(tmp_path / "a.xml", {**HUGE, **ENDLESS}[name])
    with raises(
        ReadError,
        where="a.xml",
        cause="MuJoCo needs more than 1 s or 2 GB to compile it",
        remedy=("lower the counts of <replicate>, <flexcomp>, <composite> or <hfield>, and the numbers in <size>"),
    ) as error:
        armdyn.load(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", BOUNDED)
def test_models_within_bounds_are_read(tmp_path, name):
    assert armdyn.load(write(tmp_path / "a.xml", BOUNDED[name])).joint_names == ("j",)


@pytest.mark.parametrize("name", [*HUGE, *ENDLESS])
def test_what_may_be_endless_is_tried_apart(tmp_path, name, monkeypatch):
    """No such model is compiled here before the bounded process has given its answer, and none that it cannot give."""
    tried = []

    def fails(*arguments):
        tried.append(arguments)
        raise (TimeoutError, Failure)[len(tried) % 2]

    monkeypatch.setattr(bounds, "run_guarded", fails)
    path = write(tmp_path / "a.xml", {**HUGE, **ENDLESS}[name])
    for count in (1, 2):
        with raises(ReadError, cause=re.compile("MuJoCo needs more than 8 s or 2 GB")):
            bounds.require_bounded(path, included_files(path))
        assert len(tried) == count


def test_errors_of_what_is_tried_apart_are_told(tmp_path):
    with raises(ReadError, cause=re.compile(r"^a\.xml: MuJoCo rejects it .*unrecognized")):
        armdyn.load(write(tmp_path / "a.xml", {"body": "<composites/>"}))


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to one process")
def test_ctrl_c_ends_it(tmp_path):
    path = write(tmp_path / "a.xml", ENDLESS["replicas"])
    program = f"import armdyn, mujoco; print('begin', flush=True); armdyn.load({str(path)!r})"
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"begin\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, words = process.communicate(timeout=10)
        assert b"KeyboardInterrupt" in words
    finally:
        process.kill()
