"""Kapadia (1995), chapter 7 on simulated data: significance analysis and least squares, Tables 7.2 and 7.3."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.estimators.data import Data
from armdyn.identification.estimators.least_squares import LeastSquares
from armdyn.identification.estimators.significance import Significance, sensitivities
from reproductions import kapadia_data as puma
from reproductions import kapadia_tables as thesis
from reproductions.case import Row, Table, Tell, claim, rms, show, tendency

TRAJECTORIES = 10  # of the thesis
DRAWS, FEWER_DRAWS = 10, 5  # of the noise
WEAKEST_LEFT_OUT = 2  # directions left out
SENSITIVITY, CONDITION = 0.05, 100.0  # of the significance analysis: the thesis gives no thresholds
DRIVE_DRAWS = 24  # of motions and noise in the comparison with a direct drive
DRIVE_TRAJECTORIES = 5  # trajectories of the comparison with a direct drive
# The parameters whose standard values are true (see Table 7.1).
TRUE_COLUMNS = [k for k, name in enumerate(thesis.INERTIAL) if name not in ("Izz1", "Izz2", "Ixx2", "Izz3")]
ASSUMED = (
    "PUMA: the true arm has Armstrong's links and motors and the Coulomb friction of Table 7.3. Ten motions of 6.7 s "
    "(Fourier series, up to 0.6 rad/s) tracked by PD; encoders of 0.1 mrad, torque noise of 1 N m and 3 % ripple; "
    "positions differentiated off line behind a low-pass of 16 Hz, equations low-passed at 8 Hz.",
    "Tables 7.2 and 7.3: white torque noise is added until batch least squares is as far off as the thesis's (RMS of "
    "15 parameters 6.23), because a claim about noisy records cannot be judged on clean ones.",
    f"Significance: sensitivities |H'T|/|T| below {SENSITIVITY:.0%} of the largest, condition at most {CONDITION:g}.",
)


TARGET = rms(thesis.BATCH[:15] - thesis.STANDARD)  # 6.23


class Noisy(NamedTuple):
    """Records with added noise, and what least squares finds in every draw of it."""

    noise: float  # standard deviation [N m]
    first: Data  # the first draw
    ends: list[int]  # rows where each trajectory ends
    batch: NDArray  # (draws, 18)
    elimination: NDArray  # (draws, 18)


class Estimates(NamedTuple):
    """What chapter 7 computes, from simulated records; parameters in the order P1 ... P18."""

    setting: puma.Setting
    records: list[puma.Recorded]
    noisy: Noisy
    conditions: tuple[float, float]  # of the scaled regressor, before and after

    @property
    def elimination(self) -> NDArray:
        """Table 7.3's second column (18,)."""
        return self.noisy.elimination[0]


def estimate(quick: bool, seed: int, tell: Tell) -> Estimates:
    """Move, measure, estimate."""
    setting = puma.Setting.of(puma.geared_puma(), puma.GEARED)
    records = []
    for k, motion in enumerate(puma.motions(TRAJECTORIES, seed)):
        tell(f"identification trajectory {k + 1}")
        records.append(setting.record(puma.track(motion), seed=1000 * seed + k))
    tell("least squares on records as noisy as the thesis's")
    noisy = calibrate(setting, records, FEWER_DRAWS if quick else DRAWS, seed)
    rows = noisy.first.weighted(LeastSquares().fit(noisy.first).weights)[0]
    values = np.linalg.svd(rows / np.linalg.norm(rows, axis=0), compute_uv=False)
    conditions = float(values[0] / values[-1]), float(values[0] / values[-1 - WEAKEST_LEFT_OUT])
    return Estimates(setting, records, noisy, conditions)


def calibrate(setting: puma.Setting, records: list[puma.Recorded], draws: int, seed: int) -> Noisy:
    """Add as much noise to the torques as makes batch least squares as wrong as Table 7.3's, in the mean of draws."""
    from scipy.optimize import brentq

    clean = puma.join_records(records, setting.columns(thesis.ALL))
    noise = [puma.filtered_noise(records, np.random.default_rng([seed, draw])) for draw in range(draws)]

    def fits(size: float, estimator: Significance) -> NDArray:
        return np.array([estimator.fit(Data(clean.Y, clean.tau + size * each)).x for each in noise])

    def excess(log_size: float) -> float:
        return rms((fits(np.exp(log_size), Significance()) - setting.truth)[:, :15]) - TARGET

    size = float(np.exp(brentq(excess, np.log(1e-2), np.log(1e3), xtol=1e-2)))
    ends = list(np.cumsum([len(record.data.tau) for record in records]))
    batch, elimination = fits(size, Significance()), fits(size, Significance(weakest=WEAKEST_LEFT_OUT))
    return Noisy(size, Data(clean.Y, clean.tau + size * noise[0]), ends, batch, elimination)


