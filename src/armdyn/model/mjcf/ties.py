"""What ties the joints of an MJCF model to each other: linear relations, and loops that are not linear."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from armdyn.errors import ModelError
from armdyn.model.mjcf.bodies import BALL, MjcfBodies
from armdyn.model.mjcf.source import import_mujoco
from armdyn.model.urdf.tree import Chain
from armdyn.precision import NEGLIGIBLE

ACTS = ("stiffness", "damping", "frictionloss", "armature", "limited")  # by which a tendon exerts forces of its own


class Relation(NamedTuple):
    """An active equality: the sum of `ratio * position` over joints is `constant`; it moves `follower` first."""

    name: str
    ratios: Mapping[str, float]
    constant: float
    follower: str


class Loop(NamedTuple):
    """Joints that something ties in another way than linearly, or one that has several freedoms."""

    name: str
    joints: frozenset[str]
    is_ball: bool = False


class TieRule(NamedTuple):
    """Position of a joint: offset + sum of ratio * position of other joints."""

    ratios: dict[str, float]
    offset: float


class Ties(NamedTuple):
    """Joints that follow in an arm, and those that are held because all that they follow is."""

    rules: dict[str, TieRule]  # of joints that follow joints of the arm
    held: dict[str, float]  # positions of joints that do not move with the arm, where these are not the initial ones


def tie_joints(bodies: MjcfBodies, chain: Chain, hold: Mapping[str, float]) -> Ties:
    """Resolve which joints of the arm follow which; a loop that is not linear is rejected by name."""
    mine = {step.name for step in chain.joints if step.moves}
    for loop in loops(bodies):
        if tied := sorted(loop.joints & mine, key=bodies.joint_names.index):
            why = "has three freedoms" if loop.is_ball else f"ties {_some(tied)} in a way that is not linear"
            raise ModelError(f"{loop.name} {why}", where=bodies.where, remedy=_avoid(bodies, chain))
    rules, held = {}, dict(hold)
    for name, rule in resolve(relations(bodies), bodies).items():
        if name in hold:
            continue
        leaders = {leader: ratio for leader, ratio in rule.ratios.items() if leader in mine}
        apart = {leader: ratio for leader, ratio in rule.ratios.items() if leader not in mine}
        at = {leader: float(hold.get(leader, bodies.initial(leader))) for leader in apart}
        offset = rule.offset + sum(ratio * at[leader] for leader, ratio in apart.items())
        if name in mine and leaders:
            rules[name] = TieRule(leaders, offset)
        elif name in mine or not hold.keys().isdisjoint(apart):
            held[name] = offset
    return Ties(rules, held)


def relations(bodies: MjcfBodies) -> list[Relation]:
    """The file's active linear equalities of joints and fixed tendons."""
    return [one for e in range(bodies.model.neq) if isinstance(one := _equality(bodies, e), Relation)]


def loops(bodies: MjcfBodies) -> list[Loop]:
    """Ball joints, equalities that are not linear, and spatial tendons that exert forces of their own."""
    m = bodies.model
    balls = [name for j, name in enumerate(bodies.joint_names) if m.jnt_type[j] == BALL]
    closed = [Loop(f"ball joint '{name}'", frozenset((name,)), is_ball=True) for name in balls]
    closed += [one for e in range(m.neq) if isinstance(one := _equality(bodies, e), Loop)]
    for t in range(m.ntendon):
        if not is_fixed(m, t) and acts(m, t) and spring_ends(m, t) is None:
            closed.append(Loop(f"spatial tendon '{tendon_name(m, t)}'", _spanned(bodies, t)))
    return closed


