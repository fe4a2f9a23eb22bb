"""Eindhoven (1987): the two-link arm linearised, and regulated about a motion while its load changes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.control.protocol import Law
from armdyn.dynamics.gravity import gravity_torque
from armdyn.dynamics.linear.linearize import LinearMotion, linearize, linearize_motion
from armdyn.dynamics.mass_matrix import mass_matrix
from armdyn.dynamics.newton_euler import inverse_dynamics
from armdyn.model.arm import Arm
from armdyn.model.library.textbook import planar2
from armdyn.report.modes import plot_modes
from armdyn.simulation.compare import Sway
from armdyn.simulation.result import SimulationResult
from armdyn.trajectory.point_to_point import point_to_point
from reproductions import eindhoven_study as study
from reproductions.case import Case, Picture, Row, Table, Tell, call_time, check, claim, differs, panels, show, trial

BANDWIDTH_HZ = 2.0  # Hz
RATES_HZ = (60.0, 1000.0)
CLEARLY_LESS = 0.9  # of another law's error
LOADS_KG = (0.0, 1.0, 2.5)  # kg; the empty arm weighs 15 kg
# The table of payloads, and what counts as close.
BANDWIDTHS_HZ, PAYLOAD_RATES_HZ = (1.0, 2.0, 4.0, 8.0), (60.0, 200.0, 1000.0)
PAYLOADS_KG, CLOSE_RAD = (0.5, 1.0, 2.5, 5.0), 0.01
ASSUMED = (
    "Motion: none is given. Linearised along a swing from hanging to standing up in 1 s; regulated along a sway of "
    "both joints, 0.5 rad to each side at 0.25 and 0.5 Hz, for 8 s.",
    "Regulator: weights are not given. By Bryson's rule for 2 Hz of bandwidth (1 to 8 Hz in the table of payloads), "
    "the same for all laws.",
    "The load moves with the tip and is picked up after 4 s; drives lag by 5 ms; no friction (no constants given).",
)
Runs = dict[tuple[str, float, float], SimulationResult]


def reproduce(quick: bool, seed: int, tell: Tell) -> Case:
    """The case; `quick`: one rate, and a smaller table of payloads. Nothing is random, so `seed` changes nothing."""
    arm = planar2()
    tell("linearising along a swing")
    motion = _swing(arm)
    rows = [_gravity_row(arm), *_linear_rows(arm, motion), _rate_row(arm)]
    reference = Sway.within(arm, study.DURATION_S)
    rates = RATES_HZ[:1] if quick else RATES_HZ
    adaptive = study.learner(arm, reference, BANDWIDTH_HZ)
    laws = {rate: {**study.regulators(arm, reference, BANDWIDTH_HZ, rate), study.ADAPTIVE: adaptive} for rate in rates}
    runs: Runs = {}
    for rate, named in laws.items():
        for name, law in named.items():
            tell(f"{name} at {rate:g} Hz")
            for load in LOADS_KG:
                runs[name, rate, load] = study.seize(arm, law, reference, rate, load)
    rows += _control_rows(runs, rates)
    payloads = _payloads(arm, reference, quick, tell)
    rows.append(_payload_row(payloads))
    tell("the load at which laws fail")
    rows.append(_limit_row(arm, laws[rates[0]], reference, rates[0]))
    pictures = (
        Picture("modes", "The arm linearised along the swing", plot_modes(motion)),
        Picture("load", "A load picked up half-way", _figure(runs, rates[0])),
    )
    title = "Eindhoven (1987): linearisation and control of the two-link arm"
    return Case("eindhoven-1987", title, ASSUMED, tuple(rows), pictures, (_payload_table(payloads),))


# -- the linearised arm ------------------------------------------------------------------------------------


def _swing(arm: Arm) -> LinearMotion:
    t = np.linspace(0, 1, 501)
    return linearize_motion(arm, t, *point_to_point([-np.pi / 2, 0.0], [np.pi / 2, 2 * np.pi], duration=1.0)(t))


def _gravity_row(arm: Arm) -> Row:
    G = gravity_torque(arm, np.zeros(2))
    # Rods stretched out sideways: m1 g l1/2 + m2 g (l1 + l2/2), and m2 g l2/2.
    expected = 9.80621 * np.array([10 * 0.25 + 5 * 0.625, 5 * 0.125])
    return check(
        "gravity torques at q = 0, y up", "the listing gives the opposite sign", f"{G[0]:.4f}, {G[1]:.4f} N m",
        np.allclose(G, expected, rtol=1e-12), "erratum 1: the base accelerates by minus the gravity vector",
    )  # fmt: skip


def _differences(arm: Arm, motion: LinearMotion, which: int, h: float = 1e-6) -> NDArray:
    """Central differences (N, n, n) of the torques with respect to q, qd or qdd."""
    columns = []
    for j in range(arm.n):
        ends = []
        for sign in (1, -1):
            state = [x.copy() for x in (motion.q, motion.qd, motion.qdd)]
            state[which][:, j] += sign * h
            ends.append(inverse_dynamics(arm, *state))
        columns.append((ends[0] - ends[1]) / (2 * h))
    return np.stack(columns, axis=-1)


def _linear_rows(arm: Arm, motion: LinearMotion) -> list[Row]:
    # Torques are linear in qdd: differences over any step are exact but for round-off.
    conjecture = float(np.abs(_differences(arm, motion, 2, 1.0) - mass_matrix(arm, motion.q)).max())
    rows = [
        check(
            "M of the linearisation is the inertia matrix (5.2.1)", "conjectured",
            f"equal within {conjecture:.0e} kg m²", conjecture < 1e-11, "torques are linear in accelerations",
        )
    ]  # fmt: skip
    for name, which, equations in (("C", 1, "(79)-(96)"), ("K", 0, "(97)-(110)")):
        matrix = getattr(motion, name)
        error = float(np.abs(matrix - _differences(arm, motion, which)).max() / np.abs(matrix).max())
        # Central differences with steps of 1e-6 are good to about 1e-9.
        rows.append(
            check(f"{name} by {equations}", "no numbers", f"differences of torques agree within {error:.0e}",
                  error < 1e-7, "errata 4 to 6: as printed, K is off by up to 8.9 N m" if name == "K" else "")
        )  # fmt: skip
    return rows


def _rate_row(arm: Arm) -> Row:
    zero = np.zeros(2)
    rate = 1 / call_time(lambda: linearize(arm, zero, zero, zero))
    return check("updates of A and B per second", "at least 60", f"{rate:,.0f}, called from Python", rate > 60)


# -- control -----------------------------------------------------------------------------------------------


def _control_rows(runs: Runs, rates: tuple[float, ...]) -> list[Row]:
    def error(name: str, rate: float, load: float) -> float:
        return 1e3 * study.judge(runs[name, rate, load])[0]

    def words(name: str, load: float) -> str:
        return ", ".join(f"{error(name, rate, load):.2f} mrad at {rate:g} Hz" for rate in rates)

    first = rates[0]
    tried = [(rate, load) for rate in rates for load in LOADS_KG]
    ratios = [error(study.REGULATOR, *each) / error(study.FIXED, *each) for each in tried]
    wins = sum(ratio < CLEARLY_LESS for ratio in ratios)
    rows = [
        claim(
            "60 Hz are enough", "required of the controller", f"without load {words(study.REGULATOR, 0.0)}",
            error(study.REGULATOR, first, 0.0) < 5, "RMS errors; the motion is slow",
        ),
        claim(
            "nominal torques and feedback track closely", "proposed",
            f"{words(study.REGULATOR, 0.0)}; without nominal torques {words(study.ALONE, 0.0)}",
            error(study.REGULATOR, first, 0.0) < 0.2 * error(study.ALONE, first, 0.0),
        ),
        trial(
            "gains that follow the motion are needed", "assumed",
            f"{words(study.REGULATOR, 0.0)}; gains of one pose {words(study.FIXED, 0.0)}; with loads "
            f"errors are {min(ratios):.2f} to {max(ratios):.2f} times those of one pose, a tenth less in {wins} of "
            f"{len(ratios)}",
            wins, len(ratios), "a regulator of one pose does as well without load, and worse with loads",
        ),
    ]  # fmt: skip
    rows.append(
        show(
            f"a law that learns the load ({study.ADAPTIVE}), {LOADS_KG[-1]:g} kg", "not considered",
            words(study.ADAPTIVE, LOADS_KG[-1]),
            f"PD with gravity compensation: {words(study.PLAIN, LOADS_KG[-1])}",
        )
    )  # fmt: skip
    rows.append(differs("plots of the simulation", "announced", "see the figures", "the report contains none"))
    return rows


class Payload(NamedTuple):
    """One run of the regulator with a load picked up half-way."""

    bandwidth: float  # [Hz]
    rate: float  # [Hz]
    load: float  # [kg]
    error: float  # RMS after the load was picked up [rad]
    stable: bool


def _payloads(arm: Arm, reference: Sway, quick: bool, tell: Tell) -> list[Payload]:
    found = []
    for bandwidth in BANDWIDTHS_HZ[::3] if quick else BANDWIDTHS_HZ:
        for rate in PAYLOAD_RATES_HZ[:2] if quick else PAYLOAD_RATES_HZ:
            tell(f"payloads at {bandwidth:g} Hz of bandwidth, {rate:g} Hz")
            law = study.regulators(arm, reference, bandwidth, rate)[study.REGULATOR]
            for load in PAYLOADS_KG:
                found.append(Payload(bandwidth, rate, load, *study.judge(study.seize(arm, law, reference, rate, load))))
    return found


def _payload_row(found: list[Payload]) -> Row:
    """The verdict rests on a bandwidth and on a limit of the error that the report does not give."""
    close = [each for each in found if each.stable and each.error < CLOSE_RAD]
    errors = [1e3 * each.error for each in found if each.stable]
    return trial(
        "tracks closely over a wide range of payloads", "hoped for",
        f"RMS below {1e3 * CLOSE_RAD:g} mrad in {len(close)} of {len(found)} combinations of bandwidth, rate and "
        f"payload ({min(errors):.1f} to {max(errors):.0f} mrad, a joint strays in {len(found) - len(errors)}): "
        "see the table",
        len(close), len(found), "neither bandwidth nor error is stated; the load is not in the nominal torques",
    )  # fmt: skip


def _payload_table(found: list[Payload]) -> Table:
    cells = {each[:3]: f"{1e3 * each.error:.1f}" if each.stable else "strays" for each in found}
    lines = tuple(
        (f"{bandwidth:g}", f"{rate:g}", *(cells[bandwidth, rate, load] for load in PAYLOADS_KG))
        for bandwidth, rate in dict.fromkeys(each[:2] for each in found)
    )
    columns = ("bandwidth [Hz] ", "rate [Hz] ", *(f"{load:g} kg " for load in PAYLOADS_KG))
    return Table("RMS error [mrad] of the regulator after it picked up a payload; the arm weighs 15 kg", columns, lines)


def _limit_row(arm: Arm, laws: dict[str, Law], reference: Sway, rate: float) -> Row:
    names = study.REGULATOR, study.FIXED, study.PLAIN
    found = {name: study.failing_load(arm, laws[name], reference, rate, 50.0) for name in names}
    text = "; ".join(f"{name}: {load:.1f} kg" for name, load in found.items())
    return show(f"load at which a joint strays by 0.5 rad, {rate:g} Hz", "not given", text)


def _figure(runs: Runs, rate: float) -> Any:
    """Tip errors over time for the heaviest load, and RMS errors over the load."""
    names = list(dict.fromkeys(name for name, _, _ in runs))
    figure, (left, right) = panels(11, 4.6, 1, 2, width_ratios=[3, 2])
    for name in names:
        run = runs[name, rate, LOADS_KG[-1]]
        left.plot(run.t, 1e3 * np.linalg.norm(run.error, axis=-1), lw=1.2, label=name)
        errors = [1e3 * study.judge(runs[name, rate, load])[0] for load in LOADS_KG]
        right.semilogy(LOADS_KG, errors, "o-", ms=4, lw=1.2, label=name)
    left.axvline(study.DURATION_S / 2, color="0.4", ls=":", lw=1)
    left.text(study.DURATION_S / 2, left.get_ylim()[1] * 0.97, f" {LOADS_KG[-1]:g} kg picked up", va="top", fontsize=9)
    left.set(xlabel="time [s]", ylabel="norm of joint errors [mrad]", title=f"planar2, controlled at {rate:g} Hz")
    right.set(xlabel="load [kg]", ylabel="RMS error after the load [mrad]", title="errors over the load")
    right.legend(fontsize=8)
    return figure
