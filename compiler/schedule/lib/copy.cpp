// Data movement between DRAM and tiles, cut into DMA instructions.
#include "expansion.h"

#include <algorithm>

namespace tilewright {

static isa::Role roleFor(Direction direction, isa::Space space, int elementBytes, Signedness sign) {
  if (space == isa::Space::Spad)
    return direction == Direction::Load ? isa::Role::LoadBytes : isa::Role::StoreBytes;
  if (direction == Direction::Store)
    return elementBytes == 1   ? isa::Role::StoreI8
           : elementBytes == 2 ? isa::Role::StoreI16
                               : isa::Role::StoreI32;
  bool isUnsigned = sign == Signedness::Unsigned;
  return elementBytes == 1   ? (isUnsigned ? isa::Role::LoadU8 : isa::Role::LoadI8)
         : elementBytes == 2 ? (isUnsigned ? isa::Role::LoadU16 : isa::Role::LoadI16)
                             : isa::Role::LoadI32;
}

namespace {

// What moves elements: an instruction, and an element's size in DRAM and in addresses on chip.
struct Mover {
  const isa::Instruction &instruction;
  Direction direction;
  int dramBytes, chipUnits;
};

} // namespace

// 1. Drop dimensions of size 1; merge neighbors that are contiguous on both sides.
// 2. The innermost dimension of the instruction must be contiguous in DRAM: the dimension with DRAM
// stride 1 goes last (one of size 1 is
//    added when there is none). The chip's stride of it is free.
// 3. Split sizes that exceed the instruction's fields; dimensions beyond three become loops.
static void copyBy(const Mover &mover, LoweringContext &context, std::vector<Task> &out,
                   int64_t address, const Tile &tile, llvm::SmallVector<CopyDim> dims) {
  for (const CopyDim &dim : dims)
    if (dim.size == 0)
      return;
  llvm::erase_if(dims, [](const CopyDim &dim) { return dim.size == 1; });
  llvm::SmallVector<CopyDim> merged;
  for (const CopyDim &dim : dims) {
    if (!merged.empty() && merged.back().dram == dim.dram * dim.size &&
        merged.back().chip == dim.chip * dim.size)
      merged.back() = {merged.back().size * dim.size, dim.dram, dim.chip};
    else
      merged.push_back(dim);
  }
  dims = std::move(merged);
  auto contiguous =
      std::find_if(dims.rbegin(), dims.rend(), [](const CopyDim &dim) { return dim.dram == 1; });
  CopyDim inner{1, 1, 1};
  if (contiguous != dims.rend()) {
    inner = *contiguous;
    dims.erase(std::next(contiguous).base());
  }
  const TaskForm &form = context.form(mover.instruction);
  const bool isLoad = mover.direction == Direction::Load;
  int64_t limits[3] = {context.limit(mover.instruction, "n0"),
                       context.limit(mover.instruction, "n1"),
                       context.registerLimit(mover.instruction, "n2")}; // x, y, z
  // A dimension larger than its field becomes two.
  auto split = [](llvm::SmallVector<CopyDim> &list, size_t at, int64_t limit) {
    CopyDim dim = list[at];
    int64_t part = limit;
    while (part > 1 && dim.size % part != 0)
      --part;
    if (part * 4 < limit) // no good divisor
      return false;
    list[at] = {part, dim.dram, dim.chip};
    list.insert(list.begin() + static_cast<long>(at),
                {dim.size / part, dim.dram * part, dim.chip * part});
    return true;
  };
  if (inner.size > limits[0]) {
    llvm::SmallVector<CopyDim> pair{inner};
    if (!split(pair, 0, limits[0])) {
      // Whole chunks and a rest.
      int64_t whole = inner.size / limits[0] * limits[0];
      auto copyPart = [&](int64_t start, int64_t size) {
        llvm::SmallVector<CopyDim> part = dims;
        part.push_back({size, inner.dram, inner.chip});
        Tile moved = tile;
        moved.offset += start * inner.chip * mover.chipUnits;
        copyBy(mover, context, out, address + start * inner.dram * mover.dramBytes, moved, part);
      };
      copyPart(0, whole);
      copyPart(whole, inner.size - whole);
      return;
    }
    dims.push_back(pair[0]);
    inner = pair[1];
  }
  auto emit = [&](const CopyDim &z, const CopyDim &y, int64_t dramOffset, int64_t chipOffset) {
    TaskForm::Builder task = form.build();
    const char *chip = isLoad ? "d" : "s", *dram = isLoad ? "s" : "d";
    task.buffer(chip, tile.buffer, tile.offset + chipOffset * mover.chipUnits);
    task.dram(dram, address + dramOffset * mover.dramBytes);
    task.imm("n0", inner.size).imm("n1", y.size).reg("n2", z.size);
    auto stride = [&](const char *load, const char *store, int64_t value) {
      task.reg(isLoad ? load : store, value);
    };
    stride("d_s0", "s_s0", inner.chip);
    if (y.size > 1) {
      stride("d_s1", "s_s1", y.chip);
      stride("s_s1", "d_s1", y.dram);
    }
    if (z.size > 1) {
      stride("d_s2", "s_s2", z.chip);
      stride("s_s2", "d_s2", z.dram);
    }
    out.push_back(task);
  };
  // Outer dimensions: the last two go into the instruction, the others are loops; oversized ones
  // are cut into ranges.
  llvm::SmallVector<CopyDim> outer(dims.begin(), dims.end());
  CopyDim one{1, 0, 0};
  std::function<void(size_t, int64_t, int64_t)> loop = [&](size_t depth, int64_t dramOffset,
                                                           int64_t chipOffset) {
    if (outer.size() - depth > 2) {
      for (int64_t i = 0; i < outer[depth].size; ++i)
        loop(depth + 1, dramOffset + i * outer[depth].dram, chipOffset + i * outer[depth].chip);
      return;
    }
    CopyDim y = outer.size() > depth ? outer.back() : one;
    CopyDim z = outer.size() > depth + 1 ? outer[depth] : one;
    for (int64_t z0 = 0; z0 < z.size; z0 += limits[2])
      for (int64_t y0 = 0; y0 < y.size; y0 += limits[1])
        emit({std::min(limits[2], z.size - z0), z.dram, z.chip},
             {std::min(limits[1], y.size - y0), y.dram, y.chip},
             dramOffset + z0 * z.dram + y0 * y.dram, chipOffset + z0 * z.chip + y0 * y.chip);
  };
  loop(0, 0, 0);
}

void copyStrided(LoweringContext &context, std::vector<Task> &out, Direction direction,
                 int64_t address, int elementBytes, Signedness sign, const Tile &tile,
                 llvm::SmallVector<CopyDim> dims) {
  const isa::Role role = roleFor(direction, tile.space, elementBytes, sign);
  copyBy({context.instruction(role), direction, elementBytes, 1}, context, out, address, tile,
         std::move(dims));
}

void copyWeights(LoweringContext &context, std::vector<Task> &out, int64_t address,
                 const Tile &tile, llvm::SmallVector<CopyDim> dims) {
  copyBy({context.weightLoad(), Direction::Load, 1, 1}, context, out, address, tile,
         std::move(dims));
}

void copyExpanded(LoweringContext &context, std::vector<Task> &out, const Expansion &expansion,
                  int64_t address, const Tile &tile, llvm::SmallVector<CopyDim> dims) {
  copyBy({*context.isa.find(expansion.instruction()), Direction::Load, expansion.dramBytes(),
          expansion.chipBytes()},
         context, out, address, tile, std::move(dims));
}

static void copyBox(LoweringContext &context, std::vector<Task> &out, Direction direction,
                    const DramTensor &tensor, llvm::ArrayRef<int64_t> shape, const Box &box,
                    int elementBytes, Signedness sign, const Tile &tile) {
  if (tensor.scatter) {
    llvm::SmallVector<int64_t> strides(shape.size(), 0); // dimensions before the last three have 1
    const int64_t ofTile[] = {tile.sc, tile.s0, tile.s1};
    for (size_t fromEnd = 0; fromEnd < std::min<size_t>(shape.size(), 3); ++fromEnd)
      strides[shape.size() - 1 - fromEnd] = ofTile[fromEnd];
    forEachRun(*tensor.scatter, shape, box.start, box.size, strides, [&](const ScatteredRun &run) {
      Tile part = tile;
      part.offset += run.tile;
      copyStrided(context, out, direction, run.address + run.dram * elementBytes, elementBytes,
                  sign, part, run.dims);
    });
    return;
  }
  llvm::SmallVector<CopyDim> dims;
  int64_t stride = 1, offset = 0;
  size_t rank = shape.size();
  for (size_t i = rank; i-- > 0;) {
    // The last three dimensions are the tile's.
    size_t fromEnd = rank - 1 - i;
    int64_t chip = fromEnd == 0 ? tile.sc : fromEnd == 1 ? tile.s0 : fromEnd == 2 ? tile.s1 : 0;
    offset += box.start[i] * stride;
    dims.insert(dims.begin(), {box.size[i], stride, chip});
    stride = fromEnd == 0 && tensor.pitch > 0 ? tensor.pitch : stride * shape[i];
  }
  copyStrided(context, out, direction, tensor.address + offset * elementBytes, elementBytes, sign,
              tile, dims);
}

void loadBox(LoweringContext &context, std::vector<Task> &out, const DramTensor &tensor,
             llvm::ArrayRef<int64_t> shape, const Box &box, int elementBytes, Signedness sign,
             const Tile &tile) {
  copyBox(context, out, Direction::Load, tensor, shape, box, elementBytes, sign, tile);
}

void storeBox(LoweringContext &context, std::vector<Task> &out, const DramTensor &tensor,
              llvm::ArrayRef<int64_t> shape, const Box &box, int elementBytes, const Tile &tile) {
  copyBox(context, out, Direction::Store, tensor, shape, box, elementBytes, Signedness::Signed,
          tile);
}

void fillSpad(LoweringContext &context, std::vector<Task> &out, int buffer, int64_t offset,
              int64_t rows, int64_t pitch, int64_t bytes, int64_t value) {
  const int64_t most = context.limit(isa::Role::FillBytes, "n1"),
                longest = context.limit(isa::Role::FillBytes, "n0");
  for (int64_t row = 0; row < rows; row += most)
    for (int64_t begin = 0; begin < bytes; begin += longest)
      out.push_back(context.form(isa::Role::FillBytes)
                        .build()
                        .buffer("d", buffer, offset + row * pitch + begin)
                        .imm("value", value)
                        .imm("n1", std::min(most, rows - row))
                        .imm("n0", std::min(longest, bytes - begin))
                        .reg("n2", 1)
                        .reg("d_s0", 1)
                        .reg("d_s1", pitch));
}

} // namespace tilewright
