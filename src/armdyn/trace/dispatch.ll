; `dispatch(callable, arguments, count and a flag, names of keywords)`, as CPython's vectorcall has it. TABLE is where in a
; function the address of its table is. A bound call gets a reference more while it runs: another thread may forget it
; meanwhile.
@dispatch_context = global [3 x i64] zeroinitializer
define ptr @dispatch(ptr %callable, ptr %argv, i64 %flagged, ptr %kwnames) nounwind {
  %table.p = getelementptr i8, ptr %callable, i64 @TABLE@
  %table = load ptr, ptr %table.p
  %nargs = and i64 %flagged, 9223372036854775807
  %none = icmp eq i64 %nargs, 0
  br i1 %none, label %python, label %find
find:
  %subject = load i64, ptr %argv
  %coarse = lshr i64 %subject, 4
  %row = and i64 %coarse, @LAST_ROW@
  %words = mul i64 %row, @WORDS@
  %next = add i64 %words, 1
  %at = getelementptr i64, ptr %table, i64 %next
  %key = load i64, ptr %at
  %known = icmp eq i64 %key, %subject
  br i1 %known, label %short, label %python
short:
  %bound.p = getelementptr i64, ptr %at, i64 1
  %bound = load ptr, ptr %bound.p
  %code.p = getelementptr i64, ptr %at, i64 2
  %code = load ptr, ptr %code.p
  %self.p = getelementptr i64, ptr %at, i64 3
  %self = load ptr, ptr %self.p
  %incref.p = getelementptr i64, ptr @dispatch_context, i64 2
  %incref = load ptr, ptr %incref.p
  call void %incref(ptr %bound)
  %rest = getelementptr ptr, ptr %argv, i64 1
  %fewer = sub i64 %nargs, 1
  %result = call ptr %code(ptr %self, ptr %rest, i64 %fewer, ptr %kwnames)
  %decref.p = getelementptr i64, ptr @dispatch_context, i64 1
  %decref = load ptr, ptr %decref.p
  call void %decref(ptr %bound)
  ret ptr %result
python:
  %function = load ptr, ptr %table
  %vectorcall = load ptr, ptr @dispatch_context
  %answer = call ptr %vectorcall(ptr %function, ptr %argv, i64 %flagged, ptr %kwnames)
  ret ptr %answer
}
