"""Online estimators as C: the compiled steps are Python's, and end where the batch estimators do."""

from __future__ import annotations

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError, ShapeError
from armdyn.identification.estimators.data import Data
from armdyn.identification.estimators.least_squares import LeastSquares
from armdyn.identification.estimators.online import KalmanEstimator, Lms, RecursiveLeastSquares
from armdyn.identification.estimators.online_code import OnlineEstimator, belief_step, lms_step, online_code

cc = shutil.which("cc")
needs_compiler = pytest.mark.skipif(cc is None, reason="needs a C compiler")
SAMPLES, P = 300, 10
NOISE = np.array([0.05, 0.02])

ESTIMATORS = {
    "lms": Lms(np.linspace(0.01, 0.02, P)),
    "most stable": Lms(np.linspace(0.02, 0.04, P), most_stable=True),
    "recursive": RecursiveLeastSquares(forgetting=0.999, start=10.0),
    "kalman": KalmanEstimator(NOISE, prior=np.full(P, 0.1), covariance=np.eye(P), drift=1e-4),
    "correlated": KalmanEstimator([[0.02, 0.01], [0.01, 0.04]], covariance=np.eye(P)),
}


@pytest.fixture(scope="module")
def base():
    return armdyn.base_parameters(armdyn.arms.planar2(), joint_terms=("viscous", "coulomb"))


@pytest.fixture(scope="module")
def samples(base):
    """Motion, torques with noise, and the true parameters."""
    rng = np.random.default_rng(3)
    q, qd, qdd = rng.uniform(-2, 2, (3, SAMPLES, 2))
    truth = base.project(np.concatenate([base.source.theta, rng.uniform(0.2, 1.0, 4)]))
    tau = base.regressor(q, qd, qdd) @ truth + NOISE * rng.normal(size=(SAMPLES, 2))
    return (q, qd, qdd, tau), truth


def in_python(estimator, base, motion):
    q, qd, qdd, tau = motion
    state = estimator.init(base.count)
    for Y, measured in zip(base.regressor(q, qd, qdd), tau, strict=True):
        state = estimator.step(state, Y, measured)
    return [state] if isinstance(estimator, Lms) else list(state)


def in_c(code, prefix, kind, sizes, motion, folder):
    """The state after all samples, written over itself at each."""
    library = folder / f"{prefix}.so"
    command = [cc, "-std=c99", "-O2", "-fPIC", "-shared", str(code.source), "-lm", "-o", str(library)]
    subprocess.run(command, check=True)
    compiled = ctypes.CDLL(str(library))
    state = [np.full(size, np.nan) for size in sizes]
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in state]
    getattr(compiled, f"{prefix}_{kind}_start")(*pointers)
    for sample in zip(*motion, strict=True):
        rows = [np.ascontiguousarray(x) for x in sample]
        inputs = [ctypes.c_void_p(x.ctypes.data) for x in rows]
        getattr(compiled, f"{prefix}_{kind}_step")(*pointers, *inputs, *pointers)
    return state


@needs_compiler
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.by_day(2)
def test_compiled_steps_are_pythons(tmp_path, base, samples, name):
    estimator, (motion, _) = ESTIMATORS[name], samples
    code = online_code(estimator, base, tmp_path, prefix="online")
    kind = "lms" if isinstance(estimator, Lms) else "belief"
    wanted = in_python(estimator, base, motion)
    found = in_c(code, "online", kind, [x.size for x in wanted], motion, tmp_path)
    for mine, compiled in zip(wanted, found, strict=True):
        # Round-off of 300 samples; the scale is that of the parameters.
        np.testing.assert_allclose(compiled, mine.ravel(), rtol=1e-12, atol=1e-12)
    program = tmp_path / "selftest"
    subprocess.run([cc, "-std=c99", "-O2", str(code.selftest), str(code.source), "-lm", "-o", str(program)], check=True)
    assert subprocess.run([str(program)], capture_output=True).returncode == 0


