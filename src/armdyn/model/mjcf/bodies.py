"""The bodies of a compiled MJCF model by name: their tree, poses, inertias and joints."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import NamedTuple
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from armdyn.model.mjcf.source import MjcfSource
from armdyn.model.urdf.inertia import NOWHERE, LumpedBody
from armdyn.model.urdf.tree import Tree, TreeJoint
from armdyn.spatial.inertia import Inertia
from armdyn.spatial.rotation import from_axis_angle, from_quaternion
from armdyn.spatial.transform import inverse, transform

FREE, BALL, SLIDE, HINGE = range(4)  # MuJoCo's kinds of joints
TYPES = {FREE: "fixed", BALL: "ball", SLIDE: "prismatic", HINGE: "revolute"}  # a free joint is held: so the base stands


class MjcfBodies:
    """The bodies of a compiled model by name, their poses, inertias and joints."""

    def __init__(self, source: MjcfSource) -> None:
        self.source, self.model, self.where = source, source.model, source.where
        m = self.model
        self.names = [m.body(i).name or f"body{i}" for i in range(m.nbody)]
        self.joint_names = [m.joint(i).name or f"joint{i}" for i in range(m.njnt)]
        self.tree = self._tree()

    def joints(self, body: int) -> range:
        """Indices of a body's joints, from its parent outwards."""
        first = int(self.model.body_jntadr[body])
        return range(first, first + int(self.model.body_jntnum[body]))

    def pose(self, body: int) -> NDArray:
        """Pose (4, 4) of a body in its parent with its joints at their initial positions."""
        return _pose(self.model.body_pos[body], self.model.body_quat[body])

    def initial(self, joint: str) -> float:
        """Initial position of a hinge or slide [rad or m]."""
        return float(self.model.qpos0[self.model.jnt_qposadr[self.joint_names.index(joint)]])

    def pose_before(self, step: TreeJoint) -> NDArray:
        """Pose (4, 4) of a step's child in its parent with its joint at the initial position."""
        if step.name not in self.joint_names:
            return self.pose(self.names.index(step.child))
        j = self.joint_names.index(step.name)
        body = int(self.model.jnt_bodyid[j])
        return self.pose(body) if self.joints(body)[0] == j else np.eye(4)

    def held_pose(self, step: TreeJoint, held: Mapping[str, float]) -> NDArray:
        """Return the same with the joint where it is held: initially, or at its position in `held`."""
        T = self.pose_before(step)
        if step.name not in held:
            return T
        j = self.joint_names.index(step.name)
        shift = float(held[step.name]) - self.initial(step.name)
        axis, at = self.model.jnt_axis[j], transform(None, self.model.jnt_pos[j])
        if step.type == "prismatic":
            return T @ transform(None, shift * axis)
        return T @ at @ transform(from_axis_angle(axis, shift)) @ inverse(at)

    def inertia(self, name: str) -> Inertia:
        """A body's own inertia in its frame; unknown where it hangs on meshes that are absent."""
        m, body = self.model, self.names.index(name)
        if name in self.source.without_inertia:
            return Inertia.unknown()
        R = from_quaternion(m.body_iquat[body])
        return Inertia.from_com(m.body_mass[body], m.body_ipos[body], R @ np.diag(m.body_inertia[body]) @ R.T)

    def link(self, joint: int) -> str:
        """Name of the link behind a joint: the body, or one without mass between two joints of a body."""
        body = int(self.model.jnt_bodyid[joint])
        last = self.joints(body)[-1] == joint
        return self.names[body] if last else f"{self.names[body]} behind {self.joint_names[joint]}"

    def riders(self, link: str, chain: Collection[str], held: Mapping[str, float] = NOWHERE) -> list[LumpedBody]:
        """Bodies that move with a link, itself the first; not itself if it is between two joints of a body."""
        lumped = [LumpedBody(link, np.eye(4), False)]
        for place in lumped:  # grows while it is walked
            for step in self.tree.children[place.link]:
                if step.name not in chain:
                    T = place.T @ self.held_pose(step, held)
                    lumped.append(LumpedBody(step.child, T, place.frozen or step.moves))
        return [place for place in lumped if place.link in self.names]

    def _tree(self) -> Tree:
        children: dict[str, list[TreeJoint]] = defaultdict(list)
        parent, links = {}, dict.fromkeys(self.names, Element("body"))
        for body in range(1, self.model.nbody):
            above = self.names[int(self.model.body_parentid[body])]
            kinds = [TYPES[int(self.model.jnt_type[j])] for j in self.joints(body)]
            names = [(self.joint_names[j], self.link(j)) for j in self.joints(body)]
            steps = [(name, kind, child) for (name, child), kind in zip(names, kinds, strict=True)]
            for name, kind, child in steps or [(f"fixed {self.names[body]}", "fixed", self.names[body])]:
                joint = TreeJoint(name, kind, above, child, Element("joint"))
                links[child], parent[child] = Element("body"), joint
                children[above].append(joint)
                above = child
        return Tree(self.where, self.names[0], links, parent, children)


class Site(NamedTuple):
    """A site: its body, its pose there."""

    name: str
    body: str
    T: NDArray


def sites(bodies: MjcfBodies) -> list[Site]:
    """Sites that have names other than those of bodies."""
    m = bodies.model
    named = [Site(m.site(i).name, bodies.names[int(m.site_bodyid[i])], site_pose(bodies, i)) for i in range(m.nsite)]
    return [site for site in named if site.name and site.name not in bodies.names]


def site_pose(bodies: MjcfBodies, site: int) -> NDArray:
    """Pose (4, 4) of a site in its body."""
    return _pose(bodies.model.site_pos[site], bodies.model.site_quat[site])


def _pose(position: NDArray, quaternion: NDArray) -> NDArray:
    return transform(from_quaternion(quaternion), position)
