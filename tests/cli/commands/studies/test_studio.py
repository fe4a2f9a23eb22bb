"""`armdyn studio` as a program: it starts, says where it is, and ends."""

import re
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

pytest.importorskip("viser", reason="the studio needs viser")

PROGRAM = (sys.executable, "-m", "armdyn", "studio")


def run(*arguments):
    return subprocess.run([*PROGRAM, *arguments], capture_output=True, text=True, timeout=120)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for another process")
def test_it_serves_the_page_until_ctrl_c():
    with subprocess.Popen(
        [*PROGRAM, "planar2", "--no-browser", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        first = program.stdout.readline()
        where = re.search(r"http://127\.0\.0\.1:\d+", first)
        assert where, first + program.stderr.read()
        assert "planar2" in first
        with urllib.request.urlopen(where[0], timeout=30) as response:
            assert b"<html" in response.read(10_000).lower()
        program.send_signal(signal.SIGINT)
        rest, errors = program.communicate(timeout=30)
    assert program.returncode == 0
    assert rest == "The studio has ended\n"
    assert errors == ""


def test_a_port_in_use_is_one_sentence():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = run("planar2", "--no-browser", "--port", port)
    assert done.returncode == 1
    assert done.stderr == (
        f"armdyn: studio: port {port} is in use on 127.0.0.1; choose another with --port (0: any free one)\n"
    )


def test_a_broken_file_is_one_sentence(tmp_path):
    (tmp_path / "broken.urdf").write_text("<robot><link")
    done = run(str(tmp_path / "broken.urdf"), "--no-browser")
    assert done.returncode == 1
    assert done.stderr.startswith("armdyn: broken.urdf: not well-formed XML")
    assert done.stderr.count("\n") == 1
