"""A study's file: what it means, and one clear sentence for whatever is wrong with it."""

from __future__ import annotations

import re

import pytest
from tests.raising import raises

from armdyn.errors import ArmdynError
from armdyn.study.spec import read_study
from armdyn.study.table import StudyError


def test_cases_are_numbered_controller_by_controller(study):
    small = study()
    assert small.count == 400
    assert [len(part) for part in small.parts] == [64, 64, 64, 8] * 2
    assert [case for part in small.parts for case in part] == list(range(400))


@pytest.mark.filterwarnings("ignore:designs")  # of a bandwidth that is too high for the rate
def test_comments_do_not_change_the_fingerprint_but_values_do(study, small_text):
    one = study().fingerprint
    assert study(text="# a comment\n" + small_text).fingerprint == one
    assert study({"high = 2.0": "high = 2.1"}).fingerprint != one
    assert study({'"planar2"': '"lu_meng2"'}).fingerprint != one


def test_the_arm_s_file_is_part_of_the_fingerprint(study, tmp_path):
    import armdyn

    arm = armdyn.arms.planar2()
    arm.save(tmp_path / "own.toml")
    one = study({'"planar2"': '"own.toml"'}).fingerprint
    arm.with_theta(1.1 * arm.theta).save(tmp_path / "own.toml")
    assert study({'"planar2"': '"own.toml"'}).fingerprint != one


BAD = {
    "seed = 3": [
        ("seed = 3\nsede = 4", r"unknown key 'sede' \(did you mean 'seed'\?\); expected some of"),
        ("seed = -1", "seed: expected a whole number >= 0, got -1"),
    ],
    '"small"': [
        ('"../small"', "name: expected letters, digits"),
        ('"/etc/small"', "name: expected letters, digits"),
        ('".."', "name: expected letters, digits"),
        ('"säule"', r"letters from a to z or A to Z\), .* got 'säule'"),
        ('""', "name: expected text"),
    ],
    '"planar2"': [
        ('"planar3"', r"unknown arm 'planar3' \(did you mean 'planar2'\?\)"),
        ('"missing.urdf"', "missing.urdf: no such file"),
        ("7", "arm: expected text, got 7"),
    ],
    'name = "small"': [('kind = "rolouts"', r"kind: unknown 'rolouts' \(did you mean 'rollouts'\?\)")],
    'design = "PD"': [
        ('design = "PDD"', r"design: unknown controller 'PDD'.*expected one of: pd, pid"),
        ('design = "computed torque"', "name: 'computed torque' is there already"),
        ('design = "PD"\ngains = { ki = 2.0 }', "no gain 'ki' in PD; it has kp, kd"),
        ('design = "PD"\nbandwidth = 0.0', "bandwidth: expected a number > 0, got 0.0"),
    ],
    "rate = 200.0": [("rate = -1.0", "rate: expected a number > 0"), ("rat = 200.0", "unknown key 'rat'")],
    "duration = 0.25": [
        ("", "expected 'duration'"),
        ("duration = inf", "duration: expected a number > 0, got inf"),
        (f"duration = 1{400 * '0'}", "duration: expected a number > 0, got 1000"),  # more than a float can hold
        ("duration = 1e9", "expected at most 100,000,000 steps per run"),
        ("duration = 0.25\nsubsteps = 1000000000", "expected at most 100,000,000 steps per run"),
    ],
    "start = [0.0, 0.3]": [("start = [0.0]", r"start: expected 2 numbers, got \[0.0\]")],
    '"point-to-point"': [('"circle"', "kind: unknown 'circle'.*expected one of sway")],
    "count = 200": [
        ("count = 0", "count: expected a whole number >= 1, got 0"),
        ("count = 99999999", "expected at most 20,000,000"),
        ("", "expected 'count'"),
    ],
    '"sobol"': [('"halton"', "method: unknown 'halton'")],
    "payload = { low = 0.0, high = 2.0 }": [
        ("payload = { low = 2.0, high = 2.0 }", "the range from 2 to 2 is empty"),
        ("payload = { values = [] }", r"values: expected a list of numbers, got \[\]"),
        ("payload = { low = -1.0, high = 2.0 }", "payload: expected values >= 0, got down to -1"),
        ("payloda = { low = 0.0, high = 2.0 }", r"unknown parameter 'payloda' \(did you mean 'payload'\?\)"),
        ('"gain.lam" = { low = 0.0, high = 2.0 }', "unknown parameter 'gain.lam'"),
        ("payload = 3", "payload: expected a table, got 3"),
        ('"start.1" = { low = -1.7e308, high = 1.7e308 }', "the range from -1.7e.308 to 1.7e.308 is too wide"),
        ("torque_limit = { low = 0.5, high = 1.0 }", "torque_limit: not all joints of 'planar2' have effort limits"),
    ],
    "max_error = 0.05": [("max_eror = 0.05", r"unknown metric 'max_eror' \(did you mean 'max_error'\?\)")],
    "[success]": [("[succes]", "unknown key 'succes'")],
    "part = 64": [('metrics = ["x"]', "unknown metric 'x'"), ("metrics = []", "metrics: expected a list of names")],
}


@pytest.mark.parametrize(("old", "new", "message"), [(old, *pair) for old, pairs in BAD.items() for pair in pairs])
def test_bad_input_is_one_sentence(study, old, new, message):
    with pytest.raises(ArmdynError, match=message) as caught:
        study({old: new})
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_toml(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text("name = [")
    with raises(ArmdynError, cause=re.compile("not a TOML file")):
        read_study(path)
    with raises(ArmdynError, cause=re.compile("no such file")):
        read_study(tmp_path / "absent.toml")


def test_files_that_are_nested_too_deeply(tmp_path):
    path = tmp_path / "x.toml"
    inner = "1"
    for _ in range(600):  # from Python 3.13 on some hundred are read
        inner = "{ " + ".".join(60 * "a") + f" = {inner} }}"
    for text in (f"x{5000 * '.x'} = 1", f"x = {inner}"):
        path.write_text(text)
        with raises(ArmdynError, cause="the TOML is nested too deeply"):
            read_study(path)


def test_a_gain_that_one_controller_lacks(study):
    extra = 'design = "PD"\n[[controllers]]\ndesign = "LQR(t)"'
    with raises(StudyError, names=("kp",)):
        study({'design = "PD"': extra, "payload =": '"gain.kp" = { low = 0.5, high = 2.0 }\npayload ='})
