"""Kapadia (1995), chapter 7 on simulated data: least squares, elimination and LMS, Tables 7.2 to 7.5."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.estimators.data import Data
from armdyn.identification.estimators.least_squares import LeastSquares
from armdyn.identification.estimators.online import Lms
from armdyn.identification.estimators.significance import Significance
from armdyn.reproduce.case import Row, Table, Tell, claim, shown
from armdyn.reproduce.kapadia_data import (
    DIRECT,
    GEARED,
    Recorded,
    Setting,
    direct,
    geared,
    joined,
    motions,
    track,
)  # fmt: skip
from armdyn.reproduce.kapadia_tables import (
    ALL,
    BATCH,
    CONDITIONS,
    CONVERGENT,
    ELEVEN,
    ELIMINATION,
    INERTIAL,
    LEFT_OUT,
    LMS,
    STANDARD,
)  # fmt: skip
from armdyn.simulation.result import SimulationResult

TRAJECTORIES = 10  # of the thesis
WEAKEST = 2  # directions left out
SENSITIVITY, CONDITION = 0.02, 25.0  # of the significance analysis: the thesis gives no thresholds
STEP = 0.1  # of LMS, as part of the largest stable one
# The parameters whose standard values are true (see Table 7.1).
TRUE = [k for k, name in enumerate(INERTIAL) if name not in ("Izz1", "Izz2", "Ixx2", "Izz3")]
ASSUMED = (
    "PUMA: the true arm has Armstrong's links and motors and the Coulomb friction of Table 7.3. Ten motions of 6.7 s "
    "(Fourier series, up to 1 rad/s) tracked by PD; encoders of 0.1 mrad, torque noise of 1 N m and 3 % ripple; "
    "positions differentiated off line.",
    "Significance: sensitivities below 2 % of the largest, condition at most 25. LMS: a tenth of the largest stable "
    "gain, columns scaled to equal size, from zero.",
)


class Estimates(NamedTuple):
    """What chapter 7 computes, from simulated records; parameters in the order P1 ... P18 or of `ELEVEN`."""

    setting: Setting
    records: list[Recorded]
    batch: NDArray  # (18,)
    elimination: NDArray  # (18,)
    conditions: tuple[float, float]  # of the scaled regressor, before and after
    lms: NDArray  # (11,) on the optimised motion
    evolution: NDArray  # (N, 11) LMS along the convergent mode, over all records

    @property
    def convergent(self) -> NDArray:
        """Its end (11,)."""
        return self.evolution[-1]


def estimated(optimal: SimulationResult, quick: bool, tell: Tell) -> Estimates:
    """Move, measure, estimate."""
    setting = Setting.of(geared(), GEARED)
    records = []
    for k, motion in enumerate(motions(3 if quick else TRAJECTORIES, seed=0)):
        tell(f"identification trajectory {k + 1}")
        records.append(setting.record(track(motion), seed=k))
    tell("least squares and LMS")
    data = joined(records, setting.columns(ALL))
    plain, strong = Significance().fit(data), Significance(weakest=WEAKEST).fit(data)
    values = np.linalg.svd(_scaled(data), compute_uv=False)
    best = joined([setting.record(optimal, seed=100)], setting.columns(ELEVEN))
    every = joined(records, setting.columns(ELEVEN))
    return Estimates(
        setting, records, plain.x, strong.x, (float(values[0] / values[-1]), float(values[0] / values[-1 - WEAKEST])),
        evolve(best, most_stable=False)[-1], evolve(every, most_stable=True),
    )  # fmt: skip


def _scaled(data: Data) -> NDArray:
    rows = data.weighted(LeastSquares().fit(data).weights)[0]
    return rows / np.linalg.norm(rows, axis=0)


def evolve(data: Data, most_stable: bool) -> NDArray:
    """LMS estimates (N, p) after every sample."""
    scale = 1 / np.sqrt((data.Y**2).mean((0, 1)))
    largest = max(float(np.linalg.norm(Y * scale, 2)) ** 2 for Y in data.Y)
    estimator = Lms(STEP * 2 / largest * scale**2, most_stable)
    x, found = estimator.init(data.Y.shape[2]), []
    for Y, tau in zip(data.Y, data.tau, strict=True):
        x = estimator.step(x, Y, tau)
        found.append(x)
    return np.array(found)


# -- rows --------------------------------------------------------------------------------------------------


def rows(found: Estimates) -> list[Row]:
    """Rows about Tables 7.2 to 7.5."""
    return [*_significance_rows(found), *_least_squares_rows(found), *_lms_rows(found)]


class Analysis(NamedTuple):
    """Significance analysis of one trajectory: by sensitivities, and by singular values."""

    before: float  # condition of the regressor as it is
    after: tuple[float, float]  # of what is kept, columns scaled
    left_out: tuple[str, str]  # numbers of parameters, as the thesis writes them


def _analyses(found: Estimates) -> list[Analysis]:
    """Of the trajectories that Table 7.2 has."""
    columns = found.setting.columns(ALL)
    result = []
    for record, _ in zip(found.records, CONDITIONS, strict=False):
        data = Data(record.data.Y[..., columns], record.data.tau)
        kept = [estimator.kept(data) for estimator in (Significance(SENSITIVITY), Significance(condition=CONDITION))]
        after = [float(np.linalg.cond(_scaled(Data(data.Y[..., each], data.tau)))) for each in kept]
        out = [",".join(str(i + 1) for i in range(len(ALL)) if i not in each) or "none" for each in kept]
        result.append(Analysis(float(np.linalg.cond(data.weighted(1.0)[0])), (after[0], after[1]), (out[0], out[1])))
    return result


def _significance_rows(found: Estimates) -> list[Row]:
    return [
        claim(
            f"Table 7.2, trajectory {k + 1}: conditions fall", f"{said[0]:.0f} to {said[1]:.0f} and {said[2]:.0f}",
            f"{ours.before:.0f} to {ours.after[0]:.0f} and {ours.after[1]:.0f}", max(ours.after) < ours.before,
            "other motions than the thesis's, and its thresholds are not given",
        )
        for k, (ours, said) in enumerate(zip(_analyses(found), CONDITIONS, strict=False))
    ]  # fmt: skip


def _significance_table(found: Estimates) -> Table:
    """Table 7.2 in its own style, ours below each printed line."""
    lines = []
    for k, (ours, said, out) in enumerate(zip(_analyses(found), CONDITIONS, LEFT_OUT, strict=False), 1):
        lines.append((f"{k}, printed", f"{said[0]:.1f}", out[0], f"{said[1]:.1f}", out[1], f"{said[2]:.1f}"))
        left, (first, second) = ours.left_out, ours.after
        lines.append((f"{k}, ours", f"{ours.before:.1f}", left[0], f"{first:.1f}", left[1], f"{second:.1f}"))
    columns = ("trajectory", "unscaled ", "sensitivities leave out", "condition ", "SVD leaves out", "condition ")
    return Table("Table 7.2: significance analysis; other motions than the thesis's", columns, tuple(lines))


def _rms(error: NDArray) -> float:
    return float(np.sqrt((error**2).mean()))


def _least_squares_rows(found: Estimates) -> list[Row]:
    truth = found.setting.truth
    ours, theirs = _rms((found.batch - truth)[TRUE]), _rms((BATCH[:15] - STANDARD)[TRUE])
    better = np.abs(found.elimination - truth) < np.abs(found.batch - truth)
    printed = np.abs(ELIMINATION[:15] - STANDARD) < np.abs(BATCH[:15] - STANDARD)
    before, after = found.conditions
    return [
        shown(
            "Table 7.3: batch LS, error of 11 parameters", f"RMS {theirs:.2f} from the standard values",
            f"RMS {ours:.2f} from the true ones", "simulated records are cleaner than those of 1995",
        ),
        shown(
            "Table 7.3: P1, where the mismatch is largest", "-2.33 (standard 3.95)",
            f"{found.batch[0]:.2f} (true {truth[0]:.2f})",
        ),
        shown(
            "Table 7.3: Coulomb friction P16-P18", "11.23, 11.82, 5.07",
            ", ".join(f"{x:.2f}" for x in found.batch[-3:]),
            "the simulated arm has the thesis's friction",
        ),
        claim(
            "leaving out the two weakest directions makes estimates more accurate", "yes, for some",
            f"{better.sum()} of 18 improve (in the table {printed.sum()} of 15); RMS of all 15 "
            f"{_rms((found.batch - truth)[:15]):.2f} to {_rms((found.elimination - truth)[:15]):.2f}, condition "
            f"{before:.0f} to {after:.0f}",
            _rms((found.elimination - truth)[:15]) < _rms((found.batch - truth)[:15]),
            "with little noise the bias of what is left out outweighs the smaller variance",
        ),
    ]  # fmt: skip


def _lms_rows(found: Estimates) -> list[Row]:
    truth = dict(zip(ALL, found.setting.truth, strict=True))
    standard = dict(zip(INERTIAL, STANDARD, strict=True))
    true, said = (np.array([values[name] for name in ELEVEN[:8]]) for values in (truth, standard))
    plain, convergent = _rms(found.lms[:8] - true), _rms(found.convergent[:8] - true)
    their_plain, their_convergent = _rms(LMS[:8] - said), _rms(CONVERGENT[:8] - said)
    return [
        shown(
            "Table 7.4: LMS on the optimised motion", f"8 parameters: RMS {their_plain:.2f} from the standard values",
            f"RMS {plain:.2f} from the true ones", "seven parameters are not in the model: their torques disturb",
        ),
        claim(
            "Table 7.5: LMS along the convergent mode is closer",
            f"RMS {their_convergent:.2f} against {their_plain:.2f}",
            f"RMS {convergent:.2f} against {plain:.2f}", convergent < plain,
            "the abbreviated model is the same; its bias depends on the motions",
        ),
    ]  # fmt: skip


def tables(found: Estimates) -> list[Table]:
    """Tables 7.2 to 7.5 beside their simulated counterparts."""
    truth = found.setting.truth
    printed = [f"{x:.4f}" for x in STANDARD] + ["-"] * (len(ALL) - len(STANDARD))
    batch = tuple(
        (f"P{k + 1} = {name}", f"{BATCH[k]:.4f}", f"{ELIMINATION[k]:.4f}", printed[k],
         f"{found.batch[k]:.4f}", f"{found.elimination[k]:.4f}", f"{truth[k]:.4f}")
        for k, name in enumerate(ALL)
    )  # fmt: skip
    where = [ALL.index(name) for name in ELEVEN]
    lms = tuple(
        (f"P{k + 1} = {ALL[k]}", f"{LMS[i]:.4f}", f"{CONVERGENT[i]:.4f}", printed[k],
         f"{found.lms[i]:.4f}", f"{found.convergent[i]:.4f}", f"{truth[k]:.4f}")
        for i, k in enumerate(where)
    )  # fmt: skip
    columns = ("parameter", "batch ", "elimination ", "standard ", "ours: batch ", "ours: elimination ", "true ")
    return [
        _significance_table(found),
        Table("Table 7.3: least squares; ours on simulated records", columns, batch),
        Table("Tables 7.4 and 7.5: LMS; ours on simulated records",
              ("parameter", "7.4 ", "7.5 ", "standard ", "ours: 7.4 ", "ours: 7.5 ", "true "), lms),
    ]  # fmt: skip


def drive_row(quick: bool, found: Estimates, tell: Tell) -> Row:
    """Geared against direct drive: the same motions and instruments but for ripple and friction."""
    tell("the direct-drive arm")
    setting = Setting.of(direct(), DIRECT)
    chosen = motions(3 if quick else 5, seed=0)
    records = [setting.record(track(motion, arm=direct()), seed=k) for k, motion in enumerate(chosen)]
    errors = {}
    for name, each, data in (
        ("geared", found.setting, joined(found.records[: len(records)], found.setting.columns(ALL))),
        ("direct", setting, joined(records, setting.columns(INERTIAL))),
    ):
        x = LeastSquares().fit(data).x
        errors[name] = (
            _rms((x[:15] - each.truth[:15])[TRUE]),
            float(np.linalg.norm(data.residuals(x)) / np.linalg.norm(data.tau)),
        )
    return claim(
        "a direct drive is identified more accurately than a geared one", "yes",
        f"error of 11 parameters RMS {errors['direct'][0]:.3f} against {errors['geared'][0]:.3f}, torque "
        f"{errors['direct'][1]:.1%} against {errors['geared'][1]:.1%}",
        errors["direct"][0] < errors["geared"][0],
        "no friction, no ripple, no third motor that 15 parameters cannot hold",
    )  # fmt: skip
