"""The `@traced` decorator: arguments, variants, symbols, results, a user's own functions."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple

import casadi as ca
import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError, ShapeError
from armdyn.trace import backend
from armdyn.trace.recent import kernels
from armdyn.trace.shapes import Array, DataShape, Scalar, Vector
from armdyn.trace.traced import traced


class Spring:
    """A subject that is no arm: trace knows nothing of robots."""

    name = "coil"

    def __init__(self, size: int, stiffness: float) -> None:
        self.size, self.stiffness = size, stiffness

    @property
    def trace_sizes(self) -> Mapping[str, int]:
        return {"n": self.size}

    @property
    def trace_key(self) -> str:
        return f"spring {self.size}"

    def trace_data(self, name: str) -> np.ndarray:
        return {"k": np.array([self.stiffness])}[name]


Stretch = Annotated[Any, DataShape("n", "Stretch [m].")]


@traced(x="n", rest="n", k="1", returns={"force": "n"})
def force(spring: Spring, x: Any, rest: Any = None, power: int = 1, *, k: Any) -> Any:
    """Force of springs."""
    stretch = x if rest is None else x - rest
    return -k * stretch**power


@traced(x="n", k="1", returns={"energy": "", "gradient": "n", "outer": "n, n"})
def energies(spring: Spring, x: Any, *, k: Any) -> Any:
    """Energy, its gradient, and an outer product."""
    return k / 2 * ca.dot(x, x), k * x, ca.mtimes(x, x.T)


class Energies(NamedTuple):
    """Energy, its gradient, and an outer product."""

    energy: Scalar
    gradient: Vector
    outer: Annotated[Array, "n, n"]


@traced()
def declared_energies(
    spring: Spring, x: Stretch, rest: Stretch | None = None, *, k: Annotated[Any, "1"] = None
) -> Energies:
    """Energy, its gradient, and an outer product.

    Parameters
    ----------
    rest
        Where the force is zero [m].

    Returns
    -------
    energy
        [J]
    """
    stretch = x if rest is None else x - rest
    return Energies(k / 2 * ca.dot(stretch, stretch), k * stretch, ca.mtimes(stretch, stretch.T))


def test_annotations_declare_what_the_decorator_may() -> None:
    old, new = energies.traced, declared_energies.traced
    assert (new.shapes, new.returns) == ({**old.shapes, "rest": "n"}, old.returns)
    assert (new.required, new.optional, new.bound) == (("x",), ("rest",), ("k",))
    spring, x = Spring(3, 2.0), np.array([[1.0, 2, 3], [4, 5, 6]])
    result = declared_energies(spring, x)
    assert type(result) is Energies
    for one, other in zip(result, energies(spring, x), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(declared_energies(spring, x, [1, 1, 1]).gradient, 2 * (x - 1))


def test_documentation_is_completed_from_what_is_declared() -> None:
    assert inspect.getdoc(declared_energies) == (
        """Energy, its gradient, and an outer product.

Parameters
----------
spring : Spring
x : array_like, shape (..., n)
    Stretch [m].
rest : array_like, shape (..., n), optional
    Where the force is zero [m].
k : array_like, shape (..., 1), optional
out : ndarray or tuple of these, optional
    Filled and returned instead of fresh arrays.
threads : int or "auto", optional
    Most threads for large batches; by default the value of ARMDYN_NUM_THREADS, else one.

Returns
-------
energy : ndarray, shape (...)
    [J]
