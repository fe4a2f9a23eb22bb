"""The golden numbers are those of the script that made them."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="module")
def script():
    pytest.importorskip("mpmath", reason="golden numbers are made with mpmath, which sympy brings")
    spec = importlib.util.spec_from_file_location("make_golden", DATA / "make_golden.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_file_has_its_maker(script):
    assert {path.stem for path in (DATA / "golden").glob("*.json")} == set(script.NAMES)


def same(one, two) -> None:
    assert type(one) is type(two)
    if isinstance(one, dict):
        assert one.keys() == two.keys()
        for key in one:
            same(one[key], two[key])
    elif isinstance(one, list) and one and isinstance(one[0], dict):
        for a, b in zip(one, two, strict=True):
            same(a, b)
    elif isinstance(one, list) and (not one or not isinstance(one[0], str)):
        np.testing.assert_allclose(np.array(one, float), np.array(two, float), rtol=1e-14, atol=1e-16)
    else:
        assert one == two


NAMES = (
    *("planar2R", "planar_RP", "general_RPR_sdh", "general_RPR_mdh", "puma560_mdh_akb", "puma560_sdh"),
    *("moving_base_wrench_planar2R", "moving_base_wrench_planar_RP", "moving_base_wrench_general_RPR_sdh"),
    *("regressor_planar2R", "regressor_general_RPR_sdh", "regressor_puma560_mdh_akb"),
    *("kalman_triple_integrator", "base_parameter_counts"),
    *("two_links_with_a_bar", "puma3_regressor", "turning_and_sliding_members"),
)
QUICK = (
    *("planar2R", "regressor_planar2R", "regressor_general_RPR_sdh"),
    *("kalman_triple_integrator", "two_links_with_a_bar", "puma3_regressor"),
)


@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in NAMES])
@pytest.mark.by_day(2)
def test_the_script_makes_the_numbers_again(script, golden, name):
    import json

    same(json.loads(json.dumps(script.golden(name))), golden(name))
