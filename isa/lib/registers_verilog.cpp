// The register map in SystemVerilog: a package, and the inside of the register block. A field `f`
// of the register `r` is `r_f`; `r` alone where the field is `value`.
#include "tilewright/isa/registers.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace tilewright::isa {

namespace {

using Access = RegisterAccess;

std::string memberOf(const HostRegister &owner, const RegisterField &field) {
  return field.name == "value" ? owner.name : owner.name + "_" + field.name;
}

// "CodeAddress"
std::string camel(const std::string &name) {
  std::string made;
  bool starts = true;
  for (char c : name) {
    if (c == '_')
      starts = true;
    else {
      made += starts ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
      starts = false;
    }
  }
  return made;
}

std::string typeOf(const RegisterField &field) {
  return field.width == 1 ? "logic" : fmt::format("logic [{}:0]", field.width - 1);
}

std::string wordOf(const HostRegister &owner, int word) {
  const char *half = owner.words() == 1 ? "" : word == 0 ? "Low" : "High";
  return camel(owner.name) + half + "Word";
}

// Whether the block keeps the field in flip-flops of its own.
bool isKept(const RegisterField &field) {
  return field.access == Access::ReadWrite || field.access == Access::ReadClears ||
         field.access == Access::WriteOneClears;
}

// The bits of a field that are in a word: [low, low + width) of the field, at bit `at` of the word.
struct Slice {
  int low = 0, width = 0, at = 0;
};
Slice sliceOf(const RegisterField &field, int word) {
  const int begin = std::max(field.low, 32 * word);
  const int end = std::min(field.low + field.width, 32 * word + 32);
  return {begin - field.low, std::max(end - begin, 0), begin - 32 * word};
}
std::string select(const std::string &name, int low, int width, int all) {
  if (width == all)
    return name;
  return width == 1 ? fmt::format("{}[{}]", name, low)
                    : fmt::format("{}[{}:{}]", name, low + width - 1, low);
}

// The next state of a field that is kept.
std::string nextState(const HostRegister &owner, const RegisterField &field) {
  const std::string name = memberOf(owner, field);
  std::string text = fmt::format("    {0}_d = {0}_q;\n", name);
  for (int word = 0; word < owner.words(); ++word) {
    const Slice slice = sliceOf(field, word);
    if (slice.width == 0)
      continue;
    const std::string next = select(name + "_d", slice.low, slice.width, field.width);
    const std::string now = select(name + "_q", slice.low, slice.width, field.width);
    const std::string data = select("write_data", slice.at, slice.width, 32);
    const std::string mask = select("write_mask", slice.at, slice.width, 32);
    const std::string at = wordOf(owner, word);
    if (field.access == Access::ReadWrite)
      text +=
          fmt::format("    if (write && write_word == {}{}) {} = ({} & ~{}) | ({} & {});\n", at,
                      field.isKeptWhileRunning ? " && idle_i" : "", next, now, mask, data, mask);
    else if (field.access == Access::WriteOneClears)
      text += fmt::format("    if (write && write_word == {}) {} = {} & ~({} & {});\n", at, next,
                          now, data, mask);
    else
      text += fmt::format("    if (read && read_word == {}) {} = '0;\n", at, next);
  }
  if (field.access != Access::ReadWrite)
    text += fmt::format("    {0}_d = {0}_d | machine_i.{0}_set;\n", name);
  return text;
}

std::string readValue(const HostRegister &owner, const RegisterField &field) {
  const std::string name = memberOf(owner, field);
  if (field.constant)
    return camel(name) + "Value";
  return isKept(field) ? name + "_q" : "machine_i." + name;
}

// "  typedef enum ... trap_cause_e;"
std::string enumeration(const std::string &name, const RegisterField &field) {
  std::string values;
  for (const RegisterValue &value : field.values)
    values +=
        fmt::format("    {}{} = {}'d{}{} // {}\n", camel(name), camel(value.name), field.width,
                    value.value, &value == &field.values.back() ? "" : ",", value.summary);
  return fmt::format("  typedef enum {} {{\n{}  }} {}_e;\n", typeOf(field), values, name);
}

} // namespace

