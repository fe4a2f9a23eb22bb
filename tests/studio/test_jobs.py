"""Work in the background."""

import threading

import pytest

from armdyn import ArmdynError
from armdyn.studio.jobs import Job, sentence
from armdyn.studio.latest import Latest


def test_progress_is_told_and_the_end():
    told, ended = [], threading.Event()
    job = Job(lambda fraction, text: told.append((fraction, text)), ended.set)
    assert job.start(lambda report: [report(0.5, "half"), report(7.0, "all")])
    assert ended.wait(5)
    assert told == [(0.5, "half"), (1.0, "all")]


def test_it_can_be_cancelled_and_started_again():
    entered, go_on, after = threading.Event(), threading.Event(), []

    def work(report):
        entered.set()
        go_on.wait(5)
        report(0.5, "half")
        after.append("went on")

    job = Job()
    job.start(work)
    entered.wait(5)
    assert not job.start(work)  # one at a time
    job.cancel()
    go_on.set()
    job.join(5)
    assert after == []
    assert job.start(work)
    job.join(5)
    assert after == ["went on"]


def test_an_error_becomes_a_sentence(capsys):
    said = []

    def work(report):
        raise ArmdynError("joint 'x':\n  expected y, got z")

    job = Job(on_error=said.append)
    job.start(work)
    job.join(5)
    assert said == ["joint 'x': expected y, got z"]
    assert "Traceback" not in capsys.readouterr().err


def test_what_nobody_meant_is_told_in_full_on_the_terminal(capsys):
    assert "please report it" in sentence(ZeroDivisionError("division by zero"))
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert sentence(FileNotFoundError(2, "No such file", "a.csv")) == "a.csv: No such file"


def test_only_the_latest_of_many_values_is_answered():
    answered, first, go_on = [], threading.Event(), threading.Event()

    def answer(value):
        answered.append(value)
        first.set()
        go_on.wait(5)

    latest = Latest(answer)
    thread = threading.Thread(target=latest, args=(1,))
    thread.start()
    first.wait(5)
    for value in (2, 3, 4):
        latest(value)  # returns at once: the first is still busy
    go_on.set()
    thread.join(5)
    assert answered == [1, 4]


def test_after_an_error_the_next_value_is_answered():
    answered = []

    def answer(value):
        answered.append(value)
        if value == 1:
            raise ValueError

    latest = Latest(answer)
    with pytest.raises(ValueError):  # noqa: PT011
        latest(1)
    latest(2)
    assert answered == [1, 2]
