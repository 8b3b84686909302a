#include "base/descriptor.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

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

class LineStreamTest : public testing::Test {
 protected:
  LineStreamTest() {
    auto pipe = make_pipe();
    to_ = std::move(pipe->to);
    stream_ = LineStream(std::move(pipe->from));
  }

  /// What comes of one read after these bytes were written.
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
