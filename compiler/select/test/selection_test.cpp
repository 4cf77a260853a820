// ctest -R Selection: what a Selection takes for a group, and one asked by several threads.
#include "tilewright/compiler/select/selection.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>
#include <thread>

using namespace tilewright;

namespace {

constexpr const char *text = R"(
func.func @main(%x: tensor<4x8xi32>, %y: tensor<4x8xi32>) {
  %g = kernel.group {
    %0 = kernel.binary sub %x, %y {shift = 0 : i64} : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
    %1 = kernel.unary abs %0 : (tensor<4x8xi32>) -> tensor<4x8xi32>
    kernel.yield %1 : tensor<4x8xi32>
  } : tensor<4x8xi32>
  %h = kernel.group {
    %0 = kernel.reduce sum %x {axis = 0 : i64} : (tensor<4x8xi32>) -> tensor<1x8xi32>
    kernel.yield %0 : tensor<1x8xi32>
  } : tensor<1x8xi32>
  return
}
)";

// The operand that comes first in the program is widened before the other one is looked up.
constexpr const char *apart = R"(
func.func @main(%x: tensor<4x8xi8>, %y: tensor<4x8xi8>) {
  %m = "tosa.const"() {values = dense<1503238553> : tensor<1xi32>} : () -> tensor<1xi32>
  %s = "tosa.const"() {values = dense<31> : tensor<1xi8>} : () -> tensor<1xi8>
  %t = "tosa.const"() {values = dense<7> : tensor<256xi8>} : () -> tensor<256xi8>
  %g = kernel.group {
    %0 = kernel.rescale %x, %m, %s {input_zp = 3 : i64, output_zp = 0 : i64, lo = -2147483648 : i64, hi = 2147483647 : i64, input_unsigned = false} : (tensor<4x8xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<4x8xi32>
    %1 = kernel.table %y, %t : (tensor<4x8xi8>, tensor<256xi8>) -> tensor<4x8xi8>
    %2 = kernel.rescale %1, %m, %s {input_zp = -1 : i64, output_zp = 0 : i64, lo = -2147483648 : i64, hi = 2147483647 : i64, input_unsigned = false} : (tensor<4x8xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<4x8xi32>
    %3 = kernel.binary add %0, %2 {shift = 0 : i64} : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
    %4 = kernel.rescale %3, %m, %s {input_zp = 0 : i64, output_zp = 5 : i64, lo = -128 : i64, hi = 127 : i64, input_unsigned = false} : (tensor<4x8xi32>, tensor<1xi32>, tensor<1xi8>) -> tensor<4x8xi8>
    kernel.yield %4 : tensor<4x8xi8>
  } : tensor<4x8xi8>
  return
}
)";

// Instructions, in order, that a Selection takes for the groups, by every way of asking it.
std::vector<std::string> askedAll(Selection &selection, llvm::ArrayRef<kernel::GroupOp> groups) {
  std::vector<std::string> names{selection.widening()->pattern->instruction->name};
  for (kernel::GroupOp group : groups) {
    if (kernel::ReduceOp reduce = reductionOf(group)) {
      names.push_back(selection.coverOf(group, {}, reduce).match.pattern->instruction->name);
      names.push_back(selection.choose({}, reduce)->match.pattern->instruction->name);
    } else {
      llvm::SmallVector<mlir::Operation *> operations;
      for (mlir::Operation &op : group.getBody().front().without_terminator())
        operations.push_back(&op);
      for (const Cover &cover : selection.coversOf(group, nullptr, operations, {}))
        names.push_back(cover.match.pattern->instruction->name);
      for (mlir::Operation *op : operations)
        names.emplace_back(selection.computes(op) ? "yes" : "no");
    }
    for (const Comparison &each : selection.compare(group))
      if (each.outcome == Outcome::Taken)
        names.push_back(each.instruction);
  }
  return names;
}

} // namespace

TEST(Selection, AnswersSeveralThreadsAsOne) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::func::FuncDialect, mlir::tosa::TosaDialect, kernel::KernelDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  llvm::SmallVector<kernel::GroupOp> groups;
  module->walk([&](kernel::GroupOp group) { groups.push_back(group); });
  const isa::Isa isa = isa::load({});
  Selection alone(isa), shared(isa);
  const std::vector<std::string> expected = askedAll(alone, groups);
  ASSERT_GT(expected.size(), groups.size());
  std::vector<std::vector<std::string>> given(4);
  std::vector<std::thread> threads;
  for (std::vector<std::string> &each : given)
    threads.emplace_back([&] { each = askedAll(shared, groups); });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::vector<std::string> &each : given)
    EXPECT_EQ(each, expected);
}

TEST(Selection, TakesOperationsThatDoNotFollowEachOther) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::func::FuncDialect, mlir::tosa::TosaDialect, kernel::KernelDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(apart, &context);
  ASSERT_TRUE(module);
  const isa::Isa isa = isa::load({});
  Selection selection(isa);
  module->walk([&](kernel::GroupOp group) {
    llvm::SmallVector<mlir::Operation *> operations;
    for (mlir::Operation &op : group.getBody().front().without_terminator())
      operations.push_back(&op);
    const Covers &covers = selection.coversOf(group, nullptr, operations, {});
    ASSERT_EQ(covers.size(), 2U);
    EXPECT_EQ(covers[0].match.pattern->instruction->name, "vtable");
    EXPECT_EQ(covers[1].match.pattern->instruction->name, "vadd.i8");
    EXPECT_EQ(selection.singleCoversOf(group, nullptr, operations, {})->size(), operations.size());
  });
}
