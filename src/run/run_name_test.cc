#include "run/run_name.h"

#include <gtest/gtest.h>
#include <string>

namespace stint {
namespace {

TEST(RunName, HoldsLettersDigitsDashesUnderscoresAndDots) {
  for (const char* good : {"a", "7", "_", "bert-2.spot_3", "A.b.c", "x-", "x."}) {
    EXPECT_TRUE(check_run_name(good).ok()) << good;
  }
  EXPECT_TRUE(check_run_name(std::string(64, 'x')).ok());
}

TEST(RunName, NeverLeadsOutOfItsFolderNorLooksLikeAFlag) {
  for (const std::string_view bad :
       {"", ".", "..", "a..b", ".hidden", "-x", "--resume", "a/b", "/etc", "../x", "a b", "a\nb",
        "it's", "\"", "a\\b", "$(x)", "naïve", "a*", "\x1b[2J"}) {
    const Status status = check_run_name(bad);
    ASSERT_FALSE(status.ok()) << bad;
    EXPECT_EQ(status.error().kind, ErrorKind::kUsage);
  }
  EXPECT_FALSE(check_run_name(std::string_view("a\0b", 3)).ok());
  EXPECT_FALSE(check_run_name(std::string(65, 'x')).ok());
}

TEST(RunName, IsQuotedWithoutItsControlCharacters) {
  const Status status = check_run_name("a\n\x1b[31mb");
  EXPECT_EQ(status.error().message.find('\x1b'), std::string::npos);
  EXPECT_EQ(status.error().message.find('\n'), std::string::npos);
  EXPECT_NE(status.error().message.find("'a??[31mb' cannot be the name of a run"),
            std::string::npos);
}

}  // namespace
}  // namespace stint
