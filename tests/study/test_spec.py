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


LETTERS = "letters, digits, '.', '_' and '-' (letters from a to z or A to Z), not beginning with a sign"
STEPS = "at most 100,000,000 steps per run (rate, duration and substeps)"
CONTROLLERS, RUN = "small.toml: controllers", "small.toml: run"
REFERENCE, SAMPLES, RANGES = "small.toml: references 1", "small.toml: samples", "small.toml: parameters"
KEYS = (
    "some of kind, name, seed, part, arm, run, references, controllers, samples, parameters, metrics, success, sensors"
)
METRICS = (
    "some of rms_error, max_error, final_error, rms_tip_error, max_tip_error, rms_torque, max_torque, effort, "
    "settling_time"
)
PARAMETERS = (
    "some of payload, payload.x, payload.y, payload.z, inertia, inertia.1, inertia.2, friction, viscous, coulomb, "
    "motor_lag, torque_limit, start.1, start.2, gain.kp, gain.kd"
)


def bad(where, **parts):
    """Parts of an error at a place of the study's file."""
    return {"file": "small.toml", "where": where, **parts}


def unknown(where, cause, name, expected):
    """Parts of an error of a word, which may propose another."""
    return bad(where, cause=cause, names=(name,), expected=expected)


BAD = {
    "seed = 3": [
        ("seed = 3\nsede = 4", unknown("small.toml", "unknown key 'sede' (did you mean 'seed'?)", "sede", KEYS)),
        ("seed = -1", bad("small.toml: seed", expected="a whole number >= 0", got="-1")),
    ],
    '"small"': [
        ('"../small"', bad("small.toml: name", expected=LETTERS, got="'../small'")),
        ('"/etc/small"', bad("small.toml: name", expected=LETTERS, got="'/etc/small'")),
        ('".."', bad("small.toml: name", expected=LETTERS, got="'..'")),
        ('"säule"', bad("small.toml: name", expected=LETTERS, got="'säule'")),
        ('""', bad("small.toml: name", expected="text", got="''")),
    ],
    '"planar2"': [
        ('"planar3"', {"cause": "unknown arm 'planar3' (did you mean 'planar2'?)", "names": ("planar3",)}),
        ('"missing.urdf"', {"file": "missing.urdf", "cause": "no such file"}),
        ("7", bad("small.toml: arm", expected="text", got="7")),
    ],
    'name = "small"': [
        (
            'kind = "rolouts"',
            unknown(
                "small.toml: kind",
                "unknown 'rolouts' (did you mean 'rollouts'?)",
                "rolouts",
                "one of rollouts, design, fleet",
            ),
        ),
    ],
    'design = "PD"': [
        (
            'design = "PDD"',
            bad(
                f"{CONTROLLERS} 1: design",
                cause=re.compile(r"^unknown controller 'PDD' \(did you mean 'pd'\?\); expected one of: pd, pid"),
            ),
        ),
        (
            'design = "computed torque"',
            bad(f"{CONTROLLERS} 2: name", cause="'computed torque' is there already", names=("computed torque",)),
        ),
        (
            'design = "PD"\ngains = { ki = 2.0 }',
            {"file": "small.toml", "cause": "no gain 'ki' in PD; it has kp, kd", "names": ("ki",)},
        ),
        ('design = "PD"\nbandwidth = 0.0', bad(f"{CONTROLLERS} 1: bandwidth", expected="a number > 0", got="0.0")),
    ],
    "rate = 200.0": [
        ("rate = -1.0", bad(f"{RUN}: rate", expected="a number > 0", got="-1.0")),
        (
            "rat = 200.0",
            unknown(
                RUN,
                "unknown key 'rat' (did you mean 'rate'?)",
                "rat",
                "some of rate, duration, substeps, delay, saturation",
            ),
        ),
    ],
    "duration = 0.25": [
        ("", bad(RUN, expected="'duration'")),
        ("duration = inf", bad(f"{RUN}: duration", expected="a number > 0", got="inf")),
        (
            f"duration = 1{400 * '0'}",  # more than a float can hold
            bad(f"{RUN}: duration", expected="a number > 0", got=f"1{76 * '0'}..."),
        ),
        ("duration = 1e9", bad(RUN, expected=STEPS, got="2e+11")),
        ("duration = 0.25\nsubsteps = 1000000000", bad(RUN, expected=STEPS, got="5e+10")),
    ],
    "start = [0.0, 0.3]": [("start = [0.0]", bad(f"{REFERENCE}: start", expected="2 numbers", got="[0.0]"))],
    '"point-to-point"': [
        (
            '"circle"',
            unknown(
                f"{REFERENCE}: kind",
                "unknown 'circle' (did you mean 'file'?)",
                "circle",
                "one of sway, point-to-point, file",
            ),
        ),
    ],
    "count = 200": [
        ("count = 0", bad(f"{SAMPLES}: count", expected="a whole number >= 1", got="0")),
        ("count = 99999999", bad(SAMPLES, expected="at most 20,000,000", got="99,999,999")),
        ("", bad(SAMPLES, expected="'count'")),
    ],
    '"sobol"': [
        ('"halton"', unknown(f"{SAMPLES}: method", "unknown 'halton'", "halton", "one of grid, latin, sobol")),
    ],
    "payload = { low = 0.0, high = 2.0 }": [
        (
            "payload = { low = 2.0, high = 2.0 }",
            bad(f"{RANGES}: payload", cause="the range from 2 to 2 is empty", expected="low < high"),
        ),
        ("payload = { values = [] }", bad(f"{RANGES}: payload: values", expected="a list of numbers", got="[]")),
        ("payload = { low = -1.0, high = 2.0 }", bad(f"{RANGES}: payload", expected="values >= 0", got="down to -1")),
        (
            "payloda = { low = 0.0, high = 2.0 }",
            unknown(RANGES, "unknown parameter 'payloda' (did you mean 'payload'?)", "payloda", PARAMETERS),
        ),
        (
            '"gain.lam" = { low = 0.0, high = 2.0 }',
            unknown(RANGES, "unknown parameter 'gain.lam' (did you mean 'gain.kp'?)", "gain.lam", PARAMETERS),
        ),
        ("payload = 3", bad(f"{RANGES}: payload", expected="a table", got="3")),
        (
            '"start.1" = { low = -1.7e308, high = 1.7e308 }',
            bad(f"{RANGES}: start.1", cause="the range from -1.7e+308 to 1.7e+308 is too wide to compute with"),
        ),
        (
            "torque_limit = { low = 0.5, high = 1.0 }",
            bad(f"{RANGES}: torque_limit", cause="not all joints of 'planar2' have effort limits"),
        ),
    ],
    "max_error = 0.05": [
        (
            "max_eror = 0.05",
            unknown(
                "small.toml: success", "unknown metric 'max_eror' (did you mean 'max_error'?)", "max_eror", METRICS
            ),
        ),
    ],
    "[success]": [
        ("[succes]", unknown("small.toml", "unknown key 'succes' (did you mean 'success'?)", "succes", KEYS))
    ],
    "part = 64": [
        ('metrics = ["x"]', unknown("small.toml", "unknown metric 'x'", "x", METRICS)),
        ("metrics = []", bad("small.toml: metrics", expected="a list of names", got="[]")),
    ],
}


@pytest.mark.parametrize(("old", "new", "parts"), [(old, *pair) for old, pairs in BAD.items() for pair in pairs])
def test_bad_input_is_one_sentence(study, old, new, parts):
    with raises(ArmdynError, **parts) as caught:
        study({old: new})
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_toml(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text("name = [")
    with raises(ArmdynError, path=str(path), cause=re.compile("^not a TOML file")):
        read_study(path)
    with raises(ArmdynError, path=str(tmp_path / "absent.toml"), cause="no such file"):
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
