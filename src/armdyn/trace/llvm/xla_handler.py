"""LLVM text of the entry by which XLA calls a kernel: a handler of its foreign function interface, for CPUs.

XLA passes one frame with descriptions of buffers. Offsets are those of `xla/ffi/api/c_api.h`, version 0.3, whose
fields used here have stood since 0.0. The buffers' types and shapes are the caller's to check (`armdyn.trace.to_jax`):
data come as (samples, ...) or (1, ...) where all samples share them, shared inputs without that axis.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from armdyn.files import fill_template
from armdyn.trace.graphs.graph import Graph

FIELDS = {
    "extension": 8, "api": 16, "arguments": 72, "results": 112,  # byte offsets in XLA_FFI_CallFrame
    "data": 24, "dims": 40,  # in XLA_FFI_Buffer
    "kind": 8, "metadata": 24,  # in XLA_FFI_Extension and XLA_FFI_Metadata_Extension
    "version_size": 8, "version_extension": 16, "major": 24, "minor": 28, "traits": 32,  # in XLA_FFI_Metadata
    "api_minor": 36,  # in XLA_FFI_Api
    "max_minor": 3,  # the newest interface that this text was written against
}  # fmt: skip


_text = partial(fill_template, Path(__file__).with_name("xla_handler.ll"), **FIELDS)


def xla_handler(graph: Graph, shared: frozenset[int]) -> str:
    """`handler(frame)`: the samples of one call, or the version of the interface if XLA asks for that.

    That is its own, if it is older than ours.
    """
    count, ports = len(graph.inputs), [*graph.inputs, *graph.outputs]
    lines = [_text("handler", ports=len(ports))]
    for k, port in enumerate(ports):
        table, place = ("arguments", k) if k < count else ("results", k - count)
        lines += [_text("buffer", port=k, table=table, place=8 * place)]
        lines += [_text("shared" if k in shared else "step", port=k, size=8 * port.size)]
    return "\n".join([*lines, _text("loop", port=count)])
