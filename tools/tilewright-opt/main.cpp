// The mlir-opt of this project: reads a module, runs the passes named on the command line, prints
// the module.
#include "tilewright/compiler/emit/npu.h"
#include "tilewright/compiler/graph/graph.h"
#include "tilewright/compiler/select/kernel_dialect.h"
#include "tilewright/compiler/select/select.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int count, char **arguments) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, mlir::tosa::TosaDialect,
                  tilewright::kernel::KernelDialect, tilewright::npu::NpuDialect>();
  mlir::registerTransformsPasses();
  tilewright::registerGraphPasses();
  tilewright::registerSelectPasses();
  tilewright::registerNpuPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(count, arguments, "Tilewright's optimizer driver\n", registry));
}
