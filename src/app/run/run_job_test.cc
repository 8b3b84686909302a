#include "app/run/run_job.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/temporary_folder.h"
#include "run/run_fixture.h"
#include "run/run_folder.h"

namespace stint {
namespace {

namespace fs = std::filesystem;

class RunJobTest : public testing::Test {
 protected:
  /// A run in the folder of runs, as small_events() left it after so many events.
  std::string add_run(const std::string& name, std::size_t events) {
    std::vector<RunEvent> some = small_events();
    some.resize(std::min(events, some.size()));
    RunRecord record = small_record();
    record.name = name;
    const std::string folder = place_.path() + "/runs/" + name;
    write_small_run(folder, record, some);
    return folder;
  }

  /// All files and their lengths.
  std::vector<std::string> everything() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(place_.path())) {
      found.push_back(entry.path().string() +
                      (entry.is_regular_file() ? std::to_string(entry.file_size()) : ""));
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  TemporaryFolder place_ = std::move(*TemporaryFolder::make());
  Environment environment_{
      .data_folder = {}, .state_folder = place_.path(), .clock = std::make_shared<SystemClock>()};
};

TEST_F(RunJobTest, FindsARunByItsName) {
  const std::string folder = add_run("one", 0);
  EXPECT_EQ(*find_run(environment_, "one"), folder);
  const auto unknown = find_run(environment_, "two");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(unknown.error().message, "there is no run two; the runs are one");
}

TEST_F(RunJobTest, FindsTheLastThatWasBegun) {
  const auto none = find_run(environment_, "");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, ErrorKind::kUsage);
  const std::string older = add_run("b", 0);
  const std::string newer = add_run("a", 0);
  const auto now = fs::last_write_time(record_path(newer));
  fs::last_write_time(record_path(older), now - std::chrono::seconds(10));
  EXPECT_EQ(*find_run(environment_, ""), newer);
  fs::last_write_time(record_path(older), now + std::chrono::seconds(10));
  EXPECT_EQ(*find_run(environment_, ""), older);
  fs::create_directories(place_.path() + "/runs/c");  // Without a record it is none.
  EXPECT_EQ(*find_run(environment_, ""), older);
}

TEST_F(RunJobTest, NamesThatCannotBeTouchNothing) {
  (void)add_run("one", 8);
  ASSERT_TRUE(write_file(place_.path() + "/run.json", write_run(small_record())).ok());
  const std::vector<std::string> before = everything();
  for (const char* name : {"..", ".", "../runs", "../runs/one", "one/..", "/", "a b", "'one'",
                           "\"one\"", "one\n", "-one", "--resume", "o\x1b[2Jne", "$(id)"}) {
    EXPECT_EQ(find_run(environment_, name).error().kind, ErrorKind::kUsage) << name;
    EXPECT_EQ(resume_run(environment_, name, {}).error().kind, ErrorKind::kUsage) << name;
    EXPECT_EQ(stop_run(environment_, name).error().kind, ErrorKind::kUsage) << name;
    PreparedRun run;
    run.record = small_record();
    run.record.name = name;
    EXPECT_EQ(start_run(environment_, std::move(run), {}).error().kind, ErrorKind::kUsage) << name;
  }
  EXPECT_EQ(everything(), before);
}

TEST_F(RunJobTest, TwoRunsCannotHaveTheSameName) {
  (void)add_run("one", 8);
  const std::vector<std::string> before = everything();
  PreparedRun run;
  run.record = small_record();
  run.record.name = "one";
  const auto started = start_run(environment_, std::move(run), {});
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().kind, ErrorKind::kUsage);
  EXPECT_NE(started.error().message.find("stint run --resume one"), std::string::npos);
  EXPECT_EQ(everything(), before);
}

TEST_F(RunJobTest, ATrainedRunIsNotResumed) {
  (void)add_run("one", 99);
  const auto resumed = resume_run(environment_, "one", {});
  ASSERT_FALSE(resumed.ok());
  EXPECT_EQ(resumed.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(resumed.error().message, "the run one is complete; see 'stint report one'");
  EXPECT_EQ(resume_run(environment_, "", {}).error().message, resumed.error().message);
}

TEST_F(RunJobTest, ADamagedRunIsBadInput) {
  const std::string folder = add_run("one", 8);
  ASSERT_TRUE(write_file(journal_path_of(folder), "nonsense\n{}\n").ok());
  auto resumed = resume_run(environment_, "one", {});
  ASSERT_FALSE(resumed.ok());
  EXPECT_EQ(resumed.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(resumed.error().message.find("journal.jsonl"), std::string::npos);
  ASSERT_TRUE(write_file(record_path(folder), "{\"schema\":\"stint.run/1\",\"name\":7}").ok());
  resumed = resume_run(environment_, "one", {});
  ASSERT_FALSE(resumed.ok());
  EXPECT_EQ(resumed.error().kind, ErrorKind::kBadInput);
  EXPECT_NE(resumed.error().message.find("run.json"), std::string::npos);
  EXPECT_EQ(stop_run(environment_, "one").error().kind, ErrorKind::kBadInput);
}

TEST_F(RunJobTest, ARunThatSomebodyRunsIsNotResumed) {
  const std::string folder = add_run("one", 8);
  auto ready = make_pipe();
  const pid_t other = ::fork();
  if (other == 0) {
    const auto lock = lock_run(folder);
    write_all(ready->to.get(), lock.ok() ? "held\n" : "not\n");
    while (true) ::pause();
    ::_exit(0);
  }
  EXPECT_EQ(read_line(ready->from.get(), kMinute), "held");
  const auto resumed = resume_run(environment_, "one", {});
  ASSERT_FALSE(resumed.ok());
  EXPECT_NE(resumed.error().message.find("already conducts the run one"), std::string::npos)
      << resumed.error().message;
  // To stop it is to tell that process, which here ends at once.
  EXPECT_TRUE(stop_run(environment_, "one").ok());
  int status = 0;
  EXPECT_EQ(::waitpid(other, &status, 0), other);
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST_F(RunJobTest, ARunWithoutAProcessOrMachinesCannotBeStopped) {
  (void)add_run("one", 8);
  const auto stopped = stop_run(environment_, "one");
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(stopped.error().message, "the run one is not running and has no machines");
}

TEST_F(RunJobTest, WithoutAFolderForStateThereAreNoRuns) {
  environment_.state_folder.reset();
  EXPECT_FALSE(find_run(environment_, "one").ok());
  EXPECT_FALSE(start_run(environment_, {}, {}).ok());
}

}  // namespace
}  // namespace stint
