#include "tilewright/lockstep/random_program.h"

#include "control_instructions.h"

#include "tilewright/isa/extent.h"
#include "tilewright/support/error.h"

#include <algorithm>
#include <array>
#include <optional>
#include <random>

namespace tilewright::lockstep {

namespace {

class Generator {
public:
  Generator(const isa::Isa &isa, uint64_t seed, const RandomOptions &options)
      : isa_(isa), control_(isa), random_(seed), straight_(options.kind == RandomKind::Straight),
        mayBeLong_(options.mayBeLong), base_(static_cast<size_t>(isa.param("base_registers"))) {
    for (const isa::Unit &unit : isa.units()) {
      registers_.emplace_back();
      for (const isa::StateRegister &reg : unit.registers)
        registers_.back().push_back(reg.reset);
    }
    // Each semaphore goes from one unit to one other: no third can take its tokens.
    const int units = static_cast<int>(isa.units().size());
    for (int from = 0; from < units; ++from)
      for (int to = 0; to < units; ++to)
        if (from != to)
          channels_.push_back({from, to, 0, drawSignaler(from)});
    for (size_t i = channels_.size(); i > 1; --i)
      std::swap(channels_[i - 1], channels_[static_cast<size_t>(below(static_cast<int64_t>(i)))]);
    for (const isa::Instruction &instruction : isa.instructions()) {
      const bool hasRegisters = !registers_[static_cast<size_t>(instruction.unit)].empty();
      if (instruction.control == isa::Control::None && instruction.sets.empty())
        work_.push_back(&instruction);
      else if (!instruction.sets.empty() && hasRegisters)
        sets_.push_back(&instruction);
    }
    // Where nothing takes tokens and does nothing else, none are given.
    channels_.erase(std::remove_if(channels_.begin(), channels_.end(),
                                   [&](const Channel &channel) { return !idle(channel.to); }),
                    channels_.end());
    channels_.resize(std::min(channels_.size(), static_cast<size_t>(isa.semaphores())));
  }

  std::vector<isa::Word> make(int instructions) {
    std::vector<isa::Word> words;
    // A machine of which next to nothing is left may have nothing to do, or next to nothing fits.
    size_t before = 0;
    for (int inVain = 0; static_cast<int>(words.size()) < instructions && inVain < 40;
         inVain = words.size() == before ? inVain + 1 : 0) {
      before = words.size();
      switch (straight_ ? 5 + below(9) : below(15)) {
      case 0:
        loop(words, 2);
        break;
      case 1:
        switch (below(3)) {
        case 0:
          skipOver(words);
          break;
        case 1:
          countDown(words);
          break;
        default:
          notTaken(words);
          break;
        }
        break;
      case 2:
        if (below(3) == 0)
          fence(words);
        break;
      case 3:
        setBase(words);
        break;
      case 4:
        if (below(12) == 0)
          fillSemaphore(words);
        else
          below(2) == 0 ? repeat(words) : rush(words);
        break;
      case 5:
      case 6:
      case 7:
        anySet(words, false);
        break;
      default:
        work(words);
        break;
      }
    }
    isa::Word halt = blank(*control_.halt);
    if (!straight_) {
      takeTokens(halt);
      drain(words);
      giveTokens(halt);
    }
    words.push_back(halt);
    return words;
  }

private:
  // What signals it is of one kind: others of its unit may end before what was begun earlier, and
  // whose token comes first would be a matter of time.
  enum class Signaler { Set, Writer, Loader, Any };
  struct Channel {
    int from, to;
    int tokens;
    Signaler signaler;
  };
  Signaler signalerOf(const isa::Instruction &instruction) const {
    if (!instruction.sets.empty())
      return Signaler::Set;
    return std::any_of(instruction.accesses.begin(), instruction.accesses.end(),
                       [](const isa::MemoryAccess &access) { return access.write; })
               ? Signaler::Writer
               : Signaler::Loader;
  }
  // The sequencer and the vector unit do one thing after the other.
  Signaler drawSignaler(int unit) {
    switch (isa_.units()[static_cast<size_t>(unit)].kind) {
    case isa::UnitTemplate::Sequencer:
    case isa::UnitTemplate::Vector:
      return Signaler::Any;
    case isa::UnitTemplate::Matrix:
      return static_cast<Signaler>(below(3));
    case isa::UnitTemplate::DmaLoad:
    case isa::UnitTemplate::DmaStore:
      return static_cast<Signaler>(below(2));
    }
    return Signaler::Any;
  }

  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  // Small values mostly, any magnitude sometimes, ends of the range now and then.
  int64_t value(int64_t least, int64_t greatest) {
    if (greatest - least < 16)
      return least + below(greatest - least + 1);
    switch (below(8)) {
    case 0:
      return greatest;
    case 1:
      return least;
    case 2:
    case 3: {
      const int64_t bits = 1 + below(16);
      return std::clamp(below(int64_t(1) << bits), least, greatest);
    }
    default:
      if (spread_ < 20) // what is left after many tries fits only when it is small, but not nothing
        return std::clamp(1 + below(spread_), least, greatest);
      return std::clamp(below(spread_) - (least < 0 ? 4 : 0), least, greatest);
    }
  }

