; target tiny4
; The vector unit's write was denied by the matrix unit's in the last cycle before the cycle engine skipped steady ones: after
; them it asked for the bank of the write that had been denied, and not of its next one.
vsumpool      a=0x0, d=0x203, n0=5, nc=19
load.u8       s=0x0, d=0x0, n1=0, n0=0
store.i8      s=0x0, d=0x0, n1=0, n0=0
matrix.set    r0=d_s0, v0=10, r1=a_s0, v1=0
mmul          a=0x0, d=0x1fa, n1=1, n0=3, k=0, n=1, accumulate=0, swap=0
store.set     r0=s_s0, v0=0, r1=s_s0, v1=0
halt
