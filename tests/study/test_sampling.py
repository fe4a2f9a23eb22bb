"""Samples: where they lie, how evenly, and that a seed repeats them."""

from __future__ import annotations

import numpy as np
import pytest

from armdyn.study.sampling import Distribution, ParameterSamples

UNIT = {"a": Distribution(low=0.0, high=1.0), "b": Distribution(kind="log-uniform", low=0.1, high=10.0)}


def test_a_grid_is_the_product_of_its_axes():
    laws = {"a": Distribution(values=(1.0, 2.0)), "b": Distribution(low=0.0, high=1.0, count=3)}
    table = ParameterSamples("grid", 6, 0, laws).table()
    np.testing.assert_array_equal(table, [[1, 0], [1, 0.5], [1, 1], [2, 0], [2, 0.5], [2, 1]])


def test_a_latin_hypercube_has_one_sample_in_every_slice():
    table = ParameterSamples("latin", 50, 1, UNIT).table()
    slices = np.sort((table[:, 0] * 50).astype(int))
    np.testing.assert_array_equal(slices, np.arange(50))
    slices = np.sort((np.log10(table[:, 1] / 0.1) / 2 * 50).astype(int))
    np.testing.assert_array_equal(slices, np.arange(50))


def test_a_sobol_sequence_is_balanced():
    table = ParameterSamples("sobol", 64, 1, UNIT).table()
    counts = np.histogram2d(table[:, 0], np.log10(table[:, 1]), 8, [[0, 1], [-1, 1]])[0]
    np.testing.assert_array_equal(counts, 1)  # a scrambled (0, 6, 2)-net


@pytest.mark.parametrize("method", ["latin", "sobol"])
def test_seeds_repeat(method):
    one, same, other = (ParameterSamples(method, 100, seed, UNIT).table() for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_normal_values_and_lists():
    u = (np.arange(10000) + 0.5) / 10000
    x = Distribution(kind="normal", low=3.0, high=0.5).at(u)
    assert x.mean() == pytest.approx(3.0, abs=1e-9)
    assert x.std() == pytest.approx(0.5, rel=2e-3)  # the tails beyond four sigmas are cut
    values = Distribution(values=(1.0, 5.0, 9.0)).at(u)
    assert [int((values == v).sum()) for v in (1.0, 5.0, 9.0)] == [3333, 3334, 3333]


def test_no_parameters_make_one_sample():
    assert ParameterSamples("grid", 1, 0, {}).table().shape == (1, 0)
