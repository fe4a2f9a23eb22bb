"""Arms from Denavit-Hartenberg tables, standard and modified.

Standard (distal): `T_i = Rz(theta) Tz(d) Tx(a) Rx(alpha)`, frame i at the far end of link i.
Modified (proximal, Craig): `T_i = Rx(alpha) Tx(a) Rz(theta) Tz(d)`, frame i on axis i; `a, alpha` of
row i are Craig's a_{i-1}, alpha_{i-1}. The joint variable is added to theta (R) or d (P).
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ArmdynError, ModelError, check_choice, quote
from armdyn.model.arm import Arm, Link
from armdyn.model.joint import Drive, Friction, Joint, Limits
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.rotation import rotation_x, rotation_z
from armdyn.spatial.transform import transform

CONVENTIONS = ("standard", "modified")
KINDS = {"R": "revolute", "P": "prismatic", "revolute": "revolute", "prismatic": "prismatic"}
ROW_KEYS = (
    "name", "link", "kind", "a", "alpha", "d", "theta", "alpha_deg", "theta_deg",
    "mass", "com", "inertia", "inertial", "limits", "friction", "drive",
    "parent", "follows", "offset", "gamma", "gamma_deg", "b",
)  # fmt: skip

# Measured tables break the triangle inequality: link 3 of the PUMA 560 by 9 % of its largest moment. Up to
# this share they are taken as they are, and `arm.is_physical` tells; beyond it axes are likely swapped.
TRIANGLE_INEQUALITY_SLACK = 0.2

JOINT_DATA = {"limits": Limits, "friction": Friction, "drive": Drive}


def arm_from_dh(rows: Sequence[Mapping[str, Any]] | str | os.PathLike[str], **options: Any) -> Arm:
    """An arm from Denavit-Hartenberg rows.

    Parameters
    ----------
    rows : sequence of mappings, or the path of a `.csv` or `.toml` table
        One per joint, from the base. Keys, all optional but `kind`:

        * `kind`: "R" or "P" (or "revolute", "prismatic");
        * `a`, `d` [m], `alpha`, `theta` [rad], or `alpha_deg`, `theta_deg` [degrees]; angles may also
          be text such as "-pi/2"; the joint variable is added to `theta` (R) or `d` (P);
        * `mass` [kg], `com` (3,) [m] and `inertia` (3, 3) [kg m²] about the centre of mass, in the
          row's own frame; or all ten inertial parameters as `inertial` (10,), which may also be
          called `theta`. What is missing or None is unknown: kinematics works, dynamics tells;
        * `limits`: `(lower, upper)` or a mapping with lower, upper, velocity, effort;
        * `friction`, `drive`: mappings with the fields of `Friction` and `Drive`;
        * `name` of the joint, `link`: name of the link it carries;
        * `parent`: number of the row, from 1, or name of the link that the joint hangs on, 0 or "base" for the base;
          default the row before. Rows that fork may need two parameters more, `gamma` [rad] (or `gamma_deg`) and `b`
          [m], about and along the parent's z axis, before the others (Khalil and Kleinfinger 1986);
        * `follows`: pairs of a joint's name and a ratio, with `offset`: see `Joint`.
    **options
        Those of `Arm.from_dh`; None is the default, or what the file says. `convention` is "standard" or "modified";
        `base_pose` and `tool_pose` are the poses of frame 0, and of the tip in the last frame.

    Returns
    -------
    Arm

    Raises
    ------
    ModelError
        If a row is not understood, or describes a body that cannot exist. Measured moments that break
        the triangle inequality by up to a fifth are accepted; `arm.is_physical` tells.
    """
    options = {key: value for key, value in options.items() if value is not None}
    if isinstance(rows, str | os.PathLike):
        from armdyn.model.dh_table import read_table

        table = read_table(rows)
        try:
            return arm_from_dh(table.rows, **{**table.options, **options})
        except ModelError as error:
            raise ModelError(f"{error}", where=os.fspath(rows)) from None
    convention = options.pop("convention", "standard")
    check_choice("from_dh", "convention", convention, CONVENTIONS, ModelError)
    if not isinstance(rows, Sequence):
        raise ModelError(where="from_dh", expected="a sequence of rows", got=type(rows).__name__)
    built = [_joint_and_link(row, i, convention) for i, row in enumerate(rows, start=1)]
    links = [link for _, link in built]
    parents = [dict(row).get("parent") for row in rows]  # type: ignore[arg-type]
    numbered = enumerate(zip(built, parents, strict=True), start=1)
    joints = [_on_parent(joint, parent, i, links) for i, ((joint, _), parent) in numbered]
    return Arm(tuple(joints), tuple(links), **options)


def _on_parent(joint: Joint, parent: Any, i: int, links: Sequence[Link]) -> Joint:
    """The joint of row i on the link of another row."""
    if parent is None or isinstance(parent, str):
        return replace(joint, parent=parent)
    if isinstance(parent, bool) or not isinstance(parent, int) or not 0 <= parent < i:
        expected = "the number of a row before it, 0 for the base"
        raise ModelError(where=f"DH row {i}: parent", expected=expected, got=quote(parent))
    if parent == i - 1:
        return joint
    return replace(joint, parent=links[parent - 1].name if parent else "base")


def reject_unknown(
    table: Mapping[str, Any], known: Sequence[str], where: str, error: type[ArmdynError] = ModelError
) -> None:
    """Raise if a table has a key that is not known."""
    if unknown := [str(key) for key in table if key not in known]:
        cause = f"unknown key {', '.join(unknown)[:80]}"
        raise error(cause, where=where, expected=f"some of {', '.join(known)}", names=unknown)


def dh_transform(a: float, alpha: float, d: float, theta: float, convention: str = "standard") -> NDArray:
    """The 4x4 transform of one row at joint variable zero."""
    # ECE470 (2019), 1.5 (standard) and Craig (modified): Rz Tz and Rx Tx are screws about z and x.
    about_z = transform(rotation_z(theta), (0.0, 0.0, d))
    about_x = transform(rotation_x(alpha), (a, 0.0, 0.0))
    return about_z @ about_x if convention == "standard" else about_x @ about_z


def number(value: Any, what: str) -> float:
    """A finite number, also from text such as `0.3`, `-pi/2` or `2*pi/3`."""
    if isinstance(value, str):
        match = _PI.fullmatch(value.replace(" ", ""))
        if match:
            sign, factor, divisor = match.groups()
            value = (-1.0 if sign == "-" else 1.0) * float(factor or 1) * np.pi / float(divisor or 1)
    try:
        if isinstance(value, bool) or np.ndim(value) != 0:
            raise TypeError
        result = float(value)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        raise ModelError(where=what, expected="a number", got=quote(value)) from None
    if not np.isfinite(result):
        raise ModelError(where=what, expected="a finite number", got=result)
    return result


_PI = re.compile(r"([+-]?)(?:(\d+(?:\.\d*)?)\*?)?pi(?:/([1-9]\d*(?:\.\d*)?))?")


def _joint_and_link(row: Any, i: int, convention: str) -> tuple[Joint, Link]:
    where = f"DH row {i}"
    if not isinstance(row, Mapping):
        raise ModelError(where=where, expected="a mapping with kind, a, alpha, d, theta", got=quote(row))
    reject_unknown(row, ROW_KEYS, where)
    row = {key: value for key, value in row.items() if value is not None}
    kind = row.get("kind")
    check_choice(where, "kind of joint", kind, KINDS, ModelError)
    a, d = (number(row.get(key, 0.0), f"{where}: {key}") for key in ("a", "d"))
    T = dh_transform(a, _angle(row, "alpha", where), d, _angle(row, "theta", where), convention)
    # The motion is about or along z and commutes with Rz(theta) Tz(d): one constant transform is enough.
    place: dict[str, Any] = {"after": T} if convention == "standard" else {"before": T}
    if {"gamma", "gamma_deg", "b"} & row.keys():
        shift = (0.0, 0.0, number(row.get("b", 0.0), f"{where}: b"))
        place["before"] = transform(rotation_z(_angle(row, "gamma", where)), shift) @ place.get("before", np.eye(4))
    place |= {key: row[key] for key in ("follows", "offset") if key in row}
    joint = Joint(
        name=row.get("name", f"joint{i}"),
        kind=KINDS[kind],
        **joint_data({**row, "limits": _limits(row.get("limits", {}), where)}, where),
        **place,
    )
    body = inertia_from(row, where)
    # Tables also give a massless first link the one moment that matters, as the PUMA 560's do.
    body.reject_impossible(where, triangle=1.0 if body.mass == 0.0 else TRIANGLE_INEQUALITY_SLACK)
    return joint, Link(row.get("link", f"link{i}"), body)


def _angle(row: Mapping[str, Any], key: str, where: str) -> float:
    """The angle `key`, or `key_deg`; ten numbers under `theta` are inertial parameters, not an angle."""
    in_degrees, plain = row.get(f"{key}_deg"), row.get(key)
    if key == "theta" and _is_vector(plain):
        plain = None
    if in_degrees is not None and plain is not None:
        raise ModelError(f"both {key} and {key}_deg are given", where=where, expected="one")
    if in_degrees is not None:
        return float(np.deg2rad(number(in_degrees, f"{where}: {key}_deg")))
    return number(0.0 if plain is None else plain, f"{where}: {key}")


def inertia_from(row: Mapping[str, Any], where: str) -> Inertia:
    """The inertia that `mass`, `com`, `inertia` or ten numbers describe; what is not given is NaN."""
    ten = row.get("inertial")
    if ten is None and _is_vector(row.get("theta")):
        ten = row["theta"]
    centred = [key for key in ("mass", "com", "inertia") if row.get(key) is not None]
    if ten is not None and centred:
        cause = f"both ten inertial parameters and {', '.join(centred)} are given"
        raise ModelError(cause, where=where, expected="one of them", names=centred)
    try:
        return _body_about_centre(row) if ten is None else Inertia(ten)
    except ModelError as error:
        raise ModelError(f"{error}", where=where) from None


def _is_vector(value: Any) -> bool:
    """Whether this is a sequence (of inertial parameters) rather than one number or text (an angle)."""
    return isinstance(value, np.ndarray) or (isinstance(value, Sequence) and not isinstance(value, str))


def _body_about_centre(row: Mapping[str, Any]) -> Inertia:
    """Build a body from mass, com and tensor about it; a massless body needs neither of the other two."""
    mass = row.get("mass")
    if mass is None:
        return Inertia.unknown()
    mass = number(mass, "mass")
    absent = np.full((3, 3), np.nan if mass else 0.0)
    com, tensor = row.get("com"), row.get("inertia")
    return Inertia.from_com(mass, absent[0] if com is None else com, absent if tensor is None else tensor)


def _limits(value: Any, where: str) -> Any:
    """A pair (lower, upper) as a mapping; anything else as it is."""
    if isinstance(value, Limits | Mapping):
        return value
    try:
        lower, upper = value
    except (TypeError, ValueError):
        raise ModelError(where=f"{where}: limits", expected="(lower, upper) or a mapping", got=quote(value)) from None
    return {"lower": lower, "upper": upper}


def joint_data(table: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Limits, friction and drive of a joint, each given as it is or by its fields; absent ones are left out."""
    return {name: _data_from(kind, table[name], where, name) for name, kind in JOINT_DATA.items() if name in table}


def _data_from(kind: type, value: Any, where: str, name: str) -> Any:
    if isinstance(value, kind):
        return value
    known = [field.name for field in fields(kind)]
    if not isinstance(value, Mapping):
        raise ModelError(where=f"{where}: {name}", expected=f"a mapping of {', '.join(known)}", got=quote(value))
    reject_unknown(value, known, f"{where}: {name}")
    try:
        return kind(**value)
    except ModelError as error:
        raise ModelError(f"{error}", where=where) from None
