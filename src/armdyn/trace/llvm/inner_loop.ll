; Parts of `batch`, `loop` and `stream`, in which @NAME@ stands for what `inner_loop` fills in.
;; big
  %bytes = mul i64 %count, @BYTES@
  %big = icmp sge i64 %bytes, @LARGE@
;; streaming
  %within@PORT@ = alloca [@ROOM@ x i8], align 64
  %start@PORT@ = ptrtoint ptr %within@PORT@ to i64
  %end@PORT@ = add i64 %start@PORT@, @BLOCK@
  %apart@PORT@ = sub i64 ptrtoint (ptr @constants to i64), %end@PORT@
  %shift@PORT@ = and i64 %apart@PORT@, @MASK@
  %stage@PORT@ = getelementptr i8, ptr %within@PORT@, i64 %shift@PORT@
  %dense@PORT@ = icmp eq i64 %s@PORT@, @STRIDE@
  %int@PORT@ = ptrtoint ptr %@PORT@ to i64
  %low@PORT@ = and i64 %int@PORT@, 15
  %whole@PORT@ = icmp eq i64 %low@PORT@, 0
  %both@PORT@ = and i1 %big, %dense@PORT@
  %stream@PORT@ = and i1 %both@PORT@, %whole@PORT@
;; body
  %most = sub i64 %count, @WIDTH@
  %short = icmp slt i64 %most, 0
  %last = select i1 %short, i64 0, i64 %most
  br label %body
body:
  %k = phi i64 [ 0, %entry ], [ %next, %latch ]
;; even
  %beyond = and i64 %k, @LANES@
  %even = icmp eq i64 %beyond, 0
;; row
  %off@PORT@ = mul i64 %k, %s@PORT@
  %p@PORT@ = getelementptr i8, ptr %@PORT@, i64 %off@PORT@
;; staged
  %off@PORT@ = mul i64 %k, %s@PORT@
  %row@PORT@ = getelementptr i8, ptr %@PORT@, i64 %off@PORT@
  %use@PORT@ = and i1 %even, %stream@PORT@
  %p@PORT@ = select i1 %use@PORT@, ptr %stage@PORT@, ptr %row@PORT@
;; copy
  br i1 %use@PORT@, label %copy@PORT@, label %after@PORT@
copy@PORT@:
  call void @stream(ptr %row@PORT@, ptr %stage@PORT@, i64 @BLOCK@)
  br label %after@PORT@
after@PORT@:
;; latch
  br label %latch
latch:
  %ahead = add i64 %k, @WIDTH@
  %within = icmp slt i64 %ahead, %last
  %next = select i1 %within, i64 %ahead, i64 %last
  %more = icmp slt i64 %k, %last
  br i1 %more, label %body, label %finish
finish:
;; order
  br i1 %big, label %order, label %done
order:
  fence seq_cst
  br label %done
done:
;; further
  %further = icmp slt i64 %k, %last
  %fetch = select i1 %big, i1 false, i1 %further
;; line
  %line@LINE@ = getelementptr i8, ptr %ahead@PORT@, i64 @AT@
  call void @llvm.prefetch.p0(ptr %line@LINE@, i32 1, i32 3, i32 1)
;; some
entry:
  %count = load i64, ptr %dims
  %some = icmp sgt i64 %count, 0
  br i1 %some, label %start, label %done
start:
;; piece
  %f.@NAME@@AT@ = getelementptr i8, ptr %from.@NAME@, i64 @AT@
  %t.@NAME@@AT@ = getelementptr i8, ptr %to.@NAME@, i64 @AT@
  %v.@NAME@@AT@ = load @KIND@, ptr %f.@NAME@@AT@, align 8
  store @KIND@ %v.@NAME@@AT@, ptr %t.@NAME@@AT@, align @PIECE@@HOW@
;; copies
  br label %@NAME@
@NAME@:
  %k.@NAME@ = phi i64 [ @START@, %@BEFORE@ ], [ %next.@NAME@, %some.@NAME@ ]
  %more.@NAME@ = icmp slt i64 %k.@NAME@, @STOP@
  br i1 %more.@NAME@, label %some.@NAME@, label %after.@NAME@
some.@NAME@:
  %from.@NAME@ = getelementptr i8, ptr %from, i64 %k.@NAME@
  %to.@NAME@ = getelementptr i8, ptr %to, i64 %k.@NAME@
@PIECES@
  %next.@NAME@ = add i64 %k.@NAME@, @STEP@
  br label %@NAME@
after.@NAME@:
;; stream
define internal void @stream(ptr %to, ptr %from, i64 %bytes) noinline nounwind {
entry:
  %int = ptrtoint ptr %to to i64
  %below = sub i64 0, %int
  %first = and i64 %below, @PART@
  %rest = sub i64 %bytes, %first
  %whole = and i64 %rest, -@LINE@
  %last = add i64 %first, %whole
  %twice = mul i64 %bytes, 2
  %far = getelementptr i8, ptr %to, i64 %twice
  call void @llvm.prefetch.p0(ptr %far, i32 1, i32 3, i32 1)
@COPIES@
  ret void
}
!1 = !{i32 1}
