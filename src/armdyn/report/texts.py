"""Sentences of pages that do not depend on the result, from `texts.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def texts(page: str) -> dict[str, Any]:
    """Return the sentences of a page by name, or several of them."""
    return tomllib.loads(Path(__file__).with_name("texts.toml").read_text(encoding="utf-8"))[page]
