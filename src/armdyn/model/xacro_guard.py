"""What expands a xacro in a process of its own (see `armdyn.model.guarded`), which this file is read into by its path:
it imports nothing of armdyn."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

FORBIDDEN = ("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "os.startfile", "os.putenv")
FORBIDDEN_KINDS = ("subprocess.", "socket.", "shutil.", "ctypes.", "urllib.", "http.", "ftplib.", "smtplib.", "pty.")
WRITING = ("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod")


class Environment(Mapping[str, str]):
    """Variables that a xacro may read; names of others that it asks for are added to `missed`."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.variables, self.missed = dict(variables), set[str]()

    def __getitem__(self, name: str) -> str:
        if name not in self.variables:
            self.missed.add(name)
        return self.variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.variables)

    def __len__(self) -> int:
        return len(self.variables)


def answer(task: Mapping[str, Any]) -> dict[str, Any]:
    """Expand a xacro under guard: its `text` or the `reason` why there is none, and the variables that it `missed`."""
    from xacrodoc import XacroDoc
    from xacrodoc import packages as known

    folders = [Path(folder) for folder in task["packages"]]
    home = Path(task["path"]).parent
    package = next((parent for parent in home.parents if (parent / "package.xml").is_file()), None)
    named = [*folders, *([package] if package else [])]
    known.look_in([str(f.parent if (f / "package.xml").is_file() else f) for f in named])
    environment = Environment({**os.environ, **task["args"]})
    denied: list[str] = []
    result: dict[str, Any] = {}
    sys.addaudithook(guard([str(home), *map(str, named)], denied))
    os.environ = environment  # type: ignore[assignment]  # noqa: B003 (the true one is bare already)
    try:
        result["text"] = XacroDoc.from_file(task["path"], subargs=dict(task["args"])).to_urdf_string()
    except Exception as error:
        result["reason"] = " ".join((denied[0] if denied else f"{type(error).__name__}: {error}").split())
    return result | {"missed": sorted(environment.missed)}


def guard(roots: list[str], denied: list[str]) -> Any:
    """Make an audit hook: files below `roots` may be read, and Python's own, and nothing may be written or started.

    What it denies is added to `denied`.
    """
    installed = [
        os.path.realpath(p) for p in (sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(), *sys.path) if p
    ]
    allowed = tuple(os.path.realpath(root) + os.sep for root in (*roots, *installed))

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
