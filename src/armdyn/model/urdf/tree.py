"""The tree of links and joints in a URDF, and the serial chain that is chosen in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import NamedTuple
from xml.etree.ElementTree import Element

from armdyn.arrays import finite_vector
from armdyn.errors import MAX_LISTED, ModelError, check_choice
from armdyn.model.urdf.xml import number, text_attribute

KINDS = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic"}
OTHER_TYPES = ("fixed", "floating", "planar")
MAX_JOINTS = 1000  # of a chain: no arm comes near


class TreeJoint(NamedTuple):
    """A joint of the tree, its numbers not yet read."""

    name: str
    type: str
    parent: str
    child: str
    element: Element

    @property
    def moves(self) -> bool:
        """Whether the joint is anything but fixed."""
        return self.type != "fixed"

    @property
    def is_free(self) -> bool:
        """Whether the joint moves by itself: it is not fixed and mimics no other."""
        return self.moves and self.element.find("mimic") is None


class Mimic(NamedTuple):
    """A joint's `<mimic>`: its position is multiplier times the leader's plus offset."""

    leader: str
    multiplier: float
    offset: float


def mimic_of(joint: TreeJoint, file: str) -> Mimic | None:
    """Read what a joint mimics; None if nothing."""
    element = joint.element.find("mimic")
    if element is None:
        return None
    where = f"{file}: joint '{joint.name}'"
    numbers = (number(element, name, where, default) for name, default in (("multiplier", "1"), ("offset", "0")))
    return Mimic(text_attribute(element, "joint", where), *numbers)


@dataclass(frozen=True)
class Tree:
    """Links and joints by name; exactly one root, every other link the child of one joint."""

    where: str  # the file, for errors
    root: str
    links: dict[str, Element]
    parent: dict[str, TreeJoint]  # of a link: the joint above it
    children: dict[str, list[TreeJoint]] = field(repr=False)

    def below(self, link: str) -> Iterator[TreeJoint]:
        """Every joint below `link`, parents before children."""
        stack = list(reversed(self.children[link]))
        while stack:
            joint = stack.pop()
            yield joint
            stack.extend(reversed(self.children[joint.child]))

    def path(self, base: str, tip: str) -> list[TreeJoint]:
        """The joints from link `base` down to link `tip`."""
        for link in (base, tip):
            if link not in self.links:
                raise _unknown_link(self, link)
        joints: list[TreeJoint] = []
        link = tip
        while link != base:
            if link not in self.parent:
                cause = f"link '{tip}' is not below '{base}'; there is no chain between them"
                raise ModelError(cause, where=self.where, names=(tip, base))
            joints.append(self.parent[link])
            link = joints[-1].parent
        if sum(joint.moves for joint in joints) > MAX_JOINTS:
            cause = f"more than {MAX_JOINTS} moving joints from '{base}' to '{tip}'"
            raise ModelError(cause, where=self.where, names=(base, tip))
        return joints[::-1]


def build_tree(robot: Element, where: str) -> Tree:
    """The tree in a `<robot>` element, or a `ModelError` if it is not one."""
    links: dict[str, Element] = {}
    for element in robot.findall("link"):
        name = text_attribute(element, "name", f"{where}: link {len(links) + 1}")
        if name in links:
            raise ModelError(f"there are two links named '{name}'", where=where, remedy="rename one", names=(name,))
        links[name] = element
    if not links:
        raise ModelError("the robot has no links", where=where)
    joints = _joints(robot, links, where)
    parent: dict[str, TreeJoint] = {}
    children: dict[str, list[TreeJoint]] = defaultdict(list)
    for joint in joints:
        if joint.child in parent:
            raise ModelError(
                f"link '{joint.child}' hangs on two joints, '{parent[joint.child].name}' and '{joint.name}'",
                where=where,
                remedy="remove one of them: closed loops are not supported",
                names=(joint.child, parent[joint.child].name, joint.name),
            )
        parent[joint.child] = joint
        children[joint.parent].append(joint)
    roots = [name for name in links if name not in parent]
    if len(roots) != 1:
        several = f"links {_list(roots)} are children of no joint"
        cause = several if roots else "every link is the child of a joint, so the joints form a loop"
        raise ModelError(cause, where=where, expected="one such link, the base", names=roots)
    tree = Tree(where, roots[0], links, parent, children)
    if unreached := set(links) - {joint.child for joint in tree.below(tree.root)} - {tree.root}:
        raise ModelError(f"links {_list(sorted(unreached))} form a closed loop", where=where, expected="a tree")
    return tree


def _joints(robot: Element, links: dict[str, Element], where: str) -> list[TreeJoint]:
    joints: dict[str, TreeJoint] = {}
    for element in robot.findall("joint"):
        name = text_attribute(element, "name", f"{where}: joint {len(joints) + 1}")
        here = f"{where}: joint '{name}'"
        if name in joints:
            raise ModelError(f"there are two joints named '{name}'", where=where, remedy="rename one", names=(name,))
        kind = text_attribute(element, "type", here)
        check_choice(here, "type", kind, (*KINDS, *OTHER_TYPES), ModelError)
        ends = []
        for end in ("parent", "child"):
            link = element.find(end)
            if link is None:
                raise ModelError(f"lacks its <{end} link=...>", where=here)
            ends.append(text_attribute(link, "link", here))
            if ends[-1] not in links:
                raise ModelError(f"its {end} link {ends[-1]!r:.60} is not in the file", where=here, names=(ends[-1],))
        joints[name] = TreeJoint(name, kind, ends[0], ends[1], element)
    return list(joints.values())


class Chain(NamedTuple):
    """The joints from `base` to `tip`, or all below `base`; `guess` says how, where the tree left a choice."""

    base: str
    tip: str
    joints: list[TreeJoint]  # parents before children
    guess: str = ""


def _no_motion(tree: Tree, base: str) -> ModelError:
    if not any(joint.moves for joint in tree.parent.values()):
        return ModelError("the file has no revolute or prismatic joint", where=tree.where, names=(base,))
    cause = f"there is no moving joint below link '{base}'"
    return ModelError(cause, where=tree.where, remedy="choose another base=", names=(base,))


def whole_tree(tree: Tree, base: str) -> Chain:
    """All joints below `base`; the tip is the end of the branch with most moving joints, the first of equals."""
    if base not in tree.links:
        raise _unknown_link(tree, base)
    joints = list(tree.below(base))
    moving = [joint for joint in joints if joint.moves]
    if not moving:
        raise _no_motion(tree, base)
    if len(moving) > MAX_JOINTS:
        raise ModelError(f"more than {MAX_JOINTS} moving joints below '{base}'", where=tree.where, names=(base,))
    length = {base: 0}
    for joint in joints:
        length[joint.child] = length[joint.parent] + joint.moves
    tip = max((joint.child for joint in moving), key=length.__getitem__)
    while len(tree.children[tip]) == 1:
        tip = tree.children[tip][0].child
    return Chain(base, tip, joints)


def choose_chain(tree: Tree, base: str | None, tip: str | None, branches: str = "refuse") -> Chain:
    """The chain from `base` (default: the root) to `tip`, or the whole tree.

    Without `tip` the chain follows the moving joints, then fixed joints while there is only one way
    on. Where moving joints fork, a chain longer than every branch below the fork is taken to be an
    arm with a gripper and ends at the fork; of any other fork the whole tree is taken. It is always
    taken where branches are to be kept.
    """
    base = tree.root if base is None else base
    if branches == "keep":
        if tip is not None:
            cause = "tip= chooses one chain and branches='keep' the whole tree"
            raise ModelError(cause, where=tree.where, remedy="give one")
        return whole_tree(tree, base)
    if tip is not None:
        return Chain(base, tip, tree.path(base, tip))
    if base not in tree.links:
        raise _unknown_link(tree, base)
    depth = _moving_depth(tree)
    link, length = base, 0
    while ways := [joint for joint in tree.children[link] if depth[joint.name]]:
        if len(ways) > 1:
            longest = max(depth[joint.name] for joint in ways)
            if longest >= length and branches == "lump":
                return whole_tree(tree, base)
            return _chain_to_fork(tree, base, link, length, longest)
        length += ways[0].moves
        link = ways[0].child
    if not length:
        raise _no_motion(tree, base)
    while len(tree.children[link]) == 1:
        link = tree.children[link][0].child
    return Chain(base, link, tree.path(base, link))


def reject_hold(tree: Tree, chain: Chain, hold: Mapping[str, float]) -> None:
    """Raise where a joint to hold is not in the file, or is one of the arm's own, or its position is no number."""
    finite_vector(list(hold.values()), len(hold), f"{tree.where}: hold")
    names = {joint.name for joint in tree.parent.values() if joint.moves}
    moving = {joint.name for joint in chain.joints}
    for name in [one for one in hold if one not in names - moving]:
        why = "moves with the arm" if name in moving else "is no moving joint of the file"
        cause = f"hold names joint '{name}', which {why}"
        raise ModelError(cause, where=tree.where, expected="joints off the chain", names=(name,))


