#include "base/run_command.h"

#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/file.h"

namespace stint {
namespace {

using Cause = ProcessesEnd::Cause;

Command shell(const std::string& script) { return {.words = {"/bin/sh", "-c", script}}; }

Result<ProcessesEnd> run(const std::vector<Command>& commands, Seconds limit = 60 * kSecond) {
  return run_together(commands, limit);
}

TEST(RunCommand, TellsTheCodeOfEachCommand) {
  const auto end = run({shell("exit 0"), shell("exit 3")});
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->cause, Cause::kEnded);
  EXPECT_EQ(end->codes, (std::vector<int>{0, 3}));
  EXPECT_EQ(end->code, 3);
}

TEST(RunCommand, ASignalThatEndsOneIsAddedTo128) {
  const auto end = run({shell("kill -KILL $$")});
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->code, 128 + SIGKILL);
}

TEST(RunCommand, VariablesAreAddedAndOutputGoesToTheFile) {
  const std::string file = testing::TempDir() + fmt::format("/process_test_{}", getpid());
  const std::vector<Command> commands = {
      {.words = {"sh", "-c", "echo $GREETING; echo world >&2; test ! -t 0 && cat"},
       .variables = {"GREETING=hello"}}};
  const auto end = run_together(commands, 60 * kSecond, file);
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->code, 0);
  EXPECT_EQ(*read_file(file), "hello\nworld\n");
  std::filesystem::remove(file);
}

TEST(RunCommand, WhatTakesTooLongIsEndedWithItsChildren) {
  const std::string file = testing::TempDir() + fmt::format("/process_limit_{}", getpid());
  const std::vector<Command> commands = {shell("sleep 1000 & echo $!; wait")};
  std::string said;
  // On a busy computer the shell may print nothing in a short time.
  for (const double seconds : {0.3, 3.0, 30.0}) {
    const auto end = run_together(commands, seconds * kSecond, file);
    ASSERT_TRUE(end.ok());
    EXPECT_EQ(end->cause, Cause::kTimeLimit);
    EXPECT_EQ(end->code, 128 + SIGTERM);
    said = *read_file(file);
    if (!said.empty()) break;
  }
  ASSERT_FALSE(said.empty());
  const pid_t sleeper = std::stoi(said);
  // It is gone, or waits as a zombie for whoever adopted it. It was killed, but a busy kernel may
  // take a moment over that.
  bool gone = false;
  for (int i = 0; i < 6000 && !gone; ++i) {
    const auto status = read_file(fmt::format("/proc/{}/status", sleeper));
    gone = !status.ok() || status->find("State:\tZ") != std::string::npos;
    if (!gone) ::usleep(10000);
  }
  EXPECT_TRUE(gone);
  std::filesystem::remove(file);
}

TEST(RunCommand, ASignalToUsIsPassedOn) {
  const auto end = run({shell("trap 'exit 9' INT; kill -INT $PPID; sleep 1000 & wait")});
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->cause, Cause::kInterrupted);
  EXPECT_EQ(end->code, 9);
}

TEST(RunCommand, AProgramThatIsNotThereCannotBeStarted) {
  const auto end = run({shell("sleep 1000"), {.words = {"no-such-program-1"}}});
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(end.error().message, "cannot start no-such-program-1: No such file or directory");
  const auto other = run({{.words = {"/"}}});
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().message, "cannot start /: Permission denied");
}

TEST(RunCommand, ACommandThatFailsSaysWhatItPrinted) {
  EXPECT_TRUE(run_command({"true"}).ok());
  const Status status = run_command({"sh", "-c", "echo no such luck >&2; exit 3"});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(status.error().message.find("failed: no such luck"), std::string::npos);
}

TEST(RunCommand, AProgramThatIsNotThereIsNamed) {
  const Status status = run_command({"stint-no-such-program"});
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("No such file"), std::string::npos);
}

TEST(RunCommand, ACommandThatHangsIsEnded) {
  const Status status = run_command({"sleep", "100"}, 50 * kMillisecond);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("it did not end within 0.05 s"), std::string::npos);
}

// The program closes its error stream, so that only its end can be waited for.
TEST(RunCommand, ACommandThatSaysNothingMoreHasTheSameLimit) {
  const Status status = run_command({"sh", "-c", "exec sleep 100 2>&-"}, 50 * kMillisecond);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("it did not end within 0.05 s"), std::string::npos);
}

TEST(RunCommand, TheFirstCommandThatFailsEndsTheList) {
  const std::string file = testing::TempDir() + fmt::format("/process_list_{}", getpid());
  const Status status = run_commands({{"true"}, {"false"}, {"touch", file}});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "'false' failed: ");
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(RunCommand, AnOutputThatCannotBeWrittenIsAnError) {
  const std::vector<Command> commands = {shell("true")};
  const auto end = run_together(commands, kSecond, "/no/such/folder/output");
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().message, "cannot write /no/such/folder/output: No such file or directory");
}

}  // namespace
}  // namespace stint
