"""Load an arm from a file and save it to one; the suffix tells the format."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from armdyn.errors import ArmdynError, ReadError, quote, reads_file
from armdyn.files import read_bytes, read_text, write_whole
from armdyn.model.arm import Arm, Source


def load(
    path: str | os.PathLike[str],
    base: str | None = None,
    tip: str | None = None,
    *,
    branches: str = "lump",
    hold: Mapping[str, float] | None = None,
    snap: float | None = None,
    args: Mapping[str, object] | None = None,
    packages: Sequence[str | os.PathLike[str]] = (),
) -> Arm:
    """An arm from a file.

    Parameters
    ----------
    path : str or path
        `.urdf`; `.xml` (MuJoCo's MJCF, or a URDF: told apart by the root element); `.xacro`; `.toml`
        (the complete format, a DH table or members with axes and vectors); `.csv` (a DH table); or `.dyn`
        (words and numbers). See `docs/formats.md`.
    base, tip : str
        Names of the first and last link (or body; the tip may be a site) of the chain, for a file that
        holds more than one.
    branches : "lump", "refuse" or "keep"
        What becomes of moving branches outside the chain: joints are frozen and their links counted in; raise; or
        keep the whole tree. Without `tip`, a fork that is no hand at the end of a chain gives the whole tree in the
        first case too. See `read_urdf` and `read_mjcf`.
    hold : mapping of str to float
        Positions at which joints outside the chain are frozen, by name [rad or m]; others at zero, of an MJCF at their
        initial positions.
    snap : float
        Turn frames that are within this angle [rad] of a right-angled one exactly there (URDFs
        often carry 1.5708 for pi/2), which makes kernels smaller. What was moved is reported as a
        warning and in `arm.notes`. Default: nothing is moved.
    args : mapping
        Arguments of a xacro, as `name:=value` on a command line.
    packages : paths
        Folders of ROS packages that a xacro names, or folders that hold them.

    Returns
    -------
    Arm

    Raises
    ------
    ReadError
        If the file cannot be read as what it claims to be.
    ModelError
        If it describes an arm that cannot exist.

    Examples
    --------
    >>> armdyn.arms.planar2().save("planar2.toml")
    >>> armdyn.load("planar2.toml").n
    2
    """
    if not isinstance(path, str | os.PathLike):
        raise ReadError(where="load", expected="the path of a file", got=quote(path))
    chain: dict[str, Any] = {"base": base, "tip": tip, "branches": branches}
    if Path(path).suffix.lower() == ".xacro":
        from armdyn.model.xacro import expand_xacro

        chain["text"] = expand_xacro(path, args, packages)
    elif args or packages:
        raise ArmdynError(f"args and packages are for .xacro files, got '{path}'", where="load", names=(path,))
    xacro = tuple(f"{name}:={value}" for name, value in (args or {}).items()), tuple(map(str, packages or ()))
    asked = (branches, tuple((hold or {}).items()), chain.get("text"))
    source = Source(Path(path).absolute(), base, tip, (), *asked, xacro)
    arm = replace(_read(Path(path), chain, hold), source=source)
    if snap is not None:
        from armdyn.model.snap import snap_frames

        arm = snap_frames(arm, snap)
    return arm


@reads_file
def _read(path: Path, chain: Mapping[str, Any], hold: Mapping[str, float] | None) -> Arm:
    suffix = path.suffix.lower()
    if suffix in (".urdf", ".xacro") or (suffix == ".xml" and root_tag(path) == "robot"):
        from armdyn.model.urdf.read import read_urdf

        return read_urdf(path, **chain, hold=hold or {})
    if suffix == ".xml":
        from armdyn.model.mjcf.read import read_mjcf

        return read_mjcf(path, **chain, hold=hold or {})
    if hold:
        cause = f"hold is for joints of a URDF or MJCF off the chain, got '{path}'"
        raise ArmdynError(cause, where="load", names=(path,))
    if suffix == ".toml":
        from armdyn.model.toml_format import arm_from_toml

        return _check_ends(arm_from_toml(read_text(path), str(path)), path, chain)
    if suffix == ".csv":
        from armdyn.model.dh import arm_from_dh

        return _check_ends(arm_from_dh(path), path, chain)
    if suffix == ".dyn":
        from armdyn.model.dyn.read import arm_from_dyn

        return _check_ends(arm_from_dyn(read_text(path), str(path)), path, chain)
    what = "is a folder; expected a file:" if path.is_dir() else f"unknown kind of file '{suffix}'; expected"
    raise ReadError(f"{what} .urdf, .xml (MJCF), .xacro, .toml, .csv or .dyn", path=path)


def root_tag(path: Path) -> str:
    """The tag of an XML file's root element."""
    from armdyn.model.urdf.xml import parse_xml

    return str(parse_xml(read_bytes(path), path.name).tag)


def _check_ends(arm: Arm, path: Path, chain: Mapping[str, Any]) -> Arm:
    """These files hold one chain: `base` and `tip` may be given, but must be its ends."""
    for what, got in (("base", arm.base_name), ("tip", arm.tip_name)):
        if chain[what] not in (None, got):
            cause = f"the chain's {what} is '{got}', not '{chain[what]}'; only URDF and MJCF offer a choice of chains"
            raise ReadError(cause, path=path, names=(got, chain[what]))
    return arm


def save(arm: Arm, path: str | os.PathLike[str], *, onto: str | os.PathLike[str] | None = None) -> None:
    """Write `arm` to a `.urdf`, `.xml` (MJCF), `.toml` or `.csv` (DH table) file, whole or not at all.

    TOML keeps everything bit by bit. What URDF cannot hold is kept in an extension element that other programs ignore;
    MJCF keeps what MuJoCo simulates (`armdyn.model.convert.not_held` lists the rest). An arm with links that cannot
    exist is rejected there. `onto` is an existing URDF or MJCF whose other contents are kept; see `write_urdf` and
    `write_mjcf`.
    """
    suffix = Path(path).suffix.lower()
    if onto is not None and suffix in (".toml", ".csv"):
        cause = "onto= keeps the contents of a URDF or MJCF; other files are always written anew"
        raise ArmdynError(cause, where="save")
    if suffix == ".xml":
        from armdyn.model.mjcf.write import write_mjcf

        write_mjcf(arm, path, onto=onto)
    elif suffix == ".urdf":
        from armdyn.model.urdf.write import write_urdf

        write_urdf(arm, path, onto=onto)
    elif suffix == ".toml":
        from armdyn.model.toml_format import toml_text

        write_whole(path, toml_text(arm))
    elif suffix == ".csv":
        from armdyn.model.dh_table import table_text

        write_whole(path, table_text(arm))
    else:
        cause = f"unknown kind of file '{suffix}' in '{path}'"
        raise ArmdynError(cause, where="save", expected=".urdf, .xml (MJCF), .toml or .csv", names=(suffix, path))
