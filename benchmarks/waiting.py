"""How long commands keep a user waiting, beside another version: `python -m benchmarks.waiting [FOLDER]`.

FOLDER is the source of the other version, such as `git worktree add ../before 5b7217c` makes. Both run the same
commands in processes of their own and take turns, the version that begins changing from round to round; a round begins
with an empty folder of kernels (cold) and repeats each command once (warm). Printed are the least wall and processor
times of the rounds, and the median of the rounds' ratios; processor times hold on a busy machine too.

With `--durations FILE` every command that shows a bar runs once instead, with an empty folder of kernels, and the times
of their steps are written: `src/armdyn/cli/durations.json`, from where the first run of a command knows its time left.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import armdyn

SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"
ROUNDS = 1 if SMALL else 3
SERVO_S, SERVO_HZ = (4.0, 50) if SMALL else (25.0, 50)
LOG_S, LOG_HZ = (4.0 if SMALL else 20.0), 500
STATES = ("cold", "warm")
COMMANDS = {
    "--version": "--version",
    "info panda": "info panda",
    "simulate panda": "simulate panda --out run.npz",
    "identify-servo, six joints": "identify-servo ur5e servo.csv --command action --measured observation",
    "identify ur5e": "identify ur5e log.csv --force --out identified.toml",
    "compare puma560": "compare puma560",
}
# Commands that show a bar, as a first user runs them.
WITH_BARS = (
    "demo", "excite ur5e --duration 10 --out motion.csv", "identify ur5e log.csv --force --out identified.toml",
    "validate ur5e log.csv", "payload ur5e carrying.csv", "calibrate ur5e points.csv",
    "drive-gains ur5e log.csv carrying.csv --mass 2",
    "identify-servo ur5e servo.csv --command action --measured observation",
    "simulate ur5e --out run.npz --report run.html",
    "compare ur5e --report compare.html", "law ur5e computed-torque", "codegen ur5e inverse_dynamics",
    "identify ur5e log.csv --check", "codegen ur5e --fmu plant.fmu", "codegen ur5e --ros2 package",
    "codegen ur5e --law computed-torque --fmu law.fmu", "law ur5e computed-torque --fmu law.fmu", "study study.toml",
)  # fmt: skip
# Goals for this version [s of wall time, alone on two cores]: cold, warm.
GOALS = {"identify-servo, six joints": (8.0, 4.0), "compare puma560": (40.0, 10.0)}
QUICK = ("--version", "info panda", "simulate panda")  # in small size


class Seconds(NamedTuple):
    """Times of a command."""

    wall: float
    processor: float


def waves(t: np.ndarray, n: int, seed: int) -> np.ndarray:
    """Positions (N, n): three sines per joint that begin at rest."""
    rng = np.random.default_rng(seed)
    size, w = rng.uniform(0.1, 0.3, (3, n, 1)), rng.uniform(0.6, 4.0, (3, n, 1))
    return (size * np.sin(w * t)).sum(0).T * (1 - np.exp(-t[:, None]))


def write_table(path: Path, words: tuple[str, ...], columns: list[np.ndarray]) -> None:
    """Write times and one block of columns for each word."""
    heads = [
        f"{word}.joint{k}" for word, block in zip(words, columns[1:], strict=True) for k in range(1, block.shape[1] + 1)
    ]
    np.savetxt(path, np.column_stack(columns), "%.9g", ",", header=",".join(["t", *heads]), comments="")


def write_files(folder: Path) -> None:
    """Write the logs that the commands read."""
    shutil.copy(Path(__file__).parents[1] / "examples" / "60_study.toml", folder / "study.toml")
    arm, rng = armdyn.arms.ur5e(), np.random.default_rng(0)
    t = np.arange(0.0, LOG_S, 1 / LOG_HZ)
    q = waves(t, arm.n, 1)
    qd = np.gradient(q, t, axis=0)
    friction = 3.0 * np.tanh(qd / 0.01) + 2.0 * qd
    for name, loaded in (("log", arm), ("carrying", arm.with_payload(2.0))):
        tau = armdyn.joint_torque(loaded, q, qd, np.gradient(qd, t, axis=0)) + friction + 0.1 * rng.normal(size=q.shape)
        write_table(folder / f"{name}.csv", ("position", "effort"), [t, q + 1e-5 * rng.normal(size=q.shape), tau])
    q = rng.uniform(-1, 1, (40, arm.n))
    tips = armdyn.forward_kinematics(arm, q + 0.005)[:, :3, 3] + rng.normal(0, 1e-4, (40, 3))
    heads = ",".join([*(f"q{k + 1}" for k in range(arm.n)), "x", "y", "z"])
    np.savetxt(folder / "points.csv", np.column_stack([q, tips]), "%.9g", ",", header=heads, comments="")
    t = np.arange(0.0, SERVO_S, 1 / SERVO_HZ)
    command = waves(t, arm.n, 2)
    write_table(folder / "servo.csv", ("action", "observation"), [t, command, followed(arm, command)])


def followed(arm: armdyn.Arm, command: np.ndarray) -> np.ndarray:
    """Positions of an arm whose servos follow commands 10 ms later, by semi-implicit Euler steps."""
    steps, late = 20, 10
    h = 1 / (SERVO_HZ * steps)
    joints = [dataclasses.replace(joint, drive=armdyn.Drive(rotor_inertia=1.0)) for joint in arm.joints]
    plant, stiffness, damping = arm.with_joints(joints), 3000.0, 300.0
    sent = np.repeat(command, steps, axis=0)
    q, qd, rows = command[0].copy(), np.zeros(arm.n), []
    for k in range(len(sent)):
        if k % steps == 0:
            rows.append(q.copy())
        tau = stiffness * (sent[max(0, k - late)] - q) - damping * qd - 2.0 * np.tanh(qd / 0.01)
        qd += h * armdyn.joint_acceleration(plant, q, qd, tau)
        q += h * qd
    return np.array(rows)


def seconds(source: Path, words: str, folder: Path, cache: Path) -> Seconds:
    """Run a command of the version in `source`; its times."""
    environment = os.environ | {"PYTHONPATH": str(source / "src"), "ARMDYN_CACHE_DIR": str(cache)}
    environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "armdyn", *words.split()]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"{source}: armdyn {words}: {done.stderr}")
    return Seconds(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def measured(words: str, sources: list[Path], folder: Path, rounds: int) -> list[list[list[Seconds]]]:
    """Times by version, cold and warm, and round."""
    times: list[list[list[Seconds]]] = [[[], []] for _ in sources]
    for number in range(rounds):
        turns = list(enumerate(sources))
        for version, source in turns if number % 2 == 0 else turns[::-1]:
            with tempfile.TemporaryDirectory() as cache:
                for state in range(2):
                    times[version][state].append(seconds(source, words, folder, Path(cache)))
    return times


def durations(folder: Path) -> dict[str, Any]:
    """Times of the steps of every command with a bar, in a first run."""
    source, record = Path(__file__).resolve().parents[1], {}
    for words in WITH_BARS:
        with tempfile.TemporaryDirectory() as cache:
            seconds(source, words, folder, Path(cache))
            fresh = json.loads(Path(cache, "durations.json").read_text(encoding="utf-8"))
            record = {name: about | {"arms": []} for name, about in fresh.items()} | record
    return record


def row(name: str, state: int, times: list[list[list[Seconds]]]) -> str:
    """A line of the table."""
    cells = [name, STATES[state]]
    for version in times:
        cells += [f"{min(one[k] for one in version[state]):.2f}" for k in range(2)]
    if len(times) > 1:
        pairs = list(zip(times[0][state], times[1][state], strict=True))
        cells += [f"{statistics.median(a[k] / b[k] for a, b in pairs):.2f}" for k in range(2)]
    goal = GOALS.get(name)
    return " | ".join(["", *cells, "" if goal is None else f"{goal[state]:g}", ""]).strip()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="source of the other version")
    parser.add_argument("--only", action="append", metavar="WORD", help="commands with this word alone; repeatable")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--durations", type=Path, metavar="FILE", help="write the times of steps instead")
    options = parser.parse_args()
    if options.durations:
        with tempfile.TemporaryDirectory() as folder:
            write_files(Path(folder))
            lines = (f"  {json.dumps(name)}: {json.dumps(about)}" for name, about in durations(Path(folder)).items())
            options.durations.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        return
    sources = [Path(__file__).resolve().parents[1], *([options.folder.resolve()] if options.folder else [])]
    others = ["other wall", "other CPU", "ratio wall", "ratio CPU"] if options.folder else []
    heads = ["command", "kernels", "wall [s]", "CPU [s]", *others, "goal, wall [s]"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        for name, words in COMMANDS.items():
            wanted = any(word in words for word in options.only) if options.only else not SMALL or name in QUICK
            if wanted:
                times = measured(words, sources, Path(folder), options.rounds)
                print("\n".join(row(name, state, times) for state in range(2)), flush=True)


if __name__ == "__main__":
    main()
