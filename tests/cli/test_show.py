"""How commands print tables."""

from __future__ import annotations

import pytest
from rich.console import Console

from armdyn.cli import show

COLUMNS = ("link", "centre\n[m] ", "moments\n[kg m²] ")
ROWS = [("a_link_with_a_name", "-9.08e-05 0.0591 0.0311", "0.0000111 0.0000222 0.0000333")]
NUMBERS = " ".join(ROWS[0]).split()


@pytest.mark.parametrize(("terminal", "width"), [(False, 40), (True, 100), (True, 40)])
def test_no_number_of_a_table_is_cut(terminal, width, monkeypatch, capsys):
    """Rows stay whole in pipes and where the terminal is wide enough; otherwise they are broken between numbers."""
    monkeypatch.setattr(show, "_console", lambda: Console(width=width, force_terminal=terminal, no_color=True))
    show.print_table("Bodies", COLUMNS, ROWS)
    text = capsys.readouterr().out
    assert all(number in text for number in NUMBERS)
    whole = any(all(number in line for number in NUMBERS) for line in text.splitlines())
    assert whole == (width > 80 or not terminal)
