#include "checkpoint/receiver_client.h"

#include <functional>
#include <gtest/gtest.h>

#include "base/listener.h"
#include "base/temporary_folder.h"
#include "checkpoint/receiver_fixture.h"

namespace stint {
namespace {

// Its requests to a receiver are tested in receiver_test.cc.

class ReceiverClientTest : public testing::Test {
 protected:
  /// What a client learns from a process that `serve` plays.
  static std::string answer_of(const std::function<void(Connection)>& serve,
                               const std::string& secret) {
    const auto listener = Listener::on(kLoopback, 0);
    CHECK(listener.ok());
    const auto child = fork_child([&](int) {
      auto socket = listener->accept();
      serve(Connection(std::move(*socket), kTestPatience));
      return 0;
    });
    CHECK(child.ok());
    auto client = ReceiverClient::connect(
        {.address = kLoopback, .port = listener->port(), .secret = secret}, kTestPatience);
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

  /// The same for a receiver of the run that sends these frames to any request.
  static std::string answer_to(const std::vector<std::string>& frames) {
    const std::string secret = make_secret();
    return answer_of(
        [&](Connection connection) {
          auto channel = ProvenChannel::of_receiver(std::move(connection), secret, kTestPatience);
          if (!channel) return;
          for (const std::string& frame : frames) channel->write(frame);
          channel->finish();
        },
        secret);
  }

  /// The same for somebody who does not know the secret, and sends these bytes.
  static std::string answer_of_impostor(const std::string& bytes) {
    return answer_of(
        [&](Connection connection) {
          connection.write(bytes);
          connection.finish();
        },
        make_secret());
  }
};

TEST_F(ReceiverClientTest, BelievesNoAnswerUnchecked) {
  // zlib.crc32(b"123456789") = 3421780262.
  EXPECT_EQ(answer_to({"here 9 3421780262\n", "123456789"}), "123456789");
  EXPECT_EQ(answer_to({"missing\n"}), "missing");
  EXPECT_NE(answer_to({"here 9 3421780262\n", "123456780"}).find("is damaged"), std::string::npos);
  EXPECT_NE(answer_to({"here 68719476736 0\n", "12345"}).find("not authentic"), std::string::npos);
  EXPECT_EQ(answer_to({"here -1 0\n"}), "'here -1 0' is not an answer");
  EXPECT_NE(answer_to({"refused \x1b[2Jno\n"}).find("refused: ?[2Jno"), std::string::npos);
  EXPECT_NE(answer_to({}).find("it may be gone"), std::string::npos);
}

// What an impostor without the secret did before receivers proved themselves.
TEST_F(ReceiverClientTest, BelievesNoImpostor) {
  const std::string hello = greeting_line(std::string(2 * kNonceBytes, 'b'));
  EXPECT_NE(answer_of_impostor(hello + "here 9 3421780262\n123456789")
                .find("does not know the secret of the run; nothing was sent to it"),
            std::string::npos);
  EXPECT_NE(answer_of_impostor(hello + "kept\n").find("does not know the secret"),
            std::string::npos);
  EXPECT_NE(answer_of_impostor(hello).find("closed the connection"), std::string::npos);
  EXPECT_NE(answer_of_impostor("HTTP/1.1 400\n").find("is not a receiver of checkpoints"),
            std::string::npos);
  EXPECT_NE(answer_of_impostor("stint.receiver/3 12\n")
                .find("speaks stint.receiver/3, and this is stint.receiver/2"),
            std::string::npos);
  EXPECT_NE(answer_of_impostor("stint.receiver/2 12\n").find("is not a receiver"),
            std::string::npos);
  EXPECT_NE(answer_of_impostor(std::string(5000, 'x')).find("closed the connection"),
            std::string::npos);
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
