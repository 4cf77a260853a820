#include "tilewright/isa/assembler.h"

#include "tilewright/support/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace tilewright::isa {

namespace {

constexpr size_t maximumInstructions = size_t(1) << 21; // 400 MB while they are read

bool isWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

// A name or a number, where it stands.
struct Lexeme {
  std::string_view text;
  int column = 0;
};

// A label used before its place is known.
struct Fixup {
  size_t instruction;
  int operand;
  std::string label;
  SourceLocation location;
};

class Assembler {
public:
  Assembler(const Isa &isa, std::string_view text, const std::string &file)
      : isa_(isa), text_(text), file_(file) {}

  std::vector<DecodedInstruction> run() {
    for (size_t begin = 0; begin <= text_.size(); ++line_) {
      size_t end = std::min(text_.find('\n', begin), text_.size());
      rest_ = lineStart_ = text_.substr(begin, end - begin);
      rest_ = rest_.substr(0, rest_.find(';'));
      line();
      begin = end + 1;
    }
    for (const Fixup &fixup : fixups_)
      resolve(fixup);
    for (size_t i = 0; i < instructions_.size(); ++i)
      check(instructions_[i], locations_[i]);
    return std::move(instructions_);
  }

private:
  void line() {
    skipSpace();
    if (rest_.empty())
      return;
    Lexeme first = word("a mnemonic or a label");
    skipSpace();
    if (accept(':')) {
      label(first);
      skipSpace();
      if (rest_.empty())
        return;
      first = word("a mnemonic");
      skipSpace();
    }
    const Instruction *instruction = isa_.find(first.text);
    if (!instruction) {
      std::vector<std::string> names;
      for (const Instruction &candidate : isa_.instructions())
        names.push_back(candidate.name);
      std::string near = nearest(first.text, names);
      throw UserError(at(first.column), fmt::format("unknown mnemonic '{}'", escape(first.text)),
                      near.empty() ? "" : fmt::format("did you mean '{}'?", near));
    }
    if (instructions_.size() == maximumInstructions)
      throw UserError(at(first.column),
                      fmt::format("more than {} instructions", maximumInstructions));
    DecodedInstruction made;
    made.instruction = instruction->index;
    made.values.assign(instruction->operands.size(), 0);
    made.bases.assign(instruction->operands.size(), 0);
    operands(*instruction, made, first);
    masks(made);
    if (!rest_.empty())
      throw UserError(at(column()), fmt::format("unexpected '{}'", escape(rest_, 20)));
    locations_.push_back(at(first.column));
    instructions_.push_back(std::move(made));
  }

  void label(const Lexeme &name) {
    bool digit = name.text[0] >= '0' && name.text[0] <= '9';
    if (digit)
      throw UserError(at(name.column),
                      fmt::format("the label '{}' starts with a digit", escape(name.text)));
    auto [it, fresh] =
        labels_.emplace(std::string(name.text), std::pair(instructions_.size(), line_));
    if (!fresh)
      throw UserError(at(name.column), fmt::format("the label '{}' stands twice, first on line {}",
                                                   escape(name.text), it->second.second));
  }

  void operands(const Instruction &instruction, DecodedInstruction &made, const Lexeme &mnemonic) {
    std::vector<bool> given(instruction.operands.size(), false);
    bool more = !rest_.empty() && rest_[0] != '!';
    while (more) {
      Lexeme name = word("an operand");
      int index = instruction.operandIndex(name.text);
      if (index < 0) {
        std::vector<std::string> names;
        for (const Operand &candidate : instruction.operands)
          names.push_back(candidate.name);
        throw UserError(
            at(name.column),
            fmt::format("'{}' has no operand '{}'", instruction.name, escape(name.text)),
            names.empty() ? "it has none" : fmt::format("it has {}", fmt::join(names, ", ")));
      }
      if (given[static_cast<size_t>(index)])
        throw UserError(at(name.column), fmt::format("the operand '{}' is given twice", name.text));
      given[static_cast<size_t>(index)] = true;
      skipSpace();
      expect('=', fmt::format("after '{}'", name.text));
      skipSpace();
      value(instruction, instruction.operands[static_cast<size_t>(index)], made);
      skipSpace();
      more = accept(',');
      skipSpace();
    }
    for (size_t i = 0; i < given.size(); ++i)
      if (!given[i])
        throw UserError(at(mnemonic.column),
                        fmt::format("the operand '{}' of '{}' is missing",
                                    instruction.operands[i].name, instruction.name));
  }

