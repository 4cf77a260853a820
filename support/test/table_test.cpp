// ctest -R 'Table|DisplayWidth': columns of text.
#include "tilewright/support/table.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

Table sample() {
  Table table;
  table.column("name", Table::Align::Left);
  table.column("cycles", Table::Align::Right);
  table.column("why", Table::Align::Left);
  return table;
}

TEST(Table, IsAsWideAsItsWidestCells) {
  Table table = sample();
  table.row({"convolution", "7", "it is"});
  table.row({"a", "12345678", ""});
  EXPECT_EQ(table.str(), "name           cycles  why\n"
                         "convolution         7  it is\n"
                         "a            12345678\n");
}

TEST(Table, RulesOffWhereItIsToldTo) {
  Table table = sample();
  table.rule();
  table.row({"a", "7", "b"});
  EXPECT_EQ(table.str(), "name  cycles  why\n"
                         "----  ------  ---\n"
                         "a          7  b\n");
}

TEST(Table, IsAsWideAsAColumnWants) {
  Table table;
  table.column("", Table::Align::Left, 4);
  table.column("", Table::Align::Right, 3);
  table.row({"a", "b"});
  EXPECT_EQ(table.str(), "a       b\n") << "and without a title there is no line of titles";
}

TEST(Table, CountsCharactersAndNoBytes) {
  Table table = sample();
  table.row({"größe", "1", "µ"});
  EXPECT_EQ(table.str(), "name   cycles  why\ngröße       1  µ\n");
}

TEST(Table, EndsLinesWhereItIsToldTo) {
  Table table = sample();
  table.row({"größe", "1", "because"});
  EXPECT_EQ(table.str(3), "nam\ngrö\n");
}

TEST(DisplayWidth, IsOfCharacters) {
  EXPECT_EQ(displayWidth("größe"), 5u);
  EXPECT_EQ(withoutFirst("größe", 3), "ße");
  EXPECT_EQ(first("größe", 3), "grö");
  EXPECT_EQ(first("a", 3), "a");
}

} // namespace
} // namespace tilewright
