// libFuzzer: any bytes as assembly text. What assembles must come back from its canonical text;
// only UserError may come out.
#include "tilewright/isa/assembler.h"
#include "tilewright/support/error.h"
#include "tilewright/testing/fuzz_input.h"

#include <cstdlib>

using namespace tilewright;

extern "C" int LLVMFuzzerInitialize(int *count, char ***arguments) {
  fuzz::answerMakeCorpus(*count, *arguments, "isa/fuzz/make_corpus", "assembler");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const isa::Isa isa = [] {
    isa::LoadOptions options;
    options.directory = TILEWRIGHT_ISA_SOURCE;
    return isa::load(options);
  }();
  try {
    for (const isa::DecodedInstruction &decoded : isa::assemble(
             isa, std::string_view(reinterpret_cast<const char *>(data), size), "fuzz.s")) {
      isa::Bits bits = isa.encode(decoded);
      std::vector<isa::DecodedInstruction> back =
          isa::assemble(isa, isa::disassemble(isa, decoded), "back.s");
      isa::DecodedInstruction again;
      std::string reason;
      if (back.size() != 1 || isa.encode(back[0]) != bits ||
          !isa.decode(bits.data(), again, reason))
        std::abort();
    }
  } catch (const UserError &) {
  }
  return 0;
}
