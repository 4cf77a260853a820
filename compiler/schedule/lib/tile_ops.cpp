// Work of the vector unit on tiles.
#include "lowering.h"

#include "tilewright/support/error.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace tilewright {

static constexpr int64_t bytesPerChannel = 12; // of parameters: three 32-bit numbers

ChannelBlocks TileOps::channelBlocks(std::vector<Task> &constants, llvm::ArrayRef<int32_t> bias,
                                     llvm::ArrayRef<int32_t> multiplier,
                                     llvm::ArrayRef<int32_t> shift, int64_t blockChannels,
                                     ChannelParts *parts) {
  context_.channelArrays(); // a load of other blocks ends here
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
  if (blocks.hasStrip(context_.lanes)) {
    blocks.stripOffset = static_cast<int64_t>(bytes.size());
    for (llvm::ArrayRef<int32_t> values : {bias, multiplier, shift})
      append(values, 0, context_.lanes);
  }
  int64_t size = static_cast<int64_t>(bytes.size());
  blocks.buffer = steps_.add(isa::Space::Spad, size, "rescale parameters", Traffic::Rare);
  const int64_t address = context_.constants.add(bytes);
  auto copy = [&](std::vector<Task> &out, int64_t from, int64_t to) {
    if (from < to)
      copyStrided(context_, out, Direction::Load, address + from, 1, Signedness::Signed,
                  {isa::Space::Spad, blocks.buffer, from, 0, 0, 1}, {{to - from, 1, 1}});
  };
  if (!parts || channels == 1) {
    copy(constants, 0, size);
    return blocks;
  }
  int64_t from = 0; // parts are whole blocks
  for (size_t i = 0; i < parts->ends.size(); ++i) {
    const int64_t end = (parts->ends[i] + blockChannels - 1) / blockChannels * blockChannels,
                  to = i + 1 == parts->ends.size() ? size : std::min(size, end * bytesPerChannel);
    copy(parts->loads[i], from, to);
    from = to;
  }
  return blocks;
}

void TileOps::selectBlock(std::vector<Task> &out, const ChannelBlocks &blocks, int64_t channel) {
  int64_t first = blocks.channels == 1
                      ? 0
                      : (channel - blocks.first) / blocks.blockChannels * blocks.blockChannels;
  int64_t count = blocks.channels == 1 ? blocks.blockChannels
                                       : std::min(blocks.blockChannels, blocks.channels - first);
  select(out, blocks, first * bytesPerChannel, count);
}

void TileOps::select(std::vector<Task> &out, const ChannelBlocks &blocks, int64_t offset,
                     int64_t count) {
  if (channelState_ == std::make_pair(blocks.buffer, offset))
    return;
  channelState_ = {blocks.buffer, offset};
  out.push_back(context_.form(isa::Role::LoadChannels)
                    .build()
                    .buffer("a", blocks.buffer, offset)
                    .imm("nc", count));
}

void TileOps::rescale(std::vector<Task> &out, const ChannelBlocks &blocks, int64_t channel0,
                      const Extent &extent, const Tile &d, const Tile &a, int64_t zeroPoint,
                      int64_t lo, int64_t hi) {
  bool fromAcc = a.space == isa::Space::Acc, toAcc = d.space == isa::Space::Acc;
  const isa::Role role = fromAcc ? (toAcc ? isa::Role::RescaleAcc : isa::Role::Rescale)
                                 : (toAcc ? isa::Role::RescaleWiden : isa::Role::RescaleI8);
  const TaskForm &form = context_.form(role);
  const patterns::Pattern *pattern = context_.selection->find(form.instruction());
  if (!pattern)
    throw UnfitDescription({}, fmt::format("'{}' of target '{}' is not element-wise",
                                           form.instruction().name, context_.isa.target()));
  Settings settings;
  settings.registers = {{form.reg("d_zp"), zeroPoint}, {form.reg("lo"), lo}, {form.reg("hi"), hi}};
  byChannels(out, *pattern, blocks, channel0, extent, d, a, settings);
}

