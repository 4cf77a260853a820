// A small valid program, and a way to see the diagnostic of a bad one.
#pragma once

#include "tilewright/program/program.h"

#include <functional>
#include <string>

namespace tilewright::test {

const isa::Isa &sampleIsa();

// Two instructions (any bits), two data segments, a float input, an integer output, two layers.
Program sampleProgram();

// The diagnostic that reading `bytes` as "p.elf" gives; "" when it is read.
std::string readDiagnostic(const std::string &bytes);

// The sample's bytes with `change` made to them.
std::string changed(const std::function<void(std::string &)> &change);

// Overwrites the bytes at `offset`.
template <typename T> void poke(std::string &bytes, size_t offset, T value) {
  bytes.replace(offset, sizeof value, reinterpret_cast<const char *>(&value), sizeof value);
}

} // namespace tilewright::test
