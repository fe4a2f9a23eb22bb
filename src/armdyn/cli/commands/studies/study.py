"""`armdyn study FILE.toml`: thousands of runs, designs or identifications from one file."""

from __future__ import annotations

from math import isfinite, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armdyn.cli.long_work import progress_bar, working
from armdyn.cli.show import print_json

if TYPE_CHECKING:
    from armdyn.study.spec import Study
    from armdyn.study.summary import Summary


def study(
    file: Path, out: Path | None = None, resume: bool = False, workers: int = 1, dask: str | None = None,
    case: int | None = None, json: bool = False,
) -> None:  # fmt: skip
    """Compute a study, or go on with one: quantiles, success regions, what matters, and the worst cases."""
    from armdyn.report.registry import report
    from armdyn.study.run import keep_memory, run_study
    from armdyn.study.spec import read_study

    with working("reading the study"):
        subject = read_study(file)
    folder = Path(subject.name) if out is None else out
    if case is not None:
        _show_case(subject, case, folder, json)
        return
    keep_memory()
    with progress_bar(f"finished cases are kept in {folder}; continue with --resume") as tell:
        columns = run_study(
            subject, folder, resume=resume, workers=workers, dask=dask, progress=tell,
        )  # fmt: skip
        tell(0, 0, "writing the report")
        summary = subject.summary(columns)
        report(summary, folder / "report.html")
        _write_figures(summary, folder)
    if json:
        print_json(summary.data)
        return
    print(summary)
    print(f"\nwrote {folder}/parts/*.parquet and {folder / 'report.html'}")


def _show_case(subject: Study, number: int, folder: Path, json: bool) -> None:
    """One case: its page beside the results, its numbers on the screen."""
    from armdyn.report.registry import report
    from armdyn.study.labels import label

    row = subject.row(number)
    folder.mkdir(parents=True, exist_ok=True)
    path = report(subject.case(number), folder / f"case-{number}.html")
    if json:
        print_json({**row, "page": str(path)})
        return
    width = max(len(label(name)) for name in row)
    for name, value in row.items():
        print(f"{label(name):{width}s}  {_value_text(name, value)}")
    print(f"wrote {path}")


def _value_text(name: str, value: Any) -> str:
    """A number of a case; what is infinite or missing in a word."""
    from armdyn.study.summary import format_metric

    if not isinstance(value, float):
        return str(value)
    if isnan(value):
        return "never" if name == "diverged" else "-"
    return f"{value:.6g}" if isfinite(value) else format_metric(name, value)


def _write_figures(summary: Summary, folder: Path) -> None:
    """Every picture as PNG."""
    import matplotlib.pyplot as plt

    from armdyn.files import write_figure

    for name, draw in summary.figures.items():
        figure = draw()
        write_figure(folder / f"{name}.png", figure, dpi=130, bbox_inches="tight")
        plt.close(figure)
