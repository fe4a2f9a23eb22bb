"""Who may talk to the studio, and where it listens."""

import re
import socket
import urllib.error
import urllib.request

import pytest
from tests.raising import raises

from armdyn import ArmdynError
from armdyn.studio.server import Guard, address, free_port, is_local, start_server, stop_server

viser = pytest.importorskip("viser", reason="the studio needs viser")


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("127.0.0.1:8080", None),
        ("127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("localhost:8080", "http://localhost:8080"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("192.168.1.5:80", None),
    ],
)
def test_the_page_itself_is_let_in(host, origin):
    assert Guard("127.0.0.1").rejection(host, origin) is None


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("evil.example:8080", None),  # a name rebound to this address
        ("evil.example:8080", "http://evil.example:8080"),
        ("127.0.0.1.evil.example", None),
        ("127.0.0.1:8080", "https://evil.example"),  # another site's page
        ("127.0.0.1:8080", "http://127.0.0.1:9999"),  # another program's page
        ("127.0.0.1:8080", "null"),
        ("127.0.0.1:8080", ""),
        ("[::1", None),
        ("", None),
        (None, None),
    ],
)
def test_others_are_rejected(host, origin):
    assert Guard("127.0.0.1").rejection(host, origin)


def test_a_name_that_was_asked_for_is_answered():
    assert Guard("robot.lab").rejection("robot.lab:8080", "http://robot.lab:8080") is None


def test_a_port_in_use_is_told_or_passed_over():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with raises(
            ArmdynError,
            cause=f"port {port} is in use on 127.0.0.1",
            remedy="choose another with port= (0: any free one)",
        ):
            free_port("127.0.0.1", port, 0)
        assert free_port("127.0.0.1", port, 20) > port


@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.name.invalid"])
def test_an_address_of_another_machine_is_rejected(host):
    with raises(ArmdynError, where="studio", cause=re.compile("is not an address of this machine"), names=(host,)):
        free_port(host, 8080, 5)


def test_a_port_must_be_one():
    with raises(ArmdynError, expected="a port from 0 to 65535", got="70000"):
        free_port("127.0.0.1", 70000, 0)


def test_what_is_local():
    assert is_local("127.0.0.1")
    assert is_local("localhost")
    assert is_local("::1")
    assert not is_local("0.0.0.0")
    assert not is_local("robot.lab")


@pytest.fixture(scope="module")
def running():
    server = start_server(port=0)
    yield server
    stop_server(server)


def status(server, **headers):
    request = urllib.request.Request(address(server, "127.0.0.1"), headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code


def test_the_running_server_asks_its_guard(running):
    assert status(running) == 200
    assert status(running, Host="evil.example") == 403
    assert status(running, Origin="http://evil.example") == 403


ODD_REQUESTS = {
    "two hosts": ("/", "Host: {host}\r\nHost: {host}"),
    "two origins": ("/", "Host: {host}\r\nOrigin: http://a\r\nOrigin: http://b"),
    "two encodings": ("/", "Host: {host}\r\nAccept-Encoding: gzip\r\nAccept-Encoding: br"),
    "two upgrades": ("/", "Host: {host}\r\nUpgrade: websocket\r\nUpgrade: websocket\r\nConnection: Upgrade"),
    "half a bracket": ("/", "Host: {host}\r\nOrigin: http://["),
    "bytes that are no text": ("/", "Host: {host}\r\nOrigin: \xff\xfe"),
    "a host that is no text": ("/", "Host: \xff\xfe"),
    "a name too long for files": ("/" + "a" * 300, "Host: {host}"),
    "a way out": ("/../../../../etc/passwd", "Host: {host}"),
    "a way out in code": ("/%2e%2e/%2e%2e/etc/passwd", "Host: {host}"),
    "a zero byte": ("/%00", "Host: {host}"),
    "nobody's page": ("//[", "Host: {host}"),
}


@pytest.mark.parametrize("name", ODD_REQUESTS)
def test_odd_requests_are_the_asker_s_fault(running, name):
    path, headers = ODD_REQUESTS[name]
    text = f"GET {path} HTTP/1.1\r\n{headers.format(host=f'127.0.0.1:{running.get_port()}')}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", running.get_port()), timeout=10) as connection:
        connection.sendall(text.encode("latin-1"))
        answer = connection.recv(1000)
    assert answer.startswith(b"HTTP/1.1 4"), answer
    assert status(running) == 200


def test_messages_from_other_sites_are_not_taken(running):
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    where = address(running, "127.0.0.1").replace("http", "ws")
    protocols = [f"viser-v{viser.__version__}"]
    with pytest.raises(InvalidStatus) as rejected:
        connect(where, origin="http://evil.example", subprotocols=protocols)
    assert rejected.value.response.status_code == 403
    connect(where, origin=address(running, "127.0.0.1"), subprotocols=protocols).close()


def test_it_listens_on_this_machine_alone(running):
    assert running.get_host() == "127.0.0.1"
    others = [info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
    for host in {other for other in others if not other.startswith("127.")}:
        with socket.socket() as probe:
            probe.settimeout(2)
            assert probe.connect_ex((host, running.get_port())) != 0


def test_no_tunnel_is_opened(running):
    assert running.request_share_url() is None
