"""The number of values in a Parquet file, from its footer, agrees with pyarrow's, and damaged footers are rejected."""

from __future__ import annotations

import itertools
import random
import re

import numpy as np
import pytest
from tests.raising import raises

from armdyn.errors import ReadError
from armdyn.identification.logs.parquet_footer import count_values
from armdyn.identification.logs.read_tables import read_parquet

arrow = pytest.importorskip("pyarrow", reason="Parquet needs the extra 'logs'")
parquet = pytest.importorskip("pyarrow.parquet", reason="Parquet needs the extra 'logs'")

ROWS = 60
WAYS = (
    {},
    {"row_group_size": 7, "compression": "zstd"},
    {"data_page_version": "2.0", "use_dictionary": False, "write_page_index": True},
    {"compression": "none", "write_statistics": False, "store_schema": False, "sorting_columns": "t"},
)


@pytest.fixture
def write(tmp_path):
    t = np.linspace(0, 1, ROWS)
    columns = {
        "t": t,
        "stamp": arrow.array(np.arange(ROWS), arrow.timestamp("us")),
        "q": [[x, -x] for x in t],
        "mode": ["a", None] * (ROWS // 2),
        "words": [["joint1", "joint2"]] * ROWS,
        "nested": [{"a": 1, "b": [k]} for k in range(ROWS)],
    } | {f"x{k}": t for k in range(12)}

    def write(way, metadata=None):
        table = arrow.table(columns).replace_schema_metadata(metadata)
        if "sorting_columns" in way:
            way = way | {"sorting_columns": [parquet.SortingColumn(0)]}
        parquet.write_table(table, tmp_path / "log.parquet", **way)
        return tmp_path / "log.parquet"

    return write


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way)) or "plain")
def test_values_are_as_many_as_pyarrow_says(write, way):
    path = write(way, {"note": "x" * 100_000})
    about = parquet.read_metadata(path)
    places = itertools.product(range(about.num_row_groups), range(about.num_columns))
    assert count_values(path) == sum(about.row_group(k).column(j).num_values for k, j in places)
    assert len(read_parquet(path, ())["t"]) == ROWS


def test_damaged_footers_are_rejected_or_read(write):
    path = write({"row_group_size": 30})
    whole = path.read_bytes()
    size = int.from_bytes(whole[-8:-4], "little")
    rng, rejected = random.Random(0), 0
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(rng.randint(1, 3)):
            data[rng.randrange(len(data) - 8 - size, len(data) - 4)] = rng.choice(
                (0, 1, 2, 127, 255, rng.randrange(256))
            )
        path.write_bytes(data)
        try:
            read_parquet(path, ())
        except ReadError:
            rejected += 1
    assert rejected > 100


NESTED = bytes([0x1C]) * 1000  # each the first field of a structure: a structure
ENDLESS = bytes([0x19, 0xF5]) + b"\xff" * 20  # a list whose length has no end
LONG = bytes([0x19, 0xFC, 0xFF, 0xFF, 0xFF, 0xFF, 0x07])  # a list of two thousand million structures
UNKNOWN = bytes([0x1E])  # a field of a kind that there is not
NEGATIVE = bytes([0x49, 0x1C, 0x19, 0x1C, 0x3C, 0x56, 0x03, 0, 0, 0, 0])  # a column of -2 values


@pytest.mark.parametrize("footer", [b"", b"\x00", NESTED, ENDLESS, LONG, UNKNOWN, NEGATIVE])
def test_footers_of_a_stranger(tmp_path, footer):
    path = tmp_path / "log.parquet"
    path.write_bytes(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    with raises(ReadError, cause="cannot be read as Parquet (its footer is damaged)"):
        count_values(path)


@pytest.mark.parametrize("data", [b"", b"PAR1", b"PAR1PAR1", b"PAR1\xff\xff\xff\xffPAR1", b"PAR1" + bytes(20)])
def test_files_without_a_footer(tmp_path, data):
    path = tmp_path / "log.parquet"
    path.write_bytes(data)
    with raises(ReadError, cause="cannot be read as Parquet (its footer is damaged)"):
        read_parquet(path, ())


def test_values_that_cannot_be_numbers_are_an_error_of_the_file(tmp_path):
    path = tmp_path / "log.parquet"
    parquet.write_table(arrow.table({"t": arrow.array([2**62], arrow.timestamp("us"))}), path)
    with raises(ReadError, file="log.parquet", cause=re.compile(r"cannot be read as Parquet \(Casting from timestamp")):
        read_parquet(path, ())


def test_structures_are_left_out(tmp_path):
    path = tmp_path / "log.parquet"
    columns = {"t": [0.0, 1.0], "q": [[{"a": 1}]] * 2, "note": [{"b": [1.0]}] * 2, "raw": [[b"x"]] * 2}
    parquet.write_table(arrow.table(columns), path)
    assert list(read_parquet(path, ())) == ["t"]
