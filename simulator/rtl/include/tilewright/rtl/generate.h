// The RTL of a machine: hand-written templates and what is generated from the description.
#pragma once

#include "tilewright/isa/isa.h"

#include <string>
#include <vector>

namespace tilewright::rtl {

struct SourceFile {
  std::string name; // "tilewright_pkg.sv"
  std::string text;
  bool isCompiled = true; // false: included by others
  // First lines of a generated file: which description it is from, and where that lies. Machines
  // with the same text are the same hardware.
  std::string origin = {};
};

// All files, packages first, in the order in which a tool reads them; the module on top is
// `tilewright_top`. Throws UserError naming the instruction that the templates do not make, and
// why.
std::vector<SourceFile> generate(const isa::Isa &isa);

// Differs whenever `generate` could give another text for the same description.
std::string generatorVersion();

} // namespace tilewright::rtl
