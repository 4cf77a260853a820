// Runs graphs of TOSA that tests give as text.
#pragma once

#include "tilewright/compiler/float/float_execution.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace tilewright {

class FloatExecution : public ::testing::Test {
protected:
  // Watched: the results of operators of these names.
  std::unique_ptr<FloatExecutable> compile(const char *text,
                                           const std::vector<std::string> &watched = {}) {
    context_.loadDialect<mlir::func::FuncDialect, mlir::tosa::TosaDialect>();
    context_.allowUnregisteredDialects();
    module_ = mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
    std::vector<mlir::Value> values;
    for (const std::string &name : watched)
      module_->walk([&](mlir::Operation *op) {
        if (op->getName().getStringRef() == name)
          values.push_back(op->getResult(0));
      });
    return FloatExecutable::create(*module_, values);
  }

  static Tensor tensor(std::vector<int64_t> shape, const std::vector<float> &values) {
    Tensor result = makeTensor(DType::F32, std::move(shape));
    std::copy(values.begin(), values.end(), result.data<float>());
    return result;
  }
  static std::vector<float> floats(const Tensor &tensor) {
    return std::vector<float>(tensor.data<float>(), tensor.data<float>() + tensor.elements());
  }
  static std::vector<int> integers(const Tensor &tensor) {
    return std::vector<int>(tensor.data<int8_t>(), tensor.data<int8_t>() + tensor.elements());
  }

  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

} // namespace tilewright
