"""`armdyn demo`: from a description to a controller, on a PUMA 560, without arguments, network or hardware.

Each stage is a function of `demo_study` that works on the study, may write files into the folder, and returns one line
that says what was achieved.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from armdyn.cli.long_work import progress_bar
from armdyn.cli.show import print_json, print_list

if TYPE_CHECKING:
    from rich.console import Console

    from armdyn.cli.demo.study import DemoStudy

STAGES = (
    ("designing an exciting motion", "excite_arm"),
    ("measuring", "measure"),
    ("identifying", "identify_arm"),
    ("controlling", "control_arm"),
    ("writing C", "export_c"),
)


def demo(out: Path = Path("armdyn-demo"), json: bool = False) -> None:
    """Show what armdyn does: a PUMA 560 excited, identified, controlled, exported; results in a folder."""
    from rich.console import Console

    from armdyn import arms
    from armdyn.cli.demo.study import DemoStudy

    console = Console(highlight=False, stderr=json)
    out.mkdir(parents=True, exist_ok=True)
    console.print(
        "[bold]armdyn demo[/bold]: a PUMA 560 whose load differs from its description; no network, no hardware"
    )
    started = time.perf_counter()
    study = DemoStudy(arms.puma560(), out)
    lines = _run(study, out, console)
    seconds = time.perf_counter() - started
    if json:
        print_json({"folder": str(out), "seconds": seconds, "achieved": lines, "tip_errors": study.tracking})
        return
    console.print()
    print_list(f"Done in {seconds:.1f} s:", lines)
    console.print(f"Look at {out / 'report.html'} and {out / 'demo.png'}.", markup=False)


def _run(study: DemoStudy, out: Path, console: Console) -> list[str]:
    """All stages with a bar; what each achieved."""
    from armdyn.cli.demo import study as demo_study

    lines, stages = [], len(STAGES) + 1
    with progress_bar(f"earlier results are in {out}; run 'armdyn demo' again to restart", console=console) as tell:
        for at, (title, name) in enumerate(STAGES):
            tell(at, stages, f"{title}, {at + 1} of {stages}")
            begun = time.perf_counter()
            lines.append(getattr(demo_study, name)(study, out))
            console.print(f"  {title:<30}{time.perf_counter() - begun:6.2f} s")
        tell(stages - 1, stages, f"drawing, {stages} of {stages}")
        demo_study.show(study, lines, out)
    return lines
