// Mistakes on the command line: exit code 2, one diagnostic, and where to look.
#include "tool.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace tilewright::test;
using ::testing::HasSubstr;

namespace {

class Usage : public ToolTest {
protected:
  std::string diagnosticOf(const std::vector<std::string> &arguments) {
    Ended ended = run(arguments);
    EXPECT_EQ(ended.code, 2) << ended.diagnostics;
    EXPECT_EQ(ended.output, "");
    EXPECT_TRUE(files().empty());
    return ended.diagnostics;
  }
};

TEST_F(Usage, needsACommand) {
  EXPECT_EQ(diagnosticOf({}),
            "tilewright: error: A subcommand is required\n  fix: see `tilewright --help`\n");
}

TEST_F(Usage, namesTheNearestCommand) {
  EXPECT_EQ(diagnosticOf({"verfy", "p.elf"}),
            "tilewright: error: unknown command 'verfy'\n"
            "  fix: did you mean `verify`? see `tilewright --help`\n");
}

TEST_F(Usage, namesTheNearestOption) {
  EXPECT_EQ(diagnosticOf({"run", "p.elf", "--engin", "cycle"}),
            "tilewright: error: unknown option '--engin'\n"
            "  fix: did you mean `--engine`? see `tilewright run --help`\n");
}

TEST_F(Usage, suggestsNothingFarOff) {
  EXPECT_EQ(diagnosticOf({"zzzzzzzzzzzz"}),
            "tilewright: error: unknown command 'zzzzzzzzzzzz'\n  fix: see `tilewright --help`\n");
}

TEST_F(Usage, refusesASecondProgram) {
  EXPECT_EQ(diagnosticOf({"run", "a.elf", "b.elf"}),
            "tilewright: error: unexpected argument 'b.elf'\n"
            "  fix: see `tilewright run --help`\n");
}

TEST_F(Usage, needsAProgram) {
  EXPECT_EQ(diagnosticOf({"run"}),
            "tilewright: error: PROGRAM is required\n  fix: see `tilewright run --help`\n");
}

TEST_F(Usage, refusesAnUnknownEngine) {
  EXPECT_THAT(diagnosticOf({"run", "p.elf", "--engine", "psychic"}),
              HasSubstr("error: --engine: psychic not in {"));
}

TEST_F(Usage, refusesRepeatedOptions) {
  EXPECT_THAT(diagnosticOf({"run", "p.elf", "--json", "a", "--json", "b"}),
              HasSubstr("error: --json: "));
}

TEST_F(Usage, refusesOptionsWithoutValue) {
  EXPECT_THAT(diagnosticOf({"run", "p.elf", "--json"}), HasSubstr("error: --json: 1 required"));
}

TEST_F(Usage, refusesCyclesThatAreNoNumber) {
  EXPECT_THAT(diagnosticOf({"run", "p.elf", "--max-cycles", "many"}),
              HasSubstr("is not a whole number from 1 to 9223372036854775807\n"));
}

TEST_F(Usage, refusesNegativeCycles) {
  EXPECT_THAT(diagnosticOf({"run", "p.elf", "--max-cycles", "-1"}),
              HasSubstr("is not a whole number from 1 to 9223372036854775807\n"));
}

TEST_F(Usage, refusesCyclesPast64Bits) {
  EXPECT_THAT(diagnosticOf({"run", "p.elf", "--max-cycles", "99999999999999999999"}),
              HasSubstr("is not a whole number from 1 to 9223372036854775807\n"));
}

TEST_F(Usage, refusesANegativeSeed) {
  EXPECT_EQ(diagnosticOf({"run", "p.elf", "--seed", "-1"}),
            "tilewright: error: --seed: '-1' is not a whole number from 0 to 18446744073709551615\n"
            "  fix: see `tilewright run --help`\n");
}

TEST_F(Usage, refusesAPercentileThatIsNoNumber) {
  EXPECT_EQ(diagnosticOf({"compile", "m.onnx", "-o", "p.elf", "--percentile", "nan"}),
            "tilewright: error: --percentile: 'nan' is no number\n"
            "  fix: see `tilewright compile --help`\n");
}

TEST_F(Usage, refusesTwoReportsOnStandardOutput) {
  EXPECT_EQ(diagnosticOf({"run", "p.elf", "--json", "-", "--csv", "-"}),
            "tilewright: error: --json, --csv, --html, --trace: only one of them can be written to "
            "standard output\n"
            "  fix: see `tilewright run --help`\n");
}

TEST_F(Usage, refusesWavesOfAnEngineWithoutSignals) {
  EXPECT_EQ(diagnosticOf({"run", "p.elf", "--waves", "w.fst"}),
            "tilewright: error: --waves: the cycle engine has no signals; add --engine rtl\n"
            "  fix: see `tilewright run --help`\n");
}

TEST_F(Usage, refusesOneEngineToCompare) {
  EXPECT_EQ(diagnosticOf({"verify", "p.elf", "--engines", "cycle"}),
            "tilewright: error: --engines: one engine leaves nothing to compare; give two, as in "
            "functional,cycle\n"
            "  fix: see `tilewright verify --help`\n");
}

TEST_F(Usage, refusesUnknownEnginesToCompare) {
  EXPECT_EQ(diagnosticOf({"verify", "p.elf", "--engines", "cycle,psychic"}),
            "tilewright: error: --engines: 'psychic' is not one of functional, cycle, rtl\n"
            "  fix: see `tilewright verify --help`\n");
}

TEST_F(Usage, keepsHugeArgumentsOutOfTheMessage) {
  EXPECT_LT(diagnosticOf({std::string(100000, 'x')}).size(), 300u);
}

TEST_F(Usage, escapesControlCharacters) {
  EXPECT_THAT(diagnosticOf({"\x1b[31m\x07"}), HasSubstr("unknown command '\\x1b[31m\\x07'"));
}

TEST_F(Usage, explainsItselfWhenAsked) {
  Ended ended = run({"--help"});
  EXPECT_EQ(ended.code, 0);
  for (const char *command : {"run", "verify", "fuzz", "explore", "asm", "disasm", "doctor"})
    EXPECT_THAT(ended.output, HasSubstr(std::string("\n  ") + command + " "));
}

TEST_F(Usage, explainsEachCommandWhenAsked) {
  Ended ended = run({"run", "--help"});
  EXPECT_EQ(ended.code, 0);
  for (const char *option : {"--engine", "--input", "--output-dir", "--raw", "--json", "--csv",
                             "--trace", "--waves", "--max-cycles", "--seed"})
    EXPECT_THAT(ended.output, HasSubstr(std::string("\n  ") + option + " "));
}

TEST_F(Usage, tellsAllItsOptionsToTests) {
  const auto told = nlohmann::json::parse(run({"options"}).output);
  EXPECT_GT(told.size(), 15u);
  for (const auto &command : told)
    if (command["command"] == nlohmann::json{"disasm"}) {
      EXPECT_EQ(command["options"][1]["positional"], "PROGRAM");
      EXPECT_EQ(command["options"][1]["required"], true);
      EXPECT_EQ(command["options"][2]["names"], (nlohmann::json{"-o", "--output"}));
      EXPECT_EQ(command["options"][2]["takes_value"], true);
    }
}

TEST_F(Usage, refusesEmptyValues) {
  for (const char *option : {"--json", "--input", "--engine", "--seed"})
    EXPECT_THAT(diagnosticOf({"run", "p.elf", option, ""}),
                HasSubstr(std::string("error: ") + option + ": "));
}

TEST_F(Usage, printsTheVersion) {
  Ended ended = run({"--version"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.output, testing::MatchesRegex("tilewright [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST_F(Usage, doctorNamesWhatIsMissing) {
  Ended ended = run({"doctor"}, [] { ::setenv("PATH", "/nowhere", 1); });
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(
      ended.output,
      HasSubstr(
          "missing  verilator    needed by: run --engine rtl; install the package verilator\n"));
}

TEST_F(Usage, doctorNamesTheEngines) {
  std::string output = run({"doctor"}).output;
  for (const char *engine : {"functional", "cycle", "rtl"})
    EXPECT_THAT(output, HasSubstr(std::string(" ") + engine + " "));
}

TEST_F(Usage, doctorSaysWhereADescriptionCanBe) {
  Ended ended = run({"doctor"}, [] { ::setenv("TILEWRIGHT_ISA", "/nowhere", 1); });
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.output, HasSubstr("\n  missing  description  "));
  EXPECT_THAT(ended.output, HasSubstr("; set TILEWRIGHT_ISA to the isa directory\n"));
}

TEST_F(Usage, refusesAnExplanationWithoutItsOwnOutput) {
  EXPECT_EQ(diagnosticOf({"compile", "m.mlir", "--explain-selection", "--emit", "npu"}),
            "tilewright: error: --explain-selection: prints to standard output: give -o FILE\n"
            "  fix: see `tilewright compile --help`\n");
  EXPECT_EQ(
      diagnosticOf({"compile", "m.mlir", "--explain-selection", "--emit", "tosa", "-o", "t.mlir"}),
      "tilewright: error: --explain-selection: has no effect with --compile-to tosa\n"
      "  fix: see `tilewright compile --help`\n");
}

TEST_F(Usage, refusesTimesWithoutTheirOwnOutput) {
  for (const char *output : {"", "-"}) {
    std::vector<std::string> arguments = {"compile", "m.mlir", "--timing", "--emit", "npu"};
    if (*output)
      arguments.insert(arguments.end(), {"-o", output});
    EXPECT_EQ(diagnosticOf(arguments),
              "tilewright: error: --timing: prints to standard output: give -o FILE\n"
              "  fix: see `tilewright compile --help`\n");
  }
}

TEST_F(Usage, refusesWhatPrintsWithoutItsOwnOutput) {
  for (const char *option : {"--plan", "--quantization-report"})
    EXPECT_EQ(diagnosticOf({"compile", "m.mlir", option, "--emit", "npu", "-o", "-"}),
              std::string("tilewright: error: ") + option +
                  ": prints to standard output: give -o FILE\n"
                  "  fix: see `tilewright compile --help`\n");
}

TEST_F(Usage, refusesOptionsThatOthersLeaveWithoutEffect) {
  const std::vector<std::string> command = {"compile", "m.onnx", "-o", "p.elf"};
  const std::pair<std::vector<std::string>, const char *> cases[] = {
      {{"--percentile", "99"},
       "--percentile: has no effect without --calibration-method percentile"},
      {{"--tune-search", "random"}, "--tune-search: has no effect without --tune"},
      {{"--quantize", "none", "--precision", "mixed"},
       "--precision: has no effect with --quantize none"},
      {{"--quantize", "none", "--quantization-json", "q.json"},
       "--quantization-json: has no effect with --quantize none"},
      {{"--image", "x=0/1", "--constant", "x=x.npy"},
       "--image: 'x' is given with --constant, which leaves no input"},
      {{"--max-loss", "1", "--calibration", "c.npz", "--precision", "mixed"},
       "--max-loss: decides the precision: leave out --precision"},
      {{"--max-cycles", "1000"}, "--max-cycles: measures on samples: give --calibration"}};
  for (const auto &[options, message] : cases) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), options.begin(), options.end());
    EXPECT_EQ(diagnosticOf(arguments), std::string("tilewright: error: ") + message +
                                           "\n  fix: see `tilewright compile --help`\n");
  }
}

