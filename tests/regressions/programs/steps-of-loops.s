; target edge16
; Steps of loops: of two loops that end together the inner one's count; a skipped loop ends a run; what the last instruction sets is not
; stepped; of two steps of one register the latter counts; register 0 stays zero; what leaves a loop ends no run.
loop.step     count=3, length=2, r0=1, step0=64, r1=2, step1=-16
loop.step     count=2, length=1, r0=3, step0=32, r1=2, step1=8
load          s=0x100+x2, d=0x200+x3, n1=1, n0=16
loop.step     count=4, length=2, r0=1, step0=48, r1=1, step1=16
load          s=0x180+x1, d=0x400+x1, n1=1, n0=16
loop          count=0, length=1
load          s=0x0+x1, d=0x800+x1, n1=1, n0=16
loop.step     count=3, length=2, r0=4, step0=160, r1=0, step1=99
load          s=0x40+x4, d=0x600+x1, n1=1, n0=8
xadd          rd=4, rs=4, value=32
loop.step     count=3, length=3, r0=5, step0=64, r1=6, step1=-1
load          s=0x80+x5, d=0x700+x5, n1=1, n0=8
branch        rs=5, negate=1, offset=2
load          s=0x90+x4, d=0xa00+x5, n1=1, n0=8
load          s=0xa0+x6, d=0xb00+x5, n1=1, n0=8
halt
