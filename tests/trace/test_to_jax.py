"""Traced functions under JAX: the numbers of the function itself, exact derivatives, and what is rejected in words."""

import re
import subprocess
import sys

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError, ShapeError
from armdyn.trace import backend
from armdyn.trace.to_jax import adjoint

jax = pytest.importorskip("jax")
jnp = jax.numpy
ARM = armdyn.arms.planar2()


@pytest.fixture(autouse=True)
def doubles():
    with jax.enable_x64(True):
        yield


@pytest.fixture
def states(rng):
    return rng.normal(size=(3, 5, ARM.n))


@pytest.fixture
def rng():
    return np.random.default_rng(7)


NAMES = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "regressor", "forward_kinematics", "kinetic_energy")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.by_day(3)
def test_it_is_the_function(name, states):
    function = getattr(armdyn, name)
    given = states[: len(function.traced.required)]
    call = armdyn.to_jax(function, ARM)
    want = function(ARM, *given)
    for got in (call(*given), jax.jit(call)(*given), jax.vmap(call)(*given)):
        np.testing.assert_array_equal(got, want)  # the same machine code
    np.testing.assert_array_equal(call(*(x[0] for x in given)), function(ARM, *(x[0] for x in given)))


def test_a_seven_joint_arm_in_a_large_batch(rng):
    arm = armdyn.arms.panda()
    states = rng.normal(size=(3, 1001, 7))
    got = jax.jit(armdyn.to_jax(armdyn.inverse_dynamics, arm))(*states)
    np.testing.assert_array_equal(got, armdyn.inverse_dynamics(arm, *states))


def test_leading_axes_broadcast_and_nest(states):
    q, qd, qdd = states
    call = armdyn.to_jax(armdyn.inverse_dynamics, ARM)
    want = armdyn.inverse_dynamics(ARM, q[:, None], qd[None], qdd[0])
    np.testing.assert_array_equal(call(q[:, None], qd[None], qdd[0]), want)
    nested = jax.vmap(jax.vmap(call, (None, 0, None)), (0, None, None))
    np.testing.assert_array_equal(nested(q, qd, qdd[0]), want)
    assert call(q[:0], qd[:0], qdd[:0]).shape == (0, ARM.n)


def test_several_results(states):
    q, qd, tau = states
    want = armdyn.acceleration_derivatives(ARM, q, qd, tau)
    got = armdyn.to_jax(armdyn.acceleration_derivatives, ARM)(q, qd, tau)
    assert got._fields == want._fields
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)


# -- derivatives ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.by_day(2)
def test_derivatives_are_those_of_differences(name, states):
    from jax.test_util import check_grads

    function = getattr(armdyn, name)
    given = tuple(jnp.asarray(x[0]) for x in states[: len(function.traced.required)])
    # JAX's own tolerances for doubles; the second order is the derivative's derivative, from the same text again.
    check_grads(armdyn.to_jax(function, ARM), given, order=2, modes=["rev"])


def test_the_jacobian_is_the_one_of_armdyn(states):
    q, qd, qdd = (x[0] for x in states)
    call = armdyn.to_jax(armdyn.inverse_dynamics, ARM)
    want = armdyn.torque_derivatives(ARM, q, qd, qdd)
    got = jax.jacrev(call, argnums=(0, 1))(q, qd, qdd)
    np.testing.assert_allclose(got[0], want.K, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(got[1], want.C, rtol=1e-12, atol=1e-12)


def test_the_derivative_by_theta_is_the_regressor(states):
    q, qd, qdd = states
    call = armdyn.to_jax(armdyn.inverse_dynamics, ARM)
    weights = jnp.arange(1.0, 11.0).reshape(5, 2)
    got = jax.grad(lambda theta: (weights * call(q, qd, qdd, theta=theta)).sum())(jnp.asarray(ARM.theta))
    want = np.einsum("kij,ki->j", armdyn.regressor(ARM, q, qd, qdd), weights)
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
    by_sample = jax.vmap(jax.grad(lambda th, *x: call(*x, theta=th).sum()), (None, 0, 0, 0))(ARM.theta, q, qd, qdd)
    np.testing.assert_allclose(by_sample, armdyn.regressor(ARM, q, qd, qdd).sum(-2), rtol=1e-12, atol=1e-12)


def test_batches_of_theta(states):
    q, qd, qdd = (x[0] for x in states)
    thetas = np.array(ARM.theta) * np.linspace(0.5, 2.0, 4)[:, None]
    call = armdyn.to_jax(armdyn.inverse_dynamics, ARM)
    want = armdyn.inverse_dynamics(ARM, q, qd, qdd, theta=thetas)
    got = jax.vmap(lambda th: call(q, qd, qdd, theta=th))(jnp.asarray(thetas))
    np.testing.assert_allclose(got, want, rtol=1e-14, atol=1e-14)


def test_only_what_is_asked_for_is_differentiated(states):
    q, qd, qdd = (x[0] for x in states)
    text = str(jax.make_jaxpr(jax.grad(lambda q: armdyn.to_jax(armdyn.inverse_dynamics, ARM)(q, qd, qdd).sum()))(q))
    results = [line.split("=")[0].split() for line in text.splitlines() if "ffi_call[" in line]
    assert all(len(result) == 1 for result in results)
    assert len(results) == 2  # the value and one derivative


def test_through_a_scan_as_by_differences():
    call = armdyn.to_jax(armdyn.forward_dynamics, ARM)

    def end(tau):
        def step(state, _):
            q, qd = state
            qd = qd + 1e-2 * call(q, qd, tau)
            return (q + 1e-2 * qd, qd), None

        (q, _), _ = jax.lax.scan(step, (jnp.ones(2), jnp.zeros(2)), None, length=50)
        return q @ jnp.array([1.0, 2.0])

    tau, h = jnp.array([0.3, -0.2]), 1e-5
    got = jax.jit(jax.grad(end))(tau)
    want = [(end(tau + h * e) - end(tau - h * e)) / (2 * h) for e in jnp.eye(2)]
    np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-9)  # h^2 of the differences


