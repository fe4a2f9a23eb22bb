"""`identify`: logs in, a trustworthy model out.

The steps, each in a file of its own: `given` reads and judges the logs, `rows` makes equations of them, `selection`
chooses what the data support, `plain` says what they tell without prior, `possible` finds possible bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from armdyn.blas import single_threaded
from armdyn.errors import ArmdynError
from armdyn.identification.checks.check import DataCheck
from armdyn.identification.checks.doubt import (
    doubt_cost,
    doubt_haste,
    doubt_undetermined,
    doubt_unexplained,
    require_explained,
)
from armdyn.identification.checks.given import Logs, as_logs, checked
from armdyn.identification.fit.geared import base_with_drives, geared
from armdyn.identification.fit.mass_bounds import MassBounds
from armdyn.identification.fit.plain import friction_values, plain
from armdyn.identification.fit.possible import possible
from armdyn.identification.fit.prior import Prior
from armdyn.identification.fit.result import DriveValues, Fit
from armdyn.identification.fit.rows import FORMS, Filters, choose_band, make_rows, pieces
from armdyn.identification.fit.selection import Selection, free, select
from armdyn.identification.fit.structure import FRICTION
from armdyn.identification.fit.terms import with_terms
from armdyn.identification.fit.validation import compared
from armdyn.identification.gravity_poses import compare_poses, fit_poses
from armdyn.identification.logs.log import Log
from armdyn.identification.motion.differentiate import AUTO, METHODS
from armdyn.identification.poses import held_poses
from armdyn.model.arm import Arm

COSTLY = 1.2  # error of possible bodies over that of free parameters, from which rotors are suspected


def identify(
    arm: Arm,
    logs: Logs,
    *,
    terms: str = "full",
    friction: str = "auto",
    springs: bool | None = None,
    balancers: Iterable[str] | None = None,
    rotors: bool | None = None,
    prior: float | None = None,
    mass: ArrayLike | None = None,
    band: float | None = None,
    cutoff: float | None = None,
    method: str = AUTO,
    form: str = "torque",
    validation: Logs | None = None,
    progress: Callable[[float, str], None] | None = None,
) -> Fit:
    """Inertial parameters, friction and drives of an arm from measured motion and torque.

    The steps: check the logs; smooth and differentiate positions; low-pass and decimate torque and regressor
    alike; weigh joints by their noise; choose friction terms and the weight of the arm's own description by
    error on held-out blocks; fit possible bodies; give what the data alone say with honest intervals.

    Parameters
    ----------
    arm : Arm
        Its geometry is trusted, its inertia is a prior, or unknown (NaN).
    logs : Log, path, or iterable of them
        Measured motion; paths are read with `read_log`.
    terms : {"full", "gravity"}
        All dynamics; or gravity alone, from poses held still (which are averaged) or, together with friction, from
        slow motion both ways.
    friction : {"auto", "simple"}
        Choose terms by held-out error, or viscous, Coulomb and offset for every joint.
    springs : bool, optional
        Whether joints may have springs to ground (hoses); on other arms they would pass for gravity. Default: if the
        arm's description has any.
    balancers : iterable of str, optional
        Names of joints with gas springs, hydraulic or other balancers, whose torque depends on the joint's position.
        Default: those that have some in the arm's description. Counterweights are links like others.
    rotors : bool, optional
        Whether drives have inertia of their own that links cannot account for, as geared ones do. Default: if the
        arm's description has any. Those that are one with a link's inertia are part of it; those of coupled drives
        are among the base parameters.
    prior : float, optional
        Strength with which the arm's own inertia is believed; 0 disregards it. Default by held-out error.
    mass : array_like, shape (2,) or (n, 2), optional
        Least and most that all moving links together weigh, as a data sheet tells, or each of them [kg].
    band : float, optional
        Corner of the low-pass on both sides of the equations [Hz]; default from the motion's spectrum.
    cutoff : float, optional
        Corner of the low-pass on positions [Hz]; default by cross-validation.
    method : {"auto", "butterworth", "kalman", "savgol", "spline"}
        How positions are differentiated; by default the way that predicts positions left out best.
    form : {"torque", "filtered", "energy"}
        Whether the regressor has accelerations, or momenta are low-passed and differentiated at once, or energies, of
        all joints together: then held-out errors are those of the power.
    validation : Log, path, or iterable of them, optional
        Logs that are not fitted to, for `fit.other` and the report.
    progress : callable, optional
        Called with the share done (0 to 1) and what is being done.

    Returns
    -------
    Fit
        With `arm`, `theta`, `friction`, `drive`, `base`, `rel_error`, `predict(log)`, `validate(log)`.

    Raises
    ------
    DataError
        If the logs cannot support a model: no motion, dead sensors, reversed signs, mixed units, another arm.
    """
    _check_options(terms, friction, method, form)
    _check_numbers(prior, band, cutoff)
    balanced = _balanced(arm, balancers)
    masses = None if mass is None else MassBounds.of(mass, arm.n)
    tell = progress or _silent
    tell(0.0, "reading logs")
    given = as_logs(arm, logs)
    others = [] if validation is None else as_logs(arm, validation)
    with single_threaded():
        tell(0.1, "checking the data")
        checks = checked(arm, given)
        poses = held_poses(given) if terms == "gravity" else None
        if poses is not None:
            fit = fit_poses(arm, poses, checks, prior, Filters(band or 0.0, cutoff, method), masses)
            return _judged_poses(fit, others)
        band = choose_band(piece.stretch for piece in pieces(given)) if band is None else float(band)
        if terms == "gravity":
            doubt_haste(arm, checks)
        base = base_with_drives(arm, terms, rotors)
        tell(0.2, "filtering and differentiating")
        rows = make_rows(base, given, Filters(band, cutoff, method, form), balanced)
        optional = _optional(arm, terms, friction, springs)

        def attempt(drives: bool | None) -> Fit:
            selected = select(rows, Prior.of(arm), geared(base, drives), prior, optional)
            return _fit(arm, given, selected, checks, others, masses)

        tell(0.4, "choosing terms and fitting possible bodies")
        fit = attempt(rotors)
        if rotors is None and fit.rel_error > COSTLY * fit.rel_error_free and arm.coupling is None and terms == "full":
            # No possible links have the inertia that the torques show; links with rotors may.
            tell(0.7, "trying rotors of the drives")
            second = attempt(True)
            fit = second if COSTLY * second.rel_error < fit.rel_error else fit
        doubt_cost(fit.cost, arm)
        tell(1.0, "done")
        return fit


def _silent(share: float, text: str) -> None:
    """What is called where nobody wants to know."""


def _check_options(terms: str, friction: str, method: str, form: str) -> None:
    for name, value, allowed in (
        ("terms", terms, ("full", "gravity")),
        ("friction", friction, ("auto", "simple")),
        ("method", method, (AUTO, *METHODS)),
        ("form", form, FORMS if terms == "full" else FORMS[:1]),
    ):
        if value not in allowed:
            raise ArmdynError(f"identify: expected {name} one of {', '.join(allowed)}, got {value!r}")


def _check_numbers(prior: float | None, band: float | None, cutoff: float | None) -> None:
    if prior is not None and not 0 <= prior < np.inf:
        raise ArmdynError(f"identify: expected prior >= 0, got {prior}")
    for name, value in (("band", band), ("cutoff", cutoff)):
        if value is not None and not 0 < value < np.inf:
            raise ArmdynError(f"identify: expected {name} > 0 [Hz], got {value}")


def _balanced(arm: Arm, names: Iterable[str] | None) -> list[int]:
    """The joints that have balancers."""
    if names is None:
        return [i for i, joint in enumerate(arm.joints) if joint.drive.balance]
    asked = [names] if isinstance(names, str) else list(names)
    for name in asked:
        if name not in arm.joint_names:
            raise ArmdynError(f"identify: arm '{arm.name}' has no joint {name!r}; it has {', '.join(arm.joint_names)}")
    return [arm.joint_names.index(name) for name in asked]


def _optional(arm: Arm, terms: str, friction: str, springs: bool | None) -> tuple[str, ...]:
    """Kinds of joint terms to choose from."""
    springs = any(joint.drive.stiffness > 0 for joint in arm.joints) if springs is None else springs
    kinds: tuple[str, ...] = FRICTION if friction == "auto" and terms == "full" else ()
    if arm.coupling is not None:
        # Rotors of coupled drives act on several joints at once.
        kinds = tuple(kind for kind in kinds if kind != "rotor")
    return (*kinds, "spring") if springs else kinds


def _judged_poses(fit: Fit, others: list[Log]) -> Fit:
    """Gravity alone, from an arm at rest in many poses, compared with other logs."""
    require_explained(fit.source, fit.held_out, "on held-out poses")
    doubt_undetermined(fit.undetermined)
    if not others:
        return fit
    still = held_poses(others)
    moving = fit.filters._replace(cutoff=None)
    return replace(fit, other=compared(fit.arm, others, moving) if still is None else compare_poses(fit.arm, still))


def _fit(
    arm: Arm,
    logs: list[Log],
    selected: Selection,
    checks: tuple[DataCheck, ...],
    others: list[Log],
    masses: MassBounds | None,
) -> Fit:
    """The arm with the structure selected, compared with the logs."""
    equations, choice, filters = selected.equations, selected.choice, selected.rows.filters
    alone = plain(selected)
    require_explained(arm, selected.held_out_weighted, "on held-out data")
    x = free(equations, choice.used)
    bodies = possible(selected, x, masses)
    fitted = with_terms(arm.with_theta(bodies.theta), bodies.terms, selected.rows.reach)
    together = compared(fitted, logs, filters)
    # Joints with little noise weigh most in the held-out error; here those with large torques do.
    require_explained(arm, together.rel_error, "of the logs")
    doubt_unexplained(arm, together.rel_error, max(selected.held_out, selected.held_out_weighted))
    doubt_undetermined(alone.undetermined)
    drives = [joint.drive for joint in fitted.joints]
    return Fit(
        arm=fitted,
        source=arm,
        theta=bodies.theta,
        friction=friction_values(fitted, alone.estimate),
        drive=DriveValues(np.array([d.reflected_inertia for d in drives]), np.array([d.stiffness for d in drives])),
        base=alone.estimate,
        filters=filters,
        rel_error=together.rel_error,
        rel_error_joints=together.rel_error_joints,
        rel_error_free=float(np.sqrt(equations.errors(x).sum() / max(equations.powers.sum(), 1e-300))),
        held_out=selected.held_out,
        held_out_possible=bodies.held_out,
        held_out_logs=bodies.held_out_logs,
        rel_error_source=np.nan if np.isnan(arm.theta).any() else compared(arm, logs, filters).rel_error,
        strength=selected.strength,
        scan=choice.scan,
        condition=alone.sure.condition,
        condition_scaled=alone.sure.condition_scaled,
        bound=alone.bound,
        gap=bodies.minimum.gap,
        boundary=tuple(arm.link_names[i] for i in bodies.minimum.boundary),
        structure=selected.structure,
        effective=alone.sure.effective,
        undetermined=alone.undetermined,
        notes=tuple(f"{check.log.name}: {finding.text}" for check in checks for finding in check.findings),
        checks=checks,
        own=together,
        other=compared(fitted, others, filters._replace(cutoff=None)) if others else None,
    )
