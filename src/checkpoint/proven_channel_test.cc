#include "checkpoint/proven_channel.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <thread>

#include "checkpoint/receiver_protocol.h"

namespace stint {
namespace {

constexpr Seconds kPatience = kMinute;  // Long enough for a busy computer.

std::pair<Connection, Connection> connected() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  return {Connection(Descriptor(ends[0]), kPatience), Connection(Descriptor(ends[1]), kPatience)};
}

/// One end whose secret is known to the test, which plays the other end by hand.
class ProvenChannelTest : public testing::Test {
 protected:
  /// Lets the receiver's end begin, in a thread, and proves the secret to it.
  void begin_receiver() {
    auto [near, far] = connected();
    far_ = std::move(far);
    receiver_ = std::thread([this, it = std::make_shared<Connection>(std::move(near))] {
      channel_ = ProvenChannel::of_receiver(std::move(*it), secret_, kPatience);
    });
    nonces_.receiver = *parse_greeting(*far_.read_line(200));
    nonces_.client = std::string(2 * kNonceBytes, 'c');
  }

  void begin() {
    begin_receiver();
    ASSERT_TRUE(far_.write(to_line(
        ClientHello{.nonce = nonces_.client, .proof = proof_of(secret_, Role::kClient, nonces_)})));
    EXPECT_EQ(far_.read_line(200), proof_of(secret_, Role::kReceiver, nonces_));
    receiver_.join();
    ASSERT_TRUE(channel_.has_value());
  }

  std::string frame(std::uint64_t number, const std::string& bytes, Role sender) const {
    const auto head = frame_head(bytes.size());
    const Digest hmac =
        frame_hmac(HmacSha256(session_key(secret_, sender, nonces_)), number, bytes);
    return std::string(head.data(), head.size()) + bytes + std::string(hmac.begin(), hmac.end());
  }

  /// Whether the receiver's end takes these bytes for a frame of "abc\n".
  bool takes(const std::string& bytes) {
    CHECK(far_.write(bytes));
    std::string buffer(4, '\0');
    return channel_->read(buffer.data(), buffer.size()) && buffer == "abc\n";
  }

