// Names of operators as locations.
#include "tilewright/compiler/tosa/layer_location.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

namespace tilewright {

namespace {

class LayerLocationTest : public testing::Test {
protected:
  mlir::MLIRContext context;
  mlir::Location unknown = mlir::UnknownLoc::get(&context);
};

TEST_F(LayerLocationTest, HoldsNameAndKind) {
  const Layer layer = layerOf(layerLocation(context, "features/conv1", "Conv"));
  EXPECT_EQ(layer.name, "features/conv1");
  EXPECT_EQ(layer.op, "Conv");
  EXPECT_EQ(layerOf(unknown).op, "");
}

TEST_F(LayerLocationTest, OfTwoIsTheFirstThatHasOne) {
  mlir::Location conv = layerLocation(context, "conv", "Conv");
  mlir::Location relu = layerLocation(context, "relu", "Relu");
  EXPECT_EQ(layerOf(fusedLocation(conv, relu)).name, "conv");
  EXPECT_EQ(layerOf(fusedLocation(unknown, relu)).name, "relu");
}

TEST_F(LayerLocationTest, SequencesOfMergesStayShort) {
  mlir::Location all = layerLocation(context, "0", "Add");
  for (int i = 1; i < 100; ++i)
    all = fusedLocation(all, layerLocation(context, std::to_string(i), "Add"));
  EXPECT_EQ(layerOf(all).name, "0");
  EXPECT_EQ(llvm::cast<mlir::FusedLoc>(all).getLocations().size(), 8u);
}

TEST_F(LayerLocationTest, OfLayoutsKeepsTheNameAndTellsThemApart) {
  mlir::Location conv = layerLocation(context, "conv", "Conv");
  EXPECT_EQ(layerOf(layoutLocation(conv)).name, "conv");
  EXPECT_TRUE(isLayout(layoutLocation(conv)));
  EXPECT_FALSE(isLayout(conv));
  EXPECT_EQ(layoutLocation(unknown), unknown);
}

} // namespace

} // namespace tilewright
