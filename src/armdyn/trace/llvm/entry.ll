; Parts of `pycall`, in which @NAME@ stands for what `entry` fills in. Offsets of fields are those of `direct_calls`.
;; context
  %at_@NAME@ = getelementptr i64, ptr @context, i64 @PLACE@
  %@NAME@ = load ptr, ptr %at_@NAME@
;; start
  %uniform.own = alloca [@UNIFORM_SIZE@ x double], align 64
  %dims = alloca [@AXES@ x i64]
  %given = alloca [@KEYWORDS@ x ptr]
  %overflow = alloca i32
  %uniform.bound.p = getelementptr i8, ptr %self, i64 @DATA@
  %uniform.bound = load ptr, ptr %uniform.bound.p
  %first = icmp eq i64 %nargs, @ARGUMENTS@
  br i1 %first, label %check0, label %fallback
;; check
check@AT@:
  %a@AT@.at = getelementptr ptr, ptr %argv, i64 @AT@
  %a@AT@ = load ptr, ptr %a@AT@.at
  %nb@AT@ = call i64 @lead(ptr %a@AT@, ptr %ndarray, ptr %float64, i64 @CORE@, ptr @core_i@PORT@, i32 @READABLE@)
  %bad@AT@ = icmp slt i64 %nb@AT@, 0
  br i1 %bad@AT@, label %fallback, label %next@AT@
next@AT@:
  %a@AT@.data.p = getelementptr i8, ptr %a@AT@, i64 @DATA@
  %a@AT@.data = load ptr, ptr %a@AT@.data.p
  %more@AT@ = icmp sgt i64 %nb@AT@, @MOST@
  %best@AT@ = select i1 %more@AT@, ptr %a@AT@, ptr @BEST@
  %most@AT@ = select i1 %more@AT@, i64 %nb@AT@, i64 @MOST@
  br label %check@AHEAD@
;; few
check@COUNT@:
  %few = icmp sle i64 @MOST@, @MAX_AXES@
  br i1 %few, label %same0, label %fallback
;; same
same@AT@:
  %equal@AT@ = call i1 @same(ptr %a@AT@, i64 %nb@AT@, ptr @BEST@, i64 @MOST@)
  %single@AT@ = icmp eq i64 %nb@AT@, 0
  %s@AT@ = select i1 %single@AT@, i64 0, i64 @STRIDE@
  br i1 %equal@AT@, label %same@AHEAD@, label %fallback
;; count
same@COUNT@:
  %axes = add i64 @MOST@, 0
  %count = call i64 @samples(ptr @BEST@, i64 @MOST@, ptr %dims)
  %limit.p = getelementptr i8, ptr %uniform.bound, i64 @LIMIT@
  %limit = load i64, ptr %limit.p
  %some = icmp sgt i64 %count, 0
  %within = icmp slt i64 %count, %limit
  %mine = and i1 %some, %within
  br i1 %mine, label %keywords, label %fallback
;; keywords
  %plain = icmp eq ptr %kwnames, null
  br i1 %plain, label %sorted, label %kw.start
kw.start:
  %kw.count.p = getelementptr i8, ptr %kwnames, i64 @SIZE@
  %kw.count = load i64, ptr %kw.count.p
  br label %kw.next
kw.next:
  %kw.k = phi i64 [ 0, %kw.start ], [ %kw.ahead, %kw.store ]
  %kw.more = icmp slt i64 %kw.k, %kw.count
  br i1 %kw.more, label %kw.name, label %sorted
kw.name:
  %kw.at = call ptr %getitem(ptr %kwnames, i64 %kw.k)
  %kw.place = add i64 %kw.k, @COUNT@
  %kw.argument = getelementptr ptr, ptr %argv, i64 %kw.place
  %kw.given = load ptr, ptr %kw.argument
  %kw.none = icmp eq ptr %kw.given, %none
  %kw.value = select i1 %kw.none, ptr null, ptr %kw.given
  br label %kw.is0
;; keyword
kw.is@AT@:
  %kw.hit@AT@ = icmp eq ptr %kw.at, @NAME@
  br i1 %kw.hit@AT@, label %kw.store, label %@OTHER@
;; sorted
kw.store:
  %kw.slot = phi i64 @SLOTS@
  %kw.to = getelementptr ptr, ptr %given, i64 %kw.slot
  store ptr %kw.value, ptr %kw.to
  %kw.ahead = add i64 %kw.k, 1
  br label %kw.next
