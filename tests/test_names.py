"""Earlier names work, with a warning that gives the current one."""

from __future__ import annotations

import importlib
import inspect
from operator import attrgetter

import pytest

import armdyn
from armdyn.exports import public_names
from armdyn.names import HintedAttributes, renamed_keywords, tables

RENAMED = tables()["renamed"]


class Excitation(HintedAttributes):
    constraints = ("floor",)


@renamed_keywords
def excite(*, prior_logs: int = 0) -> int:
    """Return its keyword."""
    return prior_logs


def test_an_attribute_answers_by_its_earlier_name() -> None:
    with pytest.warns(DeprecationWarning, match=r"Excitation\.kept is now called constraints"):
        assert Excitation().kept == ("floor",)  # type: ignore[attr-defined]


def test_a_keyword_is_taken_by_its_earlier_name() -> None:
    with pytest.warns(DeprecationWarning, match=r"excite\.given is now called prior_logs"):
        assert excite(given=3) == 3  # type: ignore[call-arg]


def test_unknown_names_stay_errors() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'kep'"):
        Excitation().kep  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="unexpected keyword argument 'giv'"):
        excite(giv=3)  # type: ignore[call-arg]


@pytest.mark.parametrize("key", sorted(RENAMED))
def test_what_replaces_a_name_exists(key: str) -> None:
    owner, _, old = key.rpartition(".")
    current = RENAMED[key]
    if owner == "armdyn":
        assert old not in public_names(armdyn)
        with pytest.warns(DeprecationWarning, match=current):
            assert getattr(armdyn, old) is getattr(armdyn, current)
    elif "." not in owner and owner[0].isupper():
        names = dir(_class(owner)) + list(_class(owner).__dataclass_fields__)
        assert current in names
        assert old not in names
    else:
        assert current in inspect.signature(attrgetter(owner)(armdyn)).parameters


def _class(name: str) -> type:
    value = getattr(armdyn, name, None) or getattr(importlib.import_module(PLACES[name]), name)
    assert issubclass(value, HintedAttributes)
    return value


PLACES = {
    "Significance": "armdyn.identification.estimators.significance",
    "ExcitationProblem": "armdyn.trajectory.excitation.problem",
}
