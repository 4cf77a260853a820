#include "tilewright/isa/documents.h"

#include <algorithm>
#include <fmt/format.h>

namespace tilewright::isa {

static std::vector<std::string> factsOf(const Isa &isa) {
  std::vector<std::string> facts;
  const std::string &text = isa.canonical();
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    facts.push_back(text.substr(begin, end - begin));
  facts.push_back(fmt::format("clock {} Hz", isa.clockHz()));
  facts.push_back(fmt::format("dram {}", isa.dram()));
  for (const auto &[name, value] : isa.timing())
    facts.push_back(fmt::format("timing {} = {}", name, value));
  facts.push_back(fmt::format("technology {}", isa.technology().name));
  for (const Instruction &instruction : isa.instructions())
    if (instruction.pipeline.latency > 0)
      facts.push_back(
          fmt::format("latency {} = {}", instruction.name, instruction.pipeline.latency));
  for (const auto &[name, value] : isa.dramParameters())
    facts.push_back(fmt::format("dram {} = {}", name, value));
  return facts;
}

// The longest common subsequence, by the textbook's table; a description has some thousand facts.
std::string differences(const Isa &from, const Isa &to) {
  const std::vector<std::string> a = factsOf(from), b = factsOf(to);
  std::vector<std::vector<uint16_t>> common(a.size() + 1, std::vector<uint16_t>(b.size() + 1, 0));
  for (size_t i = a.size(); i-- > 0;)
    for (size_t j = b.size(); j-- > 0;)
      common[i][j] = a[i] == b[j] ? static_cast<uint16_t>(common[i + 1][j + 1] + 1)
                                  : std::max(common[i + 1][j], common[i][j + 1]);
  std::string text;
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j])
      ++i, ++j;
    else if (j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1]))
      text += "- " + a[i++] + "\n";
    else
      text += "+ " + b[j++] + "\n";
  }
  return text;
}

} // namespace tilewright::isa
