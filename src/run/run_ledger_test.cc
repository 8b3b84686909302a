#include "run/run_ledger.h"

#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/temporary_folder.h"
#include "run/month_world.h"
#include "run/run_fixture.h"

namespace stint {
namespace {

using Event = RunEventKind;
using Act = RunActionKind;

class RunLedgerTest : public testing::Test {
 protected:
  /// A ledger for a new run of small_record() in the folder.
  RunLedger ledger(std::int64_t longest = RunJournal::kLong) {
    write_small_run(folder_, record_, {});
    supervisor_ = make_supervisor(record_);
    return {*supervisor_, RunTeller(), std::move(*RunJournal::open(path_, longest)), 1};
  }

  ReplayedRun replayed() {
    auto run = replay_run_folder(folder_);
    EXPECT_TRUE(run.ok()) << run.error().message;
    return std::move(*run);
  }

  static std::string text_of(const ReplayedRun& run) {
    return write_run_snapshot(
        {.plan = run.plans, .supervisor = run.supervisor->snapshot(), .told = run.teller.told()});
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  const std::string& folder_ = place_.path();
  std::string path_ = journal_path_of(folder_);
  RunRecord record_ = small_record();
  std::unique_ptr<Supervisor> supervisor_;
};

TEST_F(RunLedgerTest, WritesEachEventWithItsActions) {
  RunLedger book = ledger();
  const auto actions = book.handle({}, record_.plan);
  ASSERT_TRUE(actions.ok());
  const auto lines = read_run_journal(*read_file(path_), path_);
  ASSERT_TRUE(lines.ok());
  ASSERT_EQ(lines->noun.size(), 1U);
  ASSERT_TRUE(lines->noun[0].actions);
  EXPECT_EQ(*lines->noun[0].actions, *actions);
  EXPECT_EQ(actions->at(0).kind, Act::kLaunch);
}

TEST_F(RunLedgerTest, ReplaysToTheSameStateWithOldLinesAndWithNew) {
  RunLedger book = ledger();
  for (const RunEvent& event : small_events()) ASSERT_TRUE(book.handle(event, record_.plan).ok());
  const std::string live = write_run_snapshot(book.snapshot());
  EXPECT_EQ(text_of(replayed()), live);
  write_small_run(folder_, record_, small_events());  // Without actions.
  EXPECT_EQ(text_of(replayed()), live);
}

// Another version called the second machine vm8, asked for the checkpoint as number 5, and began
// the attempt as number 3.
TEST_F(RunLedgerTest, WhatWasDoneCountsWhereThisVersionWouldDoSomethingElse) {
  write_small_run(folder_, record_, {});
  const auto launch = [](int vm, int slot) {
    return RunAction{.kind = Act::kLaunch, .vm = vm, .slot = slot, .market = Market::kSpot};
  };
  std::string journal = write_run_event({}, {launch(0, 0), launch(7, 1)});
  journal += write_run_event({.kind = Event::kVmUp, .at = 1 * kSecond, .vm = 0});
  journal += write_run_event({.kind = Event::kVmUp, .at = 2 * kSecond, .vm = 7},
                             {{.kind = Act::kTrain, .attempt = 3, .vms = {0, 7}}});
  journal +=
      write_run_event({.kind = Event::kWorkersUp, .at = 4 * kSecond, .attempt = 3, .step = 0});
  for (int i = 1; i <= 6; ++i) {
    const RunEvent step{.kind = Event::kStepDone,
                        .at = (4 + i) * kSecond,
                        .attempt = 3,
                        .step = i,
                        .duration = kSecond};
    std::vector<RunAction> actions;
    if (i == 6) actions = {{.kind = Act::kSave, .attempt = 3, .step = 6, .save = 5}};
    journal += write_run_event(step, actions);
  }
  journal += write_run_event({.kind = Event::kSaved, .at = 11 * kSecond, .step = 6, .save = 5});
  ASSERT_TRUE(write_file(path_, journal).ok());
  ReplayedRun run = replayed();
  const Supervisor& supervisor = *run.supervisor;
  ASSERT_EQ(supervisor.vms().size(), 8U);
  EXPECT_EQ(supervisor.vms()[7].phase, RunVmPhase::kUp);
  EXPECT_EQ(supervisor.vms()[7].slot, 1);
  for (int vm = 1; vm < 7; ++vm) {
    EXPECT_EQ(supervisor.vms()[static_cast<std::size_t>(vm)].phase, RunVmPhase::kGone) << vm;
  }
  ASSERT_TRUE(supervisor.attempt());
  EXPECT_EQ(supervisor.attempt()->number, 3);
  EXPECT_EQ(supervisor.attempt()->vms, (std::vector<int>{0, 7}));
  EXPECT_EQ(supervisor.reached(), 6);
  EXPECT_EQ(supervisor.saved(), 6);
  EXPECT_NEAR(supervisor.cost().in(kDollar), 0.0001 * (10 + 9), 1e-12);
  const RunStory story = story_of(run);
  ASSERT_EQ(story.vms.size(), 2U);
  EXPECT_EQ(story.vms[1].name, "vm8");
  // From here on this version decides, and goes on with their numbers.
  const auto next = run.supervisor->handle({.kind = Event::kVmLost, .at = 12 * kSecond, .vm = 7});
  bool launched = false;
  for (const RunAction& action : next) {
    if (action.kind == Act::kLaunch) EXPECT_EQ(action.vm, 8);
    if (action.kind == Act::kTrain) EXPECT_EQ(action.attempt, 4);
    launched = launched || action.kind == Act::kLaunch;
  }
  EXPECT_TRUE(launched);
}

TEST_F(RunLedgerTest, ActionsThatNoSupervisorTakesAreBadInput) {
  for (const RunAction& action : {RunAction{.kind = Act::kLaunch, .vm = 2'000'000'000},
                                  RunAction{.kind = Act::kLaunch, .vm = 0, .slot = 99},
                                  RunAction{.kind = Act::kRelease, .vm = 9},
                                  RunAction{.kind = Act::kTrain, .attempt = 1, .vms = {5}},
                                  RunAction{.kind = Act::kTrain, .attempt = 1}}) {
    write_small_run(folder_, record_, {});
    ASSERT_TRUE(write_file(path_, write_run_event({}, {action})).ok());
    const auto run = replay_run_folder(folder_);
    ASSERT_FALSE(run.ok()) << name_of(action.kind);
    EXPECT_EQ(run.error().kind, ErrorKind::kBadInput);
    EXPECT_NE(run.error().message.find("journal.jsonl"), std::string::npos);
  }
}

TEST_F(RunLedgerTest, ASnapshotAfterAnyEventChangesNothing) {
  const std::vector<RunEvent> events = small_events();
  RunLedger whole = ledger();
  for (const RunEvent& event : events) ASSERT_TRUE(whole.handle(event, record_.plan).ok());
  const std::string expected = write_run_snapshot(whole.snapshot());
  for (std::size_t after = 0; after < events.size(); ++after) {
    SCOPED_TRACE(after);
    std::filesystem::remove(path_);
    RunLedger book = ledger(0);
    for (std::size_t i = 0; i < events.size(); ++i) {
      ASSERT_TRUE(book.handle(events[i], record_.plan).ok());
      if (i == after) ASSERT_TRUE(book.shorten().ok());
    }
    EXPECT_EQ(read_file(path_)->find("{\"schema\":\"stint.run-snapshot/1\""), 0U);
    EXPECT_EQ(text_of(replayed()), expected);
  }
}

TEST_F(RunLedgerTest, ASnapshotThatCannotBeWrittenLeavesTheJournalAsItWas) {
  RunLedger book = ledger(0);
  ASSERT_TRUE(book.handle(small_events()[0], record_.plan).ok());
  const std::string before = *read_file(path_);
  ASSERT_TRUE(std::filesystem::create_directory(path_ + ".new"));
  EXPECT_FALSE(book.shorten().ok());
  EXPECT_EQ(*read_file(path_), before);
  EXPECT_TRUE(book.shorten().ok());  // Not again before it has grown.
  ASSERT_TRUE(book.handle(small_events()[1], record_.plan).ok());
  EXPECT_EQ(replayed().supervisor->vms()[0].phase, RunVmPhase::kUp);
}

TEST_F(RunLedgerTest, ASnapshotOfAnotherPlanIsBadInput) {
  RunLedger book = ledger(0);
  ASSERT_TRUE(book.handle({}, record_.plan).ok());
  ASSERT_TRUE(book.shorten().ok());
  RunRecord other = record_;
  other.plan.machines[0].count = 1;
  ASSERT_TRUE(write_file(record_path(folder_), write_run(other)).ok());
  const auto run = replay_run_folder(folder_);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(run.error().message.find("2 slots instead of the plan's 1"), std::string::npos);
}

// A tenth of a per mille of bench/journal_bench.cc: 40 losses in half an hour.
TEST_F(RunLedgerTest, AMonthInShortStaysShortAndReplaysToTheSame) {
  const MonthSize size{.machines = 20, .steps = 20'000, .losses = 40, .journal = 100'000};
  MonthWorld month(size, folder_, 1);
  month.play();
  EXPECT_GT(month.losses(), 20);
  EXPECT_LT(month.longest(), 2 * size.journal);
  const ReplayedRun run = replayed();
  EXPECT_EQ(text_of(run), write_run_snapshot(month.snapshot()));
  const RunStory story = story_of(run);
  EXPECT_EQ(story.outcome, RunVerdict::kTrained);
  EXPECT_EQ(story.losses, month.losses());
  // The last may be on its way at the end.
  EXPECT_GE(story.vms.size(), static_cast<std::size_t>(size.machines + month.losses() - 2));
  // The same run with a journal that is never shortened.
  const auto beside = TemporaryFolder::make();
  MonthSize all = size;
  all.journal = RunJournal::kLong;
  MonthWorld again(all, beside->path(), 1);
  again.play();
  EXPECT_GT(again.longest(), 3 * month.longest());
  EXPECT_EQ(write_run_snapshot(again.snapshot()), write_run_snapshot(month.snapshot()));
}

// Journals that are shortened all the time, by processes that are killed in the middle of it.
TEST_F(RunLedgerTest, AKillAtAnyInstantLeavesAJournalThatReplays) {
  int snapshots = 0;
  for (int i = 0; i < 12; ++i) {
    const std::string folder = fmt::format("{}/{}", folder_, i);
    ASSERT_TRUE(std::filesystem::create_directory(folder));
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      MonthWorld({.machines = 3, .steps = 10'000'000, .losses = 100'000, .journal = 1'000}, folder,
                 1)
          .play();
      ::_exit(0);
    }
    const std::string path = journal_path_of(folder);
    // Until it is under way, and then any number of events more.
    std::error_code error;
    while (!(std::filesystem::exists(path, error) &&
             std::filesystem::file_size(path, error) > 3'000)) {
      ASSERT_EQ(::waitpid(child, nullptr, WNOHANG), 0);
    }
    for (int reads = 0; reads < 7 * i; ++reads) (void)read_file(path);
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    const auto run = replay_run_folder(folder);
    ASSERT_TRUE(run.ok()) << run.error().message;
    EXPECT_GT(run->supervisor->now(), Seconds{});
    snapshots += read_file(path)->find("stint.run-snapshot/1") == std::string::npos ? 0 : 1;
    auto journal = RunJournal::open(path);
    ASSERT_TRUE(journal.ok());
    const RunEvent tick{.at = run->supervisor->now()};
    ASSERT_TRUE(journal->append(tick, run->supervisor->handle(tick)).ok());
    EXPECT_TRUE(replay_run_folder(folder).ok());
  }
  EXPECT_GT(snapshots, 6);
}

}  // namespace
}  // namespace stint