  isa::Word blank(const isa::Instruction &instruction) const {
    isa::Word word;
    word.instruction = instruction.index;
    word.values.assign(instruction.operands.size(), 0);
    word.bases.assign(instruction.operands.size(), 0);
    return word;
  }
  // An instruction of the unit that changes nothing; none where it has none.
  std::optional<isa::Word> idle(int unit) const {
    if (unit == 0)
      return control_.idle ? std::optional(blank(*control_.idle)) : std::nullopt;
    const isa::Instruction *set = setOf(unit);
    return set != nullptr ? std::optional(keeping(*set)) : std::nullopt;
  }
  void fence(std::vector<isa::Word> &words) {
    if (control_.fence == nullptr)
      return;
    words.push_back(blank(*control_.fence));
    synchronize(words.back(), 0);
  }
  static int64_t &operand(isa::Word &word, const isa::Instruction &instruction, const char *name) {
    return word.values[static_cast<size_t>(instruction.operandIndex(name))];
  }

  bool encodes(const isa::Word &word) const {
    try {
      isa_.encode(word);
      return true;
    } catch (const UserError &) {
      return false;
    }
  }

  void synchronize(isa::Word &word, int unit) {
    if (straight_)
      return;
    const Signaler own = signalerOf(isa_.instructions()[static_cast<size_t>(word.instruction)]);
    for (size_t s = 0; s < channels_.size(); ++s) {
      Channel &channel = channels_[s];
      if (channel.to == unit && channel.tokens > 0 && below(2) == 0) {
        word.wait |= uint32_t(1) << s;
        --channel.tokens;
      }
      if (channel.from == unit && channel.tokens < 3 && below(6) == 0 &&
          (channel.signaler == Signaler::Any || channel.signaler == own)) {
        word.signal |= uint32_t(1) << s;
        ++channel.tokens;
      }
    }
  }

  // Of an instruction of the sequencer that runs once.
  void takeTokens(isa::Word &word) {
    for (size_t s = 0; s < channels_.size(); ++s)
      if (channels_[s].to == 0 && channels_[s].tokens > 0 && below(2) == 0) {
        word.wait |= uint32_t(1) << s;
        --channels_[s].tokens;
      }
  }
  void giveTokens(isa::Word &word) {
    for (size_t s = 0; s < channels_.size(); ++s)
      if (channels_[s].from == 0 && channels_[s].tokens < 3 && below(6) == 0) {
        word.signal |= uint32_t(1) << s;
        ++channels_[s].tokens;
      }
  }

  // Sets two registers of a unit; in a loop they keep their values, since the loop's first
  // instructions meet them again.
  void anySet(std::vector<isa::Word> &words, bool keep) {
    if (!sets_.empty())
      words.push_back(
          setOf(*sets_[static_cast<size_t>(below(static_cast<int64_t>(sets_.size())))], keep));
  }

