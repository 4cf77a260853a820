// The registers by which a host drives a machine (isa/description/registers.yaml), and the texts
// that are written from them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::isa {

// By the names of OpenTitan's reggen. WriteOneSets: asks for something, and reads as 1 until that
// is done.
enum class RegisterAccess { ReadOnly, ReadWrite, ReadClears, WriteOneClears, WriteOneSets };
const char *nameOf(RegisterAccess access); // "rw1c"

// What a value of a field means.
struct RegisterValue {
  std::string name;
  std::string summary;
  uint64_t value = 0;
};

struct RegisterField {
  std::string name; // "value" where the register has no other
  std::string summary;
  int low = 0; // first bit
  int width = 1;
  RegisterAccess access = RegisterAccess::ReadOnly;
  bool isKeptWhileRunning = false;  // writes count only while no program runs
  std::optional<uint64_t> constant; // a read-only field of all machines
  std::vector<RegisterValue> values;
};

struct HostRegister {
  std::string name;
  std::string summary;
  int offset = 0; // in bytes
  int width = 32; // bits: 32, or 64 with one field; the low word is the first
  std::vector<RegisterField> fields;
  int words() const { return width / 32; }
};

constexpr int registerAddressBits = 12; // the block has 4096 bytes of addresses

struct RegisterMap {
  std::string summary;
  std::vector<HostRegister> registers; // by offset
  // Throws std::out_of_range for unknown names (our mistake).
  const HostRegister &find(const std::string &name) const;
};

// The package `tilewright_registers_pkg`: offsets, fields, and what the block and the machine tell
// each other.
std::string registersPackage(const RegisterMap &map);
// What the block `tilewright_registers` includes: its flip-flops, write strobes and read
// multiplexer.
std::string registersBlock(const RegisterMap &map);
// tilewright_registers.h, in C: offsets, masks, shifts, values.
std::string registersHeader(const RegisterMap &map);
// The manual's page.
std::string registersMarkdown(const RegisterMap &map);
std::string registersJson(const RegisterMap &map);

} // namespace tilewright::isa
