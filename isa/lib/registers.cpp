// The register map: read, and checked to be one.
#include "tilewright/isa/registers.h"

#include "resolver.h"
#include "tilewright/isa/schema.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>
#include <regex>
#include <stdexcept>

namespace tilewright::isa {

namespace {

constexpr const char *fieldAccessNames[] = {"ro", "rw", "rc", "rw1c", "rw1s"};

using Kind = Schema::Kind;
constexpr bool required = true, optional = false;

const Schema text{Kind::Text};
const Schema number{Kind::Expression};
const Schema flag{Kind::Flag};
const Schema width{Kind::Choice, {}, nullptr, {"32", "64"}};
const Schema access{
    Kind::Choice, {}, nullptr, {std::begin(fieldAccessNames), std::end(fieldAccessNames)}};
const Schema value{Kind::Object,
                   {{"value", &number, required, "The number."},
                    {"summary", &text, required, "What it means, in a sentence."}}};
const Schema values{Kind::MapOf, {}, &value};
const Schema field{
    Kind::Object,
    {{"bits", &text, required, "Its bits: \"3\", or \"15:0\", the highest first."},
     {"access", &access, required,
      "What reading and writing do: ro, rw, rc (reading clears), rw1c (writing 1 clears), rw1s "
      "(writing 1 asks for it)."},
     {"idle", &flag, optional, "Whether writes count only while no program runs."},
     {"constant", &number, optional, "Of a read-only field: what it always reads as."},
     {"values", &values, optional, "What its values mean."},
     {"summary", &text, required, "What it says, in a sentence."}}};
const Schema fields{Kind::MapOf, {}, &field};
const Schema hostRegister{
    Kind::Object,
    {{"offset", &number, required, "Its address in bytes, within the block."},
     {"width", &width, optional, "Bits: 32 unless given, or 64 of one field, the low word first."},
     {"summary", &text, required, "What it is, in a sentence."},
     {"fields", &fields, required, "Its fields; one without a name of its own is `value`."}}};
const Schema hostRegisters{Kind::MapOf, {}, &hostRegister};

// The number of a text without names, at least 0 and below 2^bits.
uint64_t numberOf(const yaml::Node &node, int bits, const std::string &what) {
  const int64_t number = evaluateParams(node, lookupIn({}));
  if (number < 0 || (bits < 63 && number >= int64_t(1) << bits))
    throw UserError(node.location(),
                    fmt::format("{} is {}, which is no number of {} bits", what, number, bits));
  return static_cast<uint64_t>(number);
}

void requireName(const yaml::Node &key, const char *what) {
  if (!isIdentifier(key.text, false))
    throw UserError(key.location(),
                    fmt::format("the {} '{}' has no lowercase name", what, escape(key.text)));
}

RegisterField resolveField(const yaml::Node &key, const yaml::Node &node,
                           const HostRegister &owner) {
  requireName(key, "field");
  RegisterField made;
  made.name = key.text;
  made.summary = node.find("summary")->text;
  const yaml::Node &bits = *node.find("bits");
  static const std::regex range("([0-9]{1,2})(?::([0-9]{1,2}))?");
  std::smatch match;
  const bool isRange = std::regex_match(bits.text, match, range);
  const int high = isRange ? std::stoi(match[1]) : 0;
  made.low = isRange && match[2].matched ? std::stoi(match[2]) : high;
  made.width = high - made.low + 1;
  if (!isRange || made.width < 1 || high >= owner.width)
    throw UserError(
        bits.location(),
        fmt::format("'{}' are no bits of a register of {}", escape(bits.text), owner.width),
        "write \"3\", or \"15:0\"");
  made.access = enumeratorOf<RegisterAccess>(fieldAccessNames, node.find("access")->text);
  made.isKeptWhileRunning = node.find("idle") && node.find("idle")->flag();
  if (made.isKeptWhileRunning && made.access != RegisterAccess::ReadWrite)
    throw UserError(node.find("idle")->location(),
                    fmt::format("'{}' is not written, but has `idle`", made.name),
                    "take it away, or make the field \"rw\"");
  if (const yaml::Node *constant = node.find("constant")) {
    if (made.access != RegisterAccess::ReadOnly)
      throw UserError(constant->location(), fmt::format("'{}' is written, but constant", made.name),
                      "make the field \"ro\"");
    made.constant = numberOf(*constant, made.width, fmt::format("the constant '{}'", made.name));
  }
  if (const yaml::Node *values = node.find("values"))
    for (size_t i = 0; i < values->keys.size(); ++i) {
      requireName(values->keys[i], "value");
      const yaml::Node &item = values->items[i];
      RegisterValue value;
      value.name = values->keys[i].text;
      value.summary = item.find("summary")->text;
      value.value =
          numberOf(*item.find("value"), made.width, fmt::format("the value '{}'", value.name));
      for (const RegisterValue &other : made.values)
        if (other.value == value.value)
          throw UserError(item.find("value")->location(),
                          fmt::format("'{}' and '{}' are the same value", other.name, value.name));
      made.values.push_back(std::move(value));
    }
  return made;
}

HostRegister resolveRegister(const yaml::Node &key, const yaml::Node &node) {
  requireName(key, "register");
  HostRegister made;
  made.name = key.text;
  made.summary = node.find("summary")->text;
  if (const yaml::Node *width = node.find("width"))
    made.width = width->text == "64" ? 64 : 32;
  const yaml::Node &offset = *node.find("offset");
  made.offset = static_cast<int>(
      numberOf(offset, registerAddressBits, fmt::format("the offset of '{}'", made.name)));
  if (made.offset % (made.width / 8) != 0)
    throw UserError(offset.location(), fmt::format("the offset {:#x} of '{}' is no multiple of {}",
                                                   made.offset, made.name, made.width / 8));
  const yaml::Node &fields = *node.find("fields");
  if (fields.keys.empty() || (made.width == 64 && fields.keys.size() != 1))
    throw UserError(
        fields.location(),
        fmt::format("'{}' of {} bits has {} fields", made.name, made.width, fields.keys.size()),
        "give it one; a register of 32 bits may have more");
  uint64_t taken = 0;
  for (size_t i = 0; i < fields.keys.size(); ++i) {
    made.fields.push_back(resolveField(fields.keys[i], fields.items[i], made));
    const RegisterField &own = made.fields.back();
    const uint64_t mask = (own.width == 64 ? ~uint64_t(0) : (uint64_t(1) << own.width) - 1)
                          << own.low;
    if ((taken & mask) != 0)
      throw UserError(fields.items[i].find("bits")->location(),
                      fmt::format("bits of '{}' belong to a field before it", own.name));
    taken |= mask;
  }
  return made;
}

} // namespace

extern const Schema registersFile;
const Schema registersFile{Kind::Object,
                           {{"schema", &text, required, "\"tilewright/registers/1\"."},
                            {"summary", &text, required, "What they are, in a sentence."},
                            {"registers", &hostRegisters, required, "The registers, by name."}}};

const char *nameOf(RegisterAccess access) { return fieldAccessNames[static_cast<size_t>(access)]; }

const HostRegister &RegisterMap::find(const std::string &name) const {
  for (const HostRegister &each : registers)
    if (each.name == name)
      return each;
  throw std::out_of_range("there is no register " + name);
}

RegisterMap resolveRegisters(const yaml::Node &file) {
  RegisterMap map;
  map.summary = file.find("summary")->text;
  const yaml::Node &registers = *file.find("registers");
  std::array<const yaml::Node *, size_t(1) << (registerAddressBits - 2)> owners{}; // by word
  for (size_t i = 0; i < registers.keys.size(); ++i) {
    const yaml::Node &key = registers.keys[i], &node = registers.items[i];
    map.registers.push_back(resolveRegister(key, node));
    const HostRegister &own = map.registers.back();
    for (int word = 0; word < own.words(); ++word) {
      const yaml::Node *&owner =
          owners[static_cast<size_t>(own.offset) / 4 + static_cast<size_t>(word)];
      if (owner)
        throw UserError(node.find("offset")->location(),
                        fmt::format("'{}' and '{}' have the same address {:#x}", owner->text,
                                    own.name, own.offset + 4 * word));
      owner = &key;
    }
  }
  std::sort(map.registers.begin(), map.registers.end(),
            [](const auto &a, const auto &b) { return a.offset < b.offset; });
  return map;
}

} // namespace tilewright::isa
