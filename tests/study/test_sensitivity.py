"""Shares of variance where they are known exactly."""

from __future__ import annotations

import numpy as np
import pytest

from armdyn.study.sensitivity import bins, shares

RNG = np.random.default_rng(0)
N = 20_000
X = {name: RNG.uniform(size=N) for name in "abc"}


def test_shares_of_a_sum():
    """y = 2 a + b has shares 4/5 and 1/5; ranks change these by a few hundredths."""
    found = shares(X, 2 * X["a"] + X["b"])
    assert [item.factor for item in found] == ["a", "b", "c"]
    assert found[0].share == pytest.approx(0.8, abs=0.03)
    assert found[1].share == pytest.approx(0.2, abs=0.03)
    assert found[2].share < 0.005


def test_a_parabola_matters_though_it_has_no_trend():
    top = shares(X, (X["b"] - 0.5) ** 2)[0]
    assert top.factor == "b"
    assert top.share > 0.95
    assert abs(top.trend) < 0.03


def test_the_trend_has_a_sign():
    found = {item.factor: item.trend for item in shares(X, -X["a"])}
    assert found["a"] == pytest.approx(-1.0)


def test_noise_has_no_share_even_with_few_cases():
    few = {name: x[:60] for name, x in X.items()}
    assert np.mean([shares(few, RNG.normal(size=60))[0].share for _ in range(40)]) < 0.08


def test_words_and_infinite_values():
    words = np.where(X["a"] > 0.5, "good", "bad").astype(object)
    y = np.where(words == "bad", np.inf, X["b"])
    found = {item.factor: item for item in shares({"word": words, "b": X["b"]}, y)}
    assert found["word"].share > 0.7
    assert np.isnan(found["word"].trend)


def test_constant_factors_are_left_out():
    assert shares({"a": np.ones(N)}, X["b"]) == []


def test_bins_hold_equally_many():
    assert np.ptp(np.bincount(bins(X["a"]))) <= 1
    assert bins(np.array(["x", "y", "z"] * 3, object)).max() == 2
