"""Direct calls and calls through Python give the same results; anything unverified goes through Python."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from armdyn.trace import direct_calls

PROGRAM = """
import numpy as np, armdyn
from armdyn.trace.compiled import dispatcher
arm = armdyn.arms.planar2()
rng = np.random.default_rng(0)
q, qd, qdd = rng.normal(size=(3, 5, 2))
armdyn.inverse_dynamics(arm, q, qd, qdd)
rows = [armdyn.inverse_dynamics(arm, *row) for row in zip(q, qd, qdd)]
print(bool(dispatcher()), np.array(rows).tobytes().hex(), armdyn.inverse_dynamics(arm, q, qd, qdd).tobytes().hex())
"""


def run(switch: str, before: str = "") -> list[str]:
    environment = os.environ | {direct_calls.SWITCH: switch}
    return subprocess.run(
        [sys.executable, "-c", before + PROGRAM], env=environment, capture_output=True, text=True, check=True
    ).stdout.split()


def test_both_ways_give_the_same_bits() -> None:
    direct, through_python = run("1"), run("0")
    assert direct[0] == str(direct_calls.available())
    assert through_python[0] == "False"
    assert direct[1:] == through_python[1:]


def test_a_python_without_the_global_lock_calls_through_python() -> None:
    direct, free_threaded = run("1"), run("1", 'import sys; sys.version += " free-threading build"\n')
    assert free_threaded[0] == "False"
    assert free_threaded[1:] == direct[1:]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("version", "3.14.0 free-threading build"),
        ("version_info", (3, 10)),
        ("version_info", (3, 15)),
        ("maxsize", 2**31 - 1),
        ("implementation", SimpleNamespace(name="pypy")),
        ("gettotalrefcount", lambda: 0),
    ],
)
def test_other_pythons_are_not_supported(name: str, value: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(direct_calls.SWITCH, raising=False)
    monkeypatch.setattr(sys, name, value, raising=False)
    assert not direct_calls.supported()


@pytest.mark.skipif(not direct_calls.available(), reason="no direct calls on this Python")
@pytest.mark.parametrize("name", ["TYPE", "DATA", "NDIM", "DTYPE", "FLAGS"])
def test_a_wrong_offset_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert direct_calls.layouts_hold()
    monkeypatch.setattr(direct_calls, name, direct_calls.STRIDES)
    assert not direct_calls.layouts_hold()


@pytest.mark.skipif(not direct_calls.available(), reason="no direct calls on this Python")
def test_offsets_are_those_of_the_headers() -> None:
    array = np.zeros((2, 3))
    assert object.__basicsize__ == direct_calls.DATA
    assert array.__sizeof__() >= direct_calls.FLAGS + 4
