// ctest -R Logic: what a machine is estimated to be made of, against the mapped netlists of
// docs/area.md; and that what is added costs something.
#include "files.h"

#include "tilewright/explore/logic.h"
#include "tilewright/explore/technology.h"
#include "tilewright/testing/source_path.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <regex>
#include <sstream>

namespace tilewright::explore {

namespace {

struct Documented {
  double flipFlops, nand2, sramBits;
};

// By target: the last rows of the tables of docs/area.md.
std::map<std::string, Documented> documented() {
  std::map<std::string, Documented> all;
  std::string target;
  std::istringstream lines(readFile(sourcePath("docs/area.md")));
  const std::regex heading("### `(\\w+)`"),
      row("\\| all \\| ([\\d,]+) \\| ([\\d,]+) \\| ([\\d,]+) bits \\|");
  const auto number = [](std::string digits) {
    digits.erase(std::remove(digits.begin(), digits.end(), ','), digits.end());
    return std::stod(digits);
  };
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, match, heading))
      target = match[1];
    if (std::regex_search(line, match, row))
      all[target] = {number(match[1]), number(match[2]), number(match[3])};
  }
  return all;
}

Area areaOf(const isa::LoadOptions &options) {
  return explore::areaOf(machineOf(isa::load(options)), readTechnology(""));
}

double laneOf(const isa::LoadOptions &options) {
  return static_cast<double>(machineOf(isa::load(options)).laneLogic);
}

TEST(Logic, IsThatOfMappedNetlists) {
  const auto all = documented();
  ASSERT_EQ(all.size(), 3u);
  for (const auto &[target, mapped] : all) {
    const Area area = areaOf({target, {}, ""});
    EXPECT_NEAR(static_cast<double>(area.nand2) / mapped.nand2, 1, 0.02) << target;
    EXPECT_NEAR(static_cast<double>(area.flipFlops) / mapped.flipFlops, 1, 0.005) << target;
    EXPECT_NEAR(static_cast<double>(area.sramBits) / mapped.sramBits, 1, 0.001) << target;
  }
}

class LogicOverlay : public test::FolderTest {
protected:
  isa::LoadOptions with(const std::string &text) const {
    return {"tiny4",
            {write("o.yaml", "schema: tilewright/overlay/1\nname: o\nsummary: s\n" + text)},
            ""};
  }
  static std::string instruction(const char *expr) {
    return std::string("instructions:\n  vnew:\n    name: \"vnew\"\n    summary: \"A new one.\"\n"
                       "    unit: \"vector\"\n    encode: { op: \"0xd0\" }\n    operands:\n"
                       "      a: { kind: mem, space: acc, type: i32, access: read }\n"
                       "      d: { kind: mem, space: acc, type: i32, access: write }\n"
                       "      nc: { kind: imm, type: u12 }\n    semantics:\n      map:\n"
                       "        iter: [ \"c in nc\" ]\n        out: \"d[c]\"\n        expr: \"") +
           expr + "\"\n";
  }
};

TEST_F(LogicOverlay, AnInstructionTakesItsOperators) {
  const isa::LoadOptions base{"tiny4", {}, ""};
  const double one = laneOf(with(instruction("cast<i32>(a[c] * a[c])"))),
               three = laneOf(
                   with(instruction("cast<i32>(cast<i32>(cast<i32>(a[c] * a[c]) * a[c]) * a[c])")));
  EXPECT_GE(one, laneOf(base));
  // Two multipliers of 32 x 32 bits more.
  EXPECT_GT(three, one + 2 * 3000);
}

TEST_F(LogicOverlay, AFasterClockTakesMoreRegisters) {
  EXPECT_GT(machineOf(isa::load(with("target: { clock_hz: 2000000000 }\n"))).laneFlipFlops,
            1.2 * static_cast<double>(machineOf(isa::load({"tiny4", {}, ""})).laneFlipFlops));
}

TEST_F(LogicOverlay, BanksAndPortsTakeArea) {
  const Area base = areaOf({"tiny4", {}, ""});
  const Area banks = areaOf(with("target: { params: { spad_banks: 8 } }\n")),
             port = areaOf(with("target: { params: { acc_port: 16 } }\n"));
  EXPECT_GT(banks.nand2, base.nand2 + 4000);
  EXPECT_GT(banks.mm2, base.mm2);
  EXPECT_GT(port.nand2, base.nand2 + 10'000);
}

TEST(Logic, AFigureOfTheArrayMovesWhatFollowsIt) {
  Machine machine = machineOf(isa::load({"tiny4", {}, ""}));
  setFigure(machine, "cols", "8", {});
  EXPECT_EQ(machine.spadPort, 8);
  EXPECT_EQ(machine.accPort, 8);
  EXPECT_EQ(machine.channels, 32);
  setFigure(machine, "acc_port", "32", {});
  setFigure(machine, "cols", "16", {});
  EXPECT_EQ(machine.spadPort, 16);
  EXPECT_EQ(machine.accPort, 32);
  EXPECT_EQ(machine.channels, 64);
}

} // namespace

} // namespace tilewright::explore
