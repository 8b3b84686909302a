#include "checkpoint/private_folder.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <sched.h>
#include <string>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include "base/file.h"
#include "base/process.h"
#include "base/temporary_folder.h"

/// The path of every file and folder that this program has synced, in order.
static std::vector<std::string>& synced_paths() {
  static std::vector<std::string> paths;
  return paths;
}

/// Stands before the function of the C library.
extern "C" int fsync(int descriptor) {
  std::error_code error;
  const auto path =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), error);
  synced_paths().push_back(path.string());
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

namespace stint {
namespace {

namespace fs = std::filesystem;

class PrivateFolderTest : public testing::Test {
 protected:
  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  std::string path_ = place_.path() + "/a/b";
};

unsigned mode_of(const std::string& path) {
  struct stat found {};
  ::lstat(path.c_str(), &found);
  return found.st_mode & 0777U;
}

TEST_F(PrivateFolderTest, IsPrivateAndSoIsWhatIsInIt) {
  const mode_t before = ::umask(0);
  const auto folder = PrivateFolder::make(path_);
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  ASSERT_TRUE(folder->make_inside("c").ok());
  ASSERT_TRUE(folder->replace("d", "he", "llo", "test").ok());
  ::umask(before);
  EXPECT_EQ(mode_of(path_), 0700U);
  EXPECT_EQ(mode_of(path_ + "/c"), 0700U);
  EXPECT_EQ(mode_of(path_ + "/d"), 0600U);
  EXPECT_EQ(*read_file(path_ + "/d"), "hello");
  EXPECT_EQ(folder->names(), (std::vector<std::string>{"c", "d"}));
}

TEST_F(PrivateFolderTest, MakesAnOpenFolderPrivate) {
  fs::create_directories(path_);
  fs::permissions(path_, fs::perms::all);
  ASSERT_TRUE(PrivateFolder::make(path_).ok());
  EXPECT_EQ(mode_of(path_), 0700U);
}

bool synced(const std::string& path) {
  const auto& all = synced_paths();
  return std::find(all.begin(), all.end(), path) != all.end();
}

// A file that is synced is lost in a crash of the computer as long as the entry of its folder is
// not on the disk.
TEST_F(PrivateFolderTest, FoldersThatAreMadeAreSyncedWithTheirParents) {
  const std::string root = fs::canonical(place_.path()).string();
  synced_paths().clear();
  const auto folder = PrivateFolder::make(root + "/a/b");
  for (const char* path : {"", "/a", "/a/b"}) EXPECT_TRUE(synced(root + path)) << path;
  synced_paths().clear();
  ASSERT_TRUE(folder->make_inside("c").ok());
  for (const char* path : {"/a/b", "/a/b/c"}) EXPECT_TRUE(synced(root + path)) << path;
}

TEST_F(PrivateFolderTest, FoldersThatAKilledProcessMadeAreSyncedToo) {
  const std::string root = fs::canonical(place_.path()).string();
  fs::create_directories(root + "/a/b");
  synced_paths().clear();
  const auto a = PrivateFolder::make(root + "/a");
  ASSERT_TRUE(a->make_inside("b").ok());
  for (const char* path : {"", "/a", "/a/b"}) EXPECT_TRUE(synced(root + path)) << path;
}

TEST(MakeFolders, EveryFolderThatIsMadeIsSyncedWithItsParent) {
  const auto place = TemporaryFolder::make();
  const std::string root = fs::canonical(place->path()).string();
  synced_paths().clear();
  ASSERT_TRUE(make_folders(root + "/a/b").ok());
  EXPECT_TRUE(fs::is_directory(root + "/a/b"));
  EXPECT_EQ(synced_paths(),
            (std::vector<std::string>{root + "/a", root, root + "/a/b", root + "/a"}));
}

TEST(MakeFolders, WhatExistsIsLeftAlone) {
  const auto place = TemporaryFolder::make();
  synced_paths().clear();
  EXPECT_TRUE(make_folders(place->path() + "/").ok());
  EXPECT_TRUE(synced_paths().empty());
}

TEST(MakeFolders, AFileInTheWayIsNamed) {
  const auto place = TemporaryFolder::make();
  ASSERT_TRUE(write_file(place->path() + "/file", "").ok());
  const Status made = make_folders(place->path() + "/file/inside");
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().message,
            "cannot make the folder " + place->path() + "/file/inside: Not a directory");
}

TEST_F(PrivateFolderTest, FollowsNoLinks) {
  const std::string outside = place_.path() + "/outside";
  fs::create_directories(outside);
  ASSERT_TRUE(write_file(outside + "/file", "theirs").ok());
  const auto folder = PrivateFolder::make(path_);
  for (const char* name : {"inner", "gone"})
    fs::create_directory_symlink(outside, path_ + "/" + name);
  for (const char* name : {"d", "d.part"})
    fs::create_symlink(outside + "/file", path_ + "/" + name);
  EXPECT_FALSE(folder->make_inside("inner").ok());
  EXPECT_FALSE(folder->find_inside("inner").has_value());
  EXPECT_FALSE(folder->open_file("d").has_value());
  ASSERT_TRUE(folder->replace("d", "", "ours", "test").ok());
  EXPECT_EQ(*read_file(path_ + "/d"), "ours");
  EXPECT_FALSE(fs::is_symlink(path_ + "/d"));
  EXPECT_TRUE(folder->remove_inside("gone").ok());
  EXPECT_EQ(*read_file(outside + "/file"), "theirs");
}

TEST_F(PrivateFolderTest, OpensPlainFilesOnly) {
  const auto folder = PrivateFolder::make(path_);
  ASSERT_EQ(::mkfifo((path_ + "/pipe").c_str(), 0600), 0);
  EXPECT_FALSE(folder->open_file("pipe").has_value());
  EXPECT_FALSE(folder->open_file("none").has_value());
  ASSERT_TRUE(folder->make_inside("c").ok());
  EXPECT_FALSE(folder->open_file("c").has_value());
}

TEST_F(PrivateFolderTest, RemovesAFolderWithItsFiles) {
  const auto folder = PrivateFolder::make(path_);
  const auto inside = folder->make_inside("c");
  ASSERT_TRUE(inside->replace("d", "", "x", "test").ok());
  EXPECT_TRUE(folder->remove_inside("c").ok());
  EXPECT_TRUE(folder->names().empty());
  EXPECT_TRUE(folder->remove_inside("c").ok());
  EXPECT_TRUE(folder->remove_file("none").ok());
}

TEST_F(PrivateFolderTest, SaysWhatCannotBeMade) {
  ASSERT_TRUE(write_file(path_, "a file").ok());
  const auto folder = PrivateFolder::make(path_);
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().message, "cannot open the folder " + path_ + ": Not a directory");
}

