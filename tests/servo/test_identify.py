"""Servos that MuJoCo simulated, found again from positions alone."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.raising import raises
from tests.servo import truth
from tests.servo.conftest import Case, identified, recorded

import armdyn
from armdyn.errors import ArmdynError, DataError, ModelError
from armdyn.identification.quality import Level
from armdyn.servo.findings import ServoFindingKind
from armdyn.servo.identify import identify_servo
from armdyn.servo.log import ServoLog
from armdyn.servo.parameters import NAMES
from armdyn.servo.result import ServoFit


def ratios(servo: truth.Truth) -> np.ndarray:
    """What positions tell of servos, rows as in `NAMES`."""
    one = np.ones(5)
    return np.array(
        [
            1 / servo.kp,
            servo.armature / servo.kp,
            (servo.kv + servo.viscous) / servo.kp,
            servo.coulomb / servo.kp,
            servo.delay * one,
            servo.dead_band * one,
            servo.stribeck * servo.coulomb / servo.kp,
            servo.load * one,
        ]
    )


def quietly(arm: armdyn.Arm, log: ServoLog, **more: Any) -> ServoFit:
    """A fit whose warnings are looked at in the result."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", armdyn.ArmdynWarning)
        return identify_servo(arm, log, **more)


def median_errors(case: Case) -> dict[str, float]:
    """Median over the joints of the relative errors."""
    true, found = ratios(case.servo), np.array(list(case.fit.ratios.values()))
    return {name: float(np.median(np.abs(found[k] / true[k] - 1))) for k, name in enumerate(NAMES[:4])}


def off_without_warning(case: Case, by: float) -> list[str]:
    """Ratios that are further off than `by`, and neither outside a warning's word nor inside their range."""
    true, found = ratios(case.servo), np.array(list(case.fit.ratios.values()))
    missed = []
    for k, name in enumerate(NAMES[:4]):
        for j in range(5):
            off = abs(found[k, j] / true[k, j] - 1) > by
            inside = case.fit.low[k, j] <= true[k, j] <= case.fit.high[k, j]
            warned = case.fit.words[k][j] != "determined" or case.fit.structure != "plain"
            if off and not inside and not warned:
                missed.append(f"{name} of joint {j}")
    return missed


def test_plain_servos_are_found(plain: Case) -> None:
    """The bars that the task sets: medians of 1/kp, Ia/kp and fc/kp, and the replay against the truth's own."""
    errors = median_errors(plain)
    assert errors["compliance"] <= 0.02
    assert errors["inertia"] <= 0.03
    assert errors["damping"] <= 0.03
    assert errors["coulomb"] <= 0.04
    assert plain.fit.structure == "plain"
    assert np.sqrt((plain.fit.held_out**2).mean()) <= 1.2 * np.sqrt((plain.floor**2).mean())
    assert np.abs(plain.fit.delay - plain.servo.delay).max() < 3e-3
    assert 0 < plain.fit.held_out_tip < 5e-4


def test_ranges_hold_the_truth(plain: Case) -> None:
    """Ranges of plain servos hold the truth in 19 of 20 numbers at least."""
    true = ratios(plain.servo)[:5]
    inside = (plain.fit.low[:5] <= true) & (true <= plain.fit.high[:5])
    assert inside.mean() >= 0.95
    # ... and are not just wide: the joints against gravity know their stiffness within 2 %.
    wide = (plain.fit.high - plain.fit.low)[0] / plain.fit.ratios["compliance"]
    assert wide[1] < 0.04
    assert wide[2] < 0.04


def test_stiffness_without_gravity_is_said_to_be_unknown(plain: Case) -> None:
    """The wrist's roll lifts next to nothing: its 1/kp is not determined, its ratios are."""
    fit = plain.fit
    assert fit.words[0][4] in ("rough", "not determined")
    assert [fit.words[0][j] for j in (1, 2)] == ["determined"] * 2
    stiffness = [f for f in fit.findings if f.parameter == "compliance" and "roll" in f.joints]
    assert [f.harmless for f in stiffness] == [True]
    assert str(stiffness[0]) in plain.warnings
    assert fit.verdict.level == Level.GOOD
    assert fit.scale == "description"
    assert fit.mass_scale == 1.0


