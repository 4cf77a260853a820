#include "compare_sample.h"

#include "machine.h"

#include <gtest/gtest.h>

namespace tilewright::lockstep {

namespace {

const char *const text = R"(
   load.set r0=s_s1, v0=64, r1=d_s1, v1=64
   matrix.set r0=a_s0, v0=4, r1=w_s0, v1=4
   matrix.set r0=d_s0, v0=4, r1=a_s1, v1=0
   vector.set r0=a_s0, v0=4, r1=d_s0, v1=4
   load s=0, d=0, n1=4, n0=64 !signal=0
   mload w=0, k=4, n=4 !wait=0
   loop count=3, length=work
   mmul a=0x10, d=0, n1=1, n0=20, k=4, n=4, accumulate=1, swap=1
   mload w=0x40, k=4, n=4
work: fence
   vrescale a=0, d=0x1000, n0=20, nc=4
   vadd.i8 a=0x1000, b=0x20, d=0x1100, n0=20, nc=4
   fence
   store s=0x1000, d=0x4000, n1=1, n0=80
   halt
)";

} // namespace

const Program &sample() {
  static const Program program = [] {
    Program made = assemble(text);
    made.layers = {{"conv", "Conv", 0, 0, 0, 0, 0}};
    made.runs = {{0, -1}, {6, 0}, {9, -1}};
    TensorInfo y;
    y.name = "y";
    y.shape = {80};
    y.address = 0x4000;
    made.outputs = {y};
    return made;
  }();
  return program;
}

Comparison compareWith(const std::vector<Engine *> &engines, const CompareOptions &options,
                       const Program &program) {
  return compare(tiny(), program, [&] { return DramImage(program); }, engines, options);
}

Difference found(const std::function<Lie()> &make, const CompareOptions &options) {
  LyingEngine liar(cycleEngine(), make);
  const Comparison comparison = compareWith({&cycleEngine(), &liar}, options);
  EXPECT_TRUE(comparison.difference);
  EXPECT_EQ(comparison.engines, "cycle,liar");
  return comparison.difference.value_or(Difference());
}

const Recorder &truth() {
  static const Recorder recorder = [] {
    Recorder made;
    RunOptions options;
    options.sink = &made;
    DramImage memory(sample());
    cycleEngine().run(sample(), memory, options);
    return made;
  }();
  return recorder;
}
int unitIndex(const char *name) { return tiny().findUnit(name)->index; }
AccessEvent writeOf(const char *unit, size_t nth) {
  for (const AccessEvent &event : truth().accesses)
    if (event.isWrite && event.unit == unitIndex(unit) && nth-- == 0)
      return event;
  ADD_FAILURE() << unit << " writes less";
  return {};
}
std::function<Lie()> onWrite(const char *unit, int nth,
                             const std::function<void(AccessEvent &)> &change) {
  return [=] {
    Lie lie;
    lie.access = [=, left = nth](AccessEvent &event) mutable {
      if (event.isWrite && event.unit == unitIndex(unit) && left-- == 0)
        change(event);
    };
    return lie;
  };
}

std::string ofRecord(const std::function<void(RunRecord &)> &change) {
  return found([&] {
           Lie lie;
           lie.record = change;
           return lie;
         })
      .text;
}

} // namespace tilewright::lockstep