  isa::Word setOf(const isa::Instruction &instruction, bool keep) {
    const isa::Unit &unit = isa_.units()[static_cast<size_t>(instruction.unit)];
    isa::Word word = blank(instruction);
    for (const auto &[number, operand] : instruction.sets) {
      const auto index = static_cast<size_t>(below(static_cast<int64_t>(unit.registers.size())));
      const isa::StateRegister &reg = unit.registers[index];
      int64_t &current = registers_[static_cast<size_t>(instruction.unit)][index];
      if (!keep)
        current = registerValue(reg);
      word.values[static_cast<size_t>(number)] = static_cast<int64_t>(index);
      word.values[static_cast<size_t>(operand)] = current;
    }
    synchronize(word, instruction.unit);
    return word;
  }

  int64_t registerValue(const isa::StateRegister &reg) {
    const int64_t least = static_cast<int64_t>(reg.type.least()),
                  greatest = static_cast<int64_t>(reg.type.greatest());
    if (below(40) == 0)
      return below(2) == 0 ? least : greatest;
    if (reg.type.bits >= 16 && !reg.type.isSigned) // an extent
      return std::clamp(below(5), least, greatest);
    static const int64_t strides[] = {0, 1, 1, 2, 3, 16, 16, 17, 20, 64, 256, -1, -16};
    return std::clamp(strides[below(13)], least, greatest);
  }

  bool tryWork(const isa::Instruction &instruction, isa::Word &word, bool mayBeNothing) {
    draw(instruction, word);
    if (below(6) == 0)
      moveToEnd(instruction, word);
    return (mayBeNothing || touches(instruction, word)) && accept(instruction, word);
  }

  bool touches(const isa::Instruction &instruction, const isa::Word &word) const {
    if (!encodes(word))
      return false;
    for (const isa::Range &range : isa::operandRanges(
             instruction, isa_, word, registers_[static_cast<size_t>(instruction.unit)].data(),
             addresses_.data()))
      if (!range.empty())
        return true;
    return false;
  }

  // Operands anywhere; addresses_ of the memory ones.
  void draw(const isa::Instruction &instruction, isa::Word &word) {
    word = blank(instruction);
    std::vector<int64_t> &addresses = addresses_;
    addresses.assign(instruction.operands.size(), 0);
    for (const isa::Operand &operand : instruction.operands) {
      const auto i = static_cast<size_t>(operand.index);
      if (operand.kind == isa::Operand::Kind::Immediate) {
        word.values[i] = value(operand.least, operand.greatest);
        continue;
      }
      const isa::Memory &memory = isa_.memory(operand.space);
      const int64_t size =
          operand.space == isa::Space::Dram ? 65536 : static_cast<int64_t>(memory.addresses());
      // Often near a bank boundary, or where others are: conflicts are what is looked for.
      const int64_t bank = static_cast<int64_t>(memory.bankBytes()) / memory.addressBytes;
      const int64_t boundary = below(2) == 0 ? bank : bank * (1 + below(memory.banks));
      int64_t &before = recent_[static_cast<size_t>(operand.space)];
      const bool onChip = operand.space != isa::Space::Dram;
      addresses[i] =
          onChip && below(3) == 0   ? std::clamp<int64_t>(boundary - 8 + below(16), 0, size - 1)
          : onChip && below(3) == 0 ? std::min(before / bank * bank + below(bank), size - 1)
          : below(2) == 0           ? below(std::min<int64_t>(size, 4096))
                                    : below(size);
      before = addresses[i];
      word.values[i] = addresses[i];
      if (!straight_ && operand.baseWidth > 0 && below(4) == 0) {
        const auto reg = static_cast<uint8_t>(1 + below(static_cast<int64_t>(base_.size()) - 1));
        const int64_t offset = addresses[i] - base_[reg];
        if (offset >= operand.least && offset <= operand.greatest) {
          word.bases[i] = reg;
          word.values[i] = offset;
        }
      }
    }
  }

