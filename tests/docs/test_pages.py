"""Pages whose examples need nothing but themselves are what the code prints; tables of names hold names that exist."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

import armdyn

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("page", "least"),
    [
        ("start", 8),
        ("calibrate-your-robot", 20),
        ("adaptive-payload", 15),
        ("constraints", 35),
        ("controller-c", 6),
        ("estimators", 40),
        ("fmu", 5),
        ("franka", 6),
        ("real-time", 8),
        ("ros2-package", 5),
    ],
)
def test_examples_of_the_page(page: str, least: int) -> None:
    result = doctest.testfile(str(DOCS / f"{page}.md"), module_relative=False)
    assert result.attempted >= least
    assert result.failed == 0


@pytest.mark.slow
def test_examples_of_the_page_on_jax() -> None:
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    try:
        result = doctest.testfile(str(DOCS / "jax.md"), module_relative=False)
    finally:
        jax.config.update("jax_enable_x64", before)
    assert result.attempted >= 13
    assert result.failed == 0


def test_names_in_the_last_column_exist() -> None:
    table = (DOCS / "names.md").read_text().split("## What differs")[0]
    rows = [row.split("|")[4] for row in table.splitlines() if row.count("|") == 5]
    names = {name.split("(")[0].removeprefix("armdyn.") for row in rows for name in re.findall(r"`([^`]+)`", row)}
    assert len(names) > 25
    missing = []
    for name in names - {"casadi.SX"}:
        owner, _, member = name.rpartition(".")
        if not hasattr(getattr(armdyn, owner) if owner else armdyn, member):
            missing.append(name)
    assert missing == []


def test_the_page_on_commands_has_all_of_them_and_their_words() -> None:
    from armdyn.cli.app import ABOUT

    page = (DOCS / "command-line.md").read_text()
    assert dict(re.findall(r"^\| `([\w-]+)` \| (.+) \|$", page, re.MULTILINE)) == {
        name: about["short"] for name, about in ABOUT.items()
    }


def test_states_and_poses_there_and_back_as_the_page_says(tmp_path, monkeypatch) -> None:
    import numpy as np
    from typer.testing import CliRunner

    from armdyn.cli.app import app

    monkeypatch.chdir(tmp_path)
    q = np.random.default_rng(0).uniform(-0.5, 0.5, (4, 6))
    np.savetxt("states.csv", q, delimiter=",", header=",".join(f"q{i + 1}" for i in range(6)), comments="")
    lines = re.findall(r"^    armdyn (.+)$", (DOCS / "command-line.md").read_text(), re.MULTILINE)
    assert len(lines) == 4
    for line in lines:
        done = CliRunner().invoke(app, line.split("  #")[0].split(), catch_exceptions=False)
        assert done.exit_code == 0, done.output
    found, tau = (np.genfromtxt(name, delimiter=",", names=True) for name in ("q.csv", "tau.csv"))
    again, torques = (
        np.column_stack([table[f"{x}{i + 1}"] for i in range(6)]) for table, x in ((found, "q"), (tau, "tau"))
    )
    arm = armdyn.arms.puma560()
    # Of inverse kinematics' branches any will do; 1e-9: 17 digits in three files.
    assert np.allclose(armdyn.forward_kinematics(arm, again), armdyn.forward_kinematics(arm, q), atol=1e-9)
    assert np.allclose(torques, armdyn.joint_torque(arm, again, 0 * q, 0 * q), atol=1e-9)


@pytest.mark.parametrize("page", sorted(path.name for path in DOCS.glob("*.md")))
def test_rows_of_tables_have_the_cells_of_their_heads(page: str) -> None:
    """A row that came into the wrong table would be drawn with empty or lost cells."""
    head, odd = 0, []
    for number, line in enumerate((DOCS / page).read_text().splitlines(), 1):
        cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
        if cells and head and cells != head:
            odd.append(f"{page}:{number}: {cells - 1} cells under {head - 1}")
        head = head or cells if cells else 0
    assert odd == []