def test_the_adjoint_of_a_program_is_its_transposed_jacobian(states):
    traced = armdyn.inverse_dynamics.traced
    program = traced.program(ARM, traced.plain_variant)
    back = adjoint(program, (0, 2), (0,))
    q, qd, qdd = (x[0] for x in states)
    bar = np.array([0.7, -1.3])
    data = [ARM.trace_data(name) for name in traced.bound]
    got = [np.array(y).ravel() for y in back.function.call([q, qd, qdd, *data, bar])]
    want = armdyn.torque_derivatives(ARM, q, qd, qdd)
    np.testing.assert_allclose(got[0], want.K.T @ bar, atol=1e-12)
    np.testing.assert_allclose(got[1], want.M.T @ bar, atol=1e-12)
    assert [port.name for port in back.outputs] == ["bar_q", "bar_qdd"]


# -- precision and bad input ----------------------------------------------------------------------------------


def test_single_precision_outside_is_double_inside(states):
    single = [x.astype(np.float32) for x in states]
    want = armdyn.inverse_dynamics(ARM, *single)  # float32 widened exactly
    with jax.enable_x64(False):
        call = armdyn.to_jax(armdyn.inverse_dynamics, ARM)
        got, slope = call(*single), jax.grad(lambda q: call(q, *single[1:]).sum())(jnp.asarray(single[0]))
        assert got.dtype == slope.dtype == np.float32
        np.testing.assert_array_equal(got, want.astype(np.float32))
    exact = armdyn.torque_derivatives(ARM, *single).K.sum(-2)
    np.testing.assert_allclose(slope, exact, rtol=2e-7, atol=1e-6)  # one rounding to single precision


def test_whole_numbers_are_taken():
    got = armdyn.to_jax(armdyn.gravity_torque, ARM)([0, 1])
    np.testing.assert_array_equal(got, armdyn.gravity_torque(ARM, [0.0, 1.0]))


@pytest.mark.parametrize(
    ("arguments", "error", "parts"),
    [
        ((np.zeros(3), np.zeros(2), np.zeros(2)), ShapeError, {"expected": "q of shape (..., 2)", "got": "(3,)"}),
        (
            (np.zeros((3, 2)), np.zeros((4, 2)), np.zeros(2)),
            ShapeError,
            {"cause": "leading axes do not broadcast: q (3,), qd (4,), qdd ()"},
        ),
        (
            (np.zeros(2, complex), np.zeros(2), np.zeros(2)),
            ShapeError,
            {"expected": "real numbers for q", "got": "complex128"},
        ),
        (("a", np.zeros(2), np.zeros(2)), ShapeError, {"expected": "numbers for q", "got": "'a'"}),
        ((np.zeros(2),), TypeError, {"args": ("inverse_dynamics: missing qd, qdd",)}),
    ],
)
def test_bad_calls_are_answered_in_one_sentence(arguments, error, parts):
    call = armdyn.to_jax(armdyn.inverse_dynamics, ARM)
    with raises(error, **parts):
        call(*arguments)


def test_what_cannot_be_made_is_said():
    with raises(ArmdynError, expected="a traced function such as armdyn.inverse_dynamics", got="sin"):
        armdyn.to_jax(np.sin, ARM)
    with raises(ArmdynError, names=("speed",)):
        armdyn.to_jax(armdyn.inverse_dynamics, ARM, speed=1)
    with (
        backend.using("virtual"),
        raises(ArmdynError, cause="needs native kernels, which are unavailable or switched off here (ARMDYN_BACKEND)"),
    ):
        armdyn.to_jax(armdyn.inverse_dynamics, ARM)


def test_forward_mode_is_rejected(states):
    q, qd, qdd = (x[0] for x in states)
    call = armdyn.to_jax(armdyn.inverse_dynamics, ARM)
    with pytest.raises(TypeError, match="forward-mode"):
        jax.jvp(lambda q: call(q, qd, qdd), (q,), (q,))


def test_without_jax_the_remedy_is_named():
    code = (
        "import sys; sys.modules['jax'] = None\nimport armdyn\n"
        "try: armdyn.to_jax(armdyn.inverse_dynamics, armdyn.arms.planar2())\nexcept armdyn.ArmdynError as e: print(e)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[jax]'" in done.stdout.partition("install it with pip install '")[2]


def test_a_jax_too_old_is_named(monkeypatch):
    monkeypatch.setattr(jax, "__version_info__", (0, 8, 0))
    with raises(
        ArmdynError,
        cause=re.compile(r"to_jax needs JAX .*\.1 or newer, got .*\.2"),
        remedy=re.compile(r"install it with pip install '.*\[jax\]'"),
    ):
        armdyn.to_jax(armdyn.inverse_dynamics, armdyn.arms.planar2())


def test_frames_of_trees(rng):
    """Options go with the function: poses and Jacobians of the second hand, and their derivative."""
    arm = armdyn.arms.two_arms()
    q = rng.normal(size=(5, arm.n)) * 0.3
    pose = armdyn.to_jax(armdyn.forward_kinematics, arm, frame="right_hand")
    np.testing.assert_array_equal(pose(q), armdyn.forward_kinematics(arm, q, frame="right_hand"))
    slope = jax.jacrev(lambda x: pose(x)[:3, 3])(q[0])
    np.testing.assert_allclose(slope, armdyn.jacobian(arm, q[0], frame="right_hand")[:3], rtol=0, atol=1e-12)
