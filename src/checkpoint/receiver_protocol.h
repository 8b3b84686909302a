#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "base/sha256.h"
#include "checkpoint/shard_file.h"

/// The protocol between receivers of checkpoints and their clients:
///
///   receiver: stint.receiver/2 NONCE
///   client:   stint.receiver/2 NONCE PROOF           see proof_of; a wrong one is not answered
///   receiver: PROOF                                  a client sends nothing before this one is
///   right client:   put STEP NUMBER COUNT LENGTH CHECKSUM  and the bytes of the shard receiver:
///   kept                                   in memory and on disk; or "refused REASON" client: get
///   STEP NUMBER COUNT receiver: here LENGTH CHECKSUM                   and the bytes; or "missing"
///   client:   drop STEP
///   receiver: dropped                                or "refused REASON"
///
/// Each message is a line; numbers are decimal. After the proofs everything is sent in frames,
///
///   4 bytes: length, big-endian; the bytes; 32 bytes: HMAC-SHA-256 of NUMBER, length and bytes
///
/// under the sender's key of this connection (see session_key). NUMBER, 8 bytes, big-endian, counts
/// the frames of the sender from 0, so that nothing can be altered, left out, repeated or sent back
/// unnoticed. A line is one frame. A shard is in frames of 1 MiB and one of the rest. A frame
/// counts only when its HMAC is right; after a wrong one the connection is closed. The frames are
/// not encrypted: what may be read on the network is up to the network.
namespace stint {

inline constexpr std::string_view kReceiverProtocol = "stint.receiver/2";
inline constexpr std::size_t kNonceBytes = 16;
inline constexpr std::size_t kProofDigits = 64;
inline constexpr std::size_t kFrameHead = 4;          // Bytes.
inline constexpr std::size_t kFrameMax = 1U << 20U;   // Bytes of a frame without head and HMAC.
inline constexpr std::size_t kReceiverLineMax = 256;  // Bytes.
inline constexpr std::int64_t kShardBytesMax = std::int64_t{64} << 30;  // 64 GiB.
inline constexpr std::int64_t kShardCountMax = 65536;
inline constexpr std::int64_t kStepMax = 1'000'000'000'000'000;

/// The first line of a receiver.
std::string greeting_line(std::string_view nonce);

/// The nonce in the first line of a receiver, without its newline. Bad input: a receiver of another
/// version, or something else; the message continues a sentence that begins with its address.
Result<std::string> parse_greeting(std::string_view line);

/// The first line of a client.
struct ClientHello {
  std::string nonce;
  std::string proof;
};

inline constexpr std::size_t kClientHelloBytes =
    kReceiverProtocol.size() + 1 + 2 * kNonceBytes + 1 + kProofDigits + 1;  // With its newline.

/// Reads a line without its newline; nothing when it is another text.
std::optional<ClientHello> parse_client_hello(std::string_view line);

/// The line with its newline.
std::string to_line(const ClientHello& hello);

/// The length of a frame, and back.
std::array<char, kFrameHead> frame_head(std::size_t bytes);
std::size_t frame_bytes(const std::array<char, kFrameHead>& head);

/// The HMAC of frame `number` of a sender. `keyed` has the sender's key, and no bytes yet.
Digest frame_hmac(const HmacSha256& keyed, std::uint64_t number, std::string_view bytes);

struct PutRequest {
  ShardName shard;
  std::int64_t bytes = 0;
  std::uint32_t checksum = 0;
};

struct GetRequest {
  ShardName shard;
};

struct DropRequest {
  std::int64_t step = 0;
};

using ReceiverRequest = std::variant<PutRequest, GetRequest, DropRequest>;

/// Reads a line without its newline; bad input names the error.
Result<ReceiverRequest> parse_request(std::string_view line);

/// The line with its newline.
std::string to_line(const ReceiverRequest& request);

/// The announcement of a shard that follows.
struct HereAnswer {
  std::int64_t bytes = 0;
  std::uint32_t checksum = 0;
};

Result<HereAnswer> parse_here(std::string_view line);
std::string to_line(const HereAnswer& answer);

}  // namespace stint