std::string registersPackage(const RegisterMap &map) {
  std::string text = fmt::format(
      "// {}\npackage tilewright_registers_pkg;\n"
      "  parameter int RegisterAddressBits = {};\n"
      "  typedef logic [RegisterAddressBits-3:0] register_word_t; // number of a word of 32 bits\n",
      map.summary, registerAddressBits);
  std::string toHost, fromHost;
  auto member = [](std::string &to, const std::string &type, const std::string &name,
                   const std::string &comment) {
    to += fmt::format("    {} {}; // {}\n", type, name, comment);
  };
  for (const HostRegister &each : map.registers) {
    text += fmt::format("\n  // {}: {}\n", each.name, each.summary);
    for (int word = 0; word < each.words(); ++word)
      text += fmt::format("  parameter register_word_t {} = {}'h{:x};\n", wordOf(each, word),
                          registerAddressBits - 2, each.offset / 4 + word);
    for (const RegisterField &field : each.fields) {
      const std::string name = memberOf(each, field);
      if (field.constant)
        text += fmt::format("  parameter logic [{}:0] {}Value = {}'h{:x};\n", field.width - 1,
                            camel(name), field.width, *field.constant);
      if (!field.values.empty())
        text += enumeration(name, field);
      if (field.access == Access::ReadOnly || field.access == Access::WriteOneSets) {
        if (!field.constant)
          member(toHost, typeOf(field), name, field.summary);
      } else if (field.access != Access::ReadWrite) {
        member(toHost, typeOf(field), name + "_set", "Sets it: " + field.summary);
      }
      if (field.access == Access::WriteOneSets)
        member(fromHost, typeOf(field), name, "The host asks for it, in this cycle.");
      else if (field.access == Access::ReadWrite || field.access == Access::WriteOneClears)
        member(fromHost, typeOf(field), name, field.summary);
    }
  }
  return text + "\n  // What the machine tells the block.\n  typedef struct packed {\n" + toHost +
         "  } to_host_t;\n\n  // What the block tells the machine.\n  typedef struct packed {\n" +
         fromHost + "  } from_host_t;\nendpackage\n";
}

std::string registersBlock(const RegisterMap &map) {
  std::string text = "// Of the block around it: write, write_word, write_data, write_mask, "
                     "read, read_word, idle_i, machine_i.\n";
  std::string outputs, known, reads;
  for (const HostRegister &each : map.registers) {
    std::string flops, next, resets, updates;
    for (const RegisterField &field : each.fields) {
      const std::string name = memberOf(each, field);
      if (isKept(field)) {
        flops += fmt::format("  {0} {1}_d, {1}_q;\n", typeOf(field), name);
        next += nextState(each, field);
        resets += fmt::format("      {}_q <= '0;\n", name);
        updates += fmt::format("      {0}_q <= {0}_d;\n", name);
      }
      if (field.access == Access::WriteOneSets) {
        const Slice slice = sliceOf(field, 0);
        outputs += fmt::format("    host_o.{} = write && write_word == {} ? {} & {} : '0;\n", name,
                               wordOf(each, 0), select("write_data", slice.at, slice.width, 32),
                               select("write_mask", slice.at, slice.width, 32));
      } else if (field.access == Access::ReadWrite || field.access == Access::WriteOneClears) {
        outputs += fmt::format("    host_o.{0} = {0}_q;\n", name);
      }
    }
    if (!flops.empty())
      text += fmt::format("\n  // {0}: {1}\n{2}  always_comb begin : {0}_next\n{3}  end\n"
                          "  always_ff @(posedge clk_i) begin : {0}_state\n"
                          "    if (!rst_ni) begin\n{4}    end else begin\n{5}    end\n  end\n",
                          each.name, each.summary, flops, next, resets, updates);
    for (int word = 0; word < each.words(); ++word) {
      known += (known.empty() ? "" : ", ") + wordOf(each, word);
      reads += fmt::format("      {}: begin\n", wordOf(each, word));
      for (const RegisterField &field : each.fields) {
        const Slice slice = sliceOf(field, word);
        if (slice.width == 0)
          continue;
        reads += fmt::format("        {} = {};\n", select("read_data", slice.at, slice.width, 32),
                             select(readValue(each, field), slice.low, slice.width, field.width));
      }
      reads += "      end\n";
    }
  }
  text += "\n  always_comb begin : to_machine\n    host_o = '0;\n" + outputs + "  end\n";
  text += "\n  // The word that is read; false where there is no register.\n"
          "  logic [31:0] read_data;\n  logic read_known;\n"
          "  always_comb begin : read_word_data\n"
          "    read_data = '0;\n    read_known = 1'b1;\n    unique case (read_word)\n" +
          reads + "      default: read_known = 1'b0;\n    endcase\n  end\n";
  text += "\n  // Whether there is a register to write.\n  logic write_known;\n"
          "  always_comb begin : written_word\n    unique case (write_word)\n      " +
          known + ": write_known = 1'b1;\n      default: write_known = 1'b0;\n    endcase\n  end\n";
  return text;
}

} // namespace tilewright::isa
