"""The examples of `docs/formats.md` are true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from armdyn import Arm, Drive, Friction
from armdyn.model import dh, dh_table, toml_format, vectors
from armdyn.model.toml_format import arm_from_toml

PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()


@pytest.mark.parametrize("text", re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL))
def test_toml_examples_are_arms(text):
    assert arm_from_toml(text).n >= 1


@pytest.mark.parametrize("text", re.findall(r"```\n(# conv.*?)```", PAGE, re.DOTALL))
def test_csv_examples_are_arms(text):
    table = dh_table.parse_csv(text)
    assert Arm.from_dh(table.rows, **table.options).n == 3


@pytest.mark.parametrize(
    "keys",
    [dh.ROW_KEYS, dh_table.COLUMNS, vectors.KEYS, toml_format.OPTIONS, toml_format.TOP_KEYS, toml_format.JOINT_KEYS],
)
def test_every_key_is_mentioned(keys):
    words = set(re.findall(r"\w+", PAGE))
    assert [key for key in keys if key not in words] == []
    assert {Friction.__name__, Drive.__name__} <= words