def resolve(ties: list[Relation], bodies: MjcfBodies) -> dict[str, TieRule]:
    """Solve the relations for as many joints, in terms of those that remain."""
    rules: dict[str, TieRule] = {}
    for tie in ties:
        row, constant = _substituted(tie.ratios, rules), tie.constant
        constant -= sum(ratio * rules[name].offset for name, ratio in tie.ratios.items() if name in rules)
        if not row:
            if abs(constant) > NEGLIGIBLE:
                cause = f"{tie.name} contradicts the equalities before it"
                raise ModelError(cause, where=bodies.where, remedy="remove one of them")
            continue
        pivot = tie.follower if tie.follower in row else max(row, key=bodies.joint_names.index)
        scale = row.pop(pivot)
        rules = {name: _with(rule, pivot, row, constant, scale) for name, rule in rules.items()}
        rules[pivot] = TieRule({name: -ratio / scale for name, ratio in row.items()}, constant / scale)
    return rules


def _substituted(ratios: Mapping[str, float], rules: Mapping[str, TieRule]) -> dict[str, float]:
    """A sum of positions in terms of joints that follow none."""
    total: dict[str, float] = {}
    for name, ratio in ratios.items():
        for leader, share in rules[name].ratios.items() if name in rules else ((name, 1.0),):
            total[leader] = total.get(leader, 0.0) + ratio * share
    return {name: ratio for name, ratio in total.items() if abs(ratio) > NEGLIGIBLE}


def _with(rule: TieRule, pivot: str, row: Mapping[str, float], constant: float, scale: float) -> TieRule:
    """A rule without the joint `pivot`, which follows others now."""
    if pivot not in rule.ratios:
        return rule
    ratios = dict(rule.ratios)
    share = ratios.pop(pivot) / scale
    for name, ratio in row.items():
        ratios[name] = ratios.get(name, 0.0) - share * ratio
    return TieRule({name: ratio for name, ratio in ratios.items() if ratio}, rule.offset + share * constant)


def _equality(bodies: MjcfBodies, e: int) -> Relation | Loop | None:
    """One equality of the file; None where it is not active or ties nothing that moves."""
    m, mujoco = bodies.model, import_mujoco()
    kind, name = int(m.eq_type[e]), equality_name(m, e)
    if not m.eq_active0[e]:
        return None
    first, second = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
    if kind in (mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtEq.mjEQ_WELD):
        at_sites = int(m.eq_objtype[e]) == int(mujoco.mjtObj.mjOBJ_SITE)
        ends = [int(m.site_bodyid[k]) if at_sites else k for k in (first, second)]
        word = "connect" if kind == mujoco.mjtEq.mjEQ_CONNECT else "weld"
        # A mocap body drags what is tied to it.
        tied = frozenset() if any(m.body_mocapid[end] >= 0 for end in ends) else _between(bodies, ends)
        return Loop(f"{word} '{name}'", tied) if tied else None
    if kind not in (mujoco.mjtEq.mjEQ_JOINT, mujoco.mjtEq.mjEQ_TENDON):
        return None
    is_joint = kind == mujoco.mjtEq.mjEQ_JOINT
    sums = [_joint_sum if is_joint else _tendon_sum for _ in range(1 if second < 0 else 2)]
    members = [take(bodies, k) for take, k in zip(sums, (first, second), strict=False)]
    shift, slope, *higher = (float(x) for x in m.eq_data[e, :5])
    if any(one is None for one in members) or any(higher):
        tied = frozenset(name for one in members if one for name in one)
        spanned = [] if is_joint else [_spanned(bodies, k) for k in (first, second) if k >= 0]
        return Loop(f"equality '{name}'", tied.union(*spanned))
    ratios = dict(members[0] or {})
    follower = list(ratios)[-1]
    for joint, ratio in (members[1] or {}).items() if len(members) > 1 else ():
        ratios[joint] = ratios.get(joint, 0.0) - slope * ratio
    constant = shift + sum(ratio * bodies.initial(joint) for joint, ratio in ratios.items())
    return Relation(f"equality '{name}'", ratios, constant, follower)


def _joint_sum(bodies: MjcfBodies, j: int) -> dict[str, float]:
    return {bodies.joint_names[j]: 1.0}


def _tendon_sum(bodies: MjcfBodies, t: int) -> dict[str, float] | None:
    """The joints of a fixed tendon and their coefficients; None of a spatial one."""
    m = bodies.model
    if not is_fixed(m, t):
        return None
    first = int(m.tendon_adr[t])
    wraps = range(first, first + int(m.tendon_num[t]))
    return {bodies.joint_names[int(m.wrap_objid[w])]: float(m.wrap_prm[w]) for w in wraps}


