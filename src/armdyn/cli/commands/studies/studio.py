"""`armdyn studio [ARM]`: the arm in the browser."""

from __future__ import annotations

import typer

from armdyn.cli.interrupts import watch
from armdyn.cli.resolve import resolve


def studio(
    arm: str = "puma560",
    host: str = "127.0.0.1",
    port: int | None = None,
    no_browser: bool = False,
    base: str | None = None,
    tip: str | None = None,
) -> None:
    """Show an arm in the browser: move it, see its torques, play logs, compare controllers, design motions."""
    from armdyn.studio.app import Studio
    from armdyn.studio.drawing.subject import visuals_of
    from armdyn.studio.server import address, is_local, start_server, stop_server

    subject = resolve(arm, base, tip)
    visuals = visuals_of(arm, subject, base, tip)
    server = start_server(host, port)
    try:
        with Studio(server, subject, visuals, is_local(host), arm):
            where = address(server, host)
            print(f"The studio of '{subject.name}' is at {where} (Ctrl-C ends it)", flush=True)
            if not is_local(host):
                print("Everybody who can reach this machine can use it: there is no password", flush=True)
            if not no_browser:
                typer.launch(where)
            _wait()
    finally:
        stop_server(server)


def _wait() -> None:
    """Until Ctrl-C, or a polite request to end."""
    import signal
    import threading

    ended = threading.Event()
    before = {number: signal.signal(number, lambda *_: ended.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    watch().settled.set()  # the server is stopped in good order
    try:
        while not ended.wait(0.5):  # a wait without end would not see the signal on Windows
            pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    print("The studio has ended")
