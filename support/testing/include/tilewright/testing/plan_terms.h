// The phrases that docs/plan-terms.md explains.
#pragma once

#include "tilewright/support/files.h"
#include "tilewright/testing/source_path.h"

#include <gtest/gtest.h>
#include <regex>
#include <string>

namespace tilewright::test {

// Of the entries of a section one that any text made of them matches; `separator` as an expression.
inline std::regex planTerms(const std::string &section, const std::string &separator) {
  const std::string page = readFile(sourcePath("docs/plan-terms.md"));
  const size_t begin = page.find("\n## " + section + "\n");
  EXPECT_NE(begin, std::string::npos);
  const std::string text = page.substr(begin, page.find("\n## ", begin + 1) - begin);
  const std::regex entry("\n\\| `([^`]+)` \\|");
  std::string any;
  for (auto each = std::sregex_iterator(text.begin(), text.end(), entry);
       each != std::sregex_iterator(); ++each) {
    std::string form = std::regex_replace((*each)[1].str(), std::regex(R"([()+?*.\[\]])"), "\\$&");
    form = std::regex_replace(form, std::regex(R"(\\\.\\\.\\\.)"), R"((?:[^.]|\.(?=\d))+)");
    form = std::regex_replace(form, std::regex("N(?![a-wyz])"), R"([+-]?\d[\d.,]*)");
    any += (any.empty() ? "" : "|") + form;
  }
  EXPECT_FALSE(any.empty());
  return std::regex("(?:" + any + ")(?:" + separator + "(?:" + any + "))*");
}

} // namespace tilewright::test
