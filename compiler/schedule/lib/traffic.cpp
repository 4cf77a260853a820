#include "traffic.h"

#include "tilewright/compiler/schedule/taps.h"
#include "tilewright/compiler/select/kernel_regions.h"

#include <cmath>
#include <numeric>

namespace tilewright {

namespace {

using Axes = std::pair<WindowAxis, WindowAxis>; // rows, columns

Axes axesOf(llvm::ArrayRef<int64_t> image, llvm::ArrayRef<int64_t> kernel,
            llvm::ArrayRef<int64_t> stride, llvm::ArrayRef<int64_t> dilation,
            llvm::ArrayRef<int64_t> pad) {
  return {{kernel[0], stride[0], dilation[0], pad[0], image[1]},
          {kernel[1], stride[1], dilation[1], pad[2], image[2]}};
}

// Of what reads windows of an image.
std::optional<Axes> axesOf(mlir::Operation *op) {
  const int64_t none[] = {1, 1};
  auto image = [&] { return shapeOf(op->getOperand(0)); };
  if (auto conv = llvm::dyn_cast<kernel::Conv2DOp>(op))
    return axesOf(image(), shapeOf(conv.getWeight()).slice(1, 2), conv.getStride(),
                  conv.getDilation(), conv.getPad());
  if (auto conv = llvm::dyn_cast<kernel::DepthwiseOp>(op))
    return axesOf(image(), shapeOf(conv.getWeight()).take_front(2), conv.getStride(),
                  conv.getDilation(), conv.getPad());
  if (auto pool = llvm::dyn_cast<kernel::MaxPoolOp>(op))
    return axesOf(image(), pool.getKernel(), pool.getStride(), none, pool.getPad());
  if (auto pool = llvm::dyn_cast<kernel::AvgPoolOp>(op))
    return axesOf(image(), pool.getKernel(), pool.getStride(), none, pool.getPad());
  if (auto pool = llvm::dyn_cast<kernel::SumPoolOp>(op))
    return axesOf(image(), pool.getKernel(), pool.getStride(), none, pool.getPad());
  return std::nullopt;
}

// Taps inside the tensor, over all output positions of one axis.
int64_t validTaps(int64_t outputs, const WindowAxis &axis) {
  int64_t count = 0;
  for (int64_t output = 0; output < outputs; ++output)
    count += tapsInside(axis, output).count;
  return count;
}

// Positions of one axis that any window has.
int64_t positionsRead(int64_t outputs, const WindowAxis &axis) {
  std::vector<bool> isRead(static_cast<size_t>(axis.size), false);
  for (int64_t output = 0; output < outputs; ++output) {
    const auto [first, count] = tapsInside(axis, output);
    for (int64_t tap = first; tap < first + count; ++tap)
      isRead[static_cast<size_t>(output * axis.stride - axis.pad + tap * axis.dilation)] = true;
  }
  return std::count(isRead.begin(), isRead.end(), true);
}

// Windows that one position is in, at most.
int64_t windowsOf(const WindowAxis &axis) {
  const int64_t period = axis.stride / std::gcd(axis.stride, axis.dilation);
  return (axis.kernel + period - 1) / period;
}

// Bytes of an operand that an operation needs; of what is one parameter a channel, none are
// counted.
int64_t bytesNeeded(mlir::Operation *op, unsigned operand) {
  mlir::Value value = op->getOperand(operand);
  if (llvm::isa<kernel::RescaleOp>(op) && operand > 0)
    return 0;
  if (llvm::isa<kernel::Conv2DOp, kernel::DepthwiseOp>(op) && operand > 1)
    return 0;
  const int64_t bytes = elementsOf(value) * bytesOf(value);
  if (auto assembly = llvm::dyn_cast<kernel::AssembleOp>(op)) {
    int64_t most = 0; // of one region: several may take the same elements
    for (mlir::Attribute attribute : assembly.getRegions()) {
      const kernel::Region region = *kernel::decode(attribute);
      if (region.source == operand)
        most = std::max(most, kernel::elementsOf(region));
    }
    return std::min(bytes, most * bytesOf(value));
  }
  const std::optional<Axes> axes = operand == 0 ? axesOf(op) : std::nullopt;
  if (!axes)
    return bytes;
  llvm::ArrayRef<int64_t> image = shapeOf(value), result = shapeOf(op->getResult(0));
  return image[0] * positionsRead(result[1], axes->first) * positionsRead(result[2], axes->second) *
         image[3] * bytesOf(value);
}

// Products ask for traffic even where every tensor is small: with S elements on chip, while 2 S are
// moved, at most sqrt(R) S^1.5 products can be made, where an input element is in R windows. So
// 2 products / sqrt(R S) - 2 S elements are moved at least (T. M. Smith et al., "A Tight I/O Lower
// Bound for Matrix Multiplication", 2019; with windows, X. Chen et al., "Communication Lower Bound
// in Convolution Accelerators", HPCA 2020). An element has a byte or more.
int64_t productsNeed(const isa::Isa &isa, mlir::Operation *op) {
  const std::optional<Axes> axes = axesOf(op);
  const auto windows =
      static_cast<double>(axes ? windowsOf(axes->first) * windowsOf(axes->second) : 1);
  const uint64_t sums = isa.memory(isa::Space::Acc).bytes / 4;
  const auto elements = static_cast<double>(isa.memory(isa::Space::Spad).bytes + sums);
  return static_cast<int64_t>(2 * static_cast<double>(macsOf(op)) / std::sqrt(windows * elements) -
                              2 * elements);
}

} // namespace

int64_t macsOf(mlir::Operation *op) {
  if (auto matmul = llvm::dyn_cast<kernel::MatMulOp>(op))
    return elementsOf(matmul.getResult()) * shapeOf(matmul.getA())[2];
  // A factor a channel is an element-wise product, however it is computed.
  if (!llvm::isa<kernel::Conv2DOp, kernel::DepthwiseOp>(op) || !isConstant(op->getOperand(1)))
    return 0;
  llvm::ArrayRef<int64_t> image = shapeOf(op->getOperand(0)), result = shapeOf(op->getResult(0));
  auto [rows, columns] = *axesOf(op);
  auto conv = llvm::dyn_cast<kernel::Conv2DOp>(op);
  const int64_t pixels = conv ? static_cast<int64_t>(conv.getPixels()) : 1;
  // Pixels beside each other, of which each has its own window; or of one tap its own channels.
  const bool areTaps = columns.stride % pixels == 0;
  if (areTaps) {
    columns.stride /= pixels;
    columns.kernel -= (pixels - 1) * columns.stride;
  }
  return validTaps(result[1], rows) * validTaps(result[2] * (areTaps ? pixels : 1), columns) *
         result[0] * (areTaps ? result[3] / pixels : result[3]) *
         (!conv     ? 1
          : areTaps ? image[3]
                    : image[3] / pixels);
}

void addTraffic(const isa::Isa &isa, const Steps &steps, std::vector<LayerTraffic> &layers) {
  struct Moves {
    size_t rows, elements; // operands
    int planes;            // a register
    int64_t bytes;         // of an element in DRAM; 0: moves none
  };
  std::vector<std::optional<Moves>> moves(isa.instructions().size());
  auto movesOf = [&](const Task &task) -> const Moves & {
    std::optional<Moves> &known = moves[static_cast<size_t>(task.instruction)];
    if (known)
      return *known;
    known = Moves{0, 0, 0, 0};
    const isa::Instruction &instruction = isa.instructions()[static_cast<size_t>(task.instruction)];
    for (const isa::Operand &operand : instruction.operands)
      if (operand.kind == isa::Operand::Kind::Memory && operand.space == isa::Space::Dram) {
        const TaskForm form(isa, instruction);
        known =
            Moves{form.operand("n1"), form.operand("n0"), form.reg("n2"), operand.type.bits / 8};
      }
    return *known;
  };
  auto add = [&](const Task &task) {
    const Moves &each = movesOf(task);
    if (each.bytes == 0)
      return;
    int64_t planes = 1;
    for (const auto &[index, value] : task.registers)
      if (index == each.planes)
        planes = value;
    layers[static_cast<size_t>(task.layer >= 0 ? task.layer : steps.layer)].bytes +=
        task.values[each.rows] * task.values[each.elements] * planes * each.bytes;
  };
  steps.forEachStep([&](const Step &step) {
    for (const std::vector<Task> *tasks :
         {&step.constants, &step.loads, &step.compute, &step.stores})
      for (const Task &task : *tasks)
        add(task);
  });
}

llvm::DenseMap<mlir::Value, int64_t> needsOf(kernel::GroupOp group) {
  llvm::DenseMap<mlir::Value, int64_t> needs; // several operations of the group may read one
  for (mlir::Operation &op : group.getBody().front().without_terminator())
    for (unsigned i = 0; i < op.getNumOperands(); ++i) {
      mlir::Value value = op.getOperand(i);
      mlir::Operation *producer = value.getDefiningOp();
      const bool isInside = producer && producer->getParentOp() == group.getOperation();
      if (!isInside || isConstant(value))
        needs[value] = std::max(needs[value], bytesNeeded(&op, i));
    }
  return needs;
}

std::vector<int64_t> leastTraffic(const isa::Isa &isa, llvm::ArrayRef<kernel::GroupOp> groups,
                                  const llvm::DenseSet<mlir::Value> &onChip) {
  llvm::DenseSet<mlir::Value> counted;
  std::vector<int64_t> least;
  kernel::GroupOp before; // hands its result on
  for (kernel::GroupOp group : groups) {
    int64_t products = 0;
    for (mlir::Operation &op : group.getBody().front())
      if (groups.size() == 1 && llvm::isa<kernel::Conv2DOp, kernel::MatMulOp>(op))
        products = std::max(products, productsNeed(isa, &op));
    int64_t bytes = onChip.contains(group.getResult())
                        ? 0
                        : elementsOf(group.getResult()) * bytesOf(group.getResult());
    for (const auto &[value, count] : needsOf(group))
      if (!onChip.contains(value) && (!before || value != before.getResult()) &&
          counted.insert(value).second)
        bytes += count;
    least.push_back(std::max(bytes, products));
    before = group;
  }
  return least;
}

} // namespace tilewright
