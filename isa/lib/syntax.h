// Expressions as written: tokens and precedence, no names resolved and no types yet. Both the
// integer expressions of params and the scalar level of the semantics start here.
#pragma once

#include "tilewright/isa/expression.h"
#include "tilewright/isa/yaml.h"

#include <string>
#include <string_view>
#include <vector>

namespace tilewright::isa {

struct Syntax {
  enum class Kind { Number, Name, Index, Call, Cast, Saturate, Unary, Binary, Conditional };
  Kind kind = Kind::Number;
  std::string text; // the name, or the operator
  __int128 value = 0;
  Type type; // Cast, Saturate
  std::vector<Syntax> args;
  size_t offset = 0; // into the scalar, for messages
};

// The expression a YAML scalar holds. Operators by rising precedence, as in C:  ?:  ||  &&  |  ^  &
// == !=  < <= > >=  << >>  + -  * unary - !   Throws UserError at the offending character: syntax,
// division, nesting beyond 100, more than 2000 tokens.
Syntax parseExpression(const yaml::Node &scalar);

// "name[expr, ...]": the target of a step.
Syntax parseElement(const yaml::Node &scalar);

// "name in expr": an iterator.
struct IteratorSyntax {
  std::string name;
  Syntax extent;
};
IteratorSyntax parseIterator(const yaml::Node &scalar);

// "i8", "u13"; false for anything else. Signed types have 1 to 128 bits, unsigned ones 1 to 127.
bool parseType(std::string_view text, Type &type);

} // namespace tilewright::isa
