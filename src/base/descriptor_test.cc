#include "base/descriptor.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace stint {
namespace {

TEST(Descriptor, ALineEndsAtItsEnd) {
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe.ok());
  EXPECT_TRUE(write_all(pipe->to.get(), "ok\n"));
  EXPECT_EQ(read_line(pipe->from.get(), kSecond), "ok");
  EXPECT_EQ(read_line(pipe->from.get(), 10 * kMillisecond), "");
}

TEST(Descriptor, DescriptorsAreClosedButForTheKept) {
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
