"""The control laws that `designs` knows, and what each is for."""

from __future__ import annotations

import tomllib
from pathlib import Path


def law_purposes() -> dict[str, str]:
    """Return the purpose of each control law in a line, by name."""
    return tomllib.loads(Path(__file__).with_name("laws.toml").read_text("utf-8"))


def plain_name(name: str) -> str:
    """A name as one types it on a command line."""
    return "-".join("".join(c if c.isalnum() else " " for c in name.lower()).split())
