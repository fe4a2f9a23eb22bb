"""The demo's figure."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from armdyn import inverse_dynamics, link_poses
from armdyn.cli.demo import energy_and_work
from armdyn.files import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from armdyn.cli.demo import Scene

POSES = 12


def draw(scene: Scene, path: Path, dpi: int = 100) -> None:
    """Draw the motion, the torques and the energy balance into a PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained", dpi=dpi)
    grid = figure.add_gridspec(2, 2, width_ratios=(1, 1.35))
    _motion(figure.add_subplot(grid[:, 0], projection="3d"), scene)
    _torques(figure.add_subplot(grid[0, 1]), scene)
    _energy(figure.add_subplot(grid[1, 1]), scene)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    write_whole(path, buffer.getvalue())


def _motion(axes: Axes, scene: Scene) -> None:
    """The arm at some instants, the later the darker, and the path of the tip."""
    from matplotlib import colormaps

    poses = link_poses(scene.arm, scene.q)
    tip = poses[:, -1] @ scene.arm.tool_pose
    axes.plot(*tip[:, :3, 3].T, color="0.7", linewidth=0.8)
    for i in np.linspace(0, len(poses) - 1, POSES, endpoint=False).astype(int):
        points = np.vstack([np.zeros(3), poses[i, :, :3, 3], tip[i, :3, 3]])
        shade = colormaps["viridis"](0.9 - 0.8 * i / len(poses))
        axes.plot(*points.T, "o-", color=shade, markersize=2.5, linewidth=1.8)
    axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]", title=f"{scene.arm.name}: {POSES} instants of the motion")
    axes.set_aspect("equal")
    axes.locator_params(nbins=4)


def _torques(axes: Axes, scene: Scene) -> None:
    tau = inverse_dynamics(scene.arm, scene.q, scene.qd, scene.qdd)
    for j in range(scene.arm.n):
        axes.plot(scene.t, tau[:, j], linewidth=1, label=f"joint {j + 1}")
    axes.set(title="joint torques (rigid arm)", ylabel="torque [N m]", xlim=(0, scene.t[-1]))
    axes.legend(ncols=6, fontsize=7, loc="lower center", columnspacing=1, handlelength=1.2, frameon=False)
    axes.margins(y=0.25)
    axes.grid(alpha=0.3)


def _energy(axes: Axes, scene: Scene) -> None:
    energy, work = energy_and_work(scene)
    axes.plot(scene.t, work, color="tab:orange", linewidth=3, alpha=0.5, label="work of the torques")
    axes.plot(scene.t, energy, color="tab:blue", linewidth=1, label="change of energy")
    axes.set(xlabel="time [s]", ylabel="energy [J]", title="energy balance", xlim=(0, scene.t[-1]))
    axes.legend(fontsize=8, loc="best", frameon=False)
    axes.grid(alpha=0.3)
