#include "tilewright/testing/harness.h"

#include "core.h"
#include "direct_bus.h"
#include "register_values.h"

#include "tilewright/isa/assembler.h"
#include "tilewright/isa/extent.h"
#include "tilewright/support/error.h"
#include "tilewright/testing/source_path.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>

namespace tilewright::cycle {

const isa::Isa &target(const std::string &name) {
  static std::map<std::string, std::unique_ptr<isa::Isa>> loaded;
  auto &isa = loaded[name];
  if (!isa) {
    isa::LoadOptions options;
    const size_t plus = name.find('+');
    options.target = name.substr(0, plus);
    options.directory = sourcePath("isa");
    if (plus != std::string::npos)
      options.overlays = {options.directory + "/what-if/" + name.substr(plus + 1) + ".yaml"};
    isa = std::make_unique<isa::Isa>(isa::load(options));
  }
  return *isa;
}

DramConfig idealDram(const isa::Isa &isa) {
  DramConfig config;
  config.busBytes = config.accessBytes = isa.param("bus_bytes");
  return config;
}

Program makeProgram(const isa::Isa &isa, const std::vector<isa::DecodedInstruction> &instructions) {
  Program program;
  program.file = "test.elf";
  program.codeAddress = uint64_t(1) << 30;
  for (const isa::DecodedInstruction &decoded : instructions) {
    const isa::Bits bits = isa.encode(decoded);
    program.code.append(bits.begin(), bits.end());
  }
  program.dramBytes = program.codeAddress + program.code.size();
  return program;
}

Program assemble(const isa::Isa &isa, const std::string &text) {
  return makeProgram(isa, isa::assemble(isa, text, "test.s"));
}

namespace {

Observer observer = nullptr;

RunRecord runCore(const Program &program, const RunSetup &setup) {
  const std::vector<timing::InstructionTiming> timings = timing::makeTimings(setup.isa);
  RegisterValues values(setup.isa);
  DirectBus bus(setup.dram);
  Core core(setup.isa, timings, program, values, bus, setup.options);
  while (!core.advance(1000)) {
  }
  RunRecord record = core.record();
  record.dramRowHits = bus.dram.rowHits();
  record.dramRowMisses = bus.dram.rowMisses();
  record.dramRefreshes = bus.dram.refreshes();
  return record;
}

} // namespace

void observeRuns(Observer given) { observer = given; }

RunRecord run(const Program &program, const RunSetup &setup) {
  RunRecord record;
  try {
    record = runCore(program, setup);
  } catch (const UserError &error) {
    if (observer != nullptr)
      observer(program, setup, nullptr, error.what());
    throw;
  }
  if (observer != nullptr)
    observer(program, setup, &record, "");
  return record;
}

RunRecord run(const std::string &text, const RunSetup &setup) {
  return run(assemble(setup.isa, text), setup);
}

std::vector<InstructionRecord> after(const std::string &settings, const std::string &text,
                                     const RunSetup &setup) {
  const RunRecord record =
      run(settings + "branch rs=x0, negate=0, offset=1\nfence\n" + text + "\nhalt", setup);
  std::vector<InstructionRecord> result;
  bool found = false;
  for (const InstructionRecord &entry : record.trace) {
    if (found)
      result.push_back(entry);
    found = found ||
            (entry.start == entry.end && entry.stalls[static_cast<int>(Stall::Dependence)] > 0);
  }
  return result;
}

std::string print(const RunRecord &record, const isa::Isa &isa) {
  std::string text = fmt::format("cycles {} instructions {} read {} written {} fetched {} rows "
                                 "{}/{} refreshes {} stopped {}\n",
                                 record.cycles, record.instructions, record.dramReadBytes,
                                 record.dramWriteBytes, record.fetchBytes, record.dramRowHits,
                                 record.dramRowMisses, record.dramRefreshes, record.stopped);
  auto stalls = [&](const int64_t *counts) {
    for (int cause = 0; cause < static_cast<int>(Stall::Count); ++cause)
      if (counts[cause] != 0)
        text += fmt::format(" {} {}", name(static_cast<Stall>(cause)), counts[cause]);
    text += "\n";
  };
  for (size_t unit = 0; unit < record.units.size(); ++unit) {
    text += fmt::format("{}: busy {} idle {}", isa.units()[unit].name, record.units[unit].busy,
                        record.units[unit].idle);
    stalls(record.units[unit].stalls);
    for (size_t winner = 0; winner < record.units.size(); ++winner)
      if (record.bankConflicts[unit][winner] != 0)
        text += fmt::format("  lost {} to {}\n", record.bankConflicts[unit][winner],
                            isa.units()[winner].name);
  }
  for (const InstructionRecord &entry : record.trace) {
    text +=
        fmt::format("{}: dispatch {} start {} end {} read {} written {}", entry.pc, entry.dispatch,
                    entry.start, entry.end, entry.dramReadBytes, entry.dramWriteBytes);
    stalls(entry.stalls);
  }
  return text;
}

} // namespace tilewright::cycle
