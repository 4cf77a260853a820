// TOSA as MLIR text or bytecode: parsed, checked, and brought into the form that frontend.h
// defines.
#include "tilewright/compiler/frontend/frontend.h"
#include "tilewright/compiler/tosa/layer_location.h"
#include "tilewright/compiler/tosa/model_operators.h"

#include "bytecode_text.h"
#include "first_diagnostic.h"
#include "semantic_checks.h"
#include "source_location.h"
#include "text_limits.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <set>

namespace tilewright {

namespace {

// Where converters leave the name of an argument or a result; the first one given counts.
const char *const nameAttributes[] = {"tilewright.name", "tosa.tensor_name",
                                      "ml_program.identifier"};

class TosaImporter {
public:
  explicit TosaImporter(std::string path) : path_(std::move(path)) {}

  void normalize(mlir::ModuleOp module) {
    mlir::func::FuncOp main = onlyFunction(module);
    checkBody(main);
    main.setName("main");
    main.setPublic();
    main->removeAttr("sym_visibility");
    nameTensors(main);
    nameLayers(main);
    listOperators(module, main);
  }

private:
  [[noreturn]] void fail(mlir::Location location, const std::string &message,
                         const std::string &fix = "") const {
    throw UserError(sourceLocationOf(location, path_), message, fix);
  }

  mlir::func::FuncOp onlyFunction(mlir::ModuleOp module) const {
    mlir::func::FuncOp main;
    std::vector<mlir::Operation *> declarations;
    for (mlir::Operation &op : *module.getBody()) {
      auto function = llvm::dyn_cast<mlir::func::FuncOp>(op);
      if (!function)
        fail(op.getLoc(), fmt::format("'{}' is not supported beside the function",
                                      op.getName().getStringRef().str()));
      if (function.isExternal()) {
        declarations.push_back(&op);
        continue;
      }
      if (main)
        fail(op.getLoc(), "the module has a second function", "keep the one to compile");
      main = function;
    }
    if (!main)
      fail(module.getLoc(), "the module has no function with a body");
    for (mlir::Operation *declaration : declarations)
      declaration->erase();
    return main;
  }

  void checkType(mlir::Location location, mlir::Type type) const {
    if (llvm::isa<mlir::tosa::shapeType>(type))
      return;
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      fail(location, "only tensors of static shape are supported",
           "convert the model with fixed input shapes");
    if (tensor.getEncoding())
      fail(location, "tensor encodings are not supported");
    constexpr int64_t maxBytes = int64_t(1) << 31;
    mlir::Type element = tensor.getElementType();
    int64_t size = element.isIntOrFloat() ? (element.getIntOrFloatBitWidth() + 7) / 8 : 8;
    for (int64_t dim : tensor.getShape()) {
      if (dim == 0)
        fail(location, "empty tensors are not supported");
      if (size > maxBytes / dim)
        fail(location, fmt::format("a tensor is larger than {} bytes", maxBytes));
      size *= dim;
    }
  }

  void checkBody(mlir::func::FuncOp main) const {
    if (!main.getBody().hasOneBlock())
      fail(main.getLoc(), "the function has more than one block");
    if (main.getNumResults() == 0)
      fail(main.getLoc(), "the function has no results");
    for (mlir::BlockArgument argument : main.getArguments())
      checkType(main.getLoc(), argument.getType());
    for (mlir::Operation &op : main.getBody().front()) {
      std::string name = op.getName().getStringRef().str();
      bool isReturn = llvm::isa<mlir::func::ReturnOp>(op);
      if (!isReturn && !llvm::isa<mlir::tosa::TosaDialect>(op.getDialect()))
        fail(op.getLoc(), fmt::format("'{}' is not supported: it is no TOSA operator", name));
      if (op.getNumRegions() > 0)
        fail(op.getLoc(), fmt::format("'{}' is not supported: control flow depends on data", name));
      for (mlir::Type type : op.getResultTypes())
        checkType(op.getLoc(), type);
      checkResources(op);
      checkFinite(op);
    }
  }