@needs_compiler
@pytest.mark.slow
def test_the_most_stable_mode_of_three_joints(tmp_path):
    """Jacobi's rotations without branches find LAPACK's eigenvectors."""
    base = armdyn.base_parameters(armdyn.arms.puma3())
    estimator = Lms(0.02 / (1 + np.arange(base.count)), most_stable=True)
    rng = np.random.default_rng(5)
    q, qd, qdd = rng.uniform(-2, 2, (3, 20, 3))
    motion = (q, qd, qdd, base.regressor(q, qd, qdd) @ base.theta)
    code = online_code(estimator, base, tmp_path, prefix="online")
    (wanted,) = in_python(estimator, base, motion)
    (found,) = in_c(code, "online", "lms", [base.count], motion, tmp_path)
    # Eigenvectors are as exact as their eigenvalues are apart.
    np.testing.assert_allclose(found, wanted, atol=1e-9 * np.abs(wanted).max())


def test_one_division_an_equation(tmp_path):
    """Of a covariance's update, however large: the rest is products with the inverse."""
    base = armdyn.base_parameters(armdyn.arms.puma3(), joint_terms=("viscous", "coulomb"))
    code = online_code(RecursiveLeastSquares(forgetting=0.99), base, tmp_path)
    assert code.total.divisions == 3
    p = base.count
    # The products P y, those of half of Py Py', and its scaling: three equations, and forgetting.
    assert code.multiplications < 3 * (2 * p * p + 6 * p) + p * p


def test_numbers_and_symbols_share_a_text(base, samples):
    q, qd, qdd, tau = (x[0] for x in samples[0])
    Y = base.regressor(q, qd, qdd)
    lms, kalman = (OnlineEstimator(ESTIMATORS[name], base) for name in ("lms", "correlated"))
    x = np.linspace(-1, 1, P)
    np.testing.assert_allclose(lms_step(lms, x, q, qd, qdd, tau), ESTIMATORS["lms"].step(x, Y, tau), atol=1e-13)
    state = ESTIMATORS["correlated"].init(P)._replace(x=x)
    found, wanted = belief_step(kalman, *state, q, qd, qdd, tau), ESTIMATORS["correlated"].step(state, Y, tau)
    np.testing.assert_allclose(found.x, wanted.x, atol=1e-13)
    np.testing.assert_allclose(found.P, wanted.P, atol=1e-13)


def test_they_end_where_batch_estimators_do(base, samples):
    """Without forgetting or drift and with a vague prior, the last state is weighted least squares."""
    (q, qd, qdd, tau), truth = samples
    data = Data(base.regressor(q, qd, qdd), tau)
    kalman = KalmanEstimator(NOISE, covariance=1e8 * np.eye(base.count)).fit(data)
    Y, torques = data.weighted(1 / NOISE)
    np.testing.assert_allclose(kalman.x, np.linalg.lstsq(Y, torques, rcond=None)[0], atol=1e-6)
    np.testing.assert_allclose(kalman.std, np.sqrt(np.diag(np.linalg.inv(Y.T @ Y))), rtol=1e-5)
    recursive = RecursiveLeastSquares(start=1e8).fit(data)
    np.testing.assert_allclose(recursive.x, LeastSquares(weigh=False).fit(data).x, atol=1e-6)
    assert np.all(np.abs(kalman.x - truth) < 5 * kalman.std)


def test_refusals(tmp_path, base):
    with raises(ArmdynError, expected="Lms, RecursiveLeastSquares or KalmanEstimator", got="'rls'"):
        online_code("rls", base, tmp_path)
    with raises(ShapeError, expected="gain of shape (10,) for 10 parameters of arm 'planar2'", got="(2,)"):
        online_code(Lms([0.1, 0.2]), base, tmp_path)
    assert not list(tmp_path.iterdir())
