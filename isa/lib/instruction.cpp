// One instruction: its fields and constraints. What it does is in semantics.cpp.
#include "resolver.h"
#include "tilewright/isa/schema.h"
#include "type.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::isa {

namespace {

class InstructionResolver {
public:
  InstructionResolver(const yaml::Node &file, const Machine &machine)
      : file_(file), machine_(machine) {}

  Instruction run() {
    const yaml::Node &name = *file_.find("name");
    if (!isIdentifier(name.text, true))
      throw UserError(name.location(), fmt::format("'{}' is not a mnemonic", escape(name.text)),
                      "lowercase letters, digits and '_', in words joined by '.'");
    made_.name = name.text;
    made_.summary = file_.find("summary")->text;
    made_.file = name.file ? *name.file : "";
    unit();
    header();
    if (const yaml::Node *operands = file_.find("operands"))
      for (size_t i = 0; i < operands->keys.size(); ++i)
        operand(operands->keys[i], operands->items[i]);
    made_.usedBits = bit_;
    ExprPool pool;
    requires_(pool);
    resolveSemantics(*file_.find("semantics"), made_, machine_, pool);
    if (const yaml::Node *role = file_.find("role"))
      made_.role = resolveRole(*role, made_, machine_);
    return std::move(made_);
  }

private:
  void unit() {
    const yaml::Node &name = *file_.find("unit");
    std::vector<std::string> names;
    for (const Unit &unit : machine_.units) {
      if (unit.name == name.text)
        made_.unit = unit.index;
      names.push_back(unit.name);
    }
    if (std::find(names.begin(), names.end(), name.text) == names.end())
      throw UserError(name.location(), fmt::format("there is no unit '{}'", name.text),
                      fmt::format("the units are {}", fmt::join(names, ", ")));
    const yaml::Node *format = file_.find("format");
    made_.format = format ? format->text : "unit";
    bool control = made_.format == "control";
    if (control != (made_.unit == 0))
      throw UserError((format ? *format : name).location(),
                      control ? "format \"control\" is for instructions of the sequencer"
                              : "instructions of the sequencer have format \"control\"");
  }

  void header() {
    const Format &format = machine_.formats.at(made_.format);
    made_.op = format.op;
    made_.wait = format.wait;
    made_.signal = format.signal;
    bit_ = format.bits;
    bits_ = static_cast<int>(8 * lookupIn(machine_.params)("instruction_bytes", file_.location()));
    const yaml::Node &op = *file_.find("encode")->find("op");
    if (bit_ > bits_)
      throw UserError(op.location(),
                      fmt::format("opcode and masks take {} bits of {}", bit_, bits_),
                      "make semaphores fewer, or instruction_bytes larger");
    int64_t code = evaluateParams(op, lookupIn({}));
    if (code < 0 || code >= int64_t(1) << made_.op.width)
      throw UserError(op.location(), fmt::format("the opcode {:#x} does not fit in {} bits", code,
                                                 made_.op.width));
    made_.opcode = static_cast<int>(code);
  }

  void operand(const yaml::Node &key, const yaml::Node &node) {
    Operand operand;
    operand.name = key.text;
    operand.index = static_cast<int>(made_.operands.size());
    requireWithin(limits::operands, operand.index + 1, key.location(), "the number of operands");
    if (!isIdentifier(key.text, false))
      throw UserError(key.location(),
                      fmt::format("'{}' is not a lowercase name", escape(key.text)));
    checkName(key, "operand");
    bool memory = node.find("kind")->text == "mem";
    operand.kind = memory ? Operand::Kind::Memory : Operand::Kind::Immediate;
    for (const char *only : {"space", "access"})
      if (memory != (node.find(only) != nullptr))
        throw UserError(
            node.location(),
            memory ? fmt::format("key '{}' is missing in the memory operand '{}'", only, key.text)
                   : fmt::format("the immediate '{}' has no '{}'", key.text, only));
    if (memory)
      memoryOperand(node, operand);
    else
      immediate(*node.find("type"), operand);
    operand.low = bit_;
    bit_ += operand.width;
    if (bit_ > bits_)
      throw UserError(key.location(),
                      fmt::format("operand '{}' ends at bit {}, {} bits past the last of {} bits",
                                  key.text, bit_ - 1, bit_ - bits_, bits_),
                      "make operands narrower, memories smaller, semaphores fewer, or "
                      "instruction_bytes larger");
    made_.operands.push_back(std::move(operand));
  }

  static bool isElement(const Type &type, bool isMoved) {
    if (isMoved)
      return type.bits % 8 == 0 && type.bits <= 64;
    return type.bits == 8 || type.bits == 16 || type == Type{true, 32};
  }

