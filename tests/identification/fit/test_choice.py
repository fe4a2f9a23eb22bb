"""What is chosen by held-out blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from armdyn.identification.fit import choice
from armdyn.identification.fit.choice import Candidate, _better, _is_friction, _surprises
from armdyn.identification.fit.terms import DRY, TERMS
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
    found = _better(before, after, "a delay", 0.02)
    assert found.tried == (Candidate("a delay", held_out, taken),)
    assert found.held_out == (held_out if taken else 1.0)


def friction(**values: float) -> Any:
    """A choice whose only joint has these values of joint terms; `gradual` is Coulomb friction that builds up."""
    terms = np.zeros((1, len(TERMS)))
    for name, value in values.items():
        gradual, kind = name == "gradual", "coulomb" if name == "gradual" else name
        terms[0, [bool(term.travel) == gradual and term.kind == kind for term in TERMS].index(True)] = value
    return SimpleNamespace(
        model=SimpleNamespace(terms=terms), rows=SimpleNamespace(reach=SimpleNamespace(torque=np.array([10.0])))
    )


@pytest.mark.parametrize(
    ("terms", "taken"),
    [
        (dict(gradual=3.0), True),
        (dict(coulomb=4.0, asymmetry=-1.0), True),
        (dict(coulomb=4.0, asymmetry=-3.0), False),  # next to none one way
        (dict(coulomb=0.1, load=0.1, asymmetry=0.5), True),
        (dict(coulomb=-0.1, asymmetry=0.5), False),  # drives
    ],
)
def test_further_terms_leave_dry_friction_that_brakes_both_ways(terms, taken):
    assert _is_friction(friction(**terms), 0) == taken


def test_no_joint_is_certain_to_be_without_dry_friction():
    """However Coulomb friction builds up: without the bound its gradual kind was a way to be rid of it."""
    assert {TERMS[k].kind for k in DRY} == {"coulomb", "offset"}
    assert sum(TERMS[k].kind == "coulomb" for k in DRY) == sum(term.kind == "coulomb" for term in TERMS) > 1


@pytest.mark.parametrize(("change", "surprising"), [(3.0, False), (6.0, True)])
def test_terms_that_change_other_motion_far_more_than_they_explain_are_left_out(monkeypatch, change, surprising):
    monkeypatch.setattr(choice, "novel_motion", lambda tracks: None)

    def with_torque(size: float, left: float) -> Any:
        equations = SimpleNamespace(weights=np.ones(2), n=2, samples=np.array([50, 50]))
        torque = size * np.ones((7, 2)) / np.sqrt(2)
        model = SimpleNamespace(torque=lambda along: torque)
        squares = np.full((2, 2), 100 * left / 4)  # of 100 samples
        return SimpleNamespace(equations=equations, rows=SimpleNamespace(tracks=()), model=model, squares=squares)

    assert _surprises(with_torque(0.0, 2.0), with_torque(change, 1.0)) == surprising


def test_a_delay_between_two_steps(two, make_log):
    late = 9  # samples of 5 ms: halfway between 40 and 50 ms
    log = make_log(two, noise=0.02, base=0.2)
    fit = identify(two, replace(log, t=log.t[late:], q=log.q[late:], tau=log.tau[:-late]))
    assert any("torques +45 ms later" in note for note in fit.notes)
