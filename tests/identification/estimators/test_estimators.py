"""Estimators on equations whose solution is known."""

from __future__ import annotations

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError, ShapeError
from armdyn.identification.estimators.data import Data
from armdyn.identification.estimators.drive_gain import drive_gains
from armdyn.identification.estimators.errors_in_variables import InstrumentalVariables, TotalLeastSquares
from armdyn.identification.estimators.least_squares import LeastSquares, Reweighted
from armdyn.identification.estimators.online import (
    KalmanEstimator,
    Lms,
    RecursiveLeastSquares,
    expected_bias,
    singular_value_shift,
)
from armdyn.identification.estimators.ridge import Ridge
from armdyn.identification.estimators.significance import Significance, perturbation_bound, sensitivities

SIGMA = np.array([0.02, 0.2])


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    Y, x = rng.normal(size=(800, 2, 5)), np.array([1.0, -2.0, 0.5, 3.0, 0.0])
    return Y, x, Y @ x + SIGMA * rng.normal(size=(800, 2))


ALL = [
    LeastSquares(),
    LeastSquares(weigh=False),
    Reweighted(),
    Ridge(np.zeros(5), 1e6 * np.ones(5)),
    Significance(),
    TotalLeastSquares(),
    Lms(0.01),
    RecursiveLeastSquares(),
    KalmanEstimator(SIGMA),
]


@pytest.mark.parametrize("estimator", ALL, ids=lambda e: type(e).__name__)
def test_all_find_the_truth(problem, estimator):
    Y, x, tau = problem
    found = estimator.fit(Data(Y, tau))
    np.testing.assert_allclose(found.x, x, atol=0.06)
    assert found.rank == 5


def test_weights_pay(problem):
    Y, _, tau = problem
    weighted, plain = (LeastSquares(weigh=w).fit(Data(Y, tau)) for w in (True, False))
    assert np.all(weighted.std < plain.std / 4)
    np.testing.assert_allclose(1 / np.asarray(weighted.weights), SIGMA, rtol=0.1)


def test_deviations_are_those_of_repeated_noise(problem):
    Y, x, _ = problem
    rng = np.random.default_rng(1)
    runs = [LeastSquares().fit(Data(Y, Y @ x + SIGMA * rng.normal(size=(800, 2)))) for _ in range(200)]
    np.testing.assert_allclose(np.std([r.x for r in runs], axis=0), runs[0].std, rtol=0.2)


def test_recursive_and_kalman_equal_batch(problem):
    Y, _, tau = problem
    batch = LeastSquares(weigh=False).fit(Data(Y, tau)).x
    np.testing.assert_allclose(RecursiveLeastSquares(start=1e10).fit(Data(Y, tau)).x, batch, atol=1e-6)
    same = KalmanEstimator(np.ones(2), covariance=1e10 * np.eye(5)).fit(Data(Y, tau)).x
    np.testing.assert_allclose(same, batch, atol=1e-6)


def test_forgetting_follows_a_change(problem):
    Y, x, _ = problem
    moved = np.where(np.arange(800)[:, None] < 400, Y @ x, Y @ (x + 1))
    np.testing.assert_allclose(RecursiveLeastSquares(forgetting=0.97).fit(Data(Y, moved)).x, x + 1, atol=1e-3)


def test_outliers(problem):
    Y, x, tau = problem
    rng = np.random.default_rng(2)
    hit = rng.random(tau.shape) < 0.1
    spoiled = Data(Y, np.where(hit, tau + 20 * rng.random(tau.shape), tau))
    robust, plain = (np.abs(e.fit(spoiled).x - x).max() for e in (Reweighted(), LeastSquares()))
    assert robust < 0.1 * plain
    weights = np.asarray(Reweighted().fit(spoiled).weights)
    assert weights[hit].mean() < 0.3 * weights[~hit].mean()


