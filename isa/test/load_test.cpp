// ctest -R Load: what loads, overlays, files and their shape.
#include "description.h"
#include "tilewright/testing/source_path.h"

#include <filesystem>
#include <gmock/gmock.h>

using namespace tilewright;
using namespace tilewright::isa;
using testing::HasSubstr;
using testing::StartsWith;

static const std::string machine = "description/machine.yaml";
static std::string instruction(const std::string &name) {
  return "description/instructions/" + name + ".yaml";
}

// --- what loads

TEST(Load, AllShippedTargetsLoad) {
  int targets = 0;
  for (const auto &entry : std::filesystem::directory_iterator(sourcePath("isa/targets"))) {
    const Isa &isa = shipped(entry.path().stem().string());
    EXPECT_EQ(isa.hash().size(), 64u);
    EXPECT_GT(isa.timing().size(), 5u);
    EXPECT_GT(isa.dramParameters().size(), 5u);
    ++targets;
  }
  EXPECT_GE(targets, 4);
}

TEST(Load, IsDeterministic) {
  Description description;
  EXPECT_EQ(description.load().canonical(), shipped().canonical());
  EXPECT_EQ(description.load().hash(), shipped().hash());
}

TEST(Load, ParamsFollowTheTarget) {
  EXPECT_EQ(shipped().param("channels"), 64);
  EXPECT_EQ(shipped("odd12x20").param("channels"), 80);
  EXPECT_EQ(shipped("odd12x20").memory(Space::Spad).bankBytes(), 19200u);
  EXPECT_EQ(shipped("odd12x20").memory(Space::Acc).portBytes, 80);
  EXPECT_THROW(shipped().param("nonsense"), std::out_of_range);
}

TEST(Load, TimingAndDramAreNotInTheHash) {
  Description description;
  description.overlay("timing: { vector: { start: \"99\" } }\n");
  Isa isa = description.load();
  EXPECT_EQ(isa.timing().at("vector.start"), 99);
  EXPECT_EQ(isa.hash(), shipped().hash());
  EXPECT_NE(isa.timingHash(), shipped().timingHash());
}

TEST(Load, SummariesAreNotInTheHash) {
  Description description;
  description.replace(instruction("halt"), "Ends the program once every unit is idle.", "Stops.");
  EXPECT_EQ(description.load().hash(), shipped().hash());
}

TEST(Load, SemanticsAreInTheHash) {
  Description description;
  description.replace(instruction("vadd"), "] + b[", "] - b[");
  EXPECT_NE(description.load().hash(), shipped().hash());
}

// --- overlays

TEST(LoadOverlay, ChangesTheMachine) {
  Description description;
  description.overlay("target: { params: { rows: \"32\", cols: \"8\" } }\n");
  Isa isa = description.load();
  EXPECT_EQ(isa.param("rows"), 32);
  EXPECT_EQ(isa.hash(), shipped("wide32x8").hash());
}

TEST(LoadOverlay, LaterOnesWin) {
  Description description;
  description.overlay("target: { params: { rows: \"32\" } }\n")
      .overlay("target: { params: { rows: \"8\" } }\n");
  EXPECT_EQ(description.load().param("rows"), 8);
}

TEST(LoadOverlay, RemovesAnInstructionAndItsTiming) {
  Description description;
  description.overlay("timing: { instructions: { vdw.i8: { latency: 30 } } }\n")
      .overlay("instructions: { vdw.i8: null }\n");
  Isa isa = description.load();
  EXPECT_EQ(isa.find("vdw.i8"), nullptr);
  EXPECT_EQ(isa.instructions().size() + 1, shipped().instructions().size());
}

TEST(LoadOverlay, ChangesTheDramPreset) {
  Description description;
  description.overlay("target: { dram: \"ideal\" }\ndram: { parameters: { banks: \"4\" } }\n");
  Isa isa = description.load();
  EXPECT_EQ(isa.dram(), "ideal");
  EXPECT_EQ(isa.dramParameters().at("banks"), 4);
}

TEST(LoadOverlay, MistakesNameTheOverlay) {
  Description description;
  description.overlay("instructions: { vadd: { sumary: \"x\" } }\n");
  EXPECT_EQ(description.error(), "overlay0.yaml:4:25: error: unknown key 'sumary' in the "
                                 "instruction file\n  fix: did you mean 'summary'?");
}

TEST(LoadOverlay, RemovingWhatIsNotThere) {
  Description description;
  description.overlay("instructions: { vnone: null }\n");
  EXPECT_EQ(description.error(),
            "overlay0.yaml:4:17: error: there is no instruction 'vnone' to remove");
}

