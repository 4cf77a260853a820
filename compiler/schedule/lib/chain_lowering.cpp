#include "chain_lowering.h"

#include <algorithm>
#include <memory>

namespace tilewright::chains {

Chain::Chain(LoweringContext &context, const ChainedGroups &chained, Run &run)
    : context_(context), run_(run), steps_(run.steps),
      times_(context.isa, context.machine, context.plans),
      matrixLatency_(context.isa.timing().at("matrix.pipeline")) {
  for (size_t i = 0; i < chained.groups.size(); ++i) {
    mlir::Operation *anchor = chainAnchorOf(chained.groups[i]);
    const bool isConvolution = llvm::isa<kernel::Conv2DOp>(anchor);
    LayerWork &work = isConvolution ? (i == 0 ? head_ : tail_) : (i < 2 ? window_ : sum_);
    work.group = chained.groups[i];
    work.layer = chained.layers[i];
    work.anchor = anchor;
  }
  using From = ConvStage::InputFrom;
  auto fitsRows = [&](int64_t width) { return width <= context.machine.rowLimit; };
  if (head_.anchor) {
    headStage_.emplace(context, head_.anchor, steps_, From::Dram);
    p_.head = headStage_->problem();
    probe(*p_.head, head_);
    ElementChain operations = operationsOf(head_, context.channels);
    p_.headOperations = operations.instructionCount();
    p_.headSelectedBytes = operations.selectedBytes();
    isServed_ &= !p_.head->resultInAccumulators && fitsRows(p_.head->outputWidth) &&
                 context.channels >= context.cols;
  }
  if (window_.anchor) {
    windowStage_.emplace(context, window_.anchor, steps_);
    p_.window = windowStage_->problem();
    p_.windowIsDepthwise = windowStage_->isDepthwise();
    const bool isKnown = p_.windowIsDepthwise && !windowStage_->computesWeights();
    if (isKnown)
      p_.sliding = slidingPasses(*p_.window, context.machine);
    p_.mayReduceOnArray = isKnown && fitsRows(p_.window->outputWidth);
    ElementChain operations = operationsOf(window_, context.cols);
    p_.windowHasSums =
        windowStage_->isSum() || (p_.windowIsDepthwise && !operations.leadingRescale());
    p_.windowOperations =
        operations.instructionCount() - (p_.windowIsDepthwise && !p_.windowHasSums ? 1 : 0);
    p_.windowSelectedBytes = operations.selectedBytes();
    p_.windowAccBytesPerElement = operations.accBytesPerElement();
    p_.windowResidentBytes = windowStage_->weightBytes() + operations.residentBytes();
    p_.windowSpadBytesPerElement = operations.spadBytesPerElement();
    isServed_ &= p_.window->outputWidth <= context.limit(windowRole(), "n0") &&
                 p_.window->multiplier == 1 && !operations.resultInAccumulators();
  }
  if (tail_.anchor) {
    tailStage_.emplace(context, tail_.anchor, steps_, From::Chip);
    p_.tail = tailStage_->problem();
    probe(*p_.tail, tail_);
    isServed_ &= fitsRows(p_.tail->outputWidth);
  }
  if (sum_.anchor) {
    ElementChain operations = operationsOf(sum_, context.channels);
    kernel::GroupOp image = tail_.anchor ? tail_.group : window_.group;
    p_.sum = {!image.getResult().hasOneUse(), operations.residentBytes(),
              operations.spadBytesPerElement(), operations.accBytesPerElement()};
    isServed_ &= !operations.resultInAccumulators() && context.isa.withRole(isa::Role::SumAcc) &&
                 !(p_.tail && p_.tail->resultInAccumulators);
  }
  const HeadReaders readers = headReaders(chained);
  p_.headIsStored = readers == HeadReaders::Others;
  p_.headIsAdded = readers == HeadReaders::Tail;
  isServed_ &= readers == HeadReaders::Window || makesAllRows(p_);
  if (p_.headIsAdded) {
    mlir::Value added = head_.group.getResult();
    isServed_ &= shapeOf(added) == shapeOf(tail_.anchor->getResult(0)) &&
                 operationsOf(tail_, context.cols).mayProvide(added);
  }
}

ElementChain Chain::operationsOf(LayerWork &work, int64_t block) {
  ElementChain operations(context_, steps_, work.group, work.anchor,
                          ElementChain::shapesOf(work.group), block);
  return operations;
}

void Chain::probe(ConvProblem &problem, LayerWork &work) {
  ElementChain operations = operationsOf(work, context_.cols);
  takeOperations(problem, operations);
}

std::vector<Unit> Chain::unitsOf() const {
  std::vector<Unit> units;
  const int64_t batch = p_.tail ? p_.tail->batch : p_.window->batch, channels = chunkedChannels(p_);
  int64_t stripe = 0;
  for (int64_t n = 0; n < batch; ++n)
    for (const Stripe &rows : stripesOf(p_, plan_)) {
      for (int64_t chunk = 0; chunk < chunks(); ++chunk) {
        const int64_t first = chunk * plan_.chunkChannels;
        const size_t index = units.size();
        units.push_back({index,
                         n,
                         rows,
                         {first, std::min(channels, first + plan_.chunkChannels)},
                         chunk,
                         stripe,
                         chunk == 0,
                         chunk + 1 == chunks(),
                         {0, 0}});
        if (p_.window)
          units.back().onArray = arrayRows(plan_, static_cast<int64_t>(index), rows.needed.window);
      }
      ++stripe;
    }
  return units;
}

size_t Chain::add(Stream stream, const LayerWork &work, std::vector<Task> tasks,
                  const After &after) {
  if (work.layer >= 0)
    mark(tasks, work);
  PieceToOrder order{static_cast<int>(stream), 0, {}};
  if (actors[static_cast<size_t>(stream)] != none)
    for (const Task &task : tasks)
      if (!times_.isStore(task)) // no one's in this order
        order.cycles += times_.cyclesOf(task);
  for (size_t piece : after)
    if (piece != nothing)
      order.after.push_back(piece);
  if (actors[static_cast<size_t>(stream)] == matrix)
    order.latency = matrixLatency_;
  run_.order.push_back(std::move(order));
  run_.pieces.push_back({std::move(tasks)});
  return run_.pieces.size() - 1;
}

// The last of the pieces that make rows before `end`.
static void comeAfter(After &after, const std::vector<MadeRows> &pieces, int64_t end) {
  for (auto made = pieces.rbegin(); made != pieces.rend(); ++made)
    if (made->row < end) {
      after.push_back(made->piece);
      return;
    }
}

// Weights that stay on chip are loaded in the first stripe; others have two buffers by turns. They
// come in while the products of the unit before are made. `load` takes a buffer.
template <typename Load>
Chain::Weights &Chain::weightsOf(Stream stream, const LayerWork &work, const Unit &unit,
                                 int64_t part, const Load &load) {
  Weights &weights = weights_[{stream, part}];
  if (weightsStay_ && weights.piece != nothing)
    return weights;
  After after;
  weights.turn = weightsStay_ ? nullptr : &run_.weightTurns[stream].take();
  if (weights.turn)
    after = replaced(*weights.turn);
  else if (unit.index >= 2)
    after.push_back(made_[unit.index - 2].firstProducts);
  std::vector<Task> tasks;
  weights.weights = load(tasks, weights.turn ? weights.turn->buffer : -1);
  if (weights.turn)
    weights.turn->buffer = weights.weights.buffer;
  run_.weights.insert(weights.weights.buffer);
  weights.piece = add(stream, work, std::move(tasks), after);
  return weights;
}

// What lies between head and window has padded columns: they are filled in once.
void Chain::padBetween(const Unit &unit, Turn &between) {
  const int64_t pitch = plan_.chunkChannels;
  int64_t left = 0, width = p_.head->outputWidth;
  if (p_.window) {
    left = p_.window->padLeft;
    width = std::max(left + width, windowStage_->inputColumns(p_.window->outputWidth));
  }
  const Traffic traffic = !p_.window || plan_.arrayUnits == arrayShares ? Traffic::Matrix
                          : plan_.arrayUnits > 0                        ? Traffic::Shared
                                                                        : Traffic::Streamed;
  between.buffer = reuse(steps_, between.buffer, isa::Space::Spad, keptRows_ * width * pitch,
                         "rows between layers", traffic);
  headResult_ = {isa::Space::Spad, between.buffer, 0, width * pitch, pitch, 1};
  if (!p_.window || !padded_.insert(between.buffer).second)
    return;
  const int64_t end = left + p_.window->width;
  const WindowStage::Input padded{between.buffer, unit.rows.first, width * pitch, pitch};
  std::vector<Task> fills;
  windowStage_->padColumns(fills, padded, keptRows_, 0, left);
  windowStage_->padColumns(fills, padded, keptRows_, end, width - end);
  const After after = replaced(between);
  between.readers = {add(Stream::WindowWeights, window_, std::move(fills), after)};
}

// A piece that reads rows of the head.
void Chain::readHead(Stream stream, Rows rows, size_t piece, const Unit &unit) {
  if (kept_)
    kept_->read(stream, rows.begin - unit.rows.first, rows.end - unit.rows.first, piece);
  else
    headTurn_->readers.push_back(piece);
}

// Of channels of a tile of the head, the rows that no other stripe has stored.
void Chain::storeHead(const Unit &unit, Rows rows, Span channels, Tile value, size_t finished) {
  const Rows fresh{std::max(rows.begin, stored_[{unit.n, unit.chunk}]), rows.end};
  if (fresh.size() <= 0)
    return;
  value.offset += (fresh.begin - rows.begin) * value.s1;
  std::vector<Task> stores;
  store(stores, head_,
        {{unit.n, fresh.begin, 0, channels.begin},
         {1, fresh.size(), p_.head->outputWidth, channels.size()}},
        value);
  headStored_ = add(Stream::Stores, head_, std::move(stores), {finished});
  readHead(Stream::Stores, fresh, headStored_, unit);
}

// Of a stripe: what was handed over, or a load.
void Chain::takeInput(const Unit &unit) {
  if (handed_.turn) {
    const Tile &tile = handed_.tile;
    headInput_ = {tile.buffer, {0, p_.head->height}, {0, p_.head->width}, tile.s1, tile.s0, 0};
    input_ = handed_.turn;
    inputPieces_ = handed_.writers;
    return;
  }
  Turn *const before = input_;
  input_ = handsOn_ ? &run_.images.take() : &run_.inputs.take();
  After after = replaced(*input_);
  std::vector<Task> loads, copies;
  const Span rows = spanOf(unit.rows.made), columns{0, p_.head->outputWidth};
  const bool copiesRows = p_.head->inputScattered && context_.machine.mayGather && before &&
                          before != input_ && inputImage_ == unit.n;
  headInput_ = copiesRows ? headStage_->loadInputBehind(loads, copies, unit.n, rows, columns,
                                                        headInput_, input_->buffer)
                          : headStage_->loadInput(loads, unit.n, rows, columns, 1, input_->buffer);
  inputImage_ = unit.n;
  input_->buffer = headInput_.buffer;
  const size_t loaded = add(Stream::Inputs, head_, std::move(loads), after);
  if (!copies.empty()) {
    after.append(inputPieces_);
    before->readers.push_back(add(Stream::Gather, head_, std::move(copies), after));
    inputPieces_ = {loaded, before->readers.back()};
  } else {
    inputPieces_ = {loaded};
  }
}

// An accumulator tile, made when `before` and those that read the turn have ended.
Tile Chain::sumsIn(Turn &turn, const Extent &extent, After &before) {
  turn.buffer =
      reuse(steps_, turn.buffer, isa::Space::Acc, extent.elements() * 4, "accumulator tile");
  before.append(replaced(turn));
  return denseTile(isa::Space::Acc, turn.buffer, extent);
}

void Chain::head(const Unit &unit) {
  UnitPieces &made = made_[unit.index];
  const Span rows = spanOf(unit.rows.made), columns{0, p_.head->outputWidth};
  kept_ = keeps() ? &run_.kept[unit.chunk] : nullptr;
  headTurn_ = kept_ ? &kept_->turn : &run_.between.take();
  padBetween(unit, *headTurn_);
  if (rows.begin > unit.rows.first)
    made.head = made_[unit.index - static_cast<size_t>(chunks())].head;
  if (rows.empty())
    return;
  if (unit.isFirst)
    takeInput(unit);
  Weights &weights =
      weightsOf(Stream::HeadWeights, head_, unit, unit.chunk, [&](auto &tasks, int buffer) {
        Step loads;
        auto loaded =
            headStage_->loadWeights(loads, unit.n, unit.channels, headStage_->allFolds(), buffer);
        tasks = std::move(loads.constants);
        return loaded;
      });
  After beforeResult = replaced(*headTurn_);
  const int64_t chunk = unit.channels.size(), channels = headBlock(),
                left = p_.window ? p_.window->padLeft : 0;
  for (int64_t y = rows.begin; y < rows.end; y += plan_.headRows) {
    const Span ySpan{y, std::min(rows.end, y + plan_.headRows)};
    After before = inputPieces_;
    before.push_back(weights.piece);
    std::vector<Task> gathers, loads;
    Turn &windowTurn = run_.windows.take();
    const ConvStage::Input windows =
        headStage_->gather(gathers, headInput_, ySpan, columns, windowTurn.buffer);
    const bool isGathered = !gathers.empty();
    if (isGathered) {
      After after = replaced(windowTurn);
      after.append(inputPieces_);
      windowTurn.buffer = windows.buffer;
      before.push_back(add(Stream::Gather, head_, std::move(gathers), after));
      input_->readers = {before.back()};
    }
    head_.operations->loadOperands(
        loads, {{unit.n, y, 0, unit.channels.begin}, {1, ySpan.size(), columns.size(), chunk}});
    size_t operands = nothing;
    if (!loads.empty())
      operands = add(Stream::HeadOperands, head_, std::move(loads),
                     run_.headSums.turns[run_.headSums.next % run_.headSums.count].readers);
    for (int64_t c = unit.channels.begin; c < unit.channels.end; c += channels) {
      const Span part{c, std::min(unit.channels.end, c + channels)};
      const Extent extent{ySpan.size(), columns.size(), part.size()};
      Turn &sums = run_.headSums.take();
      const Tile acc = sumsIn(sums, extent, before);
      size_t products = nothing;
      // A column tile at a time: the tail's products come between them.
      for (int64_t column = part.begin; column < part.end; column += context_.cols) {
        Tile place = acc;
        place.offset += column - part.begin;
        std::vector<Task> tasks;
        headStage_->fill(tasks, windows, weights.weights, ySpan, columns,
                         {column, std::min(part.end, column + context_.cols)}, place, false);
        products = add(Stream::HeadProducts, head_, std::move(tasks), before);
        before.clear();
        if (made.firstProducts == nothing)
          made.firstProducts = products;
      }
      (isGathered ? windowTurn : *input_).readers = {products};
      if (weights.turn)
        weights.turn->readers = {products};
      Tile result = headResult_;
      result.offset +=
          (y - unit.rows.first) * result.s1 + left * result.s0 + c - unit.channels.begin;
      head_.operations->ops().forget();
      std::vector<Task> finish;
      head_.operations->run(finish, acc, extent, c - unit.channels.begin, result);
      beforeResult.append({products, operands, parametersOf(unit)});
      if (kept_)
        beforeResult.append(
            kept_->replaced(ySpan.begin - unit.rows.first, ySpan.end - unit.rows.first));
      const size_t finished = add(Stream::HeadFinish, head_, std::move(finish), beforeResult);
      beforeResult.clear();
      sums.readers = {finished};
      made.head.push_back({y, finished});
      if (p_.headIsStored)
        storeHead(unit, {y, ySpan.end}, part, result, finished);
    }
    int64_t &stored = stored_[{unit.n, unit.chunk}];
    stored = std::max(stored, ySpan.end);
  }
}

void Chain::window(const Unit &unit) {
  const WindowProblem &w = *p_.window;
  const Span rows = spanOf(unit.rows.needed.window);
  const int64_t chunk = unit.channels.size();
  After after;
  if (p_.tail) {
    const bool isWhole = plan_.tailComesLast; // of the stripe
    const Extent extent{rows.size(), w.outputWidth, isWhole ? w.channels : chunk};
    if (!isWhole || unit.isFirst) {
      windowTurn_ = &run_.windowResults.take();
      windowTurn_->buffer = reuse(steps_, windowTurn_->buffer, isa::Space::Spad, extent.elements(),
                                  "rows between layers", Traffic::Matrix);
      windowFree_ = replaced(*windowTurn_);
    }
    windowResult_ = denseTile(isa::Space::Spad, windowTurn_->buffer, extent);
    windowResult_.offset += isWhole ? unit.channels.begin : 0;
    after = windowFree_;
  } else {
    if (unit.isFirst || unit.channels.begin == part_.end) {
      const bool isImage = handsOn_ || (handed_.turn && !p_.sum); // or else there are parts
      stripeTurn_ = isImage ? &run_.images.take() : &run_.stripeResults.take();
      part_ = {unit.channels.begin,
               std::min(w.channels, unit.channels.begin + resultPart(p_, plan_))};
      const Extent extent{rows.size(), w.outputWidth, part_.size()};
      stripeTurn_->buffer =
          reuse(steps_, stripeTurn_->buffer, isa::Space::Spad, extent.elements(), "result tile");
      stripeResult_ = denseTile(isa::Space::Spad, stripeTurn_->buffer, extent);
      stripeResult_.offset -= part_.begin;
    }
    windowResult_ = stripeResult_;
    windowResult_.offset += unit.channels.begin;
    after = stripeTurn_->readers;
  }
  WindowStage::Input input;
  int64_t inputChannel = 0; // of the unit's first channel, in the input tile
  if (p_.head) {
    input = {headResult_.buffer, unit.rows.first, headResult_.s1, headResult_.s0};
  } else {
    if (unit.isFirst || unit.channels.begin == inputPart_.end) {
      input_ = &run_.inputs.take();
      inputPart_ = {unit.channels.begin,
                    std::min(w.channels, unit.channels.begin + inputPart(p_, plan_))};
      After before = replaced(*input_);
      // Windows of one tap are made at once: the stripe before needs the tail's weights first.
      const auto count = static_cast<size_t>(chunks());
      if (w.kernelHeight * w.kernelWidth == 1 && unit.index >= count)
        before.push_back(made_[unit.index - count].tailWeights);
      std::vector<Task> loads;
      windowInput_ = windowStage_->loadInput(loads,
                                             {{unit.n, rows.begin, 0, inputPart_.begin},
                                              {1, rows.size(), w.outputWidth, inputPart_.size()}},
                                             input_->buffer);
      input_->buffer = windowInput_.buffer;
      inputPieces_ = {add(Stream::Inputs, window_, std::move(loads), before)};
    }
    input = windowInput_;
    inputChannel = unit.channels.begin - inputPart_.begin;
    after.append(inputPieces_);
  }
  if (unit.onArray.size() > 0)
    reduceOnArray(unit, input, inputChannel, windowResult_, after);
  for (Span part : {Span{rows.begin, unit.onArray.begin}, Span{unit.onArray.end, rows.end}})
    if (!part.empty())
      reduceOnLanes(unit, part, input, inputChannel, windowResult_, after);
  if (!p_.tail)
    finishStripe(unit);
}

// Of windows that no tail reads.
void Chain::finishStripe(const Unit &unit) {
  for (const auto &made : {made_[unit.index].lanes, made_[unit.index].array})
    for (const MadeRows &rowsMade : made)
      stripeWriters_.push_back(rowsMade.piece);
  if (unit.isLast && handsOn_) {
    handing_ = {stripeResult_, stripeTurn_, std::exchange(stripeWriters_, {}), headStored_};
    stripeTurn_->readers.clear();
    return;
  }
  if (!p_.sum || p_.sum->isImageStored)
    storeStripe(unit);
  size_t added = nothing;
  if (p_.sum) {
    const auto stripes = static_cast<int64_t>(stripesOf(p_, plan_).size());
    const int64_t stripe = unit.stripe % stripes;
    After before;
    for (const auto &made : {made_[unit.index].lanes, made_[unit.index].array})
      if (!made.empty())
        before.push_back(made.back().piece);
    added = addUp(unit, stripeResult_, spanOf(unit.rows.needed.window), unit.channels, stripe,
                  unit.isLast && stripe + 1 == stripes, std::move(before));
  }
  if (unit.channels.end < part_.end)
    return;
  stripeTurn_->readers = std::exchange(stripeStores_, {});
  if (p_.sum)
    stripeTurn_->readers.push_back(added);
  stripeWriters_.clear();
}

// As soon as all of a part is there.
void Chain::storeStripe(const Unit &unit) {
  if (unit.channels.end < part_.end)
    return;
  const WindowProblem &w = *p_.window;
  const Rows rows = unit.rows.needed.window;
  Tile value = stripeResult_;
  value.offset += part_.begin;
  std::vector<Task> stores;
  store(stores, window_,
        {{unit.n, rows.begin, 0, part_.begin}, {1, rows.size(), w.outputWidth, part_.size()}},
        value);
  stripeStores_.push_back(
      add(Stream::Stores, window_, std::move(stores), std::exchange(stripeWriters_, {})));
}

size_t Chain::addUp(const Unit &unit, const Tile &image, Span rows, Span channels, int64_t part,
                    bool isLast, After before) {
  const int64_t all = shapeOf(sum_.anchor->getResult(0)).back(), // channels
      block = std::min(all, context_.channels);
  const SumSlots slots = sumSlots(p_, context_.machine, plan_);
  const Extent extent{1, slots.count(), all};
  const Tile sums = part == 0 && channels.begin == 0
                        ? sumsIn(run_.imageSums, extent, before)
                        : denseTile(isa::Space::Acc, run_.imageSums.buffer, extent);
  auto slot = [&](int64_t number) {
    Tile tile = sums;
    tile.offset += number * sums.s0;
    return tile;
  };
  // Rounds of parts go up and down by turns: the sum so far stands before or behind them.
  const int64_t place = part % slots.parts, round = part / slots.parts;
  const bool goesUp = round % 2 == 0;
  int64_t own = place, first = 0; // slots
  if (slots.comeAgain) {
    own = goesUp ? 1 + place : slots.parts - place;
    first = !goesUp ? own : round == 0 ? 1 : 0;
  }
  const int64_t count = goesUp ? own + 1 - first : slots.count() - first;
  const Tile sum = slot(goesUp ? slots.count() - 1 : 0);
  std::vector<Task> tasks;
  addPixels(context_, tasks, llvm::cast<kernel::SumPoolOp>(sum_.anchor), image, rows.size(),
            p_.tail ? p_.tail->outputWidth : p_.window->outputWidth, channels,
            p_.tail ? block : block_, {sums, slots.parts}, own);
  if (slots.comeAgain && (place + 1 == slots.parts || isLast))
    for (int64_t c = 0; c < all; c += block)
      addSlots(context_, tasks, slot(first), count, sum, c, std::min(block, all - c));
  const size_t added = add(Stream::ImageSums, sum_, std::move(tasks), before);
  if (!isLast)
    return added;
  const bool isThere = slots.comeAgain || slots.count() == 1;
  return finishSum(unit, slot(first), isThere ? 0 : count, sum, added);
}

// Adds the slots that are left; the operations that follow, and the store.
size_t Chain::finishSum(const Unit &unit, const Tile &slots, int64_t parts, const Tile &sum,
                        size_t added) {
  const int64_t channels = shapeOf(sum_.anchor->getResult(0)).back(),
                block = std::min(channels, context_.channels);
  const Box box{{unit.n, 0, 0, 0}, {1, 1, 1, channels}};
  After before = replaced(run_.imageSumResult);
  before.append({added, parametersOf(unit)});
  std::vector<Task> tasks;
  sum_.operations->loadOperands(tasks, box);
  if (!tasks.empty()) {
    before.append(stripeStores_);
    before.push_back(headStored_);
  }
  sum_.operations->ops().forget();
  int &buffer = run_.imageSumResult.buffer;
  buffer = reuse(steps_, buffer, isa::Space::Spad, channels, "result tile");
  const Tile result = denseTile(isa::Space::Spad, buffer, {1, 1, channels});
  for (int64_t c = 0; c < channels; c += block) {
    const int64_t count = std::min(block, channels - c);
    Tile value = sum, slice = result;
    value.offset += c, slice.offset += c;
    if (parts > 0)
      addSlots(context_, tasks, slots, parts, sum, c, count);
    sum_.operations->run(tasks, value, {1, 1, count}, c, slice);
  }
  store(tasks, sum_, box, result);
  const size_t finished = add(Stream::ImageSums, sum_, std::move(tasks), before);
  run_.imageSums.readers = run_.imageSumResult.readers = {finished};
  return finished;
}

Chain::Weights &Chain::arrayWeights(const Unit &unit) {
  const int64_t most = weightsStay_ ? unit.channels.size() : plan_.chunkChannels;
  return weightsOf(Stream::WindowWeights, window_, unit, unit.chunk, [&](auto &tasks, int buffer) {
    if (sliding_)
      return sliding_->loadWeights(
          tasks, reuse(steps_, buffer, isa::Space::Spad, sliding_->weightBytes(most), "weights"),
          unit.channels);
    // Those of the chain before have its weights where this one's have nothing.
    if (cleared_.count(buffer) == 0)
      buffer = diagonals_->addSquares(tasks, most, buffer);
    cleared_.insert(buffer);
    return diagonals_->loadDiagonals(tasks, buffer, unit.channels);
  });
}

// Of the accumulators of windows: row by row of tiles.
struct ArrayTile {
  Span y, x, channels;
};

static std::vector<ArrayTile> arrayTiles(Span rows, int64_t width, Span channels,
                                         const SlidingTile &tile, int64_t block) {
  std::vector<ArrayTile> tiles;
  for (int64_t y = rows.begin; y < rows.end; y += tile.rows)
    for (int64_t x = 0; x < width; x += tile.columns)
      for (int64_t c = channels.begin; c < channels.end; c += block)
        tiles.push_back({{y, std::min(rows.end, y + tile.rows)},
                         {x, std::min(width, x + tile.columns)},
                         {c, std::min(channels.end, c + block)}});
  return tiles;
}

void Chain::reduceOnArray(const Unit &unit, const WindowStage::Input &from, int64_t inputChannel,
                          const Tile &result, const After &after) {
  const WindowProblem &w = *p_.window;
  UnitPieces &made = made_[unit.index];
  const Span rows = spanOf(unit.onArray);
  const int64_t firstRow = unit.rows.needed.window.begin; // of the result
  Weights &weights = arrayWeights(unit);
  const ConvStage::Input input{from.buffer,           {from.firstRow, w.height},
                               {-w.padLeft, w.width}, from.rowPitch,
                               from.columnPitch,      unit.channels.begin - inputChannel};
  ElementChain &operations = sliding_ ? *slidingOperations_ : *window_.operations;
  const SlidingTile size =
      sliding_ ? slidingTile(p_, context_.machine, plan_, rows.size())
               : SlidingTile{arrayTileRows(p_, plan_, std::min(block_, plan_.chunkChannels)),
                             w.outputWidth};
  const int64_t block = sliding_ ? context_.cols : block_,
                group = sliding_ ? context_.cols : groupChannels(context_.machine);
  for (const ArrayTile &tile : arrayTiles(rows, w.outputWidth, unit.channels, size, block)) {
    const Extent extent{tile.y.size(), tile.x.size(), tile.channels.size()};
    After before = after;
    before.push_back(weights.piece);
    if (p_.head)
      comeAfter(before, made_[unit.index].head, inputEnd(tile.y.end));
    Turn &sums = run_.windowSums.take();
    const Tile acc = sumsIn(sums, extent, before);
    size_t products = nothing;
    for (int64_t column = tile.channels.begin; column < tile.channels.end; column += group) {
      const Span channels{column, std::min(tile.channels.end, column + group)};
      Tile place = acc;
      place.offset += column - tile.channels.begin;
      std::vector<Task> tasks;
      if (sliding_)
        sliding_->fill(tasks, input, weights.weights, tile.y, tile.x, channels, place);
      else
        diagonals_->fill(tasks, input, weights.weights, tile.y, tile.x, channels, place, false);
      products = add(Stream::WindowProducts, window_, std::move(tasks), before);
      before.clear();
      if (made.firstProducts == nothing)
        made.firstProducts = products;
    }
    if (p_.head)
      readHead(Stream::WindowProducts, inputRows(tile.y), products, unit);
    else
      input_->readers.push_back(products);
    if (weights.turn)
      weights.turn->readers = {products};
    std::vector<Task> finish;
    operations.loadOperands(finish, {{unit.n, tile.y.begin, tile.x.begin, tile.channels.begin},
                                     {1, extent.n1, extent.n0, extent.nc}});
    const size_t stored = finish.empty() ? nothing : headStored_;
    operations.ops().forget();
    Tile slice = result;
    slice.offset += (tile.y.begin - firstRow) * result.s1 + tile.x.begin * result.s0 +
                    tile.channels.begin - unit.channels.begin;
    operations.run(finish, acc, extent, 0, slice);
    const size_t finished = add(Stream::WindowFinish, window_, std::move(finish),
                                {products, parametersOf(unit), stored});
    sums.readers = {finished};
    made.array.push_back({tile.y.begin, finished});
  }
}

void Chain::reduceOnLanes(const Unit &unit, Span rows, const WindowStage::Input &input,
                          int64_t inputChannel, const Tile &result, const After &after) {
  const WindowProblem &w = *p_.window;
  UnitPieces &made = made_[unit.index];
  const int64_t chunk = unit.channels.size();
  kernel::RescaleOp leading =
      windowStage_->isDepthwise() ? window_.operations->leadingRescale() : nullptr;
  const bool isWhole =
      leading ? window_.operations->isLeadingLast() : window_.operations->isEmpty();
  // A few pieces: the head's element-wise work comes between them.
  const int64_t height = lanesTileRows(p_, plan_, rows.size(), block_);
  for (int64_t y = rows.begin; y < rows.end; y += height) {
    const int64_t size = std::min(height, rows.end - y);
    for (int64_t c = 0; c < chunk; c += block_) {
      std::vector<Task> tasks;
      const Extent extent{size, w.outputWidth, std::min(block_, chunk - c)};
      const Box box{{unit.n, y, 0, unit.channels.begin + c}, {1, size, w.outputWidth, extent.nc}};
      window_.operations->loadOperands(tasks, box);
      const size_t stored = tasks.empty() ? nothing : headStored_;
      window_.operations->ops().forget();
      Tile slice = result;
      slice.offset += (y - unit.rows.needed.window.begin) * result.s1 + c;
      After before = after;
      before.append({parametersOf(unit), stored});
      if (p_.head)
        comeAfter(before, made.head, inputEnd(y + size));
      Tile value = slice;
      Turn *sums = p_.windowHasSums ? &run_.windowSums.take() : nullptr;
      if (sums) {
        before.append(replaced(*sums));
        sums->buffer =
            reuse(steps_, sums->buffer, isa::Space::Acc, extent.elements() * 4, "accumulator tile");
        value = denseTile(isa::Space::Acc, sums->buffer, extent);
      } else if (!isWhole) {
        value = denseTile(isa::Space::Spad,
                          steps_.add(isa::Space::Spad, extent.elements(), "window tile"), extent);
      }
      if (leading)
        window_.operations->ops().selectBlock(tasks, window_.operations->leadingBlocks(),
                                              box.start[3]);
      windowStage_->reduce(tasks, windowRole(), box, extent, value, input, inputChannel + c,
                           box.start[3], leading);
      window_.operations->run(tasks, value, extent, 0, slice, static_cast<bool>(leading));
      made.lanes.push_back({y, add(Stream::Lanes, window_, std::move(tasks), before)});
      if (kept_)
        readHead(Stream::Lanes, inputRows({y, y + size}), made.lanes.back().piece, unit);
      if (sums)
        sums->readers = {made.lanes.back().piece};
    }
  }
  if (!kept_)
    (p_.head ? headTurn_ : input_)->readers.push_back(made.lanes.back().piece);
}

// Where it comes last, all of a stripe's units have been there.
void Chain::tail(const Unit &unit) {
  const bool comesLast = plan_.tailComesLast;
  if (comesLast && !unit.isLast)
    return;
  const ConvProblem &t = *p_.tail;
  UnitPieces &made = made_[unit.index];
  const Span rows = spanOf(unit.rows.needed.result), columns{0, t.outputWidth};
  const Tile &between = p_.window ? windowResult_ : headResult_;
  const Span onChip = p_.window ? spanOf(unit.rows.needed.window)
                                : Span{unit.rows.first, unit.rows.needed.window.end};
  const ConvStage::Input input{between.buffer, onChip,     {0, t.width},
                               between.s1,     between.s0, comesLast ? 0 : unit.channels.begin};
  const Span every{0, t.outputChannels};
  auto weightsFor = [&](int64_t number, Span channels) {
    const Span folds = comesLast ? tailStage_->allFolds() : tailStage_->foldsOfChunk(unit.chunk);
    Weights &weights =
        weightsOf(Stream::TailWeights, tail_, unit, number, [&](auto &tasks, int buffer) {
          Step loads;
          auto loaded = tailStage_->loadWeights(loads, unit.n, channels, folds, buffer);
          tasks = std::move(loads.constants);
          return loaded;
        });
    if (made.tailWeights == nothing)
      made.tailWeights = weights.piece;
    return &weights;
  };
  Weights *weights = comesLast ? nullptr : weightsFor(unit.chunk, every);
  const bool addsUp = addsChunks(p_, plan_);
  int64_t tile = 0;
  for (int64_t y = rows.begin; y < rows.end; y += plan_.tailRows) {
    const Span ySpan{y, std::min(rows.end, y + plan_.tailRows)};
    const Box box{{unit.n, y, 0, 0}, {1, ySpan.size(), t.outputWidth, t.outputChannels}};
    const Extent whole{ySpan.size(), t.outputWidth, t.outputChannels};
    Tile result = denseTile(isa::Space::Spad, -1, whole);
    Turn *resultTurn = nullptr;
    const bool inAccumulators = t.resultInAccumulators;
    size_t operands = nothing;
    After beforeResult;
    if (unit.isLast) {
      if (!inAccumulators) {
        resultTurn = &run_.results.take();
        result.buffer = resultTurn->buffer =
            reuse(steps_, resultTurn->buffer, isa::Space::Spad, whole.elements(), "result tile");
        beforeResult = replaced(*resultTurn);
      }
      std::vector<Task> loads;
      if (p_.headIsAdded) {
        Tile added = headResult_;
        added.offset += (y - unit.rows.first) * added.s1 + p_.window->padLeft * added.s0;
        tail_.operations->provide(head_.group.getResult(), added);
      }
      tail_.operations->loadOperands(loads, box);
      if (!loads.empty()) {
        After before = tailFinishes_;
        before.push_back(headStored_);
        operands = add(Stream::TailOperands, tail_, std::move(loads), before);
        if (unit.index > 0 && made_[unit.index - 1].firstProducts != nothing)
          run_.order[operands].after.push_back(made_[unit.index - 1].firstProducts);
      }
    }
    size_t finished = nothing;
    for (int64_t c = 0; c < t.outputChannels; c += plan_.tailChannels, ++tile) {
      const Span part{c, std::min(t.outputChannels, c + plan_.tailChannels)};
      const Extent extent{ySpan.size(), t.outputWidth, part.size()};
      Turn &sums = !addsUp ? run_.tailSums.take() : run_.stripeSums[tile];
      if (comesLast)
        weights = weightsFor(c / plan_.tailChannels, part);
      After before{weights->piece};
      if (!addsUp || unit.isFirst) {
        sums.buffer =
            reuse(steps_, sums.buffer, isa::Space::Acc, extent.elements() * 4, "accumulator tile");
        before.append(replaced(sums));
      }
      const Tile acc = denseTile(isa::Space::Acc, sums.buffer, extent);
      if (!p_.window)
        comeAfter(before, made.head, tailInputEnd(ySpan.end));
      for (size_t i = comesLast ? unit.index + 1 - static_cast<size_t>(chunks()) : unit.index;
           i <= unit.index; ++i) {
        comeAfter(before, made_[i].lanes, tailInputEnd(ySpan.end));
        comeAfter(before, made_[i].array, tailInputEnd(ySpan.end));
      }
      std::vector<Task> tasks;
      tailStage_->fill(tasks, input, weights->weights, ySpan, columns, part, acc,
                       addsUp && !unit.isFirst);
      const size_t products = add(Stream::TailProducts, tail_, std::move(tasks), before);
      if (made.firstProducts == nothing)
        made.firstProducts = products;
      if (p_.window)
        windowTurn_->readers = {products};
      else if (kept_)
        readHead(Stream::TailProducts, tailInputRows(ySpan), products, unit);
      else
        headTurn_->readers = {products};
      if (weights->turn)
        weights->turn->readers = {products};
      if (!unit.isLast)
        continue;
      tail_.operations->ops().forget();
      Tile slice = result;
      slice.offset += c;
      std::vector<Task> finish;
      const Tile value = tail_.operations->run(finish, acc, extent, c, slice);
      if (inAccumulators)
        store(finish, tail_, {{unit.n, y, 0, c}, {1, ySpan.size(), t.outputWidth, part.size()}},
              value);
      else if (part.end == t.outputChannels && (!p_.sum || p_.sum->isImageStored))
        store(finish, tail_, box, result);
      beforeResult.append({products, operands, parametersOf(unit)});
      finished = add(Stream::TailFinish, tail_, std::move(finish), beforeResult);
      beforeResult.clear();
      if (p_.headIsAdded)
        readHead(Stream::TailFinish, {ySpan.begin, ySpan.end}, finished, unit);
      sums.readers = {finished};
    }
    if (resultTurn)
      resultTurn->readers = {finished};
    if (unit.isLast && p_.sum) {
      const auto stripes = static_cast<int64_t>(stripesOf(p_, plan_).size());
      const bool endsImage = (unit.stripe + 1) % stripes == 0 && ySpan.end == rows.end;
      resultTurn->readers.push_back(
          addUp(unit, result, ySpan, every, summed_++, endsImage, {finished}));
      summed_ = endsImage ? 0 : summed_;
    }
    if (unit.isLast)
      tailFinishes_ = {std::exchange(lastTailFinish_, finished)};
  }
}

void Chain::store(std::vector<Task> &out, LayerWork &work, const Box &box, const Tile &value) {
  storeBox(context_, out, context_.tensor(work.group.getResult()),
           shapeOf(work.anchor->getResult(0)), box, work.operations->resultBytes(), value);
}

// Parameters and weights that stay for the whole chain. Those of the first chunk come first, then
// ever more chunks at once; those of the tail are needed when all of them have passed.
ChannelParts Chain::prepare(bool isTrial) {
  ChannelParts all;
  const int64_t channels = chunkedChannels(p_);
  for (int64_t end = plan_.chunkChannels; end < channels; end *= 2)
    all.ends.push_back(end);
  all.ends.push_back(channels);
  all.loads.resize(all.ends.size());
  std::vector<Task> &ofTail = all.loads[std::min<size_t>(1, all.loads.size() - 1)];
  auto enter = [&](LayerWork &work, ConvStage *stage, int64_t block) {
    if (stage)
      stage->placeWeights(isTrial);
    work.operations.emplace(operationsOf(work, block));
    if (work.anchor == tail_.anchor || work.anchor == sum_.anchor)
      work.operations->prepare(ofTail);
    else
      work.operations->prepare(all.loads.front(), &all);
    if (work.anchor == window_.anchor && !windowStage_->computesWeights())
      windowStage_->loadWeights(all, plan_.chunkChannels);
    mark(all, work);
  };
  if (head_.anchor) {
    headStage_->listFolds(plan_.headMerge, p_.head->inputChannels);
    enter(head_, &*headStage_, headBlock());
  }
  if (window_.anchor)
    enter(window_, nullptr, block_);
  if (sum_.anchor)
    enter(sum_, nullptr, context_.channels);
  if (tail_.anchor) {
    tailStage_->listFolds(TapMerge::None,
                          plan_.tailComesLast ? p_.tail->inputChannels : plan_.chunkChannels);
    enter(tail_, &*tailStage_, std::min(plan_.tailChannels, context_.channels));
  }
  if (plan_.arrayUnits > 0) {
    if (plan_.slidingParts > 0) {
      sliding_.emplace(context_, llvm::cast<kernel::DepthwiseOp>(window_.anchor), *p_.window,
                       *p_.sliding);
      sliding_->placeWeights(isTrial);
      slidingOperations_.emplace(operationsOf(window_, context_.cols));
      slidingOperations_->prepare(all.loads.front(), &all);
      mark(all, window_);
      return all;
    }
    diagonals_.emplace(context_, window_.anchor, steps_, ConvStage::InputFrom::Chip);
    diagonals_->listFolds(TapMerge::None, 0);
    diagonals_->placeWeights(isTrial);
  }
  return all;
}

// Those of windows that another layer made: none of the chain's, which have one reader each.
std::vector<Task> Chain::computedWeights() {
  std::vector<Task> tasks;
  if (windowStage_ && windowStage_->computesWeights())
    windowStage_->loadWeights(tasks);
  mark(tasks, window_);
  return tasks;
}

// With parameters of the first chain, what comes before all else. Those of a chain to which the one
// before hands its result come while that one is at its last units.
void Chain::takeParameters(ChannelParts parts) {
  parts_ = std::move(parts);
  std::vector<Task> computed = computedWeights();
  if (handed_.turn) {
    append(parts_.loads.front(), computed);
    const size_t unit = run_.firstPieces.size() < 4 ? 0 : run_.firstPieces.size() - 4;
    for (std::vector<Task> &loads : parts_.loads)
      parameters_.push_back(
          add(Stream::Parameters, LayerWork(), std::move(loads), {run_.firstPieces[unit]}));
    return;
  }
  for (const std::vector<Task> &loads : parts_.loads)
    run_.holdParameters(loads);
  run_.holdParameters(computed);
  run_.constants = std::move(parts_.loads.front());
  run_.computed = std::move(computed);
  parameters_.push_back(nothing);
}

// The next part comes in when units come to the part before it.
void Chain::loadParameters(const Unit &unit) {
  const size_t next = parameters_.size();
  if (next == parts_.ends.size() || (next > 1 && unit.channels.begin < parts_.ends[next - 2]))
    return;
  const size_t before = unit.index > 0 ? made_[unit.index - 1].firstProducts : nothing;
  parameters_.push_back(
      add(Stream::Parameters, LayerWork(), std::move(parts_.loads[next]), {before}));
}

// The piece that loads a unit's parameters; of its stripe's last unit, the tail's as well.
size_t Chain::parametersOf(const Unit &unit) const {
  const auto part = std::upper_bound(parts_.ends.begin(), parts_.ends.end(), unit.channels.begin);
  return parameters_[static_cast<size_t>(part - parts_.ends.begin())];
}

bool Chain::mayTake() const { return p_.head && headStage_->readsAll() && p_.head->batch == 1; }

Handed Chain::lower(const FusedStackPlan &plan, bool isTrial, const Handed &handed, bool handsOn) {
  plan_ = plan;
  handed_ = handed, handsOn_ = handsOn, headStored_ = handed.stored;
  block_ = std::min(plan.chunkChannels, context_.channels);
  keptRows_ = keptRows(stripesOf(p_, plan));
  const std::vector<Unit> units = unitsOf();
  weightsStay_ = plan.keepsWeights && units.back().stripe > 0;
  using Ring = std::pair<Turns *, Copies>;
  for (auto [ring, which] :
       {Ring(&run_.inputs, Copies::Inputs), Ring(&run_.windows, Copies::Windows),
        Ring(&run_.between, Copies::Between), Ring(&run_.windowResults, Copies::WindowResults),
        Ring(&run_.headSums, Copies::HeadSums), Ring(&run_.windowSums, Copies::WindowSums),
        Ring(&run_.tailSums, Copies::TailSums), Ring(&run_.results, Copies::Results),
        Ring(&run_.weightTurns[Stream::HeadWeights], Copies::Weights),
        Ring(&run_.weightTurns[Stream::WindowWeights], Copies::Weights),
        Ring(&run_.weightTurns[Stream::TailWeights], Copies::Weights)})
    ring->count = copies(which);
  run_.matrixOrder = plan.matrixOrder, run_.vectorOrder = plan.vectorOrder;
  takeParameters(prepare(isTrial));
  made_.resize(units.size());
  for (const Unit &unit : units) {
    run_.firstPieces.push_back(run_.pieces.size());
    loadParameters(unit);
    if (head_.anchor)
      head(unit);
    if (window_.anchor)
      window(unit);
    if (tail_.anchor)
      tail(unit);
  }
  return handing_;
}

// The pieces of all chains.
static void lowerPieces(LoweringContext &context, const ChainRun &chains, bool isTrial, Run &run) {
  std::vector<std::unique_ptr<Chain>> all;
  Handed handed;
  for (size_t i = 0; i < chains.size(); ++i) {
    all.push_back(std::make_unique<Chain>(context, chains[i].chained, run));
    handed = all.back()->lower(chains[i].plan, isTrial, handed, i + 1 < chains.size());
  }
}

std::optional<int64_t> lowerTrial(LoweringContext &context, const ChainRun &chains, Steps &steps,
                                  int64_t enough) {
  Run run(steps);
  lowerPieces(context, chains, true, run);
  const std::optional<Order> order = run.orderByRules(context.isa, enough);
  if (!order)
    return std::nullopt;
  run.list(context.isa, *order);
  return order->end;
}

void lowerAll(LoweringContext &context, const ChainRun &chains, bool isTrial, Steps &steps,
              const std::vector<int64_t> &layout) {
  Run run(steps);
  lowerPieces(context, chains, isTrial, run);
  const bool isPlaced = layout.size() == steps.buffers.size();
  if (isPlaced)
    steps.layout = layout;
  run.list(context.isa, isPlaced ? run.orderAsPlaced(context.isa) : *run.orderByRules(context.isa));
}

std::optional<int64_t> lowerApart(LoweringContext &context, const ChainRun &chains, Steps &steps,
                                  const std::vector<int64_t> &layout) {
  Run run(steps);
  lowerPieces(context, chains, true, run);
  steps.layout = layout;
  if (!run.movesApart(context, run.orderAsPlaced(context.isa)))
    return std::nullopt;
  const Order order = run.orderAsPlaced(context.isa);
  run.list(context.isa, order);
  return order.end;
}

} // namespace tilewright::chains
