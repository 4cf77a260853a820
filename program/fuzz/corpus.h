// Small valid programs for the fuzzer to start from.
#pragma once

#include "tilewright/isa/isa.h"

#include <string>

namespace tilewright::fuzz {

// Writes one file for each kind of content that a program can have: none, data, tensors, layers,
// all.
void makeCorpus(const std::string &directory, const isa::Isa &isa);

} // namespace tilewright::fuzz
