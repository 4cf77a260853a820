// libFuzzer: any bytes as the description of a machine, an instruction, times, a target or an
// overlay. The first byte chooses which. Only UserError may come out.
#include "tilewright/isa/isa.h"
#include "tilewright/isa/yaml.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"
#include "tilewright/testing/fuzz_input.h"

#include <cstdlib>
#include <filesystem>

using namespace tilewright;

namespace fs = std::filesystem;

// A copy of the shipped description, of which one file is replaced for each input.
static const std::string &directory() {
  // Never destroyed: the exit handler needs it.
  static const std::string &path = *new std::string([] {
    std::string pattern = (fs::temp_directory_path() / "tilewright-fuzz-XXXXXX").string();
    if (!mkdtemp(pattern.data()))
      std::abort();
    for (const char *part : {"description", "targets", "dram", "technologies"})
      fs::copy(fs::path(TILEWRIGHT_ISA_SOURCE) / part, fs::path(pattern) / part,
               fs::copy_options::recursive);
    std::atexit([] { fs::remove_all(directory()); });
    return pattern;
  }());
  return path;
}

extern "C" int LLVMFuzzerInitialize(int *count, char ***arguments) {
  fuzz::answerMakeCorpus(*count, *arguments, "isa/fuzz/make_corpus", "yaml");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  static const char *files[] = {"description/machine.yaml", "description/instructions/mmul.yaml",
                                "description/timing.yaml",  "targets/edge16.yaml",
                                "dram/lpddr4.yaml",         "overlay.yaml"};
  const std::string name = files[data[0] % 6], path = directory() + "/" + name;
  std::string text(reinterpret_cast<const char *>(data) + 1, size - 1);
  try { // most inputs end here, without a load of the whole description
    yaml::parse(text, path);
  } catch (const UserError &) {
    return 0;
  }
  std::string kept = name == "overlay.yaml" ? "" : readFile(path);
  writeFile(path, text);
  isa::LoadOptions options;
  options.directory = directory();
  if (name == "overlay.yaml")
    options.overlays = {path};
  try {
    isa::load(options);
  } catch (const UserError &) {
  }
  if (name != "overlay.yaml")
    writeFile(path, kept);
  return 0;
}
