"""Columns of a study in words and units, where people read them; files and scripts keep their names."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

# Groups of columns -> what `columns.toml` says of each column. Others keep their names, and have no unit.
TABLES = tomllib.loads(Path(__file__).with_name("columns.toml").read_text(encoding="utf-8"))
COLUMNS: dict[str, dict[str, Any]] = {name: about for table in TABLES.values() for name, about in table.items()}


def metrics_of(group: str) -> dict[str, str]:
    """Return the columns of a group that judge a case, and which is better of each: "low" or "high"."""
    return {name: about["better"] for name, about in TABLES[group].items()}


def words(name: str) -> str:
    """A column's name in words."""
    return str(COLUMNS.get(name, {}).get("words", name))


def unit(name: str) -> str:
    """A column's unit; empty where it has none."""
    return str(COLUMNS.get(name, {}).get("unit", ""))


def infinite(name: str) -> str:
    """Meaning of an infinite value of a column."""
    return str(COLUMNS.get(name, {}).get("infinite", "diverged"))


def label(name: str) -> str:
    """A column's name in words, with its unit."""
    return f"{words(name)} [{unit(name)}]" if unit(name) else words(name)
