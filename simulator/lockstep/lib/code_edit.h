// Putting instructions into a program and taking them out, so that loops and branches still mean
// what they meant.
#pragma once

#include "tilewright/isa/isa.h"

#include <vector>

namespace tilewright::lockstep {

// Before instruction `at`: a branch to it goes to what is put there.
void insertBefore(const isa::Isa &isa, std::vector<isa::Bits> &code, size_t at,
                  const isa::DecodedInstruction &decoded);
// Instructions [begin, end); a loop whose body is gone goes too.
void remove(const isa::Isa &isa, std::vector<isa::Bits> &code, size_t begin, size_t end);

} // namespace tilewright::lockstep