  void memoryOperand(const yaml::Node &node, Operand &operand) {
    const yaml::Node &space = *node.find("space");
    auto memory = std::find_if(machine_.memories.begin(), machine_.memories.end(),
                               [&](const Memory &m) { return m.name == space.text; });
    if (memory == machine_.memories.end())
      throw UserError(space.location(), fmt::format("there is no memory '{}'", space.text),
                      "the memories are dram, spad and acc");
    if (made_.unit == 0)
      throw UserError(node.location(), "the sequencer has no memory operands");
    operand.space = memory->space;
    operand.access = enumeratorOf<Access>(accessNames, node.find("access")->text);
    const yaml::Node &type = *node.find("type");
    const UnitTemplate kind = machine_.units[static_cast<size_t>(made_.unit)].kind;
    const bool isMoved = kind == UnitTemplate::DmaLoad || kind == UnitTemplate::DmaStore;
    if (!parseType(type.text, operand.type) || !isElement(operand.type, isMoved))
      throw UserError(type.location(),
                      fmt::format("'{}' is not a type of memory elements", escape(type.text)),
                      isMoved ? "DMA units move whole bytes, up to 64 bits"
                              : "they are i8, u8, i16, u16 and i32");
    if (memory->addressBytes > 1 && operand.type != Type{true, 8 * memory->addressBytes})
      throw UserError(type.location(), fmt::format("elements of {} are i32, not {}", memory->name,
                                                   operand.type.str()));
    operand.baseLow = bit_;
    operand.baseWidth =
        clog2(static_cast<uint64_t>(lookupIn(machine_.params)("base_registers", node.location())));
    bit_ += operand.baseWidth;
    operand.width = std::max(1, clog2(memory->addresses()));
    operand.greatest = (int64_t(1) << operand.width) - 1;
  }

  // A type, or index<param> (0 to param - 1), count<param> (0 to param), register.
  void immediate(const yaml::Node &node, Operand &operand) {
    const std::string &text = node.text;
    if (parseType(text, operand.type)) {
      requireWithin(limits::immediateBits, operand.type.bits, node.location(),
                    "the width of an immediate");
      operand.width = operand.type.bits;
      operand.least = static_cast<int64_t>(operand.type.least());
      operand.greatest = static_cast<int64_t>(operand.type.greatest());
      return;
    }
    bool index = text.rfind("index<", 0) == 0, count = text.rfind("count<", 0) == 0;
    if (text == "register") {
      size_t registers = machine_.units[static_cast<size_t>(made_.unit)].registers.size();
      if (registers == 0)
        throw UserError(node.location(), "the unit has no scalar registers");
      operand.isRegister = true;
      operand.greatest = static_cast<int64_t>(registers) - 1;
      operand.width = std::max(5, clog2(registers));
    } else if ((index || count) && text.back() == '>') {
      std::string param = text.substr(6, text.size() - 7);
      int64_t value = lookupIn(machine_.params)(param, node.location(6));
      operand.greatest = index ? value - 1 : value;
      operand.isBaseRegister = index && param == "base_registers";
      if (operand.greatest < 1 || operand.greatest >= int64_t(1) << limits::immediateBits.greatest)
        throw UserError(node.location(),
                        fmt::format("{} leaves no bits: {} is {}", escape(text), param, value));
      operand.width = clog2(static_cast<uint64_t>(operand.greatest) + 1);
    } else {
      throw UserError(node.location(),
                      fmt::format("'{}' is not a type of immediates", escape(text)),
                      "they are i1 to i48, u1 to u48, index<param>, count<param> and register");
    }
    operand.type = Type{false, operand.width};
  }

  // One name means one thing within an instruction.
  void checkName(const yaml::Node &key, const char *what) {
    const std::string &name = key.text;
    if (machine_.params.count(name))
      throw UserError(key.location(),
                      fmt::format("the {} '{}' has the name of a param", what, name));
    const Unit &unit = machine_.units[static_cast<size_t>(made_.unit)];
    auto named = [&](const auto &item) { return item.name == name; };
    if (std::any_of(unit.registers.begin(), unit.registers.end(), named) ||
        std::any_of(unit.arrays.begin(), unit.arrays.end(), named))
      throw UserError(key.location(),
                      fmt::format("the {} '{}' has the name of a register of unit '{}'", what, name,
                                  unit.name));
    if (name == "result" || name == "x" || name == "in" || name == "wait" || name == "signal")
      throw UserError(key.location(),
                      fmt::format("the {} '{}' has a name with a meaning of its own", what, name));
  }

  void requires_(ExprPool &pool) {
    const yaml::Node *nodes = file_.find("require");
    if (!nodes)
      return;
    Scope scope;
    scope.params = &machine_.params;
    scope.functions = &machine_.functions;
    scope.instruction = &made_;
    for (size_t i = 0; i < nodes->keys.size(); ++i) {
      const yaml::Node &scalar = nodes->items[i];
      Require require{nodes->keys[i].text, scalar.text, ExprBuilder(pool, scope).build(scalar)};
      if (require.label != fmt::format("C{}", i + 1))
        throw UserError(nodes->keys[i].location(),
                        fmt::format("constraint {} is labeled '{}'", i + 1, escape(require.label)),
                        fmt::format("label it C{}", i + 1));
      if (require.expr->type != Type{false, 1})
        throw UserError(scalar.location(),
                        fmt::format("the constraint is a {}, not a u1", require.expr->type.str()),
                        "compare with something");
      if (require.expr->kind == ExprKind::Literal && require.expr->value == 0)
        throw UserError(scalar.location(), "the constraint never holds");
      made_.requires_.push_back(std::move(require));
    }
  }

  const yaml::Node &file_;
  const Machine &machine_;
  Instruction made_;
  int bit_ = 0;  // where the next field starts
  int bits_ = 0; // of an instruction
};

} // namespace

Instruction resolveInstruction(const yaml::Node &file, const Machine &machine) {
  return InstructionResolver(file, machine).run();
}

int Instruction::operandIndex(std::string_view operand) const {
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i].name == operand)
      return static_cast<int>(i);
  return -1;
}

} // namespace tilewright::isa
