#include "base/line_log.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/temporary_folder.h"

namespace stint {
namespace {

class LineLogTest : public testing::Test {
 protected:
  std::string append(const std::string& line, Durability durability = Durability::kNow) {
    auto log = LineLog::open(path_);
    EXPECT_TRUE(log.ok());
    EXPECT_TRUE(log->append(line, durability).ok());
    return *read_file(path_);
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  std::string path_ = place_.path() + "/log";
};

TEST_F(LineLogTest, GrowsWhoeverOpensIt) {
  EXPECT_EQ(append("one\n"), "one\n");
  EXPECT_EQ(append("two\n", Durability::kLater), "one\ntwo\n");
}

TEST_F(LineLogTest, RemovesALastLineThatWasCutOff) {
  ASSERT_TRUE(write_file(path_, "one\ntwo\nthr").ok());
  EXPECT_EQ(append("three\n"), "one\ntwo\nthree\n");
  ASSERT_TRUE(write_file(path_, "on").ok());
  EXPECT_EQ(append("one\n"), "one\n");
}

TEST_F(LineLogTest, IsForItsUserOnly) {
  (void)append("one\n");
  struct stat facts {};
  ASSERT_EQ(::stat(path_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
}

TEST_F(LineLogTest, DoesNotFollowALink) {
  const std::string target = place_.path() + "/elsewhere";
  ASSERT_TRUE(write_file(target, "mine").ok());
  std::filesystem::create_symlink(target, path_);
  const auto log = LineLog::open(path_);
  ASSERT_FALSE(log.ok());
  EXPECT_NE(log.error().message.find(path_), std::string::npos);
  EXPECT_EQ(*read_file(target), "mine");  // Not even mended.
}

TEST_F(LineLogTest, SaysWhereItCannotBeOpened) {
  const auto log = LineLog::open(place_.path() + "/no/log");
  ASSERT_FALSE(log.ok());
  EXPECT_NE(log.error().message.find("No such file"), std::string::npos);
}

TEST_F(LineLogTest, IsReplacedAtOnceAndGoesOn) {
  (void)append("one\n");
  ASSERT_TRUE(write_file(path_ + ".new", "left by a kill, longer than what comes\n").ok());
  auto log = LineLog::replace(path_, "two\n");
  ASSERT_TRUE(log.ok()) << log.error().message;
  EXPECT_EQ(*read_file(path_), "two\n");
  EXPECT_FALSE(std::filesystem::exists(path_ + ".new"));
  ASSERT_TRUE(log->append("three\n", Durability::kNow).ok());
  EXPECT_EQ(*read_file(path_), "two\nthree\n");
  struct stat facts {};
  ASSERT_EQ(::stat(path_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
}

TEST_F(LineLogTest, StaysAsItWasWhereItCannotBeReplaced) {
  (void)append("one\n");
  ASSERT_TRUE(std::filesystem::create_directory(path_ + ".new"));
  EXPECT_FALSE(LineLog::replace(path_, "two\n").ok());
  EXPECT_EQ(*read_file(path_), "one\n");
}

}  // namespace
}  // namespace stint
