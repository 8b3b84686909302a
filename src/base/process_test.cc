#include "base/process.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace stint {
namespace {

TEST(StopSignals, AreNotedOnceAndKillNobody) {
  const StopSignals signals;
  EXPECT_EQ(StopSignals::take(), 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    ::raise(signal);
    EXPECT_EQ(StopSignals::take(), signal);
    EXPECT_EQ(StopSignals::take(), 0);
  }
}

TEST(StopSignals, AReaderWhoLeavesEndsNothing) {
  const StopSignals signals;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  EXPECT_EQ(::write(ends[1], "x", 1), -1);
  ::close(ends[1]);
  EXPECT_EQ(StopSignals::take(), 0);
}

TEST(StopSignals, MeanAgainWhatTheyMeantBefore) {
  const auto child = fork_child([](int) {
    { const StopSignals signals; }
    return ::raise(SIGTERM);
  });
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(wait_for_exit(child->pid), 128 + SIGTERM);
}

TEST(StopSignals, ThatCameEarlierAreForgotten) {
  {
    const StopSignals signals;
    ::raise(SIGINT);
  }
  const StopSignals signals;
  EXPECT_EQ(StopSignals::take(), 0);
}

TEST(StopSignals, AHangupStaysIgnoredUnderNohup) {
  const auto child = fork_child([](int) {
    ::signal(SIGHUP, SIG_IGN);
    const StopSignals signals;
    ::raise(SIGHUP);
    return StopSignals::take();
  });
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(wait_for_exit(child->pid), 0);
}

TEST(StopSignals, OnlyThoseThatAreNamedAreNoted) {
  const auto child = fork_child([](int) {
    const StopSignals signals({SIGINT});
    ::raise(SIGINT);
    return StopSignals::take() == SIGINT ? ::raise(SIGTERM) : 1;
  });
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(wait_for_exit(child->pid), 128 + SIGTERM);
}

constexpr Seconds kPatience = 30 * kSecond;

/// The output of a shell that runs `script` as part of `command`, and its exit code.
std::pair<std::string, int> run(const std::string& script, Command command = {}) {
  auto pipe = make_pipe();
  command.words = {"sh", "-c", script};
  command.out = pipe->to.get();
  const auto pid = start_process(command);
  if (!pid.ok()) return {pid.error().message, -1};
  pipe->to.close();
  std::string said;
  read_to_end(pipe->from.get(), kPatience, said);
  return {said, wait_for_exit(*pid)};
}

using Ended = std::pair<std::string, int>;

TEST(StartProcess, AProgramFindsItsVariablesBesideOurs) {
  EXPECT_EQ(run("echo $GREETING; test -n \"$PATH\"; exit 3", {.variables = {"GREETING=hello"}}),
            Ended("hello\n", 3));
  EXPECT_EQ(run("/bin/echo $PATH", {.variables = {"PATH=/none"}}), Ended("/none\n", 0));
  // Of ours it gets those that it may have.
  ::setenv("STINT_TEST_KEPT", "kept", 1);
  ::setenv("STINT_TEST_SECRET", "secret", 1);
  EXPECT_EQ(run("echo $STINT_TEST_KEPT $STINT_TEST_SECRET",
                {.inherits = [](std::string_view name) { return name == "STINT_TEST_KEPT"; }}),
            Ended("kept\n", 0));
  const std::vector<std::string> names = variable_names();
  EXPECT_NE(std::find(names.begin(), names.end(), "STINT_TEST_SECRET"), names.end());
  ::unsetenv("STINT_TEST_KEPT");
  ::unsetenv("STINT_TEST_SECRET");
  EXPECT_EQ(assignments({{"A", "1"}, {"B", ""}}), (std::vector<std::string>{"A=1", "B="}));
}

TEST(StartProcess, StreamsMayLieWhereOthersAreToGo) {
  auto pipe = make_pipe();
  const auto pid = start_process(
      {.words = {"sh", "-c", "echo error >&2"}, .out = STDERR_FILENO, .err = pipe->to.get()});
  ASSERT_TRUE(pid.ok());
  EXPECT_EQ(read_line(pipe->from.get(), kPatience), "error");
  EXPECT_EQ(wait_for_exit(*pid), 0);
  const auto none = start_process({.words = {"true"}, .in = 999999});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message, "its input and output: Bad file descriptor");
}

