#include "run/run_folder.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "base/temporary_folder.h"

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
  EXPECT_NE(status.error().message.find("'a??[31mb' is not a valid name of a run"),
            std::string::npos);
}

class RunFolderTest : public testing::Test {
 protected:
  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  std::string root_ = place_.path() + "/runs";
};

unsigned mode_of(const std::string& path) {
  struct stat found {};
  ::stat(path.c_str(), &found);
  return found.st_mode & 0777U;
}

TEST_F(RunFolderTest, IsPrivateWhateverTheUmask) {
  for (const mode_t mask : {0000U, 0022U, 0777U}) {
    const std::string root = root_ + std::to_string(mask);
    std::filesystem::create_directories(root);
    const mode_t before = ::umask(mask);
    const auto folder = make_run_folder(root, "a");
    ::umask(before);
    ASSERT_TRUE(folder.ok()) << folder.error().message;
    EXPECT_EQ(mode_of(*folder), 0700U) << mask;
  }
}

TEST_F(RunFolderTest, IsMadeOnceForAName) {
  const auto folder = make_run_folder(root_, "mine");
  ASSERT_TRUE(folder.ok());
  EXPECT_EQ(*folder, root_ + "/mine");
  const auto again = make_run_folder(root_, "mine");
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(
      again.error().message,
      "the run mine exists: choose another name, or resume it with 'stint run --resume mine'");
}

TEST_F(RunFolderTest, StaysUnderItsRoot) {
  for (const char* bad : {"..", "../x", "a/b", "", ".", "-x"}) {
    const auto folder = make_run_folder(root_, bad);
    ASSERT_FALSE(folder.ok()) << bad;
    EXPECT_EQ(folder.error().kind, ErrorKind::kUsage);
  }
}

TEST_F(RunFolderTest, SaysWhyItCannotBeMade) {
  const auto folder = make_run_folder("/proc/no/such", "a");
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().message, "cannot create /proc/no/such/a: No such file or directory");
}

TEST_F(RunFolderTest, ListsRunsAndNothingElse) {
  EXPECT_TRUE(run_names(root_).empty());
  for (const char* name : {"b", "a.2", "c"}) ASSERT_TRUE(make_run_folder(root_, name).ok());
  ASSERT_TRUE(write_file(root_ + "/file", "").ok());
  std::filesystem::create_directory(root_ + "/.hidden");
  std::filesystem::create_directory_symlink("/tmp", root_ + "/link");
  EXPECT_EQ(run_names(root_), (std::vector<std::string>{"a.2", "b", "c"}));
}

TEST_F(RunFolderTest, IsLockedByOneProcessAtATime) {
  const std::string folder = *make_run_folder(root_, "mine");
  {
    const auto lock = lock_run(folder);
    ASSERT_TRUE(lock.ok());
    const auto second = lock_run(folder);
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().message,
              "process " + std::to_string(::getpid()) + " already conducts the run mine");
  }
  EXPECT_TRUE(lock_run(folder).ok());
}

TEST_F(RunFolderTest, IsFreeAgainWhenItsHolderIsKilled) {
  const std::string folder = *make_run_folder(root_, "mine");
  const auto child = fork_child([&](int report) {
    const auto lock = lock_run(folder);
    write_all(report, lock.ok() ? "held\n" : "not\n");
    return ::pause();
  });
  ASSERT_TRUE(child.ok());
  ASSERT_EQ(read_line(child->report.get(), 60 * kSecond), "held");
  const auto taken = lock_run(folder);
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().message,
            "process " + std::to_string(child->pid) + " already conducts the run mine");
  kill_group(child->pid);
  EXPECT_TRUE(lock_run(folder).ok());
}

TEST_F(RunFolderTest, IsNotLockedThroughALink) {
  const std::string folder = *make_run_folder(root_, "mine");
  std::filesystem::create_symlink(place_.path() + "/elsewhere", folder + "/lock");
  EXPECT_FALSE(lock_run(folder).ok());
  EXPECT_FALSE(std::filesystem::exists(place_.path() + "/elsewhere"));
}

}  // namespace

}  // namespace stint
