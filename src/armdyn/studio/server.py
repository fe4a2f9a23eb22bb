"""The web server behind the page: on this machine alone unless told, and deaf to other sites.

viser listens on all interfaces by default, offers a public tunnel, and takes messages from any site that a browser
has open. Here it gets an address of its own, no tunnel, and a guard on every request.
"""

from __future__ import annotations

import contextlib
import errno
import http
import io
import ipaddress
import os
import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from armdyn.errors import ArmdynError, import_extra

if TYPE_CHECKING:
    from viser import ViserServer

LOOPBACK = "127.0.0.1"
FIRST_PORT = 8080


def start_server(host: str = LOOPBACK, port: int | None = None, title: str = "armdyn studio") -> ViserServer:
    """A running server.

    Parameters
    ----------
    host : str
        Address to listen on.
    port : int, optional
        Exactly this one; 0 lets the system choose. Default: the first that is free from 8080 on.
    title : str
        Heading of the panel.

    Raises
    ------
    ArmdynError
        If the address or port cannot be used.
    """
    viser = import_extra("viser", "the studio needs viser", "studio")
    port = free_port(host, FIRST_PORT, 65535 - FIRST_PORT) if port is None else free_port(host, port, 0)

    class LocalServer(viser.ViserServer):  # type: ignore[name-defined,misc]
        def request_share_url(self, verbose: bool = True) -> str | None:
            """Any page may ask for viser's public tunnel; there is none."""
            return None

    with contextlib.redirect_stdout(io.StringIO()), guard_servers(host) as guard:
        server = LocalServer(host=host, port=port, label=title, verbose=False)
    if not guard.installed:
        server.stop()
        cause = f"viser {viser.__version__} cannot be guarded against other sites"
        raise ArmdynError(cause, where="studio", remedy="install viser 1.1")
    return server


def stop_server(server: ViserServer) -> None:
    """Stop it without viser's farewell."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


def address(server: ViserServer, host: str) -> str:
    """Return where a browser on this machine finds the page."""
    name = LOOPBACK if host in ("0.0.0.0", "::", "") else host
    return f"http://{f'[{name}]' if ':' in name else name}:{server.get_port()}"


def is_local(host: str) -> bool:
    """Whether an address is reachable from this machine alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def free_port(host: str, port: int, tries: int) -> int:
    """The first port from `port` on that can be listened on (viser itself would look on without end)."""
    if not 0 <= port <= 65535:
        raise ArmdynError(where="studio", expected="a port from 0 to 65535", got=port)
    for candidate in range(port, min(port + tries, 65535) + 1):
        problem = _bind_problem(host, candidate)
        if problem is None:
            return candidate
        if problem != errno.EADDRINUSE:
            reason = "needs administrator rights" if problem == errno.EACCES else "is not an address of this machine"
            cause = f"cannot listen on '{host}', port {candidate}: it {reason}"
            raise ArmdynError(cause, where="studio", names=(host,))
    where = f"port {port} is" if tries == 0 else f"ports {port} to {port + tries} are"
    raise ArmdynError(f"{where} in use on {host}", where="studio", remedy="choose another with port= (0: any free one)")


def _bind_problem(host: str, port: int) -> int | None:
    """The error number of listening there, or None."""
    try:
        family, kind, _, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (socket.gaierror, UnicodeError):
        return errno.EADDRNOTAVAIL
    with socket.socket(family, kind) as probe:
        if os.name == "posix":  # as asyncio does: a port in its last minutes after a close counts as free
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(where)
        except OSError as error:
            return error.errno
    return None


# -- who may talk to it ------------------------------------------------------------------------------------


class Guard:
    """Refuses requests that a foreign page causes a browser to make.

    A page of another site can open a connection to 127.0.0.1, which its `Origin` gives away; or rebind its own
    name to this address, which the `Host` gives away, as it is neither an address nor a name of this machine.
    """

    def __init__(self, host: str) -> None:
        self.names = {"localhost", host.lower(), socket.gethostname().lower()}
        self.installed = False

    def rejection(self, host: str | None, origin: str | None) -> str | None:
        """Why a request with these headers is rejected, or None."""
        if not host or not self._is_ours(_host(f"//{host}")[1]):
            return f"the studio does not answer to the name {(host or '')[:80]!a}"
        # Programs other than browsers send no origin.
        if origin is not None and _host(origin)[0] != host.lower():
            return f"the studio does not take requests from {origin[:80]!a}"
        return None

    def _is_ours(self, name: str) -> bool:
        with contextlib.suppress(ValueError):
            ipaddress.ip_address(name)
            return True
        return name in self.names


def _host(url: str) -> tuple[str, str]:
    """The host of an address with its port, and without; empty where it is none."""
    try:
        parts = urlsplit(url)
        return parts.netloc.lower(), (parts.hostname or "").lower()
    except ValueError:
        return "", ""


@contextlib.contextmanager
def guard_servers(host: str) -> Iterator[Guard]:
    """Servers that are started inside ask a guard first, before any page is sent or message taken.

    viser has no setting for that; what it calls, `websockets.asyncio.server.serve`, has.
    """
    import websockets.asyncio.server as websockets

    guard, serve = Guard(host), websockets.serve

    def guarded_serve(handler: Any, *args: Any, process_request: Any, **options: Any) -> Any:
        def ask(connection: Any, request: Any) -> Any:
            try:
                why = guard.rejection(request.headers.get("Host"), request.headers.get("Origin"))
                if why is not None:
                    return connection.respond(http.HTTPStatus.FORBIDDEN, why + "\n")
                return process_request(connection, request)
            except (LookupError, ValueError, OSError):  # doubled headers, names of files that cannot be
                return connection.respond(http.HTTPStatus.BAD_REQUEST, "expected each header once, and a page's path\n")

        guard.installed = True
        return serve(handler, *args, process_request=ask, **options)

    websockets.serve = guarded_serve  # type: ignore[assignment,misc]
    try:
        yield guard
    finally:
        websockets.serve = serve  # type: ignore[misc]