# -- Table 7.2 ---------------------------------------------------------------------------------------------


def rows(found: Estimates) -> list[Row]:
    """Rows about Tables 7.2 and 7.3."""
    return [*_significance_rows(found), *_least_squares_rows(found)]


class Analysis(NamedTuple):
    """Significance analysis of one trajectory: by sensitivities, and by singular values."""

    before: float  # condition of the regressor as it is
    after: tuple[float, float]  # unscaled, of the columns that sensitivities keep; scaled by them, of those of the SVD
    left_out: tuple[list[int], list[int]]  # numbers of parameters


def analyse(data: Data) -> Analysis:
    """Both analyses by torque sensitivities |H'T|/|T|."""
    H, share = data.weighted(1.0)[0], sensitivities(data)
    dependent = Significance(condition=CONDITION, scaling="torque")
    kept = [np.flatnonzero(share >= SENSITIVITY * share.max()), dependent.selected(data)]
    after = float(np.linalg.cond(H[:, kept[0]])), float(dependent.fit(data).condition)
    out = [[i + 1 for i in range(H.shape[1]) if i not in each] for each in kept]
    return Analysis(float(np.linalg.cond(H)), after, (out[0], out[1]))


def _analyses(found: Estimates) -> list[Analysis]:
    """Of the trajectories that Table 7.2 has."""
    data, ends = found.noisy.first, [0, *found.noisy.ends]
    parts = [slice(*pair) for pair in pairwise(ends)][: len(thesis.CONDITIONS)]
    return [analyse(Data(data.Y[part], data.tau[part])) for part in parts]


def _list(numbers: list[int]) -> str:
    return ",".join(map(str, numbers)) or "none"


def _significance_rows(found: Estimates) -> list[Row]:
    analyses = _analyses(found)
    result = [
        claim(
            f"Table 7.2, trajectory {k + 1}: conditions fall", f"{said[0]:.0f} to {said[1]:.0f} and {said[2]:.0f}",
            f"{ours.before:.0f} to {ours.after[0]:.0f} and {ours.after[1]:.0f}", max(ours.after) < ours.before,
            "other motions than the thesis's, and its thresholds are not given",
        )
        for k, (ours, said) in enumerate(zip(analyses, thesis.CONDITIONS, strict=True))
    ]  # fmt: skip
    printed = set(map(int, thesis.LEFT_OUT[0][0].split(",")))
    ours = analyses[0].left_out[0]
    result.append(
        show(
            "Table 7.2, trajectory 1: parameters that |H'T|/|T| leaves out", thesis.LEFT_OUT[0][0],
            f"{_list(ours)}: {len(printed & set(ours))} of the {len(printed)} printed ones among them",
            "depends on the motion and on the threshold",
        )
    )  # fmt: skip
    return result


def _significance_table(found: Estimates) -> Table:
    """Table 7.2 in its own style, ours below each printed line."""
    lines = []
    for k, (ours, said, out) in enumerate(zip(_analyses(found), thesis.CONDITIONS, thesis.LEFT_OUT, strict=True), 1):
        lines.append((f"{k}, printed", f"{said[0]:.1f}", out[0], f"{said[1]:.1f}", out[1], f"{said[2]:.1f}"))
        left, (first, second) = [_list(each) for each in ours.left_out], ours.after
        lines.append((f"{k}, ours", f"{ours.before:.1f}", left[0], f"{first:.1f}", left[1], f"{second:.1f}"))
    columns = ("trajectory", "unscaled ", "sensitivities leave out", "condition ", "SVD leaves out", "condition ")
    return Table("Table 7.2: significance analysis; other motions than the thesis's", columns, tuple(lines))


# -- Table 7.3 ---------------------------------------------------------------------------------------------


