"""Where the values of a kernel stand: uniform slots, and scratch slots between the functions of a large one."""

from __future__ import annotations

from dataclasses import dataclass, field

from armdyn.trace.graphs.graph import Graph
from armdyn.trace.graphs.schedule import GraphSchedule, Step, defined_by, read_by, trig_nodes

# Above this many steps the kernel is split into functions of CHUNK steps: LLVM's time grows faster than
# linearly with the length of a function.
SPLIT_ABOVE = 8000
CHUNK = 800


@dataclass
class Layout:
    """Places of values that outlive a function: uniform slots and scratch slots, in vectors."""

    uniform: dict[int, int]
    scratch: dict[int, int] = field(default_factory=dict)
    scratch_size: int = 0


def make_layout(graph: Graph, schedule: GraphSchedule) -> tuple[Layout, list[list[Step]]]:
    """The layout of a schedule and its steps, function by function."""
    layout = Layout(_uniform_slots(graph, schedule))
    chunks = _split(schedule.steps)
    _place_scratch(graph, chunks, layout)
    return layout, chunks


def _uniform_slots(graph: Graph, schedule: GraphSchedule) -> dict[int, int]:
    """Slots for the uniform nodes that per-sample steps read."""
    uniform = set(schedule.uniform)
    every = [*schedule.steps, *schedule.stage]
    read = [k for step in every for k in read_by(graph, step)]
    if graph.stage is not None:
        read += graph.results[graph.stage.output]
    read = list(dict.fromkeys(k for k in read if k in uniform))
    return {k: slot for slot, k in enumerate(read)}


def _split(steps: list[Step]) -> list[list[Step]]:
    """The steps of one function, or of several where there are many."""
    if len(steps) <= SPLIT_ABOVE:
        return [steps]
    return [steps[i : i + CHUNK] for i in range(0, len(steps), CHUNK)]


def _place_scratch(graph: Graph, chunks: list[list[Step]], layout: Layout) -> None:
    """Give every value that is read in a later chunk a slot, reused after its last reader."""
    trig = trig_nodes(graph)
    defining_chunk = {k: c for c, steps in enumerate(chunks) for step in steps for k in defined_by(trig, step)}
    last: dict[int, int] = {}
    for c, steps in enumerate(chunks):
        for step in steps:
            for k in read_by(graph, step):
                if k in defining_chunk and defining_chunk[k] != c:
                    last[k] = c
    ends: dict[int, list[int]] = {}
    free: list[int] = []
    for k, c in sorted(defining_chunk.items(), key=lambda item: item[1]):
        if k not in last:
            continue
        for done in [e for e in ends if e < c]:
            free += ends.pop(done)
        slot = free.pop() if free else layout.scratch_size
        layout.scratch_size = max(layout.scratch_size, slot + 1)
        layout.scratch[k] = slot
        ends.setdefault(last[k], []).append(slot)
