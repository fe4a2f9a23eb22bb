"""Cases of a study are the runs that `simulate` makes of the same arm, law and motion."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.raising import raises

import armdyn
from armdyn.simulation.compare import with_mismatch
from armdyn.study.table import StudyError

PARAMETERS = "payload = { low = 0.0, high = 2.0 }"


def test_a_case_is_a_run_of_the_changed_arm(study):
    small = study()
    columns = small.compute(small.parts[0])
    arm, k = armdyn.arms.planar2(), 17
    true = arm.with_theta(columns["inertia"][k] * arm.theta).with_payload(columns["payload"][k])
    law, motion = next(iter(small.laws.values())), next(iter(small.references.values()))
    run = armdyn.simulate(true, law, motion, 0.25, 200.0, check=False)
    # Another kernel, in which the arm is shared by all lanes: the same formulas up to round-off.
    assert columns["max_error"][k] == pytest.approx(np.abs(run.error).max(), rel=1e-9)
    assert columns["effort"][k] == pytest.approx(run.metrics.effort, rel=1e-9)


@pytest.mark.parametrize("number", [0, 63, 199, 200, 391, 399])
def test_a_case_by_its_number_is_the_same_to_the_last_bit(study, number):
    small = study()
    part = next(part for part in small.parts if number in part)
    columns = small.compute(part)
    run = small.case(number)
    assert np.abs(run.error).max() == columns["max_error"][number - part.start]
    row = small.row(number)
    assert row["case"] == number
    assert row["rms_torque"] == columns["rms_torque"][number - part.start]


def test_a_case_that_is_not_there(study):
    with raises(StudyError, cause="there is no case 400", expected="0 to 399"):
        study().case(400)


def test_designs_are_named_as_on_the_command_line(study):
    spelt = study({'design = "computed torque"': 'design = "computed-torque"\nname = "computed torque"'})
    assert list(spelt.laws) == list(study().laws)


def test_controllers_meet_the_same_samples(study):
    small = study()
    one, two = small.compute(small.parts[0]), small.compute(small.parts[4])
    assert (one["controller"][0], two["controller"][0]) == ("PD", "computed torque")
    np.testing.assert_array_equal(one["payload"], two["payload"])


def test_friction_lag_limits_start_and_gains_reach_the_run(study, tmp_path):
    arm = armdyn.arms.planar2()
    joints = [
        dataclasses.replace(j, friction=armdyn.Friction(viscous=0.5, coulomb=0.4), limits=armdyn.Limits(effort=30.0))
        for j in arm.joints
    ]
    own = arm.with_joints(joints)
    own.save(tmp_path / "own.toml")
    varied = {"friction": 1.5, "motor_lag": 0.01, "torque_limit": 0.5, "start.2": 0.1, "gain.kp": 2.0}
    lines = "\n".join(f'"{name}" = {{ values = [{value}] }}' for name, value in varied.items())
    plain = {'"planar2"': '"own.toml"', '[[controllers]]\ndesign = "computed torque"\n': ""}
    small = study({**plain, PARAMETERS: lines, "inertia =": '"payload.x" ='})
    row = small.row(0)
    true = with_mismatch(own, 0.0, 1.5)
    law = next(iter(small.laws.values()))
    law = dataclasses.replace(law, kp=2 * np.asarray(law.kp))
    motion = next(iter(small.references.values()))
    plant = armdyn.Plant(true, motor_lag=0.01, saturation=15.0)
    run = armdyn.simulate(plant, law, motion, 0.25, 200.0, check=False, q0=[0.0, 0.4])
    assert row["max_error"] == pytest.approx(np.abs(run.error).max(), rel=1e-9)
    assert row["max_torque"] == pytest.approx(np.abs(run.tau).max(), rel=1e-9)


def test_diverged_runs_are_failures(study):
    gains = '"gain.kd" = { values = [1.0, 500.0] }'
    small = study({'[[controllers]]\ndesign = "computed torque"\n': "", PARAMETERS: gains})
    columns = small.compute(small.parts[0])
    wild = columns["gain.kd"] == 500.0
    assert wild.any()
    np.testing.assert_array_equal(~np.isnan(columns["diverged"]), wild)
    assert np.isinf(columns["max_error"][wild]).all()
    assert not columns["success"][wild].any()


def test_chosen_metrics_are_the_columns(study, small_text):
    text = 'metrics = ["max_error", "effort"]\n' + small_text
    columns = study(text=text).compute(range(0, 8))
    assert list(columns) == [
        "case", "controller", "reference", "payload", "inertia", "max_error", "effort", "diverged", "success",
    ]  # fmt: skip


def test_a_motion_from_a_file(study, tmp_path):
    t = np.linspace(0, 0.25, 6)
    rows = np.column_stack([t, 0.2 * t, -0.1 * t])
    (tmp_path / "m.csv").write_text("t,q1,q2\n" + "\n".join(",".join(map(str, row)) for row in rows.tolist()))
    lines = 'kind = "point-to-point"\nstart = [0.0, 0.3]\nend = [0.4, 0.1]'
    one = study({lines: 'kind = "file"\npath = "m.csv"'})
    assert np.isfinite(one.compute(range(0, 4))["max_error"]).all()
    (tmp_path / "m.csv").write_text((tmp_path / "m.csv").read_text().replace("0.05,", "0.051,"))
    assert study({lines: 'kind = "file"\npath = "m.csv"'}).fingerprint != one.fingerprint


def test_noise_follows_from_the_seed_and_the_sample(study, small_text):
    noisy = small_text.replace("[success]", "[sensors]\nq_noise = 1e-3\ndelay = 1\n\n[success]")
    small, other = study(text=noisy), study({"seed = 3": "seed = 4", "sobol": "latin"}, noisy)
    row = small.row(150)
    law, motion = small.laws["PD", "point-to-point"], small.references["point-to-point"]
    arm = small.arm.with_theta(row["inertia"] * small.arm.theta).with_payload(row["payload"])
    sensors = armdyn.Sensors(q_noise=1e-3, delay=1)
    run = armdyn.simulate(arm, law, motion, 0.25, 200.0, check=False, sensors=sensors, seed=3 + 150)
    assert row["max_torque"] == pytest.approx(np.abs(run.tau).max(), rel=1e-9)
    assert np.abs(small.case(150).tau).max() == row["max_torque"]
    assert small.fingerprint != other.fingerprint
    with raises(StudyError, cause="unknown key 'noise' (did you mean 'q_noise'?)", names=("noise",)):
        study(text=noisy.replace("q_noise", "noise"))
