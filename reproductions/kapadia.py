"""Kapadia (1995): identification of the PUMA's first three joints and of the Sarcos arm."""

from __future__ import annotations

from reproductions import (
    kapadia_estimates,
    kapadia_lms,
    kapadia_model,
    kapadia_motion,
    kapadia_sarcos,
    kapadia_torques,
)
from reproductions.case import Case, Tell


def reproduce(quick: bool, seed: int, tell: Tell) -> Case:
    """The case; `quick`: one start of the optimisation and fewer draws of noise."""
    tell("appendix A, base parameters, Table 7.1")
    rows, pictures = kapadia_model.rows(seed), kapadia_model.pictures()

    tell("the descent of appendix C")
    rows += kapadia_motion.descent_rows(kapadia_motion.descents(seed))
    best = kapadia_motion.optimise(quick, seed, tell)
    tell("tracking the optimised motion")
    tracked = kapadia_motion.track_best(best)
    rows += kapadia_motion.rows(best, tracked)
    pictures += kapadia_motion.pictures(best, tracked)

    estimates = kapadia_estimates.estimate(quick, seed, tell)
    rows += kapadia_estimates.rows(estimates)
    adapted = kapadia_lms.adapt_pairs(estimates, seed, tell)
    rows += kapadia_lms.rows(adapted)
    torques = kapadia_torques.compare_models(estimates, adapted[0].convergent, seed, tell)
    rows += kapadia_torques.rows(torques)
    rows.append(kapadia_estimates.drive_row(seed, tell))
    pictures += kapadia_torques.pictures(estimates, adapted[0], torques)

    tell("gravity of the Sarcos arm")
    gravity = kapadia_sarcos.identify_gravity(seed)
    steps = kapadia_sarcos.step_responses(gravity.arm)
    rows += kapadia_sarcos.rows(gravity, steps)
    pictures += kapadia_sarcos.pictures(gravity, steps)
    assumed = (*kapadia_motion.ASSUMED, *kapadia_estimates.ASSUMED, *kapadia_lms.ASSUMED, *kapadia_sarcos.ASSUMED)
    tables = (
        *kapadia_model.tables(),
        *kapadia_estimates.tables(estimates),
        kapadia_lms.table(adapted[0]),
        *kapadia_sarcos.tables(gravity),
    )
    title = "Kapadia (1995): estimation for the PUMA 560 and the Sarcos arm"
    return Case("kapadia-1995", title, assumed, tuple(rows), tuple(pictures), tables)
