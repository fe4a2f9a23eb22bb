"""The order in which a graph is evaluated: what is the same for all samples first, then sines, then the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from armdyn.trace.graphs.graph import Graph

TRIG = ("sin", "cos")


class Compute(NamedTuple):
    """Evaluate one node."""

    node: int


class Trig(NamedTuple):
    """Evaluate sine and cosine of several nodes together."""

    angles: tuple[int, ...]


class StoreStep(NamedTuple):
    """Write entries `start`, `start + 1`, ... of an output."""

    port: int
    start: int
    nodes: tuple[int, ...]


class Call(NamedTuple):
    """Evaluate the stage for some nodes; its results are input nodes, by their place."""

    arguments: tuple[int, ...]
    results: tuple[tuple[int, int], ...]


Step = Compute | Trig | StoreStep | Call


@dataclass(frozen=True)
class GraphSchedule:
    """`uniform` nodes depend on shared inputs only; `steps` run for every sample, and `stage` where they call it."""

    uniform: list[int]
    steps: list[Step]
    stage: list[Step] = field(default_factory=list)


def is_leaf(graph: Graph, k: int) -> bool:
    """Whether a node is an input or a constant."""
    return graph.nodes[k].op in ("input", "const")


def uniform_nodes(graph: Graph, shared: frozenset[int]) -> set[int]:
    """Nodes that depend on shared input ports and constants only, at least one shared input among them."""
    constant: set[int] = set()
    uniform: set[int] = set()
    for k, node in enumerate(graph.nodes):
        if node.op == "const":
            constant.add(k)
        elif node.op == "input":
            if node.value[0] in shared:
                uniform.add(k)
        elif all(a in constant for a in node.args):
            constant.add(k)
        elif all(a in constant or a in uniform for a in node.args):
            uniform.add(k)
    return uniform


def make_schedule(graph: Graph, shared: frozenset[int], group: int) -> GraphSchedule:
    """Order a graph; outputs are stored in groups of `group` entries."""
    uniform = uniform_nodes(graph, shared)
    stores = [
        StoreStep(port, start, tuple(column[start : start + group]))
        for port, column in enumerate(graph.results[: len(graph.own_outputs)])
        for start in _starts(len(column), group)
    ]
    calls, stage = _calls(graph), graph.stage
    result = GraphSchedule(sorted(uniform), _steps(graph, uniform, [[*calls, *way] for way in (stores, stores[::-1])]))
    if stage is not None:
        whole = StoreStep(stage.output, 0, tuple(graph.results[stage.output]))
        result.stage.extend(_steps(graph, uniform, [[whole]])[:-1])
    return result


def _calls(graph: Graph) -> list[Call]:
    """The calls of the stage, in order."""
    if graph.stage is None:
        return []
    places, outputs, count = graph.stage
    results: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for k, node in enumerate(graph.nodes):
        if node.op == "input" and node.value[0] > places:
            results[node.value[0] - places - 1].append((k, node.value[1]))
    return [Call(tuple(graph.results[outputs + 1 + c]), tuple(results[c])) for c in range(count)]


def _steps(graph: Graph, uniform: set[int], ways: list[list[StoreStep | Call]]) -> list[Step]:
    """The steps that the stores and calls of one of several ways need, and these, in the way of least traffic."""
    roots = tuple(k for step in ways[0] for k in read_by(graph, step))
    inside = set(range(len(graph.nodes))) - uniform
    varying = [k for k in sorted(ancestors(graph, roots, inside)) if not is_leaf(graph, k)]
    early, late = _with_trig_first(graph, varying)
    orders = [early + depth_first(graph, late, way) for way in ways]
    return orders[0] if len(orders) == 1 else min(orders, key=lambda steps: memory_traffic(graph, steps))


def _trig_levels(graph: Graph) -> list[int]:
    """For every node, how many sines deep it is."""
    levels: list[int] = []
    for node in graph.nodes:
        below = max((levels[a] for a in node.args), default=0)
        levels.append(below + (node.op in TRIG))
    return levels


def _with_trig_first(graph: Graph, varying: list[int]) -> tuple[list[Step], list[int]]:
    """Steps up to the last sines and cosines, those that can be computed together grouped, and the nodes left."""
    levels = _trig_levels(graph)
    inside = set(varying)
    done: set[int] = set()
    steps: list[Step] = []
    trig = [k for k in varying if graph.nodes[k].op in TRIG]
    for level in sorted({levels[k] for k in trig}):
        angles = tuple(dict.fromkeys(graph.nodes[k].args[0] for k in trig if levels[k] == level))
        needed = ancestors(graph, angles, inside) - done
        steps += [Compute(k) for k in sorted(needed) if graph.nodes[k].op not in TRIG]
        steps.append(Trig(angles))
        done |= needed
    return steps, [k for k in varying if k not in done and graph.nodes[k].op not in TRIG]


def ancestors(graph: Graph, roots: tuple[int, ...], inside: set[int]) -> set[int]:
    """The roots and everything they depend on, within `inside`."""
    visited: set[int] = set()
    stack = [k for k in roots if k in inside]
    while stack:
        k = stack.pop()
        if k not in visited:
            visited.add(k)
            stack += [a for a in graph.nodes[k].args if a in inside]
    return visited


def _starts(size: int, group: int) -> list[int]:
    """First entries of the groups that cover an output; the last one overlaps rather than overruns."""
    if size < group:
        return list(range(size)) if group == 1 else ([0] if size else [])
    starts = list(range(0, size - group + 1, group))
    return starts if size % group == 0 else [*starts, size - group]


def defined_by(trig: dict[int, list[int]], step: Step) -> list[int]:
    """The nodes that a step computes, given those of all angles (`trig_nodes`)."""
    if isinstance(step, Compute):
        return [step.node]
    if isinstance(step, Trig):
        return [k for a in step.angles for k in trig.get(a, ())]
    return [k for k, _ in step.results] if isinstance(step, Call) else []


def trig_nodes(graph: Graph) -> dict[int, list[int]]:
    """For every angle, its sine and cosine nodes."""
    table: dict[int, list[int]] = {}
    for k, node in enumerate(graph.nodes):
        if node.op in TRIG:
            table.setdefault(node.args[0], []).append(k)
    return table


def read_by(graph: Graph, step: Step) -> tuple[int, ...]:
    """The nodes that a step reads."""
    if isinstance(step, Compute):
        return graph.nodes[step.node].args
    if isinstance(step, Call):
        return step.arguments
    return step.angles if isinstance(step, Trig) else step.nodes


# -- registers ---------------------------------------------------------------------------------------------

# What a processor with AVX2 has; more only makes the differences smaller.
REGISTERS = 16


def depth_first(graph: Graph, nodes: list[int], stores: Sequence[StoreStep | Call]) -> list[Step]:
    """The nodes in the order in which the stores and calls, one after the other, need them: few values have to wait.

    Of a node's arguments the one that needs most registers comes first (Sethi and Ullman 1970); in graphs with
    divisions the deepest comes last, so that other work fills the wait for it.
    """
    todo = set(nodes)
    steps: list[Step] = []
    weight = _depths(graph) if any(graph.nodes[k].op == "div" for k in nodes) else _register_needs(graph)
    for store in stores:
        stack = [(k, False) for k in reversed(read_by(graph, store))]
        while stack:
            k, ready = stack.pop()
            if k not in todo:
                continue
            if ready:
                todo.remove(k)
                steps.append(Compute(k))
            else:
                stack.append((k, True))
                stack += [(a, False) for a in sorted(reversed(graph.nodes[k].args), key=lambda a: weight[a])]
        steps.append(store)
    return steps


def _depths(graph: Graph) -> list[int]:
    """The negative length of the longest chain of operations below each node."""
    depths: list[int] = []
    for node in graph.nodes:
        depths.append(min((depths[a] for a in node.args), default=0) - 1)
    return depths


def _register_needs(graph: Graph) -> list[int]:
    """Return the number of registers that each node needs, were it a tree."""
    needs: list[int] = []
    for node in graph.nodes:
        below = sorted((needs[a] for a in node.args), reverse=True)
        needs.append(max((need + k for k, need in enumerate(below)), default=1))
    return needs


def memory_traffic(graph: Graph, steps: list[Step]) -> int:
    """Count how often values go to memory and back, if those needed last are the ones that leave the registers."""
    trig = trig_nodes(graph)
    defined = {k for step in steps for k in defined_by(trig, step)}
    uses: dict[int, list[int]] = {}
    for at in range(len(steps) - 1, -1, -1):  # the next use of a value is the last of its list
        for k in set(read_by(graph, steps[at])) & defined:
            uses.setdefault(k, []).append(at)
    held: set[int] = set()
    saved: set[int] = set()
    loads = 0
    for step in steps:
        read = set(read_by(graph, step)) & defined
        loads += len(read - held)
        for k in read:
            uses[k].pop()
        held |= read | set(defined_by(trig, step))
        held = {k for k in held if uses.get(k)}
        while len(held) > REGISTERS:
            last = max(held, key=lambda k: (uses[k][-1], k))
            held.remove(last)
            saved.add(last)
    return loads + len(saved)
