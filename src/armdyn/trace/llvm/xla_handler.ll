; Parts of `handler`, in which @NAME@ stands for what `xla_handler` fills in.
;; handler
define ptr @handler(ptr %frame) nounwind {
entry:
  %args = alloca [@PORTS@ x ptr]
  %steps = alloca [@PORTS@ x i64]
  %count = alloca i64
  %extension.p = getelementptr i8, ptr %frame, i64 @EXTENSION@
  %extension = load ptr, ptr %extension.p
  %plain = icmp eq ptr %extension, null
  br i1 %plain, label %run, label %ask
ask:
  %kind.p = getelementptr i8, ptr %extension, i64 @KIND@
  %kind = load i32, ptr %kind.p
  %asked = icmp eq i32 %kind, 1
  br i1 %asked, label %tell, label %run
tell:
  %api.p = getelementptr i8, ptr %frame, i64 @API@
  %api = load ptr, ptr %api.p
  %theirs.p = getelementptr i8, ptr %api, i64 @API_MINOR@
  %theirs = load i32, ptr %theirs.p
  %older = icmp slt i32 %theirs, @MAX_MINOR@
  %minor = select i1 %older, i32 %theirs, i32 @MAX_MINOR@
  %metadata.p = getelementptr i8, ptr %extension, i64 @METADATA@
  %metadata = load ptr, ptr %metadata.p
  %to_size = getelementptr i8, ptr %metadata, i64 @VERSION_SIZE@
  store i64 24, ptr %to_size
  %to_extension = getelementptr i8, ptr %metadata, i64 @VERSION_EXTENSION@
  store ptr null, ptr %to_extension
  %to_major = getelementptr i8, ptr %metadata, i64 @MAJOR@
  store i32 0, ptr %to_major
  %to_minor = getelementptr i8, ptr %metadata, i64 @MINOR@
  store i32 %minor, ptr %to_minor
  %to_traits = getelementptr i8, ptr %metadata, i64 @TRAITS@
  store i32 0, ptr %to_traits
  ret ptr null
run:
  %arguments.p = getelementptr i8, ptr %frame, i64 @ARGUMENTS@
  %arguments = load ptr, ptr %arguments.p
  %results.p = getelementptr i8, ptr %frame, i64 @RESULTS@
  %results = load ptr, ptr %results.p
;; buffer
  %b@PORT@.p = getelementptr i8, ptr %@TABLE@, i64 @PLACE@
  %b@PORT@ = load ptr, ptr %b@PORT@.p
  %data@PORT@.p = getelementptr i8, ptr %b@PORT@, i64 @DATA@
  %data@PORT@ = load ptr, ptr %data@PORT@.p
  %a@PORT@ = getelementptr ptr, ptr %args, i64 @PORT@
  store ptr %data@PORT@, ptr %a@PORT@
;; shared
  %s@PORT@ = getelementptr i64, ptr %steps, i64 @PORT@
  store i64 0, ptr %s@PORT@
;; step
  %d@PORT@.p = getelementptr i8, ptr %b@PORT@, i64 @DIMS@
  %d@PORT@ = load ptr, ptr %d@PORT@.p
  %n@PORT@ = load i64, ptr %d@PORT@
  %one@PORT@ = icmp eq i64 %n@PORT@, 1
  %step@PORT@ = select i1 %one@PORT@, i64 0, i64 @SIZE@
  %s@PORT@ = getelementptr i64, ptr %steps, i64 @PORT@
  store i64 %step@PORT@, ptr %s@PORT@
;; loop
  store i64 %n@PORT@, ptr %count
  call void @loop(ptr %args, ptr %count, ptr %steps, ptr null)
  ret ptr null
}
