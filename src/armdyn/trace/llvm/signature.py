"""The arguments that the functions of a kernel share."""

from __future__ import annotations

from armdyn.trace.graphs.graph import Graph


def port_names(graph: Graph) -> list[str]:
    """Short names of all ports: i0, i1, ..., o0, ..."""
    return [f"i{k}" for k in range(len(graph.inputs))] + [f"o{k}" for k in range(len(graph.outputs))]


def signature(graph: Graph, names_only: bool = False) -> str:
    """Pointer and stride of every port, the uniform block, the samples that remain."""
    words = []
    for port in port_names(graph):
        kind = "ptr" if names_only else "ptr noalias readonly" if port[0] == "i" else "ptr noalias"
        words += [f"{kind} %{port}", f"i64 %s{port}"]
    kind = "ptr" if names_only else "ptr noalias readonly"
    return ", ".join([*words, f"{kind} %uniform", "i64 %remaining"])
