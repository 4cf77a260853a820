// Which layers of a program are operators that others do the work of.
#include "tilewright/program/absorbed.h"

#include <gtest/gtest.h>

namespace tilewright {

namespace {

Program programOf(const std::vector<std::string> &plans) {
  Program program;
  for (const std::string &plan : plans) {
    program.layers.emplace_back();
    program.layers.back().plan = plan;
  }
  return program;
}

TEST(Absorbed, StandBehindTheLayers) {
  EXPECT_EQ(layerCount(programOf({"2 steps", "written in place"})), 2u);
  EXPECT_EQ(layerCount(programOf({"2 steps", "not by itself: part of a (Conv)"})), 1u);
  EXPECT_EQ(layerCount(programOf({"not by itself: part of a (Conv)", "2 steps"})), 2u);
}

TEST(Absorbed, HaveNoInstructions) {
  Program program = programOf({"2 steps", "not by itself: a", "not by itself: b"});
  program.runs = {{0, 0}, {1, 1}};
  EXPECT_EQ(layerCount(program), 2u);
}

} // namespace

} // namespace tilewright
