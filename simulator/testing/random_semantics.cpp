#include "tilewright/testing/random_semantics.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

namespace tilewright {

namespace {

// An expression, and no fewer bits than its type has.
struct Text {
  std::string text;
  int bits = 0;
};

class Generator {
public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  std::string instruction(int index) {
    struct Element {
      const char *space, *type;
    };
    static const std::array<Element, 6> elements = {{{"acc", "i32"},
                                                     {"spad", "i8"},
                                                     {"spad", "u8"},
                                                     {"spad", "i16"},
                                                     {"spad", "u16"},
                                                     {"spad", "i32"}}};
    const Element &a = elements[below(6)], &b = elements[below(6)], &d = elements[below(6)];
    const bool reduces = below(3) == 0;
    aBits_ = bitsOf(a.type);
    bBits_ = bitsOf(b.type);
    std::string name = "random" + std::to_string(index), opcode = hex(0x90 + index);
    std::string text = "  " + name + ":\n    name: \"" + name + "\"\n    summary: \"Random.\"\n" +
                       "    unit: \"vector\"\n    encode: { op: \"" + opcode +
                       "\" }\n    operands:\n" + memory("a", a.space, a.type, "read") +
                       memory("b", b.space, b.type, "read") +
                       memory("d", d.space, d.type, "write") +
                       "      n0: { kind: \"imm\", type: \"u12\" }\n"
                       "      nc: { kind: \"imm\", type: \"u12\" }\n"
                       "    require: { C1: \"nc <= channels\" }\n    semantics:\n";
    return text + (reduces ? reduction(d.type) : map(d.type));
  }

private:
  size_t below(size_t limit) { return random_() % limit; }

  static int bitsOf(const std::string &type) {
    return std::stoi(type.substr(1)) + (type[0] == 'u');
  }

  static std::string hex(int value) {
    static const char digits[] = "0123456789abcdef";
    return std::string("0x") + digits[value / 16] + digits[value % 16];
  }

  static std::string memory(const char *name, const char *space, const char *type,
                            const char *access) {
    return std::string("      ") + name + ": { kind: \"mem\", space: \"" + space + "\", type: \"" +
           type + "\", access: \"" + access + "\" }\n";
  }

  // Behind a reduction along the lanes.
  bool isOfRow() const { return joins_ && !reductions_; }

  // Every operand must be used, whatever was drawn.
  std::string map(const std::string &type) {
    reductions_ = joins_ = false;
    std::string text = "      map:\n        iter: [ \"y in n1\", \"x in n0\", \"c in nc\" ]\n"
                       "        out: \"d[y * d_s1 + x * d_s0 + c]\"\n";
    std::string used = "(" + read("a") + " == " + read("b") + ")";
    if (below(4) == 0)
      text += "        when: \"c " + std::string(below(2) ? "<" : ">=") + " x + " +
              std::to_string(below(20)) + "\"\n        otherwise: \"" + narrowed("lo", 32, type) +
              "\"\n";
    Text drawn = expression(4);
    return text + "        expr: \"" +
           narrowed(used + " ^ (" + drawn.text + ")", drawn.bits + 2, type) + "\"\n";
  }

  std::string reduction(const std::string &type) {
    static const std::array<const char *, 5> combiners = {"add", "max", "min", "and", "or"};
    static const std::array<const char *, 6> accumulators = {"i32", "i8",  "i16",
                                                             "u8",  "i24", "u32"};
    const std::string combiner = combiners[below(5)], accumulator = accumulators[below(6)];
    reductions_ = true;
    joins_ = below(2) == 0;
    Text drawn = expression(3);
    const char *spatial = joins_ ? "" : ", \"c in nc\"", *taps = joins_ ? "c in nc" : "u in k0",
               *lane = joins_ ? "" : " + c";
    std::string text = std::string("      reduce:\n        iter: [ \"y in n1\", \"x in n0\"") +
                       spatial + " ]\n        reduce: { iter: [ \"v in k1\", \"" + taps +
                       "\" ], op: \"" + combiner + "\", type: \"" + accumulator +
                       "\", order: \"any\" }\n        out: \"d[y * d_s1 + x * d_s0" + lane +
                       "]\"\n        init: \"" +
                       narrowed(joins_ ? "a_mult" : "bias[c]", 32, accumulator) +
                       "\"\n        expr: \"" +
                       narrowed(read("b") + " + (" + drawn.text + ")",
                                std::max(drawn.bits, bBits_) + 1, accumulator);
    reductions_ = false;
    return text + " ^ " + narrowed(read("a"), aBits_, accumulator) + "\"\n        post: \"" +
           narrowed("result + " + narrowed(expression(2).text, 0, "i16"), 40, type) + "\"\n";
  }