TEST(StartProcess, AProgramThatIsNotThereIsNamed) {
  const auto pid = start_process({.words = {"stint-no-such-program"}});
  ASSERT_FALSE(pid.ok());
  EXPECT_EQ(pid.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(pid.error().message, "stint-no-such-program: No such file or directory");
  EXPECT_EQ(start_process({.words = {"/"}}).error().message, "/: Permission denied");
}

TEST(StartProcess, AProgramRunsInItsFolder) {
  EXPECT_EQ(run("pwd", {.folder = "/proc"}), Ended("/proc\n", 0));
  EXPECT_EQ(run("pwd", {.folder = "/no/such/folder"}),
            Ended("/no/such/folder: No such file or directory", -1));
}

TEST(StartProcess, OnlyKeptDescriptorsStayOpen) {
  const auto kept = make_pipe();
  const Descriptor open(::dup(kept->to.get()));  // A copy stays open on exec.
  const std::string script = "test -e /proc/self/fd/" + std::to_string(kept->to.get()) +
                             " && echo kept; " + "test -e /proc/self/fd/" +
                             std::to_string(open.get()) + " && echo open; true";
  EXPECT_EQ(run(script), Ended("open\n", 0));
  EXPECT_EQ(run(script, {.kept = std::vector<int>()}), Ended("", 0));
  EXPECT_EQ(run(script, {.kept = std::vector{kept->to.get()}}), Ended("kept\n", 0));
}

// The fifth field of /proc/PID/stat is the group, the sixth the session.
TEST(StartProcess, AProgramLeadsItsGroupOrSession) {
  const std::string script = "set -- $(cat /proc/$$/stat); echo $(($1 == $5)) $(($1 == $6))";
  EXPECT_EQ(run(script, {.group = ProcessGroup::kOurs}), Ended("0 0\n", 0));
  EXPECT_EQ(run(script, {.group = ProcessGroup::kOwn}), Ended("1 0\n", 0));
  EXPECT_EQ(run(script, {.group = ProcessGroup::kOwnSession}), Ended("1 1\n", 0));
}

TEST(StartProcess, SignalsMeanToAProgramWhatTheyMeanByDefault) {
  const StopSignals ignored({SIGPIPE});
  EXPECT_EQ(run("kill -PIPE $$"), Ended("", 128 + SIGPIPE));
}

// Its middle process would be the parent if the program were a child of it.
TEST(StartProcess, WhatEntersElsewhereIsStillOurChild) {
  const auto enter = [] {
    return ::setenv("STINT_ENTERED", "1", 1) == 0 ? Status() : failed("no");
  };
  EXPECT_EQ(run("echo $PPID", {.enter = enter}), Ended(std::to_string(::getpid()) + "\n", 0));
  EXPECT_EQ(run("pwd", {.folder = "/proc", .enter = enter}), Ended("/proc\n", 0));
  const auto refuse = [] { return Status(failed("the door is shut")); };
  EXPECT_EQ(run("true", {.enter = refuse}), Ended("the door is shut", -1));
}

TEST(StartProcess, OneThatIsKilledOnItsWayIsAnError) {
  const auto die = []() -> Status {
    ::raise(SIGKILL);
    return {};
  };
  EXPECT_EQ(run("true", {.enter = die}), Ended("it was killed before it began", -1));
}

TEST(StartProcess, AProgramDiesWithTheProcessThatStartedIt) {
  const auto parent = fork_child([](int report) {
    const auto pid = start_process({.words = {"sleep", "1000"}, .kept = std::vector<int>()});
    write_all(report, std::to_string(pid.ok() ? *pid : 0) + "\n");
    ::pause();
    return 0;
  });
  ASSERT_TRUE(parent.ok());
  const auto sleeper = process_id(std::stoi(read_line(parent->report.get(), kPatience)));
  ASSERT_TRUE(sleeper.has_value());
  EXPECT_EQ(kill_group(parent->pid), 128 + SIGKILL);
  bool alive = true;
  for (int i = 0; i < 3000 && alive; ++i) {
    alive = is_alive(*sleeper);
    if (alive) ::usleep(10000);
  }
  EXPECT_FALSE(alive);
}

TEST(ForkChild, ItsReportIsReadAndItsCodeIsTold) {
  const auto child = fork_child([](int report) {
    write_all(report, "hello");
    return 7;
  });
  ASSERT_TRUE(child.ok());
  std::string said;
  EXPECT_TRUE(read_to_end(child->report.get(), kPatience, said));
  EXPECT_EQ(said, "hello");
  EXPECT_EQ(wait_for_exit(child->pid), 7);
}

TEST(ForkChild, LeadsAGroupFromTheFirstMoment) {
  const auto child = fork_child([](int) { return ::pause(); }, {.group = ProcessGroup::kOwn});
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(::kill(-child->pid, SIGTERM), 0);
  EXPECT_EQ(wait_for_exit(child->pid), 128 + SIGTERM);
}

// The low byte of a status is the signal, the one above it the exit code.
TEST(Process, SignalsCountFrom128) {
  EXPECT_EQ(exit_code_of(3 << 8), 3);
  EXPECT_EQ(exit_code_of(9), 137);
}

TEST(Process, AWaitEndsAtItsLimit) {
  const auto child = fork_child([](int) { return ::pause(); });
  ASSERT_TRUE(child.ok());
  EXPECT_FALSE(exit_code_if_ended(child->pid).has_value());
  EXPECT_FALSE(wait_for_exit(child->pid, 20 * kMillisecond).has_value());
  ::kill(child->pid, SIGTERM);
  EXPECT_EQ(wait_for_exit(child->pid, kPatience), 128 + SIGTERM);
}

TEST(Children, AreReapedOnceWithTheirCodes) {
  Children children;
  for (const int code : {0, 5}) {
    const auto child = fork_child([=](int) { return code; }, {.group = ProcessGroup::kOwn});
    ASSERT_TRUE(child.ok());
    children.add(child->pid);
  }
  std::vector<std::size_t> ended;
  for (int i = 0; i < 1000 && children.running(); ++i) {
    children.wait(kPatience);
    for (const std::size_t one : children.reap()) ended.push_back(one);
  }
  std::sort(ended.begin(), ended.end());
  EXPECT_EQ(ended, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(children.codes(), (std::vector<int>{0, 5}));
  EXPECT_EQ(children.first_failure(), 5);
  EXPECT_TRUE(children.reap().empty());
}

TEST(Children, AreKilledWithTheirGroups) {
  Children children;
  const auto pid = start_process({.words = {"sleep", "1000"}});
  ASSERT_TRUE(pid.ok());
  children.add(*pid);
  children.wait(Seconds{});
  EXPECT_TRUE(children.running());
  children.kill_all();
  EXPECT_FALSE(children.running());
  EXPECT_EQ(children.code(0), 128 + SIGKILL);
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

  const auto child = fork_child([](int) { return 0; });
  ASSERT_TRUE(child.ok());
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child->pid), &info, WEXITED | WNOWAIT);
  EXPECT_FALSE(process_id(child->pid).has_value());
  EXPECT_EQ(wait_for_exit(child->pid), 0);
}

}  // namespace

}  // namespace stint
