"""Xacro files: programs that write URDFs, run apart and under guard.

A xacro evaluates expressions of whoever wrote it. It runs in a process of its own, which may read the file's own folder
and the packages that were named, and may neither write, start programs, nor use the network, within bounds of time and
memory. Only the ending `.xacro` leads here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from armdyn.errors import ReadError, import_extra

MOST_SECONDS = 20  # large descriptions take less than one
MOST_BYTES = 2_000_000_000  # of memory
FORBIDDEN = ("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "os.startfile", "os.putenv")
FORBIDDEN_KINDS = ("subprocess.", "socket.", "shutil.", "ctypes.", "urllib.", "http.", "ftplib.", "smtplib.", "pty.")
WRITING = ("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod")


def expand_xacro(
    path: str | os.PathLike[str],
    args: Mapping[str, object] | None = None,
    packages: Iterable[str | os.PathLike[str]] = (),
) -> bytes:
    """The URDF that a xacro writes.

    Parameters
    ----------
    path : str or path
    args : mapping
        Values of the xacro's arguments, as `name:=value` on a command line.
    packages : paths
        Folders of ROS packages, or folders that hold such folders, for `$(find name)`.

    Raises
    ------
    ReadError
        If the xacro fails, reads elsewhere, or takes too long.
    """
    where = Path(path).name
    import_extra("xacrodoc", "xacro files need xacrodoc, which is not installed", "xacro")
    if not Path(path).is_file():
        raise ReadError(f"{path}: cannot be read (no such file)")
    folders = [str(Path(folder).resolve()) for folder in packages]
    for folder in folders:
        if not Path(folder).is_dir():
            raise ReadError(f"{where}: the package folder '{folder}' does not exist")
    task = {
        "path": str(Path(path).resolve()),
        "args": {str(name): str(value) for name, value in (args or {}).items()},
        "packages": folders,
    }
    command = [sys.executable, "-c", "from armdyn.model.xacro import run_guarded; run_guarded()"]
    try:
        done = subprocess.run(command, input=json.dumps(task).encode(), capture_output=True, timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        raise ReadError(f"{where}: the xacro did not end within {MOST_SECONDS} s; does it include itself?") from None
    if done.returncode:
        raise ReadError(f"{where}: {_reason(done.stderr.decode('utf-8', 'replace'))}")
    return done.stdout


def _reason(stderr: str) -> str:
    """The last words of a xacro that failed, and what would help."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    text = lines[-1][:300] if lines else "it was ended (memory or time)"
    if "Undefined substitution argument" in text:
        return f"the xacro needs an argument ({text}); give args={{'name': 'value'}}, or --xacro-arg name:=value"
    if "PackageNotFound" in text or "ResourceNotFound" in text or ("ackage" in text and "not found" in text.lower()):
        return f"the xacro needs a package ({text}); give packages=['folder'], or --package-path folder"
    return f"the xacro failed: {text}"


def run_guarded() -> None:
    """In the process of its own: read a task from stdin, expand it under guard, write the URDF to stdout."""
    task = json.loads(sys.stdin.buffer.read())
    _bound_memory()
    from xacrodoc import XacroDoc
    from xacrodoc import packages as known

    folders = [Path(folder) for folder in task["packages"]]
    home = Path(task["path"]).parent
    own = next((parent for parent in home.parents if (parent / "package.xml").is_file()), None)
    named = [*folders, *([own] if own else [])]
    known.look_in([str(f.parent if (f / "package.xml").is_file() else f) for f in named])
    denied: list[str] = []
    sys.addaudithook(guard([str(home), *map(str, named)], denied))
    try:
        document = XacroDoc.from_file(task["path"], subargs=dict(task["args"]))
        text = document.to_urdf_string()
    except Exception as error:
        reason = denied[0] if denied else f"{type(error).__name__}: {error}"
        print(" ".join(reason.split()), file=sys.stderr)
        sys.exit(1)
    sys.stdout.buffer.write(text.encode())


def guard(roots: list[str], denied: list[str]) -> Any:
    """An audit hook that lets files below `roots` be read, and Python's own, and nothing be written or started.

    What it denies is added to `denied`.
    """
    own = [os.path.realpath(p) for p in (sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), *sys.path) if p]
    allowed = tuple(os.path.realpath(root) + os.sep for root in (*roots, *own))

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in FORBIDDEN or event in WRITING or event.startswith(FORBIDDEN_KINDS):
            denied.append(f"{event} is not allowed in a xacro")
            raise PermissionError(denied[-1])
        if event == "open" and isinstance(arguments[0], str | bytes):
            path, mode, flags = arguments
            writes = (isinstance(mode, str) and set(mode) & set("wax+")) or (flags or 0) & (os.O_WRONLY | os.O_RDWR)
            if writes or not os.path.realpath(os.fsdecode(path)).startswith(allowed):
                denied.append(f"'{os.fsdecode(path)}' lies outside the folders that the xacro may read")
                raise PermissionError(denied[-1])

    return hook


def _bound_memory() -> None:
    try:
        import resource
    except ImportError:  # not on Windows, where only time is bounded
        return
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
