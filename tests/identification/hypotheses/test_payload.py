"""A load at the tip that the description lacks is a note with its mass, and described it is gone."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn

COM = (0.02, -0.03, 0.05)


def payloads(arm, log):
    return [f for f in armdyn.check_log(arm, log).findings if f.kind == "payload"]


@pytest.fixture(scope="module")
def loaded_log(puma, make_log):
    return make_log(puma.with_payload(2.0, COM))


def test_a_load_is_noted_with_its_mass(puma, loaded_log):
    (finding,) = payloads(puma, loaded_log)
    assert finding.level == "note"
    assert finding.value == pytest.approx(2.0, rel=0.05)
    assert finding.log_evidence > 15
    assert 0 < finding.error_reduction < 1
    described = puma.with_payload(finding.value, COM)
    assert payloads(described, loaded_log) == []


def test_a_load_that_was_taken_off_has_a_negative_mass(puma, make_log):
    (finding,) = payloads(puma.with_payload(2.0, COM), make_log(puma))
    assert finding.value == pytest.approx(-2.0, rel=0.05)
    assert "taken off" in finding.text


def test_the_centre_of_mass_is_in_the_frame_of_the_tip(puma, loaded_log):
    turned = np.eye(4)
    turned[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    turned[:3, 3] = [0.1, 0.0, 0.2]
    (finding,) = payloads(puma.with_tool(turned), loaded_log)
    expected = np.linalg.inv(turned) @ puma.tool_pose @ [*COM, 1.0]
    stated = [float(x) for x in finding.hint.rpartition("(")[2].rstrip(")").split(",")]
    assert stated == pytest.approx(expected[:3], abs=0.02)


@pytest.mark.parametrize("factor", [0.5, 1.5])
def test_bodies_that_are_all_off_are_no_load(puma, loaded_log, factor):
    others = puma.with_theta(np.where(np.arange(puma.theta.size) < 40, factor, 1.0) * puma.theta)
    assert payloads(others, loaded_log) == []


def test_an_exact_description_has_no_load(puma, make_log):
    assert payloads(puma, make_log(puma)) == []
