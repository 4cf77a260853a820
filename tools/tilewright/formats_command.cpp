// tilewright formats: what models are read, and which operators of them.
#include "compile_command.h"
#include "standard_streams.h"
#include "tilewright/compiler/frontend/model_formats.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <sstream>

namespace tilewright {

// Lines of at most `width` characters, broken between words; those of a paragraph but the first
// are indented further.
static std::string wrapped(const std::string &text, size_t width) {
  std::string out;
  std::istringstream paragraphs(text);
  for (std::string paragraph; std::getline(paragraphs, paragraph);) {
    std::string line = " ";
    std::istringstream words(paragraph);
    for (std::string word; words >> word;) {
      if (line.size() + 1 + word.size() > width) {
        out += line + "\n";
        line = "   ";
      }
      line += " " + word;
    }
    out += line + "\n";
  }
  return out;
}

void addFormatsCommand(CLI::App &app) {
  CLI::App *command =
      app.add_subcommand("formats", "Print the formats of models, and the operators of each");
  auto operators = std::make_shared<bool>(false);
  command->add_flag("--operators", *operators,
                    "Print a table of ONNX's operators instead: where each can run");
  command->callback([operators] {
    if (*operators)
      return print(onnxOperatorTable());
    for (const ModelFormat &format : modelFormats())
      print(fmt::format("{} ({})\n{}", format.name, fmt::join(format.endings, ", "),
                        wrapped(format.served(), 100)));
  });
}

} // namespace tilewright
