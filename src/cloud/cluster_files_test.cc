#include "cloud/cluster_files.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"

namespace stint {
namespace {

const ProcessId kKeeper{.pid = 12, .start = 345, .boot = "b-1"};

TEST(Journal, ReadsBackWhatWasWritten) {
  const std::string path = testing::TempDir() + "/journal_test";
  std::remove(path.c_str());
  for (const std::string& line :
       {journal_head("mine"), journal_line(kKeeper), journal_line_of_cgroup("/sys/x")}) {
    ASSERT_TRUE(append_file(path, line).ok());
  }
  const auto text = read_file(path);
  ASSERT_TRUE(text.ok());
  const auto journal = read_journal(*text, path);
  ASSERT_TRUE(journal.ok());
  EXPECT_EQ(journal->name, "mine");
  ASSERT_EQ(journal->processes.size(), 1U);
  EXPECT_EQ(journal->processes[0], kKeeper);
  EXPECT_EQ(journal->cgroups, std::vector<std::string>{"/sys/x"});
  std::remove(path.c_str());
}

TEST(Journal, ALineThatACrashCutIsNotRead) {
  const auto journal = read_journal(journal_head("a") + R"({"cgroup": "/sys/ha)", "j");
  ASSERT_TRUE(journal.ok());
  EXPECT_EQ(journal->name, "a");
  EXPECT_TRUE(journal->cgroups.empty());
  EXPECT_TRUE(read_journal("", "j").ok());
}

TEST(Journal, RefusesWhatIsNoJournal) {
  EXPECT_FALSE(read_journal("hello\n", "j").ok());
  EXPECT_FALSE(read_journal("{\"schema\": \"stint.local/2\"}\n", "j").ok());
}

TEST(Journal, AFolderThatIsNotThereIsAnError) {
  EXPECT_FALSE(append_file("/nowhere/at/all", "x").ok());
}

namespace fs = std::filesystem;

class ClusterFiles : public testing::Test {
 protected:
  ClusterFiles() { fs::remove_all(root_); }
  ~ClusterFiles() override { fs::remove_all(root_); }

  std::string journal_of(const std::string& name) const {
    return journal_path(cluster_folder(root_, name));
  }

  std::string root_ = testing::TempDir() + "/cluster_files_test" + std::to_string(::getpid());
};

TEST_F(ClusterFiles, ANameIsTakenOnce) {
  EXPECT_TRUE(make_cluster_files(root_, "a").ok());
  const Status again = make_cluster_files(root_, "a");
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().kind, ErrorKind::kUsage);
  EXPECT_NE(again.error().message.find("the name a is in use"), std::string::npos);
  EXPECT_TRUE(remove_cluster_files(cluster_folder(root_, "a")).ok());
  EXPECT_TRUE(make_cluster_files(root_, "a").ok());
}

TEST_F(ClusterFiles, CleaningRemovesTheDeadAndSparesTheLiving) {
  ASSERT_TRUE(make_cluster_files(root_, "alive").ok());
  ASSERT_TRUE(make_cluster_files(root_, "dead").ok());
  fs::create_directory(root_ + "/barely");
  const auto own = process_id(::getpid());
  ASSERT_TRUE(own.has_value());
  ProcessId gone = *own;
  gone.start += 1;  // The same process id, reused.
  ASSERT_TRUE(append_file(journal_of("alive"), journal_line(*own)).ok());
  ASSERT_TRUE(append_file(journal_of("dead"), journal_line(gone)).ok());
  const Cleaning cleaning = clean_clusters(root_);
  EXPECT_EQ(cleaning.alive, std::vector<std::string>{"alive"});
  EXPECT_EQ(cleaning.removed, (std::vector<std::string>{"barely", "dead"}));
  EXPECT_TRUE(cleaning.kept.empty());
  EXPECT_EQ(cluster_names(root_), std::vector<std::string>{"alive"});
}

TEST_F(ClusterFiles, CleaningTouchesNothingThatIsNotOurs) {
  ASSERT_TRUE(make_cluster_files(root_, "mixed").ok());
  ASSERT_TRUE(write_file(root_ + "/mixed/notes.txt", "mine").ok());
  ASSERT_TRUE(make_cluster_files(root_, "odd").ok());
  ASSERT_TRUE(append_file(journal_of("odd"), journal_line_of_cgroup("/sys/fs/cgroup/x")).ok());
  ASSERT_TRUE(make_cluster_files(root_, "torn").ok());
  ASSERT_TRUE(append_file(journal_of("torn"), "nonsense\n").ok());
  const Cleaning cleaning = clean_clusters(root_);
  EXPECT_TRUE(cleaning.removed.empty());
  EXPECT_EQ(cleaning.kept.size(), 3U);
  EXPECT_TRUE(fs::exists(root_ + "/mixed/notes.txt"));
}

TEST_F(ClusterFiles, WithoutAFolderThereIsNothingToClean) {
  EXPECT_TRUE(clean_clusters(root_).removed.empty());
}

}  // namespace

}  // namespace stint
