#include "float_fixture.h"

#include "tilewright/support/error.h"
#include "tilewright/support/parallel.h"

#include <cmath>
#include <gmock/gmock.h>
#include <map>

namespace tilewright {

namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

constexpr const char *convolution = R"(
func.func @main(%x: tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32> {
  %w = "tosa.const"() {values = dense<[[[[1.0, 0.0], [0.0, 0.0], [0.0, 2.0]]], [[[0.0, 0.0], [0.0, -1.0], [0.0, 0.0]]]]> : tensor<2x1x3x2xf32>} : () -> tensor<2x1x3x2xf32>
  %b = "tosa.const"() {values = dense<[10.0, 0.5]> : tensor<2xf32>} : () -> tensor<2xf32>
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %y = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 1, 1>, stride = array<i64: 1, 1>}
    : (tensor<1x3x3x2xf32>, tensor<2x1x3x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x2xf32>
  return %y : tensor<1x3x3x2xf32>
})";

TEST_F(FloatExecution, ConvolvesWithPadsAndBias) {
  std::vector<float> x(18);
  for (int i = 0; i < 18; ++i)
    x[i] = float(i);
  std::vector<float> expected;
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 3; ++column) {
      auto at = [&](int c, int channel) {
        return c < 0 || c > 2 ? 0.0f : x[row * 6 + c * 2 + channel];
      };
      expected.push_back(10 + at(column - 1, 0) + 2 * at(column + 1, 1));
      expected.push_back(0.5f - at(column, 1));
    }
  EXPECT_EQ(floats(compile(convolution)->run({tensor({1, 3, 3, 2}, x)})[0]), expected);
}

// Sizes that no block of sums divides: what is left over is made of smaller ones.
TEST_F(FloatExecution, SumsInTheOrderOfTheReductionWhateverTheBlocks) {
  constexpr int height = 5, width = 11, inputs = 19, outputs = 125, taps = 3;
  std::vector<float> x(height * width * inputs), w(outputs * taps * taps * inputs), b(outputs);
  uint32_t state = 1;
  for (std::vector<float> *each : {&x, &w, &b})
    for (float &value : *each)
      value = float(int32_t(state = state * 1664525 + 1013904223) >> 8) * 1e-6f;
  auto executable = compile(R"(
func.func @main(%x: tensor<1x5x11x19xf32>, %w: tensor<125x3x3x19xf32>, %b: tensor<125xf32>) -> tensor<1x5x11x125xf32> {
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %y = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}
    : (tensor<1x5x11x19xf32>, tensor<125x3x3x19xf32>, tensor<125xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x5x11x125xf32>
  return %y : tensor<1x5x11x125xf32>
})");
  std::vector<float> found =
      floats(executable->run({tensor({1, height, width, inputs}, x),
                              tensor({outputs, taps, taps, inputs}, w), tensor({outputs}, b)})[0]);
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column)
      for (int o = 0; o < outputs; ++o) {
        float sum = b[o];
        for (int v = 0; v < taps; ++v)
          for (int u = 0; u < taps; ++u)
            for (int i = 0; i < inputs; ++i) {
              int r = row + v - 1, c = column + u - 1;
              bool isInside = r >= 0 && r < height && c >= 0 && c < width;
              float value = isInside ? x[(r * width + c) * inputs + i] : 0.0f;
              sum += value * w[((o * taps + v) * taps + u) * inputs + i];
            }
        ASSERT_EQ(found[(row * width + column) * outputs + o], sum)
            << row << " " << column << " " << o;
      }
}

