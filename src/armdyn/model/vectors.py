"""Arms from axes and vectors, as read from a drawing.

Source: Vukobratovic and Potkonjak (1979), with errata 3 and 4. Member i is described by the
joint axis e_i and the vectors r_{i-1,i} (from joint i back to the mass centre T_{i-1}) and r_ii (from
joint i to the mass centre T_i), each in the axes of the member it belongs to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armdyn.arrays import finite_vector, unit_vector
from armdyn.errors import ModelError, check_choice, quote
from armdyn.model.arm import Arm, Link
from armdyn.model.dh import JOINT_DATA, inertia_from, joint_data, reject_unknown
from armdyn.model.joint import Joint
from armdyn.precision import NEGLIGIBLE
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.transform import transform

KINDS = ("R", "P", "RP")
KEYS = (
    "name", "kind", "e_prev", "e_own", "r_prev", "r_own", "a_prev", "a_own",
    "mass", "inertia", "turn", "slide",
)  # fmt: skip
SYMBOLS = {"m": "mass", "J": "inertia"}  # the source's own letters are understood as well


def arm_from_vectors(members: Sequence[Mapping[str, Any]], **options: Any) -> Arm:
    """An arm from members given by their axes and vectors.

    The frame of every member lies at its mass centre, with the axes in which its vectors are given.
    At angle zero the two vectors of a joint lie in one plane with the axis, on opposite sides of it:
    the straight position of the source's (5).

    Parameters
    ----------
    members : sequence of mappings
        One a member, from the base. Keys:

        * `kind`: "R" (rotation about e), "P" (translation along e) or, the default, "RP": a rotation
          about e and then a translation along `r_own`, two coordinates phi, x with a massless
          link between them;
        * `e_prev`, `e_own` (3,): the joint axis in the axes of the previous member and of this one;
        * `r_prev` (3,): from the joint to the previous member's mass centre (the base frame's
          origin for the first), in the previous member's axes [m];
        * `r_own` (3,): from the joint to this member's mass centre, in its own axes [m]; for "RP"
          the direction of the translation, whose length does not matter;
        * `a_prev`, `a_own` (3,): where `r_prev` or `r_own` lies along the axis and so does not show
          where angle zero is, the directions that coincide there;
        * `mass` [kg], `inertia` about the mass centre: (3, 3), or the three principal moments
          [kg m²]; the source's letters `m` and `J` are understood too;
        * `turn`, `slide`: mappings with `limits`, `friction` and `drive` of the rotation and of
          the translation;
        * `name`.
    **options
        Those of `Arm.from_vectors`; None is the default of `Arm`. `base_pose` and `tool_pose` are the poses of the
        fixed frame, and of the tip in the last member's frame.

    Returns
    -------
    Arm
        Coordinates in the order phi1, x1, phi2, ...
    """
    if not isinstance(members, Sequence):
        raise ModelError(where="from_vectors", expected="a sequence of members", got=type(members).__name__)
    pairs = [pair for i, member in enumerate(members, start=1) for pair in _pairs(member, i)]
    present = {key: value for key, value in options.items() if value is not None}
    return Arm(tuple(joint for joint, _ in pairs), tuple(link for _, link in pairs), **present)


def _pairs(member: Mapping[str, Any], i: int) -> list[tuple[Joint, Link]]:
    """The joint and link of a member, or the two of a member that turns and slides."""
    where = f"member {i}"
    if not isinstance(member, Mapping):
        raise ModelError(where=where, expected="a mapping of axes and vectors", got=quote(member))
    member = {SYMBOLS.get(key, key): value for key, value in member.items() if value is not None}
    reject_unknown(member, KEYS, where)
    kind = member.get("kind", "RP")
    check_choice(where, "kind", kind, KINDS, ModelError)
    name = member.get("name", f"member{i}")
    link = Link(name, _inertia(member, where))
    e_prev, e_own = _unit(member, "e_prev", where), _unit(member, "e_own", where)
    r_prev, r_own = _vector(member, "r_prev", where), _vector(member, "r_own", where)
    # (5): at angle zero -r_{i-1,i} and r_ii point the same way, seen along the axis.
    A = _triad(e_prev, -r_prev, member, "a_prev", where) @ _triad(e_own, r_own, member, "a_own", where).T  # (7)
    before = transform(translation=-r_prev)
    turn, slide = _data(member, "turn", where), _data(member, "slide", where)
    if kind != "RP":
        what, data = ("revolute", turn) if kind == "R" else ("prismatic", slide)
        return [(Joint(f"{name}_joint", what, e_prev, before, transform(A, A @ r_own), **data), link)]
    carrier = Link(f"{name}_carrier", Inertia.zero())
    return [
        (Joint(f"{name}_turn", "revolute", e_prev, before, transform(A), **turn), carrier),
        (Joint(f"{name}_slide", "prismatic", _unit(member, "r_own", where), **slide), link),
    ]


def _triad(e: NDArray, r: NDArray, member: Mapping[str, Any], key: str, where: str) -> NDArray:
    """The columns e, a, l of (5), (6): the axis, the direction of `r` across it, and their normal."""
    r = _vector(member, key, where) if key in member else r
    a = np.cross(e, np.cross(r, e))
    length = np.linalg.norm(a)
    # A vector so close to the axis does not tell where zero angle is.
    if length <= NEGLIGIBLE * np.linalg.norm(r):
        cause = "the vector lies along the joint axis and does not show where angle zero is"
        raise ModelError(cause, where=where, remedy=f"give a direction across the axis as '{key}'")
    return np.column_stack([e, a / length, np.cross(e, a / length)])


def _inertia(member: Mapping[str, Any], where: str) -> Inertia:
    """Return the inertia of a body whose frame lies at its mass centre."""
    if "mass" not in member and "inertia" in member:
        raise ModelError("inertia is given, but mass is not", where=where)
    tensor: Any = member.get("inertia")
    if isinstance(tensor, Sequence | np.ndarray) and len(tensor) == 3 and not np.iterable(tensor[0]):
        tensor = np.diag(_vector(member, "inertia", where))
    body = {"mass": member.get("mass"), "com": np.zeros(3), "inertia": tensor}
    inertia = inertia_from(body if "mass" in member else {}, where)
    inertia.reject_impossible(where)
    return inertia


def _data(member: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    data = member.get(key, {})
    if not isinstance(data, Mapping) or any(name not in JOINT_DATA for name in data):
        raise ModelError(where=f"{where}: {key}", expected="a mapping of limits, friction and drive", got=quote(data))
    return joint_data(data, f"{where}: {key}")


def _vector(member: Mapping[str, Any], key: str, where: str) -> NDArray:
    if key not in member:
        raise ModelError(f"lacks '{key}'", where=where, expected="three numbers", names=(key,))
    return finite_vector(member[key], 3, f"{where}: {key}")


def _unit(member: Mapping[str, Any], key: str, where: str) -> NDArray:
    return unit_vector(_vector(member, key, where), f"{where}: {key}")
