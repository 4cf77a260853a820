// rtl-proof-sources TARGET DIRECTORY [OVERLAY]...: the RTL of a machine, and the modules that
// tests/proofs compares with it.
#include "proof_text.h"

#include "tilewright/rtl/generate.h"

#include "tilewright/support/error.h"
#include "tilewright/support/files.h"

#include <cstdio>

int main(int argc, char **argv) {
  using namespace tilewright;
  if (argc < 3) {
    std::fprintf(stderr, "usage: rtl-proof-sources TARGET DIRECTORY [OVERLAY]...\n");
    return 2;
  }
  const std::string directory = argv[2];
  try {
    isa::LoadOptions options;
    options.target = argv[1];
    options.overlays.assign(argv + 3, argv + argc);
    const isa::Isa isa = isa::load(options);
    for (const rtl::SourceFile &file : rtl::generate(isa))
      writeFile(directory + "/" + file.name, file.text);
    writeFile(directory + "/tilewright_proof.sv", rtl::proofText(isa));
    writeFile(directory + "/proof.json", rtl::proofTable(isa));
  } catch (const UserError &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