  std::string narrowed(const std::string &text, int, const std::string &type) {
    return (below(2) ? "cast<" : "sat<") + type + ">(" + text + ")";
  }

  std::string read(const std::string &operand) {
    std::string taps = reductions_ ? " + v * " + operand + "_k1" : "";
    if (reductions_ && !joins_)
      taps += " + u * " + operand + "_k0";
    std::string inner = below(2) ? " + c" : " + c * " + operand + "_sc";
    if (isOfRow())
      inner = "";
    return operand + "[y * " + operand + "_s1 + x * " + operand + "_s0" + taps + inner + "]";
  }

  Text leaf() {
    struct Named {
      const char *text;
      int bits;
    };
    static const std::array<Named, 12> scalars = {{{"a_zp", 9},
                                                   {"d_zp", 32},
                                                   {"a_mult", 32},
                                                   {"d_shift", 7},
                                                   {"lo", 32},
                                                   {"x", 17},
                                                   {"c", 17},
                                                   {"nc", 17},
                                                   {"bias[c]", 32},
                                                   {"shift[c]", 7},
                                                   {"mult[c]", 32},
                                                   {"table[cast<u8>(x)]", 8}}};
    static const std::array<Named, 8> literals = {{{"0", 2},
                                                   {"1", 2},
                                                   {"7", 5},
                                                   {"127", 9},
                                                   {"128", 9},
                                                   {"32768", 18},
                                                   {"2147483647", 33},
                                                   {"4294967295", 34}}};
    switch (below(6)) {
    case 0:
    case 1:
      return {read("a"), aBits_};
    case 2:
      return {read("b"), bBits_};
    case 3: {
      const Named &literal = literals[below(literals.size())];
      return {literal.text, literal.bits};
    }
    default: {
      const Named &scalar = scalars[below(scalars.size())];
      if (isOfRow() && (scalar.text == std::string("c") || std::strstr(scalar.text, "[c]")))
        return {"y", 17};
      return {scalar.text, scalar.bits};
    }
    }
  }

  std::string condition(int depth) {
    static const std::array<const char *, 6> compares = {"==", "!=", "<", "<=", ">", ">="};
    std::string text = "(" + expression(depth).text + ") " + compares[below(6)] + " (" +
                       expression(depth).text + ")";
    if (below(4) == 0)
      text = "(" + text + (below(2) ? ") && (" : ") || (") + "a_zp < d_zp)";
    return below(4) == 0 ? "!(" + text + ")" : text;
  }

  Text expression(int depth) {
    if (depth == 0)
      return leaf();
    Text a = expression(depth - 1);
    // Wide values once in a while, but never beyond what the description allows.
    if (a.bits > (below(4) == 0 ? 58 : 40))
      a = closed(a);
    Text b = expression(depth - 1);
    if (b.bits > (below(4) == 0 ? 58 : 40))
      b = closed(b);
    const int both = std::max(a.bits, b.bits) + 2;
    auto binary = [&](const char *op) { return "(" + a.text + ") " + op + " (" + b.text + ")"; };
    auto call = [&](const char *function) {
      return std::string(function) + "(" + a.text + ", " + b.text + ")";
    };
    switch (below(15)) {
    case 0:
      return {binary("+"), both};
    case 1:
    case 2:
      return {binary("-"), both};
    case 3:
    case 4:
      return {binary("*"), a.bits + b.bits + 2};
    case 5:
      return {call("min"), both};
    case 6:
      return {call("max"), both};
    case 7:
      return {binary("<<"), a.bits};
    case 8:
    case 9:
      return {binary(">>"), a.bits};
    case 10:
      return {binary(below(3) == 0 ? "&" : below(2) ? "|" : "^"), both};
    case 11:
      return {"(" + condition(depth - 1) + ") ? (" + a.text + ") : (" + b.text + ")", both};
    case 12:
      return {"clz(" + a.text + ")", 9};
    case 13:
      return {"-(" + a.text + ")", a.bits + 2};
    default:
      return closed(a);
    }
  }

  Text closed(const Text &open) {
    static const std::array<const char *, 10> types = {"i8",  "u8",  "i16", "i17", "u5",
                                                       "i32", "u32", "i64", "i33", "u63"};
    const std::string type = types[below(types.size())];
    return {(below(2) ? "cast<" : "sat<") + type + ">(" + open.text + ")", bitsOf(type)};
  }

  std::mt19937_64 random_;
  int aBits_ = 32, bBits_ = 32;
  bool reductions_ = false; // in the taps
  bool joins_ = false;      // the reduction runs along the lanes
};

} // namespace

std::string randomOverlay(uint64_t seed, int count) {
  Generator generator(seed);
  std::string text = "instructions:\n";
  for (int i = 0; i < count; ++i)
    text += generator.instruction(i);
  return text;
}

} // namespace tilewright
