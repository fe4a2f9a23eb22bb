"""Kapadia (1995), Tables 7.4 and 7.5: LMS on the optimised motion, and along the convergent mode."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from armdyn.identification.estimators.data import Data
from armdyn.identification.estimators.online import lms_update, most_stable_mode
from reproductions.case import Row, Table, Tell, rms, show, tendency
from reproductions.kapadia_data import Recorded, Setting, join_records, motions, track
from reproductions.kapadia_estimates import TRAJECTORIES, Estimates, standard
from reproductions.kapadia_motion import improve
from reproductions.kapadia_tables import ALL, CONVERGENT, EIGHT, ELEVEN, INERTIAL, LMS, STANDARD

STEP_RATIO = 0.1  # of LMS, as part of the largest stable one
CONVERGED_CHANGE, MAX_PASSES = 0.002, 400  # converged: a pass changes the estimate by this part; passes at most
PAIRS = 16  # of motions on which the two tables are compared: single ratios scatter by a factor of 1.4
ASSUMED = (
    "LMS: a tenth of the largest stable gain, columns scaled to equal size, from zero; records are passed until a pass "
    f"changes the estimate by less than {CONVERGED_CHANGE:.1%}. {PAIRS} pairs of motions: an optimised one for Table "
    "7.4, ten others for Table 7.5.",
)


class Adapted(NamedTuple):
    """LMS on one pair of motions; parameters in the order of `ELEVEN`."""

    plain: NDArray  # (11,) on the optimised motion
    samples: int  # that it took
    record: int  # samples of the record that was passed
    evolution: NDArray  # (N, 11) along the convergent mode, over all records
    ends: list[int]  # samples at which trajectories end in the first pass
    truth: NDArray  # (11,)

    @property
    def convergent(self) -> NDArray:
        """The evolution's end (11,)."""
        return self.evolution[-1]

    @property
    def errors(self) -> tuple[float, float]:
        """RMS of the eight inertial parameters, plain and along the convergent mode."""
        parts = (each[: len(EIGHT)] - self.truth[: len(EIGHT)] for each in (self.plain, self.convergent))
        return rms(next(parts)), rms(next(parts))


def adapt_pairs(found: Estimates, seed: int, tell: Tell) -> list[Adapted]:
    """LMS on several pairs of motions; the first has the records of Table 7.3."""
    setting, result = found.setting, []
    for pair in range(PAIRS):
        tell(f"LMS, pair {pair + 1} of motions")
        optimal = improve([seed, pair], 40).trajectory
        best = join_records([setting.record(track(optimal), seed=1000 * seed + 100 + pair)], setting.columns(ELEVEN))
        records = found.records if pair == 0 else _records(setting, 1000 * (seed + 1) + pair)
        every = join_records(records, setting.columns(ELEVEN))
        plain = evolve(best, most_stable=False)
        ends = list(np.cumsum([len(record.data.tau) for record in records]))
        truth = np.array([setting.truth[ALL.index(name)] for name in ELEVEN])
        evolution = evolve(every, most_stable=True)
        result.append(Adapted(plain[-1], len(plain), len(best.tau), evolution, ends, truth))
    return result


def _records(setting: Setting, seed: int) -> list[Recorded]:
    return [setting.record(track(motion), seed=k) for k, motion in enumerate(motions(TRAJECTORIES, seed))]


def evolve(data: Data, most_stable: bool) -> NDArray:
    """LMS estimates (N, p) after every sample; the data are passed until the estimate stays."""
    scale = 1 / np.sqrt((data.Y**2).mean((0, 1)))
    largest = max(float(np.linalg.norm(Y * scale, 2)) ** 2 for Y in data.Y)
    gain = STEP_RATIO * 2 / largest * scale**2
    samples = [
        (Y, tau[:, None], gain[:, None], most_stable_mode(Y, gain) if most_stable else None)
        for Y, tau in zip(data.Y, data.tau, strict=True)
    ]
    x, found = np.zeros((data.Y.shape[2], 1)), []
    for _ in range(MAX_PASSES):
        before = x
        for sample in samples:
            x = lms_update(x, *sample)
            found.append(x[:, 0])
        if np.linalg.norm(x - before) < CONVERGED_CHANGE * np.linalg.norm(x):
            break
    return np.array(found)


def rows(found: list[Adapted]) -> list[Row]:
    """Rows about Tables 7.4 and 7.5."""
    said = np.array([STANDARD[INERTIAL.index(name)] for name in EIGHT])
    their_plain, their_convergent = (rms(each[: len(EIGHT)] - said) for each in (LMS, CONVERGENT))
    plain, convergent = np.array([each.errors for each in found]).T
    first = found[0]
    return [
        show(
            "Table 7.4: LMS on the optimised motion", f"8 parameters: RMS {their_plain:.2f} from the standard values",
            f"RMS {plain[0]:.2f} from the true ones after {first.samples} samples, {first.samples // first.record} "
            f"passes of a record of {first.record}",
            "seven parameters are not in the model: their torques disturb",
        ),
        tendency(
            "Table 7.5: LMS along the convergent mode is closer",
            f"RMS {their_convergent:.2f} against {their_plain:.2f}",
            f"RMS {np.median(convergent):.2f} against {np.median(plain):.2f}, medians of {len(found)} pairs of "
            f"motions; {len(first.evolution)} samples in the first pair",
            convergent / plain,
            "both have converged; the bias of the abbreviated model depends on the motions, which are not given",
        ),
    ]  # fmt: skip


def table(found: Adapted) -> Table:
    """Tables 7.4 and 7.5 beside their simulated counterparts."""
    lines = tuple(
        (f"P{ALL.index(name) + 1} = {name}", f"{LMS[i]:.4f}", f"{CONVERGENT[i]:.4f}", standard(ALL.index(name)),
         f"{found.plain[i]:.4f}", f"{found.convergent[i]:.4f}", f"{found.truth[i]:.4f}")
        for i, name in enumerate(ELEVEN)
    )  # fmt: skip
    columns = ("parameter", "7.4 ", "7.5 ", "standard ", "ours: 7.4 ", "ours: 7.5 ", "true ")
    lengths = f"{found.samples} and {len(found.evolution)} samples"
    return Table(f"Tables 7.4 and 7.5: LMS; ours on simulated records, {lengths}", columns, lines)
