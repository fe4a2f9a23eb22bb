"""What all tests share: the folder of reference data, golden numbers, and a private kernel cache."""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest

# Reproducible runs: the same examples everywhere, and no complaint about a slow shared machine.
hypothesis.settings.register_profile("armdyn", derandomize=True, deadline=None, max_examples=40)
hypothesis.settings.load_profile("armdyn")


def pytest_configure(config: pytest.Config) -> None:
    """Give the run a kernel cache of its own; workers of xdist inherit the controller's.

    With ARMDYN_TEST_CACHE kernels stay in that folder, and the next run need not compile them again.
    """
    # A shell starts background jobs with Ctrl-C ignored, and processes that tests interrupt would inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.set_threshold(50_000, 20, 20)  # graphs have many small objects, few of which are in cycles
    if not hasattr(config, "workerinput"):
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # workers have the cores already
            os.environ.setdefault(name, "1")
        kept = os.environ.get("ARMDYN_TEST_CACHE")
        os.environ["ARMDYN_CACHE_DIR"] = kept or tempfile.mkdtemp(prefix="armdyn-test-cache-")


# Tests of whole programs: pages of the documentation followed to the letter, browsers, processes that are killed.
JOURNEYS = (
    "docs/", "reproductions/", "studio/test_browser.py", "report/test_in_a_browser.py", "cli/test_every_command.py",
    "cli/test_ctrl_c.py", "cli/test_interrupts.py", "study/test_run.py", "study/test_cluster.py",
)  # fmt: skip


# Documents, models and logs of others, which cannot be part of this repository: few tests compare with them, and are
# left out where they are not, which the last lines of a run say. All that armdyn can do has tests without them.
REFERENCE_DATA = Path(__file__).parents[1].parent / "shared"
LEFT_OUT = pytest.StashKey[int]()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Mark tests before pytest selects by marks; of those selected leave out what needs data that are absent."""
    mark_journeys_and_nights(items)
    yield
    if not REFERENCE_DATA.is_dir():
        leave_out(config, items)


def leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that need the reference data; remember how many they are."""
    needing = [item for item in items if "shared" in getattr(item, "fixturenames", ())]
    items[:] = [item for item in items if item not in needing]
    config.hook.pytest_deselected(items=needing)
    config.stash[LEFT_OUT] = len(needing)
    if hasattr(config, "workeroutput"):
        config.workeroutput["left out"] = len(needing)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A worker of xdist ends: every one has left out the same."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left out", 0)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if count := config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(f"left out for want of '../shared', models and logs of others: {count}")


