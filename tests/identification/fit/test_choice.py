"""What is chosen by held-out blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from armdyn.identification.fit.choice import Candidate, _better
from armdyn.identification.fit.evidence import DRY
from armdyn.identification.fit.terms import TERMS
from armdyn.identification.identify import identify


@dataclass(frozen=True)
class Errors:
    """What a choice is judged by."""

    held_out: float
    residual: float
    tried: tuple[Candidate, ...] = ()

    def with_candidate(self, *what: Any) -> Errors:
        return replace(self, tried=(*self.tried, Candidate(*what)))


@pytest.mark.parametrize(("held_out", "residual", "taken"), [(0.9, 0.49, True), (0.99, 0.4, False), (0.5, 0.51, False)])
def test_what_helps_to_guess_blocks_must_also_fit_all(held_out, residual, taken):
    """Better by a share on held-out blocks, and no worse on what is fitted to."""
    before: Any = Errors(1.0, 0.5)
    after: Any = Errors(held_out, residual)
    found = _better(before, after, "a delay")
    assert found.tried == (Candidate("a delay", held_out, taken),)
    assert found.held_out == (held_out if taken else 1.0)


def test_no_joint_is_certain_to_be_without_dry_friction():
    assert {TERMS[k].kind for k in DRY} == {"coulomb", "offset"}


def test_a_delay_between_two_steps(two, make_log):
    late = 9  # samples of 5 ms: halfway between 40 and 50 ms
    log = make_log(two, noise=0.02, base=0.2)
    fit = identify(two, replace(log, t=log.t[late:], q=log.q[late:], tau=log.tau[:-late]))
    assert any("torques +45 ms later" in note for note in fit.notes)