  // Whether it may execute, and soon ends; it gets tokens then.
  bool accept(const isa::Instruction &instruction, isa::Word &word, bool isMeantLong = false) {
    const int64_t *registers = registers_[static_cast<size_t>(instruction.unit)].data();
    if (!encodes(word) ||
        !isa::trapReason(instruction, isa_, word, registers, addresses_.data()).empty())
      return false;
    // Long ones would hide the rest.
    const bool isLong = isMeantLong || (mayBeLong_ && below(200) == 0);
    for (const isa::Range &range :
         isa::operandRanges(instruction, isa_, word, registers, addresses_.data()))
      if (range.end - range.begin > 6000 && !isLong)
        return false;
    for (const isa::Step &step : instruction.steps) {
      isa::ScalarContext context;
      context.immediates = word.values.data();
      context.state = registers;
      int64_t elements = 1;
      for (const isa::Iterator &iterator : step.iterators)
        elements *= std::max<int64_t>(isa::evaluate(*iterator.extent, context), 0);
      for (const isa::Iterator &iterator : step.reductions)
        elements *= std::max<int64_t>(isa::evaluate(*iterator.extent, context), 1);
      if (elements > (isMeantLong ? 100000 : isLong ? 40000 : 4000))
        return false;
    }
    synchronize(word, instruction.unit);
    lastIsLong_ = isLong;
    return true;
  }

  // Moves one operand so that what it touches begins or ends with its memory, or with a bank.
  void moveToEnd(const isa::Instruction &instruction, isa::Word &word) {
    std::vector<size_t> onChip;
    for (const isa::Operand &operand : instruction.operands)
      if (operand.kind == isa::Operand::Kind::Memory && operand.space != isa::Space::Dram)
        onChip.push_back(static_cast<size_t>(operand.index));
    if (onChip.empty() || !encodes(word))
      return;
    const size_t i = onChip[static_cast<size_t>(below(static_cast<int64_t>(onChip.size())))];
    const isa::Operand &operand = instruction.operands[i];
    const isa::Memory &memory = isa_.memory(operand.space);
    const isa::Range range = isa::operandRanges(
        instruction, isa_, word, registers_[static_cast<size_t>(instruction.unit)].data(),
        addresses_.data())[i];
    const int64_t bank = below(memory.banks) * static_cast<int64_t>(memory.bankBytes());
    const int64_t ends[] = {-range.begin, static_cast<int64_t>(memory.bytes) - range.end,
                            bank - range.begin, bank - range.end};
    const int64_t moved = ends[below(4)] / memory.addressBytes;
    word.values[i] += moved;
    addresses_[i] += moved;
  }

  // Sets the registers that are strides of what it writes so that no element is written twice.
  void nest(const isa::Instruction &instruction, const isa::Word &word,
            std::vector<isa::Word> &words) {
    for (const isa::MemoryAccess &access : instruction.accesses) {
      if (!access.write)
        continue;
      const isa::Step &step = instruction.steps[static_cast<size_t>(access.step)];
      isa::ScalarContext context;
      context.immediates = word.values.data();
      context.state = registers_[static_cast<size_t>(instruction.unit)].data();
      int64_t span = 1;
      for (size_t i = step.iterators.size(); i-- > 0;) {
        const int64_t extent =
            std::clamp<int64_t>(isa::evaluate(*step.iterators[i].extent, context), 1, 100000);
        for (const isa::AffineTerm &term : access.index.terms) {
          if (term.iterator != static_cast<int>(i))
            continue;
          if (term.coefficient->kind == isa::ExprKind::State)
            words.push_back(setOne(instruction.unit, term.coefficient->index,
                                   (below(6) == 0 ? -1 : 1) * (span + below(3))));
          span = std::abs(isa::evaluate(*term.coefficient, context)) * extent;
        }
      }
    }
  }

