#include "cloud/journal.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace stint