sorted:
  %t = load ptr, ptr %given@THREADS@
  %t.no = icmp eq ptr %t, null
  br i1 %t.no, label %data, label %t.look
t.look:
  %t.type.p = getelementptr i8, ptr %t, i64 @TYPE@
  %t.type = load ptr, ptr %t.type.p
  %t.is = icmp eq ptr %t.type, %int
  br i1 %t.is, label %t.read, label %fallback
t.read:
  %t.long = call i64 %as_long(ptr %t, ptr %overflow)
  %t.below = sub i64 %t.long, 2
  %t.several = icmp ult i64 %t.below, 1023
  %pays.p = getelementptr i8, ptr %uniform.bound, i64 @PAYS@
  %pays = load i64, ptr %pays.p
  %t.vain = icmp slt i64 %count, %pays
  %t.ignored = and i1 %t.several, %t.vain
  %t.one = icmp eq i64 %t.long, 1
  %t.mine = or i1 %t.one, %t.ignored
  br i1 %t.mine, label %data, label %fallback
;; bound
  br label %ready
ready:
  %uniform = getelementptr i8, ptr %uniform.bound, i64 0
;; given
  %has@AT@ = icmp ne ptr %b@AT@, null
  %any@AT@ = or i1 @ANY@, %has@AT@
;; own
own@AT@:
  %kept@AT@.p = getelementptr i8, ptr %uniform.bound, i64 @KEPT@
  %kept@AT@ = load ptr, ptr %kept@AT@.p
  br i1 %has@AT@, label %look@AT@, label %own.next@AT@
look@AT@:
  %nbb@AT@ = call i64 @lead(ptr %b@AT@, ptr %ndarray, ptr %float64, i64 @CORE@, ptr @core_i@PORT@, i32 @READABLE@)
  %b@AT@.data.p = getelementptr i8, ptr %b@AT@, i64 @DATA@
  %b@AT@.data = load ptr, ptr %b@AT@.data.p
  %single.b@AT@ = icmp eq i64 %nbb@AT@, 0
  br i1 %single.b@AT@, label %own.next@AT@, label %fallback
own.next@AT@:
  %u@AT@ = phi ptr [ %kept@AT@, %own@AT@ ], [ %b@AT@.data, %look@AT@ ]
  br label %own@AHEAD@
;; prepared
own@COUNT@:
  call void @prepare(@WORDS@)
  br label %ready
ready:
  %uniform = phi ptr [ %uniform.bound, %data ], [ %uniform.own, %own@COUNT@ ]
;; choice
  %fresh = icmp eq ptr %y, null
  br i1 %fresh, label %size, label %to
size:
  %bytes = mul i64 %count, @TOTAL@
  %small = icmp slt i64 %bytes, @LARGE@
  %batched = icmp sgt i64 %axes, @LEAST@
  %here = and i1 %small, %batched
  br i1 %here, label %new0, label %fallback
;; axis
  %d@PORT@.@AXIS@ = add i64 %axes, @AXIS@
  %dp@PORT@.@AXIS@ = getelementptr i64, ptr %dims, i64 %d@PORT@.@AXIS@
  store i64 @LENGTH@, ptr %dp@PORT@.@AXIS@
;; new
  %nd@PORT@ = add i64 %axes, @CORE@
  %n@PORT@ = trunc i64 %nd@PORT@ to i32
  call void %incref(ptr %float64)
  %new@PORT@.array = call ptr %empty(i32 %n@PORT@, ptr %dims, ptr %float64, i32 0)
  %none@PORT@ = icmp eq ptr %new@PORT@.array, null
  br i1 %none@PORT@, label %failed, label %made@PORT@
made@PORT@:
  %new@PORT@.data.p = getelementptr i8, ptr %new@PORT@.array, i64 @DATA@
  %new@PORT@.data = load ptr, ptr %new@PORT@.data.p
  br label %@AFTER@
;; tuple
  %y.type.p = getelementptr i8, ptr %y, i64 @TYPE@
  %y.type = load ptr, ptr %y.type.p
  %y.class.p = getelementptr i8, ptr %uniform.bound, i64 @COLLECT@
  %y.class = load ptr, ptr %y.class.p
  %y.named = icmp eq ptr %y.type, %y.class
  %y.plain = icmp eq ptr %y.type, %tuple
  %y.tuple = or i1 %y.named, %y.plain
  br i1 %y.tuple, label %to.size, label %fallback
