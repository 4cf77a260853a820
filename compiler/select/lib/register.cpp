#include "tilewright/compiler/select/select.h"

#include "mlir/Pass/PassRegistry.h"

namespace tilewright {

void registerSelectPasses() {
  mlir::registerPass(createTosaCheckPass);
  mlir::registerPass(createTosaToKernelPass);
  mlir::registerPass([] { return createKernelFusePass(); });
}

} // namespace tilewright
