// Runs assembled programs on the core alone: no SystemC, no values but the registers, the DRAM that
// a test asks for.
#pragma once

#include "tilewright/simulator/cycle/core_options.h"
#include "tilewright/testing/overlaid.h"

#include "tilewright/isa/isa.h"
#include "tilewright/simulator/memory/dram_model.h"

#include <string>

namespace tilewright::cycle {

// A shipped target, loaded once; "edge16+depthwise": with that overlay.
const isa::Isa &target(const std::string &name);

// A bus without banks, refresh or latency: isa/dram/ideal.yaml.
DramConfig idealDram(const isa::Isa &isa);

Program makeProgram(const isa::Isa &isa, const std::vector<isa::DecodedInstruction> &instructions);
Program assemble(const isa::Isa &isa, const std::string &text);

struct RunSetup {
  const isa::Isa &isa = target("edge16");
  DramConfig dram = idealDram(target("edge16"));
  CoreOptions options = {};
};
// Sees each run: its record, or the error that ended it. How the tests of another engine run the
// programs of these.
using Observer = void (*)(const Program &program, const RunSetup &setup, const RunRecord *record,
                          const std::string &error);
void observeRuns(Observer observer);
RunRecord run(const Program &program, const RunSetup &setup = {});
RunRecord run(const std::string &text, const RunSetup &setup = {});

// Fills a memory, and waits long enough for all lines to come.
inline const std::string pause = "fill d=0x3f000, value=0, n1=1, n0=2048\n";
// The instructions of `text`, after a fence; fetch is over by then when `settings` end with a
// pause.
std::vector<InstructionRecord> after(const std::string &settings, const std::string &text,
                                     const RunSetup &setup = {});

// The record as text, all of it: what "identical" means in the tests.
std::string print(const RunRecord &record, const isa::Isa &isa);

} // namespace tilewright::cycle
