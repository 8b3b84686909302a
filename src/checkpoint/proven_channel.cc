#include "checkpoint/proven_channel.h"

#include <array>
#include <utility>

#include "base/check.h"
#include "checkpoint/receiver_protocol.h"

namespace stint {
namespace {

constexpr const char* kGone =
    "closed the connection: it is gone, or the secret of the run is wrong";

std::string_view text_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

Role other(Role role) { return role == Role::kClient ? Role::kReceiver : Role::kClient; }

/// Greets a client; nothing when it does not prove the secret.
std::optional<Nonces> proven_by_client(Connection& connection, std::string_view secret) {
  Nonces nonces{.receiver = random_hex(kNonceBytes), .client = {}};
  if (!connection.write(greeting_line(nonces.receiver))) return std::nullopt;
  const auto line = connection.read_line(kClientHelloBytes);
  const auto hello = line ? parse_client_hello(*line) : std::nullopt;
  if (!hello) return std::nullopt;
  nonces.client = hello->nonce;
  if (!same_text(hello->proof, proof_of(secret, Role::kClient, nonces))) return std::nullopt;
  return nonces;
}

}  // namespace

ProvenChannel::ProvenChannel(Connection connection, std::string_view secret, Role own,
                             const Nonces& nonces)
    : connection_(std::move(connection)),
      own_(session_key(secret, own, nonces)),
      theirs_(session_key(secret, other(own), nonces)) {}

std::optional<ProvenChannel> ProvenChannel::of_receiver(Connection connection,
                                                        std::string_view secret, Seconds limit,
                                                        const std::function<void()>& decided) {
  connection.set_limit(limit);
  const auto nonces = proven_by_client(connection, secret);
  decided();
  if (!nonces) return std::nullopt;
  if (!connection.write(proof_of(secret, Role::kReceiver, *nonces) + "\n")) return std::nullopt;
  connection.set_limit(std::nullopt);
  return ProvenChannel(std::move(connection), secret, Role::kReceiver, *nonces);
}

Result<ProvenChannel> ProvenChannel::of_client(Connection connection, std::string_view secret,
                                               Seconds limit) {
  connection.set_limit(limit);
  const auto greeting = connection.read_line(kReceiverLineMax);
  if (!greeting) return failed(kGone);
  auto nonce = parse_greeting(*greeting);
  if (!nonce.ok()) return failed(nonce.error().message);
  const Nonces nonces{.receiver = std::move(*nonce), .client = random_hex(kNonceBytes)};
  const ClientHello hello{.nonce = nonces.client, .proof = proof_of(secret, Role::kClient, nonces)};
  if (!connection.write(to_line(hello))) return failed(kGone);
  const auto proof = connection.read_line(kReceiverLineMax);
  if (!proof) return failed(kGone);
  if (!same_text(*proof, proof_of(secret, Role::kReceiver, nonces))) {
    return failed("does not know the secret of the run; nothing was sent to it");
  }
  connection.set_limit(std::nullopt);
  return ProvenChannel(std::move(connection), secret, Role::kClient, nonces);
}

bool ProvenChannel::write(std::string_view bytes) {
  CHECK(bytes.size() <= kFrameMax);
  const auto head = frame_head(bytes.size());
  // One piece, so that a short message is one packet.
  std::string frame;
  frame.reserve(head.size() + bytes.size() + sizeof(Digest));
  frame.append(head.data(), head.size()).append(bytes);
  frame.append(text_of(frame_hmac(own_, sent_++, bytes)));
  return connection_.write(frame);
}

bool ProvenChannel::is_authentic(std::string_view bytes) {
  Digest sent{};
  if (!connection_.read(reinterpret_cast<char*>(sent.data()), sent.size())) return false;
  return same_text(text_of(sent), text_of(frame_hmac(theirs_, received_++, bytes)));
}

bool ProvenChannel::read(char* buffer, std::size_t bytes) {
  std::array<char, kFrameHead> head{};
  if (!connection_.read(head.data(), head.size()) || frame_bytes(head) != bytes) return false;
  return connection_.read(buffer, bytes) && is_authentic({buffer, bytes});
}

std::optional<std::string> ProvenChannel::read_line(std::size_t longest) {
  std::array<char, kFrameHead> head{};
  if (!connection_.read(head.data(), head.size())) return std::nullopt;
  const std::size_t bytes = frame_bytes(head);
  if (bytes == 0 || bytes > longest + 1) return std::nullopt;
  std::string line(bytes, '\0');
  if (!connection_.read(line.data(), bytes) || !is_authentic(line)) return std::nullopt;
  if (line.find('\n') != bytes - 1) return std::nullopt;
  line.pop_back();
  return line;
}

}  // namespace stint
