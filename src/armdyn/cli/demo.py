"""`armdyn demo`: what armdyn does, on a PUMA 560, without arguments, network or hardware.

Each stage is a function that takes the scene, may write files into its folder, and returns one line that
says what was achieved. A new capability joins the demo by adding its stage to `STAGES`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armdyn.cli.demo_study import Study
    from armdyn.model.arm import Arm

SAMPLES = 10_000
DURATION = 10.0  # s


@dataclass(frozen=True)
class Scene:
    """What the stages work on: an arm, a motion of it (times (N,), states (N, n)), a folder, and the main story."""

    arm: Arm
    folder: Path
    study: Study
    t: NDArray
    q: NDArray
    qd: NDArray
    qdd: NDArray


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("armdyn-demo"),
) -> None:
    """Show what armdyn does: a PUMA 560 described, excited, identified, controlled, exported; results in a folder."""
    from rich.console import Console

    console = Console(highlight=False)
    out.mkdir(parents=True, exist_ok=True)
    console.print("[bold]armdyn demo[/bold]: the PUMA 560, no network, no hardware")
    started = time.perf_counter()
    scene = make_scene(out)
    lines = []
    for title, stage in STAGES:
        with console.status(title):
            begun = time.perf_counter()
            lines.append(stage(scene))
        console.print(f"  {title:<28}{time.perf_counter() - begun:6.2f} s")
    write_summary(scene, lines)
    console.print(f"\n[bold]Done in {time.perf_counter() - started:.1f} s:[/bold]")
    for line in lines:
        console.print(f"- {line}", markup=False)
    console.print(f"Look at {out / 'report.html'}, {out / 'demo.png'} and {out / 'summary.md'}.")


def make_scene(folder: Path) -> Scene:
    """The PUMA 560 and a smooth motion within its limits of position and velocity."""
    import numpy as np

    from armdyn import arms
    from armdyn.cli.demo_study import Study

    arm = arms.puma560()
    limits = [joint.limits for joint in arm.joints]
    t = np.linspace(0.0, DURATION, SAMPLES)[:, None]
    middle = np.array([(x.lower + x.upper) / 2 for x in limits])
    # Whole periods in the duration, so that the motion ends where it began.
    rate = 2 * np.pi / DURATION * np.array([1, 2, 3, 4, 5, 6])
    reach = np.array([0.4 * (x.upper - x.lower) for x in limits])
    fast = np.array([0.7 * x.velocity for x in limits]) / rate
    amplitude = np.minimum(reach, fast)
    q = middle + amplitude * np.sin(rate * t)
    study = Study(arm)
    return Scene(
        arm, folder, study, t[:, 0], q, amplitude * rate * np.cos(rate * t), -amplitude * rate**2 * np.sin(rate * t)
    )


def describe(scene: Scene) -> str:
    """Write the arm in two formats and read it back."""
    import numpy as np

    from armdyn.model.io import load

    worst = 0.0
    for suffix in ("urdf", "toml"):
        path = scene.folder / f"{scene.arm.name}.{suffix}"
        scene.arm.save(path)
        worst = max(worst, float(np.abs(load(path).theta - scene.arm.theta).max()))
    same = "bit for bit" if worst == 0 else f"to {worst:.0e}"
    return (
        f"wrote the arm with friction and drives as {scene.arm.name}.urdf and .toml; read back, it is the same {same}"
    )


def torques(scene: Scene) -> str:
    """Torques and tip poses along the motion, in one call and one state at a time."""
    import numpy as np

    from armdyn import forward_kinematics, inverse_dynamics

    arm, states = scene.arm, (scene.q, scene.qd, scene.qdd)
    tau = inverse_dynamics(arm, *states)  # the first call makes or loads the kernel
    together = best_time(lambda: inverse_dynamics(arm, *states)) / SAMPLES
    some = range(0, SAMPLES, SAMPLES // 200)
    one_by_one = best_time(lambda: [inverse_dynamics(arm, *(x[i] for x in states)) for i in some]) / len(some)
    tip = forward_kinematics(arm, scene.q)[:, :3, 3]
    columns = {"t": scene.t[:, None], "q": scene.q, "qd": scene.qd, "qdd": scene.qdd, "tau": tau}
    write_csv(scene.folder / "torques.csv", {name: x[::10] for name, x in {**columns, "tip": tip}.items()})
    peak = np.abs(tau).max(axis=0) / [joint.limits.effort for joint in arm.joints]
    return (
        f"{SAMPLES:,} torques at {1e6 * together:.2f} us each in one call ({one_by_one / together:.0f} times faster "
        f"than one by one); the peak is {100 * peak.max():.0f} % of a joint's limit; every tenth is in torques.csv"
    )


def laws(scene: Scene) -> str:
    """Check the torques against laws of mechanics that the recursion does not know."""
    import numpy as np

    from armdyn import kinetic_energy, mass_matrix

    M = mass_matrix(scene.arm, scene.q[::10])
    T = kinetic_energy(scene.arm, scene.q[::10], scene.qd[::10])
    from_M = np.einsum("...i,...ij,...j", scene.qd[::10], M, scene.qd[::10]) / 2
    energy, work = energy_and_work(scene)
    balance = np.abs(energy - work).max() / np.ptp(energy)
    return (
        f"checked: kinetic energy equals qd' M qd / 2 to {np.abs(T - from_M).max():.0e} J, smallest eigenvalue of M "
        f"{np.linalg.eigvalsh(M).min():.2g}, work of the torques equals the change of energy to {balance:.0e} of it"
    )


def picture(scene: Scene) -> str:
    """One figure: the motion, its torques, and the balance of energy and work."""
    from armdyn.cli.demo_picture import draw

    draw(scene, scene.folder / "demo.png")
    return "drew the motion, its torques and the energy balance: demo.png"


def story(name: str) -> Callable[[Scene], str]:
    """A stage of the main story, by its name in `demo_study`."""

    def stage(scene: Scene) -> str:
        from armdyn.cli import demo_study

        return str(getattr(demo_study, name)(scene.study, scene.folder))

    return stage


STAGES: tuple[tuple[str, Callable[[Scene], str]], ...] = (
    ("describing the arm", describe),
    ("computing torques", torques),
    ("checking laws of mechanics", laws),
    ("designing a motion", story("excite_arm")),
    ("measuring", story("measure")),
    ("identifying", story("identify_arm")),
    ("controlling", story("control")),
    ("writing C", story("export_c")),
    ("drawing", picture),
)


def energy_and_work(scene: Scene) -> tuple[NDArray, NDArray]:
    """Change of energy since the start, and the work the torques have done [J]."""
    import numpy as np

    from armdyn import inverse_dynamics, kinetic_energy, potential_energy

    tau = inverse_dynamics(scene.arm, scene.q, scene.qd, scene.qdd)
    power = np.sum(tau * scene.qd, axis=1)
    step = scene.t[1] - scene.t[0]
    work = np.concatenate([[0.0], np.cumsum((power[1:] + power[:-1]) / 2) * step])
    energy = kinetic_energy(scene.arm, scene.q, scene.qd) + potential_energy(scene.arm, scene.q)
    return energy - energy[0], work


def best_time(run: Callable[[], object], repeat: int = 5) -> float:
    """The shortest of some runs [s]: what the code costs without what else the machine was doing."""
    times = []
    for _ in range(repeat):
        begun = time.perf_counter()
        run()
        times.append(time.perf_counter() - begun)
    return min(times)


def write_csv(path: Path, columns: dict[str, NDArray]) -> None:
    """Write named columns; a block of several is numbered: q1, q2, ..."""
    import io

    import numpy as np

    from armdyn.files import write_whole

    names = [f"{name}{j + 1}" if x.shape[1] > 1 else name for name, x in columns.items() for j in range(x.shape[1])]
    text = io.StringIO()
    np.savetxt(text, np.hstack(list(columns.values())), fmt="%.9g", delimiter=",", header=",".join(names), comments="")
    write_whole(path, text.getvalue())


def write_summary(scene: Scene, lines: list[str]) -> None:
    """The lines that the terminal showed, beside the picture."""
    from armdyn.files import write_whole

    items = "\n".join(f"- {line}" for line in lines)
    notes = "\n".join(f"- {note}" for note in scene.arm.notes)
    write_whole(
        scene.folder / "summary.md",
        f"# armdyn demo: {scene.arm.name}\n\n{items}\n\n![motion, torques and energy](demo.png)\n\n"
        f"## About the arm\n\n{notes}\n",
    )
