"""Geometric calibration on measured poses and in simulation: `python benchmarks/calibration.py [PART ...]`.

Parts: `errors` (held out, against simpler models and flat least squares), `few` (poses), `wrong` (one pose 30 mm off),
`mistakes` (injected), `coverage` (of 95 % intervals), `choice` (of poses) and `time`. Real sets are read from
the folder `shared` beside the repository where it is present; a simulated PUMA 560 is always measured.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.calibration.conftest import make_truth, measure, random_positions
from tests.calibration.test_design import error, free_poses
from tests.calibration.test_real_poses import SETS, load

import armdyn
from armdyn.calibration.check import PosesCheck
from armdyn.calibration.fit import EvidenceFit
from armdyn.calibration.held_out import held_out_errors, models, pose_distances, refit
from armdyn.calibration.poses import Poses
from armdyn.calibration.unknowns import CalibrationUnknowns, free_entries
from armdyn.model.arm import Arm
from armdyn.spatial.transform import inverse

SMALL = os.environ.get("ARMDYN_BENCHMARK") == "small"
SHUFFLES, DRAWS, ARMS = (1, 2, 3) if SMALL else (3, 12, 40)
FOLDER = Path(__file__).parents[2] / "shared" / "data" / "calibration"
Set = tuple[Arm, Poses]


def sets() -> dict[str, Set]:
    """Arms and their measured poses; the first is simulated."""
    arm, rng = armdyn.arms.puma560(), np.random.default_rng(1)
    known = {"(simulated)": (arm, measure(make_truth(arm, rng), random_positions(arm, 40, rng), 5e-5, rng))}
    if FOLDER.is_dir() and not SMALL:
        for name, (model, options, _, _) in SETS.items():
            arm = load(FOLDER / model, options)
            known[name] = arm, armdyn.read_poses(FOLDER / f"{name}.csv", arm)
    return known


def unknowns_of(arm: Arm, poses: Poses, geometry: bool | str = True, gravity: bool = True) -> CalibrationUnknowns:
    return CalibrationUnknowns(arm, poses, free_entries(arm, geometry), gravity)


def distances(fit: EvidenceFit, poses: Poses) -> NDArray:
    """Errors [mm] of the predicted points at other poses."""
    return 1e3 * pose_distances(fit.unknowns.of(poses), fit)[:, 0]


def flat_least_squares(unknowns: CalibrationUnknowns) -> EvidenceFit:
    """All frames by Gauss-Newton steps: no prior to speak of, no weights."""
    fit = refit(replace(unknowns, free=free_entries(unknowns.arm, False), gravity=False))
    unknowns = replace(unknowns, gravity=False)
    state = fit.state._replace(gravity=np.zeros(0))
    for _ in range(20):
        r = unknowns.residuals(state).ravel()
        seen = np.isfinite(r)
        J = unknowns.jacobian(state).reshape(len(r), -1)[seen]
        size = rms(r[seen]) * np.eye(J.shape[1])  # deviations of 1 m and 1 rad: for what no pose shows
        step = np.linalg.lstsq(np.vstack([J, size]), np.concatenate([r[seen], np.zeros(len(size))]), rcond=None)[0]
        state = unknowns.moved(state, step)
    return replace(fit, unknowns=unknowns, state=state)


FITS: dict[str, Callable[[CalibrationUnknowns], EvidenceFit]] = {
    "base and tool": lambda u: refit(models(u)["base_and_tool"]),
    "zeros": lambda u: refit(models(u)["offsets"]),
    "flat LS": flat_least_squares,
    "full": refit,
}


def errors(known: dict[str, Set]) -> None:
    """Held-out means, five folds."""
    print(f"held-out mean [mm], 5 folds x {SHUFFLES} shuffles")
    ratios = []
    for name, (arm, poses) in known.items():
        rows: dict[str, list[NDArray]] = {fit: [] for fit in FITS}
        for shuffle in range(SHUFFLES):
            order = np.random.default_rng(shuffle).permutation(len(poses))
            for k in range(5):
                test = order[k::5]
                train = poses.select(np.setdiff1d(order, test))
                for label, fit in FITS.items():
                    rows[label].append(distances(fit(unknowns_of(arm, train)), poses.select(test)))
        means = {label: float(np.concatenate(e).mean()) for label, e in rows.items()}
        verdict = armdyn.calibrate(arm, poses).verdict
        ratios.append(means["full"] / means["flat LS"])
        print(f"  {name:16s}" + "".join(f" {label} {mean:.3f}" for label, mean in means.items()), f" {verdict}")
    print(f"  full / flat LS: geometric mean {np.exp(np.mean(np.log(ratios))):.2f}, largest {max(ratios):.2f}")

    if "irb120_wu" in known:
        mean, largest = other_points(*known["irb120_wu"])
        print(f"  irb120_wu, other points of the tool: mean {mean:.3f}, max {largest:.3f}")


def other_points(arm: Arm, poses: Poses) -> tuple[float, float]:
    """Mean and largest error [mm] at points of the tool that were not fitted to, each known from its pose at zero."""
    home, *tests = (armdyn.read_poses(FOLDER / f"irb120_wu_{name}.csv", arm) for name in ("home", "test1", "test2"))
    cal = armdyn.calibrate(arm, Poses(np.vstack([poses.q, home.q]), np.vstack([poses.points, home.points])))
    errors = []
    for test in tests:
        point = inverse(cal.tip(test.q[0])) @ [*test.points[0, 0], 1.0]
        errors.append(np.linalg.norm(cal.tip(test.q[1:])[:, :3] @ point - test.points[1:, 0], axis=1))
    e = 1e3 * np.concatenate(errors)
    return float(e.mean()), float(e.max())


def choice(_: dict[str, Set]) -> None:
    """Chosen poses against random ones, both free of collisions: ratio of the errors at others, on simulated arms."""
    print(f"chosen / random poses: rms at other poses, geometric mean of {2 * DRAWS} arms with errors")
    for name in ("puma560", "ur10", "stanford"):
        arm = getattr(armdyn.arms, name)()
        pool = free_poses(arm, 600)
        ratios = []
        for k in (12, 30):
            chosen = armdyn.calibration_poses(arm, k)
            logs = []
            for seed in range(2 * DRAWS):
                rng = np.random.default_rng(seed)
                truth, test = make_truth(arm, rng), rng.permutation(pool)[:100]
                logs.append(np.log(error(truth, chosen, test) / error(truth, rng.permutation(pool)[:k], test)))
            ratios.append(f"{k} poses {np.exp(np.mean(logs)):.2f}")
        print(f"  {name:16s} {', '.join(ratios)}")


def few(known: dict[str, Set]) -> None:
    """Twelve poses, or twenty of single points: RMS at all poses, against the better simple model of each draw.

    Which of base and tool alone and zeros is better, nobody knows beforehand: each of them, and the choice of a model
    by inner folds, stand beside the full model.
    """
    print(f"few poses, {DRAWS} draws: rms at all poses over that of the better simple model in the same draw:")
    print("geometric mean / largest / share above 1.05, and the median rms [mm] of the full model")
    labels = ("base and tool", "zeros", "full", "chosen by folds")
    for name, (arm, poses) in known.items():
        count = 20 if poses.n_markers == 1 else 12
        table = []
        for seed in range(DRAWS):
            train = poses.select(np.random.default_rng(seed).choice(len(poses), count, replace=False))
            unknowns = unknowns_of(arm, train)
            of_model = {model: rms(distances(refit(part), poses)) for model, part in models(unknowns).items()}
            held_out = held_out_errors(unknowns)
            chosen = min(of_model, key=lambda model: getattr(held_out, model).rms)
            table.append([*of_model.values(), of_model[chosen]])
        x = np.array(table)
        ratio = x / x[:, :2].min(1, keepdims=True)
        texts = [
            f"{label} {np.exp(np.mean(np.log(r))):.2f} / {r.max():.2f} / {np.mean(r > 1.05):.0%}"
            for label, r in zip(labels, ratio.T, strict=True)
        ]
        print(f"  {name:16s} {', '.join(texts)}; {np.median(x[:, 2]):.3f} mm")


def rms(x: NDArray) -> float:
    return float(np.sqrt(np.mean(x**2)))


def shifted(poses: Poses, row: int, by: NDArray) -> Poses:
    """Poses of which one was measured elsewhere."""
    if poses.points is None:
        frames = np.array(poses.poses)
        frames[row, :3, 3] += by
        return replace(poses, poses=frames)
    points = np.array(poses.points)
    points[row] += by
    return replace(poses, points=points)


def wrong(known: dict[str, Set]) -> None:
    """One pose 30 mm off: named first, and what it costs at poses that were left out."""
    print(f"one pose 30 mm off, {DRAWS} draws: named first; held-out rms over clean")
    for name, (arm, poses) in known.items():
        named, spoiled, clean = 0, [], []
        for seed in range(DRAWS):
            rng = np.random.default_rng(seed)
            order = rng.permutation(len(poses))
            test, train = poses.select(order[::5]), poses.select(np.setdiff1d(order, order[::5]))
            by = rng.normal(size=3)
            row = int(rng.integers(len(train)))
            bad = armdyn.calibrate(arm, shifted(train, row, 0.03 * by / np.linalg.norm(by)))
            named += bool(bad.doubtful) and bad.doubtful[0] == train.rows[row]
            spoiled.append(distances(bad.fit, test))
            clean.append(distances(refit(unknowns_of(arm, train)), test))
        ratio = rms(np.concatenate(spoiled)) / rms(np.concatenate(clean))
        print(f"  {name:16s} {named}/{DRAWS}  {ratio:.3f}")


def injected(arm: Arm, poses: Poses) -> dict[str, tuple[Poses, Callable[[PosesCheck], bool]]]:
    """Mistakes by name: the spoiled poses, and whether a finding names it, up to what cannot be told apart."""
    q, n = poses.q, arm.n

    def changed(**fields: NDArray) -> Poses:
        return replace(poses, **fields)

    def measured(change: Callable[[NDArray], NDArray], turn: NDArray | None = None) -> Poses:
        if poses.points is not None:
            return changed(points=change(poses.points))
        frames = np.array(poses.poses)
        frames[:, :3, 3] = change(frames[:, :3, 3])
        return changed(poses=frames)

    def names(*kinds: str) -> Callable[[PosesCheck], bool]:
        return lambda check: any(m.kind in kinds for m in check.mistakes)

    turning = [joint.kind == "revolute" for joint in arm.joints]
    cases = {
        "degrees": (changed(q=np.where(turning, np.degrees(q), q)), names("degrees")),
        "mm": (measured(lambda p: 1e3 * p), names("millimetres")),
    }
    cases["mirror"] = measured(lambda p: p * (1, -1, 1)), names("mirrored", "axes")
    cases["swapped axes"] = measured(lambda p: p[..., [1, 0, 2]]), names("mirrored", "axes")
    if poses.points is None:
        cases["inverted"] = changed(poses=inverse(poses.poses)), names("inverse")
    one = np.ones(n)
    for j in range(n):
        sign = np.where(np.arange(n) == j, -one, one)
        cases[f"sign {j + 1}"] = changed(q=q * sign), names("sign", "mirrored")
    for i, j in ((0, 1), (n - 2, n - 1)):
        order = np.arange(n)
        order[[i, j]] = j, i
        cases[f"exchange {i + 1} {j + 1}"] = changed(q=q[:, order]), names("exchange")
    later = [None if x is None else x[1:] for x in (poses.points, poses.poses)]
    cases["shift"] = Poses(q[:-1], *later), names("shift")
    return cases


def mistakes(known: dict[str, Set]) -> None:
    """Injected mistakes that are named, by kind; alarms on clean sets."""
    print("mistakes named / injected; those that were not")
    total, hits = 0, 0
    for name, (arm, poses) in known.items():
        clean = armdyn.check_poses(arm, poses)
        missed = []
        cases = injected(arm, poses)
        for case, (spoiled, is_named) in cases.items():
            check = armdyn.check_poses(arm, spoiled, sisters=False)
            if not is_named(check):
                texts = "; ".join(m.text for m in check.mistakes) or "nothing"
                missed.append(f"{case} ({texts}, {1e3 * check.rms:.3g} mm)")
        total, hits = total + len(cases), hits + len(cases) - len(missed)
        alarm = "clean" if clean.ok else f"FALSE ALARM {[m.text for m in clean.mistakes]}"
        print(f"  {name:16s} {len(cases) - len(missed)}/{len(cases)} {alarm}; {', '.join(missed) or 'none missed'}")
    print(f"  all: {hits}/{total}")


def coverage(known: dict[str, Set]) -> None:
    """Shares of measured coordinates within their 95 % intervals."""
    print("coverage of 95 % intervals: simulated arms, then held-out components of measured sets")
    arm, inside, alone = armdyn.arms.puma560(), [], []
    for seed in range(ARMS):
        rng = np.random.default_rng(seed)
        truth = make_truth(arm, rng, scale=3 ** rng.uniform(-1, 1))
        cal = armdyn.calibrate(arm, measure(truth, random_positions(arm, 40, rng), 1e-4, rng))
        q = random_positions(arm, 100, rng)
        error = cal.points(q) - truth.points(q)
        for rows, e, noise in ((inside, error + 1e-4 * rng.normal(size=error.shape), True), (alone, error, False)):
            rows.append(np.mean(np.abs(e) < 1.96 * deviations(cal, q, noise)))
    print(f"  {ARMS} simulated: measured points {np.mean(inside):.3f}, points as they are {np.mean(alone):.3f}")
    for name, (arm, poses) in known.items():
        shares = []
        for shuffle in range(SHUFFLES):
            order = np.random.default_rng(shuffle).permutation(len(poses))
            for k in range(5):
                test = poses.select(order[k::5])
                cal = armdyn.calibrate(arm, poses.select(np.setdiff1d(order, order[k::5])))
                points = test.points if test.points is not None else test.poses[:, None, :3, 3]
                share = np.abs(points - cal.points(test.q)) < 1.96 * deviations(cal, test.q, True)
                shares.append(share[np.isfinite(points)])
        print(f"  {name:16s} {np.concatenate(shares).mean():.3f}")


def deviations(cal: armdyn.Calibration, q: NDArray, noise: bool) -> NDArray:
    return np.sqrt(np.diagonal(cal.points_covariance(q, noise=noise), axis1=-2, axis2=-1))


def seconds(_: dict[str, Set]) -> None:
    """The first fit of a new arm has nothing compiled; of busy machines the time of the processor tells more."""
    print("time [s], and of it on the processor")
    arm, rng = armdyn.arms.puma560(), np.random.default_rng(1)
    truth = make_truth(arm, rng)
    os.environ["ARMDYN_CACHE_DIR"] = tempfile.mkdtemp()
    for count in (36, 200 if SMALL else 1000):
        poses = measure(truth, random_positions(arm, count, rng), 5e-5, rng)
        new = replace(arm, tool_pose=truth.base, base_pose=truth.base if count > 36 else np.eye(4))
        marks = [(time.perf_counter(), time.process_time())]
        cal = armdyn.calibrate(new, poses)
        marks.append((time.perf_counter(), time.process_time()))
        _ = cal.verdict
        marks.append((time.perf_counter(), time.process_time()))
        (fit, fit_cpu), (whole, whole_cpu) = np.subtract(marks[1:], marks[0])
        print(f"  {count} x 3 points: a fit {fit:.2f} ({fit_cpu:.2f}), held out too {whole:.2f} ({whole_cpu:.2f})")


PARTS = {"errors": errors, "few": few, "wrong": wrong, "mistakes": mistakes, "coverage": coverage}
PARTS |= {"choice": choice, "time": seconds}


def main() -> None:
    warnings.simplefilter("ignore")
    known = sets()
    for part in sys.argv[1:] or PARTS:
        PARTS[part](known)


if __name__ == "__main__":
    main()
