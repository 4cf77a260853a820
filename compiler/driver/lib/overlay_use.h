// What became of the instructions of an overlay: an instruction that nothing takes should not go
// unnoticed.
#pragma once

#include "tilewright/compiler/select/selection_report.h"
#include "tilewright/program/program.h"

#include <string>
#include <vector>

namespace tilewright {

// Instructions that the overlays add or change, in their order, each once; those that are removed
// are not there.
std::vector<std::string> instructionsOf(const std::vector<std::string> &overlays,
                                        const isa::Isa &isa);

// "mdw: taken 12 times, in 1 layer: conv_1 (Conv)", or why not; a line.
std::string useOf(const std::string &instruction, const Program &program, const isa::Isa &isa,
                  const SelectionReport &selection);

} // namespace tilewright
