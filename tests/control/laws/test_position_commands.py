"""Positions sent to servos, as C."""

import shutil

import pytest

import armdyn
from armdyn import law_code
from armdyn.control.compiled import self_test
from armdyn.control.laws.position_commands import PositionCommands


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_it_exports(tmp_path):
    law = PositionCommands(armdyn.arms.planar2(), [0.0, 0.1], [[0.0, 0.0], [0.1, 0.2]])
    self_test(law_code(law, tmp_path, 500.0, prefix="commands"))
