// The structure of expressions and instructions as text: equal text, equal meaning. The text
// identifies values within a kernel and kernels on disk.
#pragma once

#include "tilewright/isa/isa.h"

#include <string>
#include <unordered_map>

namespace tilewright::kernels {

// Everything that the generated code of `instruction` depends on, and nothing else: not its name,
// opcode or operand positions.
std::string structure(const isa::Instruction &instruction, const isa::Isa &isa);

// Numbers expressions so that two have the same number exactly when they have the same structure.
class Numbering {
public:
  int of(const isa::Expr &expr);

private:
  std::unordered_map<const isa::Expr *, int> byNode_;
  std::unordered_map<std::string, int> byText_;
};

} // namespace tilewright::kernels
