"""Results show themselves in notebooks, and the notebook of the documentation runs."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.simulation.compare import Sway, compare
from armdyn.simulation.result import RunOutcome


class _Balanced(HTMLParser):
    """Counts cells, and that every element is closed in its turn."""

    EMPTY = ("img", "br", "meta", "line", "circle")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "td":
            self.cells.append(data)


def shown(result) -> tuple[str, list[str]]:
    text = result._repr_html_()
    return text, _Balanced(text).cells


@pytest.fixture(scope="module")
def arm():
    return armdyn.arms.planar2()


@pytest.fixture(scope="module")
def run(arm):
    return armdyn.simulate(arm, armdyn.PD(arm, [400, 200], [40, 20]), Sway.within(arm, 1.0), 1.0, 1000.0)


def test_an_arm_shows_joints_and_bodies():
    text, cells = shown(armdyn.arms.scara())
    assert "0 .. 0.3 m" in cells
    assert "scara: 4 joints" in text


def test_names_with_markup_and_unknown_inertias_are_shown_as_they_are():
    odd = armdyn.Arm.from_dh([{"kind": "R", "a": 0.3, "name": "<b>j"}], name="<script>")
    text, cells = shown(odd)
    assert "<script>" not in text
    assert "1 <b>j" in cells
    assert "unknown" in cells
    assert "findings: see armdyn.diagnose" in text


def test_a_run_shows_its_errors(run):
    text, cells = shown(run)
    assert cells[0] == run.joint_names[0]
    assert f"{np.degrees(run.metrics.rms_error[0]):.3g}" in cells
    assert "[deg]" in text
    assert text.count("data:image/png;base64,") == 1


def test_a_run_that_was_stopped_says_why(run):
    stopped = dataclasses.replace(run, outcome=RunOutcome(run.diverged, False, ("interrupted at t = 0.5 s",)))
    assert "interrupted at t = 0.5 s" in shown(stopped)[0]


def test_a_comparison_shows_its_table_and_picture(arm):
    laws = {"PD": armdyn.PD(arm, [400, 200], [40, 20])}
    found = compare(arm, laws, Sway.within(arm, 0.5), 200.0, about="one law")
    text, cells = shown(found)
    assert "one law" in text
    assert f"{1e3 * found['PD'].final_rms:.3g}" in cells  # mrad
    assert text.count("data:image/png;base64,") == 1


def test_inverse_kinematics_shows_all_solutions():
    puma = armdyn.arms.puma560()
    pose = armdyn.forward_kinematics(puma, [0.3, -0.7, 0.4, 0.5, 0.6, -0.2])
    text, cells = shown(armdyn.inverse_kinematics(puma, pose))
    assert text.count("<tr>") == 1 + 1 + 8
    assert cells[:3] == ["chosen", "0.3000", "-0.7000"]
    many = armdyn.inverse_kinematics(puma, np.stack([pose, pose]))
    assert "2 of 2 poses solved" in shown(many)[0]


def test_an_exciting_motion_shows_how_good_it_is(arm):
    found = armdyn.excite(arm, 4.0, max_acceleration=10.0, max_velocity=3.0, steps=60)
    text, _ = shown(found)
    assert f"Condition number {found.condition:.1f}" in text
    assert text.count("data:image/png;base64,") == 1


def test_a_fit_and_its_check_show_themselves(arm):
    rows = [[0.2, 0.8, 0.3, 0.2, 0.5, -0.4, 0.2], [0.5, 0.3, -0.9, 0.4, 0.2, 0.5, -0.3]]
    motion = armdyn.FourierSeries(np.array(rows), 0.25, 12.0)
    t = np.arange(0, 12, 0.005)
    q, qd, qdd = motion(t)
    log = armdyn.Log(t, q, armdyn.joint_torque(arm, q, qd, qdd), name="a <log>")
    fit = armdyn.identify(arm, log)
    text, cells = shown(fit)
    assert f"{fit.rel_error_joints[1]:.2%}" in cells
    assert "joint terms" in text
    assert text.count("data:image/png;base64,") == 1
    text, cells = shown(fit.checks[0])
    assert "a &lt;log&gt;" in text
    assert cells[0] == f"1 {arm.joint_names[0]}"


def test_drawing_leaves_no_figure_open(run):
    """Notebooks show every open figure below a cell: it would appear twice."""
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    run._repr_html_()
    assert plt.get_fignums() == before


def test_its_style_stays_inside(run):
    (style,) = re.findall(r"<style>(.*?)</style>", run._repr_html_(), re.DOTALL)
    selectors = [part for rule in style.split("}") for part in rule.split("{")[0].strip().split(",") if part]
    assert all(selector.startswith(".armdyn ") for selector in selectors)


NOTEBOOK = Path(__file__).parents[1] / "docs" / "notebook.ipynb"


def test_the_notebook_of_the_documentation_was_executed_and_is_small():
    nbformat = pytest.importorskip("nbformat", reason="nbformat reads notebooks; it comes with the extra 'test'")
    cells = [cell for cell in nbformat.read(NOTEBOOK, 4).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert all("text/html" in output.data for cell in cells for output in cell.outputs)
    assert len(cells) == sum(len(cell.outputs) for cell in cells)
    assert NOTEBOOK.stat().st_size < 300_000


@pytest.mark.slow
def test_the_notebook_of_the_documentation_runs(tmp_path):
    nbclient = pytest.importorskip("nbclient", reason="nbclient runs notebooks; it comes with the extra 'test'")
    pytest.importorskip("ipykernel", reason="a notebook needs a kernel; ipykernel comes with the extra 'test'")
    import nbformat

    notebook = nbformat.read(NOTEBOOK, 4)
    before = [cell.get("outputs") for cell in notebook.cells]
    where = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=where).execute()
    for old, cell in zip(before, notebook.cells, strict=True):
        kinds = [[sorted(output.data) for output in outputs] for outputs in (old or (), cell.get("outputs", ()))]
        assert kinds[0] == kinds[1]
