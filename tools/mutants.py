"""Break armdyn on purpose, one small edit at a time, and see that tests notice.

    python tools/mutants.py                        all of them, two at a time
    python tools/mutants.py pool-small-block       by name
    python tools/mutants.py --area contact         by area

`tools/mutants.toml` lists the mutants: a name, the area, a file below `src/armdyn`, a fragment of its text that occurs
there exactly once, what replaces it, and the tests of which one must fail. Edits are made in copies of the checkout in
a temporary folder. The tests must pass there before the edit. A mutant is killed if a test fails, if the process
crashes, or if it exceeds the time limit. The exit code is 1 if one survives, no longer applies, or cannot be judged.
"""

from __future__ import annotations

import argparse
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = Path(__file__).with_suffix(".toml")
AT_ONCE = 2
MAX_SECONDS = 120.0  # of one mutant's tests, which take seconds without the edit
LEFT_OUT = shutil.ignore_patterns(".git", "__pycache__", ".*_cache", ".hypothesis", "*.egg-info", "dist", "build")
COMMAND = ("-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=line")
# Verdicts on a mutant; those of GOOD need no attention.
KILLED, TIMED_OUT, SURVIVED = "killed", "killed by time-out", "survived"
NO_EDIT, NO_TESTS = "edit does not apply", "no verdict"
GOOD = (KILLED, TIMED_OUT)


class MutantError(ValueError):
    """A mutant that does not apply."""


@dataclass(frozen=True)
class Mutant:
    """One edit of the source, and the tests that must notice it."""

    name: str
    area: str
    file: str  # below src/armdyn
    old: str
    new: str
    tests: tuple[str, ...]

    def path(self, root: Path) -> Path:
        """The file that is edited, in a checkout."""
        return root / "src" / "armdyn" / self.file

    def edited(self, text: str) -> str:
        """The text with the edit."""
        if self.old == self.new:
            raise MutantError(f"{self.name}: the edit changes nothing")
        if (count := text.count(self.old)) != 1:
            raise MutantError(f"{self.name}: the fragment occurs {count} times in {self.file}, expected once")
        return text.replace(self.old, self.new)


@dataclass(frozen=True)
class Outcome:
    """What became of a run of tests: the verdict, its time [s], and the last lines of the tests."""

    verdict: str
    seconds: float = 0.0
    output: str = ""


def read_mutants(path: Path = LIST) -> tuple[Mutant, ...]:
    """All mutants of a list; names are unique."""
    rows = tomllib.loads(path.read_text())["mutant"]
    mutants = tuple(Mutant(**{**row, "tests": tuple(row["tests"])}) for row in rows)
    names = [mutant.name for mutant in mutants]
    if doubles := {name for name in names if names.count(name) > 1}:
        raise MutantError(f"{path.name}: {', '.join(sorted(doubles))}: expected names that occur once")
    return mutants


