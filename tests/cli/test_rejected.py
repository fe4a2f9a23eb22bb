"""Errors of the library name the option whose value they reject."""

from __future__ import annotations

import pytest

from armdyn.cli.rejected import name_option
from armdyn.errors import ArmdynError, ReadError

CASES = {
    "--zero jiont1=0.1": ArmdynError("arm 'puma560' has no joint 'jiont1'", where="zero", names=("jiont1",)),
    "--delay 5": ArmdynError(where="delay", expected="less than 1 s", got=5.0),
    "--mass-bounds 50 10": ArmdynError(where="identify", expected="mass with 0 <= least < most", got=[50.0, 10.0]),
    "--band -3": ArmdynError(where="identify", expected="band > 0 [Hz]", got=-3.0),
    "--harmonics=0": ArmdynError(where="excite", expected="harmonics > 0", got=0),
    "--control-delay 0.01": ArmdynError(where="simulate", expected="a delay from 0 to one period (0.001 s)", got=0.01),
    "--positions-of joint9": ArmdynError(expected="6 joints, one per column of the log", got="joint9"),
    "--unit km": ArmdynError("unknown length 'km'", where="read_poses", names=("km",)),
    "--sensor lost=2": ArmdynError(where="lost", expected="a probability below 1", got=2),
}


@pytest.mark.parametrize("line", CASES)
def test_the_option_is_named_as_it_was_typed(line: str) -> None:
    error = CASES[line]
    got = error.got
    name_option(error, ["identify", "puma560", "log.csv", "--seed", "3", *line.split()])
    option = line.replace("=", " ").split()[0]
    assert error.where.split(": ")[0] == option
    assert str(error).startswith(f"{option}: ")
    assert error.got == got


def test_others_keep_their_place() -> None:
    arguments = ["identify", "puma560", "log.csv", "--rate", "3", "--duration", "3"]
    of_file = ReadError(path="log.csv", expected="at least 4 columns", got=3)
    of_function = ArmdynError(where="identify", expected="6 joints", got=3)
    for error in (of_file, of_function):
        before = str(error)
        name_option(error, arguments)
        assert str(error) == before
