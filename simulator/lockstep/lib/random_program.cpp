#include "tilewright/lockstep/random_program.h"

#include "tilewright/isa/extent.h"
#include "tilewright/support/error.h"

#include <algorithm>
#include <array>
#include <random>

namespace tilewright::lockstep {

namespace {

class Generator {
public:
  Generator(const isa::Isa &isa, uint64_t seed, const RandomOptions &options)
      : isa_(isa), random_(seed), straight_(options.kind == RandomKind::Straight),
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
    channels_.resize(std::min(channels_.size(), static_cast<size_t>(isa.semaphores())));
    for (const isa::Instruction &instruction : isa.instructions()) {
      if (instruction.control == isa::Control::None)
        (instruction.sets.empty() ? work_ : sets_).push_back(&instruction);
    }
  }

  std::vector<isa::Word> make(int instructions) {
    std::vector<isa::Word> words;
    while (static_cast<int>(words.size()) < instructions) {
      switch (straight_ ? 5 + below(9) : below(15)) {
      case 0:
        loop(words, 2);
        break;
      case 1:
        below(2) == 0 ? skipOver(words) : countDown(words);
        break;
      case 2:
        if (below(3) == 0)
          words.push_back(control("fence"));
        break;
      case 3:
        setBase(words);
        break;
      case 4:
        below(12) == 0 ? fillSemaphore(words) : repeat(words);
        break;
      case 5:
      case 6:
      case 7:
        words.push_back(anySet(false));
        break;
      default:
        work(words);
        break;
      }
    }
    drain(words);
    words.push_back(plain("halt"));
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
      return std::clamp(below(20) - (least < 0 ? 4 : 0), least, greatest);
    }
  }