  // Gives one register a value, as far as its type holds it.
  isa::Word setOne(int unit, int index, int64_t given) {
    const auto at = static_cast<size_t>(index);
    const isa::Type &type = isa_.units()[static_cast<size_t>(unit)].registers[at].type;
    int64_t &current = registers_[static_cast<size_t>(unit)][at];
    current = std::clamp(given, static_cast<int64_t>(type.least()),
                         static_cast<int64_t>(type.greatest()));
    isa::Word word = blank(*setOf(unit));
    for (const auto &[number, value] : setOf(unit)->sets) {
      word.values[static_cast<size_t>(number)] = index;
      word.values[static_cast<size_t>(value)] = current;
    }
    return word;
  }

  // Of any instruction, though some fit seldom.
  void work(std::vector<isa::Word> &words) {
    if (work_.empty())
      return;
    const isa::Instruction *instruction = anyWork();
    isa::Word word;
    if (mayBeLong_ && !inBody_ && below(40) == 0 && longestWork(*instruction, words))
      return;
    const bool mayBeNothing = below(8) == 0;
    for (int attempt = 0; attempt < 60; ++attempt) {
      spread_ = attempt % 20 < 10 ? 20 : attempt % 20 < 16 ? 6 : 2;
      const bool fits = tryWork(*instruction, word, mayBeNothing);
      spread_ = 20;
      if (fits) {
        words.push_back(word);
        return;
      }
      if ((attempt == 5 || attempt == 30) && !inBody_ && below(2) == 0 &&
          nestedWork(*instruction, words))
        return;
      if (attempt >= 40)
        instruction = anyWork();
    }
  }

  // As many elements as the encoding allows along one iterator, which stands still in the memories
  // where a register is its stride; along the others as few as may be.
  bool longestWork(const isa::Instruction &instruction, std::vector<isa::Word> &words) {
    if (setOf(instruction.unit) == nullptr)
      return false;
    isa::Word word;
    draw(instruction, word);
    for (const isa::Operand &operand : instruction.operands)
      if (operand.kind == isa::Operand::Kind::Immediate)
        word.values[static_cast<size_t>(operand.index)] =
            std::clamp<int64_t>(1, operand.least, operand.greatest);
    std::vector<int> immediates;
    for (const isa::MemoryAccess &access : instruction.accesses) {
      const isa::Step &step = instruction.steps[static_cast<size_t>(access.step)];
      for (const isa::AffineTerm &term : access.index.terms) {
        if (term.iterator >= static_cast<int>(step.iterators.size()))
          continue;
        const isa::Expr &extent = *step.iterators[static_cast<size_t>(term.iterator)].extent;
        if (extent.kind == isa::ExprKind::State)
          words.push_back(setOne(instruction.unit, extent.index, 1));
        if (extent.kind != isa::ExprKind::Immediate)
          continue;
        immediates.push_back(extent.index);
        if (term.coefficient->kind == isa::ExprKind::State)
          words.push_back(setOne(instruction.unit, term.coefficient->index, 0));
      }
    }
    if (immediates.empty())
      return false;
    const auto at = static_cast<size_t>(
        immediates[static_cast<size_t>(below(static_cast<int64_t>(immediates.size())))]);
    word.values[at] = instruction.operands[at].greatest;
    if (!accept(instruction, word, true))
      return false;
    words.push_back(word);
    return true;
  }

  // With the registers that it takes for many elements to fit.
  bool nestedWork(const isa::Instruction &instruction, std::vector<isa::Word> &words) {
    if (setOf(instruction.unit) == nullptr)
      return false;
    isa::Word word;
    draw(instruction, word);
    if (!encodes(word))
      return false;
    nest(instruction, word, words);
    if (!accept(instruction, word))
      return false;
    words.push_back(word);
    return true;
  }

