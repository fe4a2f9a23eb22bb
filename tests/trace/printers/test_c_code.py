"""C export: the generated code compiles without a warning, runs, and computes what Python computes."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.errors import ArmdynError
from armdyn.trace.printers.c_code import CCode
from armdyn.trace.printers.c_print import number
from armdyn.trace.symbols import ca

FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion", "-Wdouble-promotion"]


@pytest.fixture(params=["gcc", "clang"])
def compiler(request: pytest.FixtureRequest) -> str:
    if shutil.which(request.param) is None:
        pytest.skip(f"needs {request.param}, which is not installed")
    return request.param


@pytest.fixture
def any_compiler() -> str:
    found = shutil.which("gcc") or shutil.which("clang") or shutil.which("cc")
    if found is None:
        pytest.skip("needs a C compiler, and none is installed")
    return found


def run_selftest(code: CCode, compiler: str, *flags: str) -> subprocess.CompletedProcess[str]:
    program = code.source.with_suffix(".test")
    files = [str(code.source), str(code.selftest)]
    built = subprocess.run(
        [compiler, *FLAGS, "-O1", *flags, *files, "-lm", "-o", str(program)], capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    return subprocess.run([str(program)], capture_output=True, text=True)


def load_library(code: CCode, compiler: str) -> ctypes.CDLL:
    library = code.source.with_suffix(".so")
    subprocess.run(
        [compiler, *FLAGS, "-O2", "-shared", "-fPIC", str(code.source), "-lm", "-o", str(library)], check=True
    )
    return ctypes.CDLL(str(library))


def pointer(array: np.ndarray) -> Any:
    return array.ctypes.data_as(ctypes.c_void_p)


# A formula with every kind of operation and shape that the printer knows.
@armdyn.traced(
    x="2", A="2, 2", dt="", extra="2", offset="2", returns={"y": "8", "B": "2, 2", "T": "2, 2, 2", "s": "", "x": "2"}
)
def everything(subject: Any, x: Any, A: Any, dt: Any, extra: Any = None, power: int = 3, *, offset: Any) -> Any:
    """All operations at once.

    Parameters
    ----------
    x : array_like, shape (2,)
        Two numbers [m²] */ with a trap.
    dt : float
        A step.
    """
    a, b = x[0] + offset[0], x[1] + offset[1]
    y = ca.vertcat(
        ca.tanh(a) + ca.exp(-a * a) + ca.log(1 + b * b),
        ca.sign(a) * ca.fabs(b) + ca.sqrt(1 + a * a),
        ca.if_else(a < b, a, -b),
        ca.fmin(a, b) + ca.fmax(a, dt) + ca.floor(3 * b),
        ca.atan2(a, b) + ca.asin(ca.tanh(b)) + ca.if_else(ca.logic_and(a > 0, b <= 1), 1, 2),
        ca.if_else(ca.logic_or(a > 0.5, ca.logic_not(b > 0)), dt, 3),
        a / (2 + b * b) + a**power + ca.cosh(b) + ca.erf(a) + ca.fmod(a, 0.7),
        0,
    )
    result = ca.mtimes(A, A) if extra is None else ca.mtimes(A, A) + ca.diag(extra)
    return y, result, [A * dt, A.T], a * b, x[::-1]


class Pair:
    """The smallest subject: a name, a size and one bound vector."""

    name = "a pair"
    trace_key = "pair"
    trace_sizes: dict[str, int] = {}  # noqa: RUF012

    def trace_data(self, name: str) -> np.ndarray:
        return np.array([0.25, -0.5])


# -- the code runs -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["double", "float"])
def puma_code(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> CCode:
    functions = [armdyn.inverse_dynamics, armdyn.link_poses]
    folder = tmp_path_factory.mktemp(request.param)
    return armdyn.c_code(functions, armdyn.arms.puma560(), folder, dtype=request.param)


@pytest.mark.by_day(2)
def test_selftest_of_the_puma(compiler: str, puma_code: CCode) -> None:
    done = run_selftest(puma_code, compiler)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count(": ok") == 2


def test_compiled_code_agrees_with_python(any_compiler: str, puma_code: CCode) -> None:
    kind, tolerance = np.float64, 1e-12
    if "float tau" in puma_code.header.read_text():
        kind, tolerance = np.float32, 2e-6  # some tens of roundings of 6e-8 each
    arm, library = armdyn.arms.puma560(), load_library(puma_code, any_compiler)
    q, qd, qdd = np.random.default_rng(3).uniform(-3, 3, (3, 200, 6)).astype(kind)
    want = armdyn.inverse_dynamics(arm, q, qd, qdd)
    got = np.empty(want.shape, kind)
    for k in range(len(q)):
        library.puma560_inverse_dynamics(*(pointer(x[k]) for x in (q, qd, qdd, got)))
    assert np.abs(got - want).max() < tolerance * np.abs(want).max()


@pytest.mark.parametrize("dtype", ["double", "float"])
@pytest.mark.by_day(2)
def test_selftest_of_every_operation(compiler: str, dtype: str, tmp_path: Path) -> None:
    code = armdyn.c_code(everything, Pair(), tmp_path, dtype=dtype, inputs="extra")
    done = run_selftest(code, compiler)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("kinds", ["P", "RP", "PRR"])
@pytest.mark.by_day(1)
def test_selftest_of_random_arms(any_compiler: str, kinds: str, tmp_path: Path, random_arm: Callable[..., Any]) -> None:
    code = armdyn.c_code([armdyn.inverse_dynamics, armdyn.jacobian], random_arm(kinds), tmp_path, inputs=["wrench"])
    done = run_selftest(code, any_compiler)
    assert done.returncode == 0, done.stdout


def test_selftest_under_sanitizers(compiler: str, tmp_path: Path) -> None:
    code = armdyn.c_code([armdyn.gravity_torque, armdyn.jacobian], armdyn.arms.scara(), tmp_path)
    sanitize = ["-fsanitize=undefined,address", "-fno-sanitize-recover=all"]
    command = [compiler, "-x", "c", *sanitize, "-", "-o", str(tmp_path / "probe")]
    probe = subprocess.run(command, input="int main(void) { return 0; }", text=True, capture_output=True)
    if probe.returncode != 0:
        pytest.skip(f"{compiler} has no sanitizers here")
    done = run_selftest(code, compiler, "-g", *sanitize)
    assert done.returncode == 0, done.stdout + done.stderr


def test_selftest_fails_on_wrong_code(any_compiler: str, tmp_path: Path) -> None:
    code = armdyn.c_code(armdyn.gravity_torque, armdyn.arms.planar2(), tmp_path)
    text = code.source.read_text()
    assert "cos" in text
    code.source.write_text(text.replace("cos(", "sin("))
    done = run_selftest(code, any_compiler)
    assert done.returncode == 1
    assert "FAILED" in done.stdout


def test_outputs_may_overlap_inputs(any_compiler: str, tmp_path: Path) -> None:
    arm = armdyn.arms.planar2()
    library = load_library(armdyn.c_code(armdyn.inverse_dynamics, arm, tmp_path), any_compiler)
    q, qd, qdd = np.array([[0.3, -0.7], [1.0, 2.0], [-0.5, 0.25]])
    want = armdyn.inverse_dynamics(arm, q, qd, qdd)
    library.planar2_inverse_dynamics(pointer(q), pointer(qd), pointer(qdd), pointer(qdd))
    np.testing.assert_allclose(qdd, want, rtol=1e-12)


@armdyn.traced(x="2", returns={"y": "6", "x": "2"})
def edges(subject: Any, x: Any) -> Any:
    """Every comparison, the sign, and inputs that are results."""
    a, b = x[0], x[1]
    chosen = [ca.if_else(test, 1, 0) for test in (a < b, a <= b, a == b, a != b)]
    return ca.vertcat(*chosen, ca.sign(a), ca.if_else(a <= b, a, b)), x[::-1]


@pytest.fixture(scope="module")
def edges_in_c(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    compiler = shutil.which("gcc") or shutil.which("clang") or shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler, and none is installed")
    return load_library(armdyn.c_code(edges, Pair(), tmp_path_factory.mktemp("edges"), prefix="pair"), compiler)


def test_edges_of_comparisons(edges_in_c: ctypes.CDLL) -> None:
    """Equal numbers, zeros of both signs, infinities and NaN: as IEEE 754 and Python compare them."""
    values = [-1.0, -0.0, 0.0, 1.0, np.inf, -np.inf, np.nan]
    for a, b in product(values, values):
        x, y, back = np.array([a, b]), np.empty(6), np.empty(2)
        edges_in_c.pair_edges(pointer(x), pointer(y), pointer(back))
        np.testing.assert_array_equal(y[:5], [a < b, a <= b, a == b, a != b, np.sign(a)])
        np.testing.assert_array_equal(y[5], a if a <= b else b)


def test_results_that_are_inputs_may_overlap_them(edges_in_c: ctypes.CDLL) -> None:
    x, y = np.array([1.0, 2.0]), np.empty(6)
    edges_in_c.pair_edges(pointer(x), pointer(y), pointer(x))
    assert x.tolist() == [2.0, 1.0]


def test_theta_may_stay_an_argument(any_compiler: str, tmp_path: Path) -> None:
    arm = armdyn.arms.planar2()
    code = armdyn.c_code(armdyn.inverse_dynamics, arm, tmp_path, prefix="adaptive", inputs=["theta"])
    assert "const double theta[20]" in code.header.read_text()
    library = load_library(code, any_compiler)
    q, qd, qdd = np.array([[0.3, -0.7], [1.0, 2.0], [-0.5, 0.25]])
    theta, got = np.random.default_rng(0).uniform(0, 1, 20), np.empty(2)
    library.adaptive_inverse_dynamics(*(pointer(x) for x in (q, qd, qdd, theta, got)))
    np.testing.assert_allclose(got, armdyn.inverse_dynamics(arm, q, qd, qdd, theta=theta), rtol=1e-12)


def test_header_serves_c_plus_plus(tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("needs g++, which is not installed")
    code = armdyn.c_code(everything, Pair(), tmp_path, prefix="pair")
    main = tmp_path / "main.cpp"
    main.write_text(f'#include "{code.header.name}"\nauto function = &pair_everything;\n')
    subprocess.run(["g++", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", str(main)], check=True)


# Of arms with six or seven joints or with springs, of constraints, or of base parameters instead of an arm.
OTHERS = {
    *("swivel_angle", "operational_inertia", "base_regressor", "base_adaptive_regressor", "base_regressor_gradient"),
    *("constrained_dynamics", "constrained_torque", "constraint_drift", "constraint_jacobian", "constraint_residual"),
    "spring_columns",
}


def test_selftest_of_a_frame_of_a_tree(any_compiler: str, tmp_path: Path) -> None:
    """Poses and Jacobians of the second hand, fingers that mimic included."""
    functions = [armdyn.forward_kinematics, armdyn.jacobian]
    code = armdyn.c_code(functions, armdyn.arms.two_arms(), tmp_path, options={"frame": "right_hand"})
    done = run_selftest(code, any_compiler)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_every_public_function_can_be_exported(any_compiler: str, tmp_path: Path, traced_functions) -> None:
    arm = armdyn.arms.planar2()
    assert traced_functions.keys() >= OTHERS
    functions = [function for name, function in traced_functions.items() if name not in OTHERS]
    assert len(functions) > 50
    done = run_selftest(armdyn.c_code(functions, arm, tmp_path), any_compiler)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count(": ok") == len(functions)


# -- what is written -----------------------------------------------------------------------------------------


def test_result_and_header(tmp_path: Path) -> None:
    code = armdyn.c_code(armdyn.gravity_torque, armdyn.arms.planar2(), tmp_path / "new" / "folder")
    assert [p.name for p in (code.source, code.header, code.selftest)] == [
        "planar2.c",
        "planar2.h",
        "planar2_selftest.c",
    ]
    counts = code.counts["gravity_torque"]
    assert (code.multiplications, code.additions) == counts[:2] == (2, 2)  # k1 c1 + k2 c12, k2 c12
    header = code.header.read_text()
    assert f"Operations: {counts}." in header
    assert "#define PLANAR2_N 2" in header
    assert "[rad or m]" in header
    assert 'extern "C"' in header
    assert header.isascii()
    assert str(code) == f"gravity_torque: {counts}"


def test_files_are_the_same_every_time(tmp_path: Path) -> None:
    first, second = (
        armdyn.c_code(armdyn.inverse_dynamics, armdyn.arms.scara(), tmp_path / name) for name in ("a", "b")
    )
    for name in ("source", "header", "selftest"):
        assert getattr(first, name).read_bytes() == getattr(second, name).read_bytes()


def test_everything_is_described(tmp_path: Path) -> None:
    text = armdyn.c_code(everything, Pair(), tmp_path).header.read_text()
    assert text.count("*/") == text.count("/*")
    assert "A_ " not in text
    assert "x (2): Two numbers [m^2]" in text
    assert "double dt" in text  # a single number comes by value
    assert "double x_out[2]" in text  # an output named like an input
    assert "A (2 x 2): no description given." in text


def test_options_select_a_variant(tmp_path: Path) -> None:
    cubes, squares = (
        armdyn.c_code(everything, Pair(), tmp_path, options={"power": power}).counts["everything"] for power in (3, 2)
    )
    assert squares.multiplications < cubes.multiplications


@pytest.mark.parametrize(
    ("value", "double", "single"),
    [
        (0.1, "0.1", "0.1f"),
        (1 / 3, "0.3333333333333333", "0.33333334f"),
        (-3.0, "-3.0", "-3.0f"),
        (1e-300, "1e-300", "0.0f"),
        (1e300, "1e+300", "INFINITY"),
        (float("nan"), "NAN", "NAN"),
        (float("-inf"), "-INFINITY", "-INFINITY"),
    ],
)
def test_numbers(value: float, double: str, single: str) -> None:
    assert (number(value, "double"), number(value, "float")) == (double, single)


# -- bad input -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ({"functions": len}, {"expected": "a traced function such as armdyn.inverse_dynamics", "got": "len"}),
        (
            {"functions": "inverse_dynamics"},
            {"expected": "a traced function such as armdyn.inverse_dynamics", "got": "'inverse_dynamics'"},
        ),
        ({"functions": []}, {"expected": "at least one traced function", "got": "none"}),
        (
            {"functions": [armdyn.jacobian, armdyn.jacobian]},
            {"names": ("jacobian",), "remedy": "export it in another file"},
        ),
        (
            {"prefix": "2nd arm"},
            {"expected": "a prefix of letters, digits and underscores that starts with a letter", "got": "'2nd arm'"},
        ),
        (
            {"prefix": ""},
            {"expected": "a prefix of letters, digits and underscores that starts with a letter", "got": "''"},
        ),
        ({"dtype": "half"}, {"expected": "dtype 'double' or 'float'", "got": "'half'"}),
        ({"inputs": ["wrench"]}, {"names": ("wrench",), "expected": "point"}),
        ({"options": {"model": "full"}}, {"names": ("model",), "expected": "axes or frame or link"}),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], parts: dict[str, Any], tmp_path: Path) -> None:
    call: dict[str, Any] = {"functions": armdyn.jacobian, "arm": armdyn.arms.planar2(), "directory": tmp_path}
    with raises(ArmdynError, **parts):
        armdyn.c_code(**{**call, **arguments})
    assert not list(tmp_path.iterdir())


def test_directory_that_cannot_be_written(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with raises(ArmdynError, where="c_code", cause=re.compile("cannot write .*")):
        armdyn.c_code(armdyn.jacobian, armdyn.arms.planar2(), file)


def test_function_of_something_else(tmp_path: Path) -> None:
    with raises(
        ArmdynError,
        cause=("base_regressor is not a function of <Arm 'planar2': 2 joints RR, base -> tip>, which has no 'b'"),
    ):
        armdyn.c_code(armdyn.base_regressor, armdyn.arms.planar2(), tmp_path)


def test_missing_inertia_is_named(tmp_path: Path) -> None:
    arm = armdyn.Arm.from_dh([{"kind": "R", "a": 1.0, "alpha": 0.0, "d": 0.0, "theta": 0.0}])
    with raises(
        ArmdynError, cause="dynamics needs every inertial parameter, but link 'link1' lacks all ten", names=("link1",)
    ):
        armdyn.c_code(armdyn.inverse_dynamics, arm, tmp_path)
