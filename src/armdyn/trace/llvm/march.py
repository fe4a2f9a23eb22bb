"""LLVM text of `march`, all steps of all rollouts in one call."""

from __future__ import annotations

from armdyn.trace.graphs.graph import Graph


def march(graph: Graph, width: int, shared: frozenset[int], uniform_size: int) -> str:
    """`march(pointers, strides across, strides along, rollouts, steps)`: all steps of a vector of rollouts in turn."""
    count = len(graph.inputs) + len(graph.outputs)
    start, row, step, words = [], [], [], []
    for p in range(count):
        for table, kind in (("args", "ptr"), ("across", "i64"), ("along", "i64")):
            start.append(f"  %at_{table}{p} = getelementptr {kind}, ptr %{table}, i64 {p}")
            start.append(f"  %{table}{p} = load {kind}, ptr %at_{table}{p}")
        row.append(f"  %shift{p} = mul i64 %k, %across{p}")
        row.append(f"  %row{p} = getelementptr i8, ptr %args{p}, i64 %shift{p}")
        step.append(f"  %go{p} = mul i64 %t, %along{p}")
        step.append(f"  %p{p} = getelementptr i8, ptr %row{p}, i64 %go{p}")
        words.append(f"ptr %p{p}, i64 %across{p}")
    prepare = ", ".join([*(f"ptr %args{p}" for p in sorted(shared)), "ptr %uniform"])
    return "\n".join(
        [
            "define void @march(ptr %args, ptr %across, ptr %along, i64 %count, i64 %steps) nounwind {",
            "entry:",
            "  %some = icmp sgt i64 %count, 0",
            "  %any = icmp sgt i64 %steps, 0",
            "  %work = and i1 %some, %any",
            "  br i1 %work, label %start, label %done",
            "start:",
            *start,
            f"  %uniform = alloca [{max(uniform_size, width)} x double], align 64",
            f"  call void @prepare({prepare})",
            "  br label %rollouts",
            "rollouts:",
            "  %k = phi i64 [ 0, %start ], [ %next_k, %after ]",
            "  %remaining = sub i64 %count, %k",
            *row,
            "  br label %steps_of",
            "steps_of:",
            "  %t = phi i64 [ 0, %rollouts ], [ %next_t, %steps_of ]",
            *step,
            f"  call void @kern({', '.join(words)}, ptr %uniform, i64 %remaining)",
            "  %next_t = add i64 %t, 1",
            "  %more_t = icmp slt i64 %next_t, %steps",
            "  br i1 %more_t, label %steps_of, label %after",
            "after:",
            f"  %next_k = add i64 %k, {width}",
            "  %more_k = icmp slt i64 %next_k, %count",
            "  br i1 %more_k, label %rollouts, label %done",
            "done:",
            "  ret void",
            "}",
            "",
        ]
    )
