// What a small network gives on an engine, for tests that compare plans of it.
#pragma once

#include "network.h"

#include "tilewright/compiler/driver/driver.h"
#include "tilewright/program/program.h"
#include "tilewright/simulator/engine/engine.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

namespace tilewright {

struct NetworkOutcome {
  std::string output;
  int64_t cycles = 0, dramBytes = 0;
  std::string plan, summary;
  std::vector<LayerInfo> layers;
  std::map<std::string, int64_t> instructions; // how many were executed, by name
};

// What networks are given: any bytes.
inline std::string anyInput(size_t bytes) {
  std::string input;
  uint32_t seed = 7;
  for (size_t i = 0; i < bytes; ++i, seed = seed * 1103515245 + 12345)
    input += static_cast<char>(static_cast<uint8_t>(seed >> 16));
  return input;
}

// `text`: a module of integer TOSA.
inline NetworkOutcome outcomeOf(const std::string &text, const std::string &target, bool fusion,
                                const char *engine, const std::vector<std::string> &overlays = {}) {
  CompileOptions options;
  options.target = target;
  options.overlays = overlays;
  options.fusion = fusion;
  std::string test = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  std::replace(test.begin(), test.end(), '/', '_');
  options.model = ::testing::TempDir() + "/outcome_" + test + ".mlir";
  std::ofstream(options.model) << text;
  const CompileResult compiled = compile(options);
  const isa::Isa isa = isa::load({target, overlays, ""});
  const Program program = readProgram("test.elf", compiled.output, isa);
  DramImage dram(program);
  const TensorInfo &input = program.inputs[0], &output = program.outputs[0];
  auto bytesOf = [](const TensorInfo &tensor) {
    auto bytes = static_cast<size_t>(byteSize(tensor.dtype));
    for (int64_t extent : tensor.shape)
      bytes *= static_cast<size_t>(extent);
    return bytes;
  };
  const std::string given = anyInput(bytesOf(input));
  std::copy(given.begin(), given.end(), dram.data() + input.address);
  const RunRecord record = makeEngine(engine, isa)->run(program, dram, {});
  NetworkOutcome result;
  result.output.assign(reinterpret_cast<const char *>(dram.data()) + output.address,
                       bytesOf(output));
  result.cycles = record.cycles;
  const auto *bits = reinterpret_cast<const uint8_t *>(program.code.data());
  for (const InstructionRecord &each : record.trace) {
    result.dramBytes += each.dramReadBytes + each.dramWriteBytes;
    isa::DecodedInstruction decoded;
    std::string reason;
    isa.decode(bits + each.pc * static_cast<uint64_t>(isa.instructionBytes()), decoded, reason);
    ++result.instructions[isa.instructions()[static_cast<size_t>(decoded.instruction)].name];
  }
  result.plan = compiled.plan;
  result.summary = compiled.summary;
  result.layers = program.layers;
  return result;
}

inline NetworkOutcome outcomeOf(const Network &network, const std::string &target, bool fusion,
                                const char *engine, const std::vector<std::string> &overlays = {}) {
  return outcomeOf(network.text(), target, fusion, engine, overlays);
}

} // namespace tilewright
