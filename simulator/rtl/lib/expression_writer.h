// Expressions of the description as SystemVerilog: one variable of the exact width and signedness
// for each node, every extension and truncation written out, so that no rule of the language about
// context decides a bit.
#pragma once

#include "tilewright/isa/isa.h"

#include <functional>
#include <map>
#include <string>

namespace tilewright::rtl {

// "logic signed [8:0]".
std::string declaration(const isa::Type &type);
// A literal of the type.
std::string literal(__int128 value, const isa::Type &type);
// `name`, an expression that may be sliced and has `from`, brought into `to`: extended or
// truncated.
std::string converted(const std::string &name, const isa::Type &from, const isa::Type &to);

class ExpressionWriter {
public:
  // `leaf` gives the text of a node without an operation (iterator, immediate, register, read): an
  // expression of exactly the node's width. It may write further nodes first, such as an index.
  using Leaf = std::function<std::string(ExpressionWriter &, const isa::Expr &)>;
  ExpressionWriter(Leaf leaf, std::string indent, std::string prefix = "v")
      : leaf_(std::move(leaf)), indent_(std::move(indent)), prefix_(std::move(prefix)) {}

  // The name of the variable (or the literal) that holds the node; statements are added as needed.
  std::string write(const isa::Expr &expr);
  // The same in another type.
  std::string writeAs(const isa::Expr &expr, const isa::Type &type);
  // The amount of a shift by a variable, clamped to [0, bits - 1], in eight bits.
  std::string amount(const isa::Expr &shift);
  // The node has that value, which may be no name, from now on: a variable once it is written.
  void bind(const isa::Expr &expr, const std::string &value) {
    known_.erase(&expr);
    bound_[&expr] = value;
  }
  // `name`, which may be sliced and has the node's type, stands for the node from now on.
  void define(const isa::Expr &expr, const std::string &name) { known_[&expr] = name; }

  const std::string &declarations() const { return declarations_; }
  const std::string &statements() const { return statements_; }

private:
  bool isKnown(const isa::Expr &expr) const {
    return known_.count(&expr) != 0 || bound_.count(&expr) != 0;
  }
  std::string variable(const isa::Type &type, const std::string &value);
  std::string operation(const isa::Expr &expr);
  std::string binary(const isa::Expr &expr, const char *symbol);
  std::string compare(const isa::Expr &expr, const char *symbol);
  std::string shift(const isa::Expr &expr);
  bool isClamp(const isa::Expr &expr) const;
  std::string clamp(const isa::Expr &expr);
  std::string saturate(const isa::Expr &expr);
  std::string leadingZeros(const isa::Expr &expr);

  Leaf leaf_;
  std::string indent_, prefix_, declarations_, statements_;
  std::map<const isa::Expr *, std::string> known_, bound_;
  int next_ = 0;
};

} // namespace tilewright::rtl
