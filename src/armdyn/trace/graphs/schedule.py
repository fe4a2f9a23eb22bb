"""The order in which a graph is evaluated: what is the same for all samples first, then sines, then the rest."""

from __future__ import annotations

from dataclasses import dataclass

from armdyn.trace.graphs.graph import Graph

TRIG = ("sin", "cos")


@dataclass(frozen=True)
class Compute:
    """Evaluate one node."""

    node: int


@dataclass(frozen=True)
class Trig:
    """Evaluate sine and cosine of several nodes together."""

    angles: tuple[int, ...]


@dataclass(frozen=True)
class Store:
    """Write entries `start`, `start + 1`, ... of an output."""

    port: int
    start: int
    nodes: tuple[int, ...]


Step = Compute | Trig | Store


@dataclass(frozen=True)
class Schedule:
    """`uniform` nodes depend on shared inputs only; `steps` run for every sample."""

    uniform: list[int]
    steps: list[Step]


def is_leaf(graph: Graph, k: int) -> bool:
    """Whether a node is an input or a constant."""
    return graph.nodes[k].op in ("input", "const")


def uniform_nodes(graph: Graph, shared: frozenset[int]) -> set[int]:
    """Nodes that depend on shared input ports and constants only, at least one shared input among them."""
    constant: set[int] = set()
    found: set[int] = set()
    for k, node in enumerate(graph.nodes):
        if node.op == "const":
            constant.add(k)
        elif node.op == "input":
            if node.value[0] in shared:
                found.add(k)
        elif all(a in constant for a in node.args):
            constant.add(k)
        elif all(a in constant or a in found for a in node.args):
            found.add(k)
    return found


def make_schedule(graph: Graph, shared: frozenset[int], group: int) -> Schedule:
    """Order a graph; outputs are stored in groups of `group` entries as soon as these are known."""
    uniform = uniform_nodes(graph, shared)
    varying = [k for k in range(len(graph.nodes)) if k not in uniform and not is_leaf(graph, k)]
    order = _with_trig_first(graph, varying)
    return Schedule(sorted(uniform), _with_stores(graph, order, group))


def _trig_levels(graph: Graph) -> list[int]:
    """For every node, how many sines deep it is."""
    levels: list[int] = []
    for node in graph.nodes:
        below = max((levels[a] for a in node.args), default=0)
        levels.append(below + (node.op in TRIG))
    return levels


def _with_trig_first(graph: Graph, varying: list[int]) -> list[Step]:
    """Group sines and cosines that can be computed together, and compute them as early as possible."""
    levels = _trig_levels(graph)
    inside = set(varying)
    done: set[int] = set()
    steps: list[Step] = []
    trig = [k for k in varying if graph.nodes[k].op in TRIG]
    for level in sorted({levels[k] for k in trig}):
        angles = tuple(dict.fromkeys(graph.nodes[k].args[0] for k in trig if levels[k] == level))
        needed = _ancestors(graph, angles, inside) - done
        steps += [Compute(k) for k in sorted(needed) if graph.nodes[k].op not in TRIG]
        steps.append(Trig(angles))
        done |= needed
    steps += [Compute(k) for k in varying if k not in done and graph.nodes[k].op not in TRIG]
    return steps


def _ancestors(graph: Graph, roots: tuple[int, ...], inside: set[int]) -> set[int]:
    """The roots and everything they depend on, within `inside`."""
    found: set[int] = set()
    stack = [k for k in roots if k in inside]
    while stack:
        k = stack.pop()
        if k not in found:
            found.add(k)
            stack += [a for a in graph.nodes[k].args if a in inside]
    return found


def _with_stores(graph: Graph, steps: list[Step], group: int) -> list[Step]:
    """Put every store right after the step that completes its entries."""
    stores = [
        Store(p, s, tuple(column[s : s + group]))
        for p, column in enumerate(graph.results)
        for s in _starts(len(column), group)
    ]
    ready_at = {k: -1 for k in range(len(graph.nodes))}
    for at, step in enumerate(steps):
        for k in defined_by(graph, step):
            ready_at[k] = at
    waiting: dict[int, list[Store]] = {}
    for store in stores:
        waiting.setdefault(max(ready_at[k] for k in store.nodes), []).append(store)
    out: list[Step] = list(waiting.get(-1, ()))
    for at, step in enumerate(steps):
        out.append(step)
        out += waiting.get(at, ())
    return out


def _starts(size: int, group: int) -> list[int]:
    """First entries of the groups that cover an output; the last one overlaps rather than overruns."""
    if size < group:
        return list(range(size)) if group == 1 else ([0] if size else [])
    starts = list(range(0, size - group + 1, group))
    return starts if size % group == 0 else [*starts, size - group]


def defined_by(graph: Graph, step: Step) -> list[int]:
    """The nodes that a step computes."""
    if isinstance(step, Compute):
        return [step.node]
    if isinstance(step, Trig):
        return [k for a in step.angles for k in trig_nodes(graph).get(a, ())]
    return []


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
    return step.angles if isinstance(step, Trig) else step.nodes