TEST_F(Usage, refusesALossThatIsNoNumberOfDecibels) {
  for (const char *loss : {"x", "-1", "1 dB", "1V", "nan", "inf"})
    EXPECT_EQ(
        diagnosticOf(
            {"compile", "m.onnx", "-o", "p.elf", "--max-loss", loss, "--calibration", "c.npz"}),
        fmt::format("tilewright: error: --max-loss: '{}' is no number of dB, 0 or more\n  fix: "
                    "see `tilewright compile --help`\n",
                    loss));
}

TEST_F(Usage, listsFormatsAndTheirOperators) {
  const std::string formats = run({"formats"}).output;
  EXPECT_THAT(formats, HasSubstr("ONNX (.onnx)\n"));
  EXPECT_THAT(formats, HasSubstr(" ConvTranspose,"));
  EXPECT_THAT(formats, HasSubstr("TOSA (.mlir, .mlirbc)\n"));
  EXPECT_THAT(run({"compile", "--help"}).output,
              HasSubstr("ONNX (.onnx), or TOSA (.mlir, .mlirbc)"));
}

TEST_F(Usage, refusesWhatPrintsOfALaterStage) {
  EXPECT_EQ(diagnosticOf({"compile", "m.mlir", "--plan", "--emit", "kernel", "-o", "k.mlir"}),
            "tilewright: error: --plan: has no effect with --compile-to kernel\n"
            "  fix: see `tilewright compile --help`\n");
}