  isa::Word blank(const isa::Instruction &instruction) const {
    isa::Word word;
    word.instruction = instruction.index;
    word.values.assign(instruction.operands.size(), 0);
    word.bases.assign(instruction.operands.size(), 0);
    return word;
  }
  isa::Word plain(const char *name) const { return blank(*isa_.find(name)); }
  // One of the sequencer's, with tokens.
  isa::Word control(const char *name) {
    isa::Word word = plain(name);
    synchronize(word, 0);
    return word;
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

  // Sets two registers of a unit; in a loop they keep their values, since the loop's first
  // instructions meet them again.
  isa::Word anySet(bool keep) {
    return setOf(*sets_[static_cast<size_t>(below(static_cast<int64_t>(sets_.size())))], keep);
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
    if (reg.type.bits >= 16 && !reg.type.isSigned) // an extent
      return std::clamp(below(5), least, greatest);
    static const int64_t strides[] = {0, 1, 1, 2, 3, 16, 16, 17, 20, 64, 256, -1, -16};
    return std::clamp(strides[below(13)], least, greatest);
  }

  bool tryWork(isa::Word &word) {
    const isa::Instruction &instruction =
        *work_[static_cast<size_t>(below(static_cast<int64_t>(work_.size())))];
    word = blank(instruction);
    std::vector<int64_t> addresses(instruction.operands.size(), 0);
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
        const auto reg = static_cast<uint8_t>(below(static_cast<int64_t>(base_.size())));
        const int64_t offset = addresses[i] - base_[reg];
        if (offset >= operand.least && offset <= operand.greatest) {
          word.bases[i] = reg;
          word.values[i] = offset;
        }
      }
    }
    const int64_t *registers = registers_[static_cast<size_t>(instruction.unit)].data();
    if (!encodes(word) ||
        !isa::trapReason(instruction, isa_, word, registers, addresses.data()).empty())
      return false;
    // Long ones would hide the rest.
    const bool isLong = mayBeLong_ && below(200) == 0;
    for (const isa::Range &range :
         isa::operandRanges(instruction, isa_, word, registers, addresses.data()))
      if (range.end - range.begin > 6000 && !isLong)
        return false;
    for (const isa::Step &step : instruction.steps) {
      isa::ScalarContext context;
      context.immediates = word.values.data();
      context.state = registers;
      int64_t elements = 1;
      for (const auto *iterators : {&step.iterators, &step.reductions})
        for (const isa::Iterator &iterator : *iterators)
          elements *= std::max<int64_t>(isa::evaluate(*iterator.extent, context), 1);
      if (elements > (isLong ? 40000 : 4000))
        return false;
    }
    synchronize(word, instruction.unit);
    lastIsLong_ = isLong;
    return true;
  }

  void work(std::vector<isa::Word> &words) {
    isa::Word word;
    for (int attempt = 0; attempt < 50; ++attempt) {
      if (tryWork(word)) {
        words.push_back(word);
        return;
      }
    }
  }

  void loop(std::vector<isa::Word> &words, int depth) {
    // The body starts and ends without tokens, so that it can run any number of times.
    drain(words);
    bool wasInBody = true;
    const size_t at = words.size();
    words.push_back(plain("loop"));
    std::swap(inBody_, wasInBody);
    const int64_t length = 1 + below(8);
    for (int64_t i = 0; i < length; ++i) {
      if (depth > 1 && below(6) == 0)
        loop(words, depth - 1);
      else if (below(4) == 0)
        words.push_back(anySet(true));
      else
        work(words);
    }
    drain(words);
    words.push_back(
        anySet(true)); // a body is never empty, and loops do not end together by chance alone
    drain(words);
    std::swap(inBody_, wasInBody);
    isa::Word &head = words[at];
    const isa::Instruction &instruction = *isa_.find("loop");
    head.values[static_cast<size_t>(instruction.operandIndex("count"))] = below(4);
    head.values[static_cast<size_t>(instruction.operandIndex("length"))] =
        static_cast<int64_t>(words.size() - at - 1);
  }

  // Takes what was given and not taken.
  void drain(std::vector<isa::Word> &words) {
    for (bool any = true; any;) {
      any = false;
      for (size_t s = 0; s < channels_.size(); ++s) {
        if (channels_[s].tokens == 0)
          continue;
        if (channels_[s].to == 0) {
          isa::Word word = plain("xset"); // of register 0: changes nothing
          word.wait = uint32_t(1) << s;
          --channels_[s].tokens;
          words.push_back(word);
          any = true;
          continue;
        }
        for (const isa::Instruction *set : sets_) {
          if (set->unit != channels_[s].to)
            continue;
          isa::Word word = keeping(*set);
          word.wait = uint32_t(1) << s;
          --channels_[s].tokens;
          words.push_back(word);
          any = true;
        }
      }
    }
  }

  // A branch over instructions that would change nothing for the program's order of tokens.
  void skipOver(std::vector<isa::Word> &words) {
    const isa::Instruction &instruction = *isa_.find("branch");
    isa::Word branch = blank(instruction);
    const int64_t over = 1 + below(30);
    operand(branch, instruction, "offset") = over + 1;
    synchronize(branch, 0);
    words.push_back(branch);
    for (int64_t i = 0; i < over; ++i)
      words.push_back(plain("fence"));
  }

  // A loop made of a branch back, which counts a base register down to zero.
  void countDown(std::vector<isa::Word> &words) {
    if (inBody_)
      return;
    const isa::Instruction &set = *isa_.find("xset"), &add = *isa_.find("xadd"),
                           &branch = *isa_.find("branch");
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
      below(4) == 0 ? words.push_back(anySet(true)) : work(words);
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
    const bool adds = below(2) == 0;
    const isa::Instruction &instruction = *isa_.find(adds ? "xadd" : "xset");
    isa::Word word = blank(instruction);
    const int64_t given = value(-2000, 5000);
    operand(word, instruction, "rd") = static_cast<int64_t>(reg);
    operand(word, instruction, "value") = given;
    int64_t result = given;
    if (adds) {
      const auto from = static_cast<size_t>(below(static_cast<int64_t>(base_.size())));
      operand(word, instruction, "rs") = static_cast<int64_t>(from);
      result += base_[from];
    }
    if (reg != 0)
      base_[reg] = result;
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

  // More signals than a semaphore holds: the unit waits until another takes some.
  void fillSemaphore(std::vector<isa::Word> &words) {
    const int64_t most = isa_.param("semaphore_max");
    const auto s = static_cast<size_t>(below(static_cast<int64_t>(channels_.size())));
    const auto setOfUnit = [&](int unit) {
      const auto found = std::find_if(sets_.begin(), sets_.end(), [&](const isa::Instruction *set) {
        return set->unit == unit;
      });
      return found == sets_.end() ? nullptr : *found;
    };
    const isa::Instruction *from = setOfUnit(channels_[s].from), *to = setOfUnit(channels_[s].to);
    if (most > 200 || from == nullptr || to == nullptr ||
        (channels_[s].signaler != Signaler::Any && channels_[s].signaler != Signaler::Set))
      return;
    drain(words);
    const int64_t count = most + isa_.units()[static_cast<size_t>(from->unit)].queueDepth / 2;
    for (const isa::Instruction *set : {from, to}) {
      const isa::Instruction &instruction = *isa_.find("loop");
      isa::Word head = blank(instruction);
      operand(head, instruction, "count") = count;
      operand(head, instruction, "length") = 1;
      words.push_back(head);
      isa::Word word = keeping(*set);
      (set == from ? word.signal : word.wait) = uint32_t(1) << s;
      words.push_back(word);
    }
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
  std::mt19937_64 random_;
  bool straight_, mayBeLong_;
  bool inBody_ = false; // what runs again
  bool lastIsLong_ = false;
  std::vector<int64_t> base_;
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
