#include "tilewright/isa/roles.h"

#include "resolver.h"
#include "syntax.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::isa {

static RoleInfo named(const char *name) { return RoleInfo().named(name); }

const std::vector<RoleInfo> &roles() {
  static const std::vector<RoleInfo> rows = {
#define ISA_ROLE(enumerator, row) row,
#include "tilewright/isa/roles.def"
  };
  return rows;
}

std::string describe(const Isa &isa, Role role) {
  const std::string &shipped = isa.shippedWithRole(role);
  return fmt::format("instruction of role '{}'", infoOf(role).name) +
         (shipped.empty() ? "" : fmt::format(" ('{}' without overlays)", shipped));
}

static std::string describe(const RoleInfo::Need &need, const Machine &machine) {
  if (need.kind == Operand::Kind::Immediate)
    return fmt::format("an immediate '{}'", need.operand);
  return fmt::format("a memory operand '{}' of {} in {} with access \"{}\"", need.operand,
                     need.type, machine.memories[static_cast<size_t>(need.space)].name,
                     nameOf(need.access));
}

static bool serves(const Operand &operand, const RoleInfo::Need &need) {
  if (operand.name != need.operand || operand.kind != need.kind)
    return false;
  Type type;
  return need.kind == Operand::Kind::Immediate ||
         (operand.access == need.access && operand.space == need.space &&
          parseType(need.type, type) && operand.type == type);
}

Role resolveRole(const yaml::Node &node, const Instruction &instruction, const Machine &machine) {
  const auto info = std::find_if(roles().begin(), roles().end(),
                                 [&](const RoleInfo &each) { return each.name == node.text; });
  const Unit &unit = machine.units[static_cast<size_t>(instruction.unit)];
  if (unit.kind != info->unit)
    throw UserError(node.location(),
                    fmt::format("'{}' runs on a unit of template {}, and role '{}' is for {}",
                                instruction.name, nameOf(unit.kind), info->name,
                                nameOf(info->unit)),
                    "give the role to an instruction of such a unit");
  for (const RoleInfo::Need &need : info->needs)
    if (std::none_of(instruction.operands.begin(), instruction.operands.end(),
                     [&](const Operand &operand) { return serves(operand, need); }))
      throw UserError(node.location(),
                      fmt::format("role '{}' needs {}, which '{}' does not have", info->name,
                                  describe(need, machine), instruction.name),
                      "keep the operand, or take the role away");
  return static_cast<Role>(info - roles().begin());
}

} // namespace tilewright::isa
