// 1. Draw immediates, registers and arrays: corners often, extents and strides small.
// 2. Place the operands anywhere; draw again while the instruction traps or is large.
// 3. Fill what the operands reach with random bytes, corners often; execute; keep both sides.
#include "tilewright/isa/vectors.h"

#include "tilewright/isa/assembler.h"
#include "tilewright/isa/extent.h"
#include "tilewright/isa/interpreter.h"
#include "tilewright/support/error.h"
#include "type.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

namespace tilewright::isa {

namespace {

constexpr uint64_t dramBytes = uint64_t(1) << 16;
constexpr int64_t maximumElements = 4096;
constexpr int maximumDraws = 100000;

using Random = std::mt19937_64;

int64_t between(int64_t least, int64_t greatest, Random &random) {
  const uint64_t span = static_cast<uint64_t>(greatest) - static_cast<uint64_t>(least);
  const uint64_t offset = span == UINT64_MAX ? random() : random() % (span + 1);
  return static_cast<int64_t>(static_cast<uint64_t>(least) + offset);
}

// A value of a range: its ends, around zero, small, or anything.
int64_t draw(int64_t least, int64_t greatest, Random &random) {
  switch (random() % 8) {
  case 0:
    return least;
  case 1:
    return greatest;
  case 2:
    return std::clamp<int64_t>(between(-2, 2, random), least, greatest);
  case 3:
  case 4:
    return std::clamp<int64_t>(between(-150, 150, random), least, greatest);
  default:
    return between(least, greatest, random);
  }
}

int64_t draw(const Type &type, Random &random) {
  return draw(static_cast<int64_t>(type.least()), static_cast<int64_t>(type.greatest()), random);
}

void collect(const Expr &expr, ExprKind kind, std::set<int> &indices) {
  if (expr.kind == kind)
    indices.insert(expr.index);
  for (const ExprPtr &arg : expr.args)
    collect(*arg, kind, indices);
}

// What decides how far an instruction reaches: those must be small, all others may be anything.
struct Roles {
  std::set<int> extentImmediates, extentRegisters, strideImmediates, strideRegisters;

  explicit Roles(const Instruction &instruction) {
    for (const Step &step : instruction.steps)
      for (const auto *iterators : {&step.iterators, &step.reductions})
        for (const Iterator &iterator : *iterators) {
          collect(*iterator.extent, ExprKind::Immediate, extentImmediates);
          collect(*iterator.extent, ExprKind::State, extentRegisters);
        }
    for (const MemoryAccess &access : instruction.accesses)
      for (const AffineTerm &term : access.index.terms) {
        collect(*term.coefficient, ExprKind::Immediate, strideImmediates);
        collect(*term.coefficient, ExprKind::State, strideRegisters);
      }
  }
};

class Generator {
public:
  Generator(const Isa &isa, const Instruction &instruction, uint64_t seed)
      : isa_(isa), instruction_(instruction),
        unit_(isa.units()[static_cast<size_t>(instruction.unit)]), roles_(instruction),
        random_(seed ^ static_cast<uint64_t>(instruction.opcode) << 32) {}

  TestVector next() {
    TestVector made;
    for (int i = 0; i < maximumDraws; ++i)
      if (drawOne(made))
        return made;
    throw UserError({instruction_.file, 0, 0, fmt::format("instruction '{}'", instruction_.name)},
                    "no execution of it was found that this machine allows",
                    "make the memories that it reads and writes larger, or remove it");
  }

private:
  bool drawOne(TestVector &made) {
    made = TestVector{};
    drawOperands(made.decoded);
    drawRegisters(made);
    ScalarContext context;
    context.immediates = made.decoded.values.data();
    for (const Require &require : instruction_.requires_)
      if (evaluate(*require.expr, context) == 0)
        return false;
    location(made);
    if (!trapReason(instruction_, isa_, made.decoded, made.registersBefore.data(),
                    made.addresses.data())
             .empty())
      return false;
    for (const Range &range : ranges(made))
      if (range.end - range.begin > maximumElements)
        return false;
    execute(made);
    return true;
  }

