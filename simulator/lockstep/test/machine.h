// A small machine with its engines, and programs for it.
#pragma once

#include "tilewright/isa/assembler.h"
#include "tilewright/simulator/engine/engine.h"
#include "tilewright/testing/source_path.h"

#include <memory>
#include <string>

namespace tilewright::lockstep {

inline const isa::Isa &tiny() {
  static const isa::Isa isa = [] {
    isa::LoadOptions options;
    options.target = "tiny4";
    options.directory = sourcePath("isa");
    return isa::load(options);
  }();
  return isa;
}

inline Engine &cycleEngine() {
  static const std::unique_ptr<Engine> engine = makeCycleEngine(tiny());
  return *engine;
}

inline Engine &functionalEngine() {
  static const std::unique_ptr<Engine> engine = makeFunctionalEngine(tiny());
  return *engine;
}

inline Program assemble(const std::string &text) {
  Program program;
  program.file = "test.elf";
  for (const isa::DecodedInstruction &decoded : isa::assemble(tiny(), text, "test.s")) {
    const isa::Bits bits = tiny().encode(decoded);
    program.code.append(bits.begin(), bits.end());
  }
  program.codeAddress = 0x8000;
  program.dramBytes = program.codeAddress + program.code.size();
  Segment data;
  for (int i = 0; i < 0x1000; ++i)
    data.bytes.push_back(static_cast<char>(i * 37 + (i >> 3)));
  program.data.push_back(data);
  return program;
}

} // namespace tilewright::lockstep
