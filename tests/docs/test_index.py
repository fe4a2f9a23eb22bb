"""Every page can be found from the index, and links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import armdyn

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))


def links(page: Path) -> list[str]:
    return [link.split("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()) if "://" not in link]


def test_the_index_names_every_page() -> None:
    listed = set(links(ROOT / "docs" / "index.md"))
    assert {page.name for page in PAGES} - {"index.md"} <= listed


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    assert [link for link in links(page) if link and not (page.parent / link).exists()] == []


def test_examples_have_numbers_of_their_own() -> None:
    numbers = [path.name[:2] for path in (ROOT / "examples").glob("*.py")]
    assert all(number.isdigit() for number in numbers)
    assert len(set(numbers)) == len(numbers) > 10


def test_the_first_program_of_the_home_page_runs(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    arm = armdyn.arms.planar2()
    arm.save("robot.urdf")
    t = np.arange(2000) / 200
    q = np.stack([0.8 * np.sin(2.0 * t) + 0.3 * np.sin(5.1 * t), 0.7 * np.cos(3.1 * t) + 0.2 * np.sin(6.7 * t)], 1)
    qd, qdd = np.gradient(q, t, axis=0), np.gradient(np.gradient(q, t, axis=0), t, axis=0)
    tau = armdyn.joint_torque(arm, q, qd, qdd) + 0.1 * np.random.default_rng(0).normal(size=q.shape)
    np.savetxt("log.csv", np.column_stack([t, q, tau]), delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    (program,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "index.md").read_text(), re.DOTALL)
    exec(compile(program, "index.md", "exec"), {})
    expected, bound = map(float, capsys.readouterr().out.split())
    assert 0 < expected < bound < 0.2
    assert list((tmp_path / "c").glob("*.c"))
