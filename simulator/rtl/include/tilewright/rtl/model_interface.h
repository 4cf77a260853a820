// What a compiled model and the engine exchange: one C structure, exchanged at each clock edge.
// The wrapper that is compiled with the model includes this same text.
#pragma once

#include <cstdint>

namespace tilewright::rtl {

struct ModelPorts {
  // Into the core, in the cycle that the next edge begins. `rData` and `wData` are beats,
  // little-endian.
  uint8_t resetN = 0;
  // The host's side of AXI4-Lite.
  uint8_t hostAwValid = 0, hostWValid = 0, hostWStrobe = 0, hostBReady = 0;
  uint8_t hostArValid = 0, hostRReady = 0;
  uint16_t hostAwAddress = 0, hostArAddress = 0;
  uint32_t hostWData = 0;
  uint8_t arReady = 1, awReady = 1, wReady = 1;
  uint8_t rValid = 0, rLast = 0, rId = 0, rResponse = 0, bValid = 0, bId = 0, bResponse = 0;
  uint8_t rData[128] = {};
  uint8_t watchesWrites = 0;          // the writes on chip are asked for
  uint16_t spadPort = 0, accPort = 0; // bytes
  // Out of the core, in the cycle that the last edge began.
  uint8_t interrupt = 0, active = 0; // active: the core is out of reset
  uint8_t hostAwReady = 0, hostWReady = 0, hostBValid = 0, hostBResponse = 0;
  uint8_t hostArReady = 0, hostRValid = 0, hostRResponse = 0;
  uint32_t hostRData = 0;
  uint8_t halted = 0, executed = 0, isControl = 0, trap = 0, busError = 0;
  uint8_t arValid = 0, arLen = 0, arId = 0;
  uint8_t awValid = 0, awLen = 0, awId = 0, wValid = 0, wLast = 0;
  uint8_t startValid[4] = {}, startFault[4] = {}, endValid[9] = {};
  uint8_t activityKind[5] = {}, activityCause[5] = {};
  uint32_t pc = 0, executedId = 0, errors = 0;
  uint32_t startId[4] = {}, endId[9] = {}, activityId[5] = {}, conflicts[16] = {};
  uint64_t arAddress = 0, awAddress = 0;
  uint8_t wData[128] = {}, wStrobe[16] = {};
  // Writes on chip: to the scratchpad by vector, load; to the accumulators by matrix, vector, load.
  uint8_t writeValid[5] = {};
  uint16_t writeBytes[5] = {};
  uint64_t writeAddress[5] = {};
  uint8_t writeData[5][1024] = {};
};

// Functions of a model's library, by these names.
using CreateModel = void *(*)();
using DestroyModel = void (*)(void *);
// The clock edge between two cycles: inputs of the next one in, its outputs out.
using ClockModel = void (*)(void *, ModelPorts *);
// Writes all signals to an FST file from now on; a cycle takes `period` picoseconds. 0: it cannot.
using WavesModel = int (*)(void *, const char *path, uint64_t period);
constexpr char createModelName[] = "tilewright_model_create";
constexpr char destroyModelName[] = "tilewright_model_destroy";
constexpr char clockModelName[] = "tilewright_model_clock";
constexpr char wavesModelName[] = "tilewright_model_waves";

} // namespace tilewright::rtl
