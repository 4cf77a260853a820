// Texts that are written from the description: the manual, the schemas for editors, and what two
// descriptions differ in.
#pragma once

#include "tilewright/isa/isa.h"

#include <string>
#include <vector>

namespace tilewright::isa {

struct Document {
  std::string name; // of its file: "vadd.md"
  std::string text;
};

// The manual in Markdown: index.md (the machine and all instructions), registers.md (those by which
// a host drives it) and one page an instruction, with an example that is executed as the page is
// written.
std::vector<Document> manual(const Isa &isa);
std::string manualIndex(const Isa &isa);
std::string manualPage(const Isa &isa, const Instruction &instruction);

// One JSON schema a kind of file: machine.json, instruction.json, timing.json, dram.json,
// target.json, overlay.json, registers.json.
std::vector<Document> jsonSchemas();

// The facts in which two resolved descriptions differ, timing included, "-" before those of `from`
// and "+" before those of `to`; "" when there are none.
std::string differences(const Isa &from, const Isa &to);

// Names of the targets that are shipped, sorted.
std::vector<std::string> shippedTargets(const LoadOptions &options);
// Names of the DRAM presets that are shipped, sorted.
std::vector<std::string> shippedDrams(const LoadOptions &options);

} // namespace tilewright::isa
