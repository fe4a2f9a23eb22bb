"""Every page can be found from the index, and links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))


def links(page: Path) -> list[str]:
    return [link.split("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()) if "://" not in link]


def test_the_index_names_every_page() -> None:
    listed = set(links(ROOT / "docs" / "index.md"))
    assert {page.name for page in PAGES} - {"index.md"} <= listed


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    assert [link for link in links(page) if link and not (page.parent / link).exists()] == []


def test_examples_have_numbers_of_their_own() -> None:
    numbers = [path.name[:2] for path in (ROOT / "examples").glob("*.py")]
    assert all(number.isdigit() for number in numbers)
    assert len(set(numbers)) == len(numbers) > 10
