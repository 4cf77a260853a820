// libFuzzer: any bytes as the JSON that `tilewright report` reads. Only UserError may come out,
// whatever form is asked for.
#include "sample.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>

using namespace tilewright;

static void makeCorpus(const std::string &directory) {
  std::filesystem::create_directories(directory);
  report::Report report = test::sampleReport();
  writeFile(directory + "/plain.json", report::toJson(report));
  report::addDrawings(report, test::sampleProgram(), test::sampleRecord(), test::sampleIsa());
  writeFile(directory + "/drawings.json", report::toJson(report));
}

extern "C" int LLVMFuzzerInitialize(int *argc, char ***argv) {
  if (*argc == 3 && std::strcmp((*argv)[1], "--make-corpus") == 0) {
    makeCorpus((*argv)[2]);
    std::exit(0);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  try {
    const report::Report report =
        report::fromJson("fuzz.json", std::string(reinterpret_cast<const char *>(data), size));
    report::toText(report);
    report::toCsv(report);
    report::toHtml(report);
    for (const report::Row &row : report.layers)
      report::explain(report, row);
    report::explain("fuzz.json", report, "conv");
  } catch (const UserError &) {
  }
  return 0;
}
