#include "base/file.h"

#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

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

TEST(File, AFileBeyondTheLimitIsBadInput) {
  const std::string path = fresh_folder("large") + "/a";
  ASSERT_TRUE(write_file(path, std::string(1025, 'a')).ok());
  const auto result = read_file(path, 1 * kKiB);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message,
            path + " is larger than 0.000976562 MiB; check that it is the right file");
  EXPECT_TRUE(read_file(path, 2 * kKiB).ok());
}

TEST(File, OnlyRegularFilesAreInput) {
  const std::string fifo = fresh_folder("fifo") + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path : {fifo, std::string("/dev/zero")}) {
    const auto result = read_file(path);  // Opened as usual, the FIFO would wait for a writer.
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().kind, ErrorKind::kBadInput);
    EXPECT_EQ(result.error().message, "cannot read " + path +
                                          ": it is not a regular file; pipe it in by standard "
                                          "input, or copy it to a file");
  }
  EXPECT_EQ(read_file("/").error().message, "cannot read /: Is a directory");
}

TEST(File, AnOpenDescriptorIsInputByItsName) {
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe.ok());
  ASSERT_TRUE(write_all(pipe->to.get(), "from a pipe"));
  const std::string path = "/dev/fd/" + std::to_string(pipe->from.get());
  pipe->to.close();
  EXPECT_EQ(*read_file(path), "from a pipe");
}

TEST(File, ASymbolicLinkStaysAndItsTargetIsReplaced) {
  const std::string folder = fresh_folder("link");
  ASSERT_TRUE(write_file(folder + "/real/a", "old").ok());
  ASSERT_EQ(::symlink("real/a", (folder + "/link").c_str()), 0);
  ASSERT_EQ(::symlink("link", (folder + "/second").c_str()), 0);
  ASSERT_EQ(::symlink((folder + "/real/b").c_str(), (folder + "/dangling").c_str()), 0);
  ASSERT_TRUE(write_output(folder + "/second", "new").ok());
  ASSERT_TRUE(write_output(folder + "/dangling", "fresh").ok());
  EXPECT_EQ(*read_file(folder + "/real/a"), "new");
  EXPECT_EQ(*read_file(folder + "/real/b"), "fresh");
  for (const char* name : {"/link", "/second", "/dangling"}) {
    EXPECT_TRUE(std::filesystem::is_symlink(folder + name)) << name;
  }
  EXPECT_EQ(entries(folder + "/real"), 2U);
  ASSERT_EQ(::symlink("loop", (folder + "/loop").c_str()), 0);
  EXPECT_FALSE(write_output(folder + "/loop", "x").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder + "/loop"));
}

TEST(File, AFifoIsWrittenToOnlyWhileSomebodyReads) {
  const std::string fifo = fresh_folder("fifo_out") + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const Status nobody = write_output(fifo, "x");
  ASSERT_FALSE(nobody.ok());
  EXPECT_EQ(nobody.error().message,
            "cannot write " + fifo + ": nobody reads from it; choose another location");
  const Descriptor reader(::open(fifo.c_str(), O_RDONLY | O_NONBLOCK));
  ASSERT_TRUE(write_output(fifo, "read me").ok());
  char got[16] = {};
  EXPECT_EQ(::read(reader.get(), got, sizeof(got)), 7);
  EXPECT_STREQ(got, "read me");
  EXPECT_TRUE(std::filesystem::is_fifo(fifo));
}

TEST(File, AnOpenDescriptorIsWrittenToAndNotReplaced) {
  const std::string path = fresh_folder("descriptor") + "/a";
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT, 0600));
  ASSERT_TRUE(write_all(file.get(), "one "));
  ASSERT_TRUE(write_output("/dev/fd/" + std::to_string(file.get()), "two ").ok());
  ASSERT_TRUE(write_all(file.get(), "three"));
  EXPECT_EQ(*read_file(path), "one two three");
}

// As root, replacing /dev/null would ruin the machine.
TEST(File, ADeviceIsNeverReplaced) {
  const std::string folder = fresh_folder("device");
  const std::string null = folder + "/null";
  const std::string disk = folder + "/disk";
  constexpr unsigned kMemory = 1;  // The device numbers of /dev/null and /dev/ram15.
  if (::mknod(null.c_str(), S_IFCHR | 0600, makedev(kMemory, 3)) != 0 ||
      ::mknod(disk.c_str(), S_IFBLK | 0600, makedev(kMemory, 15)) != 0) {
    GTEST_SKIP() << "No device node can be made here.";
  }
  if (Descriptor(::open(null.c_str(), O_WRONLY)).get() < 0) {
    GTEST_SKIP() << "No device can be opened on this file system.";
  }
  EXPECT_TRUE(write_output(null, "x").ok());
  EXPECT_EQ(write_output(disk, "x").error().message,
            "cannot write " + disk + ": it is a block device; choose another location");
  EXPECT_TRUE(std::filesystem::is_character_file(null));
  EXPECT_TRUE(std::filesystem::is_block_file(disk));
  EXPECT_EQ(entries(folder), 2U);
}

TEST(File, AFailedWriteLeavesNothingBehind) {
  const std::string folder = fresh_folder("failed");
  std::filesystem::create_directories(folder + "/taken/inside");
  const Status status = write_file(folder + "/taken", "x");  // A folder cannot be replaced.
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message,
            "cannot write " + folder + "/taken: it is a folder; choose another location");
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