def is_fixed(m: Any, t: int) -> bool:
    """Whether a tendon is a sum of joint positions."""
    return bool(m.wrap_type[int(m.tendon_adr[t])] == import_mujoco().mjtWrap.mjWRAP_JOINT)


def acts(m: Any, t: int) -> bool:
    """Whether a tendon exerts forces without an actuator."""
    return any(float(getattr(m, f"tendon_{what}")[t]) for what in ACTS if hasattr(m, f"tendon_{what}"))


def spring_ends(m: Any, t: int) -> tuple[int, int] | None:
    """The two sites of a spatial tendon that is a plain spring between them; None of any other."""
    first, count = int(m.tendon_adr[t]), int(m.tendon_num[t])
    wraps = range(first, first + count)
    if count != 2 or any(m.wrap_type[w] != import_mujoco().mjtWrap.mjWRAP_SITE for w in wraps):
        return None
    shortest, longest = m.tendon_lengthspring[t]
    others = any(float(getattr(m, f"tendon_{what}")[t]) for what in ACTS[1:] if hasattr(m, f"tendon_{what}"))
    bends = hasattr(m, "tendon_stiffnesspoly") and m.tendon_stiffnesspoly[t].any()
    if others or bends or shortest != longest or not m.tendon_stiffness[t]:
        return None
    return int(m.wrap_objid[first]), int(m.wrap_objid[first + 1])


def equality_name(m: Any, e: int) -> str:
    """Name of an equality, or its number."""
    return m.equality(e).name or f"equality{e}"


def tendon_name(m: Any, t: int) -> str:
    """Name of a tendon, or its number."""
    return m.tendon(t).name or f"tendon{t}"


def tendon_bodies(bodies: MjcfBodies, t: int) -> list[int]:
    """Bodies that a spatial tendon passes, in its order."""
    m, kinds = bodies.model, import_mujoco().mjtWrap
    first, bodies_on_tendon = int(m.tendon_adr[t]), []
    for w in range(first, first + int(m.tendon_num[t])):
        kind, k = int(m.wrap_type[w]), int(m.wrap_objid[w])
        if kind == kinds.mjWRAP_SITE:
            bodies_on_tendon.append(int(m.site_bodyid[k]))
        elif kind in (kinds.mjWRAP_SPHERE, kinds.mjWRAP_CYLINDER):
            bodies_on_tendon.append(int(m.geom_bodyid[k]))
    return bodies_on_tendon


def _spanned(bodies: MjcfBodies, t: int) -> frozenset[str]:
    """Moving joints that change the length of a spatial tendon; those of a fixed one."""
    if is_fixed(bodies.model, t):
        return frozenset(_tendon_sum(bodies, t) or ())
    return _between(bodies, tendon_bodies(bodies, t))


def _between(bodies: MjcfBodies, ends: Collection[int]) -> frozenset[str]:
    """Moving joints by which bodies move against each other."""
    tree = bodies.tree
    roots = [[step.name for step in tree.path(tree.root, bodies.names[end]) if step.moves] for end in ends]
    paths = [frozenset(path) for path in roots]
    return frozenset().union(*paths) - frozenset.intersection(*paths) if paths else frozenset()


def _avoid(bodies: MjcfBodies, chain: Chain) -> str:
    """Name a tip whose chain is free of loops, or say that there is none."""
    closed = frozenset().union(*(loop.joints for loop in loops(bodies)))
    moving = {chain.base: 0}  # joints of the chains that avoid them
    for step in bodies.tree.below(chain.base):
        if step.parent in moving and step.name not in closed:
            moving[step.child] = moving[step.parent] + step.moves
    tip = max(moving, key=moving.__getitem__)
    if moving[tip]:
        return f"choose a chain that avoids it, as tip='{tip}' does"
    return f"no chain from '{chain.base}' avoids it, so remove it, or choose another base="


def _some(names: list[str]) -> str:
    return ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