  std::string secret_ = make_secret();
  Nonces nonces_;
  Connection far_ = Connection(Descriptor(), Seconds());
  std::thread receiver_;
  std::optional<ProvenChannel> channel_;
};

TEST_F(ProvenChannelTest, CarriesFramesBothWays) {
  auto [near, far] = connected();
  std::optional<ProvenChannel> receiver;
  bool decided = false;
  std::thread other([&, it = std::make_shared<Connection>(std::move(near))] {
    receiver =
        ProvenChannel::of_receiver(std::move(*it), secret_, kPatience, [&] { decided = true; });
  });
  auto client = ProvenChannel::of_client(std::move(far), secret_, kPatience);
  other.join();
  EXPECT_TRUE(decided);
  ASSERT_TRUE(client.ok()) << client.error().message;
  ASSERT_TRUE(receiver.has_value());
  for (const char* line : {"put 1\n", "kept\n", "\n"}) {
    ASSERT_TRUE(client->write(line));
    ASSERT_TRUE(receiver->write(line));
    EXPECT_EQ(*receiver->read_line(20) + "\n", line);
    EXPECT_EQ(*client->read_line(20) + "\n", line);
  }
}

TEST_F(ProvenChannelTest, TakesAFrameOnceAndInItsTurn) {
  begin();
  const std::string first = frame(0, "abc\n", Role::kClient);
  EXPECT_TRUE(takes(first));
  EXPECT_TRUE(takes(frame(1, "abc\n", Role::kClient)));
  EXPECT_FALSE(takes(first));  // Repeated.
}

TEST_F(ProvenChannelTest, TakesNoFrameThatWasLeftOutAlteredOrSentBack) {
  begin();
  EXPECT_FALSE(takes(frame(1, "abc\n", Role::kClient)));
  begin();
  std::string altered = frame(0, "abd\n", Role::kClient);
  altered[6] = 'c';
  EXPECT_FALSE(takes(altered));
  begin();
  ASSERT_TRUE(channel_->write("abc\n"));
  const std::string own = frame(0, "abc\n", Role::kReceiver);
  std::string sent(own.size(), '\0');
  ASSERT_TRUE(far_.read(sent.data(), sent.size()));
  EXPECT_EQ(sent, own);
  EXPECT_FALSE(takes(sent));
}

TEST_F(ProvenChannelTest, TakesNoFrameOfAnotherConnectionOrOfOtherLength) {
  begin();
  const std::string old = frame(0, "abc\n", Role::kClient);
  begin_receiver();
  nonces_.client[0] = 'd';
  ASSERT_TRUE(far_.write(to_line(
      ClientHello{.nonce = nonces_.client, .proof = proof_of(secret_, Role::kClient, nonces_)})));
  EXPECT_TRUE(far_.read_line(200).has_value());
  receiver_.join();
  EXPECT_FALSE(takes(old));
  begin();
  EXPECT_FALSE(takes(frame(0, "abcd\n", Role::kClient)));
  begin();
  std::string cut = frame(0, "abc\n", Role::kClient);
  cut.pop_back();
  ASSERT_TRUE(far_.write(cut));
  far_.close_sending();
  EXPECT_FALSE(channel_->read_line(20).has_value());
}

TEST_F(ProvenChannelTest, ALineIsOneLineOfBoundedLength) {
  for (const char* wrong : {"abc", "a\nb\n", "", "0123456789\n"}) {
    begin();
    ASSERT_TRUE(far_.write(frame(0, wrong, Role::kClient)));
    EXPECT_FALSE(channel_->read_line(9).has_value()) << wrong;
  }
  begin();
  ASSERT_TRUE(far_.write(frame(0, "012345678\n", Role::kClient)));
  EXPECT_EQ(channel_->read_line(9), "012345678");
}

TEST_F(ProvenChannelTest, ClientsWithoutTheSecretGetNoAnswer) {
  const auto refused = [&](const std::function<std::string()>& hello) {
    begin_receiver();
    far_.write(hello());
    receiver_.join();
    return !channel_.has_value() && !far_.read_line(200).has_value();
  };
  const std::string nonce(2 * kNonceBytes, 'c');
  EXPECT_TRUE(refused([] { return "\n"; }));
  EXPECT_TRUE(refused([] { return std::string(1000, 'x'); }));
  EXPECT_TRUE(refused([&] {
    return to_line(
        ClientHello{.nonce = nonce, .proof = proof_of(make_secret(), Role::kClient, nonces_)});
  }));
  // The proof that the receiver would give itself.
  EXPECT_TRUE(refused([&] {
    return to_line(
        ClientHello{.nonce = nonce, .proof = proof_of(secret_, Role::kReceiver, nonces_)});
  }));
}

/// The client's end of a connection to an impostor that sends these bytes.
std::string client_of(const std::string& first, const std::function<std::string(Nonces)>& second) {
  auto [near, far] = connected();
  std::thread impostor([&, it = std::make_shared<Connection>(std::move(far))] {
    it->write(first);
    const auto line = it->read_line(200);
    const auto hello = line ? parse_client_hello(*line) : std::nullopt;
    const auto greeting = parse_greeting(first.substr(0, first.find('\n')));
    if (!hello || !greeting.ok()) return it->close_sending();
    it->write(second({.receiver = *greeting, .client = hello->nonce}));
    it->close_sending();
    // Whatever follows would be a shard.
    EXPECT_FALSE(it->read_line(200).has_value());
  });
  const std::string secret(64, 'a');
  std::string said;
  {
    const auto client = ProvenChannel::of_client(std::move(near), secret, kPatience);
    said = client.ok() ? "proven" : client.error().message;
  }
  impostor.join();
  return said;
}

TEST(ClientChannel, GivesUpOnAReceiverThatTakesTooLong) {
  auto [near, far] = connected();
  EXPECT_TRUE(far.write("stint"));
  const auto client = ProvenChannel::of_client(std::move(near), make_secret(), 10 * kMillisecond);
  ASSERT_FALSE(client.ok());
  EXPECT_TRUE(client.error().message.starts_with("closed the connection"));
}

TEST(ClientChannel, BelievesNobodyWithoutTheSecret) {
  const std::string secret(64, 'a');
  const std::string hello = greeting_line(std::string(2 * kNonceBytes, 'b'));
  EXPECT_EQ(
      client_of(hello,
                [&](const Nonces& it) { return proof_of(secret, Role::kReceiver, it) + "\n"; }),
      "proven");
  const char* kUnknown = "does not know the secret of the run; nothing was sent to it";
  EXPECT_EQ(client_of(hello, [](const Nonces&) { return "kept\n"; }), kUnknown);
  // The client's own proof, sent back.
  EXPECT_EQ(client_of(hello,
                      [&](const Nonces& it) { return proof_of(secret, Role::kClient, it) + "\n"; }),
            kUnknown);
  EXPECT_EQ(client_of(hello, [](const Nonces&) { return ""; }),
            "closed the connection: it is gone, or the secret of the run is wrong");
  EXPECT_EQ(client_of("HTTP/1.1 400\n", {}), "is not a receiver of checkpoints");
  EXPECT_EQ(client_of("stint.receiver/1 0123\n", {}),
            "speaks stint.receiver/1, and this is stint.receiver/2: use the same version of stint "
            "on all machines");
}

}  // namespace
}  // namespace stint
