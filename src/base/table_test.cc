#include "base/table.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace stint {
namespace {

Table sample() {
  Table table({{.title = "VM", .importance = 9},
               {.title = "price", .align = Align::kRight, .importance = 8},
               {.title = "source", .importance = 1}});
  table.add({"g4dn.12xlarge", "3.91", "a rather long text about where it is from"});
  table.add({"p3.2xlarge", "", "short"});
  return table;
}

TEST(Table, AlignsAndShowsAbsence) {
  EXPECT_EQ(sample().text({.width = 0}),
            "VM             price  source\n"
            "g4dn.12xlarge   3.91  a rather long text about where it is from\n"
            "p3.2xlarge         -  short\n");
}

TEST(Table, CutsLongTextFirst) {
  EXPECT_EQ(sample().text({.width = 40}),
            "VM             price  source\n"
            "g4dn.12xlarge   3.91  a rather long tex…\n"
            "p3.2xlarge         -  short\n");
}

TEST(Table, DropsTheLeastImportantColumnAndSaysSo) {
  EXPECT_EQ(sample().text({.width = 20}),
            "VM             price\n"
            "g4dn.12xlarge   3.91\n"
            "p3.2xlarge         -\n"
            "Hidden columns: sou…\n");
}

TEST(Table, NeverIsWiderThanTheTerminal) {
  for (int width = 20; width < 80; ++width) {
    const std::string text = sample().text({.width = width});
    for (const std::string& line : split(text, '\n')) {
      EXPECT_LE(display_width(line), width) << line;
    }
  }
}

TEST(Table, SaysWhichColumnsItShows) {
  Table table({{.title = "name", .importance = 9}, right("much", 1), right("more", 5)});
  table.add({"x", "1234567890", "123456"});
  EXPECT_EQ(table.shown_columns({.width = 0}), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(table.shown_columns({.width = 20}), (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(table.shown_columns({.width = 20, .ascii = true}), (std::vector<std::size_t>{0, 2}));
}

TEST(Table, DropsAGroupTogether) {
  Table table({{.title = "VM", .importance = 9},
               {.title = "price", .importance = 1, .width_min = 10, .group = 1},
               {.title = "of", .importance = 1, .width_min = 10, .group = 1}});
  table.add({"a-rather-long-name", "$1", "2026-07-20"});
  EXPECT_EQ(table.text({.width = 24}), "VM\na-rather-long-name\nHidden columns: price; …\n");
}

TEST(Table, DoesNotPassControlCharactersOn) {
  Table table({{.title = "x"}});
  table.add({"a\x1b[31m"});
  EXPECT_EQ(table.text({.width = 0}), "x\na?[31m\n");
}

TEST(Table, CutsBetweenCharactersNotBytes) {
  Table table({{.title = "x", .width_min = 3}});
  table.add({"日本語日本語"});
  EXPECT_EQ(table.text({.width = 20}), "x\n日本語日本語\n");
  EXPECT_EQ(table.text({.width = 6}), "x\n日本…\n");
}

TEST(Table, IsInAsciiWhereTheTerminalHasNothingElse) {
  Table table({{.title = "what", .width_min = 4}, right("range", 1)});
  table.add({"a long text that is cut", "1–2"});
  const Terminal terminal{.width = 18, .ascii = true};
  EXPECT_EQ(table.text(terminal),
            "what         range\n"
            "a long tex~    1-2\n");
}

}  // namespace
}  // namespace stint