TEST_F(FloatExecution, ConvolvesIntegersWithZeroPointsInBlocks) {
  constexpr int height = 7, width = 12, inputs = 17, outputs = 97;
  auto executable = compile(R"(
func.func @main(%x: tensor<1x7x12x17xi8>, %w: tensor<97x3x3x17xi8>) -> tensor<1x7x12x97xi32> {
  %b = "tosa.const"() {values = dense<5> : tensor<97xi32>} : () -> tensor<97xi32>
  %xz = "tosa.const"() {values = dense<-3> : tensor<1xi8>} : () -> tensor<1xi8>
  %wz = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %y = tosa.conv2d %x, %w, %b, %xz, %wz {acc_type = i32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}
    : (tensor<1x7x12x17xi8>, tensor<97x3x3x17xi8>, tensor<97xi32>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x7x12x97xi32>
  return %y : tensor<1x7x12x97xi32>
})");
  Tensor x = makeTensor(DType::I8, {1, height, width, inputs}),
         w = makeTensor(DType::I8, {outputs, 3, 3, inputs});
  for (Tensor *each : {&x, &w})
    for (int64_t i = 0; i < each->elements(); ++i)
      each->data<int8_t>()[i] = static_cast<int8_t>(i * 73 + 11);
  Tensor found = executable->run({x, w})[0];
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column)
      for (int o = 0; o < outputs; ++o) {
        int sum = 5;
        for (int tap = 0; tap < 9; ++tap) {
          int r = row + tap / 3 - 1, c = column + tap % 3 - 1;
          for (int i = 0; i < inputs && r >= 0 && r < height && c >= 0 && c < width; ++i)
            sum += (x.data<int8_t>()[(r * width + c) * inputs + i] + 3) *
                   w.data<int8_t>()[(o * 9 + tap) * inputs + i];
        }
        ASSERT_EQ(found.data<int32_t>()[(row * width + column) * outputs + o], sum)
            << row << " " << column << " " << o;
      }
}

TEST_F(FloatExecution, PoolsAndConvolvesDepthwiseInBlocks) {
  auto executable = compile(R"(
func.func @main(%x: tensor<1x20x26x91xf32>, %w: tensor<6x6x91x1xf32>) -> (tensor<1x15x21x91xf32>, tensor<1x15x21x91xf32>) {
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %b = "tosa.const"() {values = dense<0.25> : tensor<91xf32>} : () -> tensor<91xf32>
  %y = tosa.depthwise_conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
    : (tensor<1x20x26x91xf32>, tensor<6x6x91x1xf32>, tensor<91xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x15x21x91xf32>
  %m = tosa.max_pool2d %x {kernel = array<i64: 6, 6>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
    : (tensor<1x20x26x91xf32>) -> tensor<1x15x21x91xf32>
  return %y, %m : tensor<1x15x21x91xf32>, tensor<1x15x21x91xf32>
})");
  std::vector<float> x(20 * 26 * 91), w(6 * 6 * 91);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float((i * 37) % 101) - 50;
  for (size_t i = 0; i < w.size(); ++i)
    w[i] = float((i * 11) % 23) - 11;
  std::vector<Tensor> found =
      executable->run({tensor({1, 20, 26, 91}, x), tensor({6, 6, 91, 1}, w)});
  std::vector<float> sums = floats(found[0]), maxima = floats(found[1]);
  for (int row = 0; row < 15; ++row)
    for (int column = 0; column < 21; ++column)
      for (int c = 0; c < 91; ++c) {
        float sum = 0.25f, greatest = -HUGE_VALF;
        for (int tap = 0; tap < 36; ++tap) {
          float value = x[((row + tap / 6) * 26 + column + tap % 6) * 91 + c];
          sum += value * w[tap * 91 + c];
          greatest = std::max(greatest, value);
        }
        size_t at = (row * 21 + column) * 91 + c;
        ASSERT_EQ(sums[at], sum);
        ASSERT_EQ(maxima[at], greatest);
      }
}

constexpr const char *softmax = R"(
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %m = tosa.reduce_max %x {axis = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %d = tosa.sub %x, %m : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %e = tosa.exp %d : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %s = tosa.reduce_sum %e {axis = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  %r = tosa.reciprocal %s : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %y = tosa.mul %e, %r, %shift : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<1xi8>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
})";

TEST_F(FloatExecution, BroadcastsAndReduces) {
  std::vector<float> y = floats(compile(softmax)->run({tensor({2, 3}, {0, 0, 0, 100, 0, 100})})[0]);
  EXPECT_THAT(y, Pointwise(FloatNear(1e-6f),
                           std::vector<float>{1.0f / 3, 1.0f / 3, 1.0f / 3, 0.5f, 0, 0.5f}));
}

TEST_F(FloatExecution, ShowsWatchedValues) {
  auto executable = compile(softmax, {"tosa.mul", "tosa.reduce_max"});
  FloatExecutable::Workspace workspace;
  std::map<size_t, std::vector<float>> seen;
  std::vector<Tensor> results =
      executable->run({tensor({2, 3}, {1, 2, 3, 4, 5, 6})}, workspace,
                      [&](size_t index, const Tensor &tensor) { seen[index] = floats(tensor); });
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0], floats(results[0]));
  EXPECT_THAT(seen[1], ElementsAre(3, 6));
}

