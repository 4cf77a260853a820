// Finding the first difference between two runs.
#pragma once

#include "run.h"

namespace tilewright::lockstep {

// Both engines have time. Runs both again when they differ.
std::optional<Difference> timedDifference(const Setup &setup, const Outcome &a, const Outcome &b);
// One of them has none.
std::optional<Difference> untimedDifference(const Setup &setup, const Outcome &a, const Outcome &b);

// "rtl comes to its end".
std::string endText(const Setup &setup, const Outcome &run);
// How runs end: "" or what differs.
std::string endDifference(const Setup &setup, const Outcome &a, const Outcome &b);
// The first element of the trace in which both leave other bytes, if any.
std::optional<Difference> writtenDifference(const Setup &setup, const Outcome &a, const Outcome &b);
std::optional<Difference> memoryDifference(const Setup &setup, const Outcome &a, const Outcome &b);

// "cycle 12, matrix, instruction 3 (layer 'conv') `mmul ...`: ": the parts that a difference has.
std::string placeText(const Setup &setup, const Difference &difference);
// "instruction 3 (layer 'conv') `mmul ...`".
std::string instructionText(const Setup &setup, uint64_t pc);
std::string hexBytes(const std::vector<uint8_t> &bytes);

} // namespace tilewright::lockstep