@pytest.mark.slow
def test_dead_band_is_found_and_said(slack: Case) -> None:
    """Replay within 1.5 of the truth's own, the dead band about right, and a warning."""
    assert slack.fit.structure in ("dead band", "whole")
    assert np.sqrt((slack.fit.held_out**2).mean()) <= 1.5 * np.sqrt((slack.floor**2).mean())
    assert np.median(np.abs(slack.fit.dead_band - 0.003)) < 0.5e-3
    assert ServoFindingKind.FURTHER_TERMS in {f.kind for f in slack.fit.findings}
    assert slack.fit.verdict.level == Level.CARE
    assert off_without_warning(slack, 0.05) == []
    # Without the term the same log is replayed much worse.
    assert dict(slack.fit.tried)["plain"] > 1.5 * slack.fit.tried[-1][1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "more", [{"stribeck": 0.5}, {"load": 0.1}, {"dead_band": 0.003}, {"stribeck": 0.5, "load": 0.1, "dead_band": 0.003}]
)
def test_other_friction_keeps_replays_good(arm: armdyn.Arm, more: dict[str, float]) -> None:
    """With terms that plain servos lack, replays stay within 1.5 of the truth's own, and what is off is said."""
    for seed in (2, 3):
        case = identified(arm, seed, **more)
        assert np.sqrt((case.fit.held_out**2).mean()) <= 1.5 * np.sqrt((case.floor**2).mean())
        assert off_without_warning(case, 0.05) == []
        assert case.warnings


@pytest.mark.slow
def test_many_seeds(arm: armdyn.Arm) -> None:
    """The bars on eight other sets of servos, and ranges that hold 95 % of the truths."""
    cases = [identified(arm, seed) for seed in range(10, 18)]
    for name, bar in (("compliance", 0.02), ("inertia", 0.03), ("coulomb", 0.04)):
        assert np.median([median_errors(case)[name] for case in cases]) <= bar
    inside = [
        (case.fit.low[:5] <= ratios(case.servo)[:5]) & (ratios(case.servo)[:5] <= case.fit.high[:5]) for case in cases
    ]
    assert np.mean(inside) >= 0.93
    for case in cases:
        assert np.sqrt((case.fit.held_out**2).mean()) <= 1.2 * np.sqrt((case.floor**2).mean())


def test_a_known_stiffness_corrects_the_masses(arm: armdyn.Arm) -> None:
    """A description that is 20 % too heavy is scaled back by the stiffness of one joint."""
    servo, log = recorded(4, duration=10.0)
    heavy = arm.with_theta(1.2 * arm.theta)
    fit = quietly(heavy, log, stiffness={"lift": servo.kp[1]}, terms="plain")
    assert fit.scale == "stiffness"
    assert fit.mass_scale == pytest.approx(1 / 1.2, rel=0.02)
    assert fit.stiffness[1] == pytest.approx(servo.kp[1])
    assert fit.stiffness[2] == pytest.approx(servo.kp[2], rel=0.03)
    assert fit.words[0][1] == "given"
    assert fit.arm.theta == pytest.approx(fit.mass_scale * heavy.theta)


@pytest.mark.slow
def test_a_weighed_payload_corrects_the_masses(arm: armdyn.Arm) -> None:
    """The same by a second log with 100 g at the grip."""
    servo, log = recorded(5)
    loaded = recorded(5, payload=0.1)[1]
    grip = armdyn.load(arm.source.path, tip="grip")  # type: ignore[union-attr]
    light = grip.with_theta(0.8 * grip.theta)
    fit = quietly(light, log, loaded=loaded, mass=0.1, terms="plain")
    assert fit.scale == "payload"
    assert fit.mass_scale == pytest.approx(1 / 0.8, rel=0.05)
    assert fit.stiffness[1:3] == pytest.approx(servo.kp[1:3], rel=0.05)


def test_what_was_found_simulates(plain: Case) -> None:
    """`simulate` with the plant and the commands of a fit is the replay."""
    fit, log = plain.fit, plain.log
    run = fit.replay(log)
    part = armdyn.simulate(fit.plant, fit.commands(log), run.measured[0], duration=2.0, rate=400, q0=run.q[0], every=8)
    assert np.abs(part.q[50:100] - run.q[50:100]).max() < 5e-4  # the replay starts with a velocity of its own
    assert np.sqrt(((run.q - run.measured)[run.counted] ** 2).mean(0)) == pytest.approx(run.rms)