TEST_F(FloatExecution, ShowsWatchedArgumentsAndReshapes) {
  auto executable = compile(R"(
    func.func @main(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
      %s = tosa.const_shape {values = dense<[3, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
      %r = tosa.reshape %x, %s : (tensor<2x3xf32>, !tosa.shape<2>) -> tensor<3x2xf32>
      %y = tosa.abs %r : (tensor<3x2xf32>) -> tensor<3x2xf32>
      return %y : tensor<3x2xf32>
    })");
  auto main = module_->lookupSymbol<mlir::func::FuncOp>("main");
  mlir::Operation *last = main.getBody().front().getTerminator()->getOperand(0).getDefiningOp();
  executable = FloatExecutable::create(*module_, {last->getOperand(0), main.getArgument(0)});
  FloatExecutable::Workspace workspace;
  std::map<size_t, std::vector<int64_t>> shapes;
  Tensor x = tensor({2, 3}, {-1, 2, -3, 4, -5, 6});
  std::vector<Tensor> results =
      executable->run({x}, workspace, [&](size_t index, const Tensor &tensor) {
        shapes[index] = tensor.shape;
        EXPECT_EQ(tensor.bytes, x.bytes);
      });
  EXPECT_THAT(shapes[0], ElementsAre(3, 2));
  EXPECT_THAT(shapes[1], ElementsAre(2, 3));
  EXPECT_THAT(floats(results[0]), ElementsAre(1, 2, 3, 4, 5, 6));
}

// Large enough for blocks of rows (row_blocks.h), with an operator between that needs none.
const std::string attention = R"(
func.func @main(%q: tensor<2x1024x4xf32>, %k: tensor<2x4x2048xf32>, %v: tensor<1x2x2048x4xf32>) -> tensor<2x1024x4xf32> {
  %zero = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %whole = tosa.const_shape {values = dense<[2, 2048, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %s = tosa.matmul %q, %k, %zero, %zero : (tensor<2x1024x4xf32>, tensor<2x4x2048xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x1024x2048xf32>
  %m = tosa.reduce_max %s {axis = 2 : i32} : (tensor<2x1024x2048xf32>) -> tensor<2x1024x1xf32>
  %d = tosa.sub %s, %m : (tensor<2x1024x2048xf32>, tensor<2x1024x1xf32>) -> tensor<2x1024x2048xf32>
  %e = tosa.exp %d : (tensor<2x1024x2048xf32>) -> tensor<2x1024x2048xf32>
  %w = tosa.reshape %v, %whole : (tensor<1x2x2048x4xf32>, !tosa.shape<3>) -> tensor<2x2048x4xf32>
  %sum = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<2x1024x2048xf32>) -> tensor<2x1024x1xf32>
  %r = tosa.reciprocal %sum : (tensor<2x1024x1xf32>) -> tensor<2x1024x1xf32>
  %p = tosa.mul %e, %r, %shift : (tensor<2x1024x2048xf32>, tensor<2x1024x1xf32>, tensor<1xi8>) -> tensor<2x1024x2048xf32>
  %y = tosa.matmul %p, %w, %zero, %zero : (tensor<2x1024x2048xf32>, tensor<2x2048x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x1024x4xf32>
  return %y : tensor<2x1024x4xf32>
})";

TEST_F(FloatExecution, MakesWhatIsAskedForInPartsAsItMakesTheWhole) {
  std::vector<Tensor> inputs;
  for (const std::vector<int64_t> &shape :
       {std::vector<int64_t>{2, 1024, 4}, {2, 4, 2048}, {1, 2, 2048, 4}}) {
    inputs.push_back(makeTensor(DType::F32, shape));
    for (int64_t i = 0; i < inputs.back().elements(); ++i)
      inputs.back().data<float>()[i] = static_cast<float>((i * 37 + 11) % 101) / 64 - 0.75f;
  }
  std::vector<std::vector<char>> seen(2), results;
  std::vector<int> parts(2, 0);
  compile(attention.c_str());
  mlir::Value exponentials;
  module_->walk([&](mlir::tosa::ExpOp op) { exponentials = op.getResult(); });
  for (size_t inParts : {size_t{0}, size_t{1}}) {
    auto executable = FloatExecutable::create(*module_, {exponentials}, 0, inParts);
    FloatExecutable::Workspace workspace;
    results.push_back(executable
                          ->run(inputs, workspace,
                                [&](size_t, const Tensor &tensor) {
                                  seen[inParts].insert(seen[inParts].end(), tensor.bytes.begin(),
                                                       tensor.bytes.end());
                                  ++parts[inParts];
                                })[0]
                          .bytes);
  }
  EXPECT_EQ(parts[0], 1);
  EXPECT_GT(parts[1], 1);
  EXPECT_TRUE(seen[0] == seen[1]);
  EXPECT_TRUE(results[0] == results[1]);
}

TEST_F(FloatExecution, MultipliesAValueWithItself) {
  constexpr int64_t batches = 16, rows = 512;
  auto executable = compile(
      R"(func.func @main(%x: tensor<16x512x512xf32>, %v: tensor<16x512x2xf32>) -> tensor<16x512x2xf32> {
  %zero = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %s = tosa.matmul %x, %x, %zero, %zero : (tensor<16x512x512xf32>, tensor<16x512x512xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<16x512x512xf32>
  %e = tosa.abs %s : (tensor<16x512x512xf32>) -> tensor<16x512x512xf32>
  %y = tosa.matmul %e, %v, %zero, %zero : (tensor<16x512x512xf32>, tensor<16x512x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<16x512x2xf32>
  return %y : tensor<16x512x2xf32>
})");
  // Twice the identity, mirrored: its square is four times the identity.
  Tensor x = makeTensor(DType::F32, {batches, rows, rows}),
         v = makeTensor(DType::F32, {batches, rows, 2});
  for (int64_t batch = 0; batch < batches; ++batch)
    for (int64_t row = 0; row < rows; ++row)
      x.data<float>()[(batch * rows + row) * rows + rows - 1 - row] = 2;
  for (int64_t i = 0; i < v.elements(); ++i)
    v.data<float>()[i] = static_cast<float>(i % 97) - 40;
  Tensor y = executable->run({x, v})[0];
  for (int64_t i = 0; i < v.elements(); ++i)
    ASSERT_EQ(y.data<float>()[i], 4 * v.data<float>()[i]) << i;
}

TEST_F(FloatExecution, GivesTheSameInAWorkspaceOfEarlierRuns) {
  auto executable = compile(softmax);
  FloatExecutable::Workspace workspace;
  std::vector<Tensor> x = {tensor({2, 3}, {1, 2, 3, 4, 5, 6})}, first = executable->run(x);
  executable->run({tensor({2, 3}, {9, 8, 7, 3, 2, 1})}, workspace, nullptr);
  EXPECT_EQ(executable->run(x, workspace, nullptr)[0].bytes, first[0].bytes);
}

TEST_F(FloatExecution, RunsInSeveralThreads) {
  auto executable = compile(convolution);
  std::vector<float> x(18, 1.5f);
  Tensor expected = executable->run({tensor({1, 3, 3, 2}, x)})[0];
  std::vector<int> wrong(4, 0);
  parallelFor(4, 200, [&](unsigned worker, size_t) {
    wrong[worker] += executable->run({tensor({1, 3, 3, 2}, x)})[0].bytes != expected.bytes;
  });
  EXPECT_THAT(wrong, ElementsAre(0, 0, 0, 0));
}

TEST_F(FloatExecution, ReturnsArgumentsConstantsAndRepeatedResults) {
  auto executable = compile(R"(
    func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<1x2xf32>) {
      %c = "tosa.const"() {values = dense<[7.0, 8.0]> : tensor<2xf32>} : () -> tensor<2xf32>
      %n = tosa.abs %x : (tensor<2xf32>) -> tensor<2xf32>
      %s = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
      %r = tosa.reshape %n, %s : (tensor<2xf32>, !tosa.shape<2>) -> tensor<1x2xf32>
      return %x, %c, %n, %r : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<1x2xf32>
    })");
  std::vector<Tensor> results = executable->run({tensor({2}, {-1, 2})});
  EXPECT_THAT(floats(results[0]), ElementsAre(-1, 2));
  EXPECT_THAT(floats(results[1]), ElementsAre(7, 8));
  EXPECT_THAT(floats(results[2]), ElementsAre(1, 2));
  EXPECT_THAT(floats(results[3]), ElementsAre(1, 2));
}

TEST_F(FloatExecution, RunsIntegerRescaleWithTosasRounding) {
  auto executable = compile(R"(
    func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> {
      %m = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
      %s = "tosa.const"() {values = dense<31> : tensor<1xi8>} : () -> tensor<1xi8>
      %i = "tosa.const"() {values = dense<1> : tensor<1xi8>} : () -> tensor<1xi8>
      %o = "tosa.const"() {values = dense<-3> : tensor<1xi8>} : () -> tensor<1xi8>
      %y = tosa.rescale %x, %m, %s, %i, %o {scale32 = true, rounding_mode = SINGLE_ROUND, per_channel = false, input_unsigned = false, output_unsigned = false}
        : (tensor<4xi8>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<4xi8>
      return %y : tensor<4xi8>
    })");
  Tensor x = makeTensor(DType::I8, {4});
  int8_t values[] = {1, 2, -2, -128};
  std::copy(values, values + 4, x.data<int8_t>());
  // (x - 1) / 2 rounded half up, minus 3.
  EXPECT_THAT(integers(executable->run({x})[0]), ElementsAre(-3, -2, -4, -67));
}

// The last window of each row ends beyond the image.
TEST_F(FloatExecution, PoolsOverTheEdgeInOneDirection) {
  auto executable = compile(R"(
func.func @main(%x: tensor<2x4x3x3xf32>) -> tensor<2x3x2x3xf32> {
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %r = tosa.avg_pool2d %x, %z, %z {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 1>, stride = array<i64: 1, 2>}
    : (tensor<2x4x3x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x3x2x3xf32>
  return %r : tensor<2x3x2x3xf32>
})");
  Tensor ones = tensor({2, 4, 3, 3}, std::vector<float>(72, 1));
  EXPECT_THAT(floats(executable->run({ones})[0]), ::testing::Each(1));
}

constexpr const char *sums = R"(
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = "tosa.const"() {values = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %z = tosa.abs %x : (tensor<2xf32>) -> tensor<2xf32>
  %y = tosa.add %z, %c : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
})";

TEST_F(FloatExecution, GoesOnWithWhatAVisitChanged) {
  auto executable = compile(sums, {"tosa.abs"});
  FloatExecutable::Workspace workspace;
  auto run = [&](float change) {
    return floats(executable->run({tensor({2}, {-1, 4})}, workspace, [&](size_t, Tensor &shown) {
      shown.data<float>()[1] += change;
    })[0]);
  };
  EXPECT_THAT(run(10), ElementsAre(2, 16));
  EXPECT_THAT(run(0), ElementsAre(2, 6));
}

TEST_F(FloatExecution, GoesOnWithAChangedCopyOfAnArgument) {
  compile(sums);
  auto main = module_->lookupSymbol<mlir::func::FuncOp>("main");
  auto executable = FloatExecutable::create(*module_, {main.getArgument(0)});
  FloatExecutable::Workspace workspace;
  std::vector<Tensor> inputs = {tensor({2}, {-1, 4})};
  EXPECT_THAT(floats(executable->run(inputs, workspace,
                                     [](size_t, Tensor &shown) { shown.data<float>()[0] = 7; })[0]),
              ElementsAre(8, 6));
  EXPECT_THAT(floats(inputs[0]), ElementsAre(-1, 4));
}

TEST_F(FloatExecution, RunsWithOtherConstants) {
  auto executable = compile(sums);
  auto main = module_->lookupSymbol<mlir::func::FuncOp>("main");
  mlir::Value constant = *main.getOps<mlir::tosa::ConstOp>().begin();
  auto other = executable->withConstants({{constant, tensor({2}, {10, 20})}});
  EXPECT_THAT(floats(other->run({tensor({2}, {-1, 4})})[0]), ElementsAre(11, 24));
  EXPECT_THAT(floats(executable->run({tensor({2}, {-1, 4})})[0]), ElementsAre(2, 6));
  EXPECT_THROW(executable->withConstants({{constant, tensor({1}, {10})}}), std::logic_error);
}

TEST_F(FloatExecution, ShowsSomeOfTheWatchedValues) {
  auto executable = compile(sums, {"tosa.abs", "tosa.add"});
  FloatExecutable::Workspace workspace;
  std::vector<size_t> shown;
  std::vector<float> values;
  auto visit = [&](size_t index, Tensor &tensor) {
    shown.push_back(index);
    values = floats(tensor);
  };
  EXPECT_THAT(executable->showing({0})->run({tensor({2}, {-1, 4})}, workspace, visit),
              ::testing::IsEmpty());
  EXPECT_THAT(shown, ElementsAre(0));
  EXPECT_THAT(values, ElementsAre(1, 4));
  EXPECT_THAT(workspace.buffers.back().bytes, ::testing::IsEmpty()); // the sum is not made
}

TEST_F(FloatExecution, NamesTheOperatorThatCannotRun) {
  try {
    compile(R"(
      func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
        %y = tosa.custom %x {operator_name = "magic", domain_name = "none", implementation_attrs = ""} : (tensor<2xf32>) -> tensor<2xf32> loc("head"("Magic"))
        return %y : tensor<2xf32>
      })");
    FAIL() << "compiled";
  } catch (const UserError &error) {
    EXPECT_EQ(error.location().str(), "node 'head' (Magic)");
    EXPECT_THAT(
        error.message(),
        ::testing::StartsWith("cannot be run in floating point: tosa.custom has no lowering"));
  }
}

TEST_F(FloatExecution, NamesTheOperatorOfADynamicShape) {
  try {
    compile(R"(
      func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
        %y = tosa.abs %x : (tensor<?xf32>) -> tensor<?xf32> loc("body"("Abs"))
        return %y : tensor<?xf32>
      })");
    FAIL() << "compiled";
  } catch (const UserError &error) {
    EXPECT_EQ(error.message(),
              "cannot be run in floating point: a tensor of this type has no lowering");
  }
}

} // namespace

} // namespace tilewright
