"""Which point and axes a Jacobian or a velocity is about: the tip, or a point of a link."""

from __future__ import annotations

from typing import Any

from armdyn.errors import ShapeError, check_choice
from armdyn.model.arm import Arm
from armdyn.trace.symbols import Symbol, ca

AXES = ("base", "tip")


def link_index(arm: Arm, link: Any, what: str) -> int:
    """The link that carries the point, counted from 0; the last one carries the tip."""
    if link is None:
        return arm.n - 1
    if isinstance(link, str):
        hint = f"arm.link_names.index({link!r})" if link in arm.link_names else f"links: {', '.join(arm.link_names)}"
        raise ShapeError(f"{what}: expected link as a number from 0 to {arm.n - 1}, got {link!r}; {hint}")
    if not isinstance(link, int) or not -arm.n <= link < arm.n:
        raise ShapeError(f"{what}: expected link from 0 to {arm.n - 1} for arm '{arm.name}', got {link!r}")
    return link % arm.n


def point_frame(
    arm: Arm, frames: list[tuple[Symbol, Symbol]], point: Any, link: Any, what: str
) -> tuple[Symbol, Symbol]:
    """Symbols: rotation of the tip (or the link) and position of the point fixed in it, in base axes."""
    R, p = frames[link_index(arm, link, what)]
    if link is None:
        R_tool, p_tool = arm.tool
        R, p = ca.mtimes(R, R_tool), p + ca.mtimes(R, p_tool)
    return R, p if point is None else p + ca.mtimes(R, point)


def in_axes(R: Symbol, columns: Symbol, axes: str, what: str) -> Symbol:
    """[linear; angular] columns in base axes, turned into the axes asked for."""
    check_choice(what, "axes", axes, AXES, ShapeError)
    if axes == "base":
        return columns
    return ca.vertcat(ca.mtimes(R.T, columns[:3, :]), ca.mtimes(R.T, columns[3:, :]))
