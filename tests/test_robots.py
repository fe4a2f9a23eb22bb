"""The zoo of `benchmarks/robots.py`: its truth is true, its faults spoil what they should, its tables add up."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import armdyn

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def zoo():
    """The modules of the zoo, which is no part of the package."""
    sys.path.insert(0, str(BENCHMARKS))
    import robots
    from zoo import arms, cases, faults, motion, plain, plant, score, sensors, tables, thresholds, variants

    yield dict(
        robots=robots, arms=arms, cases=cases, faults=faults, motion=motion, plain=plain, plant=plant, sensors=sensors,
        tables=tables, score=score, thresholds=thresholds, variants=variants,
    )  # fmt: skip
    sys.path.remove(str(BENCHMARKS))


@pytest.fixture(scope="module")
def case(zoo):
    return zoo["cases"].make_case(3)


def test_a_seed_is_a_task(zoo, case):
    again = zoo["cases"].make_case(3)
    assert again.tags == case.tags
    for one, other in zip((*case.train, case.test), (*again.train, again.test), strict=True):
        for x, y in zip(one, other, strict=True):
            np.testing.assert_array_equal(x, y)


def test_tasks_of_a_kind_have_what_it_says(zoo):
    robots, kinds = zoo["robots"], zoo["cases"].KINDS_OF_TASKS
    names = list(robots.names([1000], 1, ["kinds"]))
    assert len(names) == len(kinds) - 1
    case = robots.make("coupled wrist-1000")
    assert case.name == "coupled wrist-1000"
    assert case.coupled is not None
    assert case.tags["rate"] == 5000.0
    structured = robots.make("parallelogram-1000")
    assert (structured.tags["structure"], structured.tags["family"]) == ("parallelogram", "polar")
    assert np.isnan(robots.make("industrial drives-1000").arm.theta).any()


def test_the_zoo_is_wide(zoo):
    """Every kind of arm, mount, motion and family is there, and all described bodies of the truth are possible."""
    arms = zoo["arms"]
    assert {arms.family(k) for k in range(arms.GEOMETRIES)} == set(arms.FAMILIES)
    rng = np.random.default_rng(0)
    kinds = set()
    for geometry in range(12):
        bare = arms.make_arm(geometry, np.array([0, 0, -9.81]))
        arm = bare.with_theta(arms.random_bodies(bare, rng))
        assert arm.is_physical
        described, kind = arms.describe(arm, rng)
        kinds.add(kind)
        assert described.geometry_fingerprint == arm.geometry_fingerprint
        assert (kind == "missing") == np.isnan(described.theta).any()
        assert bool(np.isnan(described.theta).any() or described.is_physical) == (kind != "impossible")
    assert kinds == {"exact", "off", "impossible", "missing"}


@pytest.mark.parametrize("kind", ["fourier", "random", "points", "teach"])
def test_motions_know_their_derivatives(zoo, kind):
    reach, speed = np.array([1.0, 0.7]), np.array([0.8, 1.1])
    motion = zoo["motion"].make_motion(kind, reach, speed, 6.0, np.random.default_rng(1))
    t, h = np.linspace(0.3, 5.5, 211), 1e-5
    _, v, a = motion(t)
    ahead, behind = motion(t + h), motion(t - h)
    # Differences of second order: the error is h² times a third derivative, and round-off over h.
    np.testing.assert_allclose((ahead[0] - behind[0]) / (2 * h), v, atol=1e-6)
    np.testing.assert_allclose((ahead[1] - behind[1]) / (2 * h), a, atol=1e-3)
    assert (np.abs(v) < 4 * speed).all()


def test_drives_turn_friction_and_rotors_as_their_shafts_do(zoo, case):
    """With viscous friction and rotors alone, torque beyond the links' is G'(F G v + J G a): its power is symmetric."""
    arm, n = case.plant.arm, case.arm.n
    none = np.zeros(n)
    friction = zoo["plant"].Friction(*[none] * 10, 0.0)._replace(width=np.ones(n), viscous=np.arange(1.0, n + 1))
    G = np.eye(n)
    G[n - 1, n - 2] = -1.0
    plant = replace(case.plant, friction=friction, rotors=np.arange(1.0, n + 1), coupling=G, structure="")
    rng = np.random.default_rng(2)
    q, v, a = rng.normal(size=(3, 50, n))
    drives = plant.torque(q, v, a, np.zeros(50)) - armdyn.inverse_dynamics(arm, q, v, a)
    M = G.T @ np.diag(np.arange(1.0, n + 1)) @ G
    np.testing.assert_allclose(drives, (v + a) @ M, atol=1e-9)


def test_plain_least_squares_finds_what_it_can_describe(zoo, case):
    """Rigid links, rotors, viscous friction and offsets, measured without fault, are predicted."""
    n = case.arm.n
    none = np.zeros(n)
    friction = (
        zoo["plant"].Friction(*[none] * 10, 0.0)._replace(width=np.ones(n), viscous=np.ones(n), offset=np.ones(n))
    )
    plant = replace(case.plant, friction=friction, structure="", coupling=np.eye(n))
    rng = np.random.default_rng(3)
    logger = zoo["sensors"].Logger(200.0, 0.0, 0.0, 0.0, 0.0, none, 1e-9, "none", 0.0, 0.0, 0.0)
    motions = [zoo["motion"].make_motion("fourier", np.ones(n), np.ones(n), 20.0, rng) for _ in range(2)]
    train, test = (logger.record(plant, motion, 0.0, 20.0, rng) for motion in motions)
    # What is left is the difference quotient on a grid of 5 ms, and the filters at both ends.
    assert max(zoo["plain"].plain_errors(case.arm, (train,), test)) < 2e-3


def test_every_fault_spoils_what_is_fitted_and_not_the_test(zoo, case):
    for name in zoo["faults"].FAULTS:
        spoilt = zoo["faults"].spoil(case, name)
        assert spoilt.test is case.test
        assert spoilt.tags["fault"] == name
        changed = any(
            x is not None and not np.array_equal(x, y)
            for one, other in zip(spoilt.train, case.train, strict=True)
            for x, y in zip(one, other, strict=True)
        )
        other = spoilt.arm.geometry_fingerprint != case.arm.geometry_fingerprint
        turned = not np.array_equal(spoilt.arm.gravity, case.arm.gravity)
        assert changed != (other or turned), name


def test_rows_are_kept_and_go_on(zoo, tmp_path, capsys):
    robots, file = zoo["robots"], tmp_path / "rows.jsonl"
    wanted = [name for name in robots.names(range(12), 1, ["clean", "faults"]) if name.split("|")[0] == "zoo-11"]
    rows = robots.run(wanted, file)
    assert len(wanted) == 2
    assert all(row["plain"] > 0 and ("best" in row or "rejected" in row) for row in rows)
    assert robots.run(wanted, file) == [json.loads(line) for line in file.read_text().splitlines()]
    robots.print_tables(rows)
    said = capsys.readouterr().out
    assert "error over plain least squares" in said
    assert "noticed where it matters" in said


def test_ratios_are_bounded_below(zoo):
    rows = [dict(plain=1.0, best=0.01), dict(plain=1.0, best=1.2), dict(plain=1.0, rejected="")]
    np.testing.assert_allclose(zoo["tables"].ratios(rows, "best"), [0.3, 1.2])


def test_variants_are_as_clean_as_what_they_come_from(zoo, case):
    """Every variant is a task of the same arm; those that change the logger change the logs alone."""
    variants = zoo["variants"]
    for name in variants.variants_of(case):
        other = variants.varied(case, name)
        assert other.name == f"{case.name}~{name}"
        assert other.arm.geometry_fingerprint == case.arm.geometry_fingerprint
        assert all((np.diff(table.t) > 0).all() for table in (*other.train, other.test))
    held = variants.varied(case, "repeated").train[0]
    again = (np.diff(held.q, axis=0) == 0).all(axis=1) & (np.diff(held.tau, axis=0) == 0).all(axis=1)
    assert 0.18 < again.mean() < 0.35
    assert len(variants.varied(case, "first 30 %").train[0].t) == int(0.3 * len(case.train[0].t))


def test_thresholds_are_chosen_without_the_robot_that_they_are_scored_on(zoo):
    table = zoo["thresholds"]
    keys = [" 0" if not name else f"{name} {value:g}" for name, value in table.settings(table.THRESHOLDS)]
    rows = [dict(name=str(k), robot=str(k), real=False, **dict.fromkeys(keys, 0.8)) for k in range(4)]
    for row in rows[:3]:
        row["ASYMMETRY_SHARE 0.03"] = 0.6
    rows[3]["ASYMMETRY_SHARE 0.03"] = 1.2  # it would have been better off with the first value
    lines = table.threshold_table(rows, ["SMALL_SHARE", "ASYMMETRY_SHARE"])
    at = next(k for k, line in enumerate(lines) if line.startswith("ASYMMETRY_SHARE"))
    assert "0.03 0.714 (1.20)" in lines[at]
    assert lines[at].endswith("chosen without each 0.714 (1.20)")
    assert lines[at + 1].endswith("chosen without one robot: 0.03 4 times")


def test_checks_are_scored_by_what_they_tell(zoo):
    table, spoil, case = zoo["thresholds"], zoo["faults"].spoil, zoo["cases"].make_case(23)
    keys = [f"{name} {value:g}" for name, value in table.settings(table.CHECKS)]
    clean, swapped = table.score_checks(case), table.score_checks(spoil(case, "exchange"))
    assert [clean[key] for key in keys] == [0.0] * len(keys)
    assert set(keys) <= set(swapped)
    assert swapped[" 0"] == 0.0
    lines = table.threshold_table([clean, swapped, dict(clean, robot="another")], table.CHECKS)
    assert any(line.startswith("MIN_EVIDENCE") for line in lines)


def test_intervals_count_what_a_model_without_rotors_lacks(zoo):
    row = zoo["score"].score(zoo["cases"].make_case(5))
    inside, total = row["intervals"]
    assert total == 8
    assert inside >= 7  # 5 without


def test_readings_sent_again_count_against_nobody(zoo, case):
    """A model that is right is right, however often the logger repeats itself."""
    plain, t = zoo["plain"], np.arange(0, 20, 0.02)
    tau = np.stack([np.sin(3 * t), np.cos(2 * t)], axis=1)
    table = zoo["sensors"].Table(t, tau.copy(), tau, None)
    held = zoo["variants"].repeated(table, np.random.default_rng(0))
    assert plain.prediction_error(held, t, tau) < 0.02


def test_slow_wrists_with_small_torques_are_no_reason_to_reject(zoo):
    """Two wrist torques of this short, slow log suit each other's joints better; the arm as a whole is explained."""
    row = zoo["robots"].task("zoo-3001")
    assert "rejected" not in row


@pytest.mark.parametrize("seed", [20, 22])
def test_faults_are_noticed_and_clean_logs_are_not_doubted(zoo, seed):
    """Floor of the detection curve: `benchmarks/hypotheses.py` has all kinds of faults, and many arms."""
    import hypotheses

    assert hypotheses.screened(f"zoo-{seed}")["findings"] == []
    faults = ("sign", "exchange", "step", "dead", "quarter turn", "no gravity")
    rows = [hypotheses.screened(f"zoo-{seed}|{fault}") for fault in faults]
    assert [fault for fault, row in zip(faults, rows, strict=True) if not row["findings"]] == []
    assert min(row["evidence"] for row in rows) > 15
    named = [any(kind in zoo["faults"].NAMED[row["fault"]] for kind, *_ in row["findings"]) for row in rows]
    assert sum(named) >= 5