gradient : ndarray, shape (..., n)
outer : ndarray, shape (..., n, n)"""
    )


def test_a_result_without_shapes_is_rejected() -> None:
    with pytest.raises(TypeError, match=r"expected returns=.* or as the return type a NamedTuple"):
        traced()(lambda spring, x: x)


def test_a_formula_over_any_subject() -> None:
    spring, x = Spring(3, 2.0), np.array([[1.0, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(force(spring, x), -2 * x)
    np.testing.assert_array_equal(force(spring, x, [1, 1, 1]), -2 * (x - 1))
    np.testing.assert_array_equal(force(spring, x, power=3), -2 * x**3)
    np.testing.assert_array_equal(force(Spring(3, 5.0), x), -5 * x)  # same kernel, other data
    np.testing.assert_array_equal(force(spring, x, k=[[1.0], [10.0]]), [[-1, -2, -3], [-40, -50, -60]])


def test_several_results_come_as_a_named_tuple() -> None:
    spring, x = Spring(2, 2.0), np.array([3.0, 4.0])
    result = energies(spring, x)
    assert result._fields == ("energy", "gradient", "outer")
    assert result.energy == 25.0
    np.testing.assert_array_equal(result.outer, np.outer(x, x))
    out = energies(spring, np.ones((5, 2)))
    again = energies(spring, np.full((5, 2), 2.0), out=out)
    assert again.gradient is out.gradient
    np.testing.assert_array_equal(out.energy, np.full(5, 8.0))
    with raises(ShapeError, expected="3 arrays in out", got="1"):
        energies(spring, x, out=(np.zeros(2),))


def test_symbols_in_symbols_out() -> None:
    spring = Spring(2, 2.0)
    x, k = ca.SX.sym("x", 2), ca.SX.sym("k")
    f = ca.Function("f", [x, k], [force(spring, x, k=k), force(spring, x), force(spring, x, np.ones(2))])
    values = f([1, 2], 3)
    np.testing.assert_array_equal(np.array(values)[..., 0], [[-3, -6], [-2, -4], [0, -2]])
    assert force(spring, x.T).shape == (2, 1)  # a row will do
    with raises(ShapeError, expected="symbol x of shape (2, 1)", got="(3, 1)"):
        force(spring, ca.SX.sym("x", 3))


def test_mx_embeds_the_function(random_arm: Callable[..., Any]) -> None:
    arm = random_arm("RPR")
    q = ca.MX.sym("q", 3)
    qd, qdd, wrench = np.arange(3.0), np.ones(3), np.arange(6.0)
    tau = armdyn.inverse_dynamics(arm, q, qd, qdd, wrench, (np.ones(3), np.zeros(3), np.ones(3)))
    M = armdyn.mass_matrix(arm, q)
    f = ca.Function("f", [q], [tau, M])
    x = np.array([0.3, -0.2, 0.7])
    got_tau, got_M = (np.array(y) for y in f(x))
    want = armdyn.inverse_dynamics(arm, x, qd, qdd, wrench, (np.ones(3), np.zeros(3), np.ones(3)))
    np.testing.assert_allclose(got_tau[:, 0], want, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(got_M, armdyn.mass_matrix(arm, x), rtol=1e-11, atol=1e-11)


def test_link_poses_of_symbols_is_a_list(random_arm: Callable[..., Any]) -> None:
    arm = random_arm("RPR")
    q = ca.SX.sym("q", 3)
    poses = armdyn.link_poses(arm, q)
    assert [pose.shape for pose in poses] == [(4, 4)] * 3
    f = ca.Function("f", [q], poses)
    x = np.array([0.3, -0.2, 0.7])
    np.testing.assert_allclose(np.array([np.array(p) for p in f(x)]), armdyn.link_poses(arm, x), atol=1e-14)


def test_absent_optional_inputs_are_folded_away(random_arm: Callable[..., Any]) -> None:
    declaration = armdyn.inverse_dynamics.traced
    arm = random_arm("RRR")
    sizes = []
    for present in ((), ("wrench",), ("wrench", "base_motion")):
        variant = declaration.variant(dict.fromkeys((*declaration.required, *present)), {})
        sizes.append(declaration.program(arm, variant).function.n_instructions())
    assert sizes[0] < sizes[1] < sizes[2]


def test_with_theta_payload_and_gravity_never_recompile(random_arm: Callable[..., Any]) -> None:
    arm = random_arm("RPR")
    q = np.ones(3)
    armdyn.inverse_dynamics(arm, q, q, q)
    count = len(kernels)
    for other in (arm.with_theta(arm.theta * 2), arm.with_payload(1.0), arm.with_gravity([1, 2, 3])):
        assert not np.array_equal(armdyn.inverse_dynamics(other, q, q, q), armdyn.inverse_dynamics(arm, q, q, q))
    assert len(kernels) == count


def test_the_public_signature_and_documentation() -> None:
    parameters = inspect.signature(armdyn.inverse_dynamics).parameters
    assert list(parameters) == ["arm", "q", "qd", "qdd", "wrench", "base_motion", "theta", "gravity", "out", "threads"]
    assert parameters["theta"].default is None
    assert "Joint torques" in (inspect.getdoc(armdyn.inverse_dynamics) or "")


def test_wrong_arguments_are_named() -> None:
    spring = Spring(2, 1.0)
    with pytest.raises(TypeError, match="unknown argument 'y'; expected x, rest, power, k"):
        force(spring, [1, 2], y=3)
    with pytest.raises(TypeError, match="missing x"):
        force(spring)
    with pytest.raises(TypeError, match="got 'x' twice"):
        force(spring, [1, 2], x=[1, 2])
    with pytest.raises(TypeError, match="at most 3 arguments"):
        force(spring, 1, 2, 3, 4)
    with raises(ArmdynError, where="force", expected="an arm as the first argument", got="'spring'"):
        force("spring", [1, 2])
    with raises(ArmdynError, expected="a traced function such as armdyn.inverse_dynamics", got="len"):
        armdyn.kernel(len, spring)
    with raises(ArmdynError, cause="force has no option speed; it has power", names=("speed",)):
        armdyn.kernel(force, spring, speed=3)


def test_a_declaration_that_does_not_fit_its_formula_is_rejected() -> None:
    with pytest.raises(TypeError, match="do not match"):
        traced(y="n", returns={"z": "n"})(lambda spring, x: x)


def test_the_backend_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert backend.current() == "native"
    with backend.using("virtual"):
        assert backend.current() == "virtual"
    monkeypatch.setenv("ARMDYN_BACKEND", "steam")
    with raises(ArmdynError, expected="native or virtual", got="'steam'"):
        backend.current()
    with raises(ArmdynError, expected="native or virtual", got="'steam'"), backend.using("steam"):
        pass


def test_without_llvmlite_the_virtual_machine_serves_with_one_warning() -> None:
    program = """
import sys, warnings
sys.modules["llvmlite"] = None
import numpy as np, armdyn
arm = armdyn.arms.planar2()
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    for _ in range(3):
        tau = armdyn.inverse_dynamics(arm, np.ones((2, 2)), np.ones(2), np.ones(2))
    bound = armdyn.kernel(armdyn.inverse_dynamics, arm)
print(len(seen), str(seen[0].message).count("\\n"), "virtual machine" in str(seen[0].message))
print(np.array_equal(bound(np.ones(2), np.ones(2), np.ones(2)), tau[0]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=os.environ, timeout=120)
    assert done.stdout.split() == ["1", "0", "True", "True"], done.stderr


def test_a_user_function_is_keyed_by_its_graph() -> None:
    def make(factor: float) -> Callable[..., Any]:
        @traced(x="n", returns={"y": "n"})
        def scaled(spring: Spring, x: Any) -> Any:
            return factor * x

        return scaled

    x = np.arange(2.0)
    # Same module, same name, same subject: only the graphs differ.
    np.testing.assert_array_equal(make(2.0)(Spring(2, 1.0), x), 2 * x)
    np.testing.assert_array_equal(make(3.0)(Spring(2, 1.0), x), 3 * x)