def test_ridge_moves_to_its_prior_along_a_curve(problem):
    Y, _, tau = problem
    prior = np.ones(5)
    curve = Ridge(prior, np.ones(5)).curve(Data(Y, tau), 10.0 ** np.arange(-2, 10))
    assert np.all(np.diff(curve.distances) < 0)
    assert np.all(np.diff(curve.residuals) > 0)
    np.testing.assert_allclose(Ridge(prior, np.ones(5), 1e12).fit(Data(Y, tau)).x, prior, atol=1e-3)


def test_ridge_needs_square_roots_of_covariances():
    # Kapadia (4.2) corrected: with the true statistics the Bayes estimate beats any other weighting.
    rng = np.random.default_rng(3)
    C, sigma = np.diag([4.0, 0.01]), 0.5
    errors = {"right": [], "printed": []}
    for _ in range(300):
        x = rng.multivariate_normal([0, 0], C)
        Y = rng.normal(size=(3, 1, 2))
        data = Data(Y, Y @ x + sigma * rng.normal(size=(3, 1)))
        rows, tau = Y[:, 0] / sigma, data.tau[:, 0] / sigma
        for name, precision in (("right", np.linalg.inv(C)), ("printed", C @ C)):
            errors[name].append(np.linalg.solve(rows.T @ rows + precision, rows.T @ tau) - x)
    assert np.mean(np.square(errors["right"])) < 0.5 * np.mean(np.square(errors["printed"]))


def nearly_double(Y):
    """One more column, all but equal to the first."""
    return np.concatenate([Y, Y[..., :1] + 1e-6 * np.random.default_rng(9).normal(size=(*Y.shape[:2], 1))], axis=2)


class TestSignificance:
    def test_deletes_what_does_not_matter(self, problem):
        Y, _, tau = problem
        kept = Significance(sensitivity=0.05).selected(Data(Y, tau))
        np.testing.assert_array_equal(kept, [0, 1, 2, 3])
        assert sensitivities(Data(Y, tau)).argmax() == 3

    def test_scaling_by_torque_sensitivities(self, problem):
        """Kapadia 4.3: it improves the condition, deletes insensitive columns, and changes no estimate by itself."""
        Y, x, tau = problem
        units = np.array([1.0, 1e3, 1.0, 1e-3, 10.0])  # columns of quite different size
        data = Data(Y * units, tau)
        plain, scaled = LeastSquares(weigh=False).fit(data), Significance(scaling="torque").fit(data)
        np.testing.assert_allclose(scaled.x, x / units, atol=0.02 / units.min(), rtol=0.1)
        np.testing.assert_allclose(scaled.x, LeastSquares().fit(data).x, rtol=1e-6)
        assert scaled.condition < 1e-3 * plain.condition
        wanted = sensitivities(Data(Y, tau))
        kept = Significance(sensitivity=0.1, scaling="torque").selected(Data(Y, tau))
        np.testing.assert_array_equal(kept, np.flatnonzero(wanted > 0.1 * wanted.max()))
        with raises(ArmdynError, expected="scaling 'length' or 'torque'", got="'mass'"):
            Significance(scaling="mass")

    def test_near_dependencies_go(self, problem):
        Y, _, tau = problem
        twin = nearly_double(Y)
        plain, careful = LeastSquares().fit(Data(twin, tau)), Significance(condition=100).fit(Data(twin, tau))
        assert plain.condition > 1e5
        assert careful.condition < 100
        assert np.count_nonzero(careful.x) == 5
        np.testing.assert_allclose(careful.rms, plain.rms, rtol=0.01)

    def test_weakest_direction(self, problem):
        Y, _, tau = problem
        twin = nearly_double(Y)
        found = Significance(weakest=1).fit(Data(twin, tau))
        assert np.abs(found.x).max() < 5
        assert np.abs(LeastSquares().fit(Data(twin, tau)).x).max() > 20

    def test_bound_holds(self, problem):
        Y, x, tau = problem
        rng = np.random.default_rng(4)
        for _ in range(20):
            dY = 0.05 * rng.normal(size=Y.shape)
            found = LeastSquares(weigh=False).fit(Data(Y + dY, tau))
            error = np.linalg.norm(dY.reshape(-1, 5), 2)
            bound = perturbation_bound(Data(Y + dY, tau), found.x, error, np.linalg.norm(tau - Y @ x))
            assert np.linalg.norm(found.x - x) <= bound.error
        assert perturbation_bound(Data(Y, tau), x, 1e9, 0.0).error == np.inf


