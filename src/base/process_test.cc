#include "base/process.h"

#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

namespace stint {
namespace {

TEST(StopSignals, AreNotedOnceAndKillNobody) {
  const StopSignals signals;
  EXPECT_FALSE(StopSignals::take());
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    ::raise(signal);
    EXPECT_TRUE(StopSignals::take()) << signal;
    EXPECT_FALSE(StopSignals::take()) << signal;
  }
}

TEST(StopSignals, AReaderWhoLeavesEndsNothing) {
  const StopSignals signals;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  EXPECT_EQ(::write(ends[1], "x", 1), -1);
  ::close(ends[1]);
  EXPECT_FALSE(StopSignals::take());
}

TEST(StopSignals, MeanAgainWhatTheyMeantBefore) {
  const pid_t child = ::fork();
  if (child == 0) {
    { const StopSignals signals; }
    ::raise(SIGTERM);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

TEST(StopSignals, ThatCameEarlierAreForgotten) {
  {
    const StopSignals signals;
    ::raise(SIGINT);
  }
  const StopSignals signals;
  EXPECT_FALSE(StopSignals::take());
}

using Cause = ProcessesEnd::Cause;

Command shell(const std::string& script) { return {.words = {"/bin/sh", "-c", script}}; }

Result<ProcessesEnd> run(const std::vector<Command>& commands, Seconds limit = 60 * kSecond) {
  return run_together(commands, limit);
}

TEST(Process, TellsTheCodeOfEachCommand) {
  const auto end = run({shell("exit 0"), shell("exit 3")});
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->cause, Cause::kEnded);
  EXPECT_EQ(end->codes, (std::vector<int>{0, 3}));
  EXPECT_EQ(end->code, 3);
}

TEST(Process, ASignalThatEndsOneIsAddedTo128) {
  const auto end = run({shell("kill -KILL $$")});
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->code, 128 + SIGKILL);
}

TEST(Process, VariablesAreAddedAndOutputGoesToTheFile) {
  const std::string file = testing::TempDir() + fmt::format("/process_test_{}", getpid());
  const std::vector<Command> commands = {
      {.words = {"sh", "-c", "echo $GREETING; echo world >&2; test ! -t 0 && cat"},
       .variables = {{"GREETING", "hello"}}}};
  const auto end = run_together(commands, 60 * kSecond, file);
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->code, 0);
  EXPECT_EQ(*read_file(file), "hello\nworld\n");
  std::filesystem::remove(file);
}

TEST(Process, WhatTakesTooLongIsEndedWithItsChildren) {
  const std::string file = testing::TempDir() + fmt::format("/process_limit_{}", getpid());
  const std::vector<Command> commands = {shell("sleep 1000 & echo $!; wait")};
  std::string said;
  // On a busy computer the shell may not get as far as to say anything in a short time.
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

TEST(Process, ASignalToUsIsPassedOn) {
  const auto end = run({shell("trap 'exit 9' INT; kill -INT $PPID; sleep 1000 & wait")});
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end->cause, Cause::kInterrupted);
  EXPECT_EQ(end->code, 9);
}

TEST(Process, AProgramThatIsNotThereCannotBeStarted) {
  const auto end = run({shell("sleep 1000"), {.words = {"no-such-program-1"}}});
  ASSERT_FALSE(end.ok());
  EXPECT_EQ(end.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(end.error().message, "cannot start no-such-program-1: No such file or directory");
  const auto other = run({{.words = {"/"}}});
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.error().message, "cannot start /: Permission denied");
}

TEST(Process, FindsProgramsInThePath) {
  EXPECT_TRUE(program_path("sh").has_value());
  EXPECT_EQ(program_path("/bin/sh"), "/bin/sh");
  EXPECT_FALSE(program_path("no-such-program-1").has_value());
  EXPECT_FALSE(program_path("./no-such-program-1").has_value());
}

TEST(Process, AFreePortIsAPort) {
  const auto port = free_loopback_port();
  ASSERT_TRUE(port.ok());
  EXPECT_GT(*port, 1023);
  EXPECT_LT(*port, 65536);
}

TEST(Process, ACommandThatFailsSaysWhatItPrinted) {
  EXPECT_TRUE(run_command({"true"}).ok());
  const Status status = run_command({"sh", "-c", "echo no such luck >&2; exit 3"});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(status.error().message.find("failed: no such luck"), std::string::npos);
}

TEST(Process, AProgramThatIsNotThereIsNamed) {
  const Status status = run_command({"stint-no-such-program"});
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("No such file"), std::string::npos);
}

TEST(Process, ACommandThatHangsIsEnded) {
  const Status status = run_command({"sleep", "100"}, 50 * kMillisecond);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find("no end after 0.05 s"), std::string::npos);
}

// The name may hold brackets and spaces; the start is the 22nd field.
TEST(Process, TheStartIsReadBehindTheName) {
  const std::string rest = " 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 99 99";
  EXPECT_EQ(start_of("12 (a) b) S" + rest), 4711);
  EXPECT_FALSE(start_of("12 (dead) Z" + rest).has_value());
  EXPECT_FALSE(start_of("nonsense").has_value());
}

// Flags are the ninth field, of which bit 2 says that it exits; pending signals the 31st, of which
// bit 8 is SIGKILL.
TEST(Process, OneThatExitsOrIsKilledIsEnding) {
  const auto stat = [](int flags, int pending) {
    return fmt::format(
        "12 (a) b) S 1 1 1 0 -1 {} 0 0 0 0 0 0 0 0 20 0 1 0 4711 9 9 9 9 9 9 9 9 {} 0", flags,
        pending);
  };
  EXPECT_FALSE(is_ending(stat(0x400000, 0)));
  EXPECT_FALSE(is_ending(stat(0x400000, 2)));
  EXPECT_TRUE(is_ending(stat(0x400004, 0)));
  EXPECT_TRUE(is_ending(stat(0x400000, 0x100)));
  EXPECT_FALSE(is_ending("nonsense"));
}

TEST(Process, AnEndedProcessIsNotAliveEvenWhileNobodyAskedForItsStatus) {
  const auto own = process_id(::getpid());
  ASSERT_TRUE(own.has_value());
  EXPECT_TRUE(is_alive(*own));
  ProcessId other = *own;
  other.start += 1;
  EXPECT_FALSE(is_alive(other));

  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_FALSE(process_id(child).has_value());
  ::waitpid(child, nullptr, 0);
}

}  // namespace

}  // namespace stint