def mark_journeys_and_nights(items: list[pytest.Item]) -> None:
    """Mark journeys, and leave all but some cases of a test marked `by_day(count)` to the night, spread over all."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.path.relative_to(Path(__file__).parent).as_posix().startswith(JOURNEYS):
            item.add_marker("journey")
        if item.get_closest_marker("by_day") is not None:
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for some in cases.values():
        (count,) = some[0].get_closest_marker("by_day").args  # type: ignore[union-attr]
        kept = {k * len(some) // count for k in range(count)}
        for k, item in enumerate(some):
            if k not in kept:
                item.add_marker("slow")


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()  # modules and tests stay


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        folder = os.environ.pop("ARMDYN_CACHE_DIR", "")
        if "ARMDYN_TEST_CACHE" not in os.environ:
            shutil.rmtree(folder, ignore_errors=True)


# Folders and files whose kernels are compiled as a user's are: they are what is tested, or run for minutes of motion.
OPTIMISED = ("test_smoke.py", "trace/llvm", "trace/test_", "servo/test_identify.py", "docs/test_servo_arms.py")
IS_OPTIMISED = pytest.StashKey[bool]()  # whether the kernels in memory are


def quicken_symbols(patch: pytest.MonkeyPatch) -> None:
    """Let operators of two SX, or of one and a number, compute at once what they compute anyway.

    CasADi's own try every other type before, which takes half the time of tracing; tests/trace has both.
    """
    import casadi

    SX, binary, known = casadi.SX, casadi.SX.binary, (casadi.SX, float, int)
    operators = {"add": casadi.OP_ADD, "sub": casadi.OP_SUB, "mul": casadi.OP_MUL, "truediv": casadi.OP_DIV}
    for name, op in operators.items():
        own, reflected = getattr(SX, f"__{name}__"), getattr(SX, f"__r{name}__")

        def left(x: Any, y: Any, op: int = op, general: Any = own) -> Any:
            return binary(op, x, y) if type(y) in known else general(x, y)

        def right(x: Any, y: Any, op: int = op, general: Any = reflected) -> Any:
            return binary(op, y, x) if type(y) in known else general(x, y)

        patch.setattr(SX, f"__{name}__", left)
        patch.setattr(SX, f"__r{name}__", right)


@pytest.fixture
def quick_symbols(monkeypatch: pytest.MonkeyPatch) -> None:
    """The quicker operators for one test."""
    quicken_symbols(monkeypatch)


@pytest.fixture(scope="module", autouse=True)
def quick_code(request: pytest.FixtureRequest) -> Iterator[None]:
    """Machine code of the same operations, made in half the time: LLVM does not optimise it, their order is the first.

    Formulas are traced quicker, too. With ARMDYN_TEST_OPTIMISED all tests are of code as a user's.
    """
    from armdyn.trace.graphs import schedule
    from armdyn.trace.llvm.processor import skip_optimisation
    from armdyn.trace.recent import kernels

    tested = request.path.relative_to(Path(__file__).parent).as_posix()
    wanted = tested.startswith(OPTIMISED) or "ARMDYN_TEST_OPTIMISED" in os.environ
    if wanted != request.config.stash.get(IS_OPTIMISED, True):
        kernels.clear()
    request.config.stash[IS_OPTIMISED] = wanted
    with pytest.MonkeyPatch.context() as patch, nullcontext() if wanted else skip_optimisation():
        patch.setattr(os, "fsync", lambda file: None)  # no file of a test need outlive a power cut
        if not wanted:
            quicken_symbols(patch)
            steps = schedule._steps
            patch.setattr(schedule, "_steps", lambda graph, uniform, ways: steps(graph, uniform, ways[:1]))
        yield


SUBPACKAGES = ["spatial", "model", "kinematics", "dynamics", "trajectory", "identification", "control", "simulation"]


@pytest.fixture(scope="session")
def traced_functions() -> dict[str, Any]:
    """All public traced functions by name."""
    import importlib

    subpackages = [importlib.import_module(f"armdyn.{subpackage}") for subpackage in SUBPACKAGES]
    every = {name: getattr(subpackage, name) for subpackage in subpackages for name in subpackage.__all__}
    return {name: value for name, value in every.items() if hasattr(getattr(value, "traced", None), "make_program")}


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference data beside the repository; a test that asks for it is left out where it is absent."""
    return REFERENCE_DATA


@pytest.fixture(scope="session")
def browser() -> Any:
    """A headless Chromium that is installed already; tests that need it are skipped without it."""
    engine = pytest.importorskip("playwright.sync_api", reason="driving a browser needs playwright")
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("needs the browser 'chromium' on the path, which is absent (Debian: apt install chromium)")
    # Software rendering, so that no graphics card is needed.
    arguments = ("--no-sandbox", "--disable-background-networking", "--use-angle=swiftshader")
    with engine.sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=path, args=(*arguments, "--enable-unsafe-swiftshader"))
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def golden() -> Callable[[str], Any]:
    """`golden("planar2R")`: numbers that `tests/data/make_golden.py` made."""
    return lambda name: json.loads((Path(__file__).parent / "data" / "golden" / f"{name}.json").read_text())


@pytest.fixture(scope="session")
def reference(shared: Path) -> Callable[[str], Any]:
    """`reference("sarcos_gravity")`: numbers of the documents behind armdyn."""
    return lambda name: json.loads((shared / "golden" / f"{name}.json").read_text())


@pytest.fixture(scope="session")
def golden_arm() -> Callable[[dict[str, Any]], Any]:
    """`golden_arm(golden("planar2R")["robot"])`: the arm a golden file is about."""
    from armdyn import Arm

    def build(robot: dict[str, Any]) -> Arm:
        links = robot.get("links") or [{}] * len(robot["joints"])
        rows = [
            {"kind": j["type"], "a": j["a"], "alpha": j["alpha"], "d": j["d"], "theta": j["theta"]}
            | {"mass": k.get("m"), "com": k.get("com"), "inertia": k.get("I_com")}
            for j, k in zip(robot["joints"], links, strict=True)
        ]
        convention = {"sdh": "standard", "mdh": "modified"}[robot["convention"]]
        return Arm.from_dh(rows, convention=convention, gravity=robot["gravity"])

    return build