class TestNoisyRegressors:
    def test_total_least_squares_has_no_bias(self):
        rng = np.random.default_rng(5)
        Y, x = rng.normal(size=(20000, 1, 3)), np.array([1.0, 2.0, -1.0])
        noisy = Y + 0.5 * rng.normal(size=Y.shape) * [1, 1, 0]
        data = Data(noisy, Y @ x + 0.5 * rng.normal(size=(20000, 1)))
        assert np.abs(LeastSquares().fit(data).x - x).max() > 0.2
        # Deviations of the columns in units of the torque's, exact for the third.
        np.testing.assert_allclose(TotalLeastSquares([1.0, 1.0, 0.0]).fit(data).x, x, atol=0.05)

    def test_instruments_have_no_bias(self):
        rng = np.random.default_rng(6)
        Y, x = rng.normal(size=(20000, 1, 3)), np.array([1.0, 2.0, -1.0])
        data = Data(Y + 0.5 * rng.normal(size=Y.shape), Y @ x + 0.5 * rng.normal(size=(20000, 1)))
        found = InstrumentalVariables(lambda _: Y).fit(data)
        assert np.all(np.abs(found.x - x) < 4 * found.std)
        np.testing.assert_allclose(found.x, x, atol=0.04)

    def test_expected_bias_is_that_of_monte_carlo(self):
        # Kapadia (5.2) with 1/K; regressor noise and unmodelled torque together.
        rng = np.random.default_rng(7)
        Y, x, s = rng.normal(size=(2000, 1, 2)), np.array([1.0, -2.0]), 0.3
        unmodelled = 0.2 * np.tanh(Y @ [1.0, 1.0])
        runs = [
            LeastSquares(weigh=False).fit(Data(Y + s * rng.normal(size=Y.shape), Y @ x + unmodelled)).x
            for _ in range(200)
        ]
        wanted = expected_bias(Data(Y, Y @ x), x, s**2 * np.eye(2), unmodelled)
        np.testing.assert_allclose(np.mean(runs, axis=0) - x, wanted, atol=5e-3)

    @pytest.mark.parametrize("drift", [0.0, 0.02])
    @pytest.mark.by_day(1)
    def test_expected_bias_of_minimum_variance(self, drift):
        """Kapadia 8.2: correlated torque noise, a wrong prior, noisy regressors and unmodelled torque together."""
        rng = np.random.default_rng(10)
        Y, x = rng.normal(size=(300, 2, 3)), np.array([1.0, -2.0, 0.5])
        N = np.array([[0.09, 0.03], [0.03, 0.25]])
        root, s = np.linalg.cholesky(N), np.array([0.3, 0.2, 0.0])
        unmodelled = 0.3 * np.tanh(Y @ [1.0, 0.0, 1.0])
        kalman = KalmanEstimator(N, prior=np.zeros(3), covariance=0.01 * np.eye(3), drift=drift)
        runs = np.array(
            [
                kalman.fit(
                    Data(Y + s * rng.normal(size=Y.shape), Y @ x + unmodelled + rng.normal(size=(300, 2)) @ root.T)
                ).x
                for _ in range(100)
            ]
        )
        # Errors of joints' rows are independent: the mean of dY' N^-1 dY is diagonal.
        C = np.trace(np.linalg.inv(N)) * np.diag(s**2)
        wanted = kalman.expected_bias(Data(Y, Y @ x), x, C, unmodelled)
        found, sigma = runs.mean(axis=0) - x, runs.std(axis=0) / np.sqrt(len(runs))
        assert np.abs(wanted).max() > 0.1
        # Its derivation has means of products for products of means: right to a few percent of itself.
        assert np.all(np.abs(found - wanted) < 4 * sigma + 0.05 * np.abs(wanted).max())

    def test_without_noise_in_regressors_the_bias_is_exact(self):
        rng = np.random.default_rng(11)
        Y, x = rng.normal(size=(50, 2, 3)), np.array([1.0, -2.0, 0.5])
        unmodelled = np.cos(Y[..., 0])
        kalman = KalmanEstimator([0.2, 0.5], prior=np.ones(3), covariance=np.eye(3), drift=0.1)
        found = kalman.fit(Data(Y, Y @ x + unmodelled)).x - x
        np.testing.assert_allclose(
            kalman.expected_bias(Data(Y, Y @ x), x, np.zeros((3, 3)), unmodelled), found, atol=1e-12
        )


