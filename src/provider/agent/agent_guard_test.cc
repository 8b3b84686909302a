#include "provider/agent/agent_guard.h"

#include <gtest/gtest.h>
#include <optional>
#include <poll.h>

#include "base/descriptor.h"
#include "base/process.h"

namespace stint {
namespace {

constexpr Seconds kPatience = 60 * kSecond;

/// A process with a child in its group; both hold the pipe, whose end shows that they have ended.
struct Family {
  pid_t pid = -1;
  Descriptor alive = {};
};

Result<Family> start_family() {
  auto pipe = make_pipe();
  if (!pipe.ok()) return pipe.error();
  const auto pid = start_process({.words = {"/bin/sh", "-c", "sleep 1000 & sleep 1000"},
                                  .dies_with_parent = false,
                                  .kept = std::vector<int>{pipe->to.get()}});
  if (!pid.ok()) return pid.error();
  return Family{.pid = *pid, .alive = std::move(pipe->from)};
}

bool has_ended(const Family& family, Seconds limit) {
  return wait_for(family.alive.get(), POLLIN | POLLHUP, limit);
}

TEST(AgentGuard, EndsGroupsWhenItsOwnerEnds) {
  auto watched = start_family();
  auto forgotten = start_family();
  ASSERT_TRUE(watched.ok());
  ASSERT_TRUE(forgotten.ok());
  std::optional<AgentGuard> guard;
  {
    auto made = AgentGuard::start();
    ASSERT_TRUE(made.ok());
    guard.emplace(std::move(*made));
  }
  guard->watch(watched->pid);
  guard->watch(forgotten->pid);
  guard->forget(forgotten->pid);
  EXPECT_FALSE(has_ended(*watched, 50 * kMillisecond));
  guard.reset();
  EXPECT_TRUE(has_ended(*watched, kPatience));
  wait_for_exit(watched->pid);
  EXPECT_FALSE(has_ended(*forgotten, 50 * kMillisecond));
  kill_group(forgotten->pid);
  EXPECT_TRUE(has_ended(*forgotten, kPatience));
}

}  // namespace
}  // namespace stint
