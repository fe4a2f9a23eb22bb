"""Pages of results as a browser shows them: on a desk, on a phone and on paper, and without asking anybody."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.reproduce.cases import reproduce
from armdyn.reproduce.page import write


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """One of each kind that is made in seconds."""
    folder, arm = tmp_path_factory.mktemp("pages"), armdyn.arms.puma3()
    t = np.arange(0, 10, 0.01)
    w = np.array([2.0, 3.0, 4.0])
    a, middle = w * t[:, None], np.mean(arm.position_limits, axis=0)
    q, qd, qdd = middle + np.sin(a), w * np.cos(a), -(w**2) * np.sin(a)
    log = armdyn.Log(t, q, armdyn.joint_torque(arm.with_theta(1.1 * arm.theta), q, qd, qdd))
    run = armdyn.simulate(arm, armdyn.ComputedTorque.from_bandwidth(arm, 3.0), [0.2, 0.2, 0.2], 0.3, 500)
    results = {"fit": armdyn.identify(arm, log), "check": armdyn.check_log(arm, log), "run": run}
    made = [armdyn.report(result, folder / f"{name}.html") for name, result in results.items()]
    return [*made, write(reproduce("vukobratovic-1979", quick=True), folder)[0]]


def test_they_need_nothing_and_fit(pages, browser):
    for path in pages:
        tab, asked, said = browser.new_page(viewport={"width": 390, "height": 844}), [], []
        tab.on("request", lambda request, asked=asked: asked.append(request.url))
        tab.on("console", lambda message, said=said: said.append(message.text))
        tab.goto(path.as_uri())
        width = "document.documentElement.scrollWidth"
        assert tab.evaluate(width) <= 390, path.name  # what is wider scrolls by itself
        assert tab.evaluate("document.querySelectorAll('svg').length") > 0
        tab.set_viewport_size({"width": 718, "height": 1000})  # A4 less its margins
        tab.emulate_media(media="print")
        assert tab.evaluate(width) <= 718, path.name
        widest = "Math.max(...[...document.querySelectorAll('.wide > *')].map(e => e.getBoundingClientRect().right))"
        assert tab.evaluate(widest) <= 719, path.name  # nothing is cut off on paper
        assert [url for url in asked if not url.startswith("data:")] == [path.as_uri()]
        assert said == []
        tab.close()
        assert path.stat().st_size < 1_000_000
