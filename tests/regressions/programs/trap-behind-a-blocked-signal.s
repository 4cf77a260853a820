; target edge16
; The second load waits to signal a semaphore that is full. The third one starts behind it, and traps.
loop          count=63, length=1
load.set      r0=s_s1, v0=0, r1=s_s1, v1=0 !signal=6
load.i16      s=0x0, d=0x0, n1=0, n0=0 !signal=6
load.u16      s=0x0, d=0x3ff4, n1=1, n0=14
fence