  // The bits of float32 say it: an exponent of ones is infinite or no number.
  void checkFinite(mlir::Operation &op) const {
    auto constant = llvm::dyn_cast<mlir::tosa::ConstOp>(op);
    if (!constant || !mlir::getElementTypeOrSelf(constant.getType()).isF32())
      return;
    llvm::ArrayRef<char> bytes;
    if (auto dense = llvm::dyn_cast<mlir::DenseElementsAttr>(constant.getValues()))
      bytes = dense.getRawData();
    else if (auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(constant.getValues()))
      bytes = resource.getRawHandle().getBlob()->getData();
    for (size_t i = 0; i < bytes.size() / sizeof(float); ++i) {
      float value;
      std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
      if (!std::isfinite(value))
        fail(op.getLoc(),
             fmt::format("element {} of the constant is {}; only finite numbers are computed with",
                         i, value));
    }
  }

  // A `dense_resource` that names nothing parses and verifies.
  void checkResources(mlir::Operation &op) const {
    for (mlir::NamedAttribute attribute : op.getAttrs()) {
      auto resource = llvm::dyn_cast<mlir::DenseResourceElementsAttr>(attribute.getValue());
      if (!resource)
        continue;
      mlir::AsmResourceBlob *blob = resource.getRawHandle().getBlob();
      auto type = llvm::cast<mlir::ShapedType>(resource.getType());
      int64_t bits = type.getElementTypeBitWidth();
      int64_t size = type.getNumElements() * ((bits + 7) / 8);
      if (!blob || static_cast<int64_t>(blob->getData().size()) != size)
        fail(op.getLoc(), fmt::format("the resource '{}' is missing or of the wrong size",
                                      escape(resource.getRawHandle().getKey().str())));
    }
  }

  // The name that `attributes` give, else `fallback`; each name once.
  std::string chooseName(mlir::func::FuncOp main, mlir::DictionaryAttr attributes,
                         std::string fallback, std::set<std::string> &taken) const {
    std::string name = std::move(fallback);
    for (const char *key : nameAttributes) {
      auto given = attributes ? attributes.getAs<mlir::StringAttr>(key) : mlir::StringAttr();
      if (given) {
        name = given.str();
        break;
      }
    }
    if (name.empty() || !taken.insert(name).second)
      fail(main.getLoc(),
           fmt::format("the name '{}' of an input or output is empty or stands twice",
                       escape(name)));
    return name;
  }

  void nameTensors(mlir::func::FuncOp main) const {
    mlir::Builder builder(main.getContext());
    // The project's own attributes (scale and zero point of a quantized tensor) stay, those of
    // converters go.
    auto named = [&](mlir::DictionaryAttr attributes, const std::string &name) {
      mlir::NamedAttrList kept;
      for (mlir::NamedAttribute attribute :
           attributes ? attributes.getValue() : llvm::ArrayRef<mlir::NamedAttribute>())
        if (attribute.getName().strref().starts_with("tilewright."))
          kept.append(attribute);
      kept.set("tilewright.name", builder.getStringAttr(name));
      return kept.getDictionary(main.getContext());
    };
    std::set<std::string> inputs, outputs;
    for (unsigned i = 0; i < main.getNumArguments(); ++i) {
      mlir::DictionaryAttr attributes = main.getArgAttrDict(i);
      std::string name = chooseName(main, attributes, fmt::format("input_{}", i), inputs);
      main.setArgAttrs(i, named(attributes, name));
    }
    for (unsigned i = 0; i < main.getNumResults(); ++i) {
      mlir::DictionaryAttr attributes = main.getResultAttrDict(i);
      std::string name = chooseName(main, attributes, fmt::format("output_{}", i), outputs);
      main.setResultAttrs(i, named(attributes, name));
    }
  }

