// Work of the vector unit on tiles.
#include "lowering.h"

#include <algorithm>
#include <cstring>

namespace tilewright {

ChannelBlocks TileOps::channelBlocks(std::vector<Task> &constants, llvm::ArrayRef<int32_t> bias,
                                     llvm::ArrayRef<int32_t> multiplier,
                                     llvm::ArrayRef<int32_t> shift, int64_t blockChannels) {
  int64_t channels = static_cast<int64_t>(std::max({bias.size(), multiplier.size(), shift.size()}));
  ChannelBlocks blocks{-1, blockChannels, channels};
  std::string bytes;
  auto append = [&](llvm::ArrayRef<int32_t> values, int64_t begin, int64_t count) {
    for (int64_t c = begin; c < begin + count; ++c) {
      int32_t value = values[values.size() == 1 ? 0 : static_cast<size_t>(c)];
      bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
    }
  };
  for (int64_t begin = 0; begin < channels; begin += blockChannels) {
    int64_t count = channels == 1 ? blockChannels : std::min(blockChannels, channels - begin);
    for (llvm::ArrayRef<int32_t> values : {bias, multiplier, shift})
      append(values, begin, count);
  }
  int64_t size = static_cast<int64_t>(bytes.size());
  blocks.buffer = steps_.add(isa::Space::Spad, size, "rescale parameters", Traffic::Rare);
  copyStrided(context_, constants, Direction::Load, context_.constants.add(bytes), 1,
              Signedness::Signed, {isa::Space::Spad, blocks.buffer, 0, 0, 0, 1}, {{size, 1, 1}});
  return blocks;
}

void TileOps::selectBlock(std::vector<Task> &out, const ChannelBlocks &blocks, int64_t channel) {
  int64_t first = blocks.channels == 1 ? 0 : channel / blocks.blockChannels * blocks.blockChannels;
  int64_t count = blocks.channels == 1 ? blocks.blockChannels
                                       : std::min(blocks.blockChannels, blocks.channels - first);
  int64_t offset = first * 12; // three 32-bit numbers a channel
  if (channelState_ == std::make_pair(blocks.buffer, offset))
    return;
  channelState_ = {blocks.buffer, offset};
  out.push_back(
      context_.form("vchannel").build().buffer("a", blocks.buffer, offset).imm("nc", count));
}

void TileOps::rescale(std::vector<Task> &out, const ChannelBlocks &blocks, int64_t channel0,
                      const Extent &extent, const Tile &d, const Tile &a, int64_t zeroPoint,
                      int64_t lo, int64_t hi) {
  bool fromAcc = a.space == isa::Space::Acc, toAcc = d.space == isa::Space::Acc;
  const char *name =
      fromAcc ? (toAcc ? "vrescale.acc" : "vrescale") : (toAcc ? "vrescale.widen" : "vrescale.i8");
  Registers registers{{"d_zp", zeroPoint}, {"lo", lo}, {"hi", hi}};
  if (blocks.channels == 1) {
    selectBlock(out, blocks, 0);
    emit(out, name, extent, d, a, nullptr, registers, blocks.blockChannels, true);
    return;
  }
  for (int64_t c = 0; c < extent.nc;) {
    int64_t block = (channel0 + c) / blocks.blockChannels;
    int64_t blockEnd = std::min(blocks.channels, (block + 1) * blocks.blockChannels);
    int64_t count = std::min(extent.nc - c, blockEnd - (channel0 + c));
    selectBlock(out, blocks, channel0 + c);
    Tile part = a, result = d;
    part.offset += c * part.sc;
    result.offset += c;
    emit(out, name, {extent.n1, extent.n0, count}, result, part, nullptr, registers, count, false);
    c += count;
  }
}

void TileOps::map(std::vector<Task> &out, llvm::StringRef instruction, const Extent &extent,
                  const Tile &d, const Tile &a, const Tile *b, const Registers &registers) {
  // Whole beats, where the operand holds one.
  int64_t limit = context_.limit(instruction, "nc");
  if (limit > context_.lanes)
    limit = limit / context_.lanes * context_.lanes;
  emit(out, instruction, extent, d, a, b, registers, limit, true);
}

// Rows that follow each other without a gap in every operand are one row: longer rows fill the
// lanes better.
static void flatten(Extent &extent, std::vector<Tile *> tiles) {
  auto allDense = [&](int64_t Tile::*stride, int64_t span) {
    return std::all_of(tiles.begin(), tiles.end(), [&](Tile *tile) {
      return (tile->sc == 1 && tile->*stride == span) || (tile->sc == 0 && tile->*stride == 0);
    });
  };
  if (extent.n0 == 1 || allDense(&Tile::s0, extent.nc)) {
    bool wasOne = extent.n0 == 1;
    if (!wasOne)
      extent.nc *= extent.n0;
    extent.n0 = extent.n1;
    for (Tile *tile : tiles)
      tile->s0 = tile->s1;
    extent.n1 = 1;
    if (extent.n0 > 1 && allDense(&Tile::s0, extent.nc)) {
      extent.nc *= extent.n0;
      extent.n0 = 1;
    }
  }
}

void TileOps::emit(std::vector<Task> &out, llvm::StringRef instruction, Extent extent, Tile d,
                   Tile a, const Tile *b, const Registers &registers, int64_t innerLimit,
                   bool mayFlatten) {
  if (extent.elements() == 0)
    return;
  const TaskForm &form = context_.form(instruction);
  Tile second = b ? *b : Tile{};
  if (mayFlatten) {
    std::vector<Tile *> tiles{&d, &a};
    if (b)
      tiles.push_back(&second);
    flatten(extent, tiles);
  }
  int64_t rowLimit = context_.limit(instruction, "n0");
  auto one = [&](Extent part, Tile dp, Tile ap, Tile bp) {
    TaskForm::Builder task = form.build();
    task.buffer("a", ap.buffer, ap.offset).buffer("d", dp.buffer, dp.offset);
    task.imm("n0", part.n0)
        .imm("nc", part.nc)
        .reg("n1", part.n1)
        .reg("a_sc", part.nc > 1 ? ap.sc : 1);
    auto strides = [&](const char *s1, const char *s0, const Tile &tile) {
      if (part.n1 > 1)
        task.reg(s1, tile.s1);
      if (part.n0 > 1)
        task.reg(s0, tile.s0);
    };
    strides("a_s1", "a_s0", ap);
    strides("d_s1", "d_s0", dp);
    if (b) {
      task.buffer("b", bp.buffer, bp.offset).reg("b_sc", part.nc > 1 ? bp.sc : 1);
      strides("b_s1", "b_s0", bp);
    }
    for (auto [name, value] : registers)
      task.reg(name, value);
    out.push_back(task);
  };
  auto rows = [&](Extent part, Tile dp, Tile ap, Tile bp) {
    for (int64_t x = 0; x < part.n0; x += rowLimit) {
      Tile dx = dp, ax = ap, bx = bp;
      dx.offset += x * dp.s0;
      ax.offset += x * ap.s0;
      bx.offset += x * bp.s0;
      one({part.n1, std::min(rowLimit, part.n0 - x), part.nc}, dx, ax, bx);
    }
  };
  if (extent.nc <= innerLimit) {
    rows(extent, d, a, second);
    return;
  }
  // Long rows: whole pieces of innerLimit as rows of their own, then the rest.
  int64_t whole = extent.nc / innerLimit;
  auto advance = [](Tile tile, int64_t elements) {
    tile.offset += elements * tile.sc;
    return tile;
  };
  auto asRows = [&](Tile tile) {
    tile.s0 = innerLimit * tile.sc;
    return tile;
  };
  for (int64_t y = 0; y < extent.n1; ++y) {
    for (int64_t x = 0; x < extent.n0; ++x) {
      auto at = [&](Tile tile) {
        tile.offset += y * tile.s1 + x * tile.s0;
        return tile;
      };
      rows({1, whole, innerLimit}, asRows(at(d)), asRows(at(a)), asRows(at(second)));
      if (extent.nc % innerLimit)
        rows({1, 1, extent.nc % innerLimit}, advance(at(d), whole * innerLimit),
             advance(at(a), whole * innerLimit), advance(at(second), whole * innerLimit));
    }
  }
}

void TileOps::loadTable(std::vector<Task> &out, int buffer, bool wide) {
  if (tableState_ == buffer)
    return;
  tableState_ = buffer;
  out.push_back(
      context_.form(wide ? "vtable16.load" : "vtable.load").build().buffer("a", buffer, 0));
}

} // namespace tilewright
