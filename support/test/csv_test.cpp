// ctest -R CsvCell: cells of CSV files.
#include "tilewright/support/csv.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

TEST(CsvCell, QuotesWhatItHolds) {
  EXPECT_EQ(csvCell("a, b"), "\"a, b\"");
  EXPECT_EQ(csvCell("say \"no\"\n"), "\"say \"\"no\"\"\n\"");
  EXPECT_EQ(csvCell(""), "\"\"");
}

TEST(CsvCell, MakesTextOfWhatStartsLikeAFormula) {
  for (const char *formula : {"=1+1", "+1", "-1", "@a", "\t=1", "\r=1"})
    EXPECT_EQ(csvCell(formula), "\"'" + std::string(formula) + "\"");
  EXPECT_EQ(csvCell("1=1"), "\"1=1\"");
}

} // namespace
} // namespace tilewright
