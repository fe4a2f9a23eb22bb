"""Arms from Denavit-Hartenberg tables."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn

FIXTURES = ("planar2R", "planar_RP", "general_RPR_sdh", "general_RPR_mdh", "puma560_sdh", "puma560_mdh_akb")


@pytest.mark.parametrize("name", FIXTURES)
def test_golden_arms_reach_their_tip(golden, golden_arm, name):
    robot, cases = golden(name)["robot"], golden(name)["cases"]
    arm = golden_arm(robot)
    for case in cases:
        pose = armdyn.forward_kinematics(arm, case["q"])
        np.testing.assert_allclose(pose, case["T_tip"], rtol=0, atol=1e-14)  # some ten roundings of lengths near 1