def test_written_models_are_the_servos(plain: Case, tmp_path: Path) -> None:
    """MJCF holds kp, kv, armature and frictionloss; MuJoCo replays the log with it; URDF and TOML read back."""
    import mujoco

    fit = plain.fit
    fit.save(tmp_path / "out.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "out.xml"))
    assert model.actuator_gainprm[:, 0] == pytest.approx(fit.stiffness)
    assert -model.actuator_biasprm[:, 2] + model.dof_damping == pytest.approx(fit.damping)
    assert model.dof_armature == pytest.approx(fit.armature)
    assert model.dof_frictionloss == pytest.approx(fit.coulomb)
    again = armdyn.load(tmp_path / "out.xml")
    assert [j.drive.servo_stiffness for j in again.joints] == pytest.approx(fit.stiffness)
    for name in ("out.urdf", "out.toml"):
        fit.save(tmp_path / name)
        back = armdyn.load(tmp_path / name)
        assert [j.drive.servo_delay for j in back.joints] == pytest.approx(fit.delay)
        assert [j.friction.coulomb for j in back.joints] == pytest.approx(fit.coulomb)


def test_a_joint_that_rests_is_left_alone(arm: armdyn.Arm) -> None:
    """One joint held still: its numbers are those of the others, and it is said."""
    servo, log = recorded(6, duration=8.0)
    command = log.command.copy()
    command[:, 4] = command[0, 4]
    still = ServoLog(log.t, truth.record(servo, log.t, command), command)
    fit = quietly(arm, still, terms="plain")
    assert [f.joints for f in fit.findings if f.kind == ServoFindingKind.NOT_MOVED] == [("roll",)]
    assert set(row[4] for row in fit.words) == {"not moved"}


def test_bad_logs_are_rejected(arm: armdyn.Arm, plain: Case) -> None:
    """One sentence and the remedy each."""
    log = plain.log
    with raises(
        DataError,
        cause="nothing is commanded: no joint's command moves by more than 0 mrad",
        remedy=("record while the arm follows a motion, and look whether command= names the commanded positions"),
    ):
        identify_servo(arm, ServoLog(log.t, log.q, np.tile(log.command[:1], (len(log), 1))))
    with raises(
        DataError,
        cause=re.compile("beyond its limits .* to .*, in .*% of the samples, where servos saturate"),
        remedy="command within the limits, or say in which units positions are with units=",
        names=("elbow",),
    ):
        identify_servo(arm, ServoLog(log.t, log.q, 4 * log.command))
    with raises(DataError, names=("pan",), remedy="swap command= and measured="):
        identify_servo(arm, ServoLog(log.t, log.command, log.q))
    with raises(
        DataError,
        cause=re.compile(r"does not follow its commands \(it misses .* of .* rad\)"),
        remedy="are the joints in the arm's order, and command= and measured= the right columns?",
        names=("pan",),
    ):
        identify_servo(arm, ServoLog(log.t, log.q[:, ::-1], log.command))
    with raises(DataError, cause="joint 'pan' is commanded but does not move", names=("pan",)):
        identify_servo(arm, ServoLog(log.t, np.tile(log.q[:1], (len(log), 1)), log.command))
    with raises(DataError, expected="at least 4 s without gaps", got="2 s"):
        identify_servo(arm, ServoLog(log.t[:100], log.q[:100], log.command[:100]))
    with raises(DataError, expected="5 joints for arm 'printed_arm'", got="4"):
        identify_servo(arm, ServoLog(log.t, log.q[:, :4], log.command[:, :4]))
    with raises(
        ModelError,
        expected=(
            "physically consistent links, but link 'shoulder': unknown parameters: m, mx, my, mz, Ixx, "
            "Ixy, Iyy, Ixz, Iyz, Izz; link 'upper_arm': unknown parameters: m, mx, my, mz, Ixx, Ixy, "
            "Iyy, Ixz, Iyz, Izz; link 'forearm': unknown parameters: m, mx, my, mz, Ixx, Ixy, Iyy, "
            "Ixz, Iyz, Izz; link 'wrist': unknown parameters: m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, "
            "Izz; link 'hand': unknown parameters: m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz"
        ),
    ):
        identify_servo(arm.with_theta(np.full(50, np.nan)), log)
    with raises(ArmdynError, cause="loaded (logs with the payload) and mass (its kilograms) go together"):
        identify_servo(arm, log, mass=0.1)
    with raises(
        ArmdynError,
        cause="arm 'printed_arm' has no joint 'elbo'; there are pan, lift, elbow, flex, roll",
        names=("elbo",),
    ):
        identify_servo(arm, log, stiffness={"elbo": 3.0})
