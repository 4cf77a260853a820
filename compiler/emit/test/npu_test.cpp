// Programs as modules: there and back without loss, and what is refused on the way back.
#include "tilewright/compiler/emit/npu.h"
#include "tilewright/compiler/frontend/parse_module.h"
#include "tilewright/support/error.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>

namespace tilewright {

namespace {

const isa::Isa &theIsa() {
  static const isa::Isa isa = isa::load({});
  return isa;
}

std::string printed(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

// The program that a text says. Throws UserError.
Program programIn(const std::string &text, NpuCheck check = NpuCheck::All) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<npu::NpuDialect>();
  Program program;
  parseModule("p.mlir", text, context, [&](mlir::ModuleOp module) -> mlir::LogicalResult {
    npu::ProgramOp op = programOf(module);
    if (!op)
      return mlir::failure();
    mlir::FailureOr<Program> read = toProgram(op, theIsa(), check);
    if (mlir::succeeded(read))
      program = std::move(*read);
    return read;
  });
  return program;
}

std::string textOf(const Program &program) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<npu::NpuDialect>();
  return printed(*toModule(program, theIsa(), context));
}

// The instruction with random operands that the ISA encodes.
isa::DecodedInstruction randomInstruction(const isa::Instruction &instruction,
                                          std::mt19937_64 &random) {
  for (;;) {
    isa::DecodedInstruction decoded;
    decoded.instruction = instruction.index;
    auto mask = [&] {
      const uint64_t half = random(); // a quarter of them
      return static_cast<uint32_t>(half & random() & ((uint64_t(1) << theIsa().semaphores()) - 1));
    };
    decoded.wait = mask();
    decoded.signal = mask();
    for (const isa::Operand &operand : instruction.operands) {
      // Ends of the range as often as what lies between.
      int64_t ends[] = {
          operand.least, operand.greatest,
          std::uniform_int_distribution<int64_t>(operand.least, operand.greatest)(random)};
      decoded.values.push_back(ends[random() % 3]);
      bool hasBase = operand.kind == isa::Operand::Kind::Memory && random() % 2 == 0;
      decoded.bases.push_back(hasBase ? random() % (uint64_t(1) << operand.baseWidth) : 0);
    }
    try {
      theIsa().encode(decoded);
      return decoded;
    } catch (const UserError &) { // a `require`
    }
  }
}

// Everything that a Program holds, with names that text must escape.
Program sampleProgram() {
  Program program;
  program.target = "edge16";
  program.overlays = {"a b.yaml", "\"quoted\""};
  program.isaHash = theIsa().hash();
  program.timingHash = "another";
  program.dramBytes = uint64_t(1) << 20;
  program.data = {{64, std::string("\0\xff\x80 bytes", 9)}, {4096, "more"}};
  program.inputs = {{"x", DType::I8, {1, 2, 3}, 128, 1.0 / 3, -128},
                    {"scalar", DType::U16, {}, 0, {}, 0}};
  program.outputs = {{"y\n\"\\", DType::Bool, {7}, 256, {}, 0},
                     {"z", DType::F64, {2}, 512, 1e-300, 77}};
  program.layers = {{"conv\t1", "Conv", 123456789012, 77, 3, 2, 1}, {"conv\t1", "", 0, 0, 0, 0, 0}};
  program.layers[0].plan = "2 steps";
  program.layers[0].runnerUp = RunnerUp{"\"3 steps\"", 9, 8};
  program.scratchpadPeakBytes = 262144;
  program.accumulatorPeakBytes = 65536;
  return program;
}

void append(Program &program, const isa::DecodedInstruction &decoded) {
  isa::Bits bits = theIsa().encode(decoded);
  program.code.append(bits.begin(), bits.end());
}

// A program in text: `body` within, on line 3 and later, an attribute's text replaced.
std::string programText(const std::string &body, const std::string &from = "",
                        const std::string &to = "") {
  std::string head = fmt::format(
      "npu.program attributes {{accumulator_peak_bytes = 0 : i64, code_address = 1024 : i64, "
      "dram_bytes = 4096 : i64, entry = 0 : i64, isa_hash = \"{}\", overlays = [], "
      "scratchpad_peak_bytes = 0 : i64, target = \"edge16\", timing_hash = \"\"}} {{",
      theIsa().hash());
  if (!from.empty())
    head.replace(head.find(from), from.size(), to);
  return "// A comment.\n" + head + "\n" + body + "\n}\n";
}

std::string diagnosticOf(const std::string &text) {
  try {
    programIn(text);
    return "[accepted]";
  } catch (const UserError &error) {
    return error.diagnostic();
  }
}

} // namespace

TEST(Npu, EveryInstructionComesBackFromText) {
  std::mt19937_64 random(20261121);
  for (int round = 0; round < 8; ++round) {
    Program program = sampleProgram();
    uint64_t count = 0;
    for (const isa::Instruction &instruction : theIsa().instructions())
      for (int i = 0; i < 8; ++i, ++count) {
        append(program, randomInstruction(instruction, random));
        int layer = static_cast<int>(random() % 3) - 1;
        if (layer != (program.runs.empty() ? -1 : program.runs.back().layer))
          program.runs.push_back({count, layer});
      }
    program.entry = random() % count;
    program.codeAddress = uint64_t(1) << 18;
    Program back = programIn(textOf(program), NpuCheck::Instructions);
    EXPECT_EQ(writeProgram(back, theIsa()), writeProgram(program, theIsa()));
  }
}

