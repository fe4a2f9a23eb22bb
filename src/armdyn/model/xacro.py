"""Xacro files: programs that write URDFs, run apart and under guard.

A xacro evaluates expressions of whoever wrote it. It runs in a process of its own (`xacro_guard.py`), which may read
the file's own folder and the packages that were named, and may neither write, start programs, use the network, import
modules from the current folder, nor read the environment, within bounds of time and memory. Only the ending `.xacro`
leads here.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path

from armdyn.errors import ArmdynWarning, ReadError, import_extra
from armdyn.files import MAX_TEXT_BYTES
from armdyn.model.guarded import MAX_SECONDS, Failure, run_guarded


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
        Values of the xacro's arguments, as `name:=value` on a command line. `$(env name)` and `$(optenv name)` read
        them too: nothing else of the environment is passed on.
    packages : paths
        Folders of ROS packages, or folders that hold such folders, for `$(find name)`.

    Raises
    ------
    ReadError
        If the xacro fails, reads elsewhere, or takes too long.
    """
    where = Path(path).name
    if not Path(path).is_file():
        raise ReadError("no such file", path=path)
    xacrodoc = import_extra("xacrodoc", "xacro files need xacrodoc, which is not installed", "xacro")
    folders = [str(Path(folder).resolve()) for folder in packages]
    for folder in folders:
        if not Path(folder).is_dir():
            raise ReadError(f"the package folder '{folder}' does not exist", where=where, names=(folder,))
    task = {
        "path": str(Path(path).resolve()),
        "args": {str(name): str(value) for name, value in (args or {}).items()},
        "packages": folders,
    }
    try:
        answer = run_guarded(Path(__file__).with_name("xacro_guard.py"), task, [xacrodoc])
    except TimeoutError:
        cause = f"the xacro did not end within {MAX_SECONDS} s"
        raise ReadError(cause, where=where, remedy="does it include itself?") from None
    except Failure as failure:
        raise ReadError(_reason(str(failure), []), where=where) from None
    if "text" not in answer:
        raise ReadError(_reason(answer["reason"], answer["missed"]), where=where)
    if len(answer["text"]) > MAX_TEXT_BYTES:
        raise ReadError(f"the xacro writes more than the {MAX_TEXT_BYTES / 1e6:.0f} MB allowed", where=where)
    for name in answer["missed"]:
        if name in os.environ:
            warnings.warn(f"{where}: {_withheld(name)}; its default is used", ArmdynWarning, stacklevel=3)
    return bytes(answer["text"].encode())


def _withheld(name: str) -> str:
    return (
        f"the xacro asks for the environment variable '{name:.80}', which armdyn does not pass on; give the value as "
        "the argument of the xacro that has this name"
    )


def _reason(text: str, missed: list[str]) -> str:
    """Return why a xacro failed, and what would help."""
    text = text[:300]
    if missed and "environment variable" in text:
        return _withheld(missed[-1])
    if "Undefined substitution argument" in text:
        return f"the xacro needs an argument ({text}); give args={{'name': 'value'}}"
    if "PackageNotFound" in text or "ResourceNotFound" in text or ("ackage" in text and "not found" in text.lower()):
        name = text.rsplit("ot found: ", 1)[-1] if "ot found: " in text else text
        return (
            f"the xacro needs ROS package {name!r}, which was not found; give packages=['FOLDER'], the folder with it"
        )
    return f"the xacro failed: {text}"
