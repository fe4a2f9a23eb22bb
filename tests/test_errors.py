"""Errors that carry their parts, and the sentence that is made of them."""

from __future__ import annotations

import pickle

from armdyn.errors import ReadError


def test_the_sentence_of_a_read_error() -> None:
    """Place, what was expected, what is there, what helps."""
    error = ReadError(path="log.csv", line=7, expected="a number", got="'n/a'", remedy="delete the row")
    assert str(error) == "log.csv, line 7: expected a number, got 'n/a'; delete the row"
    assert str(ReadError(path="log.csv", expected="JSON")) == "log.csv: expected JSON"
    assert str(ReadError("log.csv: no such file")) == "log.csv: no such file"


def test_its_parts_survive_a_worker_process() -> None:
    error = pickle.loads(pickle.dumps(ReadError(path="log.csv", line=7, expected="a number", got="x")))
    assert (error.path, error.line, error.expected, error.got, error.remedy) == ("log.csv", 7, "a number", "x", "")
    assert str(error) == "log.csv, line 7: expected a number, got x"
