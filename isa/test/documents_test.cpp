// ctest -R Documents: generated texts are fresh, complete, and say what they should.
#include "description.h"
#include "tilewright/isa/documents.h"
#include "tilewright/isa/schema.h"
#include "tilewright/support/files.h"
#include "tilewright/testing/source_path.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

using namespace tilewright;
using namespace tilewright::isa;
using testing::HasSubstr;
namespace fs = std::filesystem;

static void expectFresh(const std::string &directory, const std::vector<Document> &documents) {
  std::vector<std::string> stale;
  for (const Document &document : documents) {
    std::string path = sourcePath(directory + "/" + document.name);
    if (!fs::exists(path) || readFile(path) != document.text)
      stale.push_back(document.name);
  }
  EXPECT_THAT(stale, testing::IsEmpty())
      << "in " << directory << "; to write it anew: tilewright isa doc --schemas isa/schema";
  EXPECT_EQ(static_cast<size_t>(std::distance(fs::directory_iterator(sourcePath(directory)),
                                              fs::directory_iterator())),
            documents.size())
      << "files in " << directory << " that nothing generates";
}

TEST(Documents, ManualIsFresh) { expectFresh("docs/isa-manual", manual(shipped())); }

TEST(Documents, DriversHeaderIsFresh) {
  EXPECT_EQ(readFile(sourcePath("runtime/include/tilewright_registers.h")),
            registersHeader(shipped().registers()))
      << "to write it anew: tilewright isa registers --format c -o "
         "runtime/include/tilewright_registers.h";
}

TEST(Documents, SchemasAreFresh) { expectFresh("isa/schema", jsonSchemas()); }

TEST(Documents, EveryInstructionHasAPageWithAnExample) {
  for (const Instruction &instruction : shipped().instructions()) {
    std::string page = manualPage(shipped(), instruction);
    EXPECT_THAT(page, HasSubstr("## Semantics\n")) << instruction.name;
    EXPECT_THAT(page, HasSubstr("## Timing\n")) << instruction.name;
    if (instruction.control == Control::None)
      EXPECT_THAT(page, HasSubstr("## Example\n")) << instruction.name;
  }
}

// Each shipped file satisfies the JSON schema of its kind, and each has that schema's required
// keys.
TEST(Documents, SchemasDescribeTheShippedFiles) {
  std::map<std::string, nlohmann::json> schemas;
  for (const Document &document : jsonSchemas())
    schemas[document.name] = nlohmann::json::parse(document.text);
  int checked = 0;
  auto check = [&](const fs::path &path, const std::string &schema) {
    yaml::Node file = yaml::read(path.string());
    const nlohmann::json &properties =
        schemas.at(schema).value("properties", nlohmann::json::object());
    for (const yaml::Node &key : file.keys)
      EXPECT_TRUE(properties.empty() || properties.contains(key.text)) << path << ": " << key.text;
    for (const auto &required : schemas.at(schema).value("required", nlohmann::json::array()))
      EXPECT_NE(file.find(required.get<std::string>()), nullptr) << path << ": " << required;
    ++checked;
  };
  check(sourcePath("isa/description/machine.yaml"), "machine.json");
  check(sourcePath("isa/description/timing.yaml"), "timing.json");
  check(sourcePath("isa/description/registers.yaml"), "registers.json");
  for (const auto &[directory, schema] : {std::pair("description/instructions", "instruction.json"),
                                          {"targets", "target.json"},
                                          {"dram", "dram.json"},
                                          {"what-if", "overlay.json"}})
    for (const auto &entry : fs::directory_iterator(sourcePath("isa/") + directory))
      if (entry.path().extension() == ".yaml")
        check(entry.path(), schema);
  EXPECT_GT(checked, 60);
}

TEST(Documents, ShippedOverlaysLoadAndChangeSomething) {
  int overlays = 0;
  for (const auto &entry : fs::directory_iterator(sourcePath("isa/what-if"))) {
    if (entry.path().extension() != ".yaml")
      continue;
    LoadOptions options;
    options.directory = sourcePath("isa");
    options.overlays = {entry.path().string()};
    EXPECT_NE(differences(shipped(), load(options)), "") << entry.path();
    ++overlays;
  }
  EXPECT_GE(overlays, 3);
}

TEST(Differences, NamesWhatAnOverlayChanges) {
  Description description;
  description.overlay(
      "timing: { vector: { start: \"3\" } }\ntarget: { params: { loop_depth: \"5\" } }\n");
  EXPECT_EQ(differences(shipped(), description.load()),
            "- param loop_depth = 4\n+ param loop_depth = 5\n- timing vector.start = " +
                std::to_string(shipped().timing().at("vector.start")) +
                "\n+ timing vector.start = 3\n");
  EXPECT_EQ(differences(shipped(), shipped()), "");
}

TEST(ShippedTargets, AreNamed) {
  LoadOptions options;
  options.directory = sourcePath("isa");
  EXPECT_THAT(shippedTargets(options),
              testing::IsSupersetOf({"edge16", "edge32", "odd12x20", "wide32x8"}));
}

TEST(ShippedDrams, AreNamed) {
  LoadOptions options;
  options.directory = sourcePath("isa");
  EXPECT_THAT(shippedDrams(options), testing::IsSupersetOf({"ddr4", "ideal", "lpddr4"}));
}
