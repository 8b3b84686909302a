#include "app/run/agent_work.h"

#include <csignal>
#include <gtest/gtest.h>

#include "base/descriptor.h"
#include "base/process.h"
#include "checkpoint/secret.h"
#include "provider/agent/agent_protocol.h"

namespace stint {
namespace {

constexpr Seconds kPatience = 60 * kSecond;

TEST(AgentWork, SpeaksTheProtocolOnItsDescriptors) {
  auto there = make_pipe();
  auto back = make_pipe();
  const auto child = fork_child(
      [&](int) {
        there->to.close();
        back->from.close();
        return work_as_agent({.in = there->from.get(), .out = back->to.get()}).ok() ? 0 : 1;
      },
      {.group = ProcessGroup::kOwn, .death_signal = SIGKILL});
  ASSERT_TRUE(child.ok());
  back->to.close();
  const std::string secret = make_secret();
  const AgentHello hello{
      .run = "r", .machine = "vm1", .attempt = 1, .session = "s", .nonce = "n", .secret = secret};
  ASSERT_TRUE(write_all(there->to.get(), to_line(AgentOrder{.hello = hello})));
  const auto news = read_news(read_line(back->from.get(), kPatience));
  ASSERT_TRUE(news.ok() && news->welcome) << (news.ok() ? "" : news.error().message);
  EXPECT_EQ(news->welcome->proof,
            agent_proof(secret, AgentSide::kAgent, hello, news->welcome->nonce));
  ASSERT_TRUE(write_all(there->to.get(),
                        to_line(AgentOrder{.proof = agent_proof(secret, AgentSide::kRunner, hello,
                                                                news->welcome->nonce)}) +
                            to_line(AgentOrder{.number = 1, .leave = true})));
  there->to.close();
  EXPECT_EQ(wait_for_exit(child->pid, kPatience), 0);
  kill_group(child->pid);
}

TEST(AgentWork, EndsWithItsStreamWhenNothingRuns) {
  auto there = make_pipe();
  auto back = make_pipe();
  there->to.close();
  const auto child = fork_child(
      [&](int) {
        return work_as_agent({.in = there->from.get(), .out = back->to.get()}).ok() ? 0 : 1;
      },
      {.group = ProcessGroup::kOwn, .death_signal = SIGKILL});
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(wait_for_exit(child->pid, kPatience), 0);
  kill_group(child->pid);
}

}  // namespace
}  // namespace stint
