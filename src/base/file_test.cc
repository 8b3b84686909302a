#include "base/file.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace stint {
namespace {

std::string fresh_folder(const char* name) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "stint_file_test" / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder.string();
}

std::size_t entries(const std::string& folder) {
  const auto all = std::filesystem::directory_iterator(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(File, WritesWhatItReads) {
  const std::string path = fresh_folder("round_trip") + "/new/folder/a.json";
  const std::string bytes("a\0b\r\n", 5);
  ASSERT_TRUE(write_file(path, bytes).ok());
  EXPECT_EQ(*read_file(path), bytes);
}

TEST(File, ReplacesAndKeepsThePermissions) {
  const std::string folder = fresh_folder("replace");
  ASSERT_TRUE(write_file(folder + "/a", "old").ok());
  ASSERT_EQ(::chmod((folder + "/a").c_str(), 0600), 0);
  ASSERT_TRUE(write_file(folder + "/a", "new").ok());
  EXPECT_EQ(*read_file(folder + "/a"), "new");
  struct stat now {};
  ASSERT_EQ(::stat((folder + "/a").c_str(), &now), 0);
  EXPECT_EQ(now.st_mode & 0777U, 0600U);
  EXPECT_EQ(entries(folder), 1U);
}

TEST(File, MissingFileIsBadInput) {
  const auto result = read_file("/nonexistent/job.json");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(result.error().message.find("/nonexistent/job.json"), std::string::npos);
}

TEST(File, AnEndlessFileIsBadInput) {
  const auto result = read_file("/dev/zero", 1 * kMiB);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message,
            "/dev/zero is larger than 1 MiB; check that it is the right file");
}

TEST(File, ReadingAFolderIsBadInput) { EXPECT_FALSE(read_file("/").ok()); }

TEST(File, AFailedWriteLeavesNothingBehind) {
  const std::string folder = fresh_folder("failed");
  std::filesystem::create_directories(folder + "/taken/inside");
  const Status status = write_file(folder + "/taken", "x");  // A folder cannot be replaced.
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kFailed);
  EXPECT_EQ(entries(folder), 1U);
}

TEST(AppendFile, AddsToTheEndAndMakesTheFile) {
  const std::string path = testing::TempDir() + "/append_file_test";
  std::filesystem::remove(path);
  ASSERT_TRUE(append_file(path, "one\n").ok());
  ASSERT_TRUE(append_file(path, "two\n").ok());
  EXPECT_EQ(*read_file(path), "one\ntwo\n");
  std::filesystem::remove(path);
  const Status refused = append_file(testing::TempDir() + "/not/there/file", "x");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kFailed);
}

TEST(File, AnOutputNeedsItsFolder) {
  const std::string folder = fresh_folder("output");
  const std::string path = folder + "/misspelt/deeper/a.json";
  const Status status = write_output(path, "x");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kFailed);
  EXPECT_EQ(status.error().message, "cannot write " + path + ": there is no folder " + folder +
                                        "/misspelt/deeper; create it or choose another location");
  EXPECT_EQ(entries(folder), 0U);
  ASSERT_TRUE(write_output(folder + "/a.json", "x").ok());
  EXPECT_EQ(*read_file(folder + "/a.json"), "x");
}

}  // namespace
}  // namespace stint
