// What the compiler uses instructions for where semantics alone do not say so: the key `role` of an
// instruction's file. Names are free; at most one instruction has a role.
#pragma once

#include "tilewright/isa/isa.h"

#include <initializer_list>
#include <string>
#include <vector>

namespace tilewright::isa {

// A row of roles.def. Members of the second half set those of the first, for rows to read as text.
struct RoleInfo {
  // What the compiler's templates ask an instruction's operands for, by name; more immediates may
  // stand beside them, which its semantics do not use, and are 0.
  struct Need {
    const char *operand;
    Operand::Kind kind = Operand::Kind::Immediate;
    Access access = Access::Read; // these three of memory operands
    Space space = Space::Spad;
    const char *type = "";
  };
  const char *name = "";    // in YAML
  const char *meaning = ""; // a sentence
  UnitTemplate unit = UnitTemplate::Vector;
  std::vector<Need> needs;

  RoleInfo &named(const char *is) { return name = is, *this; }
  RoleInfo &on(UnitTemplate is) { return unit = is, *this; }
  RoleInfo &reads(const char *operand, Space space, const char *type) {
    return memory(operand, Access::Read, space, type);
  }
  RoleInfo &writes(const char *operand, Space space, const char *type) {
    return memory(operand, Access::Write, space, type);
  }
  RoleInfo &updates(const char *operand, Space space, const char *type) {
    return memory(operand, Access::Update, space, type);
  }
  RoleInfo &takes(std::initializer_list<const char *> immediates) {
    for (const char *operand : immediates)
      needs.push_back({operand});
    return *this;
  }
  RoleInfo &means(const char *sentence) { return meaning = sentence, *this; }

private:
  RoleInfo &memory(const char *operand, Access access, Space space, const char *type) {
    needs.push_back({operand, Operand::Kind::Memory, access, space, type});
    return *this;
  }
};

const std::vector<RoleInfo> &roles(); // by Role
inline const RoleInfo &infoOf(Role role) { return roles()[static_cast<size_t>(role)]; }

// For messages: "instruction of role 'max_pool' ('vmaxpool' without overlays)".
std::string describe(const Isa &isa, Role role);

} // namespace tilewright::isa
