"""Uploads of bounded size: what a browser announces as larger is not taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from viser import ClientHandle

MAX_UPLOAD_BYTES = 500_000_000  # bytes of a file


def bound_uploads(client: ClientHandle) -> None:
    """Let a client send one file at a time, of MAX_UPLOAD_BYTES at most.

    viser keeps what arrives in memory, as much as a browser says; it has no setting for that, so that its two
    handlers are asked through these.
    """
    from viser._messages import FileTransferPart, FileTransferStartUpload

    gui: Any = client.gui
    connection: Any = client._websock_connection
    begin, take = gui._handle_file_transfer_start, gui._handle_file_transfer_part
    under_way: dict[str, Any] = gui._current_file_upload_states

    def checked_begin(client_id: int, message: Any) -> None:
        why = problem(message.size_bytes, message.part_count, len(under_way))
        if why is None:
            begin(client_id, message)
        else:
            client.add_notification(
                "That did not work", f"{message.filename[-80:]}: {why}", color="red", auto_close_seconds=12.0
            )

    def checked_take(client_id: int, message: Any) -> None:
        state = under_way.get(message.transfer_uuid)
        if state is not None and state["transferred_bytes"] + len(message.content) > state["total_bytes"]:
            del under_way[message.transfer_uuid]  # more than was announced
        else:
            take(client_id, message)

    for kind, old, new in ((FileTransferStartUpload, begin, checked_begin), (FileTransferPart, take, checked_take)):
        connection.unregister_handler(kind, old)
        connection.register_handler(kind, new)


def problem(size: int, parts: int, under_way: int) -> str | None:
    """Why a file is not taken, or None."""
    if size > MAX_UPLOAD_BYTES:
        most = f"{MAX_UPLOAD_BYTES / 1e6:.0f} MB"
        return f"the file has {size / 1e6:.0f} MB, more than the {most} that can be uploaded; type its path instead"
    if parts > max(size, 1):
        return f"expected parts that hold something, got {parts} of {size} bytes"
    return "another file is under way; wait for it" if under_way else None