@pytest.fixture(scope="session")
def random_arm() -> Callable[..., Any]:
    """`random_arm("RPR", seed=0)`: an arm with general frames, axes and physical links."""
    import numpy as np

    from armdyn import Arm, Inertia, Joint, Link

    def frame(rng: np.random.Generator) -> np.ndarray:
        T = np.eye(4)
        Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        T[:3, :3], T[:3, 3] = Q * np.linalg.det(Q), rng.uniform(-0.5, 0.5, 3)
        return T

    def link(i: int, rng: np.random.Generator) -> Link:
        spread = 0.3 * rng.normal(size=(3, 3))
        sigma = spread @ spread.T
        tensor = np.trace(sigma) * np.eye(3) - sigma
        return Link(f"link{i + 1}", Inertia.from_com(rng.uniform(0.5, 3), rng.uniform(-0.3, 0.3, 3), tensor))

    def build(kinds: str, seed: int = 0) -> Arm:
        rng = np.random.default_rng(seed)
        names = {"R": "revolute", "P": "prismatic"}
        joints = [
            Joint(f"joint{i + 1}", names[k], rng.normal(size=3), frame(rng), frame(rng)) for i, k in enumerate(kinds)
        ]
        links = [link(i, rng) for i in range(len(kinds))]
        return Arm(
            joints,
            links,
            name=kinds,
            gravity=rng.normal(size=3) * 6,
            base_pose=frame(rng),
            tool_pose=frame(rng),
        )

    return build


@pytest.fixture(scope="session")
def scaled() -> Callable[[Any, float], Any]:
    """`scaled(arm, 1e-3)`: an arm of revolute joints with all its lengths multiplied; its inertia is unknown."""
    import dataclasses

    from armdyn import Arm, Link

    def build(arm: Any, factor: float) -> Arm:
        def pose(T: np.ndarray) -> np.ndarray:
            out = T.copy()
            out[:3, 3] *= factor
            return out

        joints = [dataclasses.replace(j, before=pose(j.before), after=pose(j.after)) for j in arm.joints]
        links = [Link(link.name) for link in arm.links]
        return Arm(joints, links, name=arm.name, base_pose=pose(arm.base_pose), tool_pose=pose(arm.tool_pose))

    return build


@pytest.fixture(scope="session")
def chain_poses() -> Callable[[Any, Any], Any]:
    """`chain_poses(arm, q)`: link poses (n, 4, 4) and the tip's (4, 4) by plain products of 4x4 matrices."""
    from armdyn.spatial.rotation import from_axis_angle
    from armdyn.spatial.transform import transform

    def poses(arm: Any, q: Any) -> tuple[np.ndarray, np.ndarray]:
        T, found = arm.base_pose, []
        for joint, x in zip(arm.joints, q, strict=True):
            if joint.kind == "revolute":
                motion = transform(from_axis_angle(joint.axis, x))
            else:
                motion = transform(translation=x * joint.axis)
            T = T @ joint.before @ motion @ joint.after
            found.append(T)
        return np.array(found), T @ arm.tool_pose

    return poses


@pytest.fixture(scope="session")
def write_states() -> Callable[..., Path]:
    """`write_states(path, messages)`: a ROS 2 bag of JointState messages (topic, stamp, names, q, qd, tau)."""
    pytest.importorskip("rosbags", reason="bags need the extra 'logs'")
    from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    kinds = ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
    message, header, stamp = (store.types[kind] for kind in kinds)

    def write(path: Path, messages: list[tuple], kind: str = "sqlite3", compression: str | None = None) -> Path:
        bag = Writer(path, version=8, storage_plugin=StoragePlugin.MCAP if kind == "mcap" else StoragePlugin.SQLITE3)
        if compression:
            bag.set_compression(CompressionMode[compression], CompressionFormat.ZSTD)
        with bag:
            topics = {
                topic: bag.add_connection(topic, message.__msgtype__, typestore=store)
                for topic in dict.fromkeys(m[0] for m in messages)
            }
            for k, (topic, t, names, *values) in enumerate(messages):
                nano = round(t * 1e9)
                head = header(stamp=stamp(sec=nano // 10**9, nanosec=nano % 10**9), frame_id="")
                parts = dict(zip(("position", "velocity", "effort"), (np.array(x, float) for x in values), strict=True))
                said = message(header=head, name=list(names), **parts)
                # They arrive a hundred times per second, in the order in which they are given.
                bag.write(topics[topic], 10**18 + k * 10**7, store.serialize_cdr(said, message.__msgtype__))
        return path

    return write


@pytest.fixture(scope="session")
def write_bag(write_states: Callable[..., Path]) -> Callable[..., Path]:
    """`write_bag(path, names, t, q, qd, tau)`: a ROS 2 bag of JointState messages on /joint_states."""

    def write(path: Path, names: list[str], t: Any, q: Any, qd: Any, tau: Any, kind: str = "sqlite3") -> Path:
        rows = zip(t, q, qd, tau, strict=True)
        return write_states(path, [("/joint_states", k, names, *row) for k, *row in rows], kind)

    return write
