"""How many operations a graph takes."""

from __future__ import annotations

from typing import NamedTuple

from armdyn.trace.graphs.graph import Graph


class Counts(NamedTuple):
    """Operations of one evaluation; squares are multiplications, doublings additions, negations free."""

    multiplications: int
    additions: int
    divisions: int
    sincos: int  # distinct angles of which a sine, a cosine or both are taken
    calls: int  # every other function, comparison or selection

    def __str__(self) -> str:
        words = ("multiplications", "additions", "divisions", "sin/cos pairs", "other calls")
        parts = [f"{count} {what}" for count, what in zip(self, words, strict=True) if count]
        return ", ".join(parts) or "no operations"


def count_operations(graph: Graph) -> Counts:
    """The operations of a graph; nodes that no output needs count too, so prune first."""
    ops = [node.op for node in graph.nodes]
    angles = {node.args for node in graph.nodes if node.op in ("sin", "cos")}
    known = ("const", "input", "neg", "mul", "add", "sub", "div", "sin", "cos")
    return Counts(
        ops.count("mul"),
        ops.count("add") + ops.count("sub"),
        ops.count("div"),
        len(angles),
        sum(op not in known for op in ops),
    )
