// Extended precision, and when it is chosen.
#include "quantize_fixture.h"

#include <random>

namespace tilewright {

namespace {

// Extended precision against standard, on inputs that stand on the levels of 8 bits: all noise is
// made inside.
class Extended : public Quantize {
protected:
  // How many decibels the first result gains when `body` goes on from %c, a convolution's result.
  double gain(const std::string &result, const std::string &body) {
    onLevels_ = true;
    auto with = [&](Precision precision) {
      precision_ = precision;
      return decibels("(%x: tensor<1x4x6x3xf32>) -> " + result, convolve + body)[0];
    };
    double standard = with(Precision::Standard);
    return with(Precision::Extended) - standard;
  }

  // A constant of seeded weights, as an operation.
  static std::string weights(const std::string &name, const std::vector<int64_t> &shape) {
    std::mt19937 random(3);
    std::string type, values;
    int64_t count = 1;
    for (int64_t size : shape) {
      type += std::to_string(size) + "x";
      count *= size;
    }
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t inner = count, depth = 0; depth < int64_t(shape.size()); ++depth) {
        values += i % inner == 0 ? "[" : "";
        inner /= shape[depth];
      }
      values += std::to_string(double(random() % 2001) / 1000 - 1);
      std::string closing;
      for (int64_t inner = count, depth = 0; depth < int64_t(shape.size()); ++depth) {
        closing += (i + 1) % inner == 0 ? "]" : "";
        inner /= shape[depth];
      }
      values += closing + (i + 1 < count ? ", " : "");
    }
    return "%" + name + " = \"tosa.const\"() {values = dense<" + values + "> : tensor<" + type +
           "f32>} : () -> tensor<" + type + "f32>\n";
  }
};

TEST_F(Extended, PointwiseConvolutionsReadAllPartsAtOnce) {
  EXPECT_GT(gain("tensor<1x4x6x5xf32>", weights("v", {5, 1, 1, 4}) + R"(
    %d = tosa.conv2d %c, %v, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x4xf32>, tensor<5x1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x5xf32>
    return %d : tensor<1x4x6x5xf32>)"),
            3);
  EXPECT_EQ(count("tosa.conv2d"), 2);
}

