; target edge16
; The second store waits to signal a semaphore that is full. It has left its queue, which takes all the others, and the program runs past
; its end.
loop          count=63, length=1
store.set     r0=s_s1, v0=0, r1=s_s1, v1=0 !signal=6
store.i16     s=0x0, d=0x0, n1=0, n0=0 !signal=6
loop          count=16, length=1
store.i16     s=0x0, d=0x0, n1=0, n0=0
