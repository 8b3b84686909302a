#include "provider/agent/agent_wire.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/process.h"
#include "provider/agent/agent_protocol.h"

namespace stint {
namespace {

class AgentWireTest : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    ours_ = Descriptor(ends[0]);
    theirs_ = Descriptor(ends[1]);
    wire_ = AgentWire(ours_.get(), ours_.get());
  }

  /// Sends as much of `bytes` as the peer takes at once.
  void send(std::string_view bytes) { (void)::write(theirs_.get(), bytes.data(), bytes.size()); }

  bool read() {
    return wire_.read([&](std::string_view line) {
      lines_.emplace_back(line);
      return line != "enough";
    });
  }

  StopSignals signals_;
  Descriptor ours_;
  Descriptor theirs_;
  AgentWire wire_;
  std::vector<std::string> lines_;
};

TEST_F(AgentWireTest, PassesWholeLinesOn) {
  send("one\ntw");
  EXPECT_TRUE(read());
  EXPECT_EQ(lines_, std::vector<std::string>{"one"});
  send("o\n\nthr");
  EXPECT_TRUE(read());
  EXPECT_EQ(lines_, (std::vector<std::string>{"one", "two", ""}));
  theirs_.close();
  EXPECT_FALSE(read());
  EXPECT_EQ(lines_.size(), 3U);  // A truncated line is none.
}

TEST_F(AgentWireTest, EndsWhenNoMoreLinesAreWanted) {
  send("enough\nmore\n");
  EXPECT_FALSE(read());
  EXPECT_EQ(lines_, std::vector<std::string>{"enough"});
}

TEST_F(AgentWireTest, RefusesALineWithoutEnd) {
  const std::string piece(16384, 'x');
  bool open = true;
  std::size_t sent = 0;
  for (; open && sent < 2 * kAgentLineMax; sent += piece.size()) {
    send(piece);
    open = read();
  }
  EXPECT_FALSE(open);
  EXPECT_GT(sent, kAgentLineMax);
  EXPECT_TRUE(lines_.empty());
}

TEST_F(AgentWireTest, APeerThatDoesNotReadKeepsItFull) {
  const std::string line = std::string(1000, 'y') + "\n";
  int lines = 0;
  for (int i = 0; i < 100000 && wire_.has_room(); ++i, ++lines) {
    wire_.put(line);
    EXPECT_TRUE(wire_.flush());
  }
  EXPECT_FALSE(wire_.has_room());
  EXPECT_TRUE(wire_.wants_to_write());
  EXPECT_LT(lines, 10000);  // The socket and 64 KiB.
  // Once it reads, everything arrives.
  std::size_t arrived = 0;
  char bytes[65536];
  for (ssize_t got = 1; got > 0 || wire_.wants_to_write();) {
    ASSERT_TRUE(wire_.flush());
    got = ::read(theirs_.get(), bytes, sizeof bytes);
    if (got > 0) arrived += static_cast<std::size_t>(got);
  }
  EXPECT_EQ(arrived, line.size() * static_cast<std::size_t>(lines));
}

TEST_F(AgentWireTest, NoticesAPeerThatIsGone) {
  theirs_.close();
  wire_.put("line\n");
  EXPECT_FALSE(wire_.flush());
}

}  // namespace
}  // namespace stint
