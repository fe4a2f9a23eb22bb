"""What long commands share: they look first whether their files can be written, and show how far they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import typer

from armdyn.cli import INTERRUPTED
from armdyn.cli.durations import durations
from armdyn.cli.interrupts import PATIENCE_S, SAVING_S, watch
from armdyn.progress import add_task, make_bar

if TYPE_CHECKING:
    from rich.console import Console

NOTHING_KEPT = "nothing was written; run the command again to restart"
MODELS = (".urdf", ".xml", ".toml", ".csv")


def require_folders(
    *paths: Path | None, report: Path | None = None, model: Path | None = None, figure: Path | None = None
) -> None:
    """Reject early what would fail after minutes of work: a folder that is not there, an ending that is not known."""
    from armdyn.errors import ArmdynError
    from armdyn.presentation import require_page, require_picture

    require_page(report, "--report")
    require_picture(figure, "--figure")
    if model is not None and model.suffix.lower() not in MODELS:
        raise ArmdynError(where="--out", expected=f"a file that ends in {', '.join(MODELS)}", got=f"'{model}'")
    for path in (*paths, report, model, figure):
        if path is not None and not path.parent.is_dir():
            raise ArmdynError(f"cannot write '{path}': there is no folder '{path.parent}'", names=(path, path.parent))


def end_command(text: str) -> NoReturn:
    """Report progress and partial results after Ctrl-C, and end the command."""
    typer.echo(f"armdyn: interrupted{text}", err=True)
    raise typer.Exit(INTERRUPTED) from None


class Tell(Protocol):
    """Callback of a progress bar."""

    def __call__(self, done: float, total: float, text: str, has_result: bool = False) -> None:
        """Show how far the work is, what is being done, and whether there is something to keep already."""


@contextmanager
def progress_bar(
    outcome: str = NOTHING_KEPT,
    patience: float = PATIENCE_S,
    *,
    saves: bool = False,
    console: Console | None = None,
) -> Iterator[Tell]:
    """A bar on stderr with the time left, on terminals alone; where the total is 0 it shows only that work goes on.

    Ctrl-C ends the program with a word on where it was and what is kept, within `patience` [s]; where the command has
    a result, it has longer to keep it. With `saves` it is the next `tell` that is interrupted then, and
    nothing after it: the files that are written inside are written.
    """
    doing, monitor = "starting", watch()
    monitor.settled.clear()
    monitor.patience, monitor.message = patience, f"interrupted while {doing}; {outcome}"
    try:
        with make_bar(console) as bar:
            draw_line = add_task(bar, doing, durations())
            durations().bar += 1

            def show(done: float, total: float, text: str, has_result: bool = False) -> None:
                nonlocal doing
                doing = text
                durations().enter(text)
                monitor.message, monitor.patience = (
                    f"interrupted while {text}; {outcome}",
                    SAVING_S if has_result else patience,
                )
                monitor.saves = saves and has_result
                draw_line(done, total, text)
                if monitor.pressed and monitor.saves:
                    raise KeyboardInterrupt

            yield show
    except KeyboardInterrupt:
        monitor.settled.set()
        end_command(f" while {doing}; {outcome}")
    finally:
        monitor.saves = False
    monitor.settled.set()  # what was found is being written
    monitor.patience = PATIENCE_S


@contextmanager
def working(*steps: str, outcome: str = NOTHING_KEPT) -> Iterator[Callable[[], None]]:
    """Show steps of work; what is yielded goes on to the next one. Their number is no measure of their time."""
    with progress_bar(outcome) as tell:
        rest = iter(steps)

        def go_on() -> None:
            tell(0, 0, next(rest))

        go_on()
        before = watch().pressed
        yield go_on
        if watch().pressed and not before:  # a simulation inside kept what it had, and its caller went on
            raise KeyboardInterrupt


def write_results(result: Any, out: Path | None, page: Path | None, outcome: str = NOTHING_KEPT) -> None:
    """Save a result and write its page, where these were asked for; `outcome` is what Ctrl-C before leaves."""
    if out is not None:
        with working(f"writing {out}", outcome=outcome):
            result.save(out)
    if page is not None:
        draw(result, page, out, **({} if out is None else {"out": out}))


def draw(result: Any, page: Path, *written: Path | None, **options: Any) -> None:
    """Write the page of a result; Ctrl-C meanwhile says what was written before."""
    from armdyn.report.registry import report

    with working(f"drawing {page}", outcome=_written_text(*written)):
        report(result, page, **options)


@contextmanager
def after_writing(*written: Path | None) -> Iterator[None]:
    """Ctrl-C inside, where results are shown, says what is written."""
    try:
        yield
    except KeyboardInterrupt:
        end_command(f"; {_written_text(*written)}")


def _written_text(*written: Path | None) -> str:
    files = [str(path) for path in written if path is not None]
    return f"{', '.join(files)} {'is' if len(files) == 1 else 'are'} written" if files else NOTHING_KEPT
