#include "run/run_journal.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "run/run_fixture.h"

/// How often this program has synced the data of a file.
static int& data_syncs() {
  static int count = 0;
  return count;
}

/// Stands before the function of the C library.
extern "C" int fdatasync(int descriptor) {
  ++data_syncs();
  return static_cast<int>(::syscall(SYS_fdatasync, descriptor));
}

namespace stint {
namespace {

class RunJournalTest : public testing::Test {
 protected:
  std::size_t events_in_file() const {
    const auto read = read_run_journal(*read_file(path_), path_);
    return read.ok() ? read->noun.size() : 999;
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  std::string path_ = place_.path() + "/journal.jsonl";
};

TEST_F(RunJournalTest, ReadsBackWhatWasAppended) {
  auto journal = RunJournal::open(path_);
  ASSERT_TRUE(journal.ok());
  const std::vector<RunEvent> events = small_events();
  for (const RunEvent& event : events) ASSERT_TRUE(journal->append(event, {}).ok());
  const auto read = read_run_journal(*read_file(path_), path_);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_TRUE(read->warnings.empty());
  ASSERT_EQ(read->noun.size(), events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(write_run_event(read->noun[i].event), write_run_event(events[i]));
  }
}

// A machine that was ordered must be known after a crash of the computer.
TEST_F(RunJournalTest, WhatOrdersSomethingIsSyncedFirst) {
  auto journal = RunJournal::open(path_);
  ASSERT_TRUE(journal.ok());
  const auto syncs = [&](const RunEvent& event, const std::vector<RunAction>& actions) {
    const int before = data_syncs();
    EXPECT_TRUE(journal->append(event, actions).ok());
    return data_syncs() - before;
  };
  const RunAction says{.kind = RunActionKind::kSay};
  const RunAction launches{.kind = RunActionKind::kLaunch};
  for (const RunEventKind kind : {RunEventKind::kTick, RunEventKind::kStepDone}) {
    const RunEvent event{.kind = kind};
    EXPECT_EQ(syncs(event, {}), 0);
    EXPECT_EQ(syncs(event, {says}), 0);
    EXPECT_EQ(syncs(event, {says, launches}), 1);
  }
  EXPECT_EQ(syncs({.kind = RunEventKind::kVmUp}, {}), 1);
}

TEST_F(RunJournalTest, GivesOneEventAfterTheOther) {
  const std::string line = write_run_event(small_events()[1]);
  ASSERT_TRUE(write_file(path_, line + "\n" + line + line.substr(0, 9)).ok());
  int events = 0;
  const auto read = each_journal_line(path_, [&](const JournalLine& /*line*/) {
    ++events;
    return Status();
  });
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(events, 2);
  EXPECT_EQ(read->size(), 1U);
  const auto stopped =
      each_journal_line(path_, [](const JournalLine& /*line*/) { return failed("enough"); });
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().message, "enough");
}

TEST_F(RunJournalTest, LeavesOutALastLineThatWasCutOffAnywhere) {
  const std::string first = write_run_event(small_events()[1]);
  const std::string second = write_run_event(small_events()[2]);
  for (std::size_t length = 1; length < second.size(); ++length) {
    const auto read = read_run_journal(first + second.substr(0, length), "journal");
    ASSERT_TRUE(read.ok()) << length;
    EXPECT_EQ(read->noun.size(), 1U) << length;
    ASSERT_EQ(read->warnings.size(), 1U) << length;
    EXPECT_NE(read->warnings[0].find("truncated"), std::string::npos);
  }
}

TEST_F(RunJournalTest, GoesOnAfterALineThatWasCutOff) {
  const std::string line = write_run_event(small_events()[1]);
  // A line that lacks only its newline is removed as well, because readers skip it.
  ASSERT_TRUE(write_file(path_, line + line.substr(0, line.size() - 1)).ok());
  EXPECT_EQ(events_in_file(), 1U);
  auto journal = RunJournal::open(path_);
  ASSERT_TRUE(journal.ok());
  ASSERT_TRUE(journal->append(small_events()[2], {}).ok());
  EXPECT_EQ(events_in_file(), 2U);
}

TEST_F(RunJournalTest, ABadLineInTheMiddleIsBadInput) {
  const std::string line = write_run_event(small_events()[1]);
  for (const std::string bad :
       {"{\n", "[]\n", "{\"schema\":\"stint.run-event/1\"}\n",
        "{\"schema\":\"stint.run-event/3\",\"kind\":\"tick\",\"at_s\":0}\n",
        "{\"schema\":\"stint.run-snapshot/1\",\"plan\":1}\n",
        "{\"schema\":\"stint.run-event/1\",\"kind\":\"sneeze\",\"at_s\":0}\n"}) {
    const auto read = read_run_journal(line + bad + line, "journal");
    ASSERT_FALSE(read.ok()) << bad;
    EXPECT_EQ(read.error().kind, ErrorKind::kBadInput);
    EXPECT_NE(read.error().message.find("journal"), std::string::npos) << read.error().message;
  }
}

TEST_F(RunJournalTest, AnEmptyOneHasNoEvents) {
  const auto read = read_run_journal("", "journal");
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->noun.empty());
  EXPECT_TRUE(read->warnings.empty());
}

TEST_F(RunJournalTest, IsPrivateAndNoLink) {
  ASSERT_TRUE(RunJournal::open(path_).ok());
  struct stat facts {};
  ASSERT_EQ(::stat(path_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
  const std::string link = place_.path() + "/link";
  std::filesystem::create_symlink(path_, link);
  EXPECT_FALSE(RunJournal::open(link).ok());
}

}  // namespace
}  // namespace stint
