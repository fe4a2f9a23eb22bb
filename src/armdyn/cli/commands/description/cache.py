"""`armdyn cache`: compiled kernels on disk."""

from __future__ import annotations

from armdyn.cli.durations import record_file
from armdyn.cli.show import print_json


def cache(clear: bool = False, json: bool = False) -> None:
    """Show where compiled kernels are kept and how much room they take, or delete them."""
    from armdyn.trace import cache as disk

    deleted = disk.clear() if clear else 0
    if clear:
        record_file().unlink(missing_ok=True)
    entries, size = disk.size()
    if json:
        print_json({"folder": str(disk.folder()), "entries": entries, "bytes": size, "deleted": deleted})
        return
    if clear:
        print(f"deleted {deleted} kernels from {disk.folder()}")
    else:
        print(f"{disk.folder()}: {entries} kernels, {size / 2**20:.1f} MB (limit {disk.LIMIT_BYTES // 2**20} MB)")
