// Delta debugging on instructions, then on their fields.
#include "code_edit.h"

#include "tilewright/lockstep/fuzz.h"

namespace tilewright::lockstep {

namespace {

class Shrinker {
public:
  Shrinker(const isa::Isa &isa, const RandomCase &test, int tries,
           std::function<bool(const RandomCase &)> differs)
      : isa_(isa), best_(test), tries_(tries), differs_(std::move(differs)) {}

  RandomCase shrunk() {
    size_t before;
    do {
      before = best_.code.size();
      removeParts();
      simplify();
    } while (best_.code.size() < before && tries_ > 0);
    return best_;
  }

private:
  bool accept(const RandomCase &candidate) {
    if (tries_ <= 0 || candidate.code.empty())
      return false;
    --tries_;
    if (!differs_(candidate))
      return false;
    best_ = candidate;
    return true;
  }

  // Halves, quarters and so on down to single instructions, the last ones first.
  void removeParts() {
    for (size_t part = best_.code.size() / 2; part > 0; part /= 2) {
      for (size_t end = best_.code.size(); end > 0 && tries_ > 0;) {
        const size_t begin = end > part ? end - part : 0;
        RandomCase candidate = best_;
        remove(isa_, candidate.code, begin, end);
        accept(candidate);
        end = std::min(begin, best_.code.size());
      }
    }
  }

  void simplify() {
    for (size_t i = 0; i < best_.code.size() && tries_ > 0; ++i) {
      isa::DecodedInstruction decoded;
      std::string reason;
      if (!isa_.decode(best_.code[i].data(), decoded, reason))
        continue;
      auto attempt = [&](const isa::DecodedInstruction &changed) {
        RandomCase candidate = best_;
        try {
          candidate.code[i] = isa_.encode(changed);
        } catch (const UserError &) {
          return; // no instruction
        }
        if (candidate.code[i] != best_.code[i] && accept(candidate))
          decoded = changed;
      };
      isa::DecodedInstruction changed = decoded;
      changed.wait = changed.signal = 0;
      attempt(changed);
      const isa::Instruction &instruction =
          isa_.instructions()[static_cast<size_t>(decoded.instruction)];
      if (instruction.control == isa::Control::Loop || instruction.control == isa::Control::Branch)
        continue;
      for (size_t operand = 0; operand < decoded.values.size(); ++operand) {
        changed = decoded;
        changed.bases[operand] = 0;
        attempt(changed);
        for (const int64_t simple :
             {int64_t(0), int64_t(1), decoded.values[operand] / 16, decoded.values[operand] / 2}) {
          changed = decoded;
          changed.values[operand] = simple;
          attempt(changed);
          if (decoded.values[operand] == simple)
            break;
        }
      }
    }
  }

  const isa::Isa &isa_;
  RandomCase best_;
  int tries_;
  std::function<bool(const RandomCase &)> differs_;
};

} // namespace

RandomCase Fuzzer::shrink(const RandomCase &test, int tries) const {
  // A program that comes to its end is not shrunk to one that traps.
  const CaseKind kind = check(test).kind;
  auto differs = [&](const RandomCase &candidate) {
    const Checked checked = check(candidate);
    return checked.kind <= kind && checked.comparison.difference.has_value();
  };
  return Shrinker(isa_, test, tries, differs).shrunk();
}

} // namespace tilewright::lockstep