TEST_F(Usage, timesOfAllPhasesAddUp) {
  writeConvolution();
  Ended ended = run({"compile", "m.mlir", "--timing", "-o", "p.elf"});
  ASSERT_EQ(ended.code, 0) << ended.diagnostics;
  std::istringstream lines(ended.output.substr(ended.output.find("phase  ")));
  std::string line, name;
  std::getline(lines, line); // the header
  double sum = 0, processorSum = 0, seconds = 0, processor = 0;
  std::vector<std::string> names;
  while (lines >> name >> seconds >> processor >> line && name != "total") {
    names.push_back(name);
    sum += seconds;
    processorSum += processor;
  }
  EXPECT_THAT(names, ::testing::ElementsAre("loading", "target", "import", "wide-decompose",
                                            "graph-fold", "graph-layout", "graph-decompose",
                                            "integer-decompose", "tosa-to-kernel", "kernel-fuse",
                                            "schedule", "npu", "program", "release", "write"));
  EXPECT_EQ(name, "total");
  EXPECT_NEAR(seconds, sum, 0.001 * double(names.size()));
  EXPECT_NEAR(processor, processorSum, 0.001 * double(names.size()));
}

TEST_F(Usage, refusesAnExplanationOfAnotherKind) {
  EXPECT_THAT(diagnosticOf({"compile", "m.mlir", "--explain-selection=most", "-o", "p.elf"}),
              HasSubstr("error: --explain-selection: most not in {summary,all}"));
}

