// A change of one file of the description that must be refused.
#pragma once

#include "description.h"

#include <gtest/gtest.h>
#include <ostream>
#include <string>

namespace tilewright::isa {

// `at` is a text of the changed file, a caret before the character that the diagnostic must point
// at.
struct ChangeCase {
  const char *name;
  std::string file, from, to, at, message;
};
inline void PrintTo(const ChangeCase &c, std::ostream *stream) { *stream << c.name; }
inline std::string caseName(const testing::TestParamInfo<ChangeCase> &info) {
  return info.param.name;
}

class LoadChange : public testing::TestWithParam<ChangeCase> {}; // load_change.cpp has its test

} // namespace tilewright::isa
