; Parts of `rollouts` and `rollout_driver`, in which @NAME@ stands for what `rollout_driver` fills in.
;; body
  br label %body
body:
  %t = phi i64 [ 0, %entry ], [ %next, %latch ]
;; place
  %go@PORT@ = mul i64 %t, %a@PORT@
  %p@PORT@ = getelementptr i8, ptr %@PORT@, i64 %go@PORT@
;; latch
  br label %latch
latch:
  %next = add i64 %t, 1
  %more = icmp slt i64 %next, %steps
  br i1 %more, label %body, label %done
done:
;; some
entry:
  %some = icmp sgt i64 %count, 0
  %any = icmp sgt i64 %steps, 0
  %work = and i1 %some, %any
  br i1 %work, label %start, label %done
start:
;; rollouts
  br label %rollouts
rollouts:
  %k = phi i64 [ 0, %start ], [ %next, %rollouts ]
  %remaining = sub i64 %count, %k
;; row
  %shift@PORT@ = mul i64 %k, %s@PORT@
  %row@PORT@ = getelementptr i8, ptr %@PORT@, i64 %shift@PORT@
;; next
  call void @rollouts(@WORDS@, ptr %uniform, i64 %remaining, i64 %steps)
  %next = add i64 %k, @WIDTH@
  %more = icmp slt i64 %next, %count
  br i1 %more, label %rollouts, label %done
done:
