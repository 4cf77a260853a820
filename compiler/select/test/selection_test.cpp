// ctest -R Selection: one Selection, asked by several threads.
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
