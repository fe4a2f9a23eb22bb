"""What is chosen by held-out blocks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from armdyn.identification.fit.choice import Candidate, Choice, _better


def chosen(held_out: float, residual: float) -> Any:
    """A choice with errors on blocks held out and fitted to."""
    choice = object.__new__(Choice)
    for name in ("rows", "equations", "floor", "used", "belief", "found", "prior", "covariance", "centre"):
        object.__setattr__(choice, name, SimpleNamespace())
    object.__setattr__(choice, "tried", ())
    choice.__dict__.update(held_out=held_out, residual=residual)
    return choice


@pytest.mark.parametrize(("held_out", "residual", "taken"), [(0.9, 0.49, True), (0.99, 0.4, False), (0.5, 0.51, False)])
def test_what_helps_to_guess_blocks_must_also_fit_all(held_out, residual, taken):
    """Better by a share on held-out blocks, and no worse on what is fitted to."""
    found = _better(chosen(1.0, 0.5), chosen(held_out, residual), "a delay", 0.02)
    assert found.tried == (Candidate("a delay", held_out, taken),)
