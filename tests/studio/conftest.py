"""A small arm, a log of it, and a tab without a browser."""

import contextlib
import threading
import time

import numpy as np
import pytest

from armdyn import Log, arms, joint_torque


@pytest.fixture(scope="session")
def arm():
    return arms.planar2()


@pytest.fixture(scope="session")
def log(arm):
    """Four seconds of smooth motion, torques exact."""
    t = np.arange(0, 4, 0.005)
    w = 2 * np.pi * np.array([0.5, 0.75])
    x = t[:, None] * w
    q, qd, qdd = 0.6 * np.sin(x), 0.6 * w * np.cos(x), -0.6 * w**2 * np.sin(x)
    return Log(t, q, joint_torque(arm, q, qd, qdd), qd, "swing.csv")


@pytest.fixture(scope="session")
def log_csv(log):
    """The same as the text of a file."""
    head = "t,q1,q2,tau1,tau2"
    return "\n".join([head, *(",".join(map(repr, row)) for row in np.column_stack([log.t, log.q, log.tau]).tolist())])


def _until(condition, seconds=20.0):
    """Wait for something that other threads do."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)


@pytest.fixture(scope="session")
def until():
    """`until(condition)`: wait for something that other threads do."""
    return _until


@pytest.fixture(scope="session")
def opened():
    """`with opened(studio) as tab`: a tab without a browser."""
    return _opened


def _drop(connection):
    from websockets.exceptions import ConnectionClosed

    with contextlib.suppress(ConnectionClosed):
        for _ in connection:
            pass


@contextlib.contextmanager
def _opened(studio, width=1280, height=800):
    """A tab of a studio, opened by a program that speaks as a browser does; its connection comes with it."""
    import msgspec
    import viser
    from websockets.sync.client import connect

    from armdyn.studio.server import address

    where, before = address(studio.server, "127.0.0.1"), set(studio.tabs)
    protocols = [f"viser-v{viser.__version__}"]
    with connect(where.replace("http", "ws"), origin=where, subprotocols=protocols, max_size=None) as connection:
        camera = {
            "wxyz": (1.0, 0.0, 0.0, 0.0), "position": (1.0, 1.0, 1.0), "fov": 1.0, "near": 0.01, "far": 100.0,
            "image_height": height, "image_width": width, "look_at": (0.0, 0.0, 0.0), "up_direction": (0.0, 0.0, 1.0),
        }  # fmt: skip
        connection.send(msgspec.msgpack.encode({"type": "ViewerCameraMessage", **camera}))
        # What the studio says is read and dropped, or it would wait for its reader.
        threading.Thread(target=_drop, args=(connection,), daemon=True).start()
        _until(lambda: set(studio.tabs) - before)
        (new,) = set(studio.tabs) - before
        tab = studio.tabs[new]
        tab.connection = connection
        yield tab
    _until(lambda: new not in studio.tabs)
