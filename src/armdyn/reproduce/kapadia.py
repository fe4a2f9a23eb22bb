"""Kapadia (1995): identification of the PUMA's first three joints and of the Sarcos arm."""

from __future__ import annotations

from armdyn.reproduce import (
    kapadia_estimates,
    kapadia_model,
    kapadia_motion,
    kapadia_sarcos,
    kapadia_torques,
)
from armdyn.reproduce.case import Case, Tell


def reproduce(quick: bool, tell: Tell) -> Case:
    """The case; `quick`: one start of the optimisation and fewer trajectories."""
    tell("appendix A, base parameters, Table 7.1")
    rows, pictures = kapadia_model.rows(), kapadia_model.pictures()

    best = kapadia_motion.optimised(quick, tell)
    tell("tracking the optimised motion")
    tracked = kapadia_motion.tracked(best)
    rows += kapadia_motion.rows(best, tracked)
    pictures += kapadia_motion.pictures(best, tracked)

    estimates = kapadia_estimates.estimated(tracked["PD"], quick, tell)
    rows += kapadia_estimates.rows(estimates)
    torques = kapadia_torques.compared(estimates, quick, tell)
    rows += kapadia_torques.rows(torques)
    rows.append(kapadia_estimates.drive_row(quick, estimates, tell))
    pictures += kapadia_torques.pictures(estimates, torques)

    tell("gravity of the Sarcos arm")
    gravity = kapadia_sarcos.identified()
    steps = kapadia_sarcos.step_responses(gravity.arm)
    rows += kapadia_sarcos.rows(gravity, steps)
    pictures += kapadia_sarcos.pictures(gravity, steps)
    assumed = (*kapadia_motion.ASSUMED, *kapadia_estimates.ASSUMED, *kapadia_sarcos.ASSUMED)
    tables = (*kapadia_model.tables(), *kapadia_estimates.tables(estimates), *kapadia_sarcos.tables(gravity))
    title = "Kapadia (1995): estimation for the PUMA 560 and the Sarcos arm"
    return Case("kapadia-1995", title, assumed, tuple(rows), tuple(pictures), tables)
