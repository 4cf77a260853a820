// libFuzzer: any bytes as an experiment or as a technology; the first byte chooses which. Of an
// experiment the settings are drawn, and their overlays must be YAML of ours. Only UserError may
// come out.
#include "settings.h"
#include "tilewright/explore/experiment.h"
#include "tilewright/explore/technology.h"
#include "tilewright/support/error.h"
#include "tilewright/support/files.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>

using namespace tilewright;
using namespace tilewright::explore;

namespace fs = std::filesystem;

// Seeds: the shipped files, each behind its first byte.
static void makeCorpus(const std::string &directory) {
  fs::create_directories(directory);
  for (const auto &[choice, folder] : {std::pair('0', "experiments"), {'1', "technology"}})
    for (const auto &entry : fs::directory_iterator(fs::path(TILEWRIGHT_EXPLORE_SOURCE) / folder))
      writeFile(directory + "/" + entry.path().filename().string(),
                choice + readFile(entry.path().string()));
}

extern "C" int LLVMFuzzerInitialize(int *argc, char ***argv) {
  if (*argc == 3 && std::strcmp((*argv)[1], "--make-corpus") == 0) {
    makeCorpus((*argv)[2]);
    std::exit(0);
  }
  return 0;
}

static const std::string &inputFile() {
  // Never destroyed: the exit handler needs it.
  static const std::string &path = *new std::string([] {
    std::string pattern = (fs::temp_directory_path() / "tilewright-fuzz-XXXXXX").string();
    if (!mkdtemp(pattern.data()))
      std::abort();
    std::atexit([] { fs::remove_all(fs::path(inputFile()).parent_path()); });
    return pattern + "/e.yaml";
  }());
  return path;
}

static void drawSettings(const Experiment &experiment) {
  const Settings settings(experiment);
  Chance chance(experiment.seed);
  for (int i = 0; i < 4; ++i)
    if (const std::optional<Setting> setting = settings.at(chance.below(settings.size())))
      yaml::parse(overlayText(*setting), "setting.yaml");
  if (settings.size() <= 1000)
    chosenSettings(experiment, settings);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  writeFile(inputFile(), std::string(reinterpret_cast<const char *>(data) + 1, size - 1));
  try {
    if (data[0] % 2 == 0)
      drawSettings(readExperiment(inputFile()));
    else
      readTechnology(inputFile());
  } catch (const UserError &) {
  }
  return 0;
}
