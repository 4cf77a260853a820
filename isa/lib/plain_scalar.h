// What stands in a YAML file without quotes, and needs none.
//
// A plain scalar is taken where every reader of YAML, of version 1.1 or 1.2, agrees on it: the
// words true, false and null, a whole decimal number, and words. Readers differ on the rest, or cut
// it: 010 is 8 or 10, no is false or a word, 0x21 and 1e3 are numbers or words, ~ is null, and what
// follows " #", a comma or a bracket is something else. An expression always has quotes: most have
// operators or brackets, and of words as in `cols - 2` the parser of expressions refuses it.
#pragma once

#include "tilewright/support/error.h"

#include <string_view>

namespace tilewright::yaml {

enum class PlainKind { Flag, Null, Text, Ambiguous };
PlainKind plainKind(std::string_view text);

// Whether it is one of the words for null.
bool isNothing(std::string_view text);

// Throws UserError: what stands there needs quotes, and what to write.
[[noreturn]] void refusePlain(const SourceLocation &location, std::string_view text);

} // namespace tilewright::yaml
