// A rescale of 8-bit elements to 32 bits that several operations read, as a module has it where
// equal ones were merged, becomes one for each of them: every reader may take it into its own
// instruction, and reads one byte of an element instead of four.
#include "fuse.h"
#include "tilewright/compiler/select/kernel_dialect.h"
#include "tilewright/compiler/tosa/tensor_types.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilewright {

void repeatRescales(Block &body) {
  for (Operation &each : llvm::make_early_inc_range(body)) {
    auto rescale = dyn_cast<kernel::RescaleOp>(each);
    if (!rescale || bitsOf(rescale.getX()) != 8 || bitsOf(rescale.getResult()) != 32)
      continue;
    llvm::SmallSetVector<Operation *, 4> readers(rescale->getUsers().begin(),
                                                 rescale->getUsers().end());
    for (Operation *reader : llvm::drop_begin(readers, readers.empty() ? 0 : 1)) {
      if (reader->hasTrait<OpTrait::IsTerminator>())
        continue; // it is a result
      OpBuilder builder(rescale);
      Operation *own = builder.clone(*rescale);
      reader->replaceUsesOfWith(rescale.getResult(), own->getResult(0));
    }
  }
}

} // namespace tilewright
