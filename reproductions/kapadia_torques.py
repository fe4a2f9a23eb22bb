"""Kapadia (1995), figures 7.2 to 7.11: how LMS evolves, and torques of four models along eight trajectories."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reproductions.case import Picture, Row, Tell, claim, panels, rms, show
from reproductions.kapadia_data import Recorded, motions, track
from reproductions.kapadia_estimates import Estimates
from reproductions.kapadia_lms import Adapted
from reproductions.kapadia_tables import ALL, ELEVEN, INERTIAL, STANDARD

TRAJECTORIES = 8
STANDARD_SET, ELIMINATED, ADAPTED = "standard", "LS after elimination", "LMS"
STYLES = {STANDARD_SET: ("C3", "--", 1.0), ADAPTED: ("C2", ":", 1.3), ELIMINATED: ("C1", "-", 1.2)}
TRAJECTORIES_PER_FIGURE = 4  # trajectories


class Comparison(NamedTuple):
    """Measured torques along one trajectory, and those of every model."""

    record: Recorded
    models: dict[str, NDArray]  # (N, 3) by name

    def error(self, name: str) -> float:
        """RMS over all joints [N m]."""
        return rms(self.models[name] - self.record.tau)


def compare_models(found: Estimates, adapted: NDArray, seed: int, tell: Tell) -> list[Comparison]:
    """Fresh trajectories, on which nothing was fitted."""
    setting = found.setting
    parameters = {
        STANDARD_SET: (INERTIAL, STANDARD),  # Table 7.1, which has no friction
        ELIMINATED: (ALL, found.elimination),
        ADAPTED: (ELEVEN, adapted),
    }
    result = []
    for k, motion in enumerate(motions(TRAJECTORIES, seed, fresh=True)):
        tell(f"torques of trajectory {k + 1}")
        record = setting.record(track(motion), seed=1000 * seed + 200 + k)
        models = {name: record.Y[..., setting.columns(names)] @ x for name, (names, x) in parameters.items()}
        result.append(Comparison(record, models))
    return result


def rows(found: list[Comparison]) -> list[Row]:
    """Which model comes nearest to the measured torques."""
    mean = {name: float(np.mean([each.error(name) for each in found])) for name in STYLES}
    text = ", ".join(f"{name} {x:.1f}" for name, x in mean.items())
    wins = sum(each.error(ELIMINATED) == min(map(each.error, STYLES)) for each in found)
    joints = np.sqrt(np.mean([((each.models[STANDARD_SET] - each.record.tau) ** 2).mean(0) for each in found], axis=0))
    return [
        claim(
            "figures 7.4-7.11: the LS model is nearest to the measured torques", "yes",
            f"in {wins} of {len(found)} trajectories; RMS {text} N m", wins == len(found),
        ),
        claim(
            "the LMS model deviates most", "yes", f"RMS {text} N m",
            mean[ADAPTED] > max(mean[STANDARD_SET], mean[ELIMINATED]), "here the standard model lacks friction",
        ),
        show(
            "errors of the standard model, joint by joint", "largest bias at joint 3",
            "RMS " + ", ".join(f"{x:.1f}" for x in joints) + " N m", "mostly friction; the thesis's data are missing",
        ),
    ]  # fmt: skip


def pictures(estimates: Estimates, adapted: Adapted, found: list[Comparison]) -> list[Picture]:
    """Figures 7.2 to 7.11."""
    result = [
        Picture("figures-7-2-3", "Figures 7.2 and 7.3: evolution of LMS estimates", _evolution_figure(adapted)),
        Picture("table-7-3", "Tables 7.3 to 7.5 on simulated data", _estimates_figure(estimates, adapted)),
    ]
    for first in range(0, len(found), TRAJECTORIES_PER_FIGURE):
        part = found[first : first + TRAJECTORIES_PER_FIGURE]
        last = first + len(part)
        numbers = f"{first + 4}-{last + 3}"
        caption = f"Figures 7.{first + 4} to 7.{last + 3}: torques along trajectories {first + 1} to {last}"
        result.append(Picture(f"figures-7-{numbers}", caption, _torque_figure(part, first)))
    return result


def _evolution_figure(found: Adapted) -> Any:
    figure, axes = panels(11, 7, 3, 4, sharex=True)
    axes = axes.ravel()
    shown = found.evolution[: found.ends[-1]]  # the first pass
    for k, (name, axis) in enumerate(zip(ELEVEN, axes, strict=False)):
        axis.plot(shown[:, k], lw=1.0)
        axis.axhline(found.truth[k], color="0.4", ls="--", lw=0.9)
        axis.axhline(found.convergent[k], color="C1", ls=":", lw=0.9)
        for end in found.ends[:-1]:
            axis.axvline(end, color="0.85", lw=0.7, zorder=0)
        axis.set_title(f"P{ALL.index(name) + 1} = {name}", fontsize=9)
        axis.grid(axis="x", visible=False)
    for axis in axes[7:11]:
        axis.set_xlabel("sample")
        axis.tick_params(labelbottom=True)
    axes[-1].axis("off")
    words = "the first pass", "dashed: true value", "dotted: after all passes", "grey: next trajectory"
    axes[-1].text(0, 0.5, "\n".join(words), fontsize=9, va="center")
    return figure


def _estimates_figure(found: Estimates, adapted: Adapted) -> Any:
    figure, axis = panels(11, 4.5)
    at, truth = np.arange(len(ALL)), found.setting.truth
    eleven = [ALL.index(name) for name in ELEVEN]
    sets = [
        ("batch LS (7.3)", at, found.noisy.batch[0]),
        ("two weakest directions left out (7.3)", at, found.elimination),
        ("LMS, optimised motion (7.4)", np.array(eleven), adapted.plain),
        ("LMS along the convergent mode (7.5)", np.array(eleven), adapted.convergent),
    ]
    for k, (label, where, x) in enumerate(sets):
        axis.bar(where + 0.2 * (k - 1.5), np.abs(x - truth[where]), 0.19, label=label)
    axis.set_yscale("log")
    axis.set_xticks(at, [f"P{k + 1}\n{name}" for k, name in enumerate(ALL)], fontsize=8)
    axis.set(ylabel="distance from the true value [SI]", title="estimates on simulated data")
    axis.legend(fontsize=8, ncols=2)
    axis.grid(axis="x", visible=False)
    return figure


def _torque_figure(found: list[Comparison], first: int) -> Any:
    figure, axes = panels(3.4 * len(found) + 0.6, 7, 3, len(found), squeeze=False, sharex=True, sharey="row")
    for k, each in enumerate(found):
        for j, axis in enumerate(axes[:, k]):
            axis.plot(each.record.t, each.record.tau[:, j], color="0.6", lw=0.6, label="measured")
            for name, (colour, style, width) in STYLES.items():
                axis.plot(each.record.t, each.models[name][:, j], color=colour, ls=style, lw=width, label=name)
        axes[0, k].set_title(f"trajectory {first + k + 1}", fontsize=10)
        axes[-1, k].set_xlabel("time [s]")
    for j, axis in enumerate(axes[:, 0]):
        axis.set_ylabel(f"torque {j + 1} [N m]")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, fontsize=9)
    return figure
