"""`armdyn reproduce [NAME|all]`: results of five published papers, computed again."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import typer

from armdyn.cli.interrupts import watch
from armdyn.cli.long_work import Tell, progress_bar
from armdyn.cli.show import attributes, print_json, print_line, print_list, print_table
from armdyn.errors import ArmdynError
from armdyn.reproduce import load


def document_names(incomplete: str) -> list[str]:
    """Names of documents for the shell; none where armdyn was installed without them."""
    try:
        return [name for name in (*load("cases").CASES, "all") if name.startswith(incomplete)]
    except ArmdynError:
        return []


def reproduce(
    name: str = "",
    out: Path = Path("armdyn-reproductions"),
    quick: bool = False,
    seed: int = 0,
    page: Path | None = None,
    json: bool = False,
) -> None:
    """Compute the results of five published papers and reports again and say where they agree.

    The programs are in the folder reproductions/ of armdyn's source, which an installed wheel lacks.

    For each document: a table of what the source states, what armdyn gets, and why they differ where data are
    missing; figures; one HTML page. Exit code 1 if something that should hold does not.
    """
    cases, pages = load("cases"), load("page")
    documents = cases.CASES

    if not name:
        print_json(documents) if json else print_table(
            "Documents that can be reproduced", ("name", "what"), documents.items()
        )
        return
    if name not in (*documents, "all"):
        raise typer.BadParameter(f"expected one of {', '.join(documents)}, or all, got {name!r}", param_hint="NAME")
    if page and name != "all":
        raise typer.BadParameter("expected together with 'all', as the page holds all documents", param_hint="--page")
    if page:
        pages.above_mark(page)  # say now what cannot be written later
    done: list[Any] = []
    files: list[str] = []
    wanted = list(documents) if name == "all" else [name]
    for at, each in enumerate(wanted):
        names = ", ".join(case.name for case in done) or "nothing"
        outcome = f"complete in {out}: {names}; 'armdyn reproduce {each}' computes this one again"
        title = f"reproducing {each}, {at + 1} of {len(wanted)}"
        with progress_bar(outcome) as show:
            case = cases.reproduce(each, quick, _step(show, title, cases.N_STEPS[each][quick]), seed)
            if watch().pressed:  # a simulation keeps what it has and ends, and its caller goes on
                raise KeyboardInterrupt
        done.append(case)
        files += map(str, pages.write(case, out))
        if not json:
            _show(case)
    if page:
        pages.print_into(page, done)
    if json:
        print_json({"cases": [_plain(case) for case in done], "files": files})
    else:
        for case in done:
            print_line(f"{case.name}: {case.counted}")
        print_line(f"Pages and figures are in {out}.")
    if not all(case.good for case in done):
        raise typer.Exit(1)


def _step(show: Tell, title: str, n_steps: int) -> Callable[[str], None]:
    """A callback for the steps of a document, as equal parts of its time."""
    taken = count()
    show(0, n_steps, title)
    return lambda text: show(next(taken), n_steps, f"{title}: {text}")


def _show(case: Any) -> None:
    """The rows, every text in full."""
    notes = [row.why for row in case.rows if row.why]
    marks = iter(range(1, len(notes) + 1))
    rows = [(*row[:4], f"{next(marks)}" if row.why else "") for row in case.rows]
    print_table(case.title, ("what", "source", "armdyn", "verdict", "note "), rows)
    print_list("Notes", [f"{k}: {note}" for k, note in enumerate(notes, 1)])
    for table in case.tables:
        print_table(table.title, table.columns, table.rows)
    print_list("Assumed where the source is silent", case.assumed)


def _plain(case: Any) -> dict[str, Any]:
    parts = {name: [part._asdict() for part in getattr(case, name)] for name in ("rows", "tables")}
    return attributes(case, "name title good assumed") | parts