  void drawOperands(DecodedInstruction &decoded) {
    decoded.instruction = instruction_.index;
    for (const Operand &operand : instruction_.operands) {
      bool extent = roles_.extentImmediates.count(operand.index),
           stride = roles_.strideImmediates.count(operand.index);
      int64_t value = draw(operand.least, operand.greatest, random_);
      if (extent)
        value = operand.greatest <= 64 ? between(operand.least, operand.greatest, random_)
                                       : between(0, 9, random_);
      if (stride)
        value = between(std::max<int64_t>(operand.least, -40),
                        std::min<int64_t>(operand.greatest, 40), random_);
      decoded.values.push_back(operand.kind == Operand::Kind::Memory ? 0 : value);
      decoded.bases.push_back(0);
    }
  }

  void drawRegisters(TestVector &made) {
    for (const StateRegister &reg : unit_.registers) {
      int64_t value = random_() % 3 == 0 ? reg.reset : draw(reg.type, random_);
      if (roles_.extentRegisters.count(reg.index))
        value = std::clamp<int64_t>(between(0, 3, random_), 0,
                                    static_cast<int64_t>(reg.type.greatest()));
      if (roles_.strideRegisters.count(reg.index))
        value = static_cast<int64_t>(saturate(between(-40, 60, random_), reg.type));
      made.registersBefore.push_back(value);
    }
    for (const StateArray &array : unit_.arrays) {
      std::vector<int64_t> values(static_cast<size_t>(array.elements()));
      for (int64_t &value : values)
        value = draw(array.type, random_);
      made.arraysBefore.push_back(std::move(values));
    }
  }

  std::vector<Range> ranges(const TestVector &made) const {
    return operandRanges(instruction_, isa_, made.decoded, made.registersBefore.data(),
                         made.addresses.data());
  }

  // Somewhere within the memory, now and then at one of its ends.
  void location(TestVector &made) {
    made.addresses.assign(instruction_.operands.size(), 0);
    std::vector<Range> relative = ranges(made);
    for (const Operand &operand : instruction_.operands) {
      if (operand.kind != Operand::Kind::Memory)
        continue;
      auto index = static_cast<size_t>(operand.index);
      const Memory &memory = isa_.memory(operand.space);
      int64_t unit = memory.addressBytes;
      auto bytes = static_cast<int64_t>(std::min(memory.bytes, dramBytes));
      int64_t least = std::max<int64_t>(0, -relative[index].begin / unit),
              greatest = (bytes - std::max<int64_t>(relative[index].end, 0)) / unit;
      if (least > greatest)
        continue; // it traps, and is drawn again
      int64_t address = random_() % 4 == 0 ? (random_() % 2 ? least : greatest)
                                           : between(least, greatest, random_);
      made.decoded.values[index] = made.addresses[index] = std::min(address, operand.greatest);
    }
  }

  void execute(TestVector &made) {
    InterpreterState state(isa_, unit_, dramBytes);
    state.registers = made.registersBefore;
    state.arrays = made.arraysBefore;
    std::vector<Range> reached = ranges(made);
    for (const Operand &operand : instruction_.operands) {
      const Range &range = reached[static_cast<size_t>(operand.index)];
      if (range.empty())
        continue;
      fill(state.memories[static_cast<size_t>(operand.space)], range, operand.type.bits / 8);
    }
    images(reached, state, made.before, false);
    interpret(isa_, made.decoded, made.addresses.data(), state);
    images(reached, state, made.after, true);
    made.registersAfter = state.registers;
    made.arraysAfter = state.arrays;
  }

