// The page as text; tests/html looks at it in a browser.
#include "sample.h"
#include "tilewright/report/report.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <regex>

using namespace tilewright;
using namespace tilewright::test;
using namespace tilewright::report;
using ::testing::HasSubstr;
using ::testing::Not;

namespace {

std::string pageOf(const Program &program) {
  Report report = build(program, sampleRecord(), sampleIsa(), {});
  addDrawings(report, program, sampleRecord(), sampleIsa());
  return toHtml(report);
}

size_t countOf(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

std::string dataOf(const std::string &page) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const size_t from = page.find(begin) + begin.size();
  return page.substr(from, page.find("</script>", from) - from);
}

TEST(Html, holdsTheReport) {
  const auto data = nlohmann::json::parse(dataOf(pageOf(sampleProgram())));
  EXPECT_EQ(data["report"]["cycles"], 100);
  ASSERT_EQ(data["why"].size(), 2u);
  EXPECT_THAT(data["why"][0].get<std::string>(), HasSubstr("conv (Conv) takes 70 cycles"));
}

TEST(Html, noNameCanEndTheElementThatHoldsIt) {
  Program program = sampleProgram();
  program.layers[0].name = "</script><script>alert(1)</script><!--&\xe2\x80\xa8\xff";
  const std::string page = pageOf(program);
  EXPECT_EQ(countOf(page, "<script"), 2u);
  EXPECT_EQ(countOf(page, "</script>"), 2u);
  EXPECT_THAT(page, Not(HasSubstr("<!--")));
  EXPECT_EQ(nlohmann::json::parse(dataOf(page))["report"]["layers"][0]["name"],
            "</script><script>alert(1)</script><!--&\xe2\x80\xa8\xef\xbf\xbd");
}

TEST(Html, asksForNothingFromAnywhere) {
  const std::string page = pageOf(sampleProgram());
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  const std::regex outside("(src|href)=\"(?!#|data:,)");
  EXPECT_FALSE(std::regex_search(page, outside));
}

TEST(Html, allowsItsOwnScriptAlone) {
  const std::regex policy("style-src 'sha256-[A-Za-z0-9+/]{43}='; script-src "
                          "'sha256-[A-Za-z0-9+/]{43}='\"");
  EXPECT_TRUE(std::regex_search(pageOf(sampleProgram()), policy));
}

TEST(Html, isTheSameEveryTime) { EXPECT_EQ(pageOf(sampleProgram()), pageOf(sampleProgram())); }

} // namespace
