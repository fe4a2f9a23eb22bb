"""Exported laws on this machine: their self-test, and how long a step takes."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from armdyn.control.export import LawCode
from armdyn.errors import ArmdynError
from armdyn.files import fill_template


def compiler() -> str | None:
    """The C compiler of this machine, if there is one."""
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def self_test(code: LawCode) -> None:
    """Compile an exported law with its self-test and run it; an error if it fails."""
    _run(code, code.selftest)


def step_time(code: LawCode, n: int) -> float:
    """Seconds of one step of an exported law of n joints in double precision: the best of some batches, -O2."""
    numbers = ", ".join(f"{0.1 + 0.07 * i:.3f}" for i in range(n))
    template = Path(__file__).with_name("step_timer.c")
    text = fill_template(template, header=code.header.name, prefix=code.header.stem, n=n, numbers=numbers)
    with tempfile.TemporaryDirectory() as folder:
        timer = Path(folder) / "timer.c"
        timer.write_text(text)
        return 1e-9 * float(_run(code, timer).split()[0])


def _run(code: LawCode, main: Path) -> str:
    """Return what a program of the law's sources and `main` prints."""
    cc = compiler()
    if cc is None:
        raise ArmdynError("generated C: no compiler found", expected="cc, gcc or clang in PATH")
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "program")
        sources = map(str, (*code.sources, main))
        printed = ""
        for step in ([cc, "-std=c99", "-O2", f"-I{code.header.parent}", *sources, "-lm", "-o", program], [program]):
            done = subprocess.run(step, capture_output=True, text=True)
            if done.returncode:
                raise ArmdynError(f"generated C: {step[0]} failed: {done.stderr.strip() or done.stdout.strip()}")
            printed = done.stdout
    return printed
