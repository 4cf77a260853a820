// 1. Output channels are cut into tiles, whose sums stand in the accumulators; inputs into slices
// of `rows`.
// 2. A step brings the weights of some slices of a tile, one run in DRAM. The next step's come in
// under it: a step takes the array half as long as DRAM, or less.
// 3. A slice is an mload of so many inputs, as weights of one column, and an mmul over the tile's
// channels.
// 4. With the last slice, the group's element-wise operations run on the tile, while the next one's
// weights stream.
#include "weight_stream.h"

#include "expansion.h"

#include <algorithm>

namespace tilewright {

// Of a load of weights that may come in early: what comes in while the bus has little else to do.
static constexpr int64_t partBytes = 4096;

std::string streamedWeights(const std::string &weights, int64_t inputs, int64_t tileChannels,
                            int64_t rows) {
  std::string packed;
  packed.reserve(weights.size());
  const int64_t channels = static_cast<int64_t>(weights.size()) / inputs;
  for (int64_t tile = 0; tile < channels; tile += tileChannels)
    for (int64_t first = 0; first < inputs; first += rows)
      for (int64_t channel = tile; channel < std::min(channels, tile + tileChannels); ++channel)
        packed.append(weights, static_cast<size_t>(channel * inputs + first),
                      static_cast<size_t>(std::min(rows, inputs - first)));
  return packed;
}

void lowerWeightStream(LoweringContext &context, const StreamedProduct &product,
                       const ConvPlan &plan, ElementChain &operations, bool isTrial, Steps &steps) {
  const ConvProblem &p = product.problem;
  kernel::Conv2DOp conv = product.conv;
  const int64_t inputs = p.inputChannels, rows = context.rows;
  steps.streamsWeights = true;
  const Expansion *expansion = expansionOf(context.isa, conv, GroupedBy::Inputs);
  auto inDram = [&] {
    std::string bytes =
        streamedWeights(constantBytes(conv.getWeight()), inputs, plan.tileChannels, rows);
    return expansion ? *expansion->packed(bytes) : bytes;
  };
  const int64_t unit = expansion ? expansion->chipBytes() : 1, early = context.machine.spadBytes;
  const int64_t weights = isTrial ? context.constants.end() : context.constants.add(inDram());
  const ImageView view = viewOf(context, conv.getX());
  const int pixel = steps.add(isa::Space::Spad, inputs, "input tile");
  kernel::GroupOp group = product.group;
  const DramTensor result = context.tensor(group.getResult());
  const int64_t shape[] = {1, 1, 1, p.outputChannels};
  for (int64_t channel = 0; channel < p.outputChannels; channel += plan.tileChannels) {
    const int64_t channels = std::min(plan.tileChannels, p.outputChannels - channel);
    const Extent extent{1, 1, channels};
    const Tile sums = denseTile(
        isa::Space::Acc, steps.add(isa::Space::Acc, channels * 4, "accumulator tile"), extent);
    for (int64_t begin = 0; begin < inputs; begin += plan.streamFolds * rows) {
      const int64_t end = std::min(inputs, begin + plan.streamFolds * rows),
                    bytes = (end - begin) * channels;
      steps.steps.emplace_back();
      Step &step = steps.steps.back();
      if (steps.steps.size() == 1) {
        operations.prepare(step.constants);
        copyStrided(context, step.loads, Direction::Load,
                    context.tensor(view.storage).address + view.offset, 1, Signedness::Signed,
                    {isa::Space::Spad, pixel, 0, 0, 0, 1}, {{inputs, 1, 1}});
      }
      const int slice = steps.add(isa::Space::Spad, bytes, "weights", Traffic::Matrix);
      const int64_t place = channel * inputs + begin * channels;
      const Tile onChip{isa::Space::Spad, slice, 0, 0, 0, 1};
      const int64_t most = place < early ? std::max<int64_t>(1, partBytes / unit) * unit : bytes;
      for (int64_t part = 0; part < bytes; part += most) {
        const int64_t size = std::min(most, bytes - part);
        Tile to = onChip;
        to.offset += part;
        if (expansion)
          copyExpanded(context, step.constants, *expansion,
                       weights + (place + part) / unit * expansion->dramBytes(), to,
                       {{size / unit, 1, 1}});
        else
          copyWeights(context, step.constants, weights + place + part, to, {{size, 1, 1}});
      }
      for (int64_t first = begin; first < end; first += rows) {
        const int64_t count = std::min(rows, end - first);
        step.compute.push_back(context.form(isa::Role::LoadWeights)
                                   .build()
                                   .buffer("w", pixel, first)
                                   .imm("k", count)
                                   .imm("n", 1)
                                   .reg("w_s0", 1)
                                   .reg("w_zp", static_cast<int64_t>(conv.getInputZp())));
        step.compute.push_back(context.form(isa::Role::MatrixProduct)
                                   .build()
                                   .buffer("a", slice, (first - begin) * channels)
                                   .buffer("d", sums.buffer, 0)
                                   .imm("n1", 1)
                                   .imm("n0", channels)
                                   .imm("k", count)
                                   .imm("n", 1)
                                   .imm("accumulate", first > 0)
                                   .imm("swap", 1)
                                   .reg("a_zp", static_cast<int64_t>(conv.getWeightZp()))
                                   .reg("a_s0", count)
                                   .reg("d_s0", 1));
      }
      if (end < inputs)
        continue;
      const Box box{{0, 0, 0, channel}, {1, 1, 1, channels}};
      operations.loadOperands(step.loads, box);
      Tile tile = denseTile(isa::Space::Spad, -1, extent);
      if (!operations.resultInAccumulators())
        tile.buffer = steps.add(isa::Space::Spad, channels, "result tile");
      storeBox(context, step.compute, result, shape, box, operations.resultBytes(),
               operations.run(step.compute, sums, extent, 0, tile));
    }
  }
}

} // namespace tilewright
