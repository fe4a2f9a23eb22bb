"""Study files with one value replaced by another: understood, or one sentence of armdyn's own."""

from __future__ import annotations

import copy

import pytest
from tests.raising import raises

from armdyn.errors import ArmdynError
from armdyn.model.toml_format import parse_toml
from armdyn.study import design, fleet, rollouts
from armdyn.study.spec import Head, read_bounds
from armdyn.study.table import StudyTable

NAN, INF = float("nan"), float("inf")
NASTY = (True, -1, 0, 10**30, 1e300, NAN, INF, "", "x", "../x", "\x00", [], [[]], [NAN], {}, {"x": 1})


def places(value, path=()):
    """Paths of all values in a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def with_value(document, path, value):
    out = copy.deepcopy(document)
    at = out
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return out


def test_every_value_replaced_by_every_nasty_one(small_text, tmp_path, monkeypatch):
    """Designs are stubbed by one law, as they do not depend on the mutations and take the time."""
    document = parse_toml(small_text, "x")
    laws = dict(rollouts.read(StudyTable(document, "x"), Head("x", 0, tmp_path / "x.toml", "", 0)).laws)
    known = {name: law for (name, _), law in laws.items()}

    def stub(*arguments):
        (name,) = arguments[-1]
        if name not in known:
            raise ArmdynError(f"unknown controller {name!r}")
        return {name: known[name]}

    monkeypatch.setattr(rollouts, "chosen_designs", stub)
    counts, rejections = [], []
    for path in places(document):
        for value in NASTY:
            mutated = with_value(document, path, value)
            try:
                counts.append(rollouts.read(StudyTable(mutated, "x"), Head("x", 0, tmp_path / "x.toml", "", 0)).count)
            except ArmdynError as error:
                rejections.append(str(error))
    assert len(counts) > 10
    assert min(counts) >= 1
    assert len(rejections) > 200
    assert [text for text in rejections if "\n" in text or len(text) > 600] == []


DESIGN = """
arms = ["planar2", "scara"]
rank_by = "energy"
[task]
start = [0.5, 0.2, 0.0]
end = [0.5, 0.4, 0.0]
rpy = [0.0, 0.0, 0.0]
duration = 1.0
[samples]
method = "latin"
count = 3
[parameters]
"member.1.length" = { low = 0.3, high = 1.0 }
"dh.2.a" = { mean = 0.3, std = 0.01, distribution = "normal" }
payload = { values = [0.0, 1.0] }
[success]
reach = 0.5
"""
FLEET = """
arm = "planar2"
[[robots]]
name = "r1"
logs = ["run.csv"]
[identify]
terms = "full"
springs = false
"""


@pytest.mark.parametrize(("kind", "text"), [(design, DESIGN), (fleet, FLEET)], ids=["design", "fleet"])
def test_designs_and_fleets_with_every_nasty_value(tmp_path, kind, text):
    (tmp_path / "run.csv").write_text("t,q1,q2,tau1,tau2\n")
    head, document = Head("x", 0, tmp_path / "x.toml", "", 0), parse_toml(text, "x")
    assert kind.read(StudyTable(document, "x"), head).count >= 1
    rejections = []
    for path in places(document):
        for value in NASTY:
            try:
                assert kind.read(StudyTable(with_value(document, path, value), "x"), head).count >= 1
            except ArmdynError as error:
                rejections.append(str(error))
    assert len(rejections) > 60
    assert [text for text in rejections if "\n" in text or len(text) > 600] == []


@pytest.mark.parametrize("value", [True, NAN, "x", [], {}])
def test_bounds_are_numbers(value):
    with raises(ArmdynError, where="x: success: max_error", expected="a number"):
        read_bounds(StudyTable({"success": {"max_error": value}}, "x"), {"max_error": "low"})