TEST(Npu, AReservedEncodingHasNoText) {
  Program program = sampleProgram();
  program.file = "p.elf";
  append(program, {theIsa().find("halt")->index, 0, 0, {}, {}});
  program.code += std::string(static_cast<size_t>(theIsa().instructionBytes()), '\xff');
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<npu::NpuDialect>();
  try {
    toModule(program, theIsa(), context);
    FAIL() << "no error";
  } catch (const UserError &error) {
    EXPECT_EQ(error.location().str(), "p.elf: instruction 1");
    EXPECT_EQ(error.message(), "reserved opcode 0xff");
  }
}

TEST(Npu, AcceptsOperandsInAnyOrder) {
  Program one = programIn(programText("npu.inst @fill(d = 1, value = 2, n1 = 3, n0 = 4)\n"
                                      "npu.inst @halt"));
  Program other = programIn(programText("npu.inst @fill(n0 = 4, n1 = 3, value = 2, d = 1)\n"
                                        "npu.inst @halt"));
  EXPECT_EQ(one.code, other.code);
}

TEST(Npu, RefusesWhatIsNoInstructionOfTheIsa) {
  EXPECT_EQ(diagnosticOf(programText("npu.inst @hlat")),
            "p.mlir:3:1: error: 'npu.inst' op unknown mnemonic 'hlat'; did you mean 'halt'?");
  EXPECT_EQ(diagnosticOf(programText("npu.inst @halt(n = 1)")),
            "p.mlir:3:1: error: 'npu.inst' op 'halt' has no operand 'n'");
  EXPECT_EQ(diagnosticOf(programText("npu.inst @fill(d = 1, value = 2, n1 = 3)")),
            "p.mlir:3:1: error: 'npu.inst' op the operand 'n0' of 'fill' is missing");
  EXPECT_EQ(diagnosticOf(programText("npu.inst @fill(d = 1, d = 2, n1 = 3, n0 = 4)")),
            "p.mlir:3:1: error: 'npu.inst' op the operand 'd' is given twice");
  EXPECT_EQ(diagnosticOf(programText("npu.inst @fill(d = 1, value = 2 + x1, n1 = 3, n0 = 4)")),
            "p.mlir:3:1: error: 'npu.inst' op the operand 'value' of 'fill' is no address and has "
            "no base register");
  EXPECT_EQ(diagnosticOf(programText("npu.inst @fill(d = 1, value = 300, n1 = 3, n0 = 4)")),
            "p.mlir:3:1: error: 'npu.inst' op 'fill': 'value' is 300, not within -128..127");
  EXPECT_EQ(diagnosticOf(programText("npu.inst @halt signal [31]")),
            "p.mlir:3:1: error: 'npu.inst' op 'halt': the signal mask 0x80000000 names a semaphore "
            "beyond 15");
}

TEST(Npu, NamesThePlaceInTheFileAndNotTheWrittenLocation) {
  EXPECT_EQ(diagnosticOf(programText("npu.inst @halt\n  npu.inst @hlat loc(\"conv\"(\"Conv\"))")),
            "p.mlir:4:3: error: 'npu.inst' op unknown mnemonic 'hlat'; did you mean 'halt'?");
}

TEST(Npu, RefusesAProgramForAnotherIsa) {
  EXPECT_EQ(diagnosticOf(programText("npu.inst @halt", theIsa().hash(), "1234")),
            fmt::format("p.mlir:2:1: error: 'npu.program' op was made for another ISA: hash 1234, "
                        "but target 'edge16' has {}",
                        theIsa().hash()));
}

TEST(Npu, RefusesWhatNoProgramFileMayHold) {
  EXPECT_EQ(diagnosticOf(programText("")),
            "p.mlir:2:1: error: 'npu.program' op has no instructions");
  EXPECT_EQ(diagnosticOf(programText("npu.inst @halt", "entry = 0", "entry = 1")),
            "p.mlir:2:1: error: 'npu.program' op has its entry outside the code: instruction 1 of "
            "1");
  EXPECT_EQ(diagnosticOf(programText("npu.input \"x\" : tensor<8192xi8> at 0\nnpu.inst @halt")),
            "p.mlir:2:1: error: 'npu.program' op has input tensor 'x' outside its DRAM: 8192 bytes "
            "at 0x0, of 4096");
}

TEST(Npu, RefusesInstructionsThatNothingOrders) {
  EXPECT_EQ(diagnosticOf(programText("npu.inst @fill(d = 0, value = 1, n1 = 1, n0 = 4) wait [2]\n"
                                     "npu.inst @halt")),
            "p.mlir:3:1: error: 'npu.inst' op instruction 0 (fill          d=0x0, value=1, n1=1, "
            "n0=4 !wait=2) waits for semaphore 2, which no earlier instruction signals");
  EXPECT_EQ(
      diagnosticOf(programText("npu.inst @fill(d = 0, value = 1, n1 = 1, n0 = 4) signal [2]")),
      "p.mlir:2:1: error: 'npu.program' op is not synchronized: semaphore 2 ends with 1 signals "
      "that nobody waits for");
}

TEST(Npu, RefusesModulesThatAreNoProgram) {
  EXPECT_EQ(diagnosticOf(""), "p.mlir:1:1: error: the module has no npu.program");
  EXPECT_EQ(diagnosticOf(programText("npu.inst @halt") + programText("npu.inst @halt")),
            "p.mlir:6:1: error: 'npu.program' op is the module's second program");
  EXPECT_EQ(diagnosticOf("module {\n  module {\n  }\n}\n"),
            "p.mlir:2:3: error: 'builtin.module' op has no place beside npu.program");
  EXPECT_EQ(diagnosticOf("func.func @main() {\n  return\n}\n"),
            "p.mlir:1:1: error: Dialect `func' not found for custom op 'func.func' ");
}

} // namespace tilewright