to.size:
  %y.count.p = getelementptr i8, ptr %y, i64 @SIZE@
  %y.count = load i64, ptr %y.count.p
  %y.whole = icmp eq i64 %y.count, @COUNT@
  br i1 %y.whole, label %to0, label %fallback
;; to
to@PORT@:
  %y@PORT@ = @PLACE@
  %nby@PORT@ = call i64 @lead(ptr %y@PORT@, ptr %ndarray, ptr %float64, i64 @CORE@, ptr @core_o@PORT@, i32 @WRITABLE@)
  %as_many@PORT@ = icmp eq i64 %nby@PORT@, %axes
  %not_scalar@PORT@ = icmp sgt i64 %nby@PORT@, @SCALAR@
  %y@PORT@.fits = and i1 %as_many@PORT@, %not_scalar@PORT@
  br i1 %y@PORT@.fits, label %to.axes@PORT@, label %fallback
to.axes@PORT@:
  %y@PORT@.dims.p = getelementptr i8, ptr %y@PORT@, i64 @DIMS@
  %y@PORT@.dims = load ptr, ptr %y@PORT@.dims.p
  %y@PORT@.same = call i1 @equal(ptr %y@PORT@.dims, ptr %dims, i64 %axes)
  %y@PORT@.data.p = getelementptr i8, ptr %y@PORT@, i64 @DATA@
  %y@PORT@.data = load ptr, ptr %y@PORT@.data.p
  %y@PORT@.bytes = mul i64 %count, @STRIDE@
  %y@PORT@.end = getelementptr i8, ptr %y@PORT@.data, i64 %y@PORT@.bytes
  br i1 %y@PORT@.same, label %@AFTER@, label %fallback
;; end
  %rows@AT@ = select i1 %single@AT@, i64 1, i64 %count
  %room@AT@ = mul i64 %rows@AT@, @STRIDE@
  %a@AT@.end = getelementptr i8, ptr %a@AT@.data, i64 %room@AT@
;; apart
  %before@PAIR@ = icmp ule ptr %y@PORT@.end, @OTHER@.data
  %behind@PAIR@ = icmp ule ptr @OTHER@.end, %y@PORT@.data
  %clear@PAIR@ = or i1 %before@PAIR@, %behind@PAIR@
  %apart@PAIR@ = and i1 @APART@, %clear@PAIR@
;; taken
  br i1 @APART@, label %taken, label %fallback
taken:
  br label %compute
compute:
;; result
  %r@PORT@@END@ = phi ptr [ %new@PORT@@NEW@, %made@LAST@ ], [ %y@PORT@@END@, %taken ]
;; call
  %long = icmp sge i64 %count, @RELEASE_FROM@
  br i1 %long, label %release, label %hold
release:
  %thread = call ptr %save()
  call void @batch(@WORDS@, ptr %uniform, i64 %count)
  call void %restore(ptr %thread)
  br label %finish
hold:
  call void @batch(@WORDS@, ptr %uniform, i64 %count)
  br label %finish
finish:
;; one
  br i1 %fresh, label %answer.new, label %answer.given
answer.given:
  call void %incref(ptr %r0)
  ret ptr %r0
answer.new:
;; array
  ret ptr %r0
;; scalar
  %number = call ptr %scalar(ptr %r0)
  ret ptr %number
;; collect
  %all = call ptr %tuple_of(i64 @COUNT@)
  %all.none = icmp eq ptr %all, null
  br i1 %all.none, label %collected, label %fill
fill:
;; fill
  call void %incref(ptr %r@PORT@)
  call i32 %setitem(ptr %all, i64 @PORT@, ptr %r@PORT@)
;; named
  %only = call ptr %tuple_of(i64 1)
  %only.none = icmp eq ptr %only, null
  br i1 %only.none, label %spoiled, label %make
spoiled:
  call void %decref(ptr %all)
  br label %collected
make:
  call i32 %setitem(ptr %only, i64 0, ptr %all)
  %collect.p = getelementptr i8, ptr %uniform.bound, i64 @COLLECT@
  %collect = load ptr, ptr %collect.p
  %made = call ptr %new_tuple(ptr %collect, ptr %only, ptr null)
  call void %decref(ptr %only)
  br label %collected
