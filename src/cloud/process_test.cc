#include "cloud/process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace stint {
namespace {

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

TEST(Process, ALineEndsAtItsEnd) {
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe.ok());
  EXPECT_TRUE(write_all(pipe->to.get(), "ok\n"));
  EXPECT_EQ(read_line(pipe->from.get(), kSecond), "ok");
  EXPECT_EQ(read_line(pipe->from.get(), 10 * kMillisecond), "");
}

TEST(Process, DescriptorsAreClosedButForTheKept) {
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe.ok());
  const int kept = pipe->to.get();
  const int closed = pipe->from.get();
  const pid_t child = ::fork();
  if (child == 0) {
    close_all_but({kept});
    const bool right = ::dup(closed) < 0 && ::dup(kept) >= 0;
    ::_exit(right ? 0 : 1);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace stint
