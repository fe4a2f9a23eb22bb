"""LLVM text of the entry by which XLA calls a kernel: a handler of its foreign function interface, for CPUs.

XLA passes one frame with descriptions of buffers. Offsets are those of `xla/ffi/api/c_api.h`, version 0.3, whose
fields used here have stood since 0.0. The buffers' types and shapes are the caller's to check (`armdyn.trace.to_jax`):
data come as (samples, ...) or (1, ...) where all samples share them, shared inputs without that axis.
"""

from __future__ import annotations

from armdyn.trace.graphs.graph import Graph
from armdyn.trace.llvm.entry import field

# Byte offsets in XLA_FFI_CallFrame, XLA_FFI_Buffer, XLA_FFI_Metadata and XLA_FFI_Api.
EXTENSION, API, ARGUMENTS, RESULTS = 8, 16, 72, 112
DATA, DIMS = 24, 40
KIND, METADATA = 8, 24
VERSION_SIZE, VERSION_EXTENSION, MAJOR, MINOR, TRAITS = 8, 16, 24, 28, 32
API_MINOR = 36
MAX_MINOR = 3  # the newest interface that this text was written against


def xla_handler(graph: Graph, shared: frozenset[int]) -> str:
    """`handler(frame)`: the samples of one call, or the version of the interface if XLA asks for that."""
    count, total = len(graph.inputs), len(graph.inputs) + len(graph.outputs)
    lines = [
        f"""define ptr @handler(ptr %frame) nounwind {{
entry:
  %args = alloca [{total} x ptr]
  %steps = alloca [{total} x i64]
  %count = alloca i64
{field("extension", "%frame", EXTENSION, "ptr")}
  %plain = icmp eq ptr %extension, null
  br i1 %plain, label %run, label %ask
ask:
{field("kind", "%extension", KIND, "i32")}
  %asked = icmp eq i32 %kind, 1
  br i1 %asked, label %tell, label %run""",
        *_tell(),
        f"""run:
{field("arguments", "%frame", ARGUMENTS, "ptr")}
{field("results", "%frame", RESULTS, "ptr")}""",
    ]
    for k in range(total):
        table, place = ("%arguments", k) if k < count else ("%results", k - count)
        lines += [field(f"b{k}", table, 8 * place, "ptr"), field(f"data{k}", f"%b{k}", DATA, "ptr")]
        lines += [f"  %a{k} = getelementptr ptr, ptr %args, i64 {k}", f"  store ptr %data{k}, ptr %a{k}"]
        lines += _step(k, 8 * (*graph.inputs, *graph.outputs)[k].size, k in shared)
    lines += [f"  store i64 %n{count}, ptr %count", "  call void @loop(ptr %args, ptr %count, ptr %steps, ptr null)"]
    return "\n".join([*lines, "  ret ptr null", "}"])


def _store(name: str, value: str, offset: int) -> list[str]:
    return [f"  %{name} = getelementptr i8, ptr %metadata, i64 {offset}", f"  store {value}, ptr %{name}"]


def _step(k: int, size: int, is_shared: bool) -> list[str]:
    """Return the stride from sample to sample; none where all share one."""
    store = f"  %s{k} = getelementptr i64, ptr %steps, i64 {k}"
    if is_shared:
        return [store, f"  store i64 0, ptr %s{k}"]
    return [
        f"""{field(f"d{k}", f"%b{k}", DIMS, "ptr")}
  %n{k} = load i64, ptr %d{k}
  %one{k} = icmp eq i64 %n{k}, 1
  %step{k} = select i1 %one{k}, i64 0, i64 {size}""",
        store,
        f"  store i64 %step{k}, ptr %s{k}",
    ]


def _tell() -> list[str]:
    """Write the version of the interface into what XLA passed: its own, if that is older than ours."""
    return [
        f"""tell:
{field("api", "%frame", API, "ptr")}
{field("theirs", "%api", API_MINOR, "i32")}
  %older = icmp slt i32 %theirs, {MAX_MINOR}
  %minor = select i1 %older, i32 %theirs, i32 {MAX_MINOR}
{field("metadata", "%extension", METADATA, "ptr")}""",
        *_store("to_size", "i64 24", VERSION_SIZE),
        *_store("to_extension", "ptr null", VERSION_EXTENSION),
        *_store("to_major", "i32 0", MAJOR),
        *_store("to_minor", "i32 %minor", MINOR),
        *_store("to_traits", "i32 0", TRAITS),
        "  ret ptr null",
    ]