// Rows that follow each other without a gap in every operand are one row: longer rows fill the
// lanes better.
static void flatten(Extent &extent, const std::vector<Tile *> &tiles) {
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

static bool isOneRow(Extent extent, Tile d, llvm::ArrayRef<Tile> operands) {
  llvm::SmallVector<Tile, 4> tiles(operands);
  std::vector<Tile *> all{&d};
  for (Tile &tile : tiles)
    all.push_back(&tile);
  flatten(extent, all);
  return extent.n1 == 1 && extent.n0 == 1;
}

void TileOps::byChannels(std::vector<Task> &out, const patterns::Pattern &pattern,
                         const ChannelBlocks &blocks, int64_t channel0, const Extent &extent,
                         const Tile &d, llvm::ArrayRef<Tile> operands, const Settings &settings) {
  if (blocks.channels == 1) {
    // Where all elements follow each other, a strip of parameters is enough: it is selected sooner.
    const bool isStrip = blocks.stripOffset > 0 && isOneRow(extent, d, operands) &&
                         extent.elements() <= context_.lanes * pattern.n0Limit;
    if (isStrip)
      select(out, blocks, blocks.stripOffset, context_.lanes);
    else
      selectBlock(out, blocks, 0);
    emit(out, pattern, extent, d, operands, settings,
         std::min(isStrip ? context_.lanes : blocks.blockChannels, pattern.ncLimit), true);
    return;
  }
  for (int64_t c = 0; c < extent.nc;) {
    const int64_t at = channel0 + c - blocks.first, block = at / blocks.blockChannels,
                  blockEnd = std::min(blocks.channels, (block + 1) * blocks.blockChannels),
                  count = std::min(extent.nc - c, blockEnd - at);
    selectBlock(out, blocks, channel0 + c);
    Tile result = d;
    result.offset += c;
    llvm::SmallVector<Tile, 4> parts(operands);
    for (Tile &part : parts)
      part.offset += c * part.sc;
    emit(out, pattern, {extent.n1, extent.n0, count}, result, parts, settings,
         std::min(count, pattern.ncLimit), false);
    c += count;
  }
}

void TileOps::apply(std::vector<Task> &out, const patterns::Match &match,
                    const ChannelBlocks *blocks, int64_t channel0, const Extent &extent,
                    const Tile &d, llvm::ArrayRef<Tile> operands) {
  Settings settings;
  settings.registers.assign(match.registers.begin(), match.registers.end());
  settings.immediates.assign(match.immediates.begin(), match.immediates.end());
  const patterns::Pattern &pattern = *match.pattern;
  if (blocks)
    return byChannels(out, pattern, *blocks, channel0, extent, d, operands, settings);
  // Whole beats, where the operand holds one.
  int64_t limit = pattern.ncLimit;
  if (limit > context_.lanes)
    limit = limit / context_.lanes * context_.lanes;
  emit(out, pattern, extent, d, operands, settings, limit, true);
}

void TileOps::emit(std::vector<Task> &out, const patterns::Pattern &pattern, Extent extent, Tile d,
                   llvm::ArrayRef<Tile> operands, const Settings &settings, int64_t innerLimit,
                   bool mayFlatten) {
  if (extent.elements() == 0)
    return;
  const TaskForm &form = context_.form(*pattern.instruction);
  // The result, then the operands.
  using Tiles = llvm::SmallVector<Tile, 4>;
  Tiles tiles{d};
  tiles.append(operands.begin(), operands.end());
  if (mayFlatten) {
    std::vector<Tile *> all;
    for (Tile &tile : tiles)
      all.push_back(&tile);
    flatten(extent, all);
  }
  // Rows that meet the same row: strip by strip, so that what stays is read once for all of them.
  const bool meetsRow = std::any_of(tiles.begin() + 1, tiles.end(),
                                    [](const Tile &tile) { return tile.sc == 1 && tile.s0 == 0; });
  if (meetsRow && mayFlatten && extent.n1 == 1 && extent.n0 > 1 && extent.nc > context_.lanes &&
      extent.nc % context_.lanes == 0) {
    extent = {extent.nc / context_.lanes, extent.n0, context_.lanes};
    for (Tile &tile : tiles)
      tile.s1 = context_.lanes * tile.sc;
  }
  auto one = [&](const Extent &part, const Tiles &at) {
    TaskForm::Builder task = form.build();
    auto place = [&](const patterns::OperandForm &operand, const Tile &tile) {
      task.bufferAt(static_cast<size_t>(operand.operand), tile.buffer, tile.offset);
    };
    auto strides = [&](const patterns::OperandForm &operand, const Tile &tile) {
      if (part.n1 > 1)
        task.regAt(operand.s1, tile.s1);
      if (part.n0 > 1)
        task.regAt(operand.s0, tile.s0);
    };
    task.immAt(static_cast<size_t>(pattern.n0), part.n0)
        .immAt(static_cast<size_t>(pattern.nc), part.nc)
        .regAt(pattern.n1, part.n1);
    for (size_t i = 0; i < pattern.reads.size(); ++i) {
      const patterns::OperandForm &read = pattern.reads[i];
      place(read, at[i + 1]);
      if (read.sc >= 0)
        task.regAt(read.sc, part.nc > 1 ? at[i + 1].sc : 1);
      strides(read, at[i + 1]);
      if (i == 0) {
        place(pattern.result, at[0]);
        if (pattern.result.sc >= 0)
          task.regAt(pattern.result.sc, 1);
        strides(pattern.result, at[0]);
      }
    }
    for (auto [operand, value] : settings.immediates)
      task.immAt(static_cast<size_t>(operand), value);
    for (auto [reg, value] : settings.registers)
      task.regAt(reg, value);
    out.push_back(task);
  };
  auto moved = [](Tiles at, auto by) {
    for (Tile &tile : at)
      tile.offset += by(tile);
    return at;
  };
  auto rows = [&](const Extent &part, const Tiles &at) {
    for (int64_t x = 0; x < part.n0; x += pattern.n0Limit)
      one({part.n1, std::min(pattern.n0Limit, part.n0 - x), part.nc},
          moved(at, [&](const Tile &tile) { return x * tile.s0; }));
  };
  if (extent.nc <= innerLimit)
    return rows(extent, tiles);
  // Long rows: whole pieces as rows of their own, then the rest. Of whole beats, where fields are
  // narrow, the longest pieces for which the fewest instructions do.
  auto instructions = [&](int64_t piece) {
    return llvm::divideCeilSigned(extent.nc / piece, pattern.n0Limit) + (extent.nc % piece > 0);
  };
  int64_t piece = innerLimit;
  if (pattern.n0Limit < context_.machine.rowLimit)
    for (int64_t each = innerLimit; each > context_.lanes; each -= context_.lanes)
      if (instructions(each) < instructions(piece))
        piece = each;
  const int64_t whole = extent.nc / piece;
  for (int64_t y = 0; y < extent.n1; ++y) {
    for (int64_t x = 0; x < extent.n0; ++x) {
      const Tiles row = moved(tiles, [&](const Tile &tile) { return y * tile.s1 + x * tile.s0; });
      Tiles pieces = row;
      for (Tile &tile : pieces)
        tile.s0 = piece * tile.sc;
      rows({1, whole, piece}, pieces);
      if (extent.nc % piece)
        rows({1, 1, extent.nc % piece},
             moved(row, [&](const Tile &tile) { return whole * piece * tile.sc; }));
    }
  }
}

void TileOps::loadTable(std::vector<Task> &out, int buffer, const patterns::Match &match) {
  if (tableState_ == buffer)
    return;
  tableState_ = buffer;
  const isa::Unit &unit =
      context_.isa.units()[static_cast<size_t>(match.pattern->instruction->unit)];
  const isa::StateArray &table = unit.arrays[static_cast<size_t>(match.tables.begin()->first)];
  out.push_back(context_.form(patterns::tableLoadOf(table)).build().buffer("a", buffer, 0));
}

} // namespace tilewright
