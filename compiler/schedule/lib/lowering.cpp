#include "lowering.h"

#include "expansion.h"
#include "zero_weights.h"

#include "tilewright/compiler/tosa/constants.h"
#include "tilewright/isa/roles.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <stdexcept>

namespace tilewright {

static constexpr int64_t constantAlignment = 64;

int64_t ConstantPool::add(std::string_view bytes) {
  const size_t hash = std::hash<std::string_view>()(bytes);
  const auto [first, last] = known_.equal_range(hash);
  for (auto each = first; each != last; ++each)
    if (std::string_view(bytes_).substr(each->second.offset, each->second.size) == bytes)
      return base_ + static_cast<int64_t>(each->second.offset);
  bytes_.resize((bytes_.size() + constantAlignment - 1) / constantAlignment * constantAlignment,
                '\0');
  const Block block{bytes_.size(), bytes.size()};
  bytes_ += bytes;
  known_.emplace(hash, block);
  return base_ + static_cast<int64_t>(block.offset);
}

void ConstantPool::rollBack(size_t size) {
  for (auto each = known_.begin(); each != known_.end();)
    each = each->second.offset >= size ? known_.erase(each) : std::next(each);
  bytes_.resize(size);
}

// Whether two instructions say the same of registers and operands of the same names.
static bool saysTheSame(const isa::Isa &isa, const isa::Instruction &a, const isa::Instruction &b) {
  if (a.steps.size() != 1 || b.steps.size() != 1 || !a.requires_.empty() || !b.requires_.empty() ||
      a.operands.size() != b.operands.size())
    return false;
  for (size_t i = 0; i < a.operands.size(); ++i) {
    const isa::Operand &left = a.operands[i], &right = b.operands[i];
    if (left.name != right.name || left.kind != right.kind || left.space != right.space ||
        left.type != right.type || left.width != right.width)
      return false;
  }
  auto textOf = [&](const isa::Instruction &instruction) {
    const isa::Step &step = instruction.steps[0];
    std::string text = isa::print(*step.expr, instruction, isa, &step);
    for (const isa::Iterator &iterator : step.iterators)
      text += " in " + isa::print(*iterator.extent, instruction, isa, &step);
    for (const isa::ExprPtr &where : step.out.where)
      text += " to " + isa::print(*where, instruction, isa, &step);
    return text + (step.when ? " when " + isa::print(*step.when, instruction, isa, &step) : "");
  };
  return textOf(a) == textOf(b);
}

// Registers are told by their names: what one unit's hold, the other's do.
static bool haveSameRegisters(const isa::Unit &a, const isa::Unit &b) {
  return std::equal(a.registers.begin(), a.registers.end(), b.registers.begin(), b.registers.end(),
                    [](const isa::StateRegister &left, const isa::StateRegister &right) {
                      return left.name == right.name && left.type == right.type;
                    });
}

static const isa::Instruction *weightLoadOf(const isa::Isa &isa) {
  const isa::Instruction *load = isa.withRole(isa::Role::LoadBytes);
  for (const isa::Instruction &other : isa.instructions())
    if (load && other.unit != load->unit && saysTheSame(isa, *load, other) &&
        haveSameRegisters(isa.units()[static_cast<size_t>(load->unit)],
                          isa.units()[static_cast<size_t>(other.unit)]))
      return &other;
  return load;
}

LoweringContext::LoweringContext(const isa::Isa &isa, ConstantPool &constants,
                                 const DramTensors &tensors, Buffering buffering,
                                 std::shared_ptr<Selection> selection)
    : isa(isa), constants(constants), tensors(tensors), rows(isa.param("rows")),
      cols(isa.param("cols")), lanes(isa.param("lanes")), channels(patterns::channelsAtOnce(isa)),
      machine(ConvMachine::of(isa)), buffering(buffering), plans(timing::makeTimings(isa)),
      selection(std::move(selection)), weightLoad_(weightLoadOf(isa)) {}

const isa::Instruction &LoweringContext::instruction(isa::Role role) const {
  const isa::Instruction *instruction = isa.withRole(role);
  if (!instruction)
    throw UnfitDescription({},
                           fmt::format("target '{}' has no {}, which this model needs",
                                       isa.target(), isa::describe(isa, role)),
                           "keep such an instruction in the description, with its role");
  return *instruction;
}

patterns::ChannelArrays LoweringContext::channelArrays() const {
  const isa::Instruction &load = instruction(isa::Role::LoadChannels);
  if (auto arrays = patterns::channelArrays(load))
    return *arrays;
  throw UnfitDescription(
      {}, fmt::format("'{}' does not load addends, multipliers and shifts, one after the other",
                      load.name));
}

const isa::Instruction &LoweringContext::weightLoad() const {
  return weightLoad_ ? *weightLoad_ : instruction(isa::Role::LoadBytes);
}

const TaskForm &LoweringContext::form(const isa::Instruction &instruction) {
  return forms_.try_emplace(instruction.index, isa, instruction).first->second;
}

int64_t LoweringContext::limit(const isa::Instruction &instruction, Name operand) {
  const TaskForm &form = this->form(instruction);
  return form.instruction().operands[form.operand(operand)].greatest;
}

int64_t LoweringContext::registerLimit(const isa::Instruction &instruction, Name name) {
  const isa::Unit &unit = isa.units()[static_cast<size_t>(instruction.unit)];
  const int number = form(instruction).reg(name);
  return static_cast<int64_t>(unit.registers[static_cast<size_t>(number)].type.greatest());
}

DramTensor LoweringContext::tensor(mlir::Value value) const {
  auto known = tensors.find(value);
  if (known != tensors.end())
    return known->second;
  if (isConstant(value))
    return {constants.add(constantBytes(value))};
  throw std::logic_error("a tensor has no place in DRAM");
}

Tile denseTile(isa::Space space, int buffer, const Extent &extent, int64_t offset) {
  return {space, buffer, offset, extent.n0 * extent.nc, extent.nc, 1};
}

Tile repeatedTile(llvm::ArrayRef<int64_t> shape, const Box &box, isa::Space space, int buffer) {
  const size_t rank = shape.size();
  auto sizeOf = [&](size_t dim) { return shape[dim] == 1 ? 1 : box.size[dim]; };
  Tile tile = denseTile(space, buffer, {sizeOf(rank - 3), sizeOf(rank - 2), sizeOf(rank - 1)});
  if (shape[rank - 3] == 1)
    tile.s1 = 0;
  if (shape[rank - 2] == 1)
    tile.s0 = 0;
  if (shape[rank - 1] == 1)
    tile.sc = 0;
  return tile;
}

bool isConstant(mlir::Value value) { return value.getDefiningOp<mlir::tosa::ConstOp>() != nullptr; }

ImageView viewOf(const LoweringContext &context, mlir::Value image) {
  if (auto view = image.getDefiningOp<kernel::StridedViewOp>()) {
    llvm::ArrayRef<int64_t> strides = view.getStrides();
    const int64_t row = shapeOf(view.getX()).back(),
                  pitch = context.tensors.lookup(view.getX()).pitch;
    auto apart = [&](int64_t stride) { // where rows stand apart
      return pitch > 0 ? stride / row * pitch + stride % row : stride;
    };
    return {view.getX(),       apart(static_cast<int64_t>(view.getOffset())),
            apart(strides[0]), apart(strides[1]),
            apart(strides[2]), apart(strides[3])};
  }
  llvm::ArrayRef<int64_t> shape = shapeOf(image);
  const int64_t given = context.tensors.lookup(image).pitch, pitch = given > 0 ? given : shape[3];
  return {image, 0, shape[1] * shape[2] * pitch, shape[2] * pitch, pitch, 1};
}

std::vector<int64_t> integersOf(mlir::Value value) {
  auto values = constantIntegers(value);
  if (!values)
    throw std::logic_error("a constant tensor is expected");
  return {values->begin(), values->end()};
}

std::string constantBytes(mlir::Value value) {
  const auto bytes = static_cast<size_t>(bytesOf(value));
  // Elements of whole bytes stand in the attribute as they do in DRAM (little-endian host, as the
  // file).
  auto op = value.getDefiningOp<mlir::tosa::ConstOp>();
  auto attr = op ? llvm::dyn_cast<mlir::DenseIntElementsAttr>(op.getValues()) : nullptr;
  if (attr && !attr.getElementType().isInteger(1)) {
    std::string raw(attr.getRawData().data(), attr.getRawData().size());
    if (!attr.isSplat())
      return raw;
    std::string result;
    for (int64_t i = 0; i < attr.getNumElements(); ++i)
      result += raw;
    return result;
  }
  std::vector<int64_t> values = integersOf(value);
  std::string result(values.size() * bytes, '\0');
  for (size_t i = 0; i < values.size(); ++i)
    std::memcpy(&result[i * bytes], &values[i], bytes);
  return result;
}

static void write(llvm::raw_ostream &stream, const Scatter *scatter) {
  if (!scatter)
    return;
  for (const Scatter::Piece &piece : scatter->pieces) {
    stream << " by";
    for (const auto *list :
         {&piece.region.sizes, &piece.region.sourceStrides, &piece.region.resultStrides})
      for (int64_t each : *list)
        stream << ' ' << each;
  }
}

std::string signatureOf(const LoweringContext &context, kernel::GroupOp group) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::DenseMap<mlir::Value, size_t> numbers; // what is read twice is loaded once
  for (mlir::Operation &op : group.getBody().front()) {
    stream << op.getName() << '(';
    for (mlir::Value value : op.getOperands()) {
      stream << numbers.try_emplace(value, numbers.size()).first->second << value.getType()
             << (isConstant(value) ? "c" : "");
      if (auto view = value.getDefiningOp<kernel::StridedViewOp>())
        for (int64_t stride : view.getStrides())
          stream << '/' << stride;
      if (const int64_t pitch = context.tensors.lookup(value).pitch)
        stream << '/' << pitch;
      write(stream, context.tensors.lookup(value).scatter);
    }
    stream << ')';
    for (mlir::Value result : op.getResults())
      numbers.try_emplace(result, numbers.size());
    for (const char *name : {"stride", "pad", "dilation", "kernel"})
      if (auto values = op.getAttrOfType<mlir::DenseI64ArrayAttr>(name))
        for (int64_t value : values.asArrayRef())
          stream << ' ' << value;
    stream << expansionMarks(&op);
    if (auto conv = llvm::dyn_cast<kernel::Conv2DOp>(op))
      stream << ZeroWeights(conv).squares(context.rows, context.cols);
    // Where a result stands, and whether a bias is added.
    if (auto rescale = llvm::dyn_cast<kernel::RescaleOp>(op))
      stream << (static_cast<int64_t>(rescale.getLo()) < -128 ||
                 static_cast<int64_t>(rescale.getHi()) > 127)
             << rescale.getInputUnsigned();
    if (llvm::isa<kernel::Conv2DOp, kernel::DepthwiseOp>(op))
      stream << llvm::all_of(integersOf(op.getOperand(2)), [](int64_t each) { return each == 0; });
  }
  const DramTensor to = context.tensors.lookup(group.getResult());
  if (to.pitch > 0)
    stream << "to " << to.pitch;
  write(stream, to.scatter);
  return text;
}

} // namespace tilewright
