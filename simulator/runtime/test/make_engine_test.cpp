// Engines by name.
#include "tilewright/simulator/engine/engine.h"

#include "tilewright/support/error.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

std::string failure(const std::string &name) {
  static const isa::Isa isa = isa::load({});
  try {
    makeEngine(name, isa);
  } catch (const UserError &error) {
    return error.diagnostic();
  }
  return "";
}

TEST(MakeEngine, MakesTheFunctionalEngine) {
  isa::Isa isa = isa::load({});
  EXPECT_STREQ(makeEngine("functional", isa)->name(), "functional");
}

TEST(MakeEngine, NamesTheNearestEngine) {
  EXPECT_NE(failure("functoinal")
                .find("error: there is no engine 'functoinal' here\n"
                      "  fix: did you mean 'functional'? The engines are: functional"),
            std::string::npos)
      << failure("functoinal");
}

TEST(MakeEngine, ListsTheEnginesForAnUnknownName) {
  EXPECT_NE(failure("qemu\n").find(
                "there is no engine 'qemu\\x0a' here\n  fix: the engines are: functional"),
            std::string::npos)
      << failure("qemu\n");
}

} // namespace
} // namespace tilewright
