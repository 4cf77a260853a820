// A machine with an overlay, for tests: a header alone, so that any test may load one.
#pragma once

#include "tilewright/isa/isa.h"
#include "tilewright/support/files.h"
#include "tilewright/testing/source_path.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

namespace tilewright {

// The target with an overlay: the text after its schema, name and summary.
inline isa::Isa overlaid(const std::string &overlay, const std::string &target = "edge16") {
  const std::string path = testing::TempDir() + std::to_string(::getpid()) + ".overlay.yaml";
  writeFile(path, "schema: \"tilewright/overlay/1\"\nname: \"test\"\nsummary: \"A test.\"\n" +
                      overlay + "\n");
  isa::LoadOptions options;
  options.target = target;
  options.directory = sourcePath("isa");
  options.overlays = {path};
  isa::Isa isa = isa::load(options);
  std::remove(path.c_str());
  return isa;
}

} // namespace tilewright