  void value(const Instruction &instruction, const Operand &operand, DecodedInstruction &made) {
    int start = column();
    bool negative = accept('-');
    Lexeme text = word(fmt::format("the value of '{}'", operand.name));
    auto index = static_cast<size_t>(operand.index);
    int64_t &value = made.values[index];
    if (std::optional<int64_t> parsed = number(text)) {
      value = negative ? -*parsed : *parsed;
    } else if (!negative && symbol(instruction, operand, text, made)) {
      return;
    } else {
      throw UserError(at(start),
                      fmt::format("'{}' is no value of '{}'", escape(text.text), operand.name),
                      operand.isRegister ? "it is a register's name or number" : "it is a number");
    }
    if (operand.kind == Operand::Kind::Memory && accept('+'))
      made.bases[index] = base(word("a base register"));
    if (value < operand.least || value > operand.greatest)
      throw UserError(at(start), fmt::format("'{}' is {}, not within {}..{}", operand.name, value,
                                             operand.least, operand.greatest));
  }

  // A register's name, a base register, or a label.
  bool symbol(const Instruction &instruction, const Operand &operand, const Lexeme &text,
              DecodedInstruction &made) {
    int64_t &value = made.values[static_cast<size_t>(operand.index)];
    if (operand.isRegister) {
      const auto &registers = isa_.units()[static_cast<size_t>(instruction.unit)].registers;
      for (const StateRegister &reg : registers)
        if (reg.name == text.text) {
          value = reg.index;
          return true;
        }
      std::vector<std::string> names;
      for (const StateRegister &reg : registers)
        names.push_back(reg.name);
      std::string near = nearest(text.text, names);
      throw UserError(at(text.column),
                      fmt::format("unit '{}' has no scalar register '{}'",
                                  isa_.units()[static_cast<size_t>(instruction.unit)].name,
                                  escape(text.text)),
                      near.empty() ? "" : fmt::format("did you mean '{}'?", near));
    }
    if (operand.isBaseRegister) {
      value = base(text);
      return true;
    }
    bool branch = instruction.control == Control::Branch && operand.name == "offset";
    bool loop = instruction.control == Control::Loop && operand.name == "length";
    if (branch || loop)
      fixups_.push_back(
          {instructions_.size(), operand.index, std::string(text.text), at(text.column)});
    return branch || loop;
  }

  uint8_t base(const Lexeme &text) {
    int64_t count = isa_.param("base_registers");
    std::optional<int64_t> number =
        text.text[0] == 'x' ? this->number({text.text.substr(1), text.column}) : std::nullopt;
    if (!number || *number >= count)
      throw UserError(at(text.column), fmt::format("'{}' is no base register", escape(text.text)),
                      fmt::format("they are x0 to x{}", count - 1));
    return static_cast<uint8_t>(*number);
  }

  void masks(DecodedInstruction &made) {
    skipSpace();
    bool given[2] = {false, false};
    while (accept('!')) {
      Lexeme name = word("'wait' or 'signal'");
      bool wait = name.text == "wait";
      if (!wait && name.text != "signal")
        throw UserError(at(name.column),
                        fmt::format("'!{}' is neither '!wait' nor '!signal'", escape(name.text)));
      if (given[wait])
        throw UserError(at(name.column), fmt::format("'!{}' is given twice", name.text));
      given[wait] = true;
      expect('=', fmt::format("after '!{}'", name.text));
      do {
        Lexeme text = word("a semaphore's number");
        std::optional<int64_t> semaphore = number(text);
        if (!semaphore || *semaphore >= isa_.semaphores())
          throw UserError(at(text.column), fmt::format("'{}' is no semaphore", escape(text.text)),
                          fmt::format("they are 0 to {}", isa_.semaphores() - 1));
        uint32_t &mask = wait ? made.wait : made.signal;
        uint32_t bit = uint32_t(1) << *semaphore;
        if (mask & bit)
          throw UserError(at(text.column),
                          fmt::format("the semaphore {} is given twice", *semaphore));
        mask |= bit;
      } while (accept(','));
      skipSpace();
    }
  }

  void resolve(const Fixup &fixup) {
    auto it = labels_.find(fixup.label);
    if (it == labels_.end()) {
      std::vector<std::string> names;
      for (const auto &[name, where] : labels_)
        names.push_back(name);
      std::string near = nearest(fixup.label, names);
      throw UserError(fixup.location,
                      fmt::format("the label '{}' is not defined", escape(fixup.label)),
                      near.empty() ? "" : fmt::format("did you mean '{}'?", near));
    }
    DecodedInstruction &decoded = instructions_[fixup.instruction];
    const Instruction &instruction = isa_.instructions()[static_cast<size_t>(decoded.instruction)];
    const Operand &operand = instruction.operands[static_cast<size_t>(fixup.operand)];
    int64_t from =
        static_cast<int64_t>(fixup.instruction) + (instruction.control == Control::Loop ? 1 : 0);
    int64_t value = static_cast<int64_t>(it->second.first) - from;
    if (value < operand.least || value > operand.greatest)
      throw UserError(fixup.location,
                      fmt::format("the label '{}' is {} instructions away, not within {}..{}",
                                  fixup.label, value, operand.least, operand.greatest));
    decoded.values[static_cast<size_t>(fixup.operand)] = value;
  }