class TestLms:
    def test_convergence_is_as_fast_as_predicted(self, problem):
        Y, x, _ = problem
        lms = Lms(2e-3)
        facts = lms.facts(Data(Y, Y @ x))
        assert facts.stable
        errors, estimate = [], lms.init(5)
        for k in range(800):
            estimate = lms.step(estimate, Y[k], Y[k] @ x)
            errors.append(np.linalg.norm(estimate - x))
        rate = -np.polyfit(np.arange(200, 800), np.log(errors[200:]), 1)[0]
        # The slowest mode governs (5.6).
        assert 1 / rate == pytest.approx(facts.time_constant, rel=0.3)

    def test_slow_adaptation(self, problem):
        data = Data(problem[0], problem[2])
        largest = np.linalg.norm(Lms(1.0).facts(data).correlation, 2)
        assert Lms(0.9 / (800 * largest)).facts(data).slow
        assert not Lms(1.1 / (800 * largest)).facts(data).slow

    def test_lms_has_the_expected_bias(self):
        """Kapadia (5.2), corrected, for the estimator of chapter 5 itself: many slow steps end there."""
        rng = np.random.default_rng(12)
        Y, x, s = rng.normal(size=(20000, 1, 2)), np.array([1.0, -2.0]), 0.4
        unmodelled = 0.2 * np.tanh(Y @ [1.0, 1.0])
        found = Lms(1e-3).fit(Data(Y + s * rng.normal(size=Y.shape), Y @ x + unmodelled)).x - x
        wanted = expected_bias(Data(Y, Y @ x), x, s**2 * np.eye(2), unmodelled)
        # The noise of a gain of 1e-3: sqrt(gain / 2) of the residuals' 0.9.
        np.testing.assert_allclose(found, wanted, atol=3 * 0.9 * np.sqrt(5e-4))
        assert np.abs(wanted).max() > 0.2

    def test_singular_values_shift_less_than_bounded(self):
        rng = np.random.default_rng(13)
        planned = Data(rng.normal(size=(50, 2, 4)) * [3.0, 2.0, 1.0, 0.1], np.zeros((50, 2)))
        printed_fails = False
        for size in (0.01, 0.1, 0.5):
            tracked = Data(planned.Y * (1 + size * rng.normal()) + size * rng.normal(size=planned.Y.shape), planned.tau)
            values = [np.linalg.svd(d.Y.reshape(-1, 4), compute_uv=False) ** 2 / 50 for d in (planned, tracked)]
            bound = singular_value_shift(planned, tracked)
            assert np.all(np.abs(np.sqrt(values[0]) - np.sqrt(values[1])) <= bound)
            printed_fails |= bool(np.any(np.abs(values[0] - values[1]) > bound**2))
        assert printed_fails

    def test_the_most_stable_mode_is_an_eigenvector(self, problem):
        Y, x, _ = problem
        lms = Lms(np.array([0.05, 0.1, 0.02, 0.05, 0.01]), most_stable=True)
        step = lms.step(np.zeros(5), Y[0], Y[0] @ x)
        values, vectors = np.linalg.eig(np.eye(5) - np.diag(lms.gain) @ Y[0].T @ Y[0])
        mode = np.real(vectors[:, np.argmin(np.abs(values))])
        assert abs(step @ mode) == pytest.approx(np.linalg.norm(step) * np.linalg.norm(mode), rel=1e-9)

    def test_too_large_a_gain_is_called_unstable(self, problem):
        Y, _, tau = problem
        assert not Lms(1.0).facts(Data(Y, tau)).stable

    def test_most_stable_mode_converges_too(self, problem):
        Y, x, tau = problem
        np.testing.assert_allclose(Lms(0.02, most_stable=True).fit(Data(Y, tau)).x, x, atol=0.1)


