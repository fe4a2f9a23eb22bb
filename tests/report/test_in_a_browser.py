"""Pages of results as a browser shows them: on a desk, on a phone and on paper, and without asking anybody."""

from __future__ import annotations

import numpy as np
import pytest
from tools.check_pages import faults

import armdyn
from armdyn.simulation.compare import Sway, compare
from reproductions.cases import reproduce
from reproductions.page import write


@pytest.fixture(scope="module")
def pages(tmp_path_factory, servo_fit):
    """One of each kind that is made in seconds."""
    folder, arm = tmp_path_factory.mktemp("pages"), armdyn.arms.puma3()
    t = np.arange(0, 12, 0.01)
    w = np.array([2.0, 3.0, 4.0])
    a, middle = w * t[:, None], np.mean(arm.position_limits, axis=0)
    q, qd, qdd = middle + np.sin(a), w * np.cos(a), -(w**2) * np.sin(a)
    log = armdyn.Log(t, q, armdyn.joint_torque(arm.with_theta(1.1 * arm.theta), q, qd, qdd))
    run = armdyn.simulate(arm, armdyn.ComputedTorque.from_bandwidth(arm, 3.0), [0.2, 0.2, 0.2], 0.3, 500)
    results = {"fit": armdyn.identify(arm, log), "check": armdyn.check_log(arm, log), "run": run}
    results["comparison"] = _comparison(arm)
    results["excitation"] = armdyn.excite(arm, 4.0, max_acceleration=8.0, steps=100)
    results["study"], results["servo"] = _study(folder), servo_fit
    made = [armdyn.report(result, folder / f"{name}.html") for name, result in results.items()]
    return [*made, write(reproduce("vukobratovic-1979", quick=True), folder)[0]]


# Parts wider than the page that cannot be scrolled to.
CUT = """[...document.querySelectorAll('body *')].filter(e => !e.closest('svg') && !e.closest('.wide, pre')
    && e.getBoundingClientRect().right > innerWidth + 1).map(e => e.tagName + ' ' + e.textContent.slice(0, 60))"""
SHOWN = "[...document.querySelectorAll('.figure svg')].map(e => e.getBoundingClientRect().width).filter(x => x)"


def _comparison(arm):
    """Many controllers with long names, one of which diverges."""
    laws = {f"a controller with a long name {k}": armdyn.PD(arm, 100.0, 20.0 + k) for k in range(12)}
    laws["wild"] = armdyn.PD(arm, 1.0, 5e4)
    return compare(arm, laws, Sway.within(arm, 0.3), rate=500.0, about="many")


def _study(folder):
    """Three controllers, some of which fail."""
    (folder / "study.toml").write_text(STUDY)
    study = armdyn.read_study(folder / "study.toml")
    return study.summary(armdyn.run_study(study, folder / "results"))


STUDY = """
arm = "planar2"
[run]
rate = 200.0
duration = 0.3
[[controllers]]
design = "PD"
[[controllers]]
design = "PD + gravity"
[[controllers]]
design = "computed torque"
[[references]]
kind = "sway"
[samples]
count = 32
[parameters]
payload = { low = 0.0, high = 2.0 }
friction = { low = 0.5, high = 2.0 }
[success]
max_error = 0.02
"""


def test_they_need_nothing_and_fit(pages, browser):
    for path in pages:
        tab, asked, said = browser.new_page(viewport={"width": 1280, "height": 900}), [], []
        tab.on("request", lambda request, asked=asked: asked.append(request.url))
        tab.on("console", lambda message, said=said: said.append(message.text))
        tab.goto(path.as_uri())
        width = "document.documentElement.scrollWidth"
        for screen in (1280, 390):
            tab.set_viewport_size({"width": screen, "height": 844})
            tab.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
            assert tab.evaluate(width) <= screen, path.name  # what is wider scrolls by itself
            assert tab.evaluate(CUT) == [], path.name  # and shows that it does
            assert min(tab.evaluate(SHOWN), default=640) >= 640, path.name  # labels of 10 points stay readable
        assert tab.evaluate("document.querySelectorAll('svg').length") > 0
        tab.set_viewport_size({"width": 718, "height": 1000})  # A4 less its margins
        tab.emulate_media(media="print")
        assert tab.evaluate(width) <= 718, path.name
        widest = "Math.max(...[...document.querySelectorAll('.wide > *')].map(e => e.getBoundingClientRect().right))"
        assert tab.evaluate(widest) <= 719, path.name  # nothing is cut off on paper
        assert len(tab.evaluate(SHOWN)) >= tab.evaluate("document.querySelectorAll('body>main>figure').length")
        assert [url for url in asked if not url.startswith("data:")] == [path.as_uri()]
        assert said == []
        tab.close()
        assert faults(browser, path) == [], path.name  # titles, texts of pictures, contrast, width on a phone
        assert path.stat().st_size < 1_000_000


def test_curves_zoom_show_values_and_hide(pages, browser):
    """Drag, double click, hover and a click on a name, as a person does; all diagrams of a figure zoom together."""
    path = next(path for path in pages if path.name == "run.html")
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.goto(path.as_uri())
    diagrams = tab.locator("figure.plot").first.locator(".uplot")
    over, last = diagrams.first.locator(".u-over"), diagrams.last.locator(".u-value").first
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    y = box["y"] + box["height"] / 2
    tab.mouse.move(box["x"] + box["width"] / 2, y)
    assert float(last.inner_text()) == pytest.approx(0.15, abs=0.01)  # the time below the pointer, of another joint
    tab.mouse.down()
    tab.mouse.move(box["x"] + 0.9 * box["width"], y, steps=4)
    tab.mouse.up()
    tab.mouse.move(box["x"] + 2, y)
    assert float(last.inner_text()) == pytest.approx(0.15, abs=0.01)  # which is now the left end
    tab.mouse.dblclick(box["x"] + 2, y)
    tab.mouse.move(box["x"] + 3, y)
    assert float(last.inner_text()) == pytest.approx(0, abs=0.01)
    name = diagrams.first.locator(".u-series", has_text="reference")
    assert "u-off" not in name.get_attribute("class")
    name.locator("th").click()
    assert "u-off" in name.get_attribute("class")
    tab.close()


def test_without_scripts_the_figures_stay(pages, browser):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    for path in pages:
        tab.goto(path.as_uri())
        assert tab.locator("main .figure svg:visible").count() > 0, path.name
        assert tab.locator(".uplot").count() == 0
    context.close()