def _least_squares_rows(found: Estimates) -> list[Row]:
    noisy, truth = found.noisy, found.setting.truth
    batch, elimination = (each - truth for each in (noisy.batch, noisy.elimination))
    clean = puma.join_records(found.records, found.setting.columns(thesis.ALL))
    little = [rms((Significance(weakest=k).fit(clean).x - truth)[:15]) for k in (0, WEAKEST_LEFT_OUT)]
    wins = sum(rms(b[:15]) < rms(a[:15]) for a, b in zip(batch, elimination, strict=True))
    before, after = found.conditions
    return [
        show(
            "Table 7.3: batch LS, error of 15 parameters", f"RMS {TARGET:.2f} from the standard values",
            f"RMS {rms(batch[:, :15]):.2f} from the true ones with torque noise of {noisy.noise:.0f} N m",
            "the noise was chosen for this: how noisy the records of 1995 were is not given",
        ),
        claim(
            "leaving out the two weakest directions makes noisy estimates more accurate",
            f"RMS {TARGET:.2f} to {rms(thesis.ELIMINATION[:15] - thesis.STANDARD):.2f}",
            f"RMS {rms(batch[:, :15]):.2f} to {rms(elimination[:, :15]):.2f} over {len(batch)} draws, better in "
            f"{wins}; condition {before:.0f} to {after:.0f}",
            rms(elimination[:, :15]) < rms(batch[:, :15]),
            f"with noise of 1 N m it is {little[0]:.2f} to {little[1]:.2f}",
        ),
        show(
            "Table 7.3: P1, where the mismatch is largest", "-2.33 (standard 3.95)",
            f"{noisy.batch[0, 0]:.2f} (true {truth[0]:.2f})",
        ),
        show(
            "Table 7.3: Coulomb friction P16-P18", "11.23, 11.82, 5.07",
            ", ".join(f"{x:.2f}" for x in noisy.batch[0, -3:]),
            "the simulated arm has the thesis's friction",
        ),
    ]  # fmt: skip


def tables(found: Estimates) -> list[Table]:
    """Tables 7.2 and 7.3 beside their simulated counterparts."""
    truth, noisy = found.setting.truth, found.noisy
    lines = tuple(
        (f"P{k + 1} = {name}", f"{thesis.BATCH[k]:.4f}", f"{thesis.ELIMINATION[k]:.4f}", standard(k),
         f"{noisy.batch[0, k]:.4f}", f"{noisy.elimination[0, k]:.4f}", f"{truth[k]:.4f}")
        for k, name in enumerate(thesis.ALL)
    )  # fmt: skip
    columns = ("parameter", "batch ", "elimination ", "standard ", "ours: batch ", "ours: elimination ", "true ")
    title = f"Table 7.3: least squares; ours on simulated records with noise of {noisy.noise:.0f} N m, the first draw"
    return [_significance_table(found), Table(title, columns, lines)]


def standard(k: int) -> str:
    """Table 7.1's value of a parameter, which friction does not have."""
    return f"{thesis.STANDARD[k]:.4f}" if k < len(thesis.STANDARD) else "-"


def drive_row(seed: int, tell: Tell) -> Row:
    """Geared against direct drive: the same motions and instruments but for ripple and friction, several times."""
    draws = []
    for k in range(DRIVE_DRAWS):
        tell(f"geared and direct-drive arms, draw {k + 1} of {DRIVE_DRAWS}")
        draws.append(_drive_errors(DRIVE_DRAWS * seed + k))
    errors = np.array(draws)
    (direct, direct_torque), (geared, geared_torque) = np.median(errors, axis=0)
    return tendency(
        "a direct drive is identified more accurately than a geared one", "yes",
        f"medians of {DRIVE_DRAWS} draws: error of 11 parameters RMS {direct:.3f} against {geared:.3f}, torque "
        f"{direct_torque:.1%} against {geared_torque:.1%}",
        errors[:, 0, 0] / errors[:, 1, 0],
        "no friction, no ripple, no third motor that 15 parameters cannot hold",
    )  # fmt: skip


def _drive_errors(seed: int) -> list[tuple[float, float]]:
    """Errors of parameters and torques, of the direct and of the geared drive, on one set of motions."""
    errors = []
    for arm, kind, names in (
        (puma.direct(), puma.DIRECT, thesis.INERTIAL),
        (puma.geared_puma(), puma.GEARED, thesis.ALL),
    ):
        setting = puma.Setting.of(arm, kind)
        records = [
            setting.record(puma.track(motion, arm=arm), seed=1000 * seed + k)
            for k, motion in enumerate(puma.motions(DRIVE_TRAJECTORIES, seed))
        ]
        data = puma.join_records(records, setting.columns(names))
        x = LeastSquares().fit(data).x
        wrong = rms((x[:15] - setting.truth[:15])[TRUE_COLUMNS])
        errors.append((wrong, float(np.linalg.norm(data.residuals(x)) / np.linalg.norm(data.tau))))
    return errors
