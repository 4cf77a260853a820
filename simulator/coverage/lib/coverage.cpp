#include "tilewright/coverage/coverage.h"
#include "tilewright/support/table.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <stdexcept>

namespace tilewright::coverage {

namespace {

// The low bits of a value, as a register of that type holds them.
int64_t wrapped(int64_t value, const isa::Type &type) {
  const int unused = 64 - type.bits;
  const uint64_t high = static_cast<uint64_t>(value) << unused;
  return type.isSigned ? static_cast<int64_t>(high) >> unused
                       : static_cast<int64_t>(high >> unused);
}

} // namespace

Coverage::Coverage(const isa::Isa &isa) : isa_(isa), bins_(makeBins(isa)), hits_(bins_.size()) {
  firstBin_.resize(isa.instructions().size() + 1, bins_.size());
  for (size_t i = bins_.size(); i-- > 0;)
    firstBin_[static_cast<size_t>(bins_[i].instruction)] = i;
}

void Coverage::add(const Program &program, const RunRecord &record) {
  ++programs_;
  registers_.clear();
  for (const isa::Unit &unit : isa_.units()) {
    registers_.emplace_back();
    for (const isa::StateRegister &reg : unit.registers)
      registers_.back().push_back(reg.reset);
  }
  base_.assign(static_cast<size_t>(isa_.param("base_registers")), 0);
  const auto bytes = static_cast<uint64_t>(isa_.instructionBytes());
  for (const InstructionRecord &entry : record.trace) {
    isa::DecodedInstruction decoded;
    std::string reason;
    if ((entry.pc + 1) * bytes > program.code.size() ||
        !isa_.decode(reinterpret_cast<const uint8_t *>(program.code.data()) + entry.pc * bytes,
                     decoded, reason))
      throw std::logic_error("a trace of another program");
    execute(decoded, entry);
  }
}

// Each unit starts its instructions in the order of the trace: its registers stand at what the set
// instructions before made of them.
void Coverage::execute(const isa::DecodedInstruction &decoded, const InstructionRecord &record) {
  ++instructions_;
  const auto index = static_cast<size_t>(decoded.instruction);
  const isa::Instruction &instruction = isa_.instructions()[index];
  std::vector<int64_t> &registers = registers_[static_cast<size_t>(instruction.unit)];
  std::vector<int64_t> addresses(instruction.operands.size(), 0);
  for (const isa::Operand &operand : instruction.operands)
    if (operand.kind == isa::Operand::Kind::Memory) {
      const auto at = static_cast<size_t>(operand.index);
      addresses[at] = decoded.values[at] + base_[decoded.bases[at]];
    }
  const std::vector<isa::Range> ranges =
      isa::operandRanges(instruction, isa_, decoded, registers.data(), addresses.data());
  const Execution execution = {&decoded, &record, registers.data(), base_.data(), &ranges};
  for (size_t i = firstBin_[index]; i < firstBin_[index + 1]; ++i)
    hits_[i] += bins_[i].seen(execution);

  const isa::Unit &unit = isa_.units()[static_cast<size_t>(instruction.unit)];
  for (const auto &[number, value] : instruction.sets) {
    const auto at = static_cast<size_t>(decoded.values[static_cast<size_t>(number)]);
    registers[at] = wrapped(decoded.values[static_cast<size_t>(value)], unit.registers[at].type);
  }
  if (instruction.control == isa::Control::SetBase) {
    isa::ScalarContext context;
    context.immediates = decoded.values.data();
    context.base = base_.data();
    const int64_t result = isa::evaluate(*instruction.controlValue, context);
    const int64_t target = decoded.values[static_cast<size_t>(instruction.operandIndex("rd"))];
    if (target != 0)
      base_[static_cast<size_t>(target)] = result;
  }
}

double Coverage::percent() const {
  const auto seen = std::count_if(hits_.begin(), hits_.end(), [](uint64_t n) { return n != 0; });
  return hits_.empty() ? 0 : 100.0 * static_cast<double>(seen) / static_cast<double>(hits_.size());
}

std::string Coverage::table() const {
  Table table;
  table.column("instruction", Table::Align::Left, 18);
  for (int group = 0; group < groupCount; ++group)
    table.column(name(static_cast<Group>(group)), Table::Align::Right, 10);
  std::string missing;
  std::array<size_t, groupCount> allSeen{}, all{};
  auto row = [&](const std::string &first, const auto &seen, const auto &existing) {
    std::vector<std::string> cells = {first};
    for (size_t group = 0; group < groupCount; ++group)
      cells.push_back(fmt::format("{}/{}", seen[group], existing[group]));
    table.row(std::move(cells));
  };
  for (const isa::Instruction &instruction : isa_.instructions()) {
    const auto index = static_cast<size_t>(instruction.index);
    std::array<size_t, groupCount> seen{}, existing{};
    std::string unseen;
    for (size_t i = firstBin_[index]; i < firstBin_[index + 1]; ++i) {
      const auto group = static_cast<size_t>(bins_[i].group);
      ++existing[group];
      if (hits_[i] != 0)
        ++seen[group];
      else
        unseen += fmt::format("{}{}", unseen.empty() ? "" : "; ", bins_[i].what);
    }
    row(instruction.name, seen, existing);
    for (size_t group = 0; group < groupCount; ++group) {
      allSeen[group] += seen[group];
      all[group] += existing[group];
    }
    if (!unseen.empty())
      missing += fmt::format("  {}: {}\n", instruction.name, unseen);
  }
  row("all", allSeen, all);
  std::string text = table.str();
  if (!missing.empty())
    text += "not seen:\n" + missing;
  size_t seen = 0;
  for (size_t group : allSeen)
    seen += group;
  text += fmt::format("{} programs, {} instructions: {} of {} bins seen, {:.1f} %\n", programs_,
                      instructions_, seen, bins_.size(), percent());
  return text;
}

} // namespace tilewright::coverage
