; target tiny4
; The first mload waits to signal a semaphore that is full; the one behind it has started, too. The deadlock names the first.
loop          count=63, length=1
matrix.set    r0=a_s0, v0=0, r1=a_s0, v1=0 !signal=8
mload         w=0x0, k=0, n=0 !signal=8
mload         w=0x0, k=0, n=0
fence
halt
