// Integer expressions over named numbers, as params have them: for whoever names numbers of a
// machine.
#pragma once

#include "tilewright/isa/yaml.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace tilewright::isa {

using Numbers = std::map<std::string, int64_t, std::less<>>;

// The value of the expression that a scalar holds: C's operators without division, min, max, clog2,
// ceildiv and floordiv. Throws UserError at the offending character: syntax, overflow beyond 64
// bits, a name that is none of `numbers`.
int64_t evaluateNumbers(const yaml::Node &scalar, const Numbers &numbers);

} // namespace tilewright::isa