def _moving_depth(tree: Tree) -> dict[str, int]:
    """For every joint the most moving joints on one path that begins with it."""
    depth: dict[str, int] = {}
    for joint in reversed(list(tree.below(tree.root))):
        below = max((depth[child.name] for child in tree.children[joint.child]), default=0)
        depth[joint.name] = below + joint.moves
    return depth


def _chain_to_fork(tree: Tree, base: str, link: str, length: int, branch: int) -> Chain:
    """The chain that ends at a fork, if what follows is short enough for fingers."""
    ends = [joint.child for joint in tree.below(base) if not tree.children[joint.child]]
    reach = {end: sum(joint.moves for joint in tree.path(base, end)) for end in ends}
    leaves = _list(sorted((end for end in ends if reach[end]), key=lambda end: -reach[end]))
    if branch >= length:
        remedy = f"choose a chain with tip= (leaves: {leaves})"
        raise ModelError(f"moving joints fork at link '{link}'", where=tree.where, remedy=remedy, names=(link,))
    guess = f"the chain ends where moving joints fork, at link '{link}'; choose with tip= (leaves: {leaves})"
    return Chain(base, link, tree.path(base, link), guess)


def _unknown_link(tree: Tree, name: str) -> ModelError:
    """The error for a link that is not in the file, with the nearest name that is."""
    near = get_close_matches(name, tree.links, n=1)
    hint = f"did you mean '{near[0]}'? " if near else ""
    return ModelError(
        f"there is no link {name!r}", where=tree.where, remedy=f"{hint}links: {_list(tree.links)}", names=(name,)
    )


def _list(names: Iterable[str]) -> str:
    """Names for an error, cut after a dozen."""
    listed = list(names)
    return ", ".join(f"{name:.60}" for name in listed[:MAX_LISTED]) + (", ..." if len(listed) > MAX_LISTED else "")
