// What stands in a YAML file without quotes, and needs none.
//
// A plain scalar is taken where every reader of YAML, of version 1.1 or 1.2, agrees on it: the
// words true, false and null, a whole decimal number, and words. Readers differ on the rest, or cut
// it: 010 is 8 or 10, no is false or a word, 0x21 and 1e3 are numbers or words, ~ is null, and what
// follows " #", a comma or a bracket is something else. An expression has operators and brackets,
// and so always quotes.
#pragma once

#include <string>
#include <string_view>

namespace tilewright::yaml {

enum class PlainKind { Flag, Null, Text, Ambiguous };
PlainKind plainKind(std::string_view text);

// Whether it is one of the words for null.
bool isNothing(std::string_view text);

// What to write in place of an ambiguous one.
std::string plainFix(std::string_view text);

} // namespace tilewright::yaml
