#include "tensor_files.h"

#include "tilewright/support/error.h"
#include "tilewright/support/npy.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace tilewright {

// Names of tensors may hold equals signs: the longest that is known counts, else the first part.
static size_t endOfName(const std::vector<std::string> &known, const std::string &text) {
  size_t end = text.find('=');
  for (size_t at = end; at != std::string::npos; at = text.find('=', at + 1))
    if (std::find(known.begin(), known.end(), text.substr(0, at)) != known.end())
      end = at;
  return end;
}

std::vector<std::pair<std::string, std::string>> inputFiles(const std::vector<std::string> &known,
                                                            const std::vector<std::string> &texts) {
  SourceLocation location{"", 0, 0, "--input"};
  std::set<std::string> bound;
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string &text : texts) {
    size_t end = endOfName(known, text);
    if (end == std::string::npos || end == 0)
      throw UserError(location, fmt::format("'{}' is not NAME=FILE.npy", escape(text)),
                      "write for example --input x=x.npy");
    std::string name = text.substr(0, end), file = text.substr(end + 1);
    if (file.empty())
      throw UserError(location, fmt::format("'{}' names no file", escape(text)),
                      fmt::format("write --input {}FILE.npy", escape(text)));
    if (!bound.insert(name).second)
      throw UserError(location, fmt::format("input '{}' is given twice", escape(name)));
    files.emplace_back(std::move(name), std::move(file));
  }
  return files;
}

void bindInputs(Session &session, const Program &program, const std::vector<std::string> &texts) {
  const std::vector<std::string> known = namesOf(program.inputs);
  for (const auto &[name, file] : inputFiles(known, texts)) {
    // A wrong name is the likelier mistake; without its tensor there is no need to read the file.
    const bool isKnown = std::find(known.begin(), known.end(), name) != known.end();
    session.setInput(name, isKnown ? readNpy(file) : Tensor(), file);
  }
}

std::vector<std::string> fileNames(const std::vector<std::string> &tensors) {
  std::vector<std::string> names;
  std::set<std::string> used;
  for (const std::string &tensor : tensors) {
    std::string plain = escape(tensor, 200);
    std::replace(plain.begin(), plain.end(), '/', '_');
    std::replace(plain.begin(), plain.end(), '\\', '_');
    if (plain.empty() || plain[0] == '.')
      plain.insert(0, "_");
    std::string unique = plain;
    for (int number = 2; !used.insert(unique).second; ++number)
      unique = fmt::format("{}-{}", plain, number);
    names.push_back(unique);
  }
  return names;
}

} // namespace tilewright