  // The constraints of the instruction, which `encode` knows.
  void check(const DecodedInstruction &decoded, const SourceLocation &location) const {
    try {
      isa_.encode(decoded);
    } catch (const UserError &error) {
      throw UserError(
          location, fmt::format("'{}': {}",
                                isa_.instructions()[static_cast<size_t>(decoded.instruction)].name,
                                error.message()));
    }
  }

  static std::optional<int64_t> number(const Lexeme &text) {
    std::string_view digits = text.text;
    int radix = 10;
    if (digits.size() > 2 && digits[0] == '0' && digits[1] == 'x') {
      radix = 16;
      digits.remove_prefix(2);
    }
    int64_t value = 0;
    for (char c : digits) {
      int digit = c >= '0' && c <= '9'   ? c - '0'
                  : c >= 'a' && c <= 'f' ? c - 'a' + 10
                  : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                         : 99;
      if (digit >= radix || value > (INT64_MAX - digit) / radix)
        return std::nullopt;
      value = value * radix + digit;
    }
    return digits.empty() ? std::nullopt : std::optional(value);
  }

  Lexeme word(const std::string &what) {
    size_t length = 0;
    while (length < rest_.size() && isWordCharacter(rest_[length]))
      ++length;
    if (length == 0)
      throw UserError(at(column()), rest_.empty() ? fmt::format("{} is missing", what)
                                                  : fmt::format("{} is missing before '{}'", what,
                                                                escape(rest_.substr(0, 1))));
    Lexeme lexeme{rest_.substr(0, length), column()};
    rest_.remove_prefix(length);
    return lexeme;
  }

  bool accept(char c) {
    if (rest_.empty() || rest_[0] != c)
      return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char c, const std::string &where) {
    if (!accept(c))
      throw UserError(at(column()), fmt::format("'{}' is missing {}", c, where));
  }

  void skipSpace() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t' || rest_[0] == '\r'))
      rest_.remove_prefix(1);
  }

  int column() const { return static_cast<int>(rest_.data() - lineStart_.data()) + 1; }
  SourceLocation at(int column) const { return SourceLocation{file_, line_, column, ""}; }

  const Isa &isa_;
  std::string_view text_;
  const std::string &file_;
  std::string_view lineStart_, rest_;
  int line_ = 1;
  std::vector<DecodedInstruction> instructions_;
  std::vector<SourceLocation> locations_;                // of each instruction's mnemonic
  std::map<std::string, std::pair<size_t, int>> labels_; // instruction number, line
  std::vector<Fixup> fixups_;
};

} // namespace

std::vector<DecodedInstruction> assemble(const Isa &isa, std::string_view text,
                                         const std::string &file) {
  return Assembler(isa, text, file).run();
}

static std::string list(const char *name, uint32_t mask) {
  std::string text;
  for (int i = 0; i < 32; ++i)
    if (mask >> i & 1)
      text += fmt::format("{}{}", text.empty() ? fmt::format(" !{}=", name) : ",", i);
  return text;
}

std::string disassemble(const Isa &isa, const DecodedInstruction &decoded) {
  const Instruction &instruction = isa.instructions().at(static_cast<size_t>(decoded.instruction));
  std::string text =
      instruction.operands.empty() ? instruction.name : fmt::format("{:<13} ", instruction.name);
  for (const Operand &operand : instruction.operands) {
    auto index = static_cast<size_t>(operand.index);
    int64_t value = decoded.values[index];
    text += fmt::format("{}{}=", index == 0 ? "" : ", ", operand.name);
    if (operand.isRegister)
      text += isa.units()[static_cast<size_t>(instruction.unit)]
                  .registers[static_cast<size_t>(value)]
                  .name;
    else if (operand.isBaseRegister)
      text += fmt::format("x{}", value);
    else if (operand.kind == Operand::Kind::Memory)
      text += decoded.bases[index] == 0 ? fmt::format("{:#x}", value)
                                        : fmt::format("{:#x}+x{}", value, decoded.bases[index]);
    else
      text += std::to_string(value);
  }
  return text + list("wait", decoded.wait) + list("signal", decoded.signal);
}

} // namespace tilewright::isa
