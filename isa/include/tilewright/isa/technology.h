// A logic technology: how long operators take and how large they are. Files: isa/technologies.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace tilewright::isa {

// What a lane is built of, in the order of `operatorNames`.
enum class LogicOperator {
  Add,
  Subtract,
  Negate,
  Compare,
  Select,     // one of two
  SelectOf8,  // one of eight
  ShiftRight, // by an amount that is no constant
  ShiftLeft,
  Multiply, // the width is that of the product of two numbers of half the width
  LeadingZeros,
  Saturate, // to half of the width
};
inline constexpr std::array operatorNames = {
    "add",         "subtract",   "negate",   "compare",       "select",  "select_of_8",
    "shift_right", "shift_left", "multiply", "leading_zeros", "saturate"};
inline constexpr std::array characterizedBits = {8, 16, 32, 48, 64};

// Delays are in thousandths of the FO4 delay (an inverter that drives four of its size: Harris et
// al., "The Fanout-of-4 Inverter Delay Metric", 1997), areas in equivalents of a two-input NAND.
struct Technology {
  using Figures = std::array<int64_t, characterizedBits.size()>; // by characterizedBits
  struct Operator {
    Figures delay{};
    Figures area{};
  };

  std::string name;
  std::string summary;
  int64_t fo4Femtoseconds = 0;
  int64_t registerDelay = 0; // of a flip-flop: clock to output, and setup
  int64_t margin = 0;        // of each cycle: skew and jitter of the clock
  std::array<Operator, operatorNames.size()> operators;

  // Linear between the widths that are characterized, and beyond the last as from the one before
  // it; below the first as the first.
  int64_t delay(LogicOperator kind, int bits) const;
  int64_t area(LogicOperator kind, int bits) const;
  int64_t period(int64_t clockHz) const; // of the clock
  // Before a register, or a unit, that instructions share stands a selection among them.
  int64_t selection() const { return delay(LogicOperator::SelectOf8, characterizedBits.front()); }
  // From one gate to as many as that, by buffers that drive four each.
  static int64_t fanOut(int64_t loads) {
    int64_t delay = 0;
    for (int64_t driven = 1; driven < loads; driven *= 4)
      delay += 1000;
    return delay;
  }
  // What logic between two registers of a lane may take; not positive where the clock is too fast
  // for any.
  int64_t budget(int64_t clockHz) const {
    return period(clockHz) - registerDelay - margin - selection();
  }
};

} // namespace tilewright::isa
