#include "provider/ssh/command_task.h"

#include <gtest/gtest.h>
#include <poll.h>

namespace stint {
namespace {

int code_of(CommandTask& task) {
  const Deadline limit(kMinute);
  while (!task.turn() && !limit.passed()) ::poll(nullptr, 0, 5);
  return task.turn().value_or(-1);
}

Command shell(const std::string& script) { return {.words = {"/bin/sh", "-c", script}}; }

TEST(CommandTask, KeepsWhatWasPrinted) {
  auto task = CommandTask::start(shell("echo out; echo err >&2; exit 3"), kMinute);
  ASSERT_TRUE(task.ok());
  EXPECT_EQ(code_of(*task), 3);
  EXPECT_EQ(task->out(), "out\n");
  EXPECT_EQ(task->errors(), "err\n");
}

TEST(CommandTask, ReadsMoreThanAPipeHoldsAndKeepsALittle) {
  auto task = CommandTask::start(shell("head -c 1000000 /dev/zero"), kMinute);
  ASSERT_TRUE(task.ok());
  EXPECT_EQ(code_of(*task), 0);
  EXPECT_LE(task->out().size(), 70000U);
}

TEST(CommandTask, EndsAtItsLimitAndWithItsObject) {
  auto task = CommandTask::start(shell("sleep 1000"), 20 * kMillisecond);
  ASSERT_TRUE(task.ok());
  EXPECT_EQ(code_of(*task), CommandTask::kTimedOut);
  auto pipe = make_pipe();
  {
    Command command = shell("sleep 1000 & sleep 1000");
    command.in = pipe->from.get();
    auto one = CommandTask::start(command, kMinute);
    ASSERT_TRUE(one.ok());
    const CommandTask moved = std::move(*one);
  }
  pipe->from.close();
  // Nobody reads: all that held the other end have ended.
  EXPECT_TRUE(wait_for(pipe->to.get(), POLLERR, kMinute));
}

TEST(CommandTask, DoesNotWaitForWhatItLeftBehind) {
  auto task = CommandTask::start(shell("setsid sleep 5 & echo on; exit 0"), kMinute);
  ASSERT_TRUE(task.ok());
  EXPECT_EQ(code_of(*task), 0);
}

TEST(CommandTask, AProgramThatIsMissingIsAnError) {
  EXPECT_FALSE(CommandTask::start({.words = {"/nowhere"}}, kMinute).ok());
}

}  // namespace
}  // namespace stint