  void fill(std::vector<uint8_t> &memory, const Range &range, int elementBytes) {
    for (int64_t at = range.begin; at < range.end; ++at) {
      static const uint8_t corners[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
      auto byte = static_cast<uint8_t>(random_());
      memory[static_cast<size_t>(at)] = random_() % 4 == 0 ? corners[random_() % 5] : byte;
    }
    // Whole elements at the ends of their type, or small: bytes alone rarely give them.
    Type type{true, 8 * elementBytes};
    for (int64_t at = range.begin; elementBytes > 1 && at + elementBytes <= range.end;
         at += elementBytes)
      if (random_() % 2 == 0) {
        int64_t value = draw(type, random_);
        for (int i = 0; i < elementBytes; ++i)
          memory[static_cast<size_t>(at + i)] = static_cast<uint8_t>(value >> (8 * i));
      }
  }

  void images(const std::vector<Range> &reached, const InterpreterState &state,
              std::vector<MemoryImage> &into, bool written) {
    for (const Operand &operand : instruction_.operands) {
      const Range &range = reached[static_cast<size_t>(operand.index)];
      if (range.empty() || (written && operand.access == Access::Read))
        continue;
      const auto &memory = state.memories[static_cast<size_t>(operand.space)];
      into.push_back({operand.index,
                      operand.space,
                      range.begin,
                      {memory.begin() + range.begin, memory.begin() + range.end}});
    }
  }

  const Isa &isa_;
  const Instruction &instruction_;
  const Unit &unit_;
  Roles roles_;
  Random random_;
};

nlohmann::ordered_json imagesJson(const Isa &isa, const std::vector<MemoryImage> &images) {
  auto json = nlohmann::ordered_json::array();
  for (const MemoryImage &image : images) {
    std::string hex;
    for (uint8_t byte : image.bytes)
      hex += fmt::format("{:02x}", byte);
    json.push_back(
        {{"memory", isa.memory(image.space).name}, {"begin", image.begin}, {"bytes", hex}});
  }
  return json;
}

nlohmann::ordered_json vectorJson(const Isa &isa, const Unit &unit, const TestVector &vector) {
  nlohmann::ordered_json json;
  json["text"] = disassemble(isa, vector.decoded);
  std::string hex;
  for (uint8_t byte : isa.encode(vector.decoded))
    hex += fmt::format("{:02x}", byte);
  json["bits"] = hex;
  for (const StateRegister &reg : unit.registers) {
    auto index = static_cast<size_t>(reg.index);
    json["registers"][reg.name] = vector.registersBefore[index];
    if (vector.registersAfter[index] != vector.registersBefore[index])
      json["registers_after"][reg.name] = vector.registersAfter[index];
  }
  for (const StateArray &array : unit.arrays) {
    auto index = static_cast<size_t>(array.index);
    json["arrays"][array.name] = vector.arraysBefore[index];
    if (vector.arraysAfter[index] != vector.arraysBefore[index])
      json["arrays_after"][array.name] = vector.arraysAfter[index];
  }
  json["memory"] = imagesJson(isa, vector.before);
  json["memory_after"] = imagesJson(isa, vector.after);
  return json;
}

} // namespace

std::vector<TestVector> testVectors(const Isa &isa, const Instruction &instruction, int count,
                                    uint64_t seed) {
  Generator generator(isa, instruction, seed);
  std::vector<TestVector> vectors;
  for (int i = 0; i < count; ++i)
    vectors.push_back(generator.next());
  return vectors;
}

std::string vectorsJson(const Isa &isa, const std::vector<const Instruction *> &instructions,
                        int count, uint64_t seed) {
  nlohmann::ordered_json json;
  json["schema"] = "tilewright/vectors/1";
  json["isa_hash"] = isa.hash();
  json["seed"] = seed;
  auto &list = json["instructions"] = nlohmann::ordered_json::array();
  for (const Instruction *instruction : instructions) {
    nlohmann::ordered_json entry;
    entry["name"] = instruction->name;
    auto &vectors = entry["vectors"] = nlohmann::ordered_json::array();
    for (const TestVector &vector : testVectors(isa, *instruction, count, seed))
      vectors.push_back(
          vectorJson(isa, isa.units()[static_cast<size_t>(instruction->unit)], vector));
    list.push_back(std::move(entry));
  }
  return json.dump(1) + "\n";
}

} // namespace tilewright::isa
