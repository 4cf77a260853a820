#include "programs.h"

#include <fmt/format.h>

namespace tilewright::cycle {

std::string matmulProgram(int repetitions) {
  // Activations in bank 0 and 1, weights of a column of folds in banks 4 and 5 (two buffers),
  // results in banks 6 and 7.
  std::string text = R"(
    load.set   r0=s_s1, v0=0, r1=d_s1, v1=0
    matrix.set r0=a_s0, v0=256, r1=a_s1, v1=0
    matrix.set r0=d_s0, v0=16, r1=w_s0, v1=16
    vector.set r0=a_s0, v0=16, r1=d_s0, v1=16
    load s=0, d=0, n1=1, n0=50176 !signal=0
    load s=0x20000, d=0x1f000, n1=1, n0=192 !signal=4
    vchannel a=0x1f000, nc=16 !wait=4
    load.set   r0=s_s1, v0=0, r1=d_s1, v1=0 !signal=1
    load.set   r0=s_s1, v0=0, r1=d_s1, v1=0 !signal=1
    matrix.set r0=a_zp, v0=0, r1=w_zp, v1=0 !wait=0
    vector.set r0=d_zp, v0=0, r1=lo, v1=-128 !signal=3
    vector.set r0=d_zp, v0=0, r1=lo, v1=-128 !signal=3
    store.set  r0=s_s1, v0=0, r1=d_s1, v1=0 !signal=6
    store.set  r0=s_s1, v0=0, r1=d_s1, v1=0 !signal=6
)";
  text += fmt::format("    loop count={}, length=end\n", repetitions);
  for (int column = 0; column < 16; ++column) {
    const int half = column % 2;
    const int weights = 0x20000 + half * 0x8000, accumulators = half * 8192,
              results = 0x30000 + half * 0x8000;
    text += fmt::format("    load s={}, d={}, n1=1, n0=4096 !wait=1 !signal=2\n",
                        0x30000 + column * 4096, weights);
    for (int fold = 0; fold < 16; ++fold) {
      text += fmt::format("    mload w={}, k=16, n=16{}{}\n", weights + fold * 256,
                          fold == 0 ? " !wait=2" : "", fold == 15 ? " !signal=1" : "");
      text +=
          fmt::format("    mmul a={}, d={}, n1=1, n0=196, k=16, n=16, accumulate={}, swap=1{}{}\n",
                      fold * 16, accumulators, fold == 0 ? 0 : 1, fold == 0 ? " !wait=3" : "",
                      fold == 15 ? " !signal=5" : "");
    }
    text += fmt::format("    vrescale a={}, d={}, n0=196, nc=16 !wait=5,6 !signal=3,7\n",
                        accumulators, results);
    text += fmt::format("    store s={}, d={}, n1=1, n0=3136 !wait=7 !signal=6\n", results,
                        0x60000 + column * 4096);
  }
  text += "end: halt\n";
  return text;
}

std::string shortFoldProgram(int repetitions) {
  return fmt::format(R"(
    matrix.set r0=a_s0, v0=16, r1=w_s0, v1=16
    matrix.set r0=d_s0, v0=16, r1=a_s1, v1=0
    loop count={}, length=end
    mload w=0x8000, k=16, n=16
    mmul a=0, d=0, n1=1, n0=16, k=16, n=16, accumulate=1, swap=1
    mload w=0x8100, k=16, n=16
    mmul a=0x100, d=0, n1=1, n0=16, k=16, n=16, accumulate=1, swap=1
end: halt
)",
                     1000 * repetitions);
}

std::string vectorProgram(int repetitions) {
  std::string text = R"(
    load.set   r0=s_s1, v0=0, r1=d_s1, v1=0
    load.set   r0=s_s1, v0=0, r1=d_s1, v1=0
    vector.set r0=a_s0, v0=64, r1=d_s0, v1=64
    vector.set r0=a_s1, v0=1024, r1=d_s1, v1=896
    vector.set r0=k0, v0=3, r1=k1, v1=3
    vector.set r0=a_k0, v0=64, r1=a_k1, v1=1024
    vector.set r0=b_k0, v0=64, r1=b_k1, v1=192
    load s=0x20000, d=0x1e000, n1=1, n0=768 !signal=4
    vchannel a=0x1e000, nc=64 !wait=4
    load s=0x28000, d=0x1f000, n1=1, n0=576 !signal=4
    vector.set r0=n1, v0=14, r1=lo, v1=-128 !wait=4
    load.set   r0=s_s1, v0=0, r1=d_s1, v1=0 !signal=1
    load.set   r0=s_s1, v0=0, r1=d_s1, v1=0 !signal=1
    store.set  r0=s_s1, v0=0, r1=d_s1, v1=0 !signal=6
    store.set  r0=s_s1, v0=0, r1=d_s1, v1=0 !signal=6
)";
  text += fmt::format("    loop count={}, length=end\n", repetitions);
  for (int tile = 0; tile < 8; ++tile) {
    const int half = tile % 2;
    const int input = half * 0x8000, output = 0x20000 + half * 0x8000;
    text += fmt::format("    load s={}, d={}, n1=1, n0=16384 !wait=1 !signal=2\n",
                        0x30000 + tile * 16384, input);
    text += fmt::format("    vdw.i8 a={}, b=0x1f000, d={}, n0=14, nc=64 !wait=2,6 !signal=1,7\n",
                        input, output);
    text += fmt::format("    store s={}, d={}, n1=1, n0=12544 !wait=7 !signal=6\n", output,
                        0x60000 + tile * 16384);
  }
  text += "end: halt\n";
  return text;
}

} // namespace tilewright::cycle
