"""The page of all options is what the commands say, and says it without Python."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from armdyn.cli.app import COMMANDS, app

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "options.md").read_text()


def test_the_page_is_up_to_date(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    sys.modules.pop("options", None)
    import options

    assert options.page() == PAGE  # otherwise: python docs/options.py


@pytest.mark.parametrize("command", ["excite", "identify", "simulate", "study", "law"])
def test_the_help_of_a_command_has_the_options_of_the_page(command):
    part = PAGE.split(f"## `armdyn {command}`")[1].split("\n## ")[0]
    helped = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).output
    options = re.findall(r"(?<![\w-])--[a-z][a-z-]+", "\n".join(re.findall(r"`([^`]+)`", part)))
    assert len(options) > 5
    assert [option for option in options if option not in helped] == []


def test_every_command_and_option_is_explained():
    for command in COMMANDS:
        assert f"## `armdyn {command.__name__.replace('_', '-')}`" in PAGE
    assert re.findall(r"^\| `[^`]+` \|\s*\|$", PAGE, re.MULTILINE) == []


def test_no_python_in_the_words():
    words = re.sub(r"`[^`]*`", "", PAGE.split("## Options that")[1])
    assert re.findall(r"armdyn\.[A-Za-z]\w*|\bNone\b|ndarray|\w+\(\)", words) == []
    assert (
        re.findall(r"\b(?:rows?|samples|torque|turns|one) an? (?:joint|second|state|core|unit|sample)\b", words) == []
    )