/// The error of writing 1 MiB into a disk of 64 KiB; "skip" where none can be mounted.
std::string error_on_full_disk(const std::string& place) {
  const std::string user = "0 " + std::to_string(::getuid()) + " 1";
  const std::string group = "0 " + std::to_string(::getgid()) + " 1";
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return "skip";
  for (const auto& [file, text] : {std::pair<const char*, std::string>("setgroups", "deny"),
                                   {"uid_map", user},
                                   {"gid_map", group}}) {
    const Descriptor map(::open(("/proc/self/" + std::string(file)).c_str(), O_WRONLY));
    if (!write_all(map.get(), text)) return "skip";
  }
  if (::mount("none", place.c_str(), "tmpfs", 0, "size=64k") != 0) return "skip";
  const auto folder = PrivateFolder::make(place + "/f");
  if (!folder.ok()) return folder.error().message;
  if (!folder->replace("d", "", "old", "test").ok()) return "the first does not fit";
  const Status status = folder->replace("d", "", std::string(1U << 20U, 'x'), "test");
  if (status.ok()) return "";
  if (folder->names() != std::vector<std::string>{"d"}) return "a part is left";
  if (read_file(place + "/f/d").ok() && *read_file(place + "/f/d") != "old") return "old is gone";
  return status.error().message;
}

TEST_F(PrivateFolderTest, SaysThatTheDiskIsFullAndLeavesWhatWasThere) {
  const auto child = fork_child([&](int report) {
    return write_all(report, error_on_full_disk(place_.path()) + "\n") ? 0 : 1;
  });
  ASSERT_TRUE(child.ok());
  const std::string message = read_line(child->report.get(), 60 * kSecond);
  wait_for_exit(child->pid);
  if (message == "skip") GTEST_SKIP() << "This kernel lets nobody mount a small disk.";
  EXPECT_EQ(message, "cannot write " + place_.path() +
                         "/f/d: No space left on device; free some space there and try again");
}

}  // namespace
}  // namespace stint
