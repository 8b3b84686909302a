#include "provider/agent/agent_stream.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

namespace stint {
namespace {

Command shell(const std::string& script) { return {.words = {"/bin/sh", "-c", script}}; }

TEST(AgentStream, CarriesBothDirections) {
  auto stream = AgentStream::open(shell("read line; echo heard $line"));
  ASSERT_TRUE(stream.ok());
  EXPECT_TRUE(write_all(stream->to(), "this\n"));
  EXPECT_EQ(read_line(stream->from(), 10 * kSecond), "heard this");
}

TEST(AgentStream, TellsHowTheCarrierEnded) {
  auto stream = AgentStream::open(shell("echo first >&2; echo 'no route to host' >&2; exit 7"));
  ASSERT_TRUE(stream.ok());
  EXPECT_EQ(read_line(stream->from(), 10 * kSecond), "");
  for (const Deadline limit(10 * kSecond); !stream->ended() && !limit.passed();) {
    ::usleep(1000);
  }
  EXPECT_EQ(stream->ended(), 7);
  EXPECT_EQ(stream->complaint(), "no route to host");
}

TEST(AgentStream, EndsTheCarrierAndWhatItStarted) {
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe.ok());
  Command command = shell("sleep 1000 & sleep 1000");
  command.kept = std::vector<int>{pipe->to.get()};
  {
    auto stream = AgentStream::open(command);
    ASSERT_TRUE(stream.ok());
    pipe->to.close();
    EXPECT_FALSE(wait_for(pipe->from.get(), POLLIN, 50 * kMillisecond));
    const AgentStream moved = std::move(*stream);
    EXPECT_TRUE(moved.is_open());
  }
  // The pipe ends when no process holds it.
  EXPECT_EQ(read_line(pipe->from.get(), 10 * kSecond), "");
  EXPECT_TRUE(wait_for(pipe->from.get(), POLLIN | POLLHUP, 10 * kSecond));
}

TEST(AgentStream, AProgramThatIsMissingIsAnError) {
  const auto stream = AgentStream::open({.words = {"/nowhere/agent"}});
  ASSERT_FALSE(stream.ok());
  EXPECT_NE(stream.error().message.find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace stint