TEST(LoadOverlay, UnknownPart) {
  Description description;
  description.overlay("machines: {}\n");
  EXPECT_EQ(description.error(), "overlay0.yaml:4:1: error: unknown key 'machines' in the overlay "
                                 "file\n  fix: did you mean 'machine'?");
}

TEST(LoadOverlay, APartsKeyBesideTheParts) {
  Description description;
  description.overlay("params: { rows: \"32\" }\n");
  EXPECT_EQ(description.error(), "overlay0.yaml:4:1: error: unknown key 'params' in the overlay "
                                 "file\n  fix: it belongs under 'machine' or 'target'");
}

TEST(LoadOverlay, PartsAreMaps) {
  Description description;
  description.overlay("machine: [ \"a\" ]\n");
  EXPECT_EQ(description.error(), "overlay0.yaml:4:10: error: 'machine' is a list, not a map");
}

// --- files

TEST(LoadFiles, UnknownTargetNamesTheNearest) {
  EXPECT_EQ(Description().error("edge61"),
            "tilewright: error: there is no target 'edge61'\n  fix: did you mean 'edge16'?");
}

TEST(LoadFiles, TargetByPath) {
  Description description;
  description.write("mine.yaml",
                    "schema: \"tilewright/target/1\"\nname: \"mine\"\nsummary: \"s\"\nclock_hz: "
                    "\"5\"\ndram: \"ideal\"\nparams: { rows: \"4\" }\n");
  EXPECT_EQ(description.load(description.path() + "/mine.yaml").param("rows"), 4);
}

TEST(LoadFiles, UnknownDramPreset) {
  Description description;
  description.replace("targets/edge16.yaml", "\"lpddr4\"", "\"lpddr5\"");
  EXPECT_EQ(description.error(), "targets/edge16.yaml:6:7: error: there is no DRAM preset "
                                 "'lpddr5'\n  fix: did you mean 'lpddr4'?");
}

TEST(LoadFiles, WrongSchema) {
  Description description;
  description.replace(machine, "tilewright/machine/1", "tilewright/machine/2");
  EXPECT_EQ(description.error(),
            machine +
                ":3:9: error: the schema is 'tilewright/machine/2', not 'tilewright/machine/1'");
}

TEST(LoadFiles, MissingFile) {
  Description description;
  description.remove(machine);
  EXPECT_THAT(description.error(), StartsWith(machine + ": error:"));
}

TEST(LoadFiles, InstructionUnderAnotherName) {
  Description description;
  description.replace(instruction("vadd"), "name: \"vadd\"", "name: \"vsum\"");
  EXPECT_THAT(description.error(),
              StartsWith(instruction("vadd") +
                         ":1:7: error: the instruction 'vsum' stands under the name 'vadd'"));
}

// --- shapes

TEST(LoadShape, UnknownKey) {
  Description description;
  description.replace(instruction("vadd"), "unit:", "units:");
  EXPECT_EQ(
      description.error(),
      instruction("vadd") +
          ":3:1: error: unknown key 'units' in the instruction file\n  fix: did you mean 'unit'?");
}

TEST(LoadShape, MissingKey) {
  Description description;
  description.replace(instruction("vadd"), "unit: \"vector\"\n", "");
  EXPECT_EQ(description.error(),
            instruction("vadd") + ":1:1: error: key 'unit' is missing in the instruction file");
}

TEST(LoadShape, WrongType) {
  Description description;
  description.replace(instruction("vadd"), "unit: \"vector\"", "unit: [ \"vector\" ]");
  EXPECT_EQ(description.error(),
            instruction("vadd") + ":3:7: error: 'unit' is a list, not a string");
}

TEST(LoadShape, NoValue) {
  Description description;
  description.replace(instruction("vadd"), "unit: \"vector\"", "unit:");
  EXPECT_THAT(description.error(), HasSubstr("error: 'unit' has no value"));
}

TEST(LoadShape, WordOutsideOfItsList) {
  Description description;
  description.replace(machine, "template: \"matrix\"", "template: \"tensor\"");
  EXPECT_THAT(description.error(), HasSubstr("error: 'template' is 'tensor', not one of vector, "
                                             "sequencer, dma_load, dma_store, matrix"));
}

TEST(LoadShape, FlagsAreNotQuoted) {
  Description description;
  description.replace(machine, "{ default: \"8\", pow2: true, summary: \"Base",
                      "{ default: \"8\", pow2: \"true\", summary: \"Base");
  EXPECT_THAT(description.error(),
              HasSubstr("error: 'pow2' is a string, not true or false, without quotes"));
}
