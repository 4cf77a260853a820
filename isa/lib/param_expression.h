// Integer expressions over params: sizes, defaults, times, DRAM numbers.
#pragma once

#include "syntax.h"

#include <functional>
#include <map>

namespace tilewright::isa {

using Params = std::map<std::string, int64_t, std::less<>>;

// An integer over params alone; also has clog2, ceildiv and floordiv. Throws UserError for overflow
// beyond 64 bits and undefined names. `lookup` gives a param's value or throws.
using ParamLookup = std::function<int64_t(const std::string &name, const SourceLocation &location)>;
int64_t evaluateParams(const yaml::Node &scalar, const ParamLookup &lookup);
int64_t evaluateParams(const yaml::Node &scalar, const Syntax &syntax, const ParamLookup &lookup);
ParamLookup lookupIn(const Params &params);

} // namespace tilewright::isa