collected:
  %results = phi ptr [ null, %finish ], [ null, %spoiled ], [ %made, %make ]
  br i1 %fresh, label %own, label %answer.all
own:
;; answer
  br label %answer.all
answer.all:
  ret ptr %results
;; fallback
fallback:
  %callable.p = getelementptr i8, ptr %uniform.bound, i64 @FALLBACK@
  %callable = load ptr, ptr %callable.p
  %answer = call ptr %vectorcall(ptr %callable, ptr %argv, i64 %nargs, ptr %kwnames)
  ret ptr %answer
;; helpers
define internal i64 @lead(ptr %a, ptr %kind, ptr %float64, i64 %core, ptr %shape, i32 %want) nounwind {
  %type.p = getelementptr i8, ptr %a, i64 @TYPE@
  %type = load ptr, ptr %type.p
  %is = icmp eq ptr %type, %kind
  br i1 %is, label %array, label %bad
array:
  %dtype.p = getelementptr i8, ptr %a, i64 @DTYPE@
  %dtype = load ptr, ptr %dtype.p
  %flags.p = getelementptr i8, ptr %a, i64 @FLAGS@
  %flags = load i32, ptr %flags.p
  %nd.p = getelementptr i8, ptr %a, i64 @NDIM@
  %nd32 = load i32, ptr %nd.p
  %nd = sext i32 %nd32 to i64
  %dims.p = getelementptr i8, ptr %a, i64 @DIMS@
  %dims = load ptr, ptr %dims.p
  %lead = sub i64 %nd, %core
  %c0 = icmp eq ptr %dtype, %float64
  %set = and i32 %flags, %want
  %c1 = icmp eq i32 %set, %want
  %c2 = icmp sge i64 %lead, 0
  %c3 = and i1 %c0, %c1
  %c4 = and i1 %c3, %c2
  br i1 %c4, label %sizes, label %bad
sizes:
  %tail = getelementptr i64, ptr %dims, i64 %lead
  %fits = call i1 @equal(ptr %tail, ptr %shape, i64 %core)
  %answer = select i1 %fits, i64 %lead, i64 -1
  ret i64 %answer
bad:
  ret i64 -1
}
define internal i1 @equal(ptr %a, ptr %b, i64 %count) nounwind {
start:
  br label %next
next:
  %k = phi i64 [ 0, %start ], [ %ahead, %look ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %look, label %good
look:
  %ap = getelementptr i64, ptr %a, i64 %k
  %bp = getelementptr i64, ptr %b, i64 %k
  %x = load i64, ptr %ap
  %y = load i64, ptr %bp
  %same = icmp eq i64 %x, %y
  %ahead = add i64 %k, 1
  br i1 %same, label %next, label %bad
good:
  ret i1 true
bad:
  ret i1 false
}
define internal i1 @same(ptr %a, i64 %na, ptr %b, i64 %nb) nounwind {
  %alone = icmp eq i64 %na, 0
  br i1 %alone, label %good, label %count
count:
  %as_many = icmp eq i64 %na, %nb
  br i1 %as_many, label %look, label %bad
look:
  %a.p = getelementptr i8, ptr %a, i64 @DIMS@
  %b.p = getelementptr i8, ptr %b, i64 @DIMS@
  %a.dims = load ptr, ptr %a.p
  %b.dims = load ptr, ptr %b.p
  %equal = call i1 @equal(ptr %a.dims, ptr %b.dims, i64 %na)
  ret i1 %equal
good:
  ret i1 true
bad:
  ret i1 false
}
define internal i64 @samples(ptr %a, i64 %axes, ptr %to) nounwind {
start:
  %one = icmp eq i64 %axes, 0
  br i1 %one, label %alone, label %many
alone:
  ret i64 1
many:
  %dims.p = getelementptr i8, ptr %a, i64 @DIMS@
  %dims = load ptr, ptr %dims.p
  br label %next
next:
  %k = phi i64 [ 0, %many ], [ %ahead, %next ]
  %count = phi i64 [ 1, %many ], [ %product, %next ]
  %from.p = getelementptr i64, ptr %dims, i64 %k
  %to.p = getelementptr i64, ptr %to, i64 %k
  %size = load i64, ptr %from.p
  store i64 %size, ptr %to.p
  %product = mul i64 %count, %size
  %ahead = add i64 %k, 1
  %more = icmp slt i64 %ahead, %axes
  br i1 %more, label %next, label %done
done:
  ret i64 %product
}