TEST_F(Extended, TheDilationOfOnePixelSaysNothing) {
  EXPECT_GT(gain("tensor<1x4x6x5xf32>", weights("v", {5, 1, 1, 4}) + R"(
    %d = tosa.conv2d %c, %v, %z, %z, %z {acc_type = f32, dilation = array<i64: 2, 3>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x4xf32>, tensor<5x1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x5xf32>
    return %d : tensor<1x4x6x5xf32>)"),
            3);
  EXPECT_EQ(count("tosa.conv2d"), 2);
}

TEST_F(Extended, OtherConvolutionsAreSumsOfTwo) {
  EXPECT_GT(gain("tensor<1x2x3x5xf32>", weights("v", {5, 3, 3, 4}) + R"(
    %d = tosa.conv2d %c, %v, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 0, 1, 0>, stride = array<i64: 2, 2>}
      : (tensor<1x4x6x4xf32>, tensor<5x3x3x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x3x5xf32>
    return %d : tensor<1x2x3x5xf32>)"),
            1);
  EXPECT_EQ(count("tosa.conv2d"), 3);
}

TEST_F(Extended, SumsAndProductsAndTablesTakeSixteenBits) {
  for (const char *function : {"%y = tosa.add %c, %t", "%y = tosa.mul %c, %t, %shift"}) {
    std::string operands = std::string(function).find("shift") == std::string::npos
                               ? "(tensor<1x4x6x4xf32>, tensor<1x4x6x4xf32>)"
                               : "(tensor<1x4x6x4xf32>, tensor<1x4x6x4xf32>, tensor<1xi8>)";
    EXPECT_GT(gain("tensor<1x4x6x4xf32>", R"(
    %t = tosa.tanh %c : (tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32>
    )" + std::string(function) + " : " + operands +
                                              R"( -> tensor<1x4x6x4xf32>
    return %y : tensor<1x4x6x4xf32>)"),
              2)
        << function;
  }
}

TEST_F(Extended, ATableOfAPartOfSixteenBitsYieldsSixteen) {
  EXPECT_GT(gain("tensor<1x4x6x2xf32>", R"(
    %s = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
    %t = tosa.const_shape {values = dense<[1, 4, 6, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %p = tosa.slice %c, %s, %t : (tensor<1x4x6x4xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x4x6x2xf32>
    %g = tosa.tanh %p : (tensor<1x4x6x2xf32>) -> tensor<1x4x6x2xf32>
    %y = tosa.mul %p, %g, %shift : (tensor<1x4x6x2xf32>, tensor<1x4x6x2xf32>, tensor<1xi8>) -> tensor<1x4x6x2xf32>
    return %y : tensor<1x4x6x2xf32>)"),
            4);
}

TEST_F(Extended, ATableOfEightBitsYieldsEight) {
  precision_ = Precision::Extended;
  EXPECT_GT(decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>", R"(
    %s = tosa.sigmoid %x : (tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>
    %y = tosa.add %s, %x : (tensor<1x4x6x3xf32>, tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>
    return %y : tensor<1x4x6x3xf32>)")[0],
            35);
}

TEST_F(Extended, DepthwiseConvolutionsAndAveragesReadEightBitsOfSixteen) {
  EXPECT_GT(gain("tensor<1x4x6x4xf32>", weights("v", {3, 3, 4, 1}) + R"(
    %d = tosa.depthwise_conv2d %c, %v, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x4xf32>, tensor<3x3x4x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x4xf32>
    %p = tosa.avg_pool2d %c, %z, %z {acc_type = f32, kernel = array<i64: 4, 6>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x4xf32>
    %y = tosa.add %d, %p : (tensor<1x4x6x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x4x6x4xf32>
    %s = tosa.add %y, %c : (tensor<1x4x6x4xf32>, tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32>
    return %s : tensor<1x4x6x4xf32>)"),
            1);
}

// Sixteen bits between operators, eight of products.
class Mixed : public Extended {
protected:
  Mixed() { precision_ = Precision::Mixed; }

  // %y: rows of %r, brought to one mean and deviation.
  const std::string normalize = R"(
    %n = "tosa.const"() {values = dense<0.015625> : tensor<1x1x1xf32>} : () -> tensor<1x1x1xf32>
    %s = tosa.reduce_sum %r {axis = 2 : i32} : (tensor<1x6x64xf32>) -> tensor<1x6x1xf32>
    %m = tosa.mul %s, %n, %shift : (tensor<1x6x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x6x1xf32>
    %d = tosa.sub %r, %m : (tensor<1x6x64xf32>, tensor<1x6x1xf32>) -> tensor<1x6x64xf32>
    %q = tosa.mul %d, %d, %shift : (tensor<1x6x64xf32>, tensor<1x6x64xf32>, tensor<1xi8>) -> tensor<1x6x64xf32>
    %t = tosa.reduce_sum %q {axis = 2 : i32} : (tensor<1x6x64xf32>) -> tensor<1x6x1xf32>
    %v = tosa.mul %t, %n, %shift : (tensor<1x6x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x6x1xf32>
    %i = tosa.rsqrt %v : (tensor<1x6x1xf32>) -> tensor<1x6x1xf32>
    %y = tosa.mul %d, %i, %shift : (tensor<1x6x64xf32>, tensor<1x6x1xf32>, tensor<1xi8>) -> tensor<1x6x64xf32>
  )";
  const std::string sum = R"(
    %r = tosa.add %x, %other : (tensor<1x6x64xf32>, tensor<1x6x64xf32>) -> tensor<1x6x64xf32>
  )";
};

// The sum keeps it at more bits.
TEST_F(Mixed, ProductsOfOneNormalizedValueReadOneRescaleToEightBits) {
  std::string body = sum + normalize, products;
  for (const char *name : {"a", "e", "f"}) {
    body += weights(std::string(name) + "w", {1, 64, 8});
    products += std::string("%") + name + " = tosa.matmul %y, %" + name +
                "w, %z, %z : (tensor<1x6x64xf32>, tensor<1x64x8xf32>, tensor<1xf32>, "
                "tensor<1xf32>) -> tensor<1x6x8xf32>\n";
  }
  products += "%h = tosa.add %y, %x : (tensor<1x6x64xf32>, tensor<1x6x64xf32>) -> "
              "tensor<1x6x64xf32>\n";
  const std::string type = "tensor<1x6x8xf32>",
                    types = type + ", " + type + ", " + type + ", tensor<1x6x64xf32>";
  for (double each :
       decibels("(%x: tensor<1x6x64xf32>, %other: tensor<1x6x64xf32>) -> (" + types + ")",
                body + products + "return %a, %e, %f, %h : " + types))
    EXPECT_GT(each, 30);
  ASSERT_EQ(count("tosa.conv2d"), 3);
  llvm::SmallPtrSet<mlir::Operation *, 4> rescales;
  integer_->walk([&](mlir::tosa::Conv2DOp op) {
    mlir::Value value = op.getInput();
    while (auto reshape = value.getDefiningOp<mlir::tosa::ReshapeOp>())
      value = reshape.getInput1();
    auto rescale = value.getDefiningOp<mlir::tosa::RescaleOp>();
    ASSERT_TRUE(rescale);
    EXPECT_FALSE(llvm::cast<mlir::RankedTensorType>(rescale.getInput().getType())
                     .getElementType()
                     .isInteger(8));
    rescales.insert(rescale);
  });
  EXPECT_EQ(rescales.size(), 1u);
}

TEST_F(Mixed, SquaresThatAreSummedUpAreProductsOfAllBits) {
  EXPECT_GT(decibels("(%x: tensor<1x6x64xf32>, %other: tensor<1x6x64xf32>) -> tensor<1x6x64xf32>",
                     sum + normalize + "return %y : tensor<1x6x64xf32>")[0],
            30);
  int squares = 0;
  integer_->walk([&](mlir::tosa::ReduceSumOp op) {
    mlir::Value value = op.getInput();
    while (auto rescale = value.getDefiningOp<mlir::tosa::RescaleOp>())
      value = rescale.getInput();
    EXPECT_FALSE(value.getDefiningOp<mlir::tosa::TableOp>());
    if (auto product = value.getDefiningOp<mlir::tosa::MulOp>())
      squares += product.getInput1() == product.getInput2();
  });
  EXPECT_EQ(squares, 1);
}

// What a row is divided by may be anything, what is divided is not: the sum of the second one keeps
// its bits.
TEST_F(Mixed, ASumWithANormalizedValueIsNormalizedAsWell) {
  std::string again = normalize;
  for (const std::string name : {"n", "s", "m", "d", "q", "t", "v", "i", "y", "r"})
    for (const char *behind : {" ", ","})
      for (size_t at = 0; (at = again.find("%" + name + behind, at)) != std::string::npos; ++at)
        again.insert(at + 2, "2");
  const std::string type = "tensor<1x6x64xf32>";
  EXPECT_GT(decibels("(%x: " + type + ", %other: " + type + ") -> " + type,
                     sum + normalize + "%r2 = tosa.add %y, %x : (" + type + ", " + type + ") -> " +
                         type + again + "return %y2 : " + type)[0],
            30);
}

// Rows of the greatest sum of squares and of the greatest single one, which no sample had.
TEST_F(Mixed, SquaresOfTheGreatestInputsStayWithinTheirBits) {
  decibels("(%x: tensor<1x6x64xf32>, %other: tensor<1x6x64xf32>) -> tensor<1x6x64xf32>",
           sum + normalize + "return %y : tensor<1x6x64xf32>");
  Tensor extremes = makeTensor(DType::I8, {1, 6, 64});
  const auto isLow = [](int64_t row, int64_t i) { return row < 3 ? i % 2 == 0 : i == 0; };
  for (int64_t i = 0; i < 6 * 64; ++i)
    extremes.data<int8_t>()[i] = isLow(i / 64, i % 64) ? -128 : 127;
  const std::vector<Tensor> results = FloatExecutable::create(*integer_)->run({extremes, extremes});
  const double scale = scaleOf("tilewright.scale", true, 0),
               zero = scaleOf("tilewright.zero_point", true, 0);
  ASSERT_EQ(results[0].dtype, DType::I16);
  double greatestLow = -HUGE_VAL, farthest = 0; // of the others, from where they belong
  for (int64_t i = 0; i < 6 * 64; ++i) {
    const double y = (results[0].data<int16_t>()[i] - zero) * scale;
    if (isLow(i / 64, i % 64))
      greatestLow = std::max(greatestLow, y);
    else
      farthest = std::max(farthest, std::fabs(y - (i / 64 < 3 ? 1 : 1 / std::sqrt(63))));
  }
  EXPECT_LT(greatestLow, -0.9);
  EXPECT_LT(farthest, 0.02);
}

// The sum of a convolution's result and %other is normalized.
class ResidualSum : public Mixed {
protected:
  // `more`: operations behind it, of which one gives `result`.
  void normalizeSum(const std::string &more = "", const std::string &result = "") {
    const std::string image = "tensor<1x6x64xf32>",
                      results = image + (more.empty() ? "" : ", " + image);
    decibels("(%x: tensor<1x6x1x64xf32>, %other: tensor<1x6x1x64xf32>) -> (" + results + ")",
             weights("k", {64, 1, 1, 64}) + R"(
    %rows = tosa.const_shape {values = dense<[1, 6, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %p = tosa.conv2d %x, %k, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x6x1x64xf32>, tensor<64x1x1x64xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x1x64xf32>
    %u = tosa.add %p, %other : (tensor<1x6x1x64xf32>, tensor<1x6x1x64xf32>) -> tensor<1x6x1x64xf32>
    %r = tosa.reshape %u, %rows : (tensor<1x6x1x64xf32>, !tosa.shape<3>) -> tensor<1x6x64xf32>
    )" + normalize +
                 more + "return %y" + (more.empty() ? "" : ", " + result) + " : " + results);
  }
  // The fewest bits that an element has on the way from the sum to the first reduction.
  unsigned bitsOfSum() {
    unsigned fewest = 32;
    integer_->walk([&](mlir::tosa::ReduceSumOp op) {
      mlir::Operation *on = op;
      do {
        auto type = llvm::cast<mlir::RankedTensorType>(on->getOperand(0).getType());
        fewest = std::min(fewest, type.getElementTypeBitWidth());
        on = on->getOperand(0).getDefiningOp();
      } while (!llvm::isa<mlir::tosa::AddOp>(on));
      return mlir::WalkResult::interrupt();
    });
    return fewest;
  }
};

TEST_F(ResidualSum, LeavesItsConvolutionInSixteenBits) {
  normalizeSum();
  EXPECT_EQ(bitsOfSum(), 16u);
}

TEST_F(ResidualSum, KeepsAllBitsInStandardPrecision) {
  precision_ = Precision::Standard;
  normalizeSum();
  EXPECT_EQ(bitsOfSum(), 32u);
}

// It cannot be made where the convolution is.
TEST_F(ResidualSum, KeepsAllBitsWhereOthersReadTheConvolution) {
  normalizeSum(R"(
    %e = tosa.abs %p : (tensor<1x6x1x64xf32>) -> tensor<1x6x1x64xf32>
    %f = tosa.reshape %e, %rows : (tensor<1x6x1x64xf32>, !tosa.shape<3>) -> tensor<1x6x64xf32>
    )",
               "%f");
  EXPECT_EQ(bitsOfSum(), 32u);
}

// What precision is chosen, and by what.
class Automatic : public Extended {
protected:
  // Runs it on data that stands on the levels of 8 bits; returns the first result's decibels.
  double run(const std::string &result, const std::string &body) {
    onLevels_ = true;
    precision_ = Precision::Automatic;
    return decibels("(%x: tensor<1x4x6x3xf32>) -> " + result, convolve + body)[0];
  }
  // Convolutions behind one another, of an operator and with weights of a shape.
  std::string sequence(const std::string &op, const std::vector<int64_t> &shape, int count = 8) {
    std::string body = weights("v", shape), from = "%c", type = "tensor<";
    for (int64_t size : shape)
      type += std::to_string(size) + "x";
    for (int i = 0; i < count; ++i) {
      std::string to = std::to_string(i);
      body +=
          "%d" + to + " = tosa." + op + " " + from +
          R"(, %v, %z, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
        : (tensor<1x4x6x4xf32>, )" +
          type + R"(f32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x4xf32>
        %r)" +
          to + " = tosa.clamp %d" + to +
          R"( {min_val = -1.0 : f32, max_val = 1.0 : f32} : (tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32>
        )";
      from = "%r" + to;
    }
    return body + "return " + from + " : tensor<1x4x6x4xf32>";
  }
};

TEST_F(Automatic, EightBitsSufficeForOneConvolution) {
  double found = run("tensor<1x4x6x4xf32>", "return %c : tensor<1x4x6x4xf32>");
  EXPECT_EQ(report_.choice->precision, Precision::Standard);
  EXPECT_NEAR(report_.choice->standard, found, 1);
  EXPECT_FALSE(report_.choice->extended);
}

TEST_F(Automatic, SixteenBitsBetweenOperatorsWhereManySumsAddTheirNoise) {
  std::string type = "tensor<1x4x6x4xf32>", from = "%c",
              body = "%v = \"tosa.const\"() {values = dense<0.002> : tensor<4x1x1x4xf32>} : () -> "
                     "tensor<4x1x1x4xf32>\n";
  for (int i = 0; i < 200; ++i) {
    std::string to = "%s" + std::to_string(i), product = "%p" + std::to_string(i);
    body +=
        product + " = tosa.conv2d " + from +
        R"(, %v, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : ()" +
        type + ", tensor<4x1x1x4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> " + type +
        "\n" + to + " = tosa.add " + from + ", " + product + " : (" + type + ", " + type + ") -> " +
        type + "\n";
    from = to;
  }
  double found = run("tensor<1x4x6x4xf32>", body + "return " + from + " : tensor<1x4x6x4xf32>");
  EXPECT_EQ(report_.choice->precision, Precision::Mixed);
  EXPECT_LT(report_.choice->standard, 25);
  EXPECT_GT(*report_.choice->mixed, report_.choice->standard + 2);
  EXPECT_FALSE(report_.choice->extended);
  EXPECT_GT(found, report_.choice->standard + 2);
}

// Of a wide range the small values count, which a clamp leaves.
TEST_F(Automatic, SixteenBitsOfOneProductWhereItsOperandMakesTheNoise) {
  const std::string results = "(tensor<1x4x6x4xf32>, tensor<1x4x6x200xf32>)", body = R"(
    %wm = "tosa.const"() {values = dense<0.001> : tensor<200x1x1x3xf32>} : () -> tensor<200x1x1x3xf32>
    %bm = "tosa.const"() {values = dense<0.0> : tensor<200xf32>} : () -> tensor<200xf32>
    %many = tosa.conv2d %x, %wm, %bm, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x3xf32>, tensor<200x1x1x3xf32>, tensor<200xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x200xf32>
    %v = "tosa.const"() {values = dense<[[[[1.0, 0.0, 0.0, 0.0]]], [[[0.0, 1.0, 0.0, 0.0]]], [[[0.0, 0.0, 1.0, 0.0]]], [[[0.0, 0.0, 0.0, 1.0]]]]> : tensor<4x1x1x4xf32>} : () -> tensor<4x1x1x4xf32>
    %none = "tosa.const"() {values = dense<0.0> : tensor<4xf32>} : () -> tensor<4xf32>
    %f = tosa.mul %c, %sixth, %shift : (tensor<1x4x6x4xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x6x4xf32>
    %t = tosa.tanh %f : (tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32>
    %m = tosa.mul %t, %three, %shift : (tensor<1x4x6x4xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x4x6x4xf32>
    %e = tosa.exp %m : (tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32>
    %d = tosa.conv2d %e, %v, %none, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x6x4xf32>, tensor<4x1x1x4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6x4xf32>
    %y = tosa.clamp %d {min_val = 0.0 : f32, max_val = 0.1 : f32} : (tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32>
    return %y, %many : tensor<1x4x6x4xf32>, tensor<1x4x6x200xf32>)";
  const double found = run(results, body);
  EXPECT_EQ(report_.choice->precision, Precision::Standard);
  EXPECT_EQ(report_.choice->exactOperands, 1u);
  EXPECT_GT(*report_.choice->withExactOperands, report_.choice->standard + 2);
  precision_ = Precision::Standard;
  EXPECT_GT(found, 2 + decibels("(%x: tensor<1x4x6x3xf32>) -> " + results, convolve + body)[0]);
}

TEST_F(Automatic, SixteenBitsOfProductsWhereEightLeaveNothing) {
  double found = run("tensor<1x4x6x4xf32>", sequence("conv2d", {4, 1, 1, 4}, 300));
  EXPECT_EQ(report_.choice->precision, Precision::Extended);
  EXPECT_LT(*report_.choice->mixed, 18);
  EXPECT_GT(*report_.choice->extended, report_.choice->standard + 4);
  EXPECT_GT(found, *report_.choice->mixed + 2);
}

TEST_F(Automatic, ExpectsTheNoiseOfConstants) {
  double found = run("tensor<1x4x6x4xf32>", R"(
    %k = "tosa.const"() {values = dense<[[[[0.003, 0.013, 0.007, 10.0]]]]> : tensor<1x1x1x4xf32>} : () -> tensor<1x1x1x4xf32>
    %a = tosa.abs %c : (tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32>
    %y = tosa.maximum %a, %k : (tensor<1x4x6x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x4x6x4xf32>
    return %y : tensor<1x4x6x4xf32>)");
  EXPECT_NEAR(report_.choice->standard, found, 3);
}

// No sample is 0, but many are rounded to it.
TEST_F(Automatic, WhatIsNoNumberStandsForZeroAsInATable) {
  precision_ = Precision::Automatic;
  double found = decibels("(%x: tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>", R"(
    %a = tosa.abs %x : (tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>
    %l = tosa.log %a : (tensor<1x4x6x3xf32>) -> tensor<1x4x6x3xf32>
    %y = tosa.mul %a, %l, %shift : (tensor<1x4x6x3xf32>, tensor<1x4x6x3xf32>, tensor<1xi8>) -> tensor<1x4x6x3xf32>
    return %y : tensor<1x4x6x3xf32>)")[0];
  ASSERT_TRUE(report_.choice);
  EXPECT_NEAR(report_.choice->standard, found, 3);
}

TEST_F(Automatic, EightBitsWhereThereIsNothingToGoBy) {
  run("tensor<1x4x6x4xf32>", R"(
    %r = tosa.clamp %c {min_val = 100.0 : f32, max_val = 200.0 : f32} : (tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32>
    %h = "tosa.const"() {values = dense<100.0> : tensor<1x1x1x1xf32>} : () -> tensor<1x1x1x1xf32>
    %y = tosa.sub %r, %h : (tensor<1x4x6x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x4x6x4xf32>
    return %y : tensor<1x4x6x4xf32>)");
  EXPECT_FALSE(report_.choice);
}

// Depthwise convolutions read 8 bits in any precision.
TEST_F(Automatic, EightBitsWhereSixteenGainNothing) {
  run("tensor<1x4x6x4xf32>", sequence("depthwise_conv2d", {1, 1, 4, 1}, 96));
  EXPECT_EQ(report_.choice->precision, Precision::Standard);
  EXPECT_LT(report_.choice->standard, 25);
  EXPECT_LT(*report_.choice->mixed, report_.choice->standard + 2);
}

// Of probabilities that are all nearly the same nothing could be told.
TEST_F(Automatic, GoesByWhatSoftmaxReads) {
  run("tensor<1x4x6x4xf32>", R"(
    %m = tosa.reduce_max %c {axis = 3 : i32} : (tensor<1x4x6x4xf32>) -> tensor<1x4x6x1xf32>
    %d = tosa.sub %c, %m : (tensor<1x4x6x4xf32>, tensor<1x4x6x1xf32>) -> tensor<1x4x6x4xf32>
    %e = tosa.exp %d : (tensor<1x4x6x4xf32>) -> tensor<1x4x6x4xf32>
    %s = tosa.reduce_sum %e {axis = 3 : i32} : (tensor<1x4x6x4xf32>) -> tensor<1x4x6x1xf32>
    %i = tosa.reciprocal %s : (tensor<1x4x6x1xf32>) -> tensor<1x4x6x1xf32>
    %h = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
    %y = tosa.mul %e, %i, %h : (tensor<1x4x6x4xf32>, tensor<1x4x6x1xf32>, tensor<1xi8>) -> tensor<1x4x6x4xf32>
    return %y : tensor<1x4x6x4xf32>)");
  double logits = report_.choice->standard;
  run("tensor<1x4x6x4xf32>", "return %c : tensor<1x4x6x4xf32>");
  EXPECT_NEAR(logits, report_.choice->standard, 0.5);
}

} // namespace

} // namespace tilewright
