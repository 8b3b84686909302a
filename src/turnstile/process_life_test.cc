#include "turnstile/process_life.h"

#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace stint {
namespace {

TEST(ProcessLife, AStatLineIsReadWhateverTheProgramIsCalled) {
  const std::string line =
      "17 (a) R 9 (x) S 1 17 17 0 -1 4194308 6 0 0 0 0 0 0 0 25 5 1 0 98765 31 39 18\n";
  // Flags 4194308 = 0x400004: PF_EXITING is set. Field 22 is the start.
  EXPECT_EQ(parse_task_stat(line), (TaskStat{.start = 98765, .exiting = true}));
  const std::string alive = "17 (cat) R 1 17 17 0 -1 4194304 6 0 0 0 0 0 0 0 25 5 1 0 98765 31\n";
  EXPECT_EQ(parse_task_stat(alive), (TaskStat{.start = 98765, .exiting = false}));
}

TEST(ProcessLife, AnythingElseIsRefused) {
  for (const char* text :
       {"", "17 cat R 1", "17 (cat) R 1 17 17 0 -1 x 6 0 0 0 0 0 0 0 2 5 1 0 9 3",
        "17 (cat) R 1 17 17 0 -1 4194304 6 0 0"}) {
    EXPECT_FALSE(parse_task_stat(text)) << text;
  }
}

TEST(ProcessLife, ThisProcessIsAliveAndAnEarlierOneOfItsNumberIsGone) {
  const auto own = own_identity();
  ASSERT_TRUE(own);
  EXPECT_EQ(own->process, ::getpid());
  EXPECT_FALSE(is_gone(*own));
  EXPECT_TRUE(is_gone({own->process, own->start - 1}));
}

TEST(ProcessLife, AKilledProcessIsGoneBeforeAndAfterItIsReaped) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto own = own_identity();
    const ssize_t written = ::write(pipe_ends[1], &*own, sizeof *own);
    while (written > 0) ::pause();
    ::_exit(1);
  }
  ::close(pipe_ends[1]);
  ProcessIdentity identity;
  ASSERT_EQ(::read(pipe_ends[0], &identity, sizeof identity), ssize_t{sizeof identity});
  EXPECT_EQ(identity.process, child);
  EXPECT_FALSE(is_gone(identity));
  ::kill(child, SIGKILL);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);  // It stays a zombie.
  EXPECT_TRUE(is_gone(identity));
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(is_gone(identity));
  ::close(pipe_ends[0]);
}

/// Whether the first thread of this process is a zombie.
bool first_thread_has_ended() {
  std::ifstream file("/proc/self/stat");
  const std::string line(std::istreambuf_iterator<char>(file), {});
  return line.find(") Z ") != std::string::npos;
}

TEST(ProcessLife, AProcessLivesOnWithoutItsFirstThread) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    std::thread([&] {
      while (!first_thread_has_ended()) ::usleep(1'000);
      const auto own = own_identity();
      const ssize_t written = ::write(pipe_ends[1], &*own, sizeof *own);
      while (written > 0) ::pause();
    }).detach();
    ::syscall(SYS_exit, 0);  // Of this thread only.
  }
  ::close(pipe_ends[1]);
  ProcessIdentity identity;
  ASSERT_EQ(::read(pipe_ends[0], &identity, sizeof identity), ssize_t{sizeof identity});
  EXPECT_FALSE(is_gone(identity));
  ::kill(child, SIGKILL);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_TRUE(is_gone(identity));
  ::waitpid(child, nullptr, 0);
  ::close(pipe_ends[0]);
}

TEST(ProcessLife, ThePidNamespaceIsKnown) {
  const auto own = own_pid_namespace();
  ASSERT_TRUE(own);
  EXPECT_NE(own->inode, 0U);
  EXPECT_EQ(*own, *own_pid_namespace());
}

}  // namespace
}  // namespace stint