def test_drive_gains():
    rng = np.random.default_rng(8)
    arm, gains = armdyn.arms.planar2(), np.array([0.7, 0.25])
    base = armdyn.base_parameters(arm)
    loaded = arm.with_payload(1.5, [0.2, 0.0, 0.0], np.diag([0.0, 0.03, 0.03]))
    states = rng.uniform(-2, 2, (2, 3, 300, 2))
    free, full = (armdyn.inverse_dynamics(a, *s) for a, s in ((arm, states[0]), (loaded, states[1])))
    # The payload's torque is known up to nothing here: weighed and measured on the bench.
    known = full - armdyn.inverse_dynamics(arm, *states[1])
    empty = np.zeros((300, 2, 0))
    found = drive_gains(
        (base.regressor(*states[0]), free / gains + 1e-3 * rng.normal(size=free.shape)),
        (base.regressor(*states[1]), full / gains + 1e-3 * rng.normal(size=free.shape)),
        (empty, known),
    )
    np.testing.assert_allclose(found.gains, gains, rtol=1e-3)
    np.testing.assert_allclose(found.x, base.theta, atol=1e-2)


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (lambda: Ridge(np.zeros(2), np.ones(2)), {"where": "Ridge prior", "expected": "finite numbers of shape (5,)"}),
        (lambda: Ridge(np.zeros(5), np.ones(5), -1.0), {"where": "Ridge", "expected": "strength >= 0"}),
        (lambda: TotalLeastSquares([1.0, 1.0]), {"expected": "5 deviations >= 0"}),
        (lambda: Lms([0.1, 0.1]), {"where": "Lms gain", "expected": "finite numbers of shape (5,)"}),
        (lambda: RecursiveLeastSquares(start=-1.0), {"expected": "start > 0"}),
        (
            lambda: KalmanEstimator([0.1, 0.1, 0.1]),
            {"where": "KalmanEstimator noise", "expected": "finite numbers of shape (2,)"},
        ),
        (lambda: KalmanEstimator([0.1, 0.0]), {"expected": "noise > 0 in every torque"}),
        (lambda: KalmanEstimator([0.1, 0.1], prior=[1.0, 2.0]), {"where": "KalmanEstimator prior"}),
        (lambda: KalmanEstimator([0.1, 0.1], covariance=np.eye(2)), {"where": "KalmanEstimator covariance"}),
        (
            lambda: InstrumentalVariables(lambda x: np.zeros((800, 2, 3))),
            {"expected": "5 simulated columns", "got": "3"},
        ),
    ],
)
def test_bad_settings_are_told(problem, make, parts):
    with raises(ArmdynError, **parts):
        make().fit(Data(problem[0], problem[2]))


def test_no_torque_at_all(problem):
    for estimator in ALL:
        assert np.abs(estimator.fit(Data(problem[0], 0 * problem[2])).x).max() < 1e-6


def test_bad_data():
    with raises(ShapeError, expected="Y (N, n, p) and tau (N, n)"):
        Data(np.zeros((3, 2)), np.zeros(3))
    with raises(ShapeError, cause="2 equations for 5 parameters"):
        Data(np.zeros((1, 2, 5)), np.zeros((1, 2)))
    with raises(ShapeError, expected="finite numbers"):
        Data(np.full((5, 2, 2), np.nan), np.zeros((5, 2)))
    with raises(ArmdynError, expected="gains >= 0", got="-0.1"):
        Lms(-0.1)
    with raises(ArmdynError, expected="forgetting in (0, 1]", got="0.0"):
        RecursiveLeastSquares(forgetting=0.0)
    with raises(ShapeError, cause="the prior's covariance is not positive definite"):
        Ridge(np.zeros(2), np.zeros(2))
