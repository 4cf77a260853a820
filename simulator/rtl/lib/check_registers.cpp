// The templates connect the fields of the register map by name: those of the description have to be
// the ones that the templates know.
#include "templates.h"
#include "writer.h"

#include "tilewright/support/error.h"

#include <cctype>
#include <fmt/format.h>
#include <set>

namespace tilewright::rtl {

namespace {

using Names = std::set<std::string>;

bool isPartOfName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// What stands right behind `prefix`, wherever that begins a name.
void addNamesBehind(const std::string &prefix, const std::string &text, Names &names) {
  for (size_t at = 0; (at = text.find(prefix, at)) != std::string::npos;) {
    const bool begins = at == 0 || !isPartOfName(text[at - 1]);
    const size_t begin = at += prefix.size();
    while (at < text.size() && isPartOfName(text[at]))
      ++at;
    if (begins && at != begin)
      names.insert(text.substr(begin, at - begin));
  }
}

// The members of the structures of a package: lines of `logic`, which end with the name and a
// semicolon before their comment.
Names membersIn(const std::string &package) {
  Names names;
  const std::string start = "\n    logic ";
  for (size_t at = 0; (at = package.find(start, at)) != std::string::npos;) {
    at = package.find(';', at);
    const size_t begin = package.rfind(' ', at) + 1;
    names.insert(package.substr(begin, at - begin));
  }
  return names;
}

[[noreturn]] void fail(const std::string &message) {
  throw UserError({"", 0, 0, "the RTL"}, message,
                  "take the register map that is shipped, isa/description/registers.yaml");
}

} // namespace

void checkRegisters(const isa::Isa &isa) {
  const std::string cause = "TrapCause", package = isa::registersPackage(isa.registers());
  Names connected, usedCauses, causes;
  for (const Template &file : templates()) {
    addNamesBehind(cause, file.text, usedCauses);
    if (file.name == "tilewright_top.sv")
      for (const char *side : {"machine.", "host."})
        addNamesBehind(side, file.text, connected);
  }
  addNamesBehind(cause, package, causes);
  const Names fields = membersIn(package);
  for (const std::string &name : usedCauses)
    if (causes.count(name) == 0)
      fail(fmt::format("the registers lack the trap cause {}", name));
  for (const std::string &name : connected)
    if (fields.count(name) == 0)
      fail(fmt::format("the registers lack the field {}", name));
  for (const std::string &name : fields)
    if (connected.count(name) == 0)
      fail(fmt::format("nothing serves the register field {}", name));
}

} // namespace tilewright::rtl
