"""Uploads of bounded size."""

import time

import pytest

from armdyn.studio.app import Studio
from armdyn.studio.server import start_server, stop_server
from armdyn.studio.uploads import MAX_UPLOAD_BYTES, problem

pytest.importorskip("viser", reason="the studio needs viser")


def test_what_is_taken():
    assert problem(MAX_UPLOAD_BYTES, 10, 0) is None
    assert problem(0, 0, 0) is None
    assert "more than the 500 MB" in problem(MAX_UPLOAD_BYTES + 1, 10, 0)
    assert "another file is under way" in problem(10, 1, 1)
    assert "expected parts that hold something" in problem(10, 1000, 0)


@pytest.fixture
def tab(arm, opened):
    server = start_server(port=0)
    with Studio(server, arm) as studio, opened(studio) as tab:
        yield tab
    stop_server(server)


def send(tab, kind, **fields):
    import msgspec

    tab.connection.send(msgspec.msgpack.encode({"type": kind, **fields}))


def begin(tab, size, parts=1, transfer="x"):
    send(
        tab, "FileTransferStartUpload", source_component_uuid=tab.log.choice.upload._impl.uuid, transfer_uuid=transfer,
        filename="big.csv", mime_type="text/csv", part_count=parts, size_bytes=size,
    )  # fmt: skip


def part(tab, content, index=0):
    uuid = tab.log.choice.upload._impl.uuid
    send(tab, "FileTransferPart", source_component_uuid=uuid, transfer_uuid="x", part_index=index, content=content)


def test_a_file_too_large_is_not_begun_and_one_that_fits_arrives(tab, log_csv, until):
    begin(tab, MAX_UPLOAD_BYTES + 1)
    text = log_csv.encode()
    begin(tab, len(text), 2)
    part(tab, text[:1000])
    part(tab, text[1000:], 1)
    until(lambda: tab.state.now.log is not None)
    assert len(tab.state.now.log) == 800
    assert not tab.client.gui._current_file_upload_states


def test_more_than_was_announced_is_dropped(tab, until):
    under_way = tab.client.gui._current_file_upload_states
    begin(tab, 10, 2)
    until(lambda: under_way)
    part(tab, b"0" * 11)
    until(lambda: not under_way)
    time.sleep(0.05)
    assert tab.state.now.log is None
