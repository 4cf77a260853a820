#include "change_context.h"

#include "tilewright/compiler/tosa/constant_floats.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"

#include <stdexcept>
#include <string>
#include <vector>

using namespace mlir;

namespace tilewright {

// With something for the rest.
static size_t bytesOfConstants(ModuleOp module) {
  size_t bytes = size_t(1) << 20;
  module.walk([&](Operation *op) {
    for (NamedAttribute attribute : op->getAttrDictionary()) // its properties among them
      if (auto dense = dyn_cast<DenseElementsAttr>(attribute.getValue()))
        bytes += dense.getRawData().size();
  });
  return bytes;
}

static std::string bytecodeOf(ModuleOp module) {
  std::string bytes;
  bytes.reserve(bytesOfConstants(module)); // else it stands twice whenever it grows
  llvm::raw_string_ostream stream(bytes);
  if (failed(writeBytecodeToFile(module, stream)))
    throw std::logic_error("a module cannot be written as bytecode");
  return bytes;
}

static OwningOpRef<ModuleOp> moduleOf(const std::string &bytes, MLIRContext &context) {
  ParserConfig config(&context, /*verifyAfterParse=*/false); // it was verified where it was made
  auto module = parseSourceString<ModuleOp>(bytes, config);
  if (!module)
    throw std::logic_error("a module cannot be read back from bytecode");
  return module;
}

namespace {

// Float weights on their way: they do not stand in bytecode as well, and may be given up behind it.
class Weights {
public:
  void takeFrom(ModuleOp module) {
    forEach(module, [&](tosa::ConstOp constant) {
      auto dense = dyn_cast<DenseElementsAttr>(constant.getValues());
      const bool isTaken = dense && dense.getElementType().isF32() && !dense.isSplat();
      numbers_.push_back(-1);
      if (!isTaken)
        return;
      const auto [known, isNew] = known_.try_emplace(dense, data_.size());
      if (isNew) {
        auto values = dense.getValues<float>();
        data_.emplace_back(values.begin(), values.end());
      }
      numbers_.back() = static_cast<int64_t>(known->second);
      constant.setValuesAttr(DenseElementsAttr::get(dense.getType(), 0.0f));
    });
  }
  void giveTo(ModuleOp module) {
    made_.resize(data_.size());
    forEach(module, [&](tosa::ConstOp constant) {
      const int64_t number = numbers_[next_++];
      if (number < 0)
        return;
      ElementsAttr &made = made_[number];
      if (!made)
        made = floatAttribute(cast<RankedTensorType>(constant.getType()), std::move(data_[number]));
      constant.setValuesAttr(made);
    });
  }

private:
  template <typename Visit> static void forEach(ModuleOp module, Visit visit) {
    module.walk([&](tosa::ConstOp constant) { visit(constant); });
  }

  llvm::DenseMap<Attribute, size_t> known_;
  std::vector<std::vector<float>> data_;
  std::vector<int64_t> numbers_; // of constants in order: whose data; -1: nobody's
  std::vector<ElementsAttr> made_;
  size_t next_ = 0;
};

} // namespace

void changeContext(std::unique_ptr<MLIRContext> &context, std::unique_ptr<MLIRContext> next,
                   OwningOpRef<ModuleOp> &module) {
  Weights weights;
  weights.takeFrom(*module);
  const std::string bytes = bytecodeOf(*module);
  module = nullptr;
  context = std::move(next);
  module = moduleOf(bytes, *context);
  weights.giveTo(*module);
}

void enterContext(MLIRContext &context, OwningOpRef<ModuleOp> &module) {
  const std::string bytes = bytecodeOf(*module);
  module = nullptr;
  module = moduleOf(bytes, context);
}

} // namespace tilewright
