#include "validate/row_files.h"

#include <gtest/gtest.h>

#include "base/temporary_folder.h"

namespace stint {
namespace {

Result<std::vector<std::string>> two_rows(const std::string& text, const std::string& source) {
  if (text == "wrong") return bad_input(source + ": wrong");
  return std::vector{text, text + "!"};
}

TEST(RowsOfFiles, AreThoseOfEachInTurnOrTheFirstError) {
  const auto folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok());
  const std::string first = folder->path() + "/first";
  const std::string second = folder->path() + "/second";
  ASSERT_TRUE(write_file(first, "a").ok());
  ASSERT_TRUE(write_file(second, "b").ok());
  const auto rows = rows_of_files<std::string>({first, second}, two_rows);
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ(*rows, (std::vector<std::string>{"a", "a!", "b", "b!"}));
  ASSERT_TRUE(write_file(second, "wrong").ok());
  EXPECT_EQ(rows_of_files<std::string>({first, second}, two_rows).error().message,
            second + ": wrong");
  EXPECT_FALSE(rows_of_files<std::string>({first + "-absent"}, two_rows).ok());
}

}  // namespace
}  // namespace stint
