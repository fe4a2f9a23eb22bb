"""ROS 2 bags unpack to no more than measured data do: rosbags itself unpacks whatever it is given, in one piece."""

from __future__ import annotations

from contextlib import suppress
from functools import cache, partial
from io import DEFAULT_BUFFER_SIZE
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from armdyn.errors import MissingExtraError
from armdyn.files import reject_bomb


@cache
def bound_rosbags() -> None:
    """Give rosbags decompressors that stop in time, for the chunks of MCAP files and for single messages.

    The sizes that a file states are not asked: a bomb states what it likes.
    """
    try:
        import lz4.frame
        from rosbags.rosbag2 import reader, storage_mcap

        zstd, chunks = reader.zstd, storage_mcap.DECOMPRESSORS
        zstd_bounded = partial(unpack, zstd.ZstdDecompressor)
        lz4_bounded = partial(unpack, lz4.frame.LZ4FrameDecompressor)
    except (ImportError, AttributeError):
        raise MissingExtraError("ROS 2 bags need rosbags 0.11.9 or later", "logs") from None
    chunks |= {"zstd": lambda data, _: zstd_bounded(data), "lz4": lambda data, _: lz4_bounded(data)}
    reader.zstd = SimpleNamespace(open=zstd.open, decompress=zstd_bounded)  # type: ignore[assignment]


def unpack(decompressor: Any, data: bytes) -> bytes:
    """Decompress data, frame after frame; raise a `ReadError` as soon as they are more than measured data can be."""
    blocks: list[bytes] = []
    packed, total = len(data), 0
    while data:
        frame = decompressor()
        while not frame.eof:
            block = frame.decompress(data, max_length=DEFAULT_BUFFER_SIZE)
            if not block and frame.needs_input:
                raise EOFError("compressed data are cut off")
            total += len(block)
            reject_bomb("compressed data", packed, total)
            blocks.append(block)
            data = b""
        data = frame.unused_data or b""
    return b"".join(blocks)


def require_no_bombs(folder: Path) -> None:
    """Reject a bag whose files, compressed whole, unpack to far more than they are."""
    from rosbags.rosbag2 import storage_mcap

    for path in filter(Path.is_file, folder.iterdir()):
        total, packed = 0, path.stat().st_size
        # Of files that are not compressed the first bytes are read; of damaged ones rosbags says what is wrong.
        with suppress(storage_mcap.zstd.ZstdError, EOFError), storage_mcap.zstd.open(path, "rb") as stream:
            while block := stream.read(DEFAULT_BUFFER_SIZE):
                total += len(block)
                reject_bomb(path, packed, total)
