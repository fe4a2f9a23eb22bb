"""Ctrl-C ends a command in time, even one whose native code, or own handling, does not let go."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

# A command that is interrupted while it does not listen: `work` is what it does.
PROGRAM = """
import os, signal, sys, threading, time
from armdyn.cli.interrupts import watching
from armdyn.cli.long_work import progress_bar
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    with watching(), progress_bar(outcome="nothing is kept", patience={patience}) as tell:
        tell(0, 1, "being stubborn")
        threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        {work}
    print("written")
except SystemExit as end:
    sys.exit(end.code)
except BaseException as error:
    sys.exit(getattr(error, "exit_code", 1))
"""
SWALLOWED = """
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                time.sleep(0.05)
            except KeyboardInterrupt:
                pass"""
NATIVE = "import hashlib; hashlib.pbkdf2_hmac('sha256', b'', b'', 200_000_000)"  # a minute or more without Python
# CasADi turns Ctrl-C into an error of its own.
TURNED = """
        try:
            time.sleep(30)
        except KeyboardInterrupt:
            raise NotImplementedError("wrong number or type of arguments")"""
# Python drops what is raised while an object is removed.
DROPPED = """
        class Slow:
            def __del__(self):
                end = time.monotonic() + 1.0
                while time.monotonic() < end:
                    pass
        Slow()
        time.sleep(30)"""
# Pressed twice, as people do.
TWICE = """
        for _ in range(2):
            try:
                time.sleep(0.3)
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(30)
            except KeyboardInterrupt:
                pass
        raise KeyboardInterrupt"""
SAVED = """
        try:
            time.sleep(30)
        except KeyboardInterrupt:
            pass
    time.sleep(1.0)  # longer than the patience: files are being written"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.parametrize(
    ("work", "code", "said"),
    [
        (SWALLOWED, 130, "armdyn: interrupted while being stubborn; nothing is kept"),
        (NATIVE, 130, "armdyn: interrupted while being stubborn; nothing is kept"),
        (TURNED, 130, "armdyn: interrupted while being stubborn; nothing is kept"),
        (DROPPED, 130, "armdyn: interrupted while being stubborn; nothing is kept"),
        (TWICE, 130, "armdyn: interrupted while being stubborn; nothing is kept"),
        ("time.sleep(30)", 130, "armdyn: interrupted while being stubborn; nothing is kept"),
        (SAVED, 0, "written"),
    ],
    ids=["swallowed", "native", "turned", "dropped", "twice", "plain", "saving"],
)
def test_a_command_ends_in_time(work, code, said):
    begun = time.monotonic()
    patience = 5.0 if work in (DROPPED, TWICE) else 0.5  # it ends by itself, before the watch does it
    program = PROGRAM.format(work=work.strip("\n").lstrip(), patience=patience)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stderr
    assert said in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    assert time.monotonic() - begun < 25  # the work lasts for 30 s; a busy machine is slow to start Python


def test_there_is_a_watch_to_ask_outside_of_commands():
    from armdyn.cli.interrupts import watch, watching

    watch().message = "nobody asks"
    assert watch().message == "interrupted"
    with watching():
        watch().message = "asked"
        assert watch().message == "asked"
    assert watch().message == "interrupted"
