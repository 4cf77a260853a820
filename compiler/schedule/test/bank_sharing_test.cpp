#include "bank_sharing.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace tilewright::chains {

class BankSharing : public ::testing::Test {
protected:
  static isa::Isa edge16() {
    isa::LoadOptions options;
    options.target = "edge16";
    return isa::load(options);
  }
  int buffer(isa::Space space) { return steps_.add(space, 64, "tile"); }
  void add(Stream stream, int64_t start, int64_t cycles, std::vector<Task> tasks) {
    run_.pieces.push_back({std::move(tasks)});
    run_.order.push_back({static_cast<int>(stream), cycles, {}});
    starts_.push_back(start);
  }
  // Of `rows` activations.
  Task product(int activations, int sums, int64_t rows, bool accumulates = false) {
    return context_.form(isa::Role::MatrixProduct)
        .build()
        .buffer("a", activations, 0)
        .buffer("d", sums, 0)
        .imm("n1", 1)
        .imm("n0", rows)
        .imm("k", 16)
        .imm("n", 16)
        .imm("accumulate", accumulates ? 1 : 0);
  }
  // 3 x 3 taps of `pixels` pixels of 16 channels.
  Task windows(int input, int weights, int result, int64_t pixels) {
    return context_.form(isa::Role::DepthwiseI8)
        .build()
        .buffer("a", input, 0)
        .buffer("b", weights, 0)
        .buffer("d", result, 0)
        .imm("n0", pixels)
        .imm("nc", 16)
        .reg("n1", 1)
        .reg("k1", 3)
        .reg("k0", 3)
        .reg("a_s0", 16)
        .reg("a_k1", 160)
        .reg("a_k0", 16)
        .reg("b_k1", 48)
        .reg("b_k0", 16);
  }
  double cycles(int one, int other) const {
    for (const BankConflict &each : conflictsOf(context_, run_, starts_))
      if (std::pair<int, int>(each.first, each.second) ==
          std::pair<int, int>(std::minmax(one, other)))
        return each.cycles;
    return 0;
  }

  const isa::Isa isa_ = edge16();
  ConstantPool constants_{0};
  const DramTensors tensors_;
  LoweringContext context_{isa_, constants_, tensors_, Buffering::Double, nullptr};
  Steps steps_;
  chains::Run run_{steps_};
  std::vector<int64_t> starts_;
  const int input_ = buffer(isa::Space::Spad), weights_ = buffer(isa::Space::Spad),
            between_ = buffer(isa::Space::Spad), result_ = buffer(isa::Space::Spad),
            sums_ = buffer(isa::Space::Acc);
};

TEST_F(BankSharing, WindowsReadRowsAndWeightsSideBySide) {
  add(Stream::Lanes, 0, 90, {windows(between_, weights_, result_, 10)});
  EXPECT_EQ(cycles(between_, weights_), 90);
  EXPECT_EQ(cycles(between_, result_), 0); // one port reads, another one writes
}

TEST_F(BankSharing, UnitsConflictWhileBothAreAtWork) {
  add(Stream::HeadProducts, 0, 60, {product(input_, sums_, 60)});
  add(Stream::Lanes, 40, 90, {windows(between_, weights_, result_, 10)});
  EXPECT_EQ(cycles(input_, between_), 20);
  EXPECT_EQ(cycles(input_, result_), 0);
}

TEST_F(BankSharing, ProductsBringInTheWeightsOfTheNext) {
  const Task load = context_.form(isa::Role::LoadWeights)
                        .build()
                        .buffer("w", weights_, 0)
                        .imm("k", 12)
                        .imm("n", 16);
  add(Stream::HeadProducts, 0, 120,
      {load, product(input_, sums_, 60), load, product(input_, sums_, 60)});
  EXPECT_EQ(cycles(input_, weights_), 12); // the first ones come before all products
}

TEST_F(BankSharing, ProductsThatAddUpReadTheirSums) {
  const int others = buffer(isa::Space::Acc);
  const Task rescale = context_.form(isa::Role::Rescale)
                           .build()
                           .buffer("a", others, 0)
                           .buffer("d", result_, 0)
                           .imm("n0", 30)
                           .imm("nc", 16)
                           .reg("n1", 1)
                           .reg("a_s0", 16);
  add(Stream::HeadProducts, 0, 60, {product(input_, sums_, 60)});
  add(Stream::HeadFinish, 0, 30, {rescale});
  EXPECT_EQ(cycles(sums_, others), 0);
  add(Stream::TailProducts, 60, 60, {product(input_, sums_, 60, true)});
  add(Stream::HeadFinish, 60, 30, {rescale});
  EXPECT_EQ(cycles(sums_, others), 30);
}

} // namespace tilewright::chains
