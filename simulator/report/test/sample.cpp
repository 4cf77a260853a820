#include "sample.h"

#include <sstream>

namespace tilewright::test {

const isa::Isa &sampleIsa() {
  static const isa::Isa isa = isa::load({});
  return isa;
}

size_t unit(const std::string &name) {
  return static_cast<size_t>(sampleIsa().findUnit(name)->index);
}

InstructionRecord record(uint64_t pc, int64_t start, int64_t end) {
  InstructionRecord instruction;
  instruction.pc = pc;
  instruction.start = start;
  instruction.end = end;
  return instruction;
}

// The code of an instruction of the unit with all operands zero: enough to tell the unit.
static void appendInstruction(Program &program, const std::string &name) {
  const isa::Isa &isa = sampleIsa();
  const isa::Instruction &instruction = *isa.find(name);
  isa::DecodedInstruction decoded;
  decoded.instruction = instruction.index;
  for (const isa::Operand &operand : instruction.operands)
    decoded.values.push_back(operand.kind == isa::Operand::Kind::Immediate ? 1 : 0);
  decoded.bases.assign(instruction.operands.size(), 0);
  isa::Bits bits = isa.encode(decoded);
  program.code.append(bits.begin(), bits.end());
}

Program sampleProgram() {
  Program program;
  program.target = "edge16";
  program.isaHash = sampleIsa().hash();
  for (const char *name : {"load", "mmul", "vadd", "store", "load", "mmul", "halt"})
    appendInstruction(program, name);
  program.dramBytes = 0x1000;
  program.layers = {{"conv", "Conv", 10240, 80, 100, 200, 300}, {"relu", "Relu", 0, 0, 10, 20, 30}};
  program.runs = {{0, 0}, {4, 1}, {6, -1}};
  program.scratchpadPeakBytes = 2048;
  program.accumulatorPeakBytes = 1024;
  return program;
}

RunRecord sampleRecord() {
  RunRecord run;
  run.cycles = 100;
  run.instructions = 7;
  run.trace = {record(0, 0, 20),  record(1, 20, 60), record(2, 60, 70), record(3, 70, 90),
               record(4, 20, 50), record(5, 60, 80), record(6, 95, 96)};
  run.trace[0].dramReadBytes = 160;
  run.trace[4].dramReadBytes = 96;
  run.trace[3].dramWriteBytes = 128;
  run.trace[1].stalls[static_cast<int>(Stall::Semaphore)] = 20;
  run.dramReadBytes = 256;
  run.dramWriteBytes = 128;
  run.fetchBytes = 112;
  run.dramRowHits = 9;
  run.dramRowMisses = 1;
  run.units.resize(sampleIsa().units().size());
  for (UnitRecord &each : run.units)
    each.idle = 100;
  UnitRecord &matrix = run.units[unit("matrix")];
  matrix.busy = 60;
  matrix.stalls[static_cast<int>(Stall::Semaphore)] = 20;
  matrix.idle = 20;
  UnitRecord &load = run.units[unit("load")];
  load.busy = 50;
  load.idle = 50;
  return run;
}

report::Report sampleReport(const Program &program, const RunRecord &run) {
  report::Options options;
  options.program = "p.elf";
  options.engine = "cycle";
  return report::build(program, run, sampleIsa(), options);
}

std::vector<std::string> lines(const std::string &text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    result.push_back(line);
  return result;
}

} // namespace tilewright::test
