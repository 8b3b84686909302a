#include "checkpoint/receiver_client.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "base/listener.h"
#include "base/temporary_folder.h"
#include "checkpoint/receiver_fixture.h"

namespace stint {
namespace {

// Its requests to a receiver are tested in receiver_test.cc.

class ReceiverClientTest : public testing::Test {
 protected:
  /// The result of a client whose server sends these bytes to any request.
  static std::string answer_to(const std::string& bytes) {
    const auto listener = Listener::on_port(Interfaces::kLoopback, 0);
    CHECK(listener.ok());
    const auto child = fork_child([&](int) {
      const auto socket = listener->accept();
      write_all(socket->get(), bytes);
      ::shutdown(socket->get(), SHUT_WR);
      read_line(socket->get(), kTestPatience);  // The proof.
      read_line(socket->get(), kTestPatience);  // The request.
      return 0;
    });
    CHECK(child.ok());
    auto client = ReceiverClient::connect(
        {.address = "127.0.0.1", .port = listener->port(), .secret = make_secret()}, kTestPatience);
    std::string said;
    if (client.ok()) {
      const auto got = client->get({.step = 1});
      said = got.ok() ? got->value_or("missing") : got.error().message;
    } else {
      said = client.error().message;
    }
    kill_group(child->pid);
    return said;
  }
};

constexpr const char* kHello = "stint.receiver/1 0123456789abcdef0123456789abcdef\n";

TEST_F(ReceiverClientTest, BelievesNoAnswerUnchecked) {
  const std::string hello = kHello;
  // zlib.crc32(b"123456789") = 3421780262.
  EXPECT_EQ(answer_to(hello + "here 9 3421780262\n123456789"), "123456789");
  EXPECT_EQ(answer_to(hello + "missing\n"), "missing");
  EXPECT_NE(answer_to(hello + "here 9 3421780262\n123456780").find("is damaged"),
            std::string::npos);
  EXPECT_NE(answer_to(hello + "here 68719476736 0\n12345").find("is gone"), std::string::npos);
  EXPECT_EQ(answer_to(hello + "here -1 0\n"), "'here -1 0' is not an answer");
  EXPECT_NE(answer_to(hello + "refused \x1b[2Jno\n").find("refused: ?[2Jno"), std::string::npos);
  EXPECT_NE(answer_to(hello).find("it is gone, or the secret of the run is wrong"),
            std::string::npos);
  EXPECT_NE(answer_to("HTTP/1.1 400\n").find("is not a receiver of this version"),
            std::string::npos);
  EXPECT_NE(answer_to("stint.receiver/1 12\n").find("is not a receiver"), std::string::npos);
  EXPECT_NE(answer_to(std::string(5000, 'x')).find("is gone"), std::string::npos);
}

TEST_F(ReceiverClientTest, SaysWhomItCannotReach) {
  const int port = *free_loopback_port();
  const auto client = ReceiverClient::connect(
      {.address = "127.0.0.1", .port = port, .secret = make_secret()}, kTestPatience);
  ASSERT_FALSE(client.ok());
  EXPECT_EQ(client.error().message, "cannot reach the receiver at 127.0.0.1:" +
                                        std::to_string(port) + ": Connection refused");
  EXPECT_EQ(ReceiverClient::connect({.address = "vm1", .port = 1, .secret = make_secret()}, kSecond)
                .error()
                .message,
            "'vm1' is not an address");
  EXPECT_FALSE(
      ReceiverClient::connect({.address = "127.0.0.1", .port = 1, .secret = ""}, kSecond).ok());
}

}  // namespace
}  // namespace stint
