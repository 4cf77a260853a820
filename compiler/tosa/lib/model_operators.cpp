#include "tilewright/compiler/tosa/model_operators.h"

#include "mlir/IR/Builders.h"

namespace tilewright {

static constexpr const char *attributeName = "tilewright.operators";

void setModelOperators(mlir::ModuleOp module, const std::vector<ModelOperator> &operators) {
  mlir::Builder builder(module.getContext());
  llvm::SmallVector<mlir::Attribute> all;
  for (const ModelOperator &each : operators) {
    llvm::SmallVector<mlir::NamedAttribute> entry = {
        builder.getNamedAttr("name", builder.getStringAttr(each.name)),
        builder.getNamedAttr("op", builder.getStringAttr(each.op)),
        builder.getNamedAttr("reads", builder.getDenseI64ArrayAttr(each.reads))};
    if (!each.isNeeded)
      entry.push_back(builder.getNamedAttr("unneeded", builder.getUnitAttr()));
    if (each.isConstant)
      entry.push_back(builder.getNamedAttr("constant", builder.getUnitAttr()));
    all.push_back(builder.getDictionaryAttr(entry));
  }
  module->setAttr(attributeName, builder.getArrayAttr(all));
}

std::vector<ModelOperator> modelOperators(mlir::ModuleOp module) {
  std::vector<ModelOperator> operators;
  auto all = module->getAttrOfType<mlir::ArrayAttr>(attributeName);
  for (mlir::Attribute each : all ? all.getValue() : llvm::ArrayRef<mlir::Attribute>()) {
    auto entry = llvm::dyn_cast<mlir::DictionaryAttr>(each);
    if (!entry)
      return {};
    auto name = entry.getAs<mlir::StringAttr>("name"), op = entry.getAs<mlir::StringAttr>("op");
    auto reads = entry.getAs<mlir::DenseI64ArrayAttr>("reads");
    if (!name || !op || !reads)
      return {};
    for (int64_t read : reads.asArrayRef()) // those that come before it
      if (read < modelInput || read >= static_cast<int64_t>(operators.size()))
        return {};
    operators.push_back({name.str(), op.str(), reads.asArrayRef().vec(),
                         !entry.contains("unneeded"), entry.contains("constant")});
  }
  return operators;
}

void copyModelOperators(mlir::ModuleOp from, mlir::ModuleOp to) {
  if (mlir::Attribute operators = from->getAttr(attributeName))
    to->setAttr(attributeName, operators);
}

void dropModelOperators(mlir::ModuleOp module) { module->removeAttr(attributeName); }

} // namespace tilewright