TEST_F(Usage, refusesTwoStagesToWrite) {
  EXPECT_EQ(diagnosticOf({"compile", "m.mlir", "--emit", "tosa", "--compile-to", "npu"}),
            "tilewright: error: --compile-to: 'npu' contradicts --emit tosa\n"
            "  fix: see `tilewright compile --help`\n");
}

TEST_F(Usage, refusesToGoBackwards) {
  EXPECT_EQ(diagnosticOf({"compile", "m.mlir", "--compile-from", "npu", "--emit", "kernel"}),
            "tilewright: error: --compile-from: 'npu' is behind the stage to write, kernel\n"
            "  fix: see `tilewright compile --help`\n");
}

TEST_F(Usage, refusesToStartFromAssembly) {
  EXPECT_THAT(diagnosticOf({"compile", "p.s", "--compile-from", "asm", "-o", "p.elf"}),
              HasSubstr("error: --compile-from: asm not in {"));
}

TEST_F(Usage, refusesOptionsWithoutEffectFromALaterStage) {
  for (std::vector<std::string> option : {std::vector<std::string>{"--calibration", "c.npz"},
                                          {"--seed", "1"},
                                          {"--shape", "x=1"},
                                          {"--constant", "x=x.npy"},
                                          {"--image", "x=0/1"},
                                          {"--quantize", "int8"},
                                          {"--calibration-method", "mse"},
                                          {"--percentile", "99"},
                                          {"--precision", "standard"},
                                          {"--max-loss", "1dB"},
                                          {"--max-cycles", "1000000"},
                                          {"--weight-rounding", "nearest"},
                                          {"--quantization-json", "q.json"}}) {
    std::vector<std::string> arguments{"compile", "m.mlir", "--compile-from", "kernel", "-o", "p"};
    arguments.insert(arguments.end(), option.begin(), option.end());
    EXPECT_EQ(diagnosticOf(arguments), "tilewright: error: " + option[0] +
                                           ": has no effect with --compile-from kernel\n"
                                           "  fix: see `tilewright compile --help`\n");
  }
  for (std::vector<std::string> option : {std::vector<std::string>{"--target", "edge32"},
                                          {"--what-if", "o.yaml"},
                                          {"--buffering", "single"}}) {
    std::vector<std::string> arguments{"compile", "m.mlir", "--compile-from", "npu", "-o", "p"};
    arguments.insert(arguments.end(), option.begin(), option.end());
    EXPECT_EQ(diagnosticOf(arguments), "tilewright: error: " + option[0] +
                                           ": has no effect with --compile-from npu\n"
                                           "  fix: see `tilewright compile --help`\n");
  }
}

} // namespace
