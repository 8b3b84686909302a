#include "cli/views/view_formats.h"

#include <gtest/gtest.h>
#include <string_view>

namespace stint::cli {
namespace {

TEST(ViewFormats, AreSortedByNameAndNamedAfterTheirMark) {
  std::string_view last;
  for (const ViewFormat& format : view_formats()) {
    EXPECT_LT(last, format.name);
    last = format.name;
    // "risk_fit" is one kind of "stint.risk/1".
    const std::string_view kind = last.substr(0, last.find('_'));
    EXPECT_EQ("stint." + std::string(kind) + "/1", format.schema);
  }
}

TEST(ViewFormats, ReadAndWriteADocumentAndRefuseAnother) {
  for (const ViewFormat& format : view_formats()) {
    if (std::string_view(format.name) != "cleaning") continue;
    const auto written = format.rewrite(R"({"schema": "stint.cleaning/1", "removed": ["a"]})");
    ASSERT_TRUE(written.ok()) << written.error().message;
    const Json whole = *parse_json(
        R"({"schema": "stint.cleaning/1", "removed": ["a"], "alive": [], "kept": []})", "whole");
    EXPECT_EQ(*parse_json(*written, "written"), whole);
    EXPECT_FALSE(format.rewrite(R"({"schema": "stint.clusters/1"})").ok());
    EXPECT_EQ(*format.json_schema().find("title"), Json("What was removed of dead clusters"));
  }
}

}  // namespace
}  // namespace stint::cli