class Bench:
    """Copies of the checkout in which tests run, each used by one run at a time."""

    def __init__(self, folder: Path, count: int, max_seconds: float) -> None:
        self.max_seconds = max_seconds
        self._free: queue.Queue[Path] = queue.Queue()
        self._running: set[subprocess.Popen[str]] = set()
        self._lock, self._stopped = threading.Lock(), False
        for k in range(count):
            copy = folder / str(k)
            shutil.copytree(ROOT, copy, ignore=LEFT_OUT, symlinks=True)
            self._free.put(copy)

    def passes(self, tests: Sequence[str]) -> Outcome:
        """Run tests without an edit."""
        return self._on_a_copy(lambda copy: self._pytest(copy, tests))

    def judge(self, mutant: Mutant) -> Outcome:
        """Run a mutant's tests with its edit."""
        return self._on_a_copy(lambda copy: self._judge(copy, mutant))

    def stop(self) -> None:
        """End all runs."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                _end(process)

    def _on_a_copy(self, work: Callable[[Path], Outcome]) -> Outcome:
        copy = self._free.get()
        try:
            return work(copy)
        finally:
            self._free.put(copy)

    def _judge(self, copy: Path, mutant: Mutant) -> Outcome:
        path = mutant.path(copy)
        try:
            text = path.read_text()
            edited = mutant.edited(text)
        except (OSError, MutantError) as error:
            return Outcome(NO_EDIT, output=str(error))
        path.write_text(edited)
        try:
            return self._pytest(copy, mutant.tests)
        finally:
            path.write_text(text)

    def _pytest(self, copy: Path, tests: Sequence[str]) -> Outcome:
        """Run tests in a copy, in a process group of their own so that a time-out ends what they started too."""
        begin = time.monotonic()
        process = self._start([sys.executable, *COMMAND, *tests], copy)
        try:
            output, _ = process.communicate(timeout=self.max_seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            output, _ = process.communicate()
            return Outcome(TIMED_OUT, time.monotonic() - begin, output)
        finally:
            with self._lock:
                self._running.discard(process)
        # 1: a test failed, negative: a signal ended the process; above 1 pytest found or started no test.
        verdict = SURVIVED if process.returncode == 0 else NO_TESTS if process.returncode > 1 else KILLED
        return Outcome(verdict, time.monotonic() - begin, output)

    def _start(self, command: Sequence[str], copy: Path) -> subprocess.Popen[str]:
        # Neither bytecode nor kernels of another text may serve: Python compares times in seconds and sizes alone.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ARMDYN_")}
        environment |= {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
        environment |= {"TMPDIR": str(copy.parent)}
        with self._lock:
            if self._stopped:
                raise KeyboardInterrupt
            process = subprocess.Popen(
                command, cwd=copy, env=environment, text=True, errors="replace", start_new_session=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
            self._running.add(process)
        return process


def _end(process: subprocess.Popen[str]) -> None:
    """End a process and all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def judge_all(mutants: Sequence[Mutant], say: Callable[[str], None] = print) -> dict[str, Outcome]:
    """The outcome of each mutant, by name; progress goes to `say`."""
    with tempfile.TemporaryDirectory(prefix="armdyn-mutants-") as folder, ThreadPoolExecutor(AT_ONCE) as workers:
        bench = Bench(Path(folder), AT_ONCE, MAX_SECONDS)
        try:
            sets = dict.fromkeys(mutant.tests for mutant in mutants)
            plain = dict(zip(sets, workers.map(bench.passes, sets), strict=True))
            for tests, outcome in plain.items():
                if outcome.verdict != SURVIVED:
                    say(f"tests do not pass without an edit: {' '.join(tests)}\n{outcome.output}")
            able = [mutant for mutant in mutants if plain[mutant.tests].verdict == SURVIVED]
            found = {mutant.name: Outcome(NO_TESTS) for mutant in mutants}
            for mutant, outcome in zip(able, workers.map(bench.judge, able), strict=True):
                found[mutant.name] = outcome
                say(f"{mutant.name}: {outcome.verdict}")
                if outcome.verdict not in GOOD:
                    say(outcome.output)
            return found
        finally:
            bench.stop()


def table(mutants: Iterable[Mutant], outcomes: dict[str, Outcome]) -> str:
    """The outcomes, a line a mutant, and their count."""
    rows = [("mutant", "area", "result", "s")]
    rows += [(m.name, m.area, outcomes[m.name].verdict, f"{outcomes[m.name].seconds:.0f}") for m in mutants]
    widths = [max(len(row[k]) for row in rows) for k in range(4)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    bad = sum(outcome.verdict not in GOOD for outcome in outcomes.values())
    return "\n".join([*lines, "", f"{len(outcomes)} mutants, {len(outcomes) - bad} killed, {bad} not"])


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge the mutants that are asked for."""
    mutants = read_mutants()
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="mutants by name; default all")
    parser.add_argument("--area", action="append", default=[], choices=sorted({m.area for m in mutants}))
    asked = parser.parse_args(arguments)
    if unknown := set(asked.names) - {mutant.name for mutant in mutants}:
        parser.error(f"no mutant is called {', '.join(sorted(unknown))}; {LIST.name} lists them")
    everything = not (asked.names or asked.area)
    chosen = [m for m in mutants if everything or m.name in asked.names or m.area in asked.area]
    outcomes = judge_all(chosen, lambda line: print(line, flush=True))
    print(table(chosen, outcomes))
    return int(any(outcome.verdict not in GOOD for outcome in outcomes.values()))


if __name__ == "__main__":
    sys.exit(main())
