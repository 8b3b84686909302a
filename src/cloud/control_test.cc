#include "cloud/control.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

namespace stint {
namespace {

class ControlTest : public testing::Test {
 protected:
  /// Both ends of a connection.
  ControlTest() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    one_ = Descriptor(ends[0]);
    other_ = Descriptor(ends[1]);
  }

  Descriptor one_;
  Descriptor other_;
};

TEST_F(ControlTest, MessagesAndFilesPass) {
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe.ok());
  Json json;
  json.add("ask", "list");
  ASSERT_TRUE(send_message(one_.get(), json, pipe->to.get()).ok());
  const auto message = receive_message(other_.get(), kSecond);
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(message->json, json);
  EXPECT_TRUE(write_all(message->attached.get(), "hello\n"));
  EXPECT_EQ(read_line(pipe->from.get(), kSecond), "hello");
}

// 64 000 bytes are a piece: one less, one piece, one more, and three pieces; two quotes count too.
TEST_F(ControlTest, MessagesOfAnyLengthArrive) {
  for (const std::size_t length : {0U, 63997U, 63998U, 63999U, 191998U}) {
    const Json json(std::string(length, 'x'));
    ASSERT_TRUE(send_message(one_.get(), json).ok()) << length;
    const auto message = receive_message(other_.get(), kSecond);
    ASSERT_TRUE(message.ok()) << length << ": " << message.error().message;
    EXPECT_EQ(message->json, json) << length;
  }
}

TEST_F(ControlTest, ATextThatIsNotThereIsEmpty) {
  Json json;
  json.add("ask", "list");
  json.add("number", Json(1.5));
  EXPECT_EQ(text_at(json, "ask"), "list");
  EXPECT_EQ(text_at(json, "number"), "");
  EXPECT_EQ(text_at(json, "vm"), "");
}

TEST_F(ControlTest, ErrorsKeepTheirKind) {
  const auto error = error_in(error_message(unavailable("there is no room")));
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind, ErrorKind::kUnavailable);
  EXPECT_EQ(error->message, "there is no room");
  EXPECT_FALSE(error_in(Json()).has_value());
}

TEST_F(ControlTest, SilenceAndNonsenseAreErrors) {
  EXPECT_FALSE(receive_message(other_.get(), 10 * kMillisecond).ok());
  ASSERT_TRUE(write_all(one_.get(), "nonsense"));
  EXPECT_FALSE(receive_message(other_.get(), kSecond).ok());
  one_.close();
  EXPECT_EQ(receive_message(other_.get(), kSecond).error().message,
            "the peer closed the connection");
}

}  // namespace
}  // namespace stint