  // Any instruction, or any of any unit: some units have few.
  const isa::Instruction *anyWork() {
    if (below(3) == 0) {
      const auto unit = static_cast<int>(below(static_cast<int64_t>(isa_.units().size())));
      std::vector<const isa::Instruction *> own;
      for (const isa::Instruction *instruction : work_)
        if (instruction->unit == unit)
          own.push_back(instruction);
      if (!own.empty())
        return own[static_cast<size_t>(below(static_cast<int64_t>(own.size())))];
    }
    return work_[static_cast<size_t>(below(static_cast<int64_t>(work_.size())))];
  }
  // A unit's set instruction; null when it has none.
  const isa::Instruction *setOf(int unit) const {
    for (const isa::Instruction *set : sets_)
      if (set->unit == unit)
        return set;
    return nullptr;
  }

  void loop(std::vector<isa::Word> &words, int depth) {
    if (control_.loop == nullptr)
      return;
    // The body starts and ends without tokens, so that it can run any number of times.
    bool wasInBody = true;
    isa::Word first = blank(*control_.loop);
    if (!inBody_)
      takeTokens(first);
    drain(words);
    const size_t at = words.size();
    words.push_back(first);
    std::swap(inBody_, wasInBody);
    const bool mayLeave = below(4) == 0 && control_.branch != nullptr;
    if (mayLeave)
      words.push_back(blank(*control_.branch));
    const int64_t length = 1 + below(8);
    for (int64_t i = 0; i < length; ++i) {
      if (depth > 1 && below(6) == 0)
        loop(words, depth - 1);
      else if (below(4) == 0)
        anySet(words, true);
      else
        work(words);
    }
    drain(words);
    anySet(words, true); // loops do not end together by chance alone
    drain(words);
    std::swap(inBody_, wasInBody);
    if (words.size() == at + 1) { // there is nothing to do
      words.pop_back();
      return;
    }
    const bool leaves = mayLeave && leave(words, at + 1);
    isa::Word &head = words[at];
    const isa::Instruction &instruction = *control_.loop;
    const isa::Operand &count =
        instruction.operands[static_cast<size_t>(instruction.operandIndex("count"))];
    operand(head, instruction, "count") = leaves && below(2) == 0 ? count.greatest : below(4);
    operand(head, instruction, "length") = static_cast<int64_t>(words.size() - at - 1);
    // What it signals is taken after the loop.
    if (!inBody_)
      giveTokens(head);
  }

  // Makes the branch at `from`, the first instruction of a body that ends here, lead out of it: to
  // what comes next. There are no tokens at either end, and a body changes no register. True when
  // it is always taken.
  bool leave(std::vector<isa::Word> &words, size_t from) {
    const isa::Instruction &instruction = *control_.branch;
    isa::Word &branch = words[from];
    const bool always = below(3) == 0;
    operand(branch, instruction, "rs") = always ? 0 : below(static_cast<int64_t>(base_.size()));
    operand(branch, instruction, "negate") = always ? 0 : below(2);
    operand(branch, instruction, "offset") = static_cast<int64_t>(words.size() - from);
    return always;
  }

  // A branch that is never taken may lead anywhere.
  void notTaken(std::vector<isa::Word> &words) {
    if (control_.branch == nullptr)
      return;
    const isa::Instruction &instruction = *control_.branch;
    isa::Word branch = blank(instruction);
    const isa::Operand &offset =
        instruction.operands[static_cast<size_t>(instruction.operandIndex("offset"))];
    operand(branch, instruction, "negate") = 1;
    operand(branch, instruction, "offset") = value(offset.least, offset.greatest);
    if (!inBody_)
      synchronize(branch, 0);
    words.push_back(branch);
  }

  // Takes what was given and not taken.
  void drain(std::vector<isa::Word> &words) {
    for (bool any = true; any;) {
      any = false;
      for (size_t s = 0; s < channels_.size(); ++s) {
        if (channels_[s].tokens == 0)
          continue;
        words.push_back(*idle(channels_[s].to));
        words.back().wait = uint32_t(1) << s;
        --channels_[s].tokens;
        any = true;
      }
    }
  }

