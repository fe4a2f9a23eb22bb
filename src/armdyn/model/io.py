"""Load an arm from a file and save it to one; the suffix tells the format."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from armdyn.errors import ArmdynError, ReadError
from armdyn.files import read_text, write_whole
from armdyn.model.arm import Arm, Source


def load(
    path: str | os.PathLike[str],
    base: str | None = None,
    tip: str | None = None,
    *,
    branches: str = "lump",
    snap: float | None = None,
) -> Arm:
    """An arm from a file.

    Parameters
    ----------
    path : str or path
        `.urdf`; `.toml` (the complete format, a DH table or members with axes and vectors); or
        `.csv` (a DH table). See `docs/formats.md`.
    base, tip : str
        Names of the first and last link of the chain, for a URDF that holds more than one.
    branches : "lump" or "refuse"
        What becomes of moving branches outside the chain of a URDF; see `read_urdf`.
    snap : float
        Turn frames that are within this angle [rad] of a right-angled one exactly there (URDFs
        often carry 1.5708 for pi/2), which makes kernels smaller. What was moved is reported as a
        warning and in `arm.notes`. Default: nothing is moved.

    Returns
    -------
    Arm

    Raises
    ------
    ReadError
        If the file cannot be read as what it claims to be.
    ModelError
        If it describes an arm that cannot exist.
    """
    arm = replace(_read(path, base, tip, branches), source=Source(Path(path).absolute(), base, tip))
    if snap is not None:
        from armdyn.model.snap import snapped

        arm = snapped(arm, snap)
    return arm


def _read(path: str | os.PathLike[str], base: str | None, tip: str | None, branches: str) -> Arm:
    suffix = Path(path).suffix.lower()
    if suffix == ".urdf":
        from armdyn.model.urdf.read import read_urdf

        return read_urdf(path, base=base, tip=tip, branches=branches)
    if suffix == ".toml":
        from armdyn.model.toml_format import arm_from_toml

        return _same_chain(arm_from_toml(read_text(path), str(path)), base, tip, path)
    if suffix == ".csv":
        from armdyn.model.dh import arm_from_dh

        return _same_chain(arm_from_dh(path), base, tip, path)
    if suffix == ".xacro":
        raise ReadError(
            f"{path}: a xacro is a program that writes a URDF; load the output of 'xacro {Path(path).name}'"
        )
    raise ReadError(f"{path}: unknown kind of file '{suffix}'; expected .urdf, .toml or .csv")


def _same_chain(arm: Arm, base: str | None, tip: str | None, path: str | os.PathLike[str]) -> Arm:
    """These files hold one chain: `base` and `tip` may be given, but must be its ends."""
    for what, asked, got in (("base", base, arm.base_name), ("tip", tip, arm.tip_name)):
        if asked is not None and asked != got:
            raise ReadError(
                f"{path}: the chain's {what} is '{got}', not '{asked}'; only a URDF offers a choice of chains"
            )
    return arm


def save(arm: Arm, path: str | os.PathLike[str], *, onto: str | os.PathLike[str] | None = None) -> None:
    """Write `arm` to a `.urdf` or `.toml` file, whole or not at all.

    TOML keeps everything bit by bit. What URDF cannot hold is kept in an extension element that
    other programs ignore; an arm with links that cannot exist is refused there. `onto` is an
    existing URDF whose other contents are kept; see `write_urdf`.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".urdf":
        from armdyn.model.urdf.write import write_urdf

        write_urdf(arm, path, onto=onto)
    elif suffix == ".toml" and onto is None:
        from armdyn.model.toml_format import toml_text

        write_whole(path, toml_text(arm))
    elif suffix == ".toml":
        raise ArmdynError("save: onto= keeps the contents of a URDF; a .toml file is always written anew")
    else:
        raise ArmdynError(f"save: unknown kind of file '{suffix}' in '{path}'; expected .urdf or .toml")