  // Operators that carry no layer are layers of their own: the location's name, else the operator's
  // kind and number.
  void nameLayers(mlir::func::FuncOp main) const {
    std::map<std::string, int> count;
    mlir::MLIRContext &context = *main.getContext();
    for (mlir::Operation &op : main.getBody().front().without_terminator()) {
      std::string kind = op.getName().stripDialect().str();
      int number = count[kind]++;
      if (!layerOf(op.getLoc()).op.empty())
        continue;
      auto inner = mlir::NameLoc::get(mlir::StringAttr::get(&context, kind), op.getLoc());
      auto given = llvm::dyn_cast<mlir::NameLoc>(op.getLoc());
      std::string name = given ? given.getName().str() : fmt::format("{}_{}", kind, number);
      op.setLoc(mlir::NameLoc::get(mlir::StringAttr::get(&context, name), inner));
    }
  }

  // The operators of a module that does not say them itself: several of one layer are one.
  static void listOperators(mlir::ModuleOp module, mlir::func::FuncOp main) {
    if (!modelOperators(module).empty())
      return;
    std::vector<ModelOperator> operators;
    std::map<std::pair<std::string, std::string>, size_t> numbers;
    llvm::DenseMap<mlir::Operation *, size_t> numberOf;
    auto isConstant = [](mlir::Operation *op) {
      return llvm::isa<mlir::tosa::ConstOp, mlir::tosa::ConstShapeOp>(op);
    };
    for (mlir::Operation &op : main.getBody().front().without_terminator()) {
      if (isConstant(&op))
        continue;
      const Layer layer = layerOf(op.getLoc());
      auto [known, isNew] = numbers.try_emplace({layer.name, layer.op}, operators.size());
      const size_t number = known->second;
      numberOf[&op] = number;
      if (isNew)
        operators.push_back({layer.name, layer.op, {}, false, false});
      for (mlir::Value operand : op.getOperands()) {
        mlir::Operation *producer = operand.getDefiningOp();
        if (producer && isConstant(producer))
          continue;
        const int64_t read = producer ? static_cast<int64_t>(numberOf[producer]) : modelInput;
        // Only those before it: layers that read one another in a circle are no order.
        if (read < static_cast<int64_t>(number) &&
            !llvm::is_contained(operators[number].reads, read))
          operators[number].reads.push_back(read);
      }
    }
    llvm::DenseSet<mlir::Operation *> needed;
    for (mlir::Operation &op : llvm::reverse(main.getBody().front())) {
      if (!llvm::isa<mlir::func::ReturnOp>(op) && !needed.contains(&op))
        continue;
      if (auto number = numberOf.find(&op); number != numberOf.end())
        operators[number->second].isNeeded = true;
      for (mlir::Value operand : op.getOperands())
        if (mlir::Operation *producer = operand.getDefiningOp())
          needed.insert(producer);
    }
    setModelOperators(module, operators);
  }

  std::string path_;
};

} // namespace

mlir::OwningOpRef<mlir::ModuleOp> importTosa(const std::string &path, const std::string &bytes,
                                             mlir::MLIRContext &context) {
  context
      .loadDialect<mlir::func::FuncDialect, mlir::tosa::TosaDialect, mlir::quant::QuantDialect>();
  const bool bytecode = isBytecode(bytes);
  if (!bytecode)
    checkTextLimits(path, bytes);

  FirstDiagnostic diagnostics(context, path);
  mlir::ParserConfig config(&context);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(bytes, config, path);
  if (!module && bytecode)
    failOnBytecode(path, diagnostics.message("it holds no module"));
  if (!module)
    diagnostics.raise("the text is no valid MLIR");
  TosaImporter(path).normalize(*module);
  checkSemantics(*module, path);

  // What MLIR knows of TOSA's own rules: types an operator supports, the limits of level 8K.
  mlir::PassManager passes(&context);
  mlir::tosa::TosaAttachTargetOptions target;
  target.profiles = {"pro_int", "pro_fp"};
  target.extensions = {"int16"};
  passes.addPass(mlir::tosa::createTosaAttachTarget(target));
  passes.addPass(mlir::tosa::createTosaValidation());
  if (mlir::failed(passes.run(*module)))
    diagnostics.raise("the module is no valid TOSA");
  (*module)->removeAttr(mlir::tosa::TargetEnvAttr::name);
  return module;
}

} // namespace tilewright