  // A branch over instructions that would change nothing for the program's order of tokens.
  void skipOver(std::vector<isa::Word> &words) {
    if (control_.branch == nullptr || control_.idle == nullptr)
      return;
    const isa::Instruction &instruction = *control_.branch;
    isa::Word branch = blank(instruction);
    const int64_t over = 1 + below(30);
    operand(branch, instruction, "offset") = over + 1;
    if (below(2) == 0) {
      operand(branch, instruction, "rs") = below(static_cast<int64_t>(base_.size()));
      operand(branch, instruction, "negate") = below(2);
    }
    synchronize(branch, 0);
    words.push_back(branch);
    for (int64_t i = 0; i < over; ++i)
      words.push_back(blank(control_.fence != nullptr ? *control_.fence : *control_.idle));
  }

  // A loop made of a branch back, which counts a base register down to zero.
  void countDown(std::vector<isa::Word> &words) {
    if (inBody_ || control_.set == nullptr || control_.add == nullptr || control_.branch == nullptr)
      return;
    const isa::Instruction &set = *control_.set, &add = *control_.add, &branch = *control_.branch;
    const int64_t counter = static_cast<int64_t>(base_.size()) - 1;
    drain(words);
    isa::Word first = blank(set);
    operand(first, set, "rd") = counter;
    operand(first, set, "value") = 1 + below(3);
    words.push_back(first);
    // Nothing in the body reads the counter.
    base_.back() = INT64_MIN / 2;
    inBody_ = true;
    const size_t begin = words.size();
    for (int64_t i = 1 + below(5); i > 0; --i)
      below(4) == 0 ? anySet(words, true) : work(words);
    drain(words);
    inBody_ = false;
    isa::Word down = blank(add), back = blank(branch);
    operand(down, add, "rd") = operand(down, add, "rs") = counter;
    operand(down, add, "value") = -1;
    words.push_back(down);
    operand(back, branch, "rs") = counter;
    operand(back, branch, "negate") = 1;
    operand(back, branch, "offset") =
        static_cast<int64_t>(begin) - static_cast<int64_t>(words.size());
    words.push_back(back);
    base_.back() = 0;
  }

  // A base register, from nothing or from another. Bodies meet the values of their first run again.
  void setBase(std::vector<isa::Word> &words) {
    if (inBody_)
      return;
    const auto reg = static_cast<size_t>(below(static_cast<int64_t>(base_.size())));
    const isa::Instruction *drawn = below(2) == 0 ? control_.add : control_.set;
    if (drawn == nullptr)
      return;
    const isa::Instruction &instruction = *drawn;
    isa::Word word = blank(instruction);
    const isa::Operand &field =
        instruction.operands[static_cast<size_t>(instruction.operandIndex("value"))];
    const int64_t given = below(8) == 0 ? value(field.least, field.greatest) : value(-2000, 5000);
    operand(word, instruction, "rd") = static_cast<int64_t>(reg);
    operand(word, instruction, "value") = given;
    if (drawn == control_.add)
      operand(word, instruction, "rs") = below(static_cast<int64_t>(base_.size()));
    isa::ScalarContext context;
    context.immediates = word.values.data();
    context.base = base_.data();
    if (reg != 0)
      base_[reg] = isa::evaluate(*instruction.controlValue, context);
    synchronize(word, 0);
    words.push_back(word);
  }

  // Many of one kind: its unit's queue fills up, and what is behind it too.
  void repeat(std::vector<isa::Word> &words) {
    const size_t before = words.size();
    work(words);
    if (words.size() == before || lastIsLong_)
      return;
    isa::Word word = words.back();
    word.wait = word.signal = 0;
    words.insert(words.end(), static_cast<size_t>(1 + below(24)), word);
  }

