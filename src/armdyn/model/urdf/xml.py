"""URDF files as XML: parsed without trust in their size, depth, entities or numbers."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

import numpy as np
from numpy.typing import NDArray

from armdyn.errors import ModelError, ReadError
from armdyn.files import MAX_NESTED, read_bytes
from armdyn.spatial.rotation import from_quaternion, from_rpy
from armdyn.spatial.transform import transform

MAX_ELEMENTS = 100_000  # the largest robot descriptions have some ten thousand
# Products of four such numbers stay finite; no length, mass or moment of an arm comes near.
MAX_NUMBER = 1e60


def read_robot(path: str | os.PathLike[str], comments: bool = False) -> Element:
    """The `<robot>` element of a URDF file, or a `ReadError` that says why there is none."""
    return parse_robot(read_bytes(path), Path(path).name, comments)


def parse_robot(data: bytes, where: str, comments: bool = False) -> Element:
    """The `<robot>` element of a URDF's bytes; `where` names the file in errors."""
    root = parse_xml(data, where, comments)
    if root.tag != "robot":
        raise ReadError(where=where, expected="a URDF with root element <robot>", got=f"<{root.tag:.40}>")
    return root


def parse_xml(data: bytes, where: str, comments: bool = False) -> Element:
    """The root element of a file's bytes, bounded in size and depth, without entities."""
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import DefusedXMLParser

    parser = DefusedXMLParser(target=_BoundedBuilder(where, comments), forbid_dtd=True)
    try:
        parser.feed(data)
        return parser.close()
    except ParseError as error:
        remedy = "is the file truncated, or no robot description?"
        raise ReadError(f"not well-formed XML ({error})", where=where, remedy=remedy) from None
    except DefusedXmlException as error:
        kind = type(error).__name__.removesuffix("Forbidden")
        raise ReadError(f"XML with a {kind} declaration is rejected; a robot needs none", where=where) from None
    except (LookupError, UnicodeError) as error:
        raise ReadError(f"the encoding is not understood ({error})", where=where, remedy="save it as UTF-8") from None
    except ValueError as error:
        if isinstance(error, ReadError):
            raise
        raise ReadError(f"not readable XML ({error})", where=where) from None


class _BoundedBuilder(TreeBuilder):
    """Builds the tree, drops namespaces, and stops at a size that no robot has."""

    def __init__(self, where: str, comments: bool) -> None:
        super().__init__(insert_comments=comments)
        self.where, self.depth, self.count = where, 0, 0

    def start(self, tag: Any, attributes: Any) -> Any:
        self.depth += 1
        self.count += 1
        if self.depth > MAX_NESTED or self.count > MAX_ELEMENTS:
            raise ReadError(f"more than {MAX_NESTED} levels or {MAX_ELEMENTS} elements; not a robot", where=self.where)
        namespace, _, local = tag.rpartition("}")
        if "xacro" in namespace:
            raise ReadError(f"holds xacro macros (<xacro:{local:.40}>)", where=self.where, remedy="name it .xacro")
        return super().start(local, attributes)

    def end(self, tag: Any) -> Any:
        self.depth -= 1
        return super().end(tag.rpartition("}")[2])


def text_attribute(element: Element, attribute: str, where: str) -> str:
    """A text attribute that must be there."""
    value = (element.get(attribute) or "").strip()
    if not value:
        raise ModelError(f"<{element.tag}> lacks the attribute '{attribute}'", where=where, names=(attribute,))
    return value


def numbers(element: Element, attribute: str, count: int, where: str, default: str | None = None) -> list[float]:
    """`count` finite numbers from a blank-separated attribute."""
    words = element.get(attribute, default)
    if words is None:
        raise ModelError(f"<{element.tag}> lacks the attribute '{attribute}'", where=where, names=(attribute,))
    values = [_float(word) for word in words.split()]
    if len(values) != count or not all(abs(value) <= MAX_NUMBER for value in values):
        expected = "a number" if count == 1 else f"{count} numbers"
        raise ModelError(where=where, expected=f"{expected} in <{element.tag} {attribute}=...>", got=f"{words!r:.60}")
    return values


def number(element: Element, attribute: str, where: str, default: str | None = None) -> float:
    """One finite number from an attribute."""
    return numbers(element, attribute, 1, where, default)[0]


def _float(word: str) -> float:
    """The number a word means, or NaN; unlike Python's own rule without underscores."""
    try:
        return math.nan if "_" in word else float(word)
    except ValueError:
        return math.nan


def text(values: Iterable[float]) -> str:
    """Numbers with all their digits; whole ones without a point."""
    numbers_ = [float(x) for x in values]
    if any(abs(x) > MAX_NUMBER for x in numbers_):
        cause = f"a length, mass or moment of {max(numbers_, key=abs):g} is too large to be read back"
        raise ModelError(cause, remedy="wrong unit?")
    return " ".join(repr(int(x)) if x == int(x) and abs(x) < 1e15 else repr(x) for x in numbers_)


def origin(element: Element, where: str) -> NDArray:
    """The transform (4, 4) in an element's `<origin>`; the identity if it has none."""
    pose = element.find("origin")
    if pose is None:
        return np.eye(4)
    xyz = numbers(pose, "xyz", 3, where, "0 0 0")
    if "quat_xyzw" not in pose.attrib:
        return transform(from_rpy(numbers(pose, "rpy", 3, where, "0 0 0")), xyz)
    if "rpy" in pose.attrib:
        raise ModelError("<origin> has both rpy and quat_xyzw", where=where, expected="one of them")
    x, y, z, w = numbers(pose, "quat_xyzw", 4, where)
    if not abs((length := math.hypot(x, y, z, w)) - 1) < 1e-3:
        raise ModelError(f"<origin quat_xyzw=...> has length {length:.4g}", where=where, expected="1")
    return transform(from_quaternion([w, x, y, z]), xyz)


def axis(element: Element, where: str) -> NDArray:
    """The direction in a joint's `<axis>`, of any length but zero; x if it has none."""
    direction_element = element.find("axis")
    direction = np.array(
        [1.0, 0.0, 0.0] if direction_element is None else numbers(direction_element, "xyz", 3, where, "1 0 0")
    )
    if not np.linalg.norm(direction) > 0:
        raise ModelError("the axis has length zero", where=where, expected="a direction")
    return direction


def note_doubles(element: Element, what: str, notes: list[str]) -> None:
    """URDF readers take the first of doubled elements; the user is told so in `notes`."""
    for tag in ("origin", "axis", "limit", "dynamics", "inertial"):
        if len(element.findall(tag)) > 1:
            notes.append(f"{what} has several <{tag}> elements; the first is used")
