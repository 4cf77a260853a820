// Data movement: a tensor put together from regions of others, by the two DMA units through the
// chip.
//
// 1. A fill value covers the result first.
// 2. Each region is a strided copy. Elements that are contiguous on both sides move as bytes
// through the scratchpad; wider elements that are
//    scattered go through the accumulators, one by one.
// 3. A tile takes long runs of the dimension contiguous in the source and of the one contiguous in
// the result: that is the transpose.
#include "lowering.h"

#include "tilewright/compiler/select/kernel_regions.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <algorithm>
#include <stdexcept>

namespace tilewright {

namespace {

struct MoveDim {
  int64_t size, source, result; // strides in elements
};
struct Region {
  mlir::Value source;
  int64_t sourceOffset, resultOffset;
  llvm::SmallVector<MoveDim> dims;
};

Region parseRegion(kernel::AssembleOp op, mlir::Attribute attribute) {
  mlir::FailureOr<kernel::Region> decoded = kernel::decode(attribute);
  if (mlir::failed(decoded))
    throw std::logic_error("a region of an assemble that its verifier accepted cannot be read");
  kernel::Region box = kernel::coalesce(*decoded);
  Region region{
      op.getSources()[static_cast<unsigned>(box.source)], box.sourceOffset, box.resultOffset, {}};
  for (size_t i = 0; i < box.sizes.size(); ++i)
    if (box.sizes[i] != 1)
      region.dims.push_back({box.sizes[i], box.sourceStrides[i], box.resultStrides[i]});
  return region;
}

class Assembler {
public:
  Assembler(LoweringContext &context, kernel::AssembleOp op, int64_t to, Steps &steps)
      : context_(context), op_(op), to_(to), steps_(steps), bytes_(bytesOf(op.getResult())) {}

  void fill(int64_t value);
  void copy(Region region);

private:
  LoweringContext &context_;
  kernel::AssembleOp op_;
  int64_t to_;
  Steps &steps_;
  int bytes_;
};

// One buffer of the value, stored again and again.
void Assembler::fill(int64_t value) {
  int64_t total = elementsOf(op_.getResult());
  isa::Space space = bytes_ == 1 ? isa::Space::Spad : isa::Space::Acc;
  const isa::Role fill = bytes_ == 1 ? isa::Role::FillBytes : isa::Role::FillI32;
  const int64_t chipBytes = space == isa::Space::Acc ? 4 : 1;
  const auto room = static_cast<int64_t>(context_.isa.memory(space).bytes) / chipBytes / 2;
  int64_t piece = std::min<int64_t>({total, 4096, context_.limit(fill, "n0"), room});
  steps_.steps.emplace_back();
  Step &step = steps_.steps.back();
  int buffer = steps_.add(space, piece * chipBytes, "fill value");
  step.loads.push_back(context_.form(fill)
                           .build()
                           .buffer("d", buffer, 0)
                           .imm("value", value)
                           .imm("n1", 1)
                           .imm("n0", piece)
                           .reg("n2", 1)
                           .reg("d_s0", 1));
  Tile tile{space, buffer, 0, 0, 0, 1};
  copyStrided(context_, step.compute, Direction::Store, to_, bytes_, Signedness::Signed, tile,
              {{total / piece, piece, 0}, {piece, 1, 1}});
  copyStrided(context_, step.compute, Direction::Store, to_ + total / piece * piece * bytes_,
              bytes_, Signedness::Signed, tile, {{total % piece, 1, 1}});
}

void Assembler::copy(Region region) {
  const DramTensor source = context_.tensor(region.source);
  int64_t from = source.address + region.sourceOffset * bytes_;
  int64_t to = to_ + region.resultOffset * bytes_;
  if (source.scatter || from == to) // its maker has written it there
    return;
  int element = bytes_;
  auto &dims = region.dims;
  auto last = std::find_if(dims.begin(), dims.end(),
                           [](const MoveDim &dim) { return dim.source == 1 && dim.result == 1; });
  if (element > 1 && last != dims.end()) {
    for (MoveDim &dim : dims)
      dim.source *= element, dim.result *= element;
    *last = {last->size * element, 1, 1};
    element = 1;
  }
  isa::Space space = element == 1 ? isa::Space::Spad : isa::Space::Acc;
  int64_t chipBytes = space == isa::Space::Acc ? 4 : 1;
  const isa::Memory &memory = context_.isa.memory(space);
  int64_t most = std::min<int64_t>(static_cast<int64_t>(memory.bytes) / chipBytes / 4, 32768);
  // Innermost on chip: the dimension contiguous in the result; next to it the one contiguous in the
  // source.
  auto toFront = [&](size_t position, auto isWanted) {
    auto found = std::find_if(dims.begin() + static_cast<long>(std::min(position, dims.size())),
                              dims.end(), isWanted);
    if (found != dims.end())
      std::rotate(dims.begin() + static_cast<long>(position), found, found + 1);
    return found != dims.end() || position > dims.size();
  };
  std::reverse(dims.begin(), dims.end()); // innermost first
  bool hasRun = toFront(0, [](const MoveDim &dim) { return dim.result == 1; });
  bool hasSource = toFront(hasRun ? 1 : 0, [](const MoveDim &dim) { return dim.source == 1; });
  llvm::SmallVector<int64_t> size;
  int64_t room = most;
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t want = dims[i].size;
    if (i == 0 && hasRun && hasSource && dims.size() > 1 && dims[0].source != 1)
      want = std::min(want, std::max<int64_t>(128, most / std::max<int64_t>(1, dims[1].size)));
    size.push_back(std::max<int64_t>(1, std::min(want, room)));
    room /= size.back();
  }
  std::function<void(size_t, int64_t, int64_t, llvm::SmallVector<int64_t>)> loop =
      [&](size_t depth, int64_t fromOffset, int64_t toOffset, llvm::SmallVector<int64_t> part) {
        if (depth < dims.size()) {
          size_t dim = dims.size() - 1 - depth;
          for (int64_t at = 0; at < dims[dim].size; at += size[dim]) {
            part[dim] = std::min(size[dim], dims[dim].size - at);
            loop(depth + 1, fromOffset + at * dims[dim].source, toOffset + at * dims[dim].result,
                 part);
          }
          return;
        }
        llvm::SmallVector<CopyDim> load, store;
        int64_t chip = 1;
        for (size_t i = 0; i < dims.size(); ++i) {
          load.insert(load.begin(), {part[i], dims[i].source, chip});
          store.insert(store.begin(), {part[i], dims[i].result, chip});
          chip *= part[i];
        }
        steps_.steps.emplace_back();
        Step &step = steps_.steps.back();
        Tile tile{space, steps_.add(space, chip * chipBytes, "moved data"), 0, 0, 0, 1};
        copyStrided(context_, step.loads, Direction::Load, from + fromOffset * element, element,
                    Signedness::Signed, tile, load);
        copyStrided(context_, step.compute, Direction::Store, to + toOffset * element, element,
                    Signedness::Signed, tile, store);
      };
  loop(0, 0, 0, llvm::SmallVector<int64_t>(dims.size(), 1));
}

} // namespace

void lowerAssemble(LoweringContext &context, kernel::GroupOp group, Steps &steps) {
  auto op = llvm::cast<kernel::AssembleOp>(group.getBody().front().front());
  Assembler assembler(context, op, context.tensor(group.getResult()).address, steps);
  if (std::optional<uint64_t> value = op.getFill())
    assembler.fill(static_cast<int64_t>(*value));
  for (mlir::Attribute attr : op.getRegions())
    assembler.copy(parseRegion(op, attr));
}

} // namespace tilewright
