"""The public face: names that are found, completed, typed, and answered when they are another toolbox's."""

from __future__ import annotations

import importlib.util
import inspect
import pickle
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import armdyn
from armdyn.exports import Package, aliases, public_names
from armdyn.names import tables as name_tables

ROOT = Path(__file__).parents[1]
IMPORT_TIME = 0.015  # [s] what `import armdyn` may take


def stubs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("write_stubs", ROOT / "tools" / "write_stubs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def packages() -> list[Package]:
    return stubs().packages()


def test_stubs_are_fresh() -> None:
    writer = stubs()
    for package in writer.packages():
        path = writer.path_of(package)
        assert path.read_text() == writer.stub(package), f"{path} is stale: run python tools/write_stubs.py"


def test_tables_of_names_are_sorted() -> None:
    for package in packages():
        if package is not armdyn:
            name_to_module = [*dict.fromkeys(package._name_to_module.values())]
            assert name_to_module == sorted(name_to_module), package.__name__
        names: dict[str, list[str]] = {}
        for name, home in package._name_to_module.items():
            names.setdefault(home, []).append(name)
        for home, listed in names.items():
            assert listed == sorted(listed, key=lambda name: (name.lower(), name)), home


def test_every_name_of_every_package_exists() -> None:
    for package in packages():
        for name in public_names(package):
            assert getattr(package, name) is not None
        assert {name for name in dir(package) if not name.startswith("__")} == set(package.__all__)


def test_a_name_means_one_thing() -> None:
    subpackages = [armdyn.__dict__.get(subpackage) or getattr(armdyn, subpackage) for subpackage in armdyn._aliased]
    count = Counter(name for subpackage in subpackages for name in subpackage._name_to_module)
    assert [name for name, times in count.items() if times > 1] == []


def test_names_of_the_first_release_still_work() -> None:
    for name in (ROOT / "tests" / "data" / "flat_names.txt").read_text().split():
        assert getattr(armdyn, name) is not None


def test_few_names_are_taught_and_the_others_live_in_their_folders() -> None:
    assert 40 <= len(armdyn._name_to_module) <= 66
    assert "Impedance" not in dir(armdyn)
    assert "Impedance" in dir(armdyn.control)
    assert armdyn.Impedance is armdyn.control.Impedance
    assert armdyn.inverse_dynamics is armdyn.dynamics.inverse_dynamics
    assert armdyn.trajectory.FourierSeries is armdyn.FourierSeries
    assert "Ridge" in dir(armdyn.identification.estimators)
    assert len(aliases(armdyn)) > 100


def test_a_function_wins_over_the_file_or_folder_it_is_named_after() -> None:
    code = """
import armdyn.simulation.simulate, armdyn.report.registry, armdyn
from armdyn.simulation.simulate import simulate
from armdyn.report.registry import report
assert armdyn.simulation.simulate is simulate is armdyn.simulate
assert armdyn.report is report
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_import_is_fast() -> None:
    # The processor's time: what other programs do meanwhile does not count. The least of three, the first may compile.
    code = "import time; t = time.process_time(); import armdyn; print(time.process_time() - t)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(3)]
    assert min(float(run.stdout) for run in runs) < IMPORT_TIME


# -- other toolboxes' names -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("rne", "module 'armdyn' has no attribute 'rne'; here it is called inverse_dynamics"),
        ("computeCoriolisMatrix", "here it is called coriolis_matrix"),
        ("M", r"write armdyn.mass_matrix\(arm, q\)"),
        ("inverse_dynamic", r"did you mean inverse_dynamics.*\?"),
        ("Impedence", r"did you mean Impedance\?"),
        ("ikine", "here it is called inverse_kinematics"),
        ("SerialLink", "here it is called Arm.from_dh"),
        ("read_urdf", r"write armdyn.load\(path\)"),
    ],
)
def test_a_strange_name_is_answered_with_ours(name: str, said: str) -> None:
    with pytest.raises(AttributeError, match=said):
        getattr(armdyn, name)


def test_packages_answer_too() -> None:
    with pytest.raises(AttributeError, match=r"module 'armdyn.control' has no .* did you mean SlotineLi"):
        armdyn.control.Slotine_Li  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"no attribute 'quite_another_thing'$"):
        armdyn.quite_another_thing  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("fkine", r"an arm has no attribute 'fkine'; write armdyn.forward_kinematics\(arm, ...\) or"),
        ("inverse_dynamics", r"write armdyn.inverse_dynamics\(arm, ...\)"),
        ("M", r"write armdyn.mass_matrix\(arm, q\)"),
        ("payload", r"write arm.with_payload\(...\)"),
        ("joint_name", r"did you mean joint_names"),
        ("ikine", r"write armdyn.inverse_kinematics\(arm, ...\)"),
    ],
)
def test_an_arm_says_where_to_find_what_it_has_not(name: str, said: str) -> None:
    with pytest.raises(AttributeError, match=said) as caught:
        getattr(armdyn.arms.planar2(), name)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


def test_library_logs_and_classes_answer_too() -> None:
    t = np.arange(60.0)
    log = armdyn.Log(t, t[:, None], t[:, None])
    for owner, name, said in (
        (armdyn.arms, "puma", r"module 'armdyn.arms' has no .* did you mean puma3 or puma560\?"),
        (armdyn.Arm, "from_urdf", r"class 'Arm' has no attribute 'from_urdf'; write armdyn.load\(path\)"),
        (armdyn.Log, "load", r"write armdyn.read_log\(path, arm\)"),
        (log, "fs", "a log has no attribute 'fs'; write 1 / log.dt"),
        (armdyn.Fit.__new__(armdyn.Fit), "mass", r"a fit has no .* write fit.arm.links\[0\].mass"),
    ):
        with pytest.raises(AttributeError, match=said):
            getattr(owner, name)


def test_help_is_for_users() -> None:
    assert "tools/" not in (armdyn.__doc__ or "")


def test_the_page_of_names_and_the_table_agree() -> None:
    text = (ROOT / "docs" / "names.md").read_text()
    tables = [[[c.strip() for c in row.split("|")[1:-1]] for row in rows] for rows in _tables(text)]
    listed = [tuple(" ".join(_names(cell)) for cell in row) for row in tables[0][2:]]
    assert listed[-1][0] == "pinocchio.casadi"  # no function, but the same one called with symbols
    assert listed[:-1] == list(map(tuple, name_tables()["toolboxes"]))
    assert [tuple(" ".join(_names(cell)) for cell in row) for row in tables[1][2:]] == list(
        map(tuple, name_tables()["simulators"])
    )
    on_an_arm = {name: here for row in tables[2][2:] for name in _names(row[0]) for here in _code(row[1])}
    assert on_an_arm == {f"arm.{name}": here for name, here in name_tables()["on_an_arm"].items()}
    guessed = {name: here for row in tables[3][2:] for name in _code(row[0]) for here in _code(row[1])}
    assert guessed == name_tables()["guessed"]


def test_the_tables_name_what_exists() -> None:
    arm = armdyn.arms.planar2()
    for *_, ours in (*name_tables()["toolboxes"], *name_tables()["simulators"]):
        for name in ours.split():
            owner, _, attribute = name.rpartition(".")
            assert hasattr(armdyn.Arm if owner else armdyn, attribute)
    for here in name_tables()["on_an_arm"].values():
        owner, name = re.findall(r"\w+", here)[:2]
        assert hasattr({"arm": arm, "armdyn": armdyn}[owner], name)


def test_the_index_lists_the_names_to_begin_with() -> None:
    text = (ROOT / "docs" / "index.md").read_text().partition("## Names to begin with")[2].partition("\n```{")[0]
    rows = [[c.strip() for c in row.split("|")[1:-1]] for row in _tables(text)[0]]
    listed = {folder.strip("`").removeprefix("armdyn."): sorted(_code(names)) for folder, names in rows[2:]}
    taught: dict[str, list[str]] = {}
    for name, home in armdyn._name_to_module.items():
        taught.setdefault(home.removeprefix("armdyn."), []).append(name)
    assert listed == {folder: sorted(names) for folder, names in taught.items()}


def _tables(text: str) -> list[list[str]]:
    """The lines of each table of a page."""
    blocks = re.split(r"\n(?!\|)[^\n]*", "\n" + text)
    return [[line for line in block.splitlines() if line] for block in blocks if block.strip().startswith("|")]


def _code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def _names(cell: str) -> list[str]:
    """What a cell names, without arguments: `linearize(...).A` is linearize."""
    return [re.match(r"[\w.]+", code)[0].removeprefix("armdyn.") for code in _code(cell)]  # type: ignore[index]


# -- types ----------------------------------------------------------------------------------------------------

SCRIPT = """
import numpy as np

import armdyn

arm = armdyn.arms.puma560()
q = np.zeros(6)
reveal_type(armdyn.inverse_dynamics(arm, q, q, q))
reveal_type(armdyn.linearize(arm, q, q, q).A)
reveal_type(armdyn.identify(arm, "log.csv"))
reveal_type(armdyn.load("a.urdf"))
reveal_type(armdyn.dynamics.mass_matrix(arm, q, theta=arm.theta, out=np.zeros((6, 6))))
bound = armdyn.kernel(armdyn.inverse_dynamics, arm)
reveal_type(bound(q, q, q))
reveal_type(bound(q, q, q, out=q))
reveal_type(armdyn.kernel(armdyn.linearize, arm, model="full")(q, q, q).A)
law: armdyn.control.SlotineLi
estimator: armdyn.identification.estimators.Ridge
motion: armdyn.trajectory.FourierSeries
old: armdyn.Impedance
armdyn.inverse_dynamics(arm, q, q, q, wrnch=q)  # wrong
armdyn.identify(arm, "log.csv", no_such_option=1)  # wrong
armdyn.inverse_dynamics("arm", q, q, q)  # wrong
bound(q, q, q, wrnch=q)  # wrong
bound(q)  # wrong
arm.save("a.urdf", ontoo="b.urdf")  # wrong
arm.fkine(q)  # wrong
armdyn.rne  # wrong
"""
REVEALED = ["ndarray", "ndarray", "Fit", "Arm", "ndarray", "ndarray", "ndarray", "ndarray"]


@pytest.mark.slow  # half a minute of two checkers; `.ci/run` runs it once both are installed
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_a_users_script_sees_real_types(checker: str, tmp_path: Path) -> None:
    if importlib.util.find_spec(checker) is None:
        pytest.skip(f"{checker} is not installed: pip install '.[lint]'")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    options = {
        "mypy": ["--cache-dir", str(tmp_path / "cache"), "--no-error-summary"],
        "pyright": ["--pythonpath", sys.executable],
    }
    command = [sys.executable, "-m", checker, *options[checker], str(script)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=600, check=False)
    said = done.stdout
    if checker == "pyright" and "script.py" not in said:
        pytest.skip(f"pyright does not run here: {(done.stderr or said)[-200:]}")
    types = re.findall(r'(?:Revealed type is|Type of ".*" is) "([^"]*)"', said)
    assert [re.sub(r"\[.*", "", kind).rpartition(".")[2] for kind in types] == REVEALED, said
    assert all("float64" in kind for kind in types if "ndarray" in kind), said
    wrong = [k for k, line in enumerate(SCRIPT.splitlines(), 1) if line.endswith("# wrong")]
    found = {int(k) for k in re.findall(r"script\.py:(\d+):.*error", said)}
    assert sorted(found) == wrong, said


MEMBER = {
    "kind": "R",
    "e_prev": (0, 0, 1),
    "e_own": (0, 0, 1),
    "r_prev": (0, 0, 0),
    "r_own": (1, 0, 0),
    "a_prev": (1, 0, 0),
}


@pytest.mark.parametrize("method", ["save", "from_dh", "from_vectors"])
def test_methods_of_the_arm_spell_out_their_options(method: str) -> None:
    parameters = inspect.signature(getattr(armdyn.Arm, method)).parameters.values()
    assert not [p for p in parameters if p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    given = {p.name: object() for p in parameters if p.kind is p.KEYWORD_ONLY}
    assert given  # and each is understood: what is wrong about it is its value
    for name, value in given.items():
        call = {
            "save": armdyn.arms.planar2().save,
            "from_dh": armdyn.Arm.from_dh,
            "from_vectors": armdyn.Arm.from_vectors,
        }
        first = {"save": "a.toml", "from_dh": [{"kind": "R"}], "from_vectors": [MEMBER]}
        with pytest.raises((armdyn.ArmdynError, TypeError), match=r"onto=|expected"):
            call[method](first[method], **{name: value})
