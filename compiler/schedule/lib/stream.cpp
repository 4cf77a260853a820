#include "tilewright/compiler/schedule/stream.h"

#include <stdexcept>

namespace tilewright {

static constexpr int64_t lowerHalf = 0xffffffff;
static constexpr uint32_t none = UINT32_MAX;

static bool isSame(const StreamInstruction &a, const StreamInstruction &b) {
  return a.decoded.instruction == b.decoded.instruction && a.layer == b.layer &&
         a.decoded.values == b.decoded.values && a.decoded.bases == b.decoded.bases;
}

static uint64_t hashOf(const StreamInstruction &form) {
  constexpr uint64_t odd = 0x9E3779B97F4A7C15;
  uint64_t hash =
      static_cast<uint64_t>(form.decoded.instruction) << 32 | static_cast<uint32_t>(form.layer);
  auto add = [&](uint64_t value) { hash = (hash ^ (hash >> 32) ^ value) * odd; };
  for (int64_t value : form.decoded.values)
    add(static_cast<uint64_t>(value));
  for (uint8_t base : form.decoded.bases)
    add(base);
  return hash;
}

Stream::Stream(const isa::Isa &isa) : latest_(isa.instructions().size(), none) {
  for (const isa::Instruction &instruction : isa.instructions()) {
    memories_.emplace_back();
    for (size_t i = 0; i < instruction.operands.size(); ++i)
      if (instruction.operands[i].kind == isa::Operand::Kind::Memory)
        memories_.back().push_back(static_cast<uint8_t>(i));
  }
}

uint32_t Stream::numberOf(const StreamInstruction &form) {
  uint32_t &latest = latest_[static_cast<size_t>(form.decoded.instruction)];
  if (latest == none || !isSame(forms_[latest], form))
    latest = add(form);
  return latest;
}

// A form, if it is not known yet; its number.
uint32_t Stream::add(const StreamInstruction &form) {
  const uint64_t hash = hashOf(form);
  for (auto [at, end] = known_.equal_range(hash); at != end; ++at)
    if (isSame(forms_[at->second], form))
      return at->second;
  StreamInstruction shape = form;
  for (uint8_t operand : memoriesOf(form))
    shape.decoded.values[operand] = 0;
  for (uint8_t &base : shape.decoded.bases) {
    hasBases_ |= base != 0;
    base = 0;
  }
  // Most forms are shapes.
  const bool isShape = isSame(shape, form);
  const uint32_t of = isShape ? static_cast<uint32_t>(forms_.size()) : add(shape);
  const auto number = static_cast<uint32_t>(forms_.size());
  forms_.push_back(form);
  shapes_.push_back(of);
  known_.emplace(hash, number);
  return number;
}

const StreamInstruction Stream::operator[](size_t at) const {
  const Item &item = items_[at];
  StreamInstruction made = forms_[item.form];
  made.decoded.wait = item.wait;
  made.decoded.signal = item.signal;
  size_t next = item.addresses;
  for (uint8_t operand : memoriesOf(made))
    made.decoded.values[operand] |= addresses_[next++];
  return made;
}

void Stream::push_back(const StreamInstruction &instruction) {
  StreamInstruction form = instruction;
  form.decoded.wait = form.decoded.signal = 0;
  const auto first = static_cast<uint32_t>(addresses_.size());
  for (uint8_t operand : memoriesOf(form)) {
    int64_t &address = form.decoded.values[operand];
    addresses_.push_back(static_cast<uint32_t>(address & lowerHalf));
    address &= ~lowerHalf;
  }
  items_.push_back({numberOf(form), first, instruction.decoded.wait, instruction.decoded.signal});
}

void Stream::replace(size_t at, const StreamInstruction &instruction) {
  Item &item = items_[at];
  StreamInstruction form = instruction;
  form.decoded.wait = form.decoded.signal = 0;
  if (memoriesOf(form).size() != addressCount(at))
    throw std::logic_error("an instruction with other addresses in place of one");
  size_t next = item.addresses;
  for (uint8_t operand : memoriesOf(form)) {
    int64_t &address = form.decoded.values[operand];
    addresses_[next++] = static_cast<uint32_t>(address & lowerHalf);
    address &= ~lowerHalf;
  }
  item.form = numberOf(form);
  item.wait = instruction.decoded.wait;
  item.signal = instruction.decoded.signal;
}

} // namespace tilewright
