"""Declared shapes."""

from __future__ import annotations

import pytest

from armdyn.trace.program import Port
from armdyn.trace.shapes import evaluate, text


@pytest.mark.parametrize(
    ("declared", "shape"),
    [
        ("", ()),
        ("3", (3,)),
        ("n", (7,)),
        ("10*n", (70,)),
        ("6, n", (6, 7)),
        ("n, 4, 4", (7, 4, 4)),
        ("16*(n+1)", (128,)),
    ],
)
def test_a_declared_shape_is_evaluated_for_the_sizes(declared: str, shape: tuple[int, ...]) -> None:
    assert evaluate(declared, {"n": 7}) == shape


def test_only_whole_numbers_names_and_plain_arithmetic_are_understood() -> None:
    with pytest.raises(ValueError, match="only integers"):
        evaluate("n**2", {"n": 7})
    with pytest.raises(ValueError, match="only integers"):
        evaluate("__import__('os')", {"n": 7})


def test_count_and_text() -> None:
    assert Port("x", (6, 7)).size == 42
    assert Port("x", ()).size == 1
    assert text((6, 7)) == "(..., 6, 7)"