  // A short body that runs often: no line has to be fetched, so that instructions come as fast as
  // they can be dispatched, and units meet that fetching keeps apart.
  void rush(std::vector<isa::Word> &words) {
    if (inBody_ || control_.loop == nullptr)
      return;
    drain(words);
    const size_t at = words.size();
    const isa::Instruction &instruction = *control_.loop;
    words.push_back(blank(instruction));
    inBody_ = straight_ = true; // no tokens in the body
    for (int64_t i = 1 + below(4); i > 0; --i)
      work(words);
    inBody_ = straight_ = false;
    if (words.size() == at + 1 || lastIsLong_) {
      words.resize(at);
      return;
    }
    operand(words[at], instruction, "count") = 1 + below(24);
    operand(words[at], instruction, "length") = static_cast<int64_t>(words.size() - at - 1);
  }

  // More signals than a semaphore holds: the unit waits until another takes some.
  void fillSemaphore(std::vector<isa::Word> &words) {
    if (channels_.empty() || control_.loop == nullptr)
      return;
    const int64_t most = isa_.param("semaphore_max");
    const auto s = static_cast<size_t>(below(static_cast<int64_t>(channels_.size())));
    const isa::Instruction *from = setOf(channels_[s].from), *to = setOf(channels_[s].to);
    if (most > 200 || from == nullptr || to == nullptr)
      return;
    drain(words);
    // What signals last is work, or set instructions like those before.
    std::vector<isa::Word> last;
    if (below(3) != 0)
      for (int64_t i = 1 + below(4); i > 0; --i)
        signalingWork(from->unit, uint32_t(1) << s, last);
    const int64_t sets =
        last.empty() ? most + isa_.units()[static_cast<size_t>(from->unit)].queueDepth / 2 : most;
    loopOver(words, keeping(*from), uint32_t(1) << s, 0, sets);
    words.insert(words.end(), last.begin(), last.end());
    if (!last.empty() && control_.idle != nullptr) // nothing is taken before the work is done
      loopOver(words, blank(*control_.idle), 0, 0, 100 + below(400));
    loopOver(words, keeping(*to), 0, uint32_t(1) << s, sets + static_cast<int64_t>(last.size()));
  }

  void signalingWork(int unit, uint32_t signal, std::vector<isa::Word> &words) {
    isa::Word word;
    const bool wasStraight = straight_;
    straight_ = true; // no other tokens
    for (int attempt = 0; attempt < 200 && !work_.empty(); ++attempt) {
      const isa::Instruction *instruction = anyWork();
      if (instruction->unit != unit || !tryWork(*instruction, word, below(8) == 0))
        continue;
      word.signal = signal;
      words.push_back(word);
      break;
    }
    straight_ = wasStraight;
  }

  void loopOver(std::vector<isa::Word> &words, isa::Word word, uint32_t signal, uint32_t wait,
                int64_t count) {
    const isa::Instruction &instruction = *control_.loop;
    isa::Word head = blank(instruction);
    operand(head, instruction, "count") = count;
    operand(head, instruction, "length") = 1;
    words.push_back(head);
    word.signal = signal;
    word.wait = wait;
    words.push_back(word);
  }

  // A set instruction that changes nothing.
  isa::Word keeping(const isa::Instruction &set) const {
    isa::Word word = blank(set);
    for (const auto &[number, given] : set.sets) {
      word.values[static_cast<size_t>(number)] = 0;
      word.values[static_cast<size_t>(given)] = registers_[static_cast<size_t>(set.unit)][0];
    }
    return word;
  }

  const isa::Isa &isa_;
  const ControlInstructions control_;
  std::mt19937_64 random_;
  bool straight_, mayBeLong_;
  bool inBody_ = false; // what runs again
  bool lastIsLong_ = false;
  int64_t spread_ = 20; // of small values
  std::vector<int64_t> base_, addresses_;
  std::array<int64_t, 3> recent_{}; // the last address, by space
  std::vector<std::vector<int64_t>> registers_;
  std::vector<Channel> channels_;
  std::vector<const isa::Instruction *> work_, sets_;
};

} // namespace

std::vector<isa::Word> randomProgram(const isa::Isa &isa, uint64_t seed, int instructions,
                                     const RandomOptions &options) {
  return Generator(isa, seed, options).make(instructions);
}

} // namespace tilewright::lockstep
