#include "base/descriptor.h"

#include <gtest/gtest.h>
#include <limits>
#include <poll.h>
#include <unistd.h>
#include <vector>

#include "base/process.h"

namespace stint {
namespace {

TEST(Deadline, NeverHasLessThanNothingLeft) {
  const Deadline passed(-1 * kSecond);
  EXPECT_EQ(passed.left(), Seconds{});
  EXPECT_TRUE(passed.passed());
  const Deadline far(kHour);
  EXPECT_FALSE(far.passed());
  EXPECT_LE(far.left(), kHour);
}

TEST(Deadline, TheSteadyClockDoesNotGoBack) {
  const Seconds before = steady_now();
  EXPECT_GE(steady_now(), before);
}

// 1.2 ms are 2 whole ones; poll takes 2^31 - 1 of them at most.
TEST(Deadline, PollWaitsAtLeastAsLong) {
  EXPECT_EQ(poll_milliseconds(1.2 * kMillisecond), 2);
  EXPECT_EQ(poll_milliseconds(2 * kMillisecond), 2);
  EXPECT_EQ(poll_milliseconds(Seconds{}), 0);
  EXPECT_EQ(poll_milliseconds(-5 * kSecond), 0);
  EXPECT_EQ(poll_milliseconds(1e9 * kSecond), std::numeric_limits<int>::max());
}

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
  const auto child = fork_child([&](int) {
    close_all_but({kept});
    return ::dup(closed) < 0 && ::dup(kept) >= 0 ? 0 : 1;
  });
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(wait_for_exit(child->pid), 0);
}

TEST(Descriptor, AWaitEndsWithTheEventOrTheLimit) {
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe.ok());
  EXPECT_TRUE(wait_for(pipe->to.get(), POLLOUT, kSecond));
  EXPECT_FALSE(wait_for(pipe->from.get(), POLLIN, 10 * kMillisecond));
  pipe->to.close();
  EXPECT_TRUE(wait_for(pipe->from.get(), POLLIN, kSecond));  // An end is news too.
}

class LineStreamTest : public testing::Test {
 protected:
  LineStreamTest() {
    auto pipe = make_pipe();
    to_ = std::move(pipe->to);
    stream_ = LineStream(std::move(pipe->from));
  }

  /// The result of one read after these bytes were written.
  std::vector<std::string> lines_of(std::string_view bytes) {
    EXPECT_TRUE(write_all(to_.get(), bytes));
    return lines();
  }

  std::vector<std::string> lines() {
    std::vector<std::string> lines;
    stream_.read([&](std::string_view line) { lines.emplace_back(line); });
    return lines;
  }

  using Lines = std::vector<std::string>;

  Descriptor to_;
  LineStream stream_;
};

TEST_F(LineStreamTest, GivesWholeLinesAndKeepsTheRest) {
  EXPECT_EQ(lines(), Lines{});
  EXPECT_EQ(lines_of("one\ntw"), Lines{"one"});
  EXPECT_EQ(lines_of("o\n\nthree"), (Lines{"two", ""}));
  EXPECT_TRUE(stream_.open());
}

TEST_F(LineStreamTest, TheRestCountsAtTheEnd) {
  EXPECT_EQ(lines_of("one"), Lines{});
  to_.close();
  EXPECT_EQ(lines(), Lines{"one"});
  EXPECT_FALSE(stream_.open());
  EXPECT_EQ(lines(), Lines{});
}

// A pipe holds 64 KiB, so that 20 times 60 000 bytes are more than the 2^20 of the longest line:
// it is cut after the 18th piece, at 1 080 000 bytes.
TEST_F(LineStreamTest, ALineWithoutAnEndIsCut) {
  const std::string piece(60000, 'x');
  std::vector<std::string> all;
  for (int i = 0; i < 20; ++i) {
    for (std::string& line : lines_of(piece)) all.push_back(std::move(line));
  }
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].size(), 1080000U);
}

TEST_F(LineStreamTest, OneThatWasNeverOpenedGivesNothing) {
  stream_ = LineStream();
  EXPECT_FALSE(stream_.open());
  EXPECT_EQ(lines(), Lines{});
}

}  // namespace

}  // namespace stint
