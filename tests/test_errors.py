"""Errors that carry their parts, and the sentence that is made of them."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest
from tests.raising import raises

from armdyn.errors import (
    ArmdynError,
    DataError,
    ModelError,
    PathError,
    ReadError,
    ShapeError,
    check_choice,
    expect,
    reads_file,
)


def test_the_sentence_of_an_error() -> None:
    """Place, what was expected, what is there, what helps."""
    error = ReadError(path="log.csv", line=7, expected="a number", got="'n/a'", remedy="delete the row")
    assert str(error) == "log.csv, line 7: expected a number, got 'n/a'; delete the row"
    assert str(ReadError(path="log.csv", expected="JSON")) == "log.csv: expected JSON"
    assert str(ReadError("no such file", path="log.csv")) == "log.csv: no such file"
    assert str(ReadError("log.csv: no such file")) == "log.csv: no such file"
    joint = ModelError("joint 'a' follows itself", where="arm 'x'", remedy="remove one", names=("a",))
    assert str(joint) == "arm 'x': joint 'a' follows itself; remove one"
    assert str(ModelError("the robot has two roots", expected="one")) == "the robot has two roots; expected one"
    assert str(ArmdynError(where="f", expected="a number > 0", got=-1)) == "f: expected a number > 0, got -1"
    assert (joint.cause, joint.names, joint.expected, joint.path) == ("joint 'a' follows itself", ("a",), "", None)


def test_its_parts_survive_a_worker_process() -> None:
    error = pickle.loads(pickle.dumps(ReadError(path="log.csv", line=7, expected="a number", got="x")))
    assert (error.path, error.line, error.expected, error.got, error.remedy) == ("log.csv", 7, "a number", "x", "")
    assert str(error) == "log.csv, line 7: expected a number, got x"
    path = pickle.loads(pickle.dumps(PathError("it ends", 0.5, reason="limit", where="joint_trajectory")))
    assert (str(path), path.t, path.reason) == ("joint_trajectory: it ends", 0.5, "limit")


def test_a_place_and_a_remedy_are_added_once() -> None:
    error = ModelError(where="joint 'a'", expected="a number", got="x", names=("a",))
    assert str(error.at("arm.toml")) == "arm.toml: joint 'a': expected a number, got x"
    assert str(error.at("arm.toml", remedy="remove it")) == "arm.toml: joint 'a': expected a number, got x; remove it"
    assert (error.where, error.remedy, error.names) == ("arm.toml: joint 'a'", "remove it", ("a",))


def test_readers_name_their_file() -> None:
    """Errors of any kind carry the path of the file; one that carries a path keeps it."""

    @reads_file
    def read(path: Path, error: ArmdynError) -> None:
        raise error

    for error, path in [(ModelError("no joints"), "arm.urdf"), (ReadError(path="mesh.stl"), "mesh.stl")]:
        with pytest.raises(type(error)) as caught:
            read(Path("arm.urdf"), error)
        assert caught.value.path == path
    assert str(DataError("too short", ())) == "too short"


def test_an_unknown_word_is_named_with_the_known_ones() -> None:
    with pytest.raises(ModelError) as caught:
        check_choice("load", "branches", "drop", ("lump", "keep"), ModelError)
    assert str(caught.value) == "load: unknown branches 'drop'; expected one of lump, keep"
    assert (caught.value.where, caught.value.expected, caught.value.names) == ("load", "one of lump, keep", ("drop",))


def test_expected_parts_are_compared_one_by_one(tmp_path: Path) -> None:
    """The helper of these tests: parts as they are, a file by its name, patterns where numbers are computed."""
    error = ReadError(path=tmp_path / "log.csv", line=7, expected="0.25 s", got="x")
    with raises(ReadError, file="log.csv", line=7, expected=re.compile(r"[\d.]+ s")):
        raise error
    for parts in ({"file": "other.csv"}, {"line": 8}, {"expected": re.compile("min")}, {"expected": "0.25"}):
        with pytest.raises(AssertionError), raises(ReadError, **parts):
            raise error


def test_expectations_name_what_came_only_where_they_fail() -> None:
    expect(True, "f", "a number", "text")
    with raises(ShapeError, where="f", expected="a number", got="'text'"):
        expect(False, "f", "a number", "text")
    with raises(ArmdynError, where="f", expected="a number", got="None", remedy="give one"):
        expect([], "f", "a number", None, ArmdynError, remedy="give one")
    with raises(ShapeError, expected="two rows", got="shape (3,)"):
        expect(0, "f", "two rows", got="shape (3,)")
    with raises(ShapeError, expected="two rows", got=""):
        expect(0, "f", "two rows")
